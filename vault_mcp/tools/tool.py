"""The shapes of tools, resources, templates and prompts, and of who is calling."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import quote, unquote

from vault_mcp.tools.schema import Record

Family = Literal["graph", "memories", "files", "keys", "history"]
FAMILIES: tuple[Family, ...] = get_args(Family)

Result = Mapping[str, object] | str | tuple[str, ...]
"""What a tool gives back: an object for tools that declare a result, else text, in one block or several.

Several are for an answer that a program reads, such as a JSON list, with a sentence to the reader behind it.
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling: the agent's name, clean enough for a stamp, and the session where there is one.

    `person` says that it is the vault's owner at the command line, whose commits are their own. No client
    can claim it.
    """

    agent: str
    session: str = ""
    person: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What a call can do to the vault, for clients that ask their user first.

    Attributes:
        read_only: nothing in the vault or its history changes.
        destructive: something that was there may be gone or different afterwards; False for pure additions.
        idempotent: the same call again changes nothing more.
    """

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False


READS = Hints(read_only=True, idempotent=True)
ADDS = Hints(idempotent=True)
CHANGES = Hints(destructive=True, idempotent=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool, complete: a door needs nothing else to offer it.

    `run(vault, caller, **arguments)` is called in a worker thread, perhaps beside other calls, with arguments
    that fit `inputs`. It gives an object that fits `result`, or text where `result` is None, and raises a
    `VaultError` for everything foreseen.

    Attributes:
        in_core: it belongs to the few that a small client is offered.
        by_name_only: it is offered only where it is asked for by its own name, never as one of a family.
        longest_reply: characters that a reply may have where one text is to come back whole; else the door's
            own limit holds.
    """

    name: str
    title: str
    family: Family
    description: str
    inputs: Record
    result: Record | None
    hints: Hints
    run: Callable[..., Result]
    in_core: bool = False
    by_name_only: bool = False
    longest_reply: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something to read at a fixed address; `run(vault)` gives its text."""

    uri: str
    name: str
    title: str
    description: str
    mime: str
    run: Callable[..., str]


@dataclass(frozen=True, slots=True)
class Content:
    """What stands at an address: text, or bytes that are none, and of which kind it is."""

    body: str | bytes
    mime: str


Suggest = Callable[..., list[str]]
"""`suggest(vault, typed, most)` gives up to so many values that somebody may mean who typed a part of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Things to read at addresses of one form: `stem` and the value of the one variable, percent-encoded.

    `run(vault, value)` gives the content and raises a `VaultError` where there is none.

    Attributes:
        stem: how each address begins, as in `vault://note/`.
        variable: the name of the part that differs.
        slashes: whether a slash in the value stands in the address as it is.
        mime: the kind of every content, "" where they differ.
    """

    stem: str
    variable: str
    name: str
    title: str
    description: str
    run: Callable[..., Content]
    suggest: Suggest
    slashes: bool = False
    mime: str = ""

    @property
    def uri(self) -> str:
        """The address as a template of RFC 6570."""
        return f"{self.stem}{{{'+' if self.slashes else ''}{self.variable}}}"

    def address(self, value: str) -> str:
        """Give the address of one value."""
        return self.stem + quote(value, safe="/" if self.slashes else "")

    def value(self, uri: str) -> str | None:
        """Give the value that an address names, None for an address of another form."""
        if not uri.startswith(self.stem) or len(uri) == len(self.stem):
            return None
        return unquote(uri[len(self.stem) :])


@dataclass(frozen=True, slots=True)
class Listed:
    """One thing that is there for now, to be read at its address; `changed_at` is RFC 3339, "" unknown."""

    uri: str
    name: str
    title: str
    mime: str
    changed_at: str


@dataclass(frozen=True, slots=True)
class Argument:
    """A word that a prompt asks the person for; `otherwise` stands in the text where none is given."""

    name: str
    description: str
    suggest: Suggest | None = None
    required: bool = False
    otherwise: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request that a person picks from a menu. Nothing in it comes out of the vault.

    Attributes:
        text: the request, with {name} where an argument goes.
        needs: tools without which it makes no sense; it is offered only where they are.
    """

    name: str
    title: str
    description: str
    text: str
    arguments: tuple[Argument, ...] = ()
    needs: tuple[str, ...] = ()

    def filled(self, values: Mapping[str, str]) -> str:
        """Give the text with the values of its arguments in their places."""
        said = {one.name: values.get(one.name, "") or one.otherwise for one in self.arguments}
        # In one pass, so that what a value holds is never taken for a place.
        return re.sub(r"\{(\w+)\}", lambda place: said.get(place[1], place[0]), self.text)

"""The shape of one tool, one resource and one prompt, and of who is calling."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request that a person picks from a menu: no arguments, and no words out of the vault."""

    name: str
    title: str
    description: str
    text: str

"""Settings: defaults < the vault's file < environment < flags.

The vault's file, `.vault-mcp.toml` at its root, is shared with whoever shares the vault, so it may only say
how notes are treated: nothing in it names a command, an address or a path. Where the vault lies, who the
agent is and what is offered are said by whoever starts the server, in the environment or by flags.

Nothing here stops a server from starting over a slip in a shared file: what is not understood is left at its
default and told in one sentence.
"""

import os
import re
import tomllib
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from vault_mcp.doors.address import read_address, read_host
from vault_mcp.doors.trusted import is_trusted
from vault_mcp.errors import BadArgument, VaultError
from vault_mcp.storage import files
from vault_mcp.storage.git.flush import Durability

FILE = ".vault-mcp.toml"
MAX_FILE = 64 * 1024
DEFAULT_VAULT = "~/memory-vault"

HandEdits = Literal["commit", "leave"]
GraphObservations = Literal["objects", "strings"]
Embeddings = Literal["on", "off"]
Sync = Literal["off", "on-change"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, complete.

    Attributes:
        vault: the vault's folder, absolute.
        agent: the name for the stamps and commits of every call; "" takes each client's own.
        tools: families, profiles and tools to offer.
        exclude_tools: the same words; they win.
        read_only: offer only tools that change nothing.
        watch: notice what is edited by hand while the server runs.
        hand_edits: what is done with such an edit: commit it in the person's name, or leave it to them.
        graph_observations: observations as records with their stamps, or as bare strings.
        rename_links: rewrite the links to a note that is renamed.
        protect_person: an agent changes a person's words only with the version of the note that it read.
        undo_others: an agent may take back what others did.
        embeddings: recall by meaning beside words.
        embedding_url: an OpenAI-compatible endpoint of this machine that makes the vectors; "" for our own.
        embedding_model: what it is to make them with.
        sync: sync with the branch's remote behind each change, after a quiet moment, or not.
        durability: what the disk has before a change is answered: as Git does it, a record, or all files.
        every: seconds between two syncs by the clock; 0 for none.
        http: where to listen for MCP over HTTP, as HOST:PORT; "" serves the standard streams.
        allow_hosts: host names under which others find the server, as behind a proxy.
        require_token: let no program of this machine in without a token either.
        token: the token of the client on the standard streams.
        trusted: the user has allowed the programs that the vault's repository names (`vault-mcp trust`).
        complaints: what was not understood, a sentence each.
    """

    vault: str
    agent: str = ""
    tools: tuple[str, ...] = ("all",)
    exclude_tools: tuple[str, ...] = ()
    read_only: bool = False
    watch: bool = True
    hand_edits: HandEdits = "commit"
    graph_observations: GraphObservations = "objects"
    rename_links: bool = True
    protect_person: bool = False
    undo_others: bool = False
    embeddings: Embeddings = "on"
    embedding_url: str = ""
    embedding_model: str = ""
    sync: Sync = "off"
    durability: Durability = "wal"
    every: int = 0
    http: str = ""
    allow_hosts: tuple[str, ...] = ()
    require_token: bool = False
    token: str = field(default="", repr=False)
    trusted: bool = False
    complaints: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Key:
    """What one setting may be, in words, and how a value is taken."""

    wanted: str
    take: Callable[[object], object]
    """Gives the value, or None for one that is not understood."""


def _one_of(*words: str) -> Key:
    return Key(" or ".join(f'"{word}"' for word in words), lambda value: value if value in words else None)


def _take_switch(value: object) -> object:
    if isinstance(value, str):
        return SWITCHED.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _take_words(value: object) -> object:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple):
        return None
    return tuple(word for word in (str(item).strip() for item in value) if word)


def _take_on_off(value: object) -> object:
    switched = _take_switch(value)
    return None if switched is None else "on" if switched else "off"


def _take_span(value: object) -> object:
    found = re.fullmatch(r"([0-9]{1,6})\s*(s|m|h|d)", str(value).strip().lower())
    seconds = int(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[found[2]] if found else 0
    return seconds or None


def _take_own_address(value: object) -> object:
    # Notes must not leave the machine by a slip of the hand.
    try:
        parts = urllib.parse.urlsplit(str(value))
    except ValueError:
        return None
    own = parts.scheme in ("http", "https") and parts.hostname in ("localhost", "127.0.0.1", "::1")
    return str(value) if own else None


def _take_listening_address(value: object) -> object:
    address = read_address(str(value))
    return None if address is None else str(address)


def _take_hosts(value: object) -> object:
    words = _take_words(value)
    named = isinstance(words, tuple) and all(read_host(word) for word in words)
    return words if named else None


SWITCHED = dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(("false", "0", "no", "off"), False)
SWITCH = Key("true or false", _take_switch)
WORDS = Key("a list of words with commas between them", _take_words)
NAME = Key("a name", lambda value: value if isinstance(value, str) else None)

VAULT_KEYS: Mapping[str, Key] = {
    "hand_edits": _one_of("commit", "leave"),
    "graph_observations": _one_of("objects", "strings"),
    "rename_links": SWITCH,
    "protect_person": SWITCH,
    "undo_others": SWITCH,
    "embeddings": Key('"on" or "off"', _take_on_off),
    "sync": _one_of("off", "on-change"),
    "durability": _one_of("git", "wal", "fsync"),
}
"""All that a vault's own file may say."""

KEYS: Mapping[str, Key] = {
    **VAULT_KEYS,
    "agent": NAME,
    "tools": WORDS,
    "exclude_tools": WORDS,
    "read_only": SWITCH,
    "watch": SWITCH,
    "every": Key("a time, as 30s, 5m or 2h", _take_span),
    "embedding_url": Key("an address of this machine, as http://localhost:8080/v1", _take_own_address),
    "embedding_model": NAME,
    "http": Key("an address, as 127.0.0.1:8765", _take_listening_address),
    "allow_hosts": Key("host names with commas between them, as notes.example.org", _take_hosts),
    "require_token": SWITCH,
    "token": NAME,
}
"""All that the environment (as VAULT_MCP_ and the name in capitals) and the flags may say."""

ELSEWHERE: Mapping[str, str] = {
    "MEMORY_FILE_PATH": "Set VAULT_MCP_DIR to a folder and bring the file in with `vault-mcp import FILE`.",
    "DPTTOOLS_MEMORY_DIR": "Set VAULT_MCP_DIR to a folder and bring files in with `vault-mcp import DIR`.",
}
"""Variables of servers that came before, with what to do instead."""


def refuse_no_folder(settings: Settings) -> None:
    """Fail where the vault's path is a file, which can never be a vault.

    Raises:
        BadArgument: it is.
    """
    if os.path.exists(settings.vault) and not os.path.isdir(settings.vault):
        raise BadArgument(
            f"{settings.vault} is a file, and a vault is a folder. Name the folder with --vault."
        )


def gather(flags: Mapping[str, object], environ: Mapping[str, str]) -> Settings:
    """Bring together everything that is set.

    Args:
        flags: what was given on the command line, by setting; None counts as not given.
        environ: the environment.

    Raises:
        BadArgument: whoever starts the server named a folder that cannot be a vault, or set a value that
            is not understood.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    root = vault_folder(str(given.pop("vault", "") or environ.get("VAULT_MCP_DIR") or DEFAULT_VAULT))
    values, complaints = _from_file(root)
    values |= _from_environment(environ) | _understood(given, lambda name: "--" + name.replace("_", "-"))
    if values.get("embedding_url") and not values.get("embedding_model"):
        raise BadArgument("An embedding address needs the name of a model. Give --embedding-model too.")
    values.setdefault("agent", environ.get("MEMORY_AGENT", ""))
    complaints += [f"{name} is not used here. {do}" for name, do in ELSEWHERE.items() if name in environ]
    complaints += _unknown_variables(environ)
    trusted = False
    try:
        trusted = is_trusted(root, environ)
    except VaultError as error:
        complaints.append(f"The vault is not trusted for now. {error}")
    return replace(Settings(vault=root, trusted=trusted, complaints=tuple(complaints)), **values)


def vault_folder(path: str) -> str:
    """Give the vault's folder as an absolute path without links.

    Raises:
        BadArgument: it is the root of the disk, the home folder or a folder around that: making one of
            these a vault would put somebody's whole life under Git.
    """
    root = os.path.realpath(os.path.expanduser(path))
    home = os.path.realpath(os.path.expanduser("~"))
    if home == root or home.startswith(root.rstrip(os.sep) + os.sep) or os.path.dirname(root) == root:
        raise BadArgument(
            f"{path!r} cannot be a vault: it is the home folder or lies around it. "
            "Name a folder of its own, such as ~/memory-vault."
        )
    return root


def _from_file(root: str) -> tuple[dict[str, Any], list[str]]:
    """Read a vault's own file; what is not understood becomes a complaint."""
    try:
        found = files.read(root, FILE, too_large=MAX_FILE) if os.path.isdir(root) else None
        said = tomllib.loads(found[0].decode("utf-8")) if found else {}
    except VaultError as error:
        return {}, [f"The settings of the vault are left out. {error}"]
    except ValueError as error:
        return {}, [f"{FILE} is no TOML ({error}). Its settings are left out."]
    values: dict[str, Any] = {}
    complaints = []
    for name, value in said.items():
        key = VAULT_KEYS.get(name)
        taken = key.take(value) if key else None
        if key is None:
            known = ", ".join(VAULT_KEYS)
            complaints.append(f"{FILE} has no setting {name!r}; it is left out. There are: {known}.")
        elif taken is None:
            complaints.append(f"{name} in {FILE} must be {key.wanted}. It is left out.")
        else:
            values[name] = taken
    return values, complaints


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    named = {name: environ[_variable(name)] for name in KEYS if environ.get(_variable(name))}
    return _understood(named, _variable)


def _understood(values: Mapping[str, object], shown: Callable[[str], str]) -> dict[str, Any]:
    """Take values from whoever starts the server, who is there to read an error."""
    taken: dict[str, Any] = {}
    for name, value in values.items():
        taken[name] = KEYS[name].take(value)
        if taken[name] is None:
            raise BadArgument(f"{shown(name)} must be {KEYS[name].wanted}, not {value!r}.")
    return taken


def _unknown_variables(environ: Mapping[str, str]) -> list[str]:
    known = {"VAULT_MCP_DIR", *map(_variable, KEYS)}
    return [
        f"{name} is not known. There are: {', '.join(sorted(known))}."
        for name in sorted(environ)
        if name.startswith("VAULT_MCP_") and name not in known
    ]


def _variable(name: str) -> str:
    return "VAULT_MCP_" + name.upper()

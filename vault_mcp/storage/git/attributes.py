"""Which files Git would store otherwise than byte for byte: gitattributes(5).

A file of attributes is read once, to see whether any line of it could matter. Mostly none does, or one line
says `* -text` for all; then nothing more is asked. Only where a line could matter is Git asked about a path.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from vault_mcp.storage.git.config import USER_FILES_EVERY, Signature, signature
from vault_mcp.storage.git.environment import GitProgram

_CONVERTING = ("filter", "ident", "working-tree-encoding", "text", "eol", "crlf")
_REMEMBERED = 10_000
_PATTERN = re.compile(r'\s*(?:"(?:[^"\\]|\\.)*"|\S+)')


@dataclass(frozen=True, slots=True)
class Conversion:
    """What stands between the bytes of a file and its blob. All empty: nothing does."""

    filter: str = ""
    others: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.filter or self.others)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What one file of attributes may do: convert something; spare everything from line end conversion."""

    signature: Signature
    converts: bool = False
    spares_all: bool = False


_NO_RULES = _Rules(None)


class Attributes:
    """The attributes of a working tree, for as long as none of its files changes."""

    def __init__(self, program: GitProgram, root: str, common_dir: str) -> None:
        self._program = program
        self._root = root
        self._info = f"{common_dir}/info/attributes"
        self._user: list[str] = program.user_files("attributes")
        self._rules: dict[str, _Rules] = {}
        self._users = _NO_RULES
        self._users_looked = 0.0
        self._asked: dict[str, Conversion] = {}
        self._autocrlf = False

    def configure(self, *, autocrlf: bool, user_file: str) -> None:
        """Take over the settings that matter here."""
        self._autocrlf = autocrlf
        named = [self._program.user_path(user_file)] if user_file else []
        self._user = [*self._program.user_files("attributes"), *named]
        self._rules.clear()
        self._asked.clear()
        self._users_looked = 0.0

    def conversions(self, paths: Iterable[str]) -> dict[str, Conversion]:
        """Give those of these paths that Git converts."""
        unsure = []
        folders: dict[str, bool] = {}
        for path in paths:
            folder = path.rpartition("/")[0]
            plain = folders.get(folder)
            if plain is None:
                plain = folders[folder] = self.plain(folder)
            if not plain:
                unsure.append(path)
        return self._ask(unsure) if unsure else {}

    def plain(self, folder: str) -> bool:
        """Say whether no line anywhere can touch the files of a folder."""
        outside, info = self._users_rules(), self._look(self._info)
        converts = outside.converts or info.converts
        spares_all = outside.spares_all or info.spares_all
        at = ""
        for part in ("", *folder.split("/")) if folder else ("",):
            at = f"{at}/{part}" if at and part else part
            name = f"{at}/.gitattributes" if at else ".gitattributes"
            rules = self._look(f"{self._root}/{name}")
            converts |= rules.converts
            spares_all |= rules.spares_all
        return not converts and (spares_all or not self._autocrlf)

    def _users_rules(self) -> _Rules:
        """Give what the user's own files say, which are looked at once in a while."""
        now = time.monotonic()
        if now - self._users_looked > USER_FILES_EVERY:
            self._users_looked = now
            found = [self._look(path) for path in self._user]
            self._users = _Rules(
                None, any(rules.converts for rules in found), any(rules.spares_all for rules in found)
            )
        return self._users

    def _look(self, path: str) -> _Rules:
        # Mostly there is none, and to ask only that is cheaper than an exception.
        now = signature(path) if os.access(path, os.F_OK) else None
        known = self._rules.get(path, _NO_RULES)
        if known.signature == now:
            return known
        self._asked.clear()
        rules = self._rules[path] = _read(path, now) if now else _NO_RULES
        return rules

    def _ask(self, paths: list[str]) -> dict[str, Conversion]:
        new = [path for path in paths if path not in self._asked]
        if new:
            if len(self._asked) > _REMEMBERED:
                self._asked.clear()
                new = paths
            given = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in new)
            out = self._program.run("check-attr", "--stdin", "-z", *_CONVERTING, given=given)
            fields = out.decode("utf-8", "surrogateescape").split("\0")
            found: dict[str, dict[str, str]] = {path: {} for path in new}
            for path, name, value in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
                found[path][name] = value
            for path, values in found.items():
                self._asked[path] = _conversion(values, autocrlf=self._autocrlf)
        return {path: self._asked[path] for path in paths if self._asked[path]}


def _conversion(values: dict[str, str], *, autocrlf: bool) -> Conversion:
    plain = ("unset", "unspecified")
    others = [name for name in ("ident", "working-tree-encoding") if values[name] not in plain]
    text = values["text"] if values["text"] != "unspecified" else values["crlf"]
    if text != "unset" and (autocrlf or text != "unspecified" or values["eol"] not in plain):
        others.append("line ends")
    return Conversion("" if values["filter"] in plain else values["filter"], tuple(others))


def _read(path: str, now: Signature) -> _Rules:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return _Rules(now, converts=True)
    converts = spares_all = False
    for line in lines:
        pattern = _PATTERN.match(line)
        if pattern is None or line.lstrip().startswith("#"):
            continue
        said = line[pattern.end() :].split()
        converts |= any(_converts(word) for word in said) or pattern.group().strip() == "[attr]binary"
        spares_all |= pattern.group().strip() == "*" and ("-text" in said or "binary" in said)
    return _Rules(now, converts, spares_all)


def _converts(word: str) -> bool:
    """Say whether a word of a line may have bytes changed: a set, valued or re-opened attribute."""
    name = word.lstrip("-!").partition("=")[0]
    return name in _CONVERTING and not word.startswith("-")

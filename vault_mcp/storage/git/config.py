"""What Git's configuration says here, the repository's own part told apart from the user's.

It is read by Git itself (`git config --list`), because only Git knows all its files, includes and conditions,
and read again when one of these files has changed.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from vault_mcp.storage.git.environment import GitProgram, disarmed

_OWN = ("local", "worktree")
_FALSE = ("false", "no", "off", "0", "")
USER_FILES_EVERY = 1.0
"""Seconds after which the user's own files are looked at again."""

Signature = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting as (scope, key, value), later ones winning. A bare key has the value None."""

    entries: tuple[tuple[str, str, str | None], ...] = ()

    def text(self, key: str, default: str = "", *, own: bool | None = None) -> str:
        """Give the last value of a key; `own` asks only for (or only outside) the repository's own files."""
        found = default
        for scope, name, value in self.entries:
            if name == key and (own is None or own == (scope in _OWN)):
                found = value if value is not None else "true"
        return found

    def is_set(self, key: str) -> bool:
        """Say whether there is any such setting."""
        return any(name == key for _, name, _ in self.entries)

    def truth(self, key: str, *, default: bool = False) -> bool:
        """Read a key as Git reads a yes or no."""
        value = self.text(key, "\0")
        return default if value == "\0" else value.lower() not in _FALSE

    def of_section(self, section: str) -> list[tuple[str, str]]:
        """Give every (key, value) below a section."""
        start = f"{section}."
        return [(name, value or "") for _, name, value in self.entries if name.startswith(start)]

    def number(self, key: str, default: int) -> int:
        """Give a whole number; the default where there is none, or one that is written with a unit."""
        try:
            return int(self.text(key))
        except ValueError:
            return default

    def own_programs(self) -> list[tuple[str, str]]:
        """Give what overlays the programs that the repository's own files name: a list of (key, value).

        Where the user's own files say something about the same key, that holds; else nothing runs.
        """
        return disarmed((key, self._outside(key)) for scope, key, _ in self.entries if scope in _OWN)

    def _outside(self, key: str) -> list[str]:
        return [value or "true" for scope, name, value in self.entries if name == key and scope not in _OWN]


class ConfigFiles:
    """The configuration as it is at this moment."""

    def __init__(self, program: GitProgram, git_dir: str, common_dir: str) -> None:
        self._program = program
        self._own = [f"{common_dir}/config"]
        self._of_worktree = f"{git_dir}/config.worktree"
        self._user: list[str] = []
        self._signature: tuple[Signature, ...] | None = None
        self._user_signature: tuple[Signature, ...] = ()
        self._looked = 0.0
        self.config = Config()

    def look(self) -> bool:
        """Read the configuration again if a file of it has changed; say whether it was read."""
        own = tuple([signature(path) for path in self._own])
        now = time.monotonic()
        if own == self._signature:
            if now - self._looked < USER_FILES_EVERY:
                return False
            self._looked = now
            if tuple([signature(path) for path in self._user]) == self._user_signature:
                return False
        self._read()
        self._signature = (
            tuple([signature(path) for path in self._own]) if len(own) != len(self._own) else own
        )
        self._looked = now
        self._user_signature = tuple([signature(path) for path in self._user])
        return True

    def _read(self) -> None:
        out = self._program.run("config", "--list", "--includes", "--show-scope", "--show-origin", "-z")
        entries = []
        origins = set()
        fields = out.decode("utf-8", "surrogateescape").split("\0")
        for scope, origin, setting in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
            key, newline, value = setting.partition("\n")
            if origin.startswith("file:"):
                origins.add(os.path.join(self._program.root, origin[5:]))
            if scope != "command":
                entries.append((scope, key, value if newline else None))
        self.config = Config(tuple(entries))
        self._own[1:] = [self._of_worktree] if self.config.truth("extensions.worktreeconfig") else []
        self._user = sorted(origins | set(self._program.user_files("config")))


def signature(path: str) -> Signature:
    """Give what changes when a file does; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino

"""Reading objects: loose files by ourselves, packed ones through one `git cat-file --batch` kept open."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from vault_mcp.errors import NotFound, StorageFailed
from vault_mcp.storage.git.objects import LooseObjects
from vault_mcp.storage.git.refs import is_sha

if TYPE_CHECKING:
    from git.cmd import Git

    from vault_mcp.storage.git.environment import GitProgram

_SHA_1 = 40

FEW = 8
"""Packed objects from which a child that answers all of them costs less than asking for each."""


class ObjectReader:
    """The objects of a repository, by full name. Safe to use from several threads."""

    def __init__(self, objects: LooseObjects, program: GitProgram, git_dir: str, common_dir: str) -> None:
        self._objects = objects
        self._program = program
        self._places = git_dir, common_dir
        # GitPython's pipe to `cat-file` mixes up the answers of two threads: one at a time.
        self._lock = threading.Lock()
        self._git: Git | None = None

    def read(self, name: str) -> tuple[bytes, bytes]:
        """Give kind and bytes of an object.

        Raises:
            NotFound: there is no such object.
        """
        if not is_sha(name):
            raise NotFound(f"There is no object {name[:50]!r}: give its full name.")
        found = self._objects.read(name)
        if found is None:
            found = self._packed(name) if len(name) == _SHA_1 else self._once(name)
        return found

    def read_many(self, names: Iterable[str]) -> Iterator[tuple[bytes, bytes]]:
        """Give kind and bytes of many objects in the same order.

        Raises:
            NotFound: one of them is not there.
        """
        wanted = list(names)
        found = {name: self._objects.read(name) for name in wanted if is_sha(name)}
        packed = [name for name, known in found.items() if known is None]
        if len(packed) < FEW:
            yield from map(self.read, wanted)
            return
        out = self._program.run("cat-file", "--batch", given="".join(f"{name}\n" for name in packed).encode())
        at = 0
        for name in packed:
            end = out.index(b"\n", at)
            header = out[at:end].split(b" ")
            if len(header) != 3:
                raise NotFound(f"The repository has no object {name}.")
            begin, size = end + 1, int(header[2])
            found[name] = header[1], out[begin : begin + size]
            at = begin + size + 1
        for name in wanted:
            known = found.get(name)
            yield known if known is not None else self.read(name)

    def _packed(self, name: str) -> tuple[bytes, bytes]:
        with self._lock:
            try:
                return self._ask(name)
            except (OSError, ValueError):
                # The child may have been killed, or a `gc` have moved what it had open: ask a new one.
                self._end()
            try:
                return self._ask(name)
            except ValueError:
                raise NotFound(f"The repository has no object {name}.") from None
            except OSError as error:
                raise StorageFailed(f"Git could not read an object ({error.strerror}).") from error

    def _ask(self, name: str) -> tuple[bytes, bytes]:
        if self._git is None:
            self._git = self._program.gitpython(*self._places)
        answer: tuple[object, str | bytes, int, bytes] = self._git.get_object_data(name)
        kind = answer[1]  # bytes, whatever its annotation says
        return kind.encode() if isinstance(kind, str) else kind, answer[3]

    def _once(self, name: str) -> tuple[bytes, bytes]:
        """Ask a child of its own: GitPython knows no names of SHA-256."""
        out = self._program.run("cat-file", "--batch", given=name.encode() + b"\n")
        header, _, rest = out.partition(b"\n")
        if header.endswith(b" missing"):
            raise NotFound(f"The repository has no object {name}.")
        _, kind, size = header.split(b" ")
        return kind, rest[: int(size)]

    def _end(self) -> None:
        git, self._git = self._git, None
        if git is not None:
            git.clear_cache()

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

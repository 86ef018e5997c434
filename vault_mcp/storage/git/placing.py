"""Putting the files of one commit into the working tree, and back as they were if the commit fails.

Files are named relative to folders that are kept open (`folders`); before the commit counts, these are looked
at again. So a folder that becomes a link, or is moved away, at any moment in between leads no file out of the
vault.

New bytes wait in a holder, a file in the state folder (or, where that lies on another disk, beside the file
itself). They change places with the file, which is compared only then: what a person saved at the last
instant is in the holder, and goes back.
"""

from __future__ import annotations

import contextlib
import os
import stat as modes
import time
from collections.abc import Iterable
from dataclasses import dataclass

from vault_mcp.errors import PathRefused, Stale
from vault_mcp.storage import system
from vault_mcp.storage.files import FileStat, kind
from vault_mcp.storage.git.flush import flush_file
from vault_mcp.storage.git.folders import Folders, NoFolderError, Spot, spot
from vault_mcp.storage.git.objects import blob_id, write_all
from vault_mcp.storage.git.swap import exchange, is_there, move_to_free
from vault_mcp.storage.paths import place_key

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | system.BINARY | getattr(os, "O_NONBLOCK", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.BINARY
# A file changed twice within a tick of the file system's clock shows one time: what is this young is read.
_YOUNG = 2 * 10**9
_NAMED = 5

HIDDEN_HOLDER = ".vault-mcp-"
_HOLDER = "file-"
LEFTOVERS = (_HOLDER, "own-", "next-index", "rewritten-")
"""How the names begin that a killed process may leave in the state folder."""


@dataclass(slots=True)
class Placed:
    """One file on its way: where its bytes wait, and what was there before and is there now."""

    folder: str
    name: str
    holder: str
    seen: FileStat | None
    seen_blob: str | None
    content: bytes | None
    put: os.stat_result | None = None
    before: os.stat_result | None = None

    @property
    def path(self) -> str:
        """The file, relative to the vault."""
        return f"{self.folder}/{self.name}" if self.folder else self.name


class Placing:
    """The files of one commit. Ends with either `finish` or `undo`, and then with `close`."""

    def __init__(
        self, root: str, state: str, device: int, going: Iterable[str] = (), *, flush: bool = False
    ) -> None:
        """Work in the vault `root`; `going` are the files to be taken away.

        Holders are in the folder `state`, which is on the file system `device`. With `flush` the disk has
        every file before `place` returns.
        """
        self._flush = flush
        self._going = frozenset(going)
        self._state = state
        self._device = device
        self._root = root
        self._folders = Folders(root)
        self.files: list[Placed] = []

    # -- before the locks

    def prepare(
        self,
        path: str,
        content: bytes | None,
        seen: FileStat | None,
        seen_blob: str | None,
        *,
        executable: bool | None = None,
        standing: str | None = None,
    ) -> Placed:
        """Write the new bytes to a holder; nothing in the vault changes but that missing folders are made.

        Permissions are those that were seen; `executable` sets or takes the bit for it.

        A `standing` holder is one that a record already names: it gets the bytes all at once, so that at no
        moment it holds something that could be taken for a person's.
        """
        above, _, name = path.rpartition("/")
        file = Placed(above, name, standing or f"{_HOLDER}{len(self.files)}", seen, seen_blob, content)
        if not self._waits_for_room(above):
            try:
                self._folders.open(above, make=content is not None)
                if standing is None and self._folders.device(above) != self._device:
                    file.holder = f"{HIDDEN_HOLDER}{len(self.files)}.tmp"
            except (FileNotFoundError, NoFolderError):
                if content is not None:
                    raise
                if seen is not None:
                    raise _stale(path) from None
                # It is to go, and has gone with its folder.
            except OSError as error:
                raise _named(error, path) from None
        self.files.append(file)
        if content is not None:
            holder, where = self._holder(file)
            partial = holder if standing is None else f"{holder}.part"
            mode = _permissions(seen, executable)
            fd = self._create(partial, where, mode)
            try:
                if seen is not None:
                    system.set_mode(fd, mode)
                write_all(fd, content)
                if self._flush:
                    flush_file(fd)
            finally:
                os.close(fd)
            if standing is not None:
                system.replace(partial, holder, where, where)
        return file

    def _waits_for_room(self, folder: str) -> bool:
        """Say whether a file that this commit takes away is where the folder will be."""
        while folder:
            if folder in self._going:
                return True
            folder = folder.rpartition("/")[0]
        return False

    def _create(self, holder: str, folder: int | None, mode: int) -> int:
        try:
            return os.open(holder, _CREATE, mode, dir_fd=folder)
        except FileExistsError:
            system.remove(holder, folder)  # left by a killed process, and looked at by whoever recovered
            return os.open(holder, _CREATE, mode, dir_fd=folder)

    def _holder(self, file: Placed) -> Spot:
        if file.holder.startswith(HIDDEN_HOLDER):
            return self._spot(file.folder, file.holder)
        return f"{self._state}/{file.holder}", None

    def _spot(self, folder: str, name: str, *, make: bool = False) -> Spot:
        return spot(self._folders.open(folder, make=make), name)

    # -- under the locks

    def place(self) -> None:
        """Put every file in place, those that go first: one may make room for another.

        Raises:
            Stale: a file is not what was seen.
            PathRefused: something other than a file is in the way.
        """
        for file in sorted(self.files, key=_comes_later) if self._going else self.files:
            try:
                if file.content is None:
                    self._take_away(file)
                elif file.seen is None:
                    self._put_new(file)
                else:
                    self._put_instead(file)
            except OSError as error:
                raise _named(error, file.path) from None
        self._folders.refuse_moved()
        if self._flush:
            self._folders.flush()

    def _take_away(self, file: Placed) -> None:
        try:
            name, folder = self._spot(file.folder, file.name)
        except (FileNotFoundError, NoFolderError):
            if file.seen is None:
                return  # gone with its folder
            raise _stale(file.path) from None
        if file.seen is None:
            if self._is_at(file.path, name, folder):
                raise _stale(file.path)
            return  # gone already
        holder, where = self._holder(file)
        file.before = self._compare(file, (name, folder))
        system.replace(name, holder, folder, where)
        if not _same(os.stat(holder, dir_fd=where, follow_symlinks=False), file.before):
            move_to_free(holder, where, name, folder)
            raise _stale(file.path)

    def _put_new(self, file: Placed) -> None:
        holder, where = self._holder(file)
        name, folder = self._spot(file.folder, file.name, make=True)
        try:
            move_to_free(holder, where, name, folder)
        except FileExistsError:
            if not self._cleared(file, name, folder):
                raise _stale(file.path) from None
            move_to_free(holder, where, name, folder)
        file.put = os.stat(name, dir_fd=folder, follow_symlinks=False)

    def _cleared(self, file: Placed, name: str, folder: int | None) -> bool:
        """Remove the empty folder that files of this commit left where this one is to go."""
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not modes.S_ISDIR(there.st_mode):
            if modes.S_ISREG(there.st_mode):
                return False
            raise _not_a_file(file.path)
        for other in self.files:
            if other.content is None and f"{other.folder}/".startswith(f"{file.path}/"):
                self._folders.remove_if_empty(other.folder, stop=file.folder)
        if is_there(name, folder):
            raise PathRefused(_still_holds(file.path, self._left_in(file.path)))
        return True

    def _left_in(self, path: str) -> list[str]:
        """Give what is left in a folder that should be empty, by its path, folders with a slash."""
        with os.scandir(self._folders.open(path)) as entries:
            return sorted(
                f"{path}/{entry.name}/" if entry.is_dir(follow_symlinks=False) else f"{path}/{entry.name}"
                for entry in entries
            )

    def _put_instead(self, file: Placed) -> None:
        holder, where = self._holder(file)
        name, folder = self._spot(file.folder, file.name)
        before = file.before = self._compare(file, (name, folder))
        exchange(holder, where, name, folder)
        if not _same(os.stat(holder, dir_fd=where, follow_symlinks=False), before):
            exchange(holder, where, name, folder)
            raise _stale(file.path)
        put = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if put.st_uid != before.st_uid or put.st_gid != before.st_gid:
            # Whose file it is stays as it was, as far as we are allowed to say so.
            with contextlib.suppress(PermissionError):
                system.set_owner(name, before.st_uid, before.st_gid, folder)
            put = os.stat(name, dir_fd=folder, follow_symlinks=False)
        file.put = put

    def _compare(self, file: Placed, place: Spot) -> os.stat_result:
        """Check that a file is what the change has seen, and give the disk's facts of it."""
        name, folder = place
        try:
            there = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            raise _stale(file.path) from None
        if not modes.S_ISREG(there.st_mode):
            raise _not_a_file(file.path)
        if not unchanged(there, file.seen) and file.seen_blob != self._blob(name, folder):
            raise _stale(file.path)
        return there

    def look(self, path: str, seen: FileStat | None, seen_blob: str | None) -> os.stat_result | None:
        """Check that a file that stays as it is (or is gone) is what was seen, and give its facts."""
        above, _, name = path.rpartition("/")
        try:
            there, folder = self._spot(above, name)
            if seen is None:
                if self._is_at(path, there, folder):
                    raise _stale(path)
                return None
            return self._compare(Placed(above, name, "", seen, seen_blob, None), (there, folder))
        except (FileNotFoundError, NoFolderError):
            if seen is None:
                return None
            raise _stale(path) from None

    def _is_at(self, path: str, name: str, folder: int | None) -> bool:
        """Say whether anything is at a path, and not only at another spelling of it."""
        return is_there(name, folder) and (not system.FOLDS or kind(self._root, path) is not None)

    def _blob(self, name: str, folder: int | None) -> str:
        fd = os.open(name, _READ, dir_fd=folder)
        with open(fd, "rb") as file:
            return blob_id(file.read())

    # -- after a crash

    def held(self, path: str, holder: str) -> bytes | None:
        """Give the bytes that a holder of a file has; None if there is none."""
        name, folder = self._holder(Placed(path.rpartition("/")[0], "", holder, None, None, None))
        try:
            fd = os.open(name, _READ, dir_fd=folder)
        except FileNotFoundError:
            return None
        with open(fd, "rb") as file:
            return file.read()

    def give_back(self, path: str, holder: str, *, instead: bool) -> None:
        """Put what a holder has where the file belongs: `instead` of what is there, or where nothing is."""
        above, _, name = path.rpartition("/")
        source, where = self._holder(Placed(above, name, holder, None, None, None))
        move = exchange if instead else move_to_free
        move(source, where, *self._spot(above, name, make=True))

    def drop(self, path: str, holder: str) -> None:
        """Remove a holder."""
        system.remove(*self._holder(Placed(path.rpartition("/")[0], "", holder, None, None, None)))

    # -- the end

    def finish(self) -> None:
        """Drop what the files were before, and the folders that are empty now."""
        for file in self.files:
            if file.before is not None:
                system.remove(*self._holder(file))
        for file in self.files:
            if file.content is None:
                self._folders.remove_if_empty(file.folder)
        if system.FOLDS and self._going:
            self._respell()

    def _respell(self) -> None:
        """Give folders the case that this commit moved their files to: on the disk they are the same ones."""
        left = {place_key(file.folder): file.folder for file in self.files if file.content is None}
        for file in self.files:
            if file.content is not None and left.get(place_key(file.folder), file.folder) != file.folder:
                with contextlib.suppress(OSError, PathRefused):
                    self._folders.respell(file.folder)

    def undo(self) -> None:
        """Have every file as it was. A file that changed since is somebody else's, and stays."""
        for file in reversed(self.files):
            with contextlib.suppress(OSError, PathRefused):
                self._undo(file)
        self._folders.remove_made()

    def _undo(self, file: Placed) -> None:
        """Go by what is on disk: the write may have been interrupted between any two steps."""
        holder, where = self._holder(file)
        held = None
        with contextlib.suppress(FileNotFoundError):
            held = os.stat(holder, dir_fd=where, follow_symlinks=False)
        if file.before is not None and held is not None and held.st_ino == file.before.st_ino:
            name, folder = self._spot(file.folder, file.name, make=True)
            if file.content is None:
                move_to_free(holder, where, name, folder)
                return
            if self._is_ours(file, name, folder):
                exchange(holder, where, name, folder)
        elif held is None and file.content is not None and file.seen is None:
            name, folder = self._spot(file.folder, file.name)
            if self._is_ours(file, name, folder):
                system.remove(name, folder)
        with contextlib.suppress(FileNotFoundError):
            system.remove(holder, where)

    def _is_ours(self, file: Placed, name: str, folder: int | None) -> bool:
        """Say whether what is at the path are the bytes that this commit put there."""
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if file.put is not None:
            return _same(there, file.put)
        return file.content is not None and self._blob(name, folder) == blob_id(file.content)

    def close(self) -> None:
        """Close every folder."""
        self._folders.close()


def _named(error: OSError, path: str) -> OSError:
    """Have what the disk says name the file from the vault on, not from the folder that was open."""
    error.filename, error.filename2 = path, None
    return error


def _comes_later(file: Placed) -> bool:
    return file.content is not None


def _permissions(seen: FileStat | None, executable: bool | None) -> int:
    mode = 0o666 if seen is None else modes.S_IMODE(seen.mode)
    if executable is None:
        return mode
    return mode | (mode & 0o444) >> 2 if executable else mode & ~0o111


def unchanged(there: os.stat_result, seen: FileStat | None) -> bool:
    """Say whether the facts alone prove that a file is what was seen."""
    return (
        seen is not None
        and there.st_mtime_ns == seen.mtime_ns
        and there.st_ctime_ns == seen.ctime_ns
        and there.st_size == seen.size
        and there.st_ino == seen.ino
        and there.st_mode == seen.mode
        and time.time_ns() - max(there.st_ctime_ns, there.st_mtime_ns) > _YOUNG
    )


def facts(found: os.stat_result) -> FileStat:
    """Give what the rest of the vault keeps of a file's facts."""
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode)


def _same(a: os.stat_result, b: os.stat_result) -> bool:
    """Compare what a rename leaves alone (it changes the ctime)."""
    return a.st_ino == b.st_ino and a.st_size == b.st_size and a.st_mtime_ns == b.st_mtime_ns


def _stale(path: str) -> Stale:
    return Stale(
        f"{path} was changed by somebody else in the meantime. Read it again, then repeat the call.",
        retry=True,
    )


def _still_holds(path: str, left: list[str]) -> str:
    named = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
    return (
        f"{path} is a folder that still holds {named}, so no file can take its place. Move that away or "
        "choose another path, then repeat the call."
    )


def _not_a_file(path: str) -> PathRefused:
    return PathRefused(
        f"{path} is a link, a folder or another thing that is no plain file. Choose another path."
    )

"""Reading the vault's folder: exact bytes of regular files, never through a symbolic link.

Every file is reached by opening one folder after the other from the vault's root, each without following a
link (`O_NOFOLLOW`, relative to the folder before it). So a folder that is swapped for a link between a
check and its use leads nowhere. Pipes, devices and sockets are passed over without being opened. Windows
has no such calls: there each part is looked at before the whole path is opened, which leaves a moment
between the two (not run by us).

A file has one path: the one that the disk spells. On macOS and Windows others lead to it too, and count as
"no file here", so that a name of which only the case changes is a rename there as well. On macOS a name is
taken as Git takes it, composed.

A symbolic link, a pipe or a folder counts as "no file here". What may not be read is an error instead: a
folder that is closed for a moment must not look like a hundred deleted notes.
"""

import errno
import os
import stat as modes
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from vault_mcp.errors import NoteUnreadable, PathRefused, StorageFailed
from vault_mcp.storage import system
from vault_mcp.storage.paths import is_hidden, is_hidden_folder, shown

TOO_LARGE = 64 * 1024 * 1024
"""Bytes from which a file is not taken into memory unless the caller says otherwise."""

_ROOT = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = _ROOT | getattr(os, "O_NOFOLLOW", 0)
_FILE = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | system.BINARY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe put here since the look would hold us up for ever
    | getattr(os, "O_NOCTTY", 0)
)
_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EMLINK, errno.ENAMETOOLONG, errno.ENXIO)
_READ_AGAIN = 3
_JUNCTION = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT, which the stat module only has on Windows

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True)
class FileStat:
    """What the disk tells of a regular file unread: when any of it has changed, the bytes are compared."""

    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int
    mode: int
    """The whole `st_mode`, kind and permissions."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a listing: the path from the vault's root, whether it is a folder, the size in bytes."""

    path: str
    is_folder: bool
    size: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds, depth first and sorted by name, how many entries are left out, its own size."""

    entries: tuple[Entry, ...]
    left_out: int
    size: int = 0


def read(root: str, path: str, *, too_large: int = TOO_LARGE) -> tuple[bytes, FileStat] | None:
    """Read a file and what the disk tells of it, or None where no regular file is.

    The two belong together: a file that changes while it is read is read again, and if it never rests, the
    facts from before the reading are given, so that the next comparison finds it changed.

    Raises:
        NoteUnreadable: it has more than `too_large` bytes.
        StorageFailed: the disk does not let us read it.
    """
    try:
        with _folder_of(root, path) as (folder, name):
            # Looked at before it is opened: opening a pipe or a device can already wake or change something.
            if not modes.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                return None
            if not _is_spelled(path, name, folder):
                return None
            descriptor = os.open(name, _FILE, dir_fd=folder)
        try:
            return _read_at_rest(descriptor, path, too_large)
        finally:
            os.close(descriptor)
    except OSError as error:
        _raise_unless_nothing(error, path)
        return None


SAVING, WRITING = 1.0, 0.02
"""Seconds: how long a file stays empty at most while an editor saves it, and how long one write may pause."""


def read_saved(
    root: str, path: str, is_known: Callable[[str, FileStat], bool]
) -> tuple[bytes, FileStat] | None:
    """Do as `read`, and wait, a second at most, for a file that somebody seems to be saving.

    Most editors empty a file and then write it. What is read between the two is neither the old text nor the
    new one.

    Args:
        root: The vault.
        path: The file.
        is_known: Says whether a file as the disk tells of it is known, so that nobody is at it.
    """
    found = read(root, path)
    until = time.monotonic() + SAVING
    while found is not None and time.monotonic() < until:
        age = time.time() - found[1].mtime_ns / 1e9
        if not 0 <= age < (WRITING if found[0] else SAVING) or is_known(path, found[1]):
            break
        time.sleep(WRITING / 4)
        found = read(root, path)
    return found


def _read_at_rest(descriptor: int, path: str, too_large: int) -> tuple[bytes, FileStat] | None:
    for _ in range(_READ_AGAIN):
        before = os.fstat(descriptor)
        if not modes.S_ISREG(before.st_mode):
            return None
        os.lseek(descriptor, 0, os.SEEK_SET)
        content = _all_bytes(descriptor, before.st_size, too_large, path)
        if _facts(os.fstat(descriptor)) == _facts(before):
            break
    return content, _facts(before)


def _all_bytes(descriptor: int, expected: int, too_large: int, path: str) -> bytes:
    if expected <= too_large:
        chunks = []
        left = too_large + 1
        while left > 0 and (chunk := os.read(descriptor, min(max(expected, 1 << 16) + 1, left))):
            chunks.append(chunk)
            left -= len(chunk)
        if left > 0:
            return b"".join(chunks)
    raise NoteUnreadable(
        f"{shown(path)} is larger than {too_large:,} bytes, too large to be read as a note. Split it."
    )


def stat(root: str, path: str) -> FileStat | None:
    """Tell what the disk knows of a regular file, or None where there is none.

    Raises:
        StorageFailed: the disk does not let us look.
    """
    try:
        with _folder_of(root, path) as (folder, name):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not _is_spelled(path, name, folder):
                return None
    except OSError as error:
        _raise_unless_nothing(error, path)
        return None
    return _facts(found) if modes.S_ISREG(found.st_mode) else None


def kind(root: str, path: str) -> Kind | None:
    """Tell what stands at a path: a file, folder or link (also one on the way), another thing, or nothing.

    Raises:
        StorageFailed: the disk does not let us look.
    """
    parts = path.split("/") if path else []
    for length in range(1, len(parts)):
        if _kind_here(root, "/".join(parts[:length])) == "link":
            return "link"
    return _kind_here(root, path) if path else "folder"


def _kind_here(root: str, path: str) -> Kind | None:
    try:
        with _folder_of(root, path) as (folder, name):
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if not _is_spelled(path, name, folder):
                return None
    except OSError as error:
        _raise_unless_nothing(error, path)
        return None
    if modes.S_ISREG(mode):
        return "file"
    if modes.S_ISDIR(mode):
        return "folder"
    return "link" if modes.S_ISLNK(mode) else "other"


def walk(
    root: str, under: str = "", *, unreadable: list[str] | None = None
) -> Iterator[tuple[str, FileStat]]:
    """Yield every regular file that the vault does not pass over, folder by folder in the disk's own order.

    Nested repositories and submodules (a folder with its own `.git`) are not entered. Names that are no
    UTF-8 come with lone surrogates in place of the odd bytes (`surrogateescape`); `paths.shown` makes them
    printable. What vanishes on the way is left out, and a folder `under` that is not there yields nothing.

    Raises:
        StorageFailed: a folder cannot be listed. With a list as `unreadable` its path is appended there
        instead and
            the walk goes on: what is below it is then unknown, not deleted.
    """
    waiting = [under]
    while waiting:
        folder = waiting.pop()
        prefix = folder and folder + "/"
        try:
            found = _scan(root, folder)
        except StorageFailed:
            if unreadable is None or not folder:
                raise
            unreadable.append(folder)
            continue
        for name, facts in found or ():
            if modes.S_ISDIR(facts.st_mode):
                waiting.append(prefix + name)
            else:
                yield prefix + name, _facts(facts)


def folders(root: str, under: str = "") -> Iterator[str]:
    """Yield the folders that `walk` looks into, each before its own content is listed.

    So a caller who watches each folder as it comes misses none that is made meanwhile. Folders that cannot be
    listed are yielded too, without what is below them.
    """
    waiting = [under]
    while waiting:
        folder = waiting.pop()
        nested = False
        with suppress(StorageFailed):
            nested = bool(folder) and _is_repository(root, folder)
        if nested:
            continue
        yield folder
        with suppress(StorageFailed):
            prefix = folder and folder + "/"
            waiting.extend(prefix + name for name in _subfolders(root, folder))


def within_nested(root: str, path: str) -> bool:
    """Whether a path lies in a repository of its own inside the vault, which the vault leaves to that one."""
    parts = path.split("/")[:-1]
    if not system.STEPWISE:
        return any(_is_repository(root, "/".join(parts[: length + 1])) for length in range(len(parts)))
    place = _open_root(root)
    try:
        for part in parts:
            _refuse_loose(part)
            inner = os.open(part, _FOLDER, dir_fd=place)
            os.close(place)
            place = inner
            with suppress(FileNotFoundError):
                os.stat(".git", dir_fd=place, follow_symlinks=False)
                return True
    except OSError as error:
        _raise_unless_nothing(error, path)
    finally:
        os.close(place)
    return False


def listing(root: str, path: str, depth: int = 2, limit: int = 1000) -> Listing | None:
    """List a folder as a person would look at it, `depth` levels deep, or None where there is no folder.

    The first `limit` entries are given and the rest only counted. Hidden entries and links are neither.

    Raises:
        StorageFailed: the disk does not let us list it.
    """
    if kind(root, path) != "folder":
        return None
    try:
        with _opened(root, path) as place:
            own = os.stat(place)
    except OSError as error:
        _raise_unless_nothing(error, path)
        return None
    entries: list[Entry] = []
    left_out = 0
    for entry in _listed(root, path, depth):
        if len(entries) < limit:
            entries.append(entry)
        else:
            left_out += 1
    return Listing(tuple(entries), left_out, own.st_size)


def _listed(root: str, folder: str, depth: int) -> Iterator[Entry]:
    for name, facts in sorted(_scan(root, folder) or (), key=lambda found: found[0]):
        path = f"{folder}/{name}" if folder else name
        is_folder = modes.S_ISDIR(facts.st_mode)
        yield Entry(path, is_folder, facts.st_size)
        if is_folder and depth > 1:
            # One closed folder further down does not spoil the view of the others.
            with suppress(StorageFailed):
                yield from _listed(root, path, depth - 1)


def _scan(root: str, folder: str) -> list[tuple[str, os.stat_result]] | None:
    """List the folders and regular files of a folder, or None where it is gone or a repository."""
    found = []
    try:
        with _opened(root, folder) as place, os.scandir(place) as entries:
            for entry in entries:
                name = entry.name
                if name == ".git" and folder:
                    return None
                passed_over = is_hidden_folder if entry.is_dir(follow_symlinks=False) else is_hidden
                if passed_over(name):
                    continue
                with suppress(FileNotFoundError):
                    facts = entry.stat(follow_symlinks=False)
                    if modes.S_ISREG(facts.st_mode) or (modes.S_ISDIR(facts.st_mode) and not is_mount(facts)):
                        found.append((named(name), facts))
    except OSError as error:
        _raise_unless_nothing(error, folder)
        return None
    return found


def _subfolders(root: str, folder: str) -> list[str]:
    try:
        with _opened(root, folder) as place, os.scandir(place) as entries:
            return [
                named(entry.name)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not is_hidden_folder(entry.name)
            ]
    except OSError as error:
        _raise_unless_nothing(error, folder)
        return []


def _is_repository(root: str, folder: str) -> bool:
    return _kind_here(root, f"{folder}/.git") is not None


@contextmanager
def _folder_of(root: str, path: str) -> Iterator[tuple[int | None, str]]:
    """Open the folder of a path: its descriptor and the last name; on Windows None and the whole path."""
    folder, _, name = path.rpartition("/")
    _refuse_loose(name)
    with _opened(root, folder) as place:
        yield (place, name) if isinstance(place, int) else (None, os.path.join(place, name))


@contextmanager
def _opened(root: str, folder: str) -> Iterator[int | str]:
    """Open a folder step by step without following a link; on Windows check the steps and give the path."""
    parts = folder.split("/") if folder else []
    for part in parts:
        _refuse_loose(part)
    if not system.STEPWISE:
        yield _checked(root, parts)
        return
    place = _open_root(root)
    try:
        for part in parts:
            inner = os.open(part, _FOLDER, dir_fd=place)
            os.close(place)
            place = inner
        yield place
    finally:
        os.close(place)


def _open_root(root: str) -> int:
    try:
        return os.open(root, _ROOT)  # the root itself may be a link: a person chose it
    except OSError as error:
        raise _gone(error) from error


def _checked(root: str, parts: list[str]) -> str:
    if not os.path.isdir(root):
        raise _gone(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
    place = root
    for part in parts:
        place = os.path.join(place, part)
        facts = os.lstat(place)
        if not modes.S_ISDIR(facts.st_mode) or is_mount(facts):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return place


def is_mount(facts: os.stat_result) -> bool:
    """Whether this is a Windows junction, a folder that is a link in all but name."""
    return getattr(facts, "st_reparse_tag", 0) == _JUNCTION


def _refuse_loose(part: str) -> None:
    # Callers pass what paths.inside gave or the walk found; this line holds even if one forgets.
    if part in ("", ".", "..") or "/" in part or "\0" in part or (os.sep != "/" and os.sep in part):
        raise PathRefused("The path does not name a file inside the vault. Give it relative to the vault.")
    try:
        os.fsencode(part)
    except UnicodeEncodeError as error:
        raise PathRefused("The path has half of a surrogate pair, which is not a character.") from error


def _is_spelled(path: str, name: str, folder: int | None) -> bool:
    """Whether what is there has this very path, which on some systems others lead to as well."""
    if not system.FOLDS:
        return True
    parts = path.split("/")
    return list(map(named, system.stored_path(name, folder).split("/")[-len(parts) :])) == parts


def named(name: str) -> str:
    """Give a name from the disk as Git has it: on macOS composed (core.precomposeUnicode)."""
    return unicodedata.normalize("NFC", name) if system.MAC and not name.isascii() else name


def _raise_unless_nothing(error: OSError, path: str) -> None:
    if error.errno not in _NOTHING_THERE:
        place = shown(path) or "the vault's folder"
        raise StorageFailed(
            f"The disk does not let the vault read {place} ({error.strerror}). Check its permissions."
        ) from error


def _gone(error: OSError) -> StorageFailed:
    return StorageFailed(
        f"The vault's folder cannot be opened ({error.strerror}). Check that it is there and mounted."
    )


def _facts(found: os.stat_result) -> FileStat:
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode)

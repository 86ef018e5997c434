"""One SQLite file that threads and processes share: open it, mend it, take a snapshot, write to it.

The file is derived from the notes and their Git history, so it may be thrown away at any moment. Opening
never fails because of what is in it: a missing, damaged or differently built index is made anew, and
`Index.empty` says so. Damage met later, or a file that was deleted under us, ends the block in
`IndexDamaged`; `Index.mend` then puts an index back.

Write-ahead logging lets readers go on while somebody writes. `synchronous = NORMAL` means that a power cut
can cost the newest writes, never the order of them: the index is then an older true one, and catches up.
"""

import contextlib
import os
import re
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator

from vault_mcp.errors import StorageFailed, VaultBusy
from vault_mcp.storage.index.reader import Reader
from vault_mcp.storage.index.schema import CURRENT, HISTORY, HISTORY_TABLES, VERSION
from vault_mcp.storage.index.words import WORDS
from vault_mcp.storage.index.writer import IndexWriter

FILE_NAME = f"index-{VERSION}.sqlite"
"""What an index is called: servers of two versions that share a vault then do not fight over one file."""

FORGOTTEN = 14 * 24 * 3600
"""Seconds after which the index of another version is removed when nobody has written to it."""

BUSY_SECONDS = 10.0
"""How long a statement waits for another process to finish its write; ours are short."""

CACHE_KIB = 8192
"""Page cache of one connection."""

ENDS = ("", "-wal", "-shm", "-journal")
"""The files that make up an index."""

LOG_PAGES = 4000
"""Length of the write-ahead log at which a writer itself moves it into the file, when `upkeep` never came."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_DAMAGE_SAID = ("no such ", "malformed", "vtable constructor failed")
_DISK = {
    sqlite3.SQLITE_FULL: "There is no room left on the disk for the index. Free some space and call again.",
    sqlite3.SQLITE_READONLY: "The index cannot be written: the folder is read-only. Make it writable.",
    sqlite3.SQLITE_PERM: "The index cannot be opened: permission denied. Make its folder writable.",
    sqlite3.SQLITE_CANTOPEN: "The index cannot be opened. See that its folder exists and can be written.",
    sqlite3.SQLITE_IOERR: "The disk failed under the index. Check the disk and call again.",
    sqlite3.SQLITE_NOMEM: "There is not enough memory for the index. Close other programs and call again.",
}


class IndexDamaged(StorageFailed):
    """The index cannot be used as it is; `Index.mend` makes it usable, and nothing but time is lost."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The index is {why} and has to be made anew. Call again in a few seconds.")


class _Connection(sqlite3.Connection):
    """A connection that knows which file it has open: paths can come to mean another file."""

    identity: tuple[int, int] = (0, 0)


class Index:
    """The index of one vault. Safe to use from several threads; each block has a connection of its own."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._idle: deque[_Connection] = deque()
        self._identity: tuple[int, int] | None = None
        self._damaged = False
        self._closed = False
        self._mending = threading.Lock()

    @classmethod
    def open(cls, path: str) -> "Index":
        """Open the index at `path`; one that is missing, damaged or of another version is made anew.

        Raises:
            StorageFailed: the folder cannot be written, or the disk is full.
            VaultBusy: another process holds the file for longer than ten seconds.
        """
        index = cls(path)
        index.mend()
        _forget_others(path)
        return index

    def close(self) -> None:
        """Let go of the file; blocks that are still running end first."""
        self._closed = True
        self._drop_idle()

    # -- what it is in step with

    @property
    def head(self) -> str | None:
        """The commit that the current tables are in step with; None until a first build is complete."""
        return self._state("head")

    @property
    def history_head(self) -> str | None:
        """The commit up to which the history tables reach."""
        return self._state("history_head")

    @property
    def empty(self) -> bool:
        """Whether the current tables have still to be built for the first time."""
        return self.head is None

    def _state(self, column: str) -> str | None:
        db = self._take()
        try:
            row: tuple[str | None] = db.execute(f"SELECT {column} FROM state").fetchone()
            return row[0]
        except sqlite3.Error as error:
            raise self._told(error) from error
        finally:
            self._give_back(db)

    # -- blocks

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reader]:
        """Give one snapshot: everything read in the block belongs to one moment.

        Raises:
            IndexDamaged: see `mend`.
        """
        db = self._take()
        try:
            db.execute("BEGIN")
            yield Reader(db)
        except sqlite3.Error as error:
            raise self._told(error) from error
        finally:
            self._give_back(db)

    @contextlib.contextmanager
    def writing(self) -> Iterator[IndexWriter]:
        """Give a writer whose work is seen at once when the block ends, or not at all when it fails.

        Raises:
            IndexDamaged: see `mend`.
            VaultBusy, StorageFailed: as for `open`.
        """
        db = self._take()
        try:
            db.execute("BEGIN IMMEDIATE")
            writer = IndexWriter(db)
            yield writer
            writer.finish()
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._told(error) from error
        finally:
            self._give_back(db)

    def upkeep(self) -> bool:
        """Do what writes put off: in the background, with the vault's lock; True if some may be left."""
        with self.writing() as writer:
            writer.settle()
            left = writer.date() > 0
        self.empty_log()
        return left

    def empty_log(self) -> None:
        """Move what was written into the file, as far as nobody reads what was before; needs no lock."""
        db = self._take()
        try:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error as error:
            raise self._told(error) from error
        finally:
            self._give_back(db)

    def check(self) -> list[str]:
        """Read the whole file and say what is wrong with it, for `doctor`; nothing when it is sound."""
        db = self._take()
        try:
            found = [row[0] for row in db.execute("PRAGMA quick_check(20)")]
        except sqlite3.Error as error:
            found = [str(error)]
        finally:
            self._give_back(db)
        return [] if found == ["ok"] else found

    def copy_to(self, path: str, *, history_alone: bool = False) -> "Index":
        """Make another index at `path` that says the same, or has the same history and no files."""
        other = Index(path)
        db = self._take()
        try:
            if history_alone:
                other.mend()
                target = sqlite3.connect(path, isolation_level=None)
                target.execute("ATTACH ? AS source", (self.path,))
                target.execute("BEGIN")
                for table in HISTORY_TABLES:
                    target.execute(f"INSERT INTO {table} SELECT * FROM source.{table}")
                target.execute("COMMIT")
                target.close()
            else:
                target = sqlite3.connect(path, isolation_level=None)
                target.execute("PRAGMA synchronous = OFF")
                db.backup(target)
                target.close()
                other.mend()
        except sqlite3.Error as error:
            raise self._told(error) from error
        finally:
            self._give_back(db)
        return other

    # -- opening and mending

    def mend(self, *, anew: bool = False) -> None:
        """See that there is a sound index at the path; after damage, or when told to, an empty one.

        An index that another process has made in the meantime is taken as it is.
        """
        with self._mending:
            if (self._damaged or anew) and _identity(self.path) == self._identity:
                self._remove()
            self._drop_idle()
            self._damaged = False
            try:
                db = self._prepared()
            except sqlite3.Error as error:
                told = self._told(error)
                if isinstance(told, VaultBusy | StorageFailed) and not isinstance(told, IndexDamaged):
                    raise told from error
                self._remove()
                db = self._prepared_or_refused()
            self._damaged = False
            self._identity = db.identity
            self._give_back(db)

    def _prepared_or_refused(self) -> _Connection:
        try:
            return self._prepared()
        except sqlite3.Error as error:
            raise self._told(error) from error

    def _prepared(self) -> _Connection:
        db = self._connect()
        try:
            found = _version(db)
            if found not in (0, VERSION):
                db.close()
                self._remove()
                db = self._connect()
            if found != VERSION:
                _create(db)
            db.execute("SELECT head FROM state").fetchone()
            db.identity = _identity(self.path) or (0, 0)
        except BaseException:
            db.close()
            raise
        return db

    def _connect(self) -> _Connection:
        db = sqlite3.connect(
            self.path,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            cached_statements=256,
            check_same_thread=False,  # a connection is in one block, so in one thread, at a time
            factory=_Connection,
        )
        try:
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            db.execute("PRAGMA temp_store = MEMORY")
            db.execute("PRAGMA secure_delete = OFF")
            db.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        except BaseException:
            db.close()
            raise
        return db

    def _remove(self) -> None:
        for end in ENDS:
            try:
                os.unlink(self.path + end)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StorageFailed(
                    "The damaged index cannot be removed. Give write permission to its folder."
                ) from error

    # -- connections

    def _take(self) -> _Connection:
        if self._closed:
            raise StorageFailed("The vault is closed. Open it again.")
        identity = _identity(self.path)
        if identity is None or identity != self._identity or self._damaged:
            raise IndexDamaged("damaged" if self._damaged else "gone")
        while True:
            try:
                db = self._idle.pop()
            except IndexError:
                break
            if db.identity == identity:
                return db
            db.close()
        try:
            db = self._connect()
        except sqlite3.Error as error:
            raise self._told(error) from error
        db.identity = identity
        return db

    def _give_back(self, db: _Connection) -> None:
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error:
            db.close()
            return
        if self._closed or self._damaged or db.identity != self._identity:
            db.close()
            return
        self._idle.append(db)

    def _drop_idle(self) -> None:
        while True:
            try:
                self._idle.pop().close()
            except IndexError:
                return

    def _told(self, error: sqlite3.Error) -> Exception:
        """Turn what SQLite raised into what the vault can act on."""
        whole = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        code = whole & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return VaultBusy("Another program holds the index for too long. Close it, or call again.")
        if code in _DISK and whole != sqlite3.SQLITE_IOERR_SHORT_READ:
            return StorageFailed(_DISK[code])
        if code in (*_DAMAGE, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CONSTRAINT) or any(
            words in str(error) for words in _DAMAGE_SAID
        ):
            self._damaged = True
            return IndexDamaged("damaged")
        return error


def _forget_others(path: str) -> None:
    """Remove indexes of other versions that nobody seems to use any more."""
    folder, own = os.path.split(path)
    if own != FILE_NAME:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        others = {entry.path for entry in entries if re.fullmatch(r"index-\d+\.sqlite", entry.name)} - {path}
        for other in others:
            ends = [other + end for end in ENDS if os.path.exists(other + end)]
            if max(os.stat(end).st_mtime for end in ends) < time.time() - FORGOTTEN:
                for end in ends:
                    os.unlink(end)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _version(db: sqlite3.Connection) -> int:
    row: tuple[int] = db.execute("PRAGMA user_version").fetchone()
    return row[0]


def _create(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA synchronous = OFF")  # a half-made index is made anew, so nothing waits for the disk
    db.execute("PRAGMA journal_mode = WAL").fetchone()
    db.execute("BEGIN IMMEDIATE")
    if _version(db) == 0:  # else another process was quicker
        for statement in _statements(CURRENT + HISTORY + WORDS):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")
    db.execute("PRAGMA synchronous = NORMAL")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

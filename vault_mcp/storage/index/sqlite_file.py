"""One SQLite file that threads and processes share: open it, mend it, and give out its connections.

What such a file holds is derived, so it may be thrown away at any moment. Opening never fails because of what
is in it: a missing, damaged or differently built file is made anew. Damage met later, or a file that was
deleted under us, ends the block in `IndexDamaged`; `mend` then puts a sound one back.

Write-ahead logging lets readers go on while somebody writes. `synchronous = NORMAL` means that a power cut
can cost the newest writes, never the order of them: the file is then an older true one, and catches up.
"""

import contextlib
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from typing import Self

from vault_mcp.errors import StorageFailed, VaultBusy
from vault_mcp.storage import system

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
    views: bool = False
    """Whether views lie over its tables (see `timeline`)."""


class SqliteFile:
    """A file made by one script. Safe to use from several threads; each block has a connection of its own.

    Attributes:
        script: the statements that make it.
        version: raised whenever the script changes; a file of another version is made anew.
        probe: a statement that succeeds on a sound file.
        path: where it lies.
    """

    script: str
    version: int
    probe: str

    def __init__(self, path: str) -> None:
        self.path = path
        self._idle: deque[_Connection] = deque()
        self._identity: tuple[int, int] | None = None
        self._damaged = False
        self._closed = False
        self._mending = threading.Lock()

    @classmethod
    def open(cls, path: str) -> Self:
        """Open the file at `path`; one that is missing, damaged or of another version is made anew.

        Raises:
            StorageFailed: the folder cannot be written, or the disk is full.
            VaultBusy: another process holds the file for longer than ten seconds.
        """
        file = cls(path)
        file.mend()
        return file

    def close(self) -> None:
        """Let go of the file; blocks that are still running end first."""
        self._closed = True
        self._drop_idle()

    @contextlib.contextmanager
    def _borrowed(self, begin: str = "") -> Iterator[_Connection]:
        """Give a connection; with `begin` in a transaction, which is committed only if the block does so."""
        db = self._take()
        try:
            if begin:
                db.execute(begin)
            yield db
        except sqlite3.Error as error:
            raise self._told(error) from error
        finally:
            self._give_back(db)

    def empty_log(self) -> None:
        """Move what was written into the file, as far as nobody reads what was before; needs no lock."""
        with self._borrowed() as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

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

    # -- opening and mending

    def mend(self, *, anew: bool = False) -> None:
        """See that there is a sound index at the path; after damage, or when told to, an empty one.

        An index that another process has made in the meantime is taken as it is.
        """
        with self._mending:
            self._drop_idle()
            if (self._damaged or anew) and _identity(self.path) == self._identity:
                self._remove()
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
            if found not in (0, self.version):
                db.close()
                self._remove()
                db = self._connect()
            if found != self.version:
                self._create(db)
            db.execute(self.probe).fetchone()
            db.identity = _identity(self.path) or (0, 0)
        except BaseException:
            db.close()
            raise
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA synchronous = OFF")  # a half-made file is made anew, so nothing waits for the disk
        db.execute("PRAGMA journal_mode = WAL").fetchone()
        db.execute("BEGIN IMMEDIATE")
        if _version(db) == 0:  # else another process was quicker
            for statement in _statements(self.script):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {self.version}")
        db.execute("COMMIT")
        db.execute("PRAGMA synchronous = NORMAL")

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
                system.remove(self.path + end)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StorageFailed(
                    "The damaged index cannot be removed. Give write permission to its folder. On Windows, "
                    "end the other servers of this vault first."
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


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _version(db: sqlite3.Connection) -> int:
    row: tuple[int] = db.execute("PRAGMA user_version").fetchone()
    return row[0]


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

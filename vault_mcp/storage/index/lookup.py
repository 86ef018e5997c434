"""Find files and notes: by path, by name, by what a link may mean."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vault_mcp.notes.links import stem_key
from vault_mcp.notes.names import file_stem, name_key
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.index.dates import written
from vault_mcp.storage.index.rows import FileRow, NoteRow
from vault_mcp.storage.index.schema import MOST_ROWS, SHIFT
from vault_mcp.storage.index.storable import storable

KINDS = ("entity", "memory", "key", "note")

NOTE = (
    "SELECT n.id, f.path, n.kind, n.name, n.type, n.created, coalesce(n.agent, n.added_by), n.archived,"
    " n.added, n.more"
    " FROM notes n JOIN files f ON f.id = n.id"
)
FILE = "SELECT path, blob, size, mtime_ns, ctime_ns, ino, mode FROM files"


class Snapshot:
    """The connection of one block, and what every part of a reader needs of it."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def _rows(self, sql: str, values: Iterable[Any] | Mapping[str, Any] = ()) -> list[Any]:
        return self._db.execute(sql, _bound(values)).fetchall()

    def _one(self, sql: str, values: Iterable[Any] | Mapping[str, Any] = ()) -> Any:
        return self._db.execute(sql, _bound(values)).fetchone()


def _bound(values: Iterable[Any] | Mapping[str, Any]) -> tuple[Any, ...] | dict[str, Any]:
    return dict(values) if isinstance(values, Mapping) else tuple(values)


class Lookup(Snapshot):
    """Files and notes by what they are called."""

    # -- files

    def file(self, path: str) -> FileRow | None:
        """Give what is known of the file at a path."""
        row = self._one(f"{FILE} WHERE path = ?", (storable(path),))
        return FileRow(row[0], row[1], FileStat(*row[2:])) if row else None

    def stats(self, paths: Iterable[str]) -> dict[str, tuple[int, int, int, int, int]]:
        """Give what the disk told of files when they were indexed, of those that are known (see `seen`)."""
        rows = ((path, self._one(f"{FILE} WHERE path = ?", (storable(path),))) for path in paths)
        return {path: row[2:] for path, row in rows if row}

    def files(self, under: str = "") -> Iterator[tuple[str, str, int, int, int, int, int]]:
        """Give (path, blob, size, mtime_ns, ctime_ns, ino, mode) of every file, or of those below a folder.

        Plain tuples, since at start they are compared with the disk by the hundred thousand.
        """
        if not under:
            yield from self._db.execute(FILE)
        else:
            yield from self._db.execute(f"{FILE} WHERE path > ? AND path < ?", (f"{under}/", f"{under}0"))

    def paths_ending(self, suffix: str) -> list[str]:
        """Give every path that ends in `suffix`, without regard to ASCII case."""
        return [
            row[0]
            for row in self._rows(
                "SELECT path FROM files WHERE lower(substr(path, ?)) = ? ORDER BY path",
                (-len(suffix), suffix.lower()),
            )
        ]

    def paths_with_stem(self, key: str) -> list[str]:
        """Give the files that a link with this stem key (`links.stem_key`) may mean."""
        return [
            row[0]
            for row in self._rows("SELECT path FROM files WHERE stem_key = ? ORDER BY path", (storable(key),))
        ]

    def stem_taken(self, key: str) -> bool:
        """Say whether some file has this stem key."""
        return self._one("SELECT 1 FROM files WHERE stem_key = ?", (storable(key),)) is not None

    def notes_in_folder(self, folder: str) -> int:
        """Count the files that lie directly in a folder ("" is the root)."""
        count: int = self._one("SELECT count(*) FROM files WHERE folder = ?", (storable(folder),))[0]
        return count

    def linking_to_stem(self, key: str) -> list[str]:
        """Give the notes that hold a link or relation with this stem key, as a rename needs them."""
        rows = self._rows(
            f"SELECT DISTINCT path FROM links l JOIN files f ON f.id = l.id >> {SHIFT} WHERE l.stem_key = ?"
            " ORDER BY path",
            (storable(key),),
        )
        return [row[0] for row in rows]

    # -- notes

    def note_at(self, path: str) -> NoteRow | None:
        """Give the note at a path."""
        row = self._one(f"{NOTE} WHERE f.path = ?", (storable(path),))
        return note_row(row) if row else None

    def note_by_id(self, note: int) -> NoteRow | None:
        """Give the note of a number that this snapshot told."""
        row = self._one(f"{NOTE} WHERE f.id = ?", (note,))
        return note_row(row) if row else None

    def notes_named(
        self, name: str, *, kinds: Iterable[str] = KINDS, archived: bool = False
    ) -> list[NoteRow]:
        """Give the notes of exactly this name (compared as NFC), the one that a name means first.

        Entities come before memories, keys and other notes. Among twins the first is the one whose file is
        called by the name, then the one with the shortest path, then the first by path.
        """
        key = storable(name_key(name))
        rows: list[tuple[int, bool, int, str, NoteRow]] = []
        for rank, kind in enumerate(kinds):
            found = self._rows(
                f"{NOTE} WHERE n.kind = ? AND n.archived = ? AND n.name_key = ?", (kind, int(archived), key)
            )
            if len(found) == 1:
                rows.append((rank, False, 0, "", note_row(found[0])))
            elif found:
                stem = stem_key(file_stem(name))
                rows += [
                    (rank, stem_key(row[1]) != stem, len(row[1]), row[1], note_row(row)) for row in found
                ]
        return [row[-1] for row in sorted(rows, key=lambda row: row[:-1])]

    def note_named(self, name: str) -> NoteRow | None:
        """Give the note that a name means: an entity before any other note; archived ones are left out."""
        found = self.notes_named(name)
        return found[0] if found else None

    def entity(self, name: str) -> NoteRow | None:
        """Give the entity that a name means; `twins` tells of others that are called the same."""
        found = self.notes_named(name, kinds=("entity",))
        return found[0] if found else None

    def twins(self, most: int = 100) -> list[tuple[str, list[str]]]:
        """Give the entity names that several notes bear, each with their paths, for `doctor`."""
        rows = self._rows(
            "SELECT name_key FROM notes WHERE kind = 'entity' AND archived = 0"
            " GROUP BY name_key HAVING count(*) > 1 ORDER BY name_key LIMIT ?",
            (most,),
        )
        return [(key, [row.path for row in self.notes_named(key, kinds=("entity",))]) for (key,) in rows]

    def notes_with_problems(self, most: int = 1000) -> list[NoteRow]:
        """Give the notes that could not be read in full, with what is wrong with each."""
        rows = self._rows(
            f"{NOTE} WHERE n.more IS NOT NULL AND json_array_length(n.more, '$[1]') > 0"
            " ORDER BY f.path LIMIT ?",
            (most,),
        )
        return [note_row(row) for row in rows]

    def value(self, path: str) -> str | None:
        """Give the exact value of the key note at a path."""
        row = self._one(
            "SELECT p.text FROM files f JOIN notes n ON n.id = f.id"
            f" JOIN passages p ON p.id BETWEEN f.id << {SHIFT} AND (f.id << {SHIFT}) + {MOST_ROWS}"
            " WHERE f.path = ? AND n.kind = 'key'",
            (storable(path),),
        )
        return row[0] if row else None

    def tags_of(self, note: int) -> tuple[str, ...]:
        """Give a note's tags, those of its front matter first."""
        rows = self._rows(
            f"SELECT tag FROM tags WHERE id BETWEEN ? << {SHIFT} AND (? << {SHIFT}) + {MOST_ROWS}",
            (note, note),
        )
        return tuple(row[0] for row in rows)


def note_row(row: tuple[Any, ...]) -> NoteRow:
    """Read a row of `NOTE`."""
    number, path, kind, name, type_, created, agent, archived, added, more = row
    aliases, problems = json.loads(more)[:2] if more else ((), ())
    return NoteRow(
        number,
        path,
        kind,
        name,
        type_,
        created or written(added),
        agent,
        bool(archived),
        tuple(aliases),
        tuple(problems),
    )

"""Read the graph by pages: entities in the order of their names, their observations, their relations."""

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from vault_mcp.notes.links import resolve
from vault_mcp.notes.names import is_stem_of
from vault_mcp.storage.index.cursors import read_cursor, write_cursor
from vault_mcp.storage.index.dates import read_rest
from vault_mcp.storage.index.filters import line_matches, note_matches
from vault_mcp.storage.index.lookup import NOTE, Snapshot, note_row
from vault_mcp.storage.index.rows import (
    Count,
    Filter,
    NoteRow,
    ObservationRow,
    Page,
    RelationRow,
    Totals,
)
from vault_mcp.storage.index.schema import BY_TOOL, GIT_ADDED, GIT_EDITED, MOST_ROWS, SHIFT

EVERYTHING = Filter()

FEW = 500
"""Lines within a filter up to which it pays to begin from the lines rather than from the entities."""

OBSERVATION_COLUMNS = (
    "o.id, o.text, o.added_at, o.agent, o.edited_at, o.edited_by, o.superseded, o.from_git, o.more"
)

_RELATION = f"""
SELECT r.id, r.type, r.target, r.shown, r.added_at, r.agent, r.from_git,
  f.path, n.name, n.kind, n.archived, t.id, t.path, tn.name, tn.kind, tn.archived
FROM relations r JOIN notes n ON n.id = r.id >> {SHIFT} JOIN files f ON f.id = n.id
LEFT JOIN files t ON t.stem_key = r.stem_key LEFT JOIN notes tn ON tn.id = t.id
"""


def range_of(note: int) -> tuple[int, int]:
    """Give the first and the last number that a row of this note may have."""
    base = note << SHIFT
    return base, base | MOST_ROWS


class Graph(Snapshot):
    """Entities, observations, relations, and how many there are."""

    def totals(self) -> Totals:
        """Say how much the graph holds."""
        return Totals(*self._one("SELECT entities, observations, relations, files FROM state"))

    # -- entities

    def entities(self, limit: int, cursor: str | None = None, where: Filter = EVERYTHING) -> Page[NoteRow]:
        """Give entities in the order of their names (by code point).

        With a filter: those whose own stamp matches, or one of whose observations was added or edited within
        it.

        Raises:
            BadArgument: the cursor is not one of these.
        """
        terms = ["n.kind = 'entity' AND n.archived = 0"]
        values: list[object] = []
        if cursor:
            name, number = read_cursor(cursor, "entities", str, int)
            terms.append("(n.name_key, n.id) > (?, ?)")
            values += [name, number]
        if where:
            condition, more = self._within(where)
            terms.append(condition)
            values += more
        rows = self._rows(
            f"{NOTE} WHERE {' AND '.join(terms)} ORDER BY n.name_key, n.id LIMIT ?", (*values, limit + 1)
        )
        found = tuple(note_row(row) for row in rows[:limit])
        following = None
        if len(rows) > limit and found:
            key = self._one("SELECT name_key FROM notes WHERE id = ?", (found[-1].id,))[0]
            following = write_cursor("entities", key, found[-1].id)
        return Page(found, following)

    def _within(self, where: Filter) -> tuple[str, list[object]]:
        own, values = note_matches(where)
        line, more = line_matches(where)
        line = f"NOT o.superseded AND {line}"
        if where.since is not None:
            recent = self._rows(
                f"SELECT o.id >> {SHIFT} FROM observations o WHERE o.touched >= ? AND {line} LIMIT ?",
                (where.since, *more, FEW),
            )
            if len(recent) < FEW:
                numbers = ",".join(str(number) for number in sorted({row[0] for row in recent}))
                return f"(({own}) OR n.id IN ({numbers}))", values
        return (
            f"(({own}) OR EXISTS (SELECT 1 FROM observations o WHERE o.id BETWEEN n.id << {SHIFT}"
            f" AND (n.id << {SHIFT}) + {MOST_ROWS} AND {line}))",
            values + more,
        )

    # -- observations

    def observations(
        self,
        note: int,
        *,
        superseded: bool = False,
        where: Filter = EVERYTHING,
        skip: int = 0,
        most: int = -1,
    ) -> list[ObservationRow]:
        """Give the observations of a note in the order of its lines, superseded ones only when asked for."""
        line, values = line_matches(where) if where else ("1", [])
        rows = self._rows(
            f"SELECT {OBSERVATION_COLUMNS} FROM observations o WHERE o.id BETWEEN ? AND ? AND {line}"
            f"{'' if superseded else ' AND NOT o.superseded'} ORDER BY o.position LIMIT ? OFFSET ?",
            (*range_of(note), *values, most, skip),
        )
        return [observation_row(row) for row in rows]

    def count_observations(self, note: int, *, superseded: bool = False) -> int:
        """Count the observations of a note."""
        count: int = self._one(
            "SELECT count(*) FROM observations WHERE id BETWEEN ? AND ?"
            + ("" if superseded else " AND NOT superseded"),
            range_of(note),
        )[0]
        return count

    def citing(self, name: str) -> list[str]:
        """Give the notes in which an observation names this entity among its sources, and perhaps others.

        Looks through the few observations that have more to their stamp than most.
        """
        rows = self._rows(
            f"SELECT DISTINCT f.path FROM observations o JOIN files f ON f.id = o.id >> {SHIFT}"
            " WHERE o.more IS NOT NULL AND instr(o.more, ?) ORDER BY f.path",
            (json.dumps(name),),
        )
        return [row[0] for row in rows]

    # -- relations

    def relations_from(self, notes: Iterable[int], most: int = 10_000) -> list[RelationRow]:
        """Give the relations that stand in these notes, note by note in the order of their lines."""
        return list(itertools.islice(self._outgoing(notes), most))

    def relations_to(self, notes: Iterable[int], most: int = 10_000) -> list[RelationRow]:
        """Give the relations of any note that mean one of these notes."""
        return list(itertools.islice(self._incoming(notes), most))

    def relations_touching(self, notes: Iterable[int], most: int = 10_000) -> list[RelationRow]:
        """Give the relations that stand in these notes or mean one of them, each once."""
        wanted = list(dict.fromkeys(notes))
        inside = set(wanted)
        foreign = (row for row in self._incoming(wanted) if row.from_note not in inside)
        return list(itertools.islice(itertools.chain(self._outgoing(wanted), foreign), most))

    def all_relations(self) -> Iterator[RelationRow]:
        """Give every relation that does not stand in an archived note."""
        yield from self._resolved(f"{_RELATION} WHERE n.archived = 0 ORDER BY r.id")

    def all_links(self) -> Iterator[tuple[int, int]]:
        """Give (note, note) for every link that can mean one note alone, relation lines among them.

        A link whose name several files bear is left out: which one it means stands only in the text.
        """
        yield from self._db.execute(
            f"SELECT DISTINCT l.id >> {SHIFT}, t.id FROM links l JOIN files t ON t.stem_key = l.stem_key"
            f" JOIN notes n ON n.id = l.id >> {SHIFT} JOIN notes tn ON tn.id = t.id"
            f" WHERE n.archived = 0 AND tn.archived = 0 AND t.id <> l.id >> {SHIFT}"
            " AND (SELECT count(*) FROM files o WHERE o.stem_key = l.stem_key) = 1 ORDER BY 1, 2"
        )

    def all_notes(self, most: int = -1) -> list[NoteRow]:
        """Give every note that is not archived, of any kind, in the order they were first seen."""
        return [
            note_row(row) for row in self._rows(f"{NOTE} WHERE n.archived = 0 ORDER BY n.id LIMIT ?", (most,))
        ]

    def dangling(self, most: int = 1000) -> list[RelationRow]:
        """Give relations whose link means no file, for `doctor`."""
        # A link without a folder means some file as soon as one has its stem; one with a folder may still
        # miss.
        unsure = "n.archived = 0 AND (t.id IS NULL OR instr(r.target, '/'))"
        found = self._resolved(f"{_RELATION} WHERE {unsure} ORDER BY r.id")
        return list(itertools.islice((row for row in found if row.dangling), most))

    def _outgoing(self, notes: Iterable[int]) -> Iterator[RelationRow]:
        for note in notes:
            yield from self._resolved(
                f"{_RELATION} WHERE r.id BETWEEN ? AND ? ORDER BY r.position, r.id", range_of(note)
            )

    def _incoming(self, notes: Iterable[int]) -> Iterator[RelationRow]:
        for note in notes:
            row = self._one("SELECT stem_key FROM files WHERE id = ?", (note,))
            if row is not None:
                found = self._resolved(f"{_RELATION} WHERE r.stem_key = ? ORDER BY r.id", row)
                yield from (relation for relation in found if relation.to_note == note)

    def _resolved(self, sql: str, values: Sequence[object] = ()) -> Iterator[RelationRow]:
        """Read relations, each joined with the files that its link may mean; Obsidian's rule chooses."""
        for _, group in itertools.groupby(self._db.execute(sql, tuple(values)), key=lambda row: row[0]):
            rows = list(group)
            first = rows[0]
            if len(rows) == 1 and "/" not in first[2]:
                path = first[12]  # a bare name means the only file that is called so
            else:
                path = resolve(first[2], first[7], [row[12] for row in rows if row[12] is not None])
            yield _relation(next((row for row in rows if row[12] == path), first), path)

    # -- kinds of things, with counts

    def entity_types(self) -> list[Count]:
        """Give the types of entities, by code point."""
        return self._counts(
            "SELECT type, count(*) FROM notes WHERE kind = 'entity' AND archived = 0"
            " GROUP BY type ORDER BY type"
        )

    def relation_types(self) -> list[Count]:
        """Give the types of relations, by code point."""
        return self._counts(
            f"SELECT r.type, count(*) FROM relations r JOIN notes n ON n.id = r.id >> {SHIFT}"
            " WHERE n.archived = 0 GROUP BY r.type ORDER BY r.type"
        )

    def tags(self) -> list[Count]:
        """Give the tags of all notes, by code point. Case makes no other tag (Obsidian)."""
        spelled = self._counts(
            f"SELECT g.tag, count(*) FROM tags g JOIN notes n ON n.id = g.id >> {SHIFT}"
            " WHERE n.archived = 0 GROUP BY g.tag ORDER BY count(*) DESC, g.tag"
        )
        counts: dict[str, Count] = {}
        for tag in spelled:
            first = counts.get(tag.name.casefold(), Count(tag.name, 0))
            counts[tag.name.casefold()] = Count(first.name, first.count + tag.count)
        return sorted(counts.values(), key=lambda tag: tag.name)

    def _counts(self, sql: str) -> list[Count]:
        return [Count(*row) for row in self._rows(sql)]


def observation_row(row: tuple[Any, ...]) -> ObservationRow:
    """Read a row of `OBSERVATION_COLUMNS`."""
    number, text, added_at, agent, edited_at, edited_by, superseded, from_git, rest = row
    stamped = not from_git & GIT_ADDED
    return ObservationRow(
        number >> SHIFT,
        text,
        added_at,
        agent,
        edited_at,
        edited_by,
        bool(superseded),
        stamped,
        bool(from_git & (GIT_ADDED | GIT_EDITED)) and not from_git & BY_TOOL,
        *read_rest(rest),
    )


def _relation(row: tuple[Any, ...], path: str | None) -> RelationRow:
    to_note, _, to_name, to_kind, to_archived = row[11:] if path else (None,) * 5
    return RelationRow(
        from_note=row[0] >> SHIFT,
        from_path=row[7],
        from_name=row[8],
        from_kind=row[9],
        from_archived=bool(row[10]),
        type=row[1],
        to_note=to_note,
        to_path=path,
        to_name=_name_at_end(row, to_name, path),
        to_kind=to_kind,
        to_archived=bool(to_archived),
        target=row[2],
        shown=row[3],
        added_at=row[4],
        agent=row[5],
        stamped=not row[6] & GIT_ADDED,
    )


def _name_at_end(row: tuple[Any, ...], name: str | None, path: str | None) -> str:
    """Give what a relation leads to: a note's name, another file's, or that of a note that is not there yet.

    Of a link that means no file that is the shown name if its note would be called like the link.
    """
    if name is not None:
        return name
    if path is not None:
        return path.rpartition("/")[2]
    target: str = row[2]
    shown: str | None = row[3]
    return shown if shown is not None and is_stem_of(target.rpartition("/")[2], shown) else target

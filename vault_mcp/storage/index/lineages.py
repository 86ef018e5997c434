"""Read where a note lay and what it held at any commit: one note is one lineage through all its places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from vault_mcp.notes.fold import fold
from vault_mcp.storage.index.cursors import read_cursor, write_cursor
from vault_mcp.storage.index.dates import read_stamp
from vault_mcp.storage.index.dating import Told, made_by, told_of
from vault_mcp.storage.index.past import FACT_COLUMNS, Past
from vault_mcp.storage.index.rows import CommitRow, FactVersion, Page, Place, Step, Wanted
from vault_mcp.storage.index.storable import storable

_COMMIT = "SELECT c.seq, c.sha, c.at, c.author, c.tool, c.session, c.subject FROM commits c"
_FACT = f"SELECT {FACT_COLUMNS}, lineage FROM facts"
_LYING = "first_seq <= :seq AND (last_seq IS NULL OR last_seq > :seq)"
ANY = Wanted()
NOW = 1 << 61
"""A commit number behind every other."""


class Lineages(Past):
    """Notes through time. Commits are numbered along the first-parent chain, from 1."""

    @property
    def last_seq(self) -> int:
        """The number of the newest commit that the history tables know; 0 before the first."""
        found: int = self._one("SELECT coalesce(max(seq), 0) FROM commits")[0]
        return found

    # -- commits

    def commits_beginning(self, prefix: str, most: int = 3) -> list[CommitRow]:
        """Give the commits whose hash begins with these hex digits, at most so many."""
        rows = self._rows(
            f"{_COMMIT} WHERE c.sha >= ? AND c.sha < ? ORDER BY c.sha LIMIT ?", (prefix, f"{prefix}g", most)
        )
        return [self._commit(row) for row in rows]

    def commit_number(self, seq: int) -> CommitRow | None:
        """Give a commit by its number."""
        row = self._one(f"{_COMMIT} WHERE c.seq = ?", (seq,))
        return self._commit(row) if row else None

    def find_commits(
        self,
        limit: int,
        cursor: str | None = None,
        where: Wanted = ANY,
        *,
        oldest_first: bool = False,
    ) -> Page[CommitRow]:
        """Give commits, the newest first; `oldest_first` turns that round, for a first page alone.

        Raises:
            BadArgument: the cursor is not one of a log.
        """
        below = int(read_cursor(cursor, "log", int)[0]) if cursor else NOW
        source = _COMMIT
        if where.lineages is not None:
            # The note's few commits first, not a walk along all: CROSS JOIN keeps this order.
            numbers = ",".join(str(int(number)) for number in where.lineages)
            own = f"(SELECT DISTINCT seq FROM lineage_commits WHERE lineage IN ({numbers})) l"
            source = source.replace("FROM commits c", f"FROM {own} CROSS JOIN commits c ON c.seq = l.seq")
        terms, values = self._terms(where)
        rows = self._rows(
            f"{source} WHERE c.seq < ? AND {terms} ORDER BY c.seq{'' if oldest_first else ' DESC'} LIMIT ?",
            (below, *values, limit + 1),
        )
        following = write_cursor("log", rows[limit - 1][0]) if len(rows) > limit > 0 else None
        return Page(tuple(self._commit(row) for row in rows[:limit]), following)

    def _terms(self, where: Wanted) -> tuple[str, list[object]]:
        asked: list[tuple[str, object]] = [
            ("c.seq > ?", where.above),
            ("c.author = ?", storable(where.agent) or None),
            ("c.tool = ?", storable(where.tool) or None),
            ("c.session = ?", storable(where.session) or None),
            ("c.at >= ?", where.since),
            ("c.at < ?", where.before),
        ]
        terms = [term for term, value in asked if value is not None]
        values = [value for _, value in asked if value is not None]
        if where.text:
            terms.append(f"(instr(fold(c.subject), ?) OR c.seq IN ({self._holding()}))")
            values += [fold(storable(where.text))] * 3
        return " AND ".join(terms), values

    def _holding(self) -> str:
        self._db.create_function("fold", 1, fold, deterministic=True)
        return (
            "SELECT first_seq FROM facts WHERE instr(fold(text), ?)"
            " UNION SELECT last_seq FROM facts WHERE last_seq IS NOT NULL AND instr(fold(text), ?)"
        )

    def count_commits_above(self, seq: int) -> int:
        """Count the commits behind the one of this number."""
        return self.last_seq - seq

    def changes_by_day(self) -> list[tuple[str, int]]:
        """Give (day, changes) of every day of the machine's calendar on which there were any, in order."""
        return self._rows(
            "SELECT strftime('%Y-%m-%d', at, 'unixepoch', 'localtime') AS day, count(*) FROM commits"
            " GROUP BY day HAVING day IS NOT NULL ORDER BY day"
        )

    def changes_by_author(self) -> list[tuple[str, int]]:
        """Give (author, changes), the busiest first."""
        return self._rows("SELECT author, count(*) AS n FROM commits GROUP BY author ORDER BY n DESC, author")

    def authors_by(self, tools: Sequence[str]) -> set[str]:
        """Give the authors of all commits by these tools, those that came with merges among them."""
        wanted = ", ".join("?" * len(tools))
        rows = self._rows(
            f"SELECT author FROM commits WHERE tool IN ({wanted})"
            f" UNION SELECT author FROM sides WHERE tool IN ({wanted})",
            (*tools, *tools),
        )
        return {author for (author,) in rows}

    # -- for the timeline

    @property
    def history_mark(self) -> str:
        """A mark that is another one as soon as notes may be numbered otherwise."""
        mark: str = self._one("SELECT mark FROM history_mark")[0]
        return mark

    def changes_between(self, first: int, last: int, most: int = -1) -> list[tuple[int, str, int, str, str]]:
        """Give (commit number, hash, lineage, path, blob) of what commits behind `first` up to `last` did.

        They come in the order of the commits. A note that has no file any more has the path "" and no blob;
        a commit that touched nothing has the lineage 0.
        """
        return self._rows(
            "SELECT c.seq, c.sha, coalesce(l.lineage, 0), coalesce(p.path, ''), coalesce(l.blob, '')"
            " FROM commits c LEFT JOIN lineage_commits l ON l.seq = c.seq"
            " LEFT JOIN places p ON p.lineage = l.lineage AND p.first_seq <= c.seq"
            " AND (p.last_seq IS NULL OR p.last_seq > c.seq)"
            " WHERE c.seq > ? AND c.seq <= ? ORDER BY c.seq LIMIT ?",
            (first, last, most),
        )

    def told_of(self, lineage: int, seq: int) -> list[Told]:
        """Give what Git tells of the lines that a note has at a commit."""
        return told_of(self._db, lineage, seq)

    def made_by(self, lineage: int) -> tuple[int, str] | None:
        """Give time and author of the commit that brought a note first."""
        return made_by(self._db, lineage)

    # -- what commits did to files

    def paths_of(self, seq: int, most: int) -> tuple[list[str], int]:
        """Give the files that a commit touched, at most so many, and how many there are."""
        count: int = self._one("SELECT count(*) FROM lineage_commits WHERE seq = ?", (seq,))[0]
        rows = self._rows(
            "SELECT p.path FROM (SELECT lineage, seq, blob FROM lineage_commits WHERE seq = ? LIMIT ?) l"
            " CROSS JOIN places p ON p.lineage = l.lineage"
            " AND p.first_seq <= l.seq AND coalesce(p.last_seq, l.seq) >= l.seq"
            " WHERE p.last_seq IS NULL OR p.last_seq > l.seq OR l.blob IS NULL",
            (seq, most),
        )
        return sorted(row[0] for row in rows), count

    def steps(self, seq: int, most: int = -1) -> list[Step]:
        """Give what a commit did to each of its files, by path."""
        rows = self._rows(
            "SELECT lineage, blob FROM lineage_commits WHERE seq = ? ORDER BY lineage LIMIT ?", (seq, most)
        )
        steps = [
            Step(lineage, self.place(lineage, seq - 1), Place(self.lay(lineage, seq), blob))
            for lineage, blob in rows
        ]
        return sorted(steps, key=lambda step: step.after.path or step.before.path or "")

    def lineages_between(self, first: int, last: int, most: int = -1) -> list[int]:
        """Give the notes that commits behind `first` up to `last` touched."""
        rows = self._rows(
            "SELECT DISTINCT lineage FROM lineage_commits WHERE seq > ? AND seq <= ? LIMIT ?",
            (first, last, most),
        )
        return [row[0] for row in rows]

    def paths_touched_after(self, seq: int) -> list[str]:
        """Give every path at which a note ever lay that a later commit touched."""
        rows = self._rows(
            "SELECT DISTINCT path FROM places WHERE lineage IN"
            " (SELECT lineage FROM lineage_commits WHERE seq > ?)",
            (seq,),
        )
        return [row[0] for row in rows]

    def paths_apart(self) -> list[str]:
        """Give the files in which the index and the last commit differ: not committed, or not indexed."""
        rows = self._rows(
            "SELECT f.path FROM files f LEFT JOIN places p ON p.path = f.path AND p.last_seq IS NULL"
            " WHERE f.blob IS NOT (SELECT blob FROM lineage_commits l WHERE l.lineage = p.lineage"
            " ORDER BY seq DESC LIMIT 1)"
            " UNION ALL SELECT p.path FROM places p LEFT JOIN files f ON f.path = p.path"
            " WHERE p.last_seq IS NULL AND f.id IS NULL"
        )
        return [row[0] for row in rows]

    # -- notes

    def lay(self, lineage: int, seq: int = NOW) -> str | None:
        """Give where a note lay at a commit; None where there was no file of it."""
        row = self._one(
            f"SELECT path FROM places WHERE lineage = :lineage AND {_LYING}", {"lineage": lineage, "seq": seq}
        )
        return row[0] if row else None

    def place(self, lineage: int, seq: int = NOW) -> Place:
        """Give where a note lay at a commit, and its blob."""
        path = self.lay(lineage, seq)
        if path is None:
            return Place(None, None)
        row = self._one(
            "SELECT blob FROM lineage_commits WHERE lineage = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
            (lineage, seq),
        )
        return Place(path, row[0] if row else None)

    def last_place(self, lineage: int) -> tuple[str, int]:
        """Give where a note lay last and the commit that took it away: 0 for one that is there."""
        path, last = self._one(
            "SELECT path, coalesce(last_seq, 0) FROM places WHERE lineage = ?"
            " ORDER BY last_seq IS NOT NULL, last_seq DESC LIMIT 1",
            (lineage,),
        )
        return path, last

    def places_of(self, lineage: int) -> list[str]:
        """Give every path at which a note ever lay."""
        rows = self._rows("SELECT DISTINCT path FROM places WHERE lineage = ? ORDER BY path", (lineage,))
        return [row[0] for row in rows]

    def lineage_at(self, path: str, seq: int = NOW) -> int | None:
        """Give the note that lay at a path at a commit."""
        row = self._one(
            f"SELECT lineage FROM places WHERE path = :path AND {_LYING}",
            {"path": storable(path), "seq": seq},
        )
        return row[0] if row else None

    def lineages_ever_at(self, path: str) -> list[int]:
        """Give the notes that ever lay at a path, the one that is there or was there last first."""
        rows = self._rows(
            "SELECT lineage FROM places WHERE path = ? ORDER BY last_seq IS NOT NULL, last_seq DESC",
            (storable(path),),
        )
        return list(dict.fromkeys(row[0] for row in rows))

    def lineages_below(self, folder: str, seq: int | None = None) -> list[tuple[str, int]]:
        """Give (path, note) of what lay below a folder at a commit; without one, of all that ever did."""
        when = f" AND {_LYING}" if seq is not None else ""
        rows = self._rows(
            f"SELECT path, lineage FROM places WHERE path > :first AND path < :last{when} ORDER BY path",
            {"first": f"{storable(folder)}/", "last": f"{storable(folder)}0", "seq": seq},
        )
        return list(rows)

    def lineages_called(self, stem: str, seq: int | None = None) -> list[tuple[str, int]]:
        """Give (path, note) of Markdown files that had this name without its ending, the newest first."""
        name = f"{storable(stem)}.md"
        when = f" AND {_LYING}" if seq is not None else ""
        rows = self._rows(
            f"SELECT path, lineage FROM places WHERE (path = :name OR substr(path, -:length) = :ending){when}"
            " ORDER BY last_seq IS NOT NULL, last_seq DESC",
            {"name": name, "ending": f"/{name}", "length": len(name) + 1, "seq": seq},
        )
        return list(dict.fromkeys(rows))

    def versions(self, lineage: int) -> list[tuple[int, str | None]]:
        """Give (commit number, blob) of every version of a note, the oldest first; None: it was deleted."""
        return self._rows("SELECT seq, blob FROM lineage_commits WHERE lineage = ? ORDER BY seq", (lineage,))

    # -- facts

    def facts_at(self, lineage: int, seq: int = NOW) -> list[FactVersion]:
        """Give the facts that a note had at a commit, as history knows them."""
        rows = self._rows(f"{_FACT} WHERE lineage = :lineage AND {_LYING}", {"lineage": lineage, "seq": seq})
        return [_fact(row) for row in rows]

    def stamped_facts(self) -> Iterator[tuple[str, FactVersion]]:
        """Give every fact that bears a stamp now, with the path of its note, note by note."""
        columns = ", ".join(f"f.{name}" for name in (*FACT_COLUMNS.split(", "), "lineage"))
        rows = self._db.execute(
            f"SELECT p.path, {columns} FROM facts f"
            " JOIN places p ON p.lineage = f.lineage AND p.last_seq IS NULL"
            " WHERE f.stamp IS NOT NULL AND f.last_seq IS NULL ORDER BY p.path, f.id"
        )
        for path, *row in rows:
            yield path, _fact(tuple(row))

    def fact(self, number: int) -> FactVersion | None:
        """Give one version of a fact."""
        row = self._one(f"{_FACT} WHERE id = ?", (number,))
        return _fact(row) if row else None


def _fact(row: tuple[Any, ...]) -> FactVersion:
    number, kind, text, stamp, *rest = row
    return FactVersion(number, kind, text, read_stamp(stamp), *rest)

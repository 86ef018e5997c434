"""Read the graph: page by page, by words, or by name. Every answer is bounded and says what it left out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_mcp.errors import BadArgument
from vault_mcp.storage.index import Filter, Findings, NoteRow, ObservationRow, Reader, RelationRow
from vault_mcp.tools.graph.expand import related
from vault_mcp.tools.graph.records import Json, relation_record
from vault_mcp.tools.history.asof import reading_at
from vault_mcp.tools.moments import moment
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.vault import Vault

BUDGET = 40_000
"""Characters of JSON that one answer's entities may take: about ten thousand tokens."""

FACT_MOST = 20_000
"""Characters of a fact that an answer shows; memory_view of its note shows all, page by page."""

HIT_MOST = 300
"""Characters of a hit's text that are shown; the whole of it is in its entity."""

RELATIONS_MOST = 400
"""Relations that one answer shows."""


@dataclass(slots=True)
class _Shown:
    """What an answer holds so far, and how much room it has left."""

    vault: Vault
    reader: Reader
    where: Filter
    superseded: bool
    room: int = BUDGET

    def entity(self, row: NoteRow, skip: int = 0) -> tuple[Json, int]:
        """Give an entity's record and how many of its observations did not fit any more."""
        record = self._head(row)
        rows = self.reader.observations(row.id, superseded=self.superseded, where=self.where, skip=skip)
        shown: list[Json | str] = []
        for number, observation in enumerate(rows):
            item = self._observation(observation)
            cost = len(json.dumps(item, ensure_ascii=False)) + 2
            if cost > self.room and (shown or self.room < BUDGET // 2):
                left = len(rows) - number
                record["observations"] = shown
                record["observations_left_out"] = left
                return record, left
            self.room -= cost
            shown.append(item)
        record["observations"] = shown
        return record, 0

    def _head(self, row: NoteRow) -> Json:
        kind = row.type if row.kind == "entity" else row.kind
        record: Json = {
            "type": "entity",
            "name": row.name,
            "entityType": kind,
            "added_at": row.added_at,
            "agent": row.agent,
            "note": row.path,
        }
        if row.problems:
            record["problems"] = list(row.problems)
        self.room -= len(json.dumps(record, ensure_ascii=False))
        return record

    def _observation(self, row: ObservationRow) -> Json | str:
        if self.vault.options.graph_observations == "strings":
            return row.text[:FACT_MOST]
        record: Json = {"text": row.text[:FACT_MOST], "added_at": row.added_at, "agent": row.agent}
        if len(row.text) > FACT_MOST:
            record["cut_from"] = len(row.text)
        if row.edited_at:
            record["edited_at"], record["edited_by"] = row.edited_at, row.edited_by
        if row.superseded:
            record["superseded_at"], record["superseded_by"] = row.superseded_at, row.superseded_by
            record["replaced_by"] = row.replacement
        if row.sources:
            record["sources"] = [{"entityName": s.entity, "text": s.text} for s in row.sources]
        return record


def read_graph(
    vault: Vault,
    caller: Caller,
    since: str = "",
    before: str = "",
    agent: str = "",
    limit: int = 100,
    include_superseded: bool = False,
    as_of: str = "",
    cursor: str = "",
) -> Json:
    """Give entities in the order of their names, and the relations that start from them."""
    where = _filter(since, before, agent)
    with reading_at(vault, as_of) as reader:
        shown = _Shown(vault, reader, where, include_superseded)
        page = reader.entities(limit, cursor or None, where)
        entities: list[Json] = []
        rows: list[NoteRow] = []
        for row in page.rows:
            if entities and shown.room <= 0:
                break
            entities.append(shown.entity(row)[0])
            rows.append(row)
        following = page.cursor
        if len(rows) < len(page.rows):
            following = reader.entities(len(rows), cursor or None, where).cursor
        relations, dangling = _relations(reader.relations_from([row.id for row in rows]), where)
        totals = reader.totals()
    result: Json = {"entities": entities, "relations": relations}
    if dangling:
        result["dangling"] = dangling
    result["total"] = {"entities": totals.entities, "relations": totals.relations}
    return _with_cursor(result, following, "entities")


def open_nodes(
    vault: Vault,
    caller: Caller,
    names: Sequence[str],
    include_superseded: bool = False,
    as_of: str = "",
    cursor: str = "",
) -> Json:
    """Give the named entities with all their observations, and every relation that touches them."""
    start, skip = _position(cursor)
    unique = list(dict.fromkeys(names))
    with reading_at(vault, as_of) as reader:
        shown = _Shown(vault, reader, Filter(), include_superseded)
        entities: list[Json] = []
        rows: list[NoteRow] = []
        missing: list[str] = []
        following = ""
        for number, name in enumerate(unique[start:], start):
            row = reader.note_named(name)
            if row is None:
                missing.append(name)
                continue
            if rows and any(row.id == known.id for known in rows):
                continue
            if entities and shown.room <= 0:
                following = f"{number}.0"
                break
            offset = skip if number == start else 0
            record, left = shown.entity(row, offset)
            record["version"] = _version(reader, row)
            entities.append(record)
            rows.append(row)
            if left:
                following = f"{number}.{offset + len(_list(record['observations']))}"
                break
        relations, dangling = _relations(reader.relations_touching([row.id for row in rows]), Filter())
    result: Json = {"entities": entities, "relations": relations}
    if dangling:
        result["dangling"] = dangling
    if missing:
        result["missing"] = missing
    return _with_cursor(result, following, "facts")


def search_nodes(
    vault: Vault,
    caller: Caller,
    query: str,
    since: str = "",
    before: str = "",
    agent: str = "",
    limit: int = 20,
    expand: bool = False,
    include_superseded: bool = False,
    as_of: str = "",
    cursor: str = "",
) -> Json:
    """Give what the words find, best first, with the hits that found it."""
    where = _filter(since, before, agent)
    with reading_at(vault, as_of) as reader:
        found = reader.search(
            query, limit=limit, cursor=cursor or None, where=where, superseded=include_superseded
        )
        shown = _Shown(vault, reader, where, include_superseded)
        entities: list[Json] = []
        rows: list[NoteRow] = []
        for hit in found.found:
            if entities and shown.room <= 0:
                break
            entities.append(shown.entity(hit.note)[0])
            rows.append(hit.note)
        following = found.cursor
        if len(rows) < len(found.found):
            again = reader.search(
                query, limit=len(rows), cursor=cursor or None, where=where, superseded=include_superseded
            )
            following = again.cursor
        if expand and shown.room > 0:
            for row in related(reader, found.found, most=max(1, limit // 2)):
                entities.append({**shown.entity(row)[0], "expanded": True})
                rows.append(row)
                if shown.room <= 0:
                    break
        relations, dangling = _relations(reader.relations_touching([row.id for row in rows]), where)
        hits = _hits(found, {row.id for row in rows})
    result: Json = {"entities": entities, "relations": relations, "hits": hits}
    if dangling:
        result["dangling"] = dangling
    result["total"] = {"found": found.total, "exact": found.exact}
    return _with_cursor(result, following or "", "entities")


def _hits(found: Findings, shown: set[int]) -> list[Json]:
    rows = [(hit, one.note.name) for one in found.found if one.note.id in shown for hit in one.hits]
    rows.sort(key=lambda row: row[0].rank)
    return [
        {
            "rank": rank,
            "score": round(hit.score, 4),
            "entityName": name,
            "observation": hit.text if len(hit.text) <= HIT_MOST else hit.text[: HIT_MOST - 1] + "…",
        }
        for rank, (hit, name) in enumerate(rows, 1)
    ]


def graph_text(vault: Vault) -> str:
    """Give the first page of the graph as JSON text, the body of the resource memory://knowledge-graph."""
    return json.dumps(read_graph(vault, Caller("resource")), ensure_ascii=False, indent=2)


def _filter(since: str, before: str, agent: str) -> Filter:
    return Filter(moment(since, "since"), moment(before, "before"), agent.strip() or None)


def _relations(rows: Iterable[RelationRow], where: Filter) -> tuple[list[Json], int]:
    """Give the relations both of whose ends are there, and how many have an end that is not."""
    shown: list[Json] = []
    dangling = 0
    for row in rows:
        if row.dangling or row.to_archived or row.from_archived:
            dangling += 1
        elif len(shown) < RELATIONS_MOST and _relation_matches(row, where):
            shown.append(relation_record(row.from_name, row.to_name, row.type, at=row.added_at, by=row.agent))
    return shown, dangling


def _relation_matches(row: RelationRow, where: Filter) -> bool:
    if not where:
        return True
    at = moment(row.added_at or "", "added_at")
    if (where.since is not None or where.before is not None) and at is None:
        return False
    return (
        (where.agent is None or row.agent == where.agent)
        and (where.since is None or (at or 0) >= where.since)
        and (where.before is None or (at or 0) < where.before)
    )


def _position(cursor: str) -> tuple[int, int]:
    if not cursor:
        return 0, 0
    number, _, skip = cursor.partition(".")
    if not (number.isdecimal() and skip.isdecimal()):
        raise BadArgument("The cursor is not one that open_nodes gave out. Leave it out to begin anew.")
    return int(number), int(skip)


def _version(reader: Reader, row: NoteRow) -> str:
    found = reader.file(row.path)
    return found.blob[:12] if found else ""


def _with_cursor(result: Json, cursor: str | None, what: str) -> Json:
    if cursor:
        result["next_cursor"] = cursor
        result["left_out"] = f"There are more {what}: call again with cursor set to next_cursor."
    return result


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []

"""Reads of a page go by key: none of them walks a table that grows with the vault."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.index.build import entity, plain
from tests.storage.index.conftest import Indexed
from vault_mcp.storage.index import CommitRow, Filter, Reader, Scope, Totals
from vault_mcp.storage.index.timeline import Timeline
from vault_mcp.storage.index.timeline_writer import Version

GROWING = {
    "files",
    "notes",
    "observations",
    "relations",
    "links",
    "tags",
    "passages",
    "units",
    "commits",
    "places",
    "facts",
}

READS: dict[str, Callable[[Reader], object]] = {
    "a page of entities": lambda r: r.entities(2),
    "the next page": lambda r: r.entities(1, r.entities(1).cursor),
    "what is new": lambda r: r.entities(2, None, Filter(since=1)),
    "an entity": lambda r: r.entity("a"),
    "a note by name": lambda r: r.note_named("a"),
    "a note by path": lambda r: r.note_at("a.md"),
    "observations": lambda r: r.observations(1),
    "relations": lambda r: r.relations_touching([1, 2]),
    "files of a stem": lambda r: r.paths_with_stem("a"),
    "links to a stem": lambda r: r.linking_to_stem("a"),
    "notes of a folder": lambda r: r.notes_in_folder("a"),
    "totals": lambda r: r.totals(),
    "a rare word": lambda r: r.search("zebra", 2),
    "two rare words": lambda r: r.search("zebra lion", 2),
    "a rare sign": lambda r: r.search("京", 2),
    "every note": lambda r: r.search("", 2, kinds=("entity",)),
    "the log": lambda r: r.log(2),
    "the log of a note": lambda r: r.log(2, path="a.md"),
    "a commit": lambda r: r.commit("1" * 40),
    "the commit of a moment": lambda r: r.commit_at(5, 9),
    "the versions of facts": lambda r: r.fact_versions("a.md"),
    "who wrote a fact": lambda r: r.provenance("a.md", [("observation", "x")]),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_reading_a_page_walks_no_table(indexed: Indexed, read: Callable[[Reader], object]) -> None:
    index = indexed(entity("a", ["zebra"], [("knows", "b")], path="a.md"), entity("b"), plain("c.md", "東京"))
    with index.writing() as writer:
        writer.settle()
        writer.append_commit(CommitRow("1" * 40, None, 5, "Grace"), [("a.md", (), ())])
    with index.reading() as reader:
        assert walks(reader, read) == []


UNITS: dict[str, Callable[[Reader], object]] = {
    "units of a kind": lambda r: r.units_in(Scope(("entity",))),
    "units of a time": lambda r: r.units_written(0, 9, 5, Scope(("entity",))),
    "units among some": lambda r: r.units_among([1 << 24], Scope(("entity",))),
}


@pytest.mark.parametrize("read", UNITS.values(), ids=UNITS)
def test_the_units_of_notes_are_not_sought_among_all(
    indexed: Indexed, read: Callable[[Reader], object]
) -> None:
    index = indexed(entity("a", ["zebra"], path="a.md"), entity("b"), plain("c.md", "東京"))
    with index.writing() as writer:
        while writer.words.settle_words():
            pass
    with index.reading() as reader:
        asked: list[str] = []
        reader._db.set_trace_callback(asked.append)
        read(reader)
        reader._db.set_trace_callback(None)
        (sql,) = asked
        plan = [step for *_, step in reader._db.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert any(step.startswith("SEARCH w ") for step in plan), plan


NOW_ALONE = {"the log", "the log of a note", "a commit", "the commit of a moment", "the versions of facts"}


@pytest.mark.parametrize("name", sorted(READS.keys() - NOW_ALONE - {"who wrote a fact"}))
def test_reading_a_page_of_the_past_walks_no_table(tmp_path: Path, name: str) -> None:
    notes = [entity("a", ["zebra"], [("knows", "b")], path="a.md"), entity("b"), plain("c.md", "東京")]
    timeline = Timeline.open(str(tmp_path / "timeline"))
    with timeline.writing() as writer:
        writer.begin("mark")
        for number, note in enumerate(notes, 1):
            writer.append(f"{number}" * 40, [Version(number, note.path, "b" * 40, 5, note)])
        writer.append("4" * 40, [Version(2, None)])
    with timeline.reading("mark", 3, "3" * 40) as reader:
        assert reader is not None
        assert reader.totals() == Totals(2, 1, 1, 3)
        assert walks(reader, READS[name]) == []
    timeline.close()


def walks(reader: Reader, read: Callable[[Reader], object]) -> list[tuple[str, str]]:
    """Give the steps of a read that walk a whole table, with their statements."""
    asked: list[str] = []
    reader._db.set_trace_callback(asked.append)
    read(reader)
    reader._db.set_trace_callback(None)
    selects = [sql for sql in asked if re.match(r"\s*(SELECT|WITH)\b", sql)]
    assert selects
    steps = {
        (" ".join(sql.split()), step)
        for sql in selects
        for *_, step in reader._db.execute(f"EXPLAIN QUERY PLAN {sql}")
    }
    aliases = dict(found[::-1] for sql, _ in steps for found in re.findall(r"\b(\w+) (?:AS )?(\w)\b", sql))
    walked = [
        (step, sql)
        for sql, step in steps
        if (table := re.match(r"(?:SCAN|MATERIALIZE|CO-ROUTINE) (\w+)(?! VIRTUAL)", step))
        and str(aliases.get(table[1], table[1])).removeprefix("past_") in GROWING
    ]
    # A count over an index of one kind of note is the only walk that is let through.
    return [(step, sql) for step, sql in walked if "count(*)" not in sql]

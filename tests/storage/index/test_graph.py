"""The graph by pages."""

import itertools

import pytest

from tests.storage.index.build import STAMP, entity, plain, put
from tests.storage.index.conftest import Indexed
from vault_mcp.errors import BadArgument
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.note import Note, Observation, Relation
from vault_mcp.storage.index import Count, Filter, Index, RelationRow, Totals

MARCH, MAY = 1772323200, 1777593600  # the first of each, 2026, UTC


def pages(index: Index, limit: int, where: Filter | None = None) -> list[list[str]]:
    found: list[list[str]] = []
    cursor: str | None = None
    with index.reading() as reader:
        for _ in itertools.count():
            page = reader.entities(limit, cursor, where or Filter())
            found.append([row.name for row in page.rows])
            cursor = page.cursor
            if cursor is None:
                return found
    raise AssertionError


def told(rows: list[RelationRow]) -> list[tuple[str, str, str]]:
    return [(row.from_name, row.type, row.to_name) for row in rows]


def test_entities_come_in_pages_by_name_twins_and_all(indexed: Indexed) -> None:
    names = ["b", "a", "c", "é", "Z"]
    index = indexed(
        *(entity(name) for name in names),
        entity("b", path="twin/b.md"),
        plain("note.md"),
        entity("x", path="archive/x.md"),
    )
    wanted = ["Z", "a", "b", "b", "c", "é"]
    assert pages(index, 100) == [wanted]
    assert pages(index, 4) == [wanted[:4], wanted[4:]]
    assert pages(index, 3) == [wanted[:3], wanted[3:]]
    assert pages(index, 1) == [[name] for name in wanted]


def test_a_page_goes_on_where_it_ended_though_others_write(indexed: Indexed) -> None:
    index = indexed(*(entity(name) for name in "bdf"))
    with index.reading() as reader:
        first = reader.entities(2)
    with index.writing() as writer:
        put(writer, entity("a"), entity("e"))
        writer.remove("entities/person/d.md")
    with index.reading() as reader:
        assert [row.name for row in reader.entities(9, first.cursor).rows] == ["e", "f"]


def test_a_strange_cursor_is_refused(indexed: Indexed) -> None:
    index = indexed(entity("a"))
    with index.reading() as reader:
        for cursor in ("x", "====", "WzFd", "eyJhIjogMX0", "\ud800", "WyJlbnRpdGllcyIsICJcdWQ4MDAiLCAxXQ"):
            with pytest.raises(BadArgument):
                reader.entities(1, cursor)
        assert reader.entities(1, None, Filter(agent="\ud800")).rows == ()


def test_a_filter_keeps_entities_that_were_made_or_touched_within_it(indexed: Indexed) -> None:
    old, new = Stamp("2026-01-01T00:00:00Z", "one"), Stamp("2026-04-01T00:00:00Z", "two")
    edited = Stamp("2026-01-01T00:00:00Z", "one", "2026-04-02T00:00:00Z", "two")
    index = indexed(
        entity("made", created="2026-04-01T00:00:00Z", agent="two"),
        entity("added", [Observation("x", old, 0), Observation("y", new, 1)], created=""),
        entity("edited", [Observation("x", edited, 0)], created=""),
        entity("old", [Observation("x", old, 0)], created="2026-01-01T00:00:00Z", agent="one"),
        entity("unknown", [Observation("x", None, 0)], created="", agent=""),
        entity("hidden", [Observation("x", new, 0, superseded=True)], created=""),
    )
    assert pages(index, 9, Filter(since=MARCH)) == [["added", "edited", "made"]]
    assert pages(index, 9, Filter(since=MARCH, before=MAY, agent="two")) == [["added", "edited", "made"]]
    assert pages(index, 9, Filter(since=MAY)) == [[]]
    assert pages(index, 9, Filter(before=MARCH)) == [["added", "edited", "old"]]
    assert pages(index, 9, Filter(agent="one")) == [["added", "edited", "old"]]
    assert pages(index, 9, Filter(since=MARCH, agent="one")) == [[]]
    assert pages(index, 2, Filter(since=MARCH)) == [["added", "edited"], ["made"]]
    with index.reading() as reader:
        row = reader.entity("added")
        assert row is not None
        assert [o.text for o in reader.observations(row.id, where=Filter(since=MARCH))] == ["y"]


def test_a_filter_finds_the_same_however_many_lines_pass_it(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = Stamp("2026-04-01T00:00:00Z", "two")
    index = indexed(
        *(entity(f"e{n:02}", [Observation("x", new if n % 3 else None, 0)], created="") for n in range(30))
    )
    few = pages(index, 7, Filter(since=MARCH))
    monkeypatch.setattr("vault_mcp.storage.index.graph.FEW", 1)
    assert pages(index, 7, Filter(since=MARCH)) == few


def test_observations_are_read_from_anywhere_in_a_long_list(indexed: Indexed) -> None:
    index = indexed(entity("a", [str(n) for n in range(10)]), entity("b", ["other"]))
    with index.reading() as reader:
        row = reader.entity("a")
        assert row is not None
        assert [o.text for o in reader.observations(row.id, skip=3, most=2)] == ["3", "4"]
        assert [o.text for o in reader.observations(row.id, skip=8)] == ["8", "9"]
        assert reader.count_observations(row.id) == 10


def test_relations_name_both_ends_by_obsidians_rule(indexed: Indexed) -> None:
    index = indexed(
        entity(
            "Ada", relations=[("knows", "Bob"), ("wrote", "b/Note"), ("misses", "Ghost"), ("reads", "index")]
        ),
        entity("Bob", relations=[("knows", "ada")]),
        plain("x/b/Note.md", "prose"),
        plain("index.md", "root"),
        plain("entities/person/index.md", "near"),
    )
    with index.reading() as reader:
        ada, bob = reader.entity("Ada"), reader.entity("Bob")
        assert ada is not None
        assert bob is not None
        rows = reader.relations_from([ada.id])
        assert told(rows) == [
            ("Ada", "knows", "Bob"),
            ("Ada", "wrote", "Note"),
            ("Ada", "misses", "Ghost"),
            ("Ada", "reads", "index"),
        ]
        assert [row.to_path for row in rows] == ["entities/person/Bob.md", "x/b/Note.md", None, "index.md"]
        assert [row.to_kind for row in rows] == ["entity", "note", None, "note"]
        assert [row.dangling for row in rows] == [False, False, True, False]
        assert told(reader.relations_to([ada.id])) == [("Bob", "knows", "Ada")]
        assert told(reader.relations_touching([ada.id])) == [*told(rows), ("Bob", "knows", "Ada")]
        assert told(reader.relations_touching([ada.id, bob.id])) == [*told(rows), ("Bob", "knows", "Ada")]
        assert told(reader.relations_touching([ada.id], most=2)) == told(rows)[:2]
        assert told(reader.dangling()) == [("Ada", "misses", "Ghost")]
        assert len(list(reader.all_relations())) == 5


def test_a_new_or_renamed_file_changes_what_a_relation_means_at_once(indexed: Indexed) -> None:
    index = indexed(entity("Ada", relations=[("knows", "Bob")]), plain("far/away/Bob.md", "x"))

    def meant() -> str | None:
        with index.reading() as reader:
            ada = reader.entity("Ada")
            assert ada is not None
            return reader.relations_from([ada.id])[0].to_path

    assert meant() == "far/away/Bob.md"
    with index.writing() as writer:
        put(writer, plain("near/Bob.md", "x"))
    assert meant() == "near/Bob.md"
    with index.writing() as writer:
        writer.remove("near/Bob.md")
        writer.remove("far/away/Bob.md")
    assert meant() is None


def test_the_end_of_a_dangling_relation_is_named_by_its_words(indexed: Indexed) -> None:
    index = indexed()
    relations = (
        Relation("wrote", "src index.ts", "src/index.ts", STAMP, 0),
        Relation("met", "Ghost", "the ghost", STAMP, 1),
    )
    with index.writing() as writer:
        put(writer, Note("a.md", "entity", "a", relations=relations))
    with index.reading() as reader:
        assert [row.to_name for row in reader.all_relations()] == ["src/index.ts", "Ghost"]


def test_a_relation_may_end_at_itself_or_in_the_archive(indexed: Indexed) -> None:
    index = indexed(
        entity("A", relations=[("same", "A"), ("was", "Old")]),
        entity("Old", relations=[("knew", "A")], path="archive/Old.md"),
    )
    with index.reading() as reader:
        row = reader.entity("A")
        assert row is not None
        rows = reader.relations_touching([row.id])
        assert [(r.from_name, r.to_name, r.from_archived, r.to_archived) for r in rows] == [
            ("A", "A", False, False),
            ("A", "Old", False, True),
            ("Old", "A", True, False),
        ]
        assert len(list(reader.all_relations())) == 2


def test_counts_tell_what_the_graph_holds(indexed: Indexed) -> None:
    index = indexed(
        entity("a", ["x", Observation("y", STAMP, 1, superseded=True)], [("knows", "b")], tags=["Team", "x"]),
        entity("b", ["x"], [("knows", "a"), ("likes", "a")], type="place", tags=["team"]),
        entity("c", ["x"], [("knows", "a")], path="archive/c.md", tags=["gone"]),
        plain("n.md", "x"),
    )
    with index.reading() as reader:
        assert reader.totals() == Totals(entities=2, observations=2, relations=3, files=4)
        assert reader.entity_types() == [Count("person", 1), Count("place", 1)]
        assert reader.relation_types() == [Count("knows", 2), Count("likes", 1)]
        assert reader.tags() == [Count("Team", 2), Count("x", 1)]

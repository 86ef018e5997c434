"""The current tables: what a file's rows are after it was put, put again, and removed."""

import sqlite3
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.index.build import STAMP, blob, entity, plain, put, stat
from tests.storage.index.conftest import Indexed
from vault_mcp.notes.line import Source, Stamp
from vault_mcp.notes.note import Note, Observation, Passage, Relation, facts
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.index import CommitRow, Index, seen

FACTS = ("one", "two", "three", "Two", "two ", "", "四つ", "#five")
PATHS = ("a.md", "b/a.md", "b/c.md", "archive/d.md", "é.md")


def texts(index: Index, path: str) -> list[str]:
    with index.reading() as reader:
        note = reader.note_at(path)
        assert note is not None
        return [row.text for row in reader.observations(note.id, superseded=True)]


def test_observations_keep_the_order_of_their_lines(indexed: Indexed) -> None:
    index = indexed(entity("Ada", ["b", "d"]))
    for wanted in (["a", "b", "c", "d"], ["d", "a", "c"], ["c"], [], ["x", "c", "a"], ["a", "x", "c"]):
        with index.writing() as writer:
            put(writer, entity("Ada", wanted))
        assert texts(index, "entities/person/Ada.md") == wanted


def test_many_lines_put_between_two_others_keep_their_order(indexed: Indexed) -> None:
    index = indexed(entity("Ada", ["first", "last"]))
    wanted = ["first", "last"]
    for number in range(40):
        wanted.insert(1, str(number))
        with index.writing() as writer:
            put(writer, entity("Ada", wanted))
    assert texts(index, "entities/person/Ada.md") == wanted


def test_one_more_fact_in_a_large_note_rewrites_nothing_else(indexed: Indexed) -> None:
    facts = [f"fact {number}" for number in range(1000)]
    index = indexed(entity("Ada", facts))
    with index.writing() as writer:
        writer.settle()
    with index.writing() as writer:
        before = writer.reader._db.total_changes
        put(writer, entity("Ada", [*facts, "one more"]))
        # The file, the observation, its unit, and its places among the units that wait for the trigram
        # index and for the word index.
        assert writer.reader._db.total_changes - before == 5


def test_stamps_are_kept_whole_and_follow_a_change(indexed: Indexed) -> None:
    full = Stamp(
        "2026-10-05T11:12:33+02:00",
        "claude",
        "2026-10-06T00:00:00Z",
        "cursor",
        "2026-10-07T00:00:00Z",
        "codex",
        "other words",
        (Source("Bob", "said so"),),
    )
    index = indexed(entity("Ada", ["plain", Observation("full", full, 1, superseded=True)]))
    with index.reading() as reader:
        note = reader.entity("Ada")
        assert note is not None
        assert [row.text for row in reader.observations(note.id)] == ["plain"]
        row = reader.observations(note.id, superseded=True)[1]
    assert (row.added_at, row.agent, row.edited_at, row.edited_by) == (
        full.added_at,
        full.agent,
        full.edited_at,
        full.edited_by,
    )
    assert (row.superseded, row.superseded_at, row.superseded_by, row.replacement, row.sources) == (
        True,
        full.superseded_at,
        full.superseded_by,
        full.replacement,
        full.sources,
    )
    with index.writing() as writer:
        put(writer, entity("Ada", ["plain", Observation("full", replace(STAMP, agent="new"), 1)]))
    with index.reading() as reader:
        row = reader.observations(note.id)[1]
    assert (row.agent, row.edited_at, row.superseded, row.sources) == ("new", None, False, ())


def test_a_note_can_become_another_kind_a_file_and_a_note_again(indexed: Indexed) -> None:
    path = "x.md"
    index = indexed(entity("x", ["fact"], path=path))
    with index.writing() as writer:
        put(writer, plain(path, "prose"))
    with index.reading() as reader:
        assert (reader.totals().entities, reader.totals().observations) == (0, 0)
        assert [one.note.kind for one in reader.search("prose", 5).found] == ["note"]
        assert reader.search("fact", 5).total == 0
    with index.writing() as writer:
        writer.put_file(path, blob("bytes"), stat(), None)
    with index.reading() as reader:
        assert reader.note_at(path) is None
        assert reader.file(path) is not None
        assert reader.search("prose", 5).total == 0
    with index.writing() as writer:
        put(writer, entity("x", ["fact"], path=path))
        writer.remove("never/there.md")
    assert texts(index, path) == ["fact"]


def test_a_touched_file_keeps_its_note(indexed: Indexed) -> None:
    index = indexed(entity("Ada", ["fact"]))
    path = "entities/person/Ada.md"
    with index.writing() as writer:
        writer.put_stat(path, stat(77))
    with index.reading() as reader:
        row = reader.file(path)
    assert row is not None
    assert row.stat == stat(77)
    assert texts(index, path) == ["fact"]


def test_numbers_that_no_column_holds_cost_nothing(indexed: Indexed) -> None:
    strange = FileStat(1, 1 << 80, -(1 << 80), (1 << 64) - 1, 0o100644)
    note = replace(
        entity("Ada", ["fact"]), id=10**30, importance=-(10**30), created="9999-12-31T23:59:59-23:00"
    )
    index = indexed()
    with index.writing() as writer:
        writer.put_file(note.path, blob(1), strange, note)
        writer.append_commit(CommitRow(blob(1), None, 10**30, "Grace"), [(note.path, (), facts(note))])
        hand = replace(note, observations=(Observation("typed", None, 0),))
        writer.put_file(note.path, blob(2), strange, hand)
        writer.append_commit(
            CommitRow(blob(2), blob(1), -(10**30), "Grace"), [(note.path, facts(note), facts(hand))]
        )
    with index.reading() as reader:
        row = reader.file(note.path)
        assert row is not None
        assert seen(row.stat) == seen(strange)
        assert reader.search("typed", 1).total == 1
    assert texts(index, note.path) == ["typed"]


stamps = st.sampled_from([None, STAMP, Stamp("2026-10-06T00:00:00Z", "cursor", "2026-10-07T00:00:00Z", "x")])
observations = st.lists(
    st.builds(Observation, st.sampled_from(FACTS), stamps, st.just(0), st.booleans()),
    max_size=5,
    unique_by=lambda item: item.text,
)
relations = st.lists(
    st.builds(
        Relation,
        st.sampled_from(["knows", "likes"]),
        st.sampled_from(["a", "c", "b/a", "É"]),
        st.sampled_from([None, "shown"]),
        stamps,
        st.just(0),
    ),
    max_size=3,
    unique_by=lambda item: (item.type, item.target, item.shown),
)
passages = st.lists(
    st.builds(Passage, st.sampled_from(["", "Head"]), st.sampled_from(FACTS), st.just(0)),
    max_size=3,
    unique_by=lambda item: (item.heading, item.text),
)
notes = st.builds(
    Note,
    st.sampled_from(PATHS),
    st.sampled_from(["entity", "note", "memory"]),
    st.sampled_from(["Ada", "Bob"]),
    st.sampled_from(["", "person"]),
    st.sampled_from(["", STAMP.added_at]),
    st.sampled_from(["", STAMP.agent]),
    st.lists(st.sampled_from(["t", "T/u"]), max_size=2).map(tuple),
    st.lists(st.sampled_from(["al"]), max_size=1).map(tuple),
    st.just({}),
    observations.map(tuple),
    relations.map(tuple),
    st.just(()),
    passages.map(tuple),
)
keys = st.builds(
    lambda path, value: Note(path, "key", "k", value=value),
    st.sampled_from(PATHS),
    st.sampled_from(["v", " w\n"]),
)
steps = st.lists(
    st.one_of(notes, keys, st.sampled_from(PATHS), st.just(None)),  # put, put, remove, settle
    max_size=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_any_puts_and_removals_leave_what_a_fresh_index_holds(
    tmp_path: Path, steps: list[Note | str | None]
) -> None:
    for old in tmp_path.glob("*"):
        old.unlink()
    index = Index.open(str(tmp_path / "index"))
    left: dict[str, Note] = {}
    for step in steps:
        with index.writing() as writer:
            if step is None:
                writer.settle()
            elif isinstance(step, str):
                writer.remove(step)
                left.pop(step, None)
            else:
                put(writer, step)
                left[step.path] = step
    fresh = Index.open(str(tmp_path / "fresh"))
    with fresh.writing() as writer:
        put(writer, *left.values())
    for each in (index, fresh):
        with each.writing() as writer:
            writer.settle()
        each.close()
    assert content(tmp_path / "index") == content(tmp_path / "fresh")


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Give all that an index says, whatever numbers its rows have."""
    number = "(SELECT path FROM files WHERE files.id = {0}.id >> 24)"
    order = "row_number() OVER (PARTITION BY id >> 24 ORDER BY position)"
    queries = {
        "state": "SELECT entities, observations, relations, files, unsettled FROM state",
        "files": "SELECT path, folder, stem_key, blob FROM files",
        "notes": "SELECT f.path, n.kind, archived, name_key, name, type, created, n.agent,"
        " added, more FROM notes n JOIN files f USING (id)",
        "observations": f"SELECT {number.format('o')}, {order},"
        " text, superseded, added_at, agent, edited_at, edited_by, from_git, added, edited, touched, more"
        " FROM observations o",
        "relations": f"SELECT {number.format('r')}, {order},"
        " type, target, shown, stem_key, added_at, agent, from_git, added, more FROM relations r",
        "links": f"SELECT {number.format('l')}, stem_key FROM links l",
        "tags": f"SELECT {number.format('t')}, tag FROM tags t",
        "passages": f"SELECT {number.format('p')}, {order}, heading, text FROM passages p",
        "units": f"SELECT {number.format('u')}, role, folded FROM units u",
        "grams": f"SELECT term, {number.format('u')}, role, folded FROM gram_rows JOIN units u ON u.id = doc",
        "lost": "SELECT count(*) FROM gram_rows WHERE doc NOT IN (SELECT id FROM units)",
    }
    db = sqlite3.connect(path)
    try:
        return {name: sorted(db.execute(sql), key=repr) for name, sql in queries.items()}
    finally:
        db.close()

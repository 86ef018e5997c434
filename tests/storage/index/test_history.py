"""History: dates of unstamped lines, edits by hand, moves, and the replay of a past."""

import pytest

from tests.storage.index.build import STAMP, blob, plain, reading
from tests.storage.index.conftest import Indexed
from tests.storage.index.story import ADA, START, Story, person, repository, stamped, time
from vault_mcp.errors import BadArgument
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.note import Fact, Observation
from vault_mcp.storage.index import CommitRow, Filter, Index, replay
from vault_mcp.storage.index.history import PART


def test_a_line_without_a_stamp_is_dated_by_the_commit_that_brought_it(story: Story) -> None:
    story.commit({ADA: person("first")}, "Grace")
    story.commit({ADA: person("first", "second", stamped("third"))}, "Hopper", tool="")
    assert story.said() == {
        "first": ("Grace", time(0), None, None),
        "second": ("Hopper", time(1), None, None),
        "third": (STAMP.agent, STAMP.added_at, None, None),
    }
    assert {text: row.by_hand for text, row in story.lines().items()} == {
        "first": True,
        "second": True,
        "third": False,
    }


def test_an_unstamped_line_that_a_tool_wrote_is_the_agents(story: Story) -> None:
    story.commit({ADA: person("first")}, "claude", tool="memory_str_replace")
    row = story.lines()["first"]
    assert (row.agent, row.stamped, row.by_hand) == ("claude", False, False)


def test_words_changed_by_hand_after_the_stamp_are_the_persons_edit(story: Story) -> None:
    story.commit({ADA: person(stamped("likes tea"))}, "claude", tool="add_observations")
    story.commit({ADA: person(stamped("likes green tea"))}, "Grace")
    assert story.said() == {"likes green tea": (STAMP.agent, STAMP.added_at, "Grace", time(1))}
    assert story.lines()["likes green tea"].by_hand
    story.commit({ADA: person(stamped("likes green tea"), "more")}, "Grace")
    assert story.said()["likes green tea"] == (STAMP.agent, STAMP.added_at, "Grace", time(1))


def test_an_edit_by_a_tool_is_told_by_its_stamp(story: Story) -> None:
    story.commit({ADA: person(stamped("likes tea"))}, "claude", tool="add_observations")
    edited = stamped("likes coffee", edited_at="2026-10-06T00:00:00Z", edited_by="cursor")
    story.commit({ADA: person(edited)}, "cursor", tool="edit_observation")
    assert story.said() == {"likes coffee": (STAMP.agent, STAMP.added_at, "cursor", "2026-10-06T00:00:00Z")}
    again = stamped("likes cold coffee", edited_at="2026-10-06T00:00:00Z", edited_by="cursor")
    story.commit({ADA: person(again)}, "Grace")
    assert story.said()["likes cold coffee"][2:] == ("Grace", time(2))


def test_of_facts_added_together_the_likest_is_the_edited_one(story: Story) -> None:
    texts = ["drinks tea every day", "runs in the morning", "plays chess on Sundays"]
    story.commit({ADA: person(*map(stamped, texts))}, "claude", tool="add_observations")
    changed = ["plays go on Sundays", "runs late in the morning"]
    story.commit({ADA: person(*map(stamped, changed))}, "Grace")
    assert {row.edited_by for row in story.lines().values()} == {"Grace"}
    assert _previous(story.index, "plays go on Sundays") == "plays chess on Sundays"
    assert _previous(story.index, "runs late in the morning") == "runs in the morning"


def _previous(index: Index, text: str) -> str | None:
    with index.reading() as reader:
        versions = {version.id: version for version in reader.fact_versions(ADA)}
    (now,) = (version for version in versions.values() if version.text == text and version.last is None)
    return versions[now.previous].text if now.previous else None


def test_a_moved_line_is_no_edit_and_keeps_its_date(story: Story) -> None:
    bob = "entities/person/Bob.md"
    story.commit({ADA: person("typed", "stays"), bob: person("his", name="Bob")})
    story.commit({ADA: person("stays"), bob: person("typed", "his", name="Bob")}, "Hopper")
    assert story.said(bob) == {"typed": ("Grace", time(0), None, None), "his": ("Grace", time(0), None, None)}
    assert story.said() == {"stays": ("Grace", time(0), None, None)}


def test_dates_follow_a_renamed_file_and_its_log_does_too(story: Story) -> None:
    new = "people/Ada L.md"
    story.commit({ADA: person("typed", stamped("tea"))})
    story.commit({ADA: person("typed", stamped("green tea"))}, "Hopper")
    renamed = person("typed", stamped("green tea"), name="Ada L", path=new)
    story.commit({ADA: None, new: renamed}, "claude", tool="rename_entity")
    story.commit({new: person("typed", stamped("green tea"), "more", name="Ada L", path=new)})
    assert story.said(new) == {
        "typed": ("Grace", time(0), None, None),
        "green tea": (STAMP.agent, STAMP.added_at, "Hopper", time(1)),
        "more": ("Grace", time(3), None, None),
    }
    with story.index.reading() as reader:
        assert [row.at for row in reader.log(10, path=new).rows] == [START + 60 * n for n in (3, 2, 1, 0)]
        assert reader.log(10, path=new) == reader.log(10, path=ADA)


def test_a_note_made_by_hand_has_its_first_commit_as_its_date(story: Story) -> None:
    story.commit({ADA: person("typed")}, "Grace")
    story.commit({ADA: person("typed", "more")}, "Hopper")
    with story.index.reading() as reader:
        note = reader.note_at(ADA)
    assert note is not None
    assert (note.added_at, note.agent) == (time(0), "Grace")


def test_merging_entities_carries_the_dates_over(story: Story) -> None:
    bob = "entities/person/Bob.md"
    story.commit({ADA: person("hers"), bob: person("his", name="Bob")})
    moved = Observation("his", Stamp(time(0), "Grace"), 1)
    story.commit({bob: None, ADA: person("hers", moved)}, "claude", tool="merge_entities")
    assert story.said() == {"hers": ("Grace", time(0), None, None), "his": ("Grace", time(0), None, None)}
    assert story.lines()["his"].stamped


def test_a_fact_that_is_put_back_keeps_the_date_it_had(story: Story) -> None:
    story.commit({ADA: person("typed", "other")})
    story.commit({ADA: person("other")}, "claude", tool="delete_observations")
    story.commit({ADA: person("typed", "other")}, "claude", tool="history_undo")
    assert story.said()["typed"] == ("Grace", time(0), None, None)
    story.commit({ADA: person("other")})
    story.commit({ADA: person("typed", "other")}, "Hopper")
    assert story.said()["typed"] == ("Hopper", time(4), None, None)


def test_a_file_made_again_goes_on_where_it_ended(story: Story) -> None:
    story.commit({ADA: person("typed")})
    story.commit({ADA: None})
    story.commit({ADA: person("typed")}, "claude", tool="history_restore")
    assert story.said()["typed"] == ("Grace", time(0), None, None)
    with story.index.reading() as reader:
        assert len(reader.log(10, path=ADA).rows) == 3


def test_superseding_is_no_edit_of_the_words(story: Story) -> None:
    story.commit({ADA: person(stamped("likes tea"))}, "claude", tool="add_observations")
    story.commit({ADA: person(stamped("likes green tea"))}, "Grace")
    old = Stamp(STAMP.added_at, STAMP.agent, superseded_at="2026-11-01T00:00:00Z", superseded_by="claude")
    story.commit(
        {ADA: person(Observation("likes green tea", old, 3, superseded=True))},
        "claude",
        tool="supersede_observation",
    )
    row = story.lines()["likes green tea"]
    assert (row.superseded, row.superseded_by, row.edited_by, row.edited_at) == (
        True,
        "claude",
        "Grace",
        time(1),
    )


def test_provenance_tells_whose_words_they_are_now(story: Story) -> None:
    story.commit({ADA: person("typed", stamped("tea"), stamped("kept"))}, "Grace")
    story.commit({ADA: person("typed", stamped("green tea"), stamped("kept"))}, "Hopper")
    asked = [
        ("observation", "typed"),
        ("observation", "green tea"),
        ("observation", "kept"),
        ("type", "person"),
    ]
    with story.index.reading() as reader:
        told = reader.provenance(ADA, [*asked, ("observation", "missing")])
        assert reader.provenance("missing.md", asked) == {}
    assert told == {
        asked[0]: ("Grace", time(0), True),
        asked[1]: ("Hopper", time(1), True),
        asked[2]: (STAMP.agent, STAMP.added_at, False),
        asked[3]: ("Grace", time(0), True),
    }


def test_a_filter_counts_the_dates_that_git_tells(story: Story) -> None:
    story.commit({ADA: person("typed early")}, "Grace")
    story.commit({ADA: person("typed early", "typed late")}, "Hopper")
    with story.index.reading() as reader:
        found = reader.search("typed", 5, where=Filter(since=START + 60))
        assert [hit.text for one in found.found for hit in one.hits] == ["typed late"]
        assert [row.name for row in reader.entities(5, where=Filter(agent="Hopper")).rows] == ["Ada"]


def test_a_commit_that_does_not_follow_is_not_taken(story: Story) -> None:
    story.commit({ADA: person("first")})
    with story.index.writing() as writer:
        assert not writer.append_commit(CommitRow("f" * 40, "e" * 40, START, "Grace"), [])
    assert story.index.history_head == story.commits[0][0].sha


def test_a_line_is_undated_while_history_is_behind_and_dated_when_it_catches_up(indexed: Indexed) -> None:
    story = Story(indexed())
    story.commit({ADA: person("one")})
    story.commit({ADA: person("one", "two")}, "Hopper")
    note = person("one", "two")
    late = indexed(note, name="late")
    with late.reading() as reader:
        row = reader.note_at(ADA)
        assert row is not None
        assert [line.agent for line in reader.observations(row.id)] == [None, None]
    commits, blobs = repository(story)
    with late.writing() as writer:
        writer.set_head(commits[-1].sha)
    assert list(replay(late, commits, reading(blobs), batch=1)) == [1, 2]
    other = Story(late)
    assert other.said() == story.said()
    assert late.history_head == story.commits[-1][0].sha


def test_the_commit_of_a_moment_is_found_though_clocks_go_back(story: Story) -> None:
    times = [0, 60, 30, 90, 90, 50, 200]
    parent = None
    for number, at in enumerate(times):
        row = CommitRow(blob(number), parent, START + at, "Grace")
        with story.index.writing() as writer:
            assert writer.append_commit(row, [])
        parent = row.sha
    with story.index.reading() as reader:

        def number_at(at: int) -> int | None:
            found = reader.commit_at(START + at, START + 10**9)
            return None if found is None else [blob(n) for n in range(len(times))].index(found.sha)

        assert [number_at(at) for at in (-1, 0, 59, 60, 89, 90, 199, 200, 10**9)] == [
            None,
            0,
            0,
            2,
            2,
            5,
            5,
            6,
            6,
        ]
        assert reader.commit(blob(3)) == CommitRow(blob(3), blob(2), START + 90, "Grace")
        assert reader.commit("0" * 40) is None


def test_a_clock_that_is_ahead_tells_nothing_of_when_a_commit_was_made(story: Story) -> None:
    now, year = START + 1_000, 31_536_000
    times = [0, 60, year, 120, 200, 2 * year, 180, 300, 1_030]
    parent = None
    for number, at in enumerate(times):
        row = CommitRow(blob(number), parent, START + at, "Grace")
        with story.index.writing() as writer:
            assert writer.append_commit(row, [])
        parent = row.sha
    with story.index.reading() as reader:

        def number_at(at: int, now: int) -> int:
            found = reader.commit_at(START + at, now)
            assert found is not None
            return [blob(n) for n in range(len(times))].index(found.sha)

        moments = (0, 60, 119, 120, 199, 200, 299, 300, 999, 1_000, year, 3 * year)
        assert [number_at(at, now) for at in moments] == [0, 2, 2, 3, 3, 6, 6, 7, 7, 8, 8, 8]
        assert [row.at - START for row in reader.commits_ahead(now, 9)] == [2 * year, year]
        assert len(reader.commits_ahead(now, 1)) == 1
        # Once that time has come nobody can tell that the clock was wrong.
        assert number_at(60, START + 3 * year) == 1
        assert reader.commits_ahead(START + 3 * year, 9) == []


def test_the_log_is_read_page_by_page(story: Story) -> None:
    for number in range(5):
        story.commit({ADA: person(f"line {number}")})
    with story.index.reading() as reader:
        first = reader.log(2)
        second = reader.log(2, first.cursor)
        third = reader.log(2, second.cursor)
        rows = [*first.rows, *second.rows, *third.rows]
        assert [row.subject for row in rows] == [f"hand-edit {n}" for n in (4, 3, 2, 1, 0)]
        assert third.cursor is None
        with pytest.raises(BadArgument):
            reader.log(2, "x")


def test_files_that_are_no_notes_are_followed_by_their_bytes(story: Story) -> None:
    text = plain("ideas/A.md", "prose")
    story.commit({"ideas/A.md": text})
    story.commit({"ideas/A.md": None, "done/A.md": plain("done/A.md", "prose")})
    with story.index.reading() as reader:
        assert len(reader.log(9, path="done/A.md").rows) == 2


def test_a_fact_without_a_known_beginning_does_no_harm(story: Story) -> None:
    story.commit({ADA: person("one")})
    row = CommitRow("f" * 40, story.commits[-1][0].sha, START + 600, "Grace")
    with story.index.writing() as writer:
        unknown = (Fact("observation", "never seen", None),)
        assert writer.append_commit(row, [(ADA, unknown, ()), ("never/there.md", unknown, ())])
    assert story.said()["one"][0] == "Grace"


def test_an_import_of_more_files_than_are_taken_in_together_keeps_each_fact(story: Story) -> None:
    paths = [f"entities/person/{number}.md" for number in range(PART + 2)]
    story.commit({path: person(f"fact of {path}", path=path) for path in paths})
    for path in (paths[0], paths[PART - 1], paths[PART], paths[-1]):
        assert story.said(path) == {f"fact of {path}": ("Grace", time(0), None, None)}
    with story.index.reading() as reader:
        kept = [fact.text for path in paths for fact in reader.facts_at(reader.lineage_at(path) or 0)]
    assert sorted(kept) == sorted([*["person"] * len(paths), *(f"fact of {path}" for path in paths)])

"""History: dates of unstamped lines, edits by hand, moves, and the replay of a past."""

import contextlib
from collections.abc import Iterator, Mapping

import pytest

from tests.storage.index.build import STAMP, blob, entity, plain, reading, stat
from tests.storage.index.conftest import Indexed
from vault_mcp.errors import BadArgument
from vault_mcp.notes.line import Stamp, observation_line
from vault_mcp.notes.note import Fact, Note, Observation, facts
from vault_mcp.storage.git.history import HistoryCommit
from vault_mcp.storage.index import CommitRow, Filter, Index, ObservationRow, replay
from vault_mcp.storage.index.history import PART

ADA = "entities/person/Ada.md"
START = 1_700_000_000


def time(number: int) -> str:
    return f"2023-11-14T22:{13 + number:02}:20Z"


class Story:
    """A vault's commits, one after the other, a minute apart, into an index that is in step."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.files: dict[str, Note] = {}
        self.commits: list[tuple[CommitRow, dict[str, tuple[Note | None, Note | None]]]] = []

    def commit(
        self, files: Mapping[str, Note | None], author: str = "Grace", tool: str = "hand-edit"
    ) -> CommitRow:
        number = len(self.commits)
        parent = self.commits[-1][0].sha if self.commits else None
        row = CommitRow(
            blob((number, author)), parent, START + 60 * number, author, tool, "", f"{tool} {number}"
        )
        changes = {path: (self.files.get(path), note) for path, note in files.items()}
        with self.index.writing() as writer:
            for path, note in files.items():
                if note is None:
                    writer.remove(path)
                else:
                    writer.put_file(path, blob(note.observations), stat(), note)
            told = [
                (path, facts(old) if old else (), facts(new) if new else ())
                for path, (old, new) in changes.items()
            ]
            assert writer.append_commit(row, told)
            writer.set_head(row.sha)
        for path, note in files.items():
            if note is None:
                del self.files[path]
            else:
                self.files[path] = note
        self.commits.append((row, changes))
        return row

    def lines(self, path: str = ADA) -> dict[str, ObservationRow]:
        with self.index.reading() as reader:
            note = reader.note_at(path)
            assert note is not None
            return {row.text: row for row in reader.observations(note.id, superseded=True)}

    def said(self, path: str = ADA) -> dict[str, tuple[str | None, str | None, str | None, str | None]]:
        return {
            text: (row.agent, row.added_at, row.edited_by, row.edited_at)
            for text, row in self.lines(path).items()
        }


@pytest.fixture
def story(indexed: Indexed) -> Story:
    return Story(indexed())


def person(*lines: str | Observation, name: str = "Ada", path: str = "") -> Note:
    return entity(name, lines, stamp=None, path=path, created="", agent="")


def stamped(text: str, edited_at: str = "", edited_by: str = "") -> Observation:
    return Observation(text, Stamp(STAMP.added_at, STAMP.agent, edited_at, edited_by), 0)


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
    commits, blobs = _repository(story)
    with late.writing() as writer:
        writer.set_head(commits[-1].sha)
    assert list(replay(late, commits, reading(blobs), batch=1)) == [1, 2]
    other = Story(late)
    assert other.said() == story.said()
    assert late.history_head == story.commits[-1][0].sha


def _repository(story: Story) -> tuple[list[HistoryCommit], dict[str, bytes]]:
    """Give a story's commits as Git would, with notes as Markdown."""
    blobs: dict[str, bytes] = {}

    def stored(note: Note | None) -> str | None:
        if note is None:
            return None
        raw = markdown(note).encode()
        blobs[blob(raw)] = raw
        return blob(raw)

    commits = [
        HistoryCommit(
            row.sha,
            row.parent,
            row.at,
            row.at,
            row.author,
            "",
            row.tool,
            row.session,
            row.subject,
            tuple((path, stored(old), stored(new)) for path, (old, new) in changes.items()),
        )
        for row, changes in story.commits
    ]
    return commits, blobs


def markdown(note: Note) -> str:
    lines = "".join(observation_line(item.text, item.stamp) + "\n" for item in note.observations)
    return f"---\nentity: {note.type}\n---\n\n## Observations\n\n{lines}"


def test_replay_takes_turns_and_stops_when_somebody_else_went_on(indexed: Indexed) -> None:
    story = Story(indexed())
    for number in range(6):
        story.commit({ADA: person(*(f"line {n}" for n in range(number + 1)))})
    commits, blobs = _repository(story)
    late = indexed(name="late")
    turns: list[int] = []

    @contextlib.contextmanager
    def turn() -> Iterator[None]:
        turns.append(len(turns))
        yield

    steps = replay(late, commits, reading(blobs), turn=turn, batch=2)
    assert next(steps) == 2
    with late.writing() as writer:
        assert writer.replay(commits[2:4], reading(blobs))
    assert list(steps) == []
    assert late.history_head == commits[3].sha
    assert list(replay(late, commits[4:], reading(blobs))) == [2]
    assert turns == [0, 1]


def test_a_rewritten_past_is_forgotten_and_replayed(indexed: Indexed) -> None:
    edited = stamped("green tea", "2026-10-06T00:00:00Z", "cursor")
    story = Story(indexed())
    story.commit({ADA: person("two", stamped("tea", "2026-10-06T00:00:00Z", "cursor"))})
    story.commit({ADA: person("two", edited)}, "Hopper")
    assert story.said()["green tea"][2:] == ("Hopper", time(1))
    with story.index.writing() as writer:
        writer.reset_history()
        assert writer.history_head is None
    assert story.said() == {
        "two": (None, None, None, None),
        "green tea": (STAMP.agent, STAMP.added_at, "cursor", "2026-10-06T00:00:00Z"),
    }
    other = Story(indexed(name="other"))
    other.commit({ADA: person("two", edited)}, "Turing")
    commits, blobs = _repository(other)
    with story.index.writing() as writer:
        writer.set_head(commits[-1].sha)
    assert list(replay(story.index, commits, reading(blobs))) == [1]
    assert story.said()["two"] == ("Turing", time(0), None, None)


def test_a_file_is_not_taken_for_a_moved_one_when_the_index_was_ahead_of_the_commit(story: Story) -> None:
    bob = "entities/person/Bob.md"
    story.commit({ADA: person("typed"), bob: person("typed", name="Bob", path=bob)})
    with story.index.writing() as writer:  # as when a person deleted a file and staged that
        writer.remove(ADA)
    row = story.commit({ADA: person("typed", "more"), bob: None})
    with story.index.reading() as reader:
        found = reader.commit(row.sha)
        assert found is not None
        assert reader.paths_of(found.seq, 9) == ([ADA, bob], 2)
        assert [(step.before.path, step.after.path) for step in reader.steps(found.seq)] == [
            (ADA, ADA),
            (bob, None),
        ]


def test_a_rebuilt_index_dates_its_lines_from_the_history_it_has(story: Story) -> None:
    story.commit({ADA: person("typed", stamped("tea"))})
    story.commit({ADA: person("typed", stamped("green tea"))}, "Hopper")
    before = story.said()
    with story.index.writing() as writer:
        writer.remove(ADA)
    with story.index.writing() as writer:
        writer.put_file(ADA, blob("again"), stat(), story.files[ADA])
    assert story.said() == before


def test_notes_are_dated_some_at_a_time_until_none_is_left(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_mcp.storage.index.writer.DATED", 2)
    paths = [f"entities/person/P{number}.md" for number in range(5)]
    row = story.commit({path: person("typed", path=path) for path in paths})
    with story.index.writing() as writer:
        for path in paths:
            writer.remove(path)
    with story.index.writing() as writer:
        writer.set_head(None)
        for path in paths:
            writer.put_file(path, blob(path), stat(), story.files[path])
    with story.index.writing() as writer:
        writer.set_head(row.sha)
    assert story.said(paths[0])["typed"] == (None, None, None, None)
    assert [story.index.upkeep() for _ in range(4)] == [True, True, True, False]
    assert {story.said(path)["typed"][0] for path in paths} == {"Grace"}


def test_a_block_whose_dating_is_put_off_dates_its_notes_later(story: Story) -> None:
    story.commit({ADA: person("one")})
    note = person("one", "two")
    row = CommitRow("e" * 40, story.commits[-1][0].sha, START + 600, "Hopper", "", "", "outside")
    with story.index.writing() as writer:  # as for a commit from outside: its files are read afterwards
        assert writer.append_commit(row, [(ADA, facts(story.files[ADA]), facts(note))])
        writer.put_off_dating()
        writer.set_head(row.sha)
    with story.index.writing() as writer:
        writer.put_file(ADA, blob("two"), stat(), note)
    with story.index.writing() as writer:
        assert writer.date() == 1
        assert writer.date() == 0
    assert story.said()["two"][0] == "Hopper"


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

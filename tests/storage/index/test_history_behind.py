"""History that is behind the files, was rewritten, or dates its notes later."""

import contextlib
from collections.abc import Iterator

import pytest

from tests.storage.index.build import STAMP, blob, reading, stat
from tests.storage.index.conftest import Indexed
from tests.storage.index.story import ADA, START, Story, person, repository, stamped, time
from vault_mcp.notes.note import facts
from vault_mcp.storage.index import CommitRow, replay


def test_replay_takes_turns_and_stops_when_somebody_else_went_on(indexed: Indexed) -> None:
    story = Story(indexed())
    for number in range(6):
        story.commit({ADA: person(*(f"line {n}" for n in range(number + 1)))})
    commits, blobs = repository(story)
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
    commits, blobs = repository(other)
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

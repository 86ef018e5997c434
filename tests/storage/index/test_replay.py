"""A past taken in commit by commit, or read from Git afterwards, says the same."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.index.build import reading, stat
from tests.storage.index.conftest import Indexed
from vault_mcp.notes.line import Stamp, observation_line
from vault_mcp.notes.note import Note, facts, read_note
from vault_mcp.storage.git.history import HistoryCommit
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import blob_id
from vault_mcp.storage.index import CommitRow, Index, replay

START = 1_700_000_000
PATHS = ("a.md", "b.md", "c/d.md")
WORDS = ("tea", "green tea", "likes tea", "chess", "plays chess at night")
TOOLS = ("hand-edit", "", "add_observations", "memory_str_replace", "history_undo", "rename_entity")

Line = tuple[str, Stamp | None]
Files = dict[str, tuple[Line, ...]]


def text_of(lines: Sequence[Line]) -> str:
    body = "".join(observation_line(text, stamp) + "\n" for text, stamp in dict(lines).items())
    return f"---\nentity: thing\n---\n\n## Observations\n\n{body}"


@st.composite
def stories(draw: st.DrawFn) -> list[tuple[str, str, Files]]:
    """Give (author, tool, files after it) of some commits, each a step from the one before."""
    steps: list[tuple[str, str, Files]] = []
    files: Files = {}
    for number in range(draw(st.integers(1, 8))):
        files = dict(files)
        for _ in range(draw(st.integers(1, 3))):
            step(draw, files, number)
        steps.append((draw(st.sampled_from(["Grace", "claude"])), draw(st.sampled_from(TOOLS)), files))
    return steps


def step(draw: st.DrawFn, files: Files, number: int) -> None:
    path = draw(st.sampled_from(PATHS))
    lines = list(files.get(path, ()))
    what = draw(st.sampled_from(["add", "stamp", "edit", "tool edit", "drop", "move", "rename", "delete"]))
    if what in ("add", "stamp"):
        stamp = Stamp(f"2023-11-14T22:{number:02}:00Z", "claude") if what == "stamp" else None
        lines.append((draw(st.sampled_from(WORDS)), stamp))
    elif what in ("rename", "delete"):
        gone = files.pop(path, None)
        if what == "delete" or gone is None:
            return
        path, lines = draw(st.sampled_from(PATHS)), list(gone)
    elif lines:
        text, stamp = lines.pop(draw(st.integers(0, len(lines) - 1)))
        if what == "edit":
            lines.append((draw(st.sampled_from(WORDS)), stamp))
        elif what == "tool edit" and stamp is not None:
            edited = Stamp(stamp.added_at, stamp.agent, f"2023-11-15T22:{number:02}:00Z", "cursor")
            lines.append((draw(st.sampled_from(WORDS)), edited))
        elif what == "move":
            other = draw(st.sampled_from(PATHS))
            if other != path:
                files[other] = (*files.get(other, ()), (text, stamp))
            else:
                lines.append((text, stamp))
    else:
        return
    files[path] = tuple(dict(lines).items())


def commits_of(steps: Sequence[tuple[str, str, Files]]) -> tuple[list[HistoryCommit], dict[str, bytes]]:
    blobs: dict[str, bytes] = {}
    commits: list[HistoryCommit] = []
    before: Files = {}

    def stored(lines: Sequence[Line] | None) -> str | None:
        if lines is None:
            return None
        raw = text_of(lines).encode()
        blobs[blob_id(raw)] = raw
        return blob_id(raw)

    for number, (author, tool, files) in enumerate(steps):
        changes = []
        for path in sorted({*before, *files}):
            old, new = (stored(side.get(path)) for side in (before, files))
            if old != new:
                changes.append((path, old, new))
        before = files
        parent = commits[-1].sha if commits else None
        at = START + number * 60
        sha = f"{number + 1:040x}"
        commits.append(HistoryCommit(sha, parent, at, at, author, "", tool, "", "s", tuple(changes)))
    return commits, blobs


def take_in(index: Index, commit: HistoryCommit, blobs: dict[str, bytes]) -> None:
    """Do what a vault does with a commit it has just made."""

    def note(path: str, blob: str | None) -> Note | None:
        return read_note(path, blobs[blob].decode()) if blob else None

    row = CommitRow(commit.sha, commit.parent, commit.at, commit.author, commit.tool, "", commit.subject)
    told = []
    with index.writing() as writer:
        for path, old, new in commit.changes:
            before, after = note(path, old), note(path, new)
            told.append((path, facts(before) if before else (), facts(after) if after else ()))
            if new is None:
                writer.remove(path)
            else:
                writer.put_file(path, new, stat(), after)
        assert writer.append_commit(row, told)
        writer.set_head(commit.sha)


def told_by(index: Index) -> dict[str, object]:
    said: dict[str, object] = {}
    with index.reading() as reader:
        for path in PATHS:
            note = reader.note_at(path)
            rows = reader.observations(note.id, superseded=True) if note else []
            said[path] = (
                sorted((r.text, r.agent, r.added_at, r.edited_by, r.edited_at, r.by_hand) for r in rows),
                (note.added_at, note.agent) if note else None,
                [
                    (v.kind, v.text, v.stamp, v.first, v.last, v.added, v.edited, v.previous is None)
                    for v in sorted(reader.fact_versions(path), key=lambda v: (v.first, v.kind, v.text))
                ],
                [row.sha for row in reader.log(100, path=path).rows],
            )
    return said


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stories())
def test_a_replay_says_what_was_taken_in_step_by_step(
    tmp_path: Path, steps: list[tuple[str, str, Files]]
) -> None:
    for old in tmp_path.glob("*"):
        old.unlink()
    commits, blobs = commits_of(steps)
    near, late = Index.open(str(tmp_path / "near")), Index.open(str(tmp_path / "late"))
    for commit in commits:
        take_in(near, commit, blobs)
    with late.writing() as writer:
        for path, lines in steps[-1][2].items():
            raw = text_of(lines)
            writer.put_file(path, blob_id(raw.encode()), stat(), read_note(path, raw))
        writer.set_head(commits[-1].sha)
    assert sum(1 for _ in replay(late, commits, reading(blobs), batch=3)) == -(-len(commits) // 3)
    assert told_by(late) == told_by(near)
    near.close()
    late.close()


def test_the_past_of_a_real_repository_dates_its_lines(indexed: Indexed, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()

    def git(*arguments: str, at: int = START, author: str = "Grace") -> None:
        named = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", author), ("EMAIL", "g@example.org"), ("DATE", f"{at} +0000"))
        }
        command = ["git", "-c", "commit.gpgsign=false", *arguments]
        subprocess.run(
            command, cwd=root, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **named}, check=True
        )

    def commit(lines: Sequence[Line], path: str, number: int, author: str, message: str) -> None:
        (root / path).write_text(text_of(lines), encoding="utf-8")
        git("add", "-A")
        git("commit", "-q", "-m", message, at=START + 60 * number, author=author)

    git("init", "-q", "-b", "main")
    stamp = Stamp("2023-11-14T22:00:00Z", "claude")
    commit([("typed", None)], "a.md", 0, "Grace", "first")
    commit(
        [("typed", None), ("tea", stamp)],
        "a.md",
        1,
        "claude",
        "add_observations: a\n\nTool: add_observations",
    )
    commit([("typed", None), ("green tea", stamp)], "a.md", 2, "Hopper", "hand-edit: a\n\nTool: hand-edit")
    git("mv", "a.md", "b.md")
    commit([("typed", None), ("green tea", stamp), ("late", None)], "b.md", 3, "Grace", "moved")
    repository = Repository.open(str(root))
    index = indexed()
    with index.writing() as writer:
        raw = (root / "b.md").read_text(encoding="utf-8")
        writer.put_file("b.md", blob_id(raw.encode()), stat(), read_note("b.md", raw))
        head = repository.head()
        writer.set_head(head)
    assert head is not None
    assert list(replay(index, repository.history(None, head), repository.blobs)) == [4]
    with index.reading() as reader:
        note = reader.note_at("b.md")
        assert note is not None
        assert (note.agent, note.added_at) == ("Grace", "2023-11-14T22:13:20Z")
        assert [
            (r.text, r.agent, r.added_at, r.edited_by, r.edited_at) for r in reader.observations(note.id)
        ] == [
            ("typed", "Grace", "2023-11-14T22:13:20Z", None, None),
            ("green tea", "claude", "2023-11-14T22:00:00Z", "Hopper", "2023-11-14T22:15:20Z"),
            ("late", "Grace", "2023-11-14T22:16:20Z", None, None),
        ]
    assert index.history_head == head
    repository.close()

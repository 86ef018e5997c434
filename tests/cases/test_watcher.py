"""Cases about files changed by hand: found soon, committed as the person's, whatever way they were saved.

The cases search with `search_memory` and view with `memory_view`; here `search_nodes` and `open_nodes` do.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cases.conftest import Desk
from tests.doors.frames import Server
from tests.serving import count, entity, facts, faults, found, given, graph, greeted, head, make, path_of
from tests.vaults import PERSON, authors, commits, git, make_vault, write_files
from tests.waiting import wait_until

CALM = 6.5
"""Seconds of calm that have to come; the files are compared every five."""

SOON = 10.0
"""Seconds within which a hand edit has to be found; on a quiet machine it takes one or two."""


@pytest.fixture(scope="session")
def watching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    root = make_vault(tmp_path_factory.mktemp("watched") / "vault", {"start.md": "start\n"})
    with greeted(root) as server:
        assert found(server, "start") == ["start.md"]
        yield Desk(server, root)
        assert faults(root) == []


@pytest.fixture
def watched(watching: Desk) -> Desk:
    """A server that watches, shared by the cases of one worker: each has files of its own."""
    wait_until(lambda: git(watching.root, "status", "--porcelain") == "", SOON)
    return watching


def shell(root: Path, line: str) -> None:
    """Do what a person or a program does beside the server."""
    subprocess.run(["sh", "-euc", line], cwd=root, check=True)


def finds(server: Server, query: str, *paths: str) -> Callable[[], bool]:
    """A condition: a search gives these notes and no other."""
    return lambda: sorted(found(server, query)) == sorted(paths)


def counts(server: Server, query: str, total: int) -> Callable[[], bool]:
    """A condition: a search finds so many notes."""
    return lambda: bool(given(server, "search_nodes", query=query)["total"]["found"] == total)


def versions(root: Path, path: str) -> list[str]:
    """Every content that a path has in history, newest first; "" also where a commit deletes it."""
    shas = git(root, "log", "--format=%H", "--", path).split()
    there = [git(root, "ls-tree", sha, "--", path) for sha in shas]
    return [git(root, "show", f"{sha}:{path}") if row else "" for sha, row in zip(shas, there, strict=True)]


def committed(root: Path, path: str, text: str) -> Callable[[], bool]:
    return lambda: (root / path).read_text() == text and versions(root, path)[:1] == [text]


def note(desk: Desk, path: str, text: str) -> None:
    """Have a note there, known and committed, before the case begins."""
    write_files(desk.root, {path: text})
    git(desk.root, "add", path)
    git(desk.root, "commit", "-q", "-m", f"start {path}")
    assert path in found(desk.server, f'"{text.strip()}"')


def test_WATCH_02_a_save_by_way_of_a_backup_file_is_one_edit(watched: Desk) -> None:
    root = watched.root
    note(watched, "02/n.md", "old zebra02, see [[start]]\n")
    before = count(root)
    shell(root / "02", "mv n.md n.md~; sleep 0.05; printf 'new zebra02, see [[start]]\\n' > n.md; rm n.md~")
    wait_until(committed(root, "02/n.md", "new zebra02, see [[start]]\n"), SOON)
    wait_until(finds(watched.server, '"new zebra02"', "02/n.md"), SOON)
    assert "" not in versions(root, "02/n.md")
    assert git(root, "log", "--all", "--format=%H", "--", "02/n.md~") == ""
    assert (count(root), authors(root)[0]) == (before + 1, PERSON)


def test_WATCH_04_reading_files_and_standing_idle_cost_next_to_nothing(root: Path) -> None:
    write_files(root, {f"{number}.md": "x\n" for number in range(1, 301)})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "notes")
    with greeted(root) as server:
        given(server, "search_nodes", query="x")
        pid = server.process.pid
        last, since, spent = "", 0.0, 0.0

        def state() -> str:
            index = (root / ".git/vault-mcp").glob("index*")
            times = sorted((p.name, p.stat().st_mtime_ns) for p in index if "shm" not in p.name)
            return f"{head(root)} {times}"

        def calm() -> bool:
            """Whether reading all files for longer than from one comparison to the next cost nothing."""
            nonlocal last, since, spent
            for path in root.glob("*.md"):
                path.read_bytes()
            if state() != last or cpu_seconds(pid) - spent > 0.02 * CALM:
                last, since, spent = state(), time.monotonic(), cpu_seconds(pid)
            return time.monotonic() - since > CALM

        before = head(root)
        # What a start brings with it is done first; a loop would never end.
        wait_until(calm, 60, every=0.5)
        assert head(root) == before


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_WATCH_05_the_folders_of_git_and_of_the_server_are_not_watched(watched: Desk) -> None:
    root = watched.root
    note(watched, "05/n.md", "old zebra05\n")
    before = count(root)
    shell(root, "touch .git/x; git gc -q; echo note > .git/vault-mcp/note.md; echo x > .git/x.md")
    write_files(root, {"05/n.md": "new zebra05\n"})
    wait_until(committed(root, "05/n.md", "new zebra05\n"), SOON)
    wait_until(finds(watched.server, '"new zebra05"', "05/n.md"), SOON)
    assert count(root) == before + 1
    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == ["05/n.md"]
    (root / ".git/vault-mcp/note.md").unlink()


def test_WATCH_07_a_hand_edit_is_found_without_any_write_of_a_tool(root: Path) -> None:
    write_files(root, {"n.md": "old zebra\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    with greeted(root) as server:
        assert found(server, "zebra") == ["n.md"]
        before = count(root)
        with (root / "n.md").open("a") as file:
            file.write("lion\n")
        wait_until(finds(server, "lion", "n.md"), SOON)
        wait_until(lambda: count(root) == before + 1, SOON)
    shown = git(root, "log", "-1", "--format=%an|%ae|%cn|%s|%(trailers:key=Tool,valueonly,separator=,)")
    assert shown == f"{PERSON}|ann@example.org|vault-mcp|hand-edit: n.md|hand-edit\n"
    assert faults(root) == []


@pytest.mark.long
def test_WATCH_08_a_switch_of_five_thousand_files_and_back_is_followed_without_a_commit(root: Path) -> None:
    git(root, "switch", "-q", "-c", "big")
    write_files(root, {f"f{i}/n{j}.md": f"note {i}x{j}\n" for i in range(50) for j in range(100)})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "many")
    git(root, "switch", "-q", "main")
    branches = git(root, "for-each-ref", "--format=%(objectname)", "refs/heads")
    with greeted(root) as server:
        assert found(server, "49x99") == []
        for branch, hits, total in (("big", ["f49/n99.md"], 5_000), ("main", [], 0), ("big", None, 5_000)):
            git(root, "switch", "-q", branch)
            asked = time.monotonic()
            given(server, "search_nodes", query="49x99")
            assert time.monotonic() - asked < 10
            if hits is not None:
                wait_until(finds(server, "49x99", *hits), 60, every=0.2)
            wait_until(counts(server, "note", total), 60, every=0.2)
        make(server, "A")
    assert git(root, "for-each-ref", "--format=%(objectname)", "refs/heads/main") in branches
    assert commits(root)[:2] == ["create_entities: A", "many"]
    assert faults(root) == []


WITHOUT_EVENTS = """
import errno, os, sys
from vault_mcp.storage.watcher import watcher
how = sys.argv.pop(1)
class Deaf:
    alive = True
    def close(self): pass
def listen(root, ear):
    if how == "none left":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return Deaf()
watcher.listen_to_system = listen
from vault_mcp.doors.cli import main
main()
"""


@pytest.mark.parametrize("how", ["silent", "none left"])
def test_WATCH_11_without_events_the_files_are_compared_every_few_seconds(root: Path, how: str) -> None:
    command = [sys.executable, "-c", WITHOUT_EVENTS, how, "serve", "--vault", str(root)]
    write_files(root, {"E.md": "---\nentity: t\n---\n\n- one\n", "n.md": "old\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    with Server(command) as server:
        server.greet()
        assert facts(server, "E") == ["one"]
        write_files(root, {"E.md": "---\nentity: t\n---\n\n- one\n- by hand\n"})
        given(server, "add_observations", observations=[{"entityName": "E", "contents": ["two"]}])
        assert facts(server, "E") == ["one", "by hand", "two"]
        write_files(root, {"n.md": "lion\n"})
        wait_until(finds(server, "lion", "n.md"), 20)
        if how == "none left":
            wait_until(lambda: any("looked through every few seconds" in line for line in server.log))
    assert authors(root)[:3] == [PERSON, "raw", PERSON]
    assert faults(root) == []


def test_WATCH_13_a_folder_moved_in_is_found_and_moved_out_is_gone(watched: Desk, tmp_path: Path) -> None:
    root, server = watched.root, watched.server
    write_files(tmp_path, {"in/x.md": "lion13\n", "in/deep/y.md": "lion13 deeper\n"})
    shutil.move(tmp_path / "in", root / "in13")
    wait_until(finds(server, "lion13", "in13/x.md", "in13/deep/y.md"), SOON)
    write_files(root, {"in13/deep/y.md": "tiger13\n"})
    wait_until(finds(server, "tiger13", "in13/deep/y.md"), SOON)
    shutil.move(root / "in13", tmp_path / "gone")
    wait_until(finds(server, "lion13"), SOON)
    wait_until(lambda: git(root, "ls-tree", "-r", "--name-only", "HEAD", "--", "in13") == "", SOON)
    assert finds(server, "tiger13")()


def test_WATCH_14_copies_of_sync_programs_are_notes_of_their_own_and_never_chosen(watched: Desk) -> None:
    """A policy of ours: docs/policies.md, "Conflict copies"."""
    root, server = watched.root, watched.server
    given(server, "create_entities", entities=[entity("Plan14", "p"), entity("Plan: 14", "q")])
    plain, special = path_of(server, "Plan14"), path_of(server, "Plan: 14")
    copies = ["{}.sync-conflict-20260101-120000-ABCDEFG.md", "{} 2.md", "{} (conflicted copy 2026-01-01).md"]
    for path in (plain, special):
        for copy in copies:
            shutil.copy(root / path, root / copy.format(path[:-3]))
    shutil.copy(root / plain, root / "entities/t/.Plan14.md.icloud")
    shutil.copy(root / plain, root / "conflict-files-obsidian-git.md")
    wait_until(finds(server, '"plan14 2"', plain.replace(".md", " 2.md")), SOON)
    for name, path in (("Plan14", plain), ("Plan: 14", special)):
        assert path_of(server, name) == path
        given(server, "add_observations", observations=[{"entityName": name, "contents": [f"to {name}"]}])
        assert f"to {name}" in (root / path).read_text()
    for copy in copies:
        assert (root / copy.format(plain[:-3])).exists()
        assert "to Plan" not in (root / copy.format(special[:-3])).read_text()
    seen = {one["note"] for one in given(server, "search_nodes", query="plan")["entities"]}
    assert "conflict-files-obsidian-git.md" not in seen
    assert not any(path.endswith(".icloud") for path in seen)
    for left in (root / "entities/t").glob("*Plan*"):
        left.unlink()
    (root / "conflict-files-obsidian-git.md").unlink()
    wait_until(lambda: graph(server)[0] == {}, SOON)


def test_WATCH_15_a_note_that_a_cloud_drive_evicted_is_not_committed_as_deleted(watched: Desk) -> None:
    """A policy of ours: docs/policies.md, "Notes that a cloud drive has evicted"."""
    root, server = watched.root, watched.server
    note(watched, "15/n.md", "old zebra15\n")
    (root / "15/n.md").rename(root / "15/.n.md.icloud")
    write_files(root, {"15/other.md": "lion15\n"})
    wait_until(finds(server, "lion15", "15/other.md"), SOON)
    wait_until(lambda: commits(root)[0] == "hand-edit: other.md", SOON)
    assert git(root, "ls-tree", "--name-only", "HEAD", "15/") == "15/n.md\n15/other.md\n"
    assert finds(server, "zebra15", "15/n.md")()
    (root / "15/.n.md.icloud").rename(root / "15/n.md")


def test_WATCH_16_an_editor_that_truncates_first_never_has_an_empty_note_committed(watched: Desk) -> None:
    root = watched.root
    note(watched, "16/n.md", "old zebra16\n")
    shell(root / "16", ": > n.md; sleep 0.4; printf 'new lion16\\n' > n.md")
    wait_until(committed(root, "16/n.md", "new lion16\n"), SOON)
    wait_until(finds(watched.server, "lion16", "16/n.md"), SOON)
    assert versions(root, "16/n.md") == ["new lion16\n", "old zebra16\n"]


def test_WATCH_17_files_that_are_gone_when_they_are_read_do_no_harm(watched: Desk) -> None:
    root, server = watched.root, watched.server
    note(watched, "17/n.md", "old zebra17\n")
    before = count(root)
    shell(root / "17", "for i in $(seq 500); do printf x > t$i.md; rm t$i.md; done")
    write_files(root, {"17/n.md": "new zebra17\n"})
    wait_until(committed(root, "17/n.md", "new zebra17\n"), SOON)
    wait_until(finds(server, '"new zebra17"', "17/n.md"), SOON)
    assert count(root) == before + 1
    assert [line for line in server.log if "Traceback" in line] == [], "\n".join(server.log)


def test_WATCH_19_a_change_that_keeps_time_and_size_is_seen(watched: Desk) -> None:
    root = watched.root
    note(watched, "19/n.md", "old zebra19\n")
    shell(root / "19", "printf 'new zebra19\\n' > x; touch -r n.md x; cp -p x n.md; rm x")
    wait_until(finds(watched.server, '"new zebra19"', "19/n.md"), SOON)
    wait_until(committed(root, "19/n.md", "new zebra19\n"), SOON)


def test_WATCH_23_edits_made_while_no_server_ran_come_before_the_next_commit_of_a_tool(root: Path) -> None:
    write_files(root, {"a.md": "1\n", "b.md": "2\n"})
    with greeted(root) as server:
        assert found(server, "1") == ["a.md"]
        server.close_input()
        assert server.ended() == 0
    write_files(root, {"a.md": "lion\n", "new.md": "x\n"})
    (root / "b.md").unlink()
    with greeted(root) as server:
        assert found(server, "lion") == ["a.md"]
        make(server, "T")
    assert authors(root)[0] == "raw"
    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == ["entities/t/T.md"]
    hand = git(root, "log", f"--author={PERSON}", "--grep=^hand-edit", "--name-only", "--format=").split()
    assert {"a.md", "b.md", "new.md"} <= set(hand)
    assert faults(root) == []


def test_WATCH_24_two_hundred_saves_of_one_note_are_a_few_commits(watched: Desk) -> None:
    """A policy of ours: docs/policies.md, "How soon a hand edit is committed"."""
    root = watched.root
    note(watched, "24/n.md", "old zebra24\n")
    before = count(root)
    shell(root / "24", "for i in $(seq 200); do echo $i >> n.md; sleep 0.03; done")
    text = (root / "24/n.md").read_text()
    assert text.endswith("200\n")
    wait_until(committed(root, "24/n.md", text), SOON)
    wait_until(finds(watched.server, "zebra24 200", "24/n.md"), SOON)
    assert 1 <= count(root) - before <= 10


def test_WATCH_25_a_vault_that_did_not_exist_is_made_and_watched(tmp_path: Path) -> None:
    """A policy of ours: docs/policies.md, "A folder that is no repository"."""
    root = tmp_path / "new" / "vault"
    with greeted(root) as server:
        assert graph(server) == ({}, set())
        write_files(root, {"n.md": "lion\n"})
        wait_until(finds(server, "lion", "n.md"), SOON)
        wait_until(lambda: commits(root)[0] == "hand-edit: n.md", SOON)
    assert faults(root) == []


def test_WATCH_26_what_a_person_saves_is_never_written_over(watched: Desk) -> None:
    """A policy of ours: docs/policies.md, "How soon a hand edit is committed"."""
    root, server = watched.root, watched.server
    given(server, "create_entities", entities=[entity("Typing26", "made by a tool")])
    path = root / path_of(server, "Typing26")
    text = path.read_text()
    for number in range(10):
        text += f"- line {number} typed by hand\n"
        path.write_text(text)
        kept = path.stat()
        seen = time.monotonic()

        def as_saved(seen: float = seen, saved: str = text) -> bool:
            assert path.read_text() == saved
            return time.monotonic() - seen > 0.4

        wait_until(as_saved)
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (kept.st_ino, kept.st_mtime_ns)
    wait_until(lambda: facts(server, "Typing26")[-1] == "line 9 typed by hand", SOON)
    wait_until(lambda: git(root, "status", "--porcelain") == "", SOON)
    assert path.read_text() == text

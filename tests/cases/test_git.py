"""Cases about the repository: states it may be in, settings it may have, and what a commit holds."""

import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cases.conftest import Desk
from tests.doors.frames import Server
from tests.serving import (
    added,
    answers,
    ask,
    entity,
    facts,
    faults,
    found,
    given,
    graph,
    greeted,
    head,
    make,
    path_of,
    serve,
)
from tests.vaults import PERSON, authors, clean, commits, git, make_vault, write_files
from tests.waiting import wait_until

NOT_ROOT = 12345
"""A user that owns nothing."""

only_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="only root can act as another user",
)


def as_another_user(root: Path, home: Path) -> Server:
    """Start a server as a user who is not root."""
    command = ["setpriv", f"--reuid={NOT_ROOT}", f"--regid={NOT_ROOT}", "--clear-groups", sys.executable]
    return Server([*command, "-m", "vault_mcp", "serve", "--vault", str(root)], env={"HOME": str(home)})


def repository(root: Path, *, files: dict[str, str] | None = None, init: Sequence[str] = ()) -> Path:
    """Make a plain repository with one commit, as a person does, with nothing of ours in it."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main", *init)
    git(root, "config", "user.name", PERSON)
    git(root, "config", "user.email", "ann@example.org")
    write_files(root, files if files is not None else {"a.md": "a\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "start")
    return root


def changed(root: Path, commit: str = "HEAD") -> list[str]:
    return git(root, "show", "--name-only", "--format=", "-z", commit).strip("\0").split("\0")


def test_GIT_01_a_repository_without_a_commit_gets_its_first_by_the_first_write(tmp_path: Path) -> None:
    root = tmp_path / "v"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    with greeted(root) as server:
        assert graph(server) == ({}, set())
        make(server, "A")
        assert facts(server, "A") == ["a1"]
    assert commits(root) == ["create_entities: A"]
    assert faults(root) == []


def test_GIT_02_a_folder_without_a_repository_becomes_one_with_its_notes_in_the_first_commit(
    tmp_path: Path,
) -> None:
    """A policy of ours: docs/policies.md, "A folder that is no repository"."""
    root, beside = tmp_path / "v", tmp_path / "beside.md"
    write_files(root, {"a.md": "zebra\n", "b/c.md": "c\n", "pic.png": "x"})
    beside.write_text("beside")
    with greeted(root) as server:
        assert found(server, "zebra") == ["a.md"]
        make(server, "A")
    assert commits(root)[0] == "create_entities: A"
    imports = [subject for subject in commits(root) if subject.startswith("import: ")]
    assert len(imports) == len(commits(root)) - 1
    first = git(root, "ls-tree", "-r", "--name-only", "HEAD~1").split()
    assert {"a.md", "b/c.md", "pic.png"} <= set(first)
    assert (root / "a.md").read_text() == "zebra\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.md", "v"]
    assert faults(root) == []


def test_GIT_06_a_lock_of_another_program_is_named_and_never_removed(desk: Desk) -> None:
    """A policy of ours: docs/policies.md, "A lock of another program"."""
    make(desk.server, "A")
    lock = desk.root / ".git/index.lock"
    lock.touch()
    before = head(desk.root)
    try:
        told = desk.server.error("add_observations", observations=[added("A", "b")])
    finally:
        assert lock.exists()
        lock.unlink()
    assert ".git/index.lock" in told
    assert "rm .git/index.lock" in told
    assert str(desk.root) not in told
    assert head(desk.root) == before
    assert "- b" not in (desk.root / path_of(desk.server, "A")).read_text()
    given(desk.server, "add_observations", observations=[added("A", "b")])
    assert facts(desk.server, "A") == ["a1", "b"]
    assert faults(desk.root) == []


def test_GIT_08_a_folder_inside_another_repository_is_refused_and_that_one_left_alone(tmp_path: Path) -> None:
    """A policy of ours: docs/policies.md, "A folder inside another repository"."""
    parent = repository(tmp_path / "parent", files={"notes/n.md": "n\n", "code.py": "x\n"})
    write_files(parent, {"code.py": "y\n"})
    git(parent, "add", "code.py")
    before = head(parent), git(parent, "status", "--porcelain")
    with greeted(parent / "notes") as server:
        for _ in range(2):
            told = server.error("create_entities", entities=[entity("A", "o")])
            assert "inside another Git repository (parent)" in told
            assert "vault-mcp init" in told
            assert str(tmp_path) not in told
    assert (head(parent), git(parent, "status", "--porcelain")) == before
    assert sorted(path.name for path in (parent / "notes").iterdir()) == ["n.md"]
    # With a repository of its own it is a vault like any other, and the one around it still is left alone.
    repository(parent / "notes", files={"n.md": "n\n"})
    with greeted(parent / "notes") as server:
        make(server, "A")
    assert head(parent) == before[0]
    assert commits(parent / "notes")[0] == "create_entities: A"


def test_GIT_09_repositories_inside_the_vault_are_left_alone(tmp_path: Path) -> None:
    """A policy of ours: docs/policies.md, "Repositories inside the vault"."""
    inner = repository(tmp_path / "s", files={"x.md": "zebra in the submodule\n"})
    root = make_vault(tmp_path / "v", {"n.md": "zebra\n"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(root, "commit", "-q", "-m", "submodule")
    repository(root / "entities/proj", files={"y.md": "zebra nested\n"})
    with greeted(root, "--no-watch") as server:
        assert found(server, "zebra") == ["n.md"]
        told = server.error("create_entities", entities=[entity("A", "o", kind="proj")])
        assert "repository of its own" in told
        write_files(root, {"sub/x.md": "by hand\n"})
        make(server, "B")
    assert git(root, "ls-files", "-s", "sub").startswith("160000 ")
    assert commits(root / "sub") == commits(root / "entities/proj") == ["start"]
    assert [path for path in git(root, "ls-files").split() if path.startswith("entities/proj")] == []


@only_root
def test_GIT_10_somebody_elses_repository_is_refused_with_the_command_to_trust_it(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"n.md": "n\n"})
    home = tmp_path / "home"
    home.mkdir(mode=0o777)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == "root" and folder != Path("/") and str(folder).startswith("/tmp/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    home.chmod(0o777)
    with as_another_user(root, home) as server:
        server.greet()
        told = server.error("create_entities", entities=[entity("A", "o")])
        assert "belongs to another user" in told
        assert "git config --global --add safe.directory" in told
        assert str(tmp_path) not in told
        assert not any("Traceback" in line for line in server.log)
    assert not (home / ".gitconfig").exists()
    assert commits(root)[0] == "start"


@pytest.mark.parametrize("program", ["false", "/nonexistent/gpg"])
def test_GIT_12_a_commit_that_cannot_be_signed_without_asking_is_made_without(
    root: Path, program: str
) -> None:
    """A policy of ours: docs/policies.md, "Signing"."""
    git(root, "config", "commit.gpgsign", "true")
    git(root, "config", "gpg.program", program)
    with greeted(root, GNUPGHOME="/nonexistent") as server:
        make(server, "A", "B")
        given(server, "add_observations", observations=[added("A", "x")])
    assert commits(root)[:2] == ["add_observations: A", "create_entities: A, B"]
    assert "gpgsig" not in git(root, "cat-file", "commit", "HEAD")
    assert faults(root) == []


def test_GIT_13_hooks_are_not_run_for_the_calls_of_tools(root: Path) -> None:
    """A policy of ours: docs/decisions/hooks-are-not-run.md."""
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        hook = root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{root}/ran-{name}'\nexit 1\n")
        hook.chmod(0o755)
    with greeted(root) as server:
        make(server, "A")
    assert list(root.glob("ran-*")) == []
    assert commits(root)[0] == "create_entities: A"
    for hook in (root / ".git/hooks").iterdir():
        hook.unlink()
    assert faults(root) == []


def test_GIT_16_line_ends_are_converted_in_history_alone_where_git_is_told_to(tmp_path: Path) -> None:
    root = repository(tmp_path / "v", files={"A.md": "---\r\nentity: t\r\n---\r\n\r\nprose\r\n"})
    git(root, "config", "core.autocrlf", "true")
    git(root, "add", "--renormalize", ".")
    git(root, "commit", "-q", "-m", "as Git keeps it")
    with greeted(root) as server:
        given(server, "add_observations", observations=[added("A", "one")])
        make(server, "B")
        assert facts(server, "A") == ["one"]
    raw = (root / "A.md").read_bytes()
    assert raw.count(b"\n") == raw.count(b"\r\n") > 5
    assert "\r" not in git(root, "show", "HEAD:A.md")
    assert faults(root) == []


def test_GIT_18_what_git_ignores_is_not_written(root: Path) -> None:
    """A policy of ours: docs/policies.md, "Paths that Git ignores". With an entity's folder for a file."""
    write_files(root, {".gitignore": "entities/secret/\n"})
    git(root, "commit", "-qam", "ignore")
    with greeted(root) as server:
        told = server.error("create_entities", entities=[entity("A", "o", kind="secret")])
        assert "entities/secret/A.md is ignored by Git" in told
        make(server, "B")
    assert not (root / "entities/secret").exists()
    assert git(root, "log", "--all", "--format=%s", "--", "entities/secret") == ""


def test_GIT_19_files_that_obsidian_and_the_system_rewrite_are_in_no_commit(root: Path) -> None:
    """A policy of ours: docs/policies.md, "Files of other programs"."""
    own = {".obsidian/workspace.json": "{}", ".obsidian/workspace-mobile.json": "{}", ".trash/x.md": "x"}
    write_files(root, {**own, ".DS_Store": "x", "sub/.DS_Store": "x", ".obsidian/app.json": "{}"})
    with greeted(root) as server:
        for number in range(10):
            write_files(root, {".obsidian/workspace.json": f"{{{number}}}", "n.md": f"save {number}\n"})
            given(server, "create_entities", entities=[entity(f"E{number}")])
        wait_until(lambda: found(server, '"save 9"') == ["n.md"], 15)
        wait_until(lambda: git(root, "status", "--porcelain", "--", "n.md") == "", 15)
    names = git(root, "log", "--all", "--name-only", "--format=").split()
    assert [name for name in names if "workspace" in name or ".trash" in name or "DS_Store" in name] == []
    assert "n.md" in names


def test_GIT_21_the_persons_other_work_is_in_no_commit_of_a_tool(tmp_path: Path) -> None:
    note = "---\nentity: t\n---\n"
    root = make_vault(tmp_path / "v", {"A.md": note, "b.md": "b\n", "c.md": "c\n"})
    with greeted(root, "--no-watch") as server:
        assert facts(server, "A") == []
        write_files(root, {"b.md": "staged\n", "c.md": "unstaged\n", "d.md": "untracked\n"})
        git(root, "add", "b.md")
        staged = git(root, "ls-files", "-s", "b.md")
        given(server, "add_observations", observations=[added("A", "x")])
        assert changed(root) == ["A.md"]
        assert git(root, "ls-files", "-s", "b.md") == staged
        assert git(root, "status", "--porcelain") == "M  b.md\n M c.md\n?? d.md\n"


def test_GIT_22_a_commit_from_outside_is_built_upon(desk: Desk) -> None:
    make(desk.server, "A", "B")
    other = desk.root / path_of(desk.server, "B")
    other.write_text(other.read_text().replace("b1", "other"))
    git(desk.root, "commit", "-qam", "other")
    given(desk.server, "add_observations", observations=[added("A", "x")])
    assert changed(desk.root) == [path_of(desk.server, "A")]
    assert "- other" in git(desk.root, "show", f"HEAD:{path_of(desk.server, 'B')}")
    assert facts(desk.server, "B") == ["other"]
    assert commits(desk.root)[1] == "other"


FORGED = "likes tea\n\nEdited-By: mallory\nEdited-At: 2001-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("add_observations", {"observations": [added("A", FORGED)]}),
        ("create_entities", {"entities": [entity("X\n\nEdited-By: mallory", "o")]}),
        ("create_entities", {"entities": [entity("x" * 300, "o")]}),
        ("create_entities", {"entities": [entity("B", "o", kind="\nTool: none\n\nEdited-By: mallory")]}),
        ("rename_entity", {"entityName": "A", "newName": "B\r\rEdited-By: mallory\r"}),
        ("edit_observation", {"entityName": "A", "oldText": "a1", "newText": FORGED}),
    ],
)
def test_GIT_23_no_stored_text_forges_a_trailer(desk: Desk, tool: str, arguments: dict[str, object]) -> None:
    make(desk.server, "A")
    given(desk.server, tool, **arguments)
    told = git(desk.root, "log", "-1", "--format=%(trailers:key=Edited-By,valueonly)")
    assert told.split("\n") == ["raw", "", ""]
    assert git(desk.root, "log", "-1", "--format=%(trailers:key=Tool,valueonly)").strip() == tool
    message = git(desk.root, "cat-file", "commit", "HEAD").partition("\n\n")[2]
    subject, *rest = message.splitlines()
    assert len(subject) <= 100
    # Also a reader that takes the first line that looks like a trailer finds ours.
    alike = [line for line in message.splitlines() if re.match(r"(Edited-By|Edited-At):", line)]
    assert alike[:1] == ["Edited-By: raw"]
    assert rest


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Eve\ncommitter Root <r@x> 0 +0000", None),
        ("A <b@c>", None),
        ("", "unknown"),
        ("x" * 5000, None),
        ("\0\x07", "unknown"),
        (PERSON, PERSON),
    ],
)
def test_GIT_25_a_clients_name_is_a_claim_and_reaches_no_other_header(
    root: Path, name: str, shown: str | None
) -> None:
    with greeted(root, agent=name) as server:
        make(server, "A")
        agent = given(server, "open_nodes", names=["A"])["entities"][0]["agent"]
    assert shown in (None, agent)
    headers = git(root, "cat-file", "commit", "HEAD").partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in headers] == ["tree", "parent", "author", "committer"]
    assert headers[3].startswith("committer vault-mcp <vault-mcp@vault-mcp.invalid> ")
    # Whatever a client calls itself, its address is never the person's.
    assert headers[2].startswith(f"author {agent} <")
    assert "@agent.invalid> " in headers[2]
    assert len(agent) <= 100
    assert clean(root)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("add_observations", {"observations": [added("A", "a1")]}),
        ("create_entities", {"entities": [entity("A", "other")]}),
        ("delete_observations", {"deletions": [{"entityName": "A", "observations": ["none"]}]}),
        ("delete_entities", {"entityNames": ["Nobody"]}),
        ("rename_entity", {"entityName": "A", "newName": "A"}),
        ("initialize_memory", {"mode": "adopt"}),
        ("add_observations", {"observations": []}),
    ],
)
def test_GIT_27_a_call_that_changes_nothing_makes_no_commit(
    desk: Desk, tool: str, arguments: dict[str, object]
) -> None:
    make(desk.server, "A")
    before, note = head(desk.root), (desk.root / path_of(desk.server, "A")).read_bytes()
    told = given(desk.server, tool, **arguments)
    assert told["receipt"]["commit"] is None
    assert head(desk.root) == before
    assert (desk.root / path_of(desk.server, "A")).read_bytes() == note


def test_GIT_31_a_repository_of_sha256_is_written_through_git(tmp_path: Path) -> None:
    """A policy of ours: docs/policies.md, "Repositories that are not plain"."""
    root = repository(tmp_path / "v", init=["--object-format=sha256"])
    with greeted(root) as server:
        make(server, "A", "B")
        given(server, "add_observations", observations=[added("A", "x")])
        assert facts(server, "A") == ["a1", "x"]
        write_files(root, {"a.md": "zebra\n"})
        wait_until(lambda: found(server, "zebra") == ["a.md"], 10)
        wait_until(lambda: commits(root)[0].startswith("hand-edit"), 10)
    assert len(head(root)) == 64
    assert authors(root)[:3] == [PERSON, "raw", "raw"]
    assert faults(root) == []


def test_GIT_32_a_linked_worktree_is_written_on_its_own_branch(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    git(main, "worktree", "add", "-q", "../wt", "-b", "f")
    before = head(main), git(main, "status", "--porcelain")
    root = tmp_path / "wt"
    with greeted(root) as server:
        make(server, "A")
        write_files(root, {"a.md": "zebra\n"})
        wait_until(lambda: found(server, "zebra") == ["a.md"], 10)
        wait_until(lambda: commits(root)[0].startswith("hand-edit"), 10)
    assert (head(main), git(main, "status", "--porcelain")) == before
    assert git(root, "rev-parse", "--abbrev-ref", "HEAD").strip() == "f"
    assert commits(root)[:2] == ["hand-edit: a.md", "create_entities: A"]
    assert clean(root)


def test_GIT_33_without_git_every_call_says_so_in_a_sentence_and_the_server_stays(root: Path) -> None:
    before = head(root)
    with serve(root, PATH="/nonexistent") as server:
        server.greet()
        for _ in range(2):
            assert "No git program was found" in server.error("create_entities", entities=[entity("A")])
            assert "PATH" in server.error("read_graph")
        server.close_input()
        assert server.ended() == 0
        assert any("No git program was found" in line for line in server.log)
        assert not any("Traceback" in line for line in server.log)
    assert head(root) == before


def test_GIT_37_a_shallow_clone_is_written_and_a_bare_one_refused(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    for number in range(3):
        git(origin, "commit", "-q", "--allow-empty", "-m", str(number))
    root, bare = tmp_path / "v", tmp_path / "bare"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", "v")
    git(tmp_path, "clone", "-q", "--bare", str(origin), "bare")
    with greeted(root) as server:
        make(server, "A")
        assert facts(server, "A") == ["a1"]
    assert commits(root)[0] == "create_entities: A"
    assert (root / ".git/shallow").exists()
    assert clean(root)
    with greeted(bare) as server:
        told = server.error("create_entities", entities=[entity("A")])
        assert "bare" in told
        assert "git clone" in told


def test_GIT_38_times_are_utc_and_the_same_in_the_note_the_answer_and_the_commit(root: Path) -> None:
    with greeted(root, TZ="Asia/Kolkata") as server:
        made = given(server, "create_entities", entities=[entity("A", "o")])
        (shown,) = given(server, "open_nodes", names=["A"])["entities"]
    at = shown["observations"][0]["added_at"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", at)
    assert {at, shown["added_at"], made["receipt"]["edited_at"]} == {at}
    epoch = int(git(root, "log", "-1", "--format=%at"))
    assert at == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    assert f"%%+{at} raw%%" in (root / "entities/t/A.md").read_text()
    told = git(root, "log", "-1", "--format=%(trailers:key=Edited-At,valueonly)").strip()
    assert told == at


def test_GIT_39_a_deletion_is_named_in_history_and_what_was_deleted_is_still_there(desk: Desk) -> None:
    given(desk.server, "create_entities", entities=[entity("A", "a1 of long ago")])
    path = path_of(desk.server, "A")
    given(desk.server, "delete_entities", entityNames=["A"])
    shown = git(desk.root, "log", "-1", "--format=%an|%s|%(trailers:key=Edited-By,valueonly,separator=,)|%b")
    assert shown.startswith("raw|delete_entities: A|raw|")
    assert "- a1 of long ago" in shown
    assert "Edited-At: " in shown
    assert "- a1 of long ago %%" in git(desk.root, "show", f"HEAD~1:{path}")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_GIT_40_neither_files_nor_git_processes_pile_up(root: Path) -> None:
    with greeted(root) as server:
        process = Path(f"/proc/{server.process.pid}")

        def children() -> list[str]:
            told = [
                Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
                for tasks in process.glob("task/*/children")
                for pid in tasks.read_text().split()
                if Path(f"/proc/{pid}").exists()
            ]
            assert "Z" not in told
            return told

        make(server, "Start")
        graph(server)
        before = len(list((process / "fd").iterdir()))
        for number in range(40):
            asked = [ask(server, "create_entities", entities=[entity(f"E{number}", "x")])]
            asked += [ask(server, "search_nodes", query=f"E{number}") for _ in range(4)]
            asked += [ask(server, "read_graph", limit=5), ask(server, "open_nodes", names=["Start"])]
            asked += [ask(server, "add_observations", observations=[added("Start", f"o{number}")])]
            asked += [ask(server, "edit_observation", entityName="ghost", oldText="x", newText="y")]
            answers(server, asked)
        wait_until(lambda: len(list((process / "fd").iterdir())) <= before + 20)
        wait_until(lambda: len(children()) <= 2)
    assert faults(root) == []

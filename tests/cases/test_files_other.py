"""Cases about the watcher, the protocol and safety that name the file and key tools."""

import hashlib
import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.direct import call, done, refused
from tests.serving import greeted
from tests.vaults import PERSON, authors, clean, commits, git, make_vault, opened, write_files
from tests.waiting import wait_until


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v", {"n.md": "---\nkey: n\n---\nold zebra\n"})


# -- hand edits


def test_WATCH_02_a_note_saved_by_way_of_a_backup_is_the_same_note(root: Path) -> None:
    with greeted(root) as server:
        assert server.text("read_memory", key="n") == "old zebra"
        (root / "n.md").rename(root / "n.md~")
        write_files(root, {"n.md": "---\nkey: n\n---\nnew\n"})
        (root / "n.md~").unlink()
        wait_until(lambda: authors(root)[0] == PERSON and commits(root)[0].startswith("hand-edit"), 20)
        assert server.text("memory_view", path="n.md").endswith("     4\tnew")
        assert server.text("read_memory", key="n") == "new"
    assert git(root, "log", "--diff-filter=D", "--format=%s") == ""
    assert git(root, "log", "--all", "--format=%s", "--", "n.md~") == ""


def test_WATCH_07_a_hand_edit_is_found_without_any_write_in_between(root: Path) -> None:
    with greeted(root) as server:
        before = len(commits(root))
        write_files(root, {"n.md": "---\nkey: n\n---\nold zebra\nlion\n"})
        wait_until(lambda: "lion" in server.text("search_memory", query="lion"), 20)
        wait_until(lambda: len(commits(root)) == before + 1, 20)
    assert commits(root)[0] == "hand-edit: n.md"


def test_WATCH_13_keys_in_a_folder_that_comes_and_goes_come_and_go(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "in"
    write_files(outside, {"x.md": "---\nkey: x\n---\nlion\n"})
    with greeted(root) as server:
        outside.rename(root / "in")
        wait_until(lambda: "lion" in server.text("search_memory", query="lion"), 20)
        (root / "in").rename(outside)
        wait_until(lambda: server.text("search_memory", query="lion") == "[]", 20)


def test_WATCH_19_other_words_of_the_same_length_and_time_are_seen(root: Path) -> None:
    with greeted(root) as server:
        assert server.text("read_memory", key="n") == "old zebra"
        before = (root / "n.md").stat()
        (root / "x").write_text("---\nkey: n\n---\nnew zebra\n")
        os.utime(root / "x", ns=(before.st_atime_ns, before.st_mtime_ns))
        subprocess.run(["cp", "-p", "x", "n.md"], cwd=root, check=True)
        assert server.text("read_memory", key="n") == "new zebra"
        wait_until(lambda: "new zebra" in server.text("search_memory", query="new zebra"), 20)


def test_WATCH_23_edits_made_while_nothing_ran_are_committed_first(root: Path) -> None:
    with opened(root) as vault:
        done(vault, "memory_create", path="b.md", file_text="2\n")
    write_files(root, {"n.md": "---\nkey: n\n---\nlion\n", "new.md": "x\n"})
    (root / "b.md").unlink()
    with greeted(root, "--no-watch") as server:
        wait_until(lambda: "lion" in server.text("search_memory", query="lion"), 20)
        server.text("memory_create", path="t.md", file_text="t\n")
    assert git(root, "show", "--format=%an", "--name-only", "HEAD").split() == ["raw", "t.md"]
    assert git(root, "show", "--format=", "--name-only", "HEAD~1").split() == ["b.md", "n.md", "new.md"]
    assert authors(root)[1] == PERSON
    assert clean(root)


# -- the protocol


def test_MCP_03_a_call_that_is_given_up_is_done_or_not_and_the_next_is_answered(root: Path) -> None:
    write_files(root, {f"links/{number}.md": "see [[n]]\n" for number in range(300)})
    with greeted(root, "--no-watch") as server:
        wait_until(lambda: len(git(root, "ls-files", "links").splitlines()) == 300, 20)
        before = len(commits(root))
        asked = server.request(
            "tools/call", {"name": "memory_rename", "arguments": {"old_path": "n.md", "new_path": "m.md"}}
        )
        server.send("notifications/cancelled", {"requestId": asked})
        told = server.ask("tools/call", {"name": "memory_view", "arguments": {"path": ""}})
        assert "links/" in told["result"]["content"][0]["text"]
        server.close_input()
        assert [frame for frame in server.rest() if frame.get("id") == asked] == []
        assert server.ended() == 0
    renamed = (root / "m.md").exists()
    assert renamed != (root / "n.md").exists()
    assert len(commits(root)) == before + renamed
    linking = [path.read_text() for path in (root / "links").iterdir()]
    assert set(linking) == {"see [[m]]\n" if renamed else "see [[n]]\n"}
    assert clean(root)


def test_MCP_07_a_range_may_come_as_json_text(root: Path) -> None:
    with opened(root) as vault:
        wanted = done(vault, "memory_view", path="n.md", view_range=[1, 2])
        assert done(vault, "memory_view", path="n.md", view_range="[1, 2]") == wanted
        assert "a list of whole numbers" in refused(vault, "memory_view", path="n.md", view_range="1")
        assert "whole number" in refused(vault, "memory_view", path="n.md", view_range=["one", 2])


@pytest.mark.parametrize("line", [True, 1.5, "abc", [1], None])
def test_MCP_09_a_line_is_a_whole_number_or_an_error(root: Path, line: object) -> None:
    before = (root / "n.md").read_bytes()
    with opened(root) as vault:
        refused(vault, "memory_insert", path="n.md", insert_line=line, insert_text="x")
    assert (root / "n.md").read_bytes() == before


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_str_replace", {"path": "nope.md", "old_str": "a", "new_str": "b"}),
        ("memory_create", {"path": "x" * 300, "file_text": "x"}),
        ("memory_create", {"path": "/".join("d" * 200 for _ in range(10)), "file_text": "x"}),
        ("memory_view", {"path": "n.md/under.md"}),
        ("memory_rename", {"old_path": "n.md", "new_path": "y" * 256 + ".md"}),
        ("list_memory_keys", {"cursor": "x"}),
    ],
)
def test_MCP_12_an_error_says_what_and_what_to_do_without_the_hosts_paths(
    root: Path, tool: str, arguments: dict[str, object]
) -> None:
    with opened(root) as vault:
        told = refused(vault, tool, **arguments)
    assert told.count("\n") == 0
    assert told.count(". ") >= 1
    assert str(root) not in told
    assert "Traceback" not in told


# -- safety


def test_SEC_05_no_name_or_text_reaches_the_configuration(root: Path, tmp_path: Path) -> None:
    hooks = tmp_path / "h"
    write_files(
        hooks, {"post-commit": f"#!/bin/sh\ntouch {tmp_path}/PWNED\n", "pre-commit": "#!/bin/sh\nexit 1\n"}
    )
    for hook in hooks.iterdir():
        hook.chmod(0o755)
    evil = f"a\n[core]\n\thooksPath = {hooks}"

    def config() -> str:
        return hashlib.sha256((root / ".git/config").read_bytes()).hexdigest()

    before = config()
    with greeted(root, "--no-watch", agent=evil) as server:
        server.text("memory_create", path="t.md", file_text=evil)
        server.text("write_memory", key=evil, value=evil)
        server.error("memory_create", path=evil, file_text="x")
        assert server.text("read_memory", key=evil) == evil
    assert config() == before
    assert not (tmp_path / "PWNED").exists()
    assert git(root, "fsck", "--strict") == ""


def test_SEC_08_a_program_called_git_in_the_vault_is_not_run(root: Path, tmp_path: Path) -> None:
    for name in ("git", "git.exe", "bash.exe", "sh"):
        write_files(root, {name: f"#!/bin/sh\ntouch {tmp_path}/PWNED\n"})
        (root / name).chmod(0o755)
    path = os.pathsep.join(["", ".", os.environ["PATH"]])
    with greeted(root, "--no-watch", PATH=path) as server:
        server.text("memory_create", path="t.md", file_text="t\n")
        server.text("memory_delete", path="t.md")
    assert not (tmp_path / "PWNED").exists()


def test_SEC_15_front_matter_cannot_forge_who_committed_it(root: Path) -> None:
    forged = "---\nedited_by: alice\nedited_at: 2001-01-01T00:00:00Z\nagent: human\ntrust: verified\n---\nx\n"
    with opened(root) as vault:
        done(vault, "memory_create", path="f.md", file_text=forged)
    said = git(
        root,
        "log",
        "-1",
        "--format=%an|%(trailers:key=Edited-By,valueonly)|%(trailers:key=Edited-At,valueonly)",
    )
    author, by, at = (part.strip() for part in said.split("|"))
    assert (author, by) == ("claude-desktop", "claude-desktop")
    assert at > "2026"
    assert (root / "f.md").read_text() == forged  # kept as what it is: words of the note


def test_SEC_16_a_deleted_value_is_said_to_stay_in_history(root: Path) -> None:
    with opened(root) as vault:
        done(vault, "write_memory", key="k", value="S3CRET")
        told = done(vault, "delete_memory", key="k")
        head = git(root, "rev-parse", "HEAD")
    assert "History keeps" in told
    assert "vault-mcp erase removes it for good" in told
    assert "S3CRET" in git(root, "log", "-p", "--format=")
    assert git(root, "rev-parse", "HEAD") == head


@pytest.mark.parametrize("path", ["x.sh", "x.py", "CLAUDE.md", "package.json", "Makefile", "x.desktop"])
def test_SEC_20_files_of_other_programs_are_plain_text_without_an_executable_bit(
    root: Path, path: str
) -> None:
    with opened(root) as vault:
        done(vault, "memory_create", path=path, file_text="#!/bin/sh\n")
        assert stat.S_IMODE((root / path).stat().st_mode) & 0o111 == 0
        assert git(root, "ls-files", "-s", path).startswith("100644 ")


@pytest.mark.parametrize(
    "path", [".vscode/settings.json", ".mcp.json", ".cursorrules", ".envrc", "sub/.npmrc"]
)
def test_SEC_20_settings_in_hidden_files_cannot_be_written(root: Path, path: str) -> None:
    with opened(root) as vault:
        assert "hidden or protected" in refused(vault, "memory_create", path=path, file_text="{}")
        assert call(vault, "memory_rename", old_path="n.md", new_path=path).error
    assert not (root / path).exists()

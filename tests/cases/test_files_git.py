"""Cases about Git, with the file and key tools: a commit holds what the call did, and nothing else."""

from pathlib import Path

import pytest

from tests.direct import done, refused
from tests.serving import greeted
from tests.vaults import PERSON, authors, clean, commits, git, make_vault, opened, write_files
from vault_mcp.vault import Options


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v", {"a.md": "a\n", "b.md": "b\n", "c.md": "c\n"})


def changed(root: Path) -> list[str]:
    return git(root, "show", "--format=", "--name-only", "HEAD").splitlines()


def test_GIT_01_a_repository_without_a_commit_gets_its_first(tmp_path: Path) -> None:
    root = tmp_path / "v"
    root.mkdir()
    git(root, "init", "-q")
    with opened(root) as vault:
        assert "It is empty." in done(vault, "memory_view", path="")
        assert done(vault, "list_memory_keys") == "[]"
        done(vault, "memory_create", path="t.md", file_text="t\n")
    assert commits(root) == ["memory_create: t.md"]


def test_GIT_06_a_lock_of_git_that_stays_is_named_and_not_removed(root: Path) -> None:
    (root / ".git/index.lock").touch()
    with opened(root, Options(lock_wait=1.0)) as vault:
        told = refused(vault, "memory_str_replace", path="a.md", old_str="a", new_str="b")
    assert ".git/index.lock" in told
    assert (root / ".git/index.lock").exists()
    assert (root / "a.md").read_text() == "a\n"


def test_GIT_09_submodules_and_nested_repositories_are_left_to_themselves(root: Path, tmp_path: Path) -> None:
    other = make_vault(tmp_path / "other", {"x.md": "x\n"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    git(root, "commit", "-qm", "submodule")
    git(root, "init", "-q", "proj")
    with opened(root) as vault:
        for tool, arguments in (
            ("memory_str_replace", {"path": "sub/x.md", "old_str": "x", "new_str": "y"}),
            ("memory_create", {"path": "proj/y.md", "file_text": "y\n"}),
            ("memory_view", {"path": "sub/x.md"}),
            ("memory_delete", {"path": "sub"}),
            ("memory_rename", {"old_path": "a.md", "new_path": "proj/a.md"}),
        ):
            assert "repository of its own" in refused(vault, tool, **arguments)
    assert git(root, "ls-files", "-s", "sub").startswith("160000 ")
    assert (root / "sub/x.md").read_text() == "x\n"


def test_GIT_16_bytes_are_kept_whatever_git_would_make_of_line_ends(root: Path) -> None:
    git(root, "config", "core.autocrlf", "true")
    with opened(root) as vault:
        done(vault, "memory_create", path="c2.md", file_text="a\r\nb\r\n")
        done(vault, "memory_str_replace", path="c2.md", old_str="b", new_str="c\nd")
    assert (root / "c2.md").read_bytes() == b"a\r\nc\r\nd\r\n"
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "diff") == ""


def test_GIT_18_nothing_is_written_where_git_would_not_look(root: Path) -> None:
    (root / ".gitignore").write_text("private/\n*.key\n")
    with opened(root) as vault:
        for path in ("private/p.md", "sub/x.key"):
            assert "ignored by Git" in refused(vault, "memory_create", path=path, file_text="secret\n")
        assert "ignored by Git" in refused(vault, "memory_rename", old_path="a.md", new_path="private/a.md")
    assert not (root / "private").exists()
    assert not (root / "sub").exists()
    assert git(root, "log", "--all", "--format=%s", "--", "private", "sub") == ""


def test_GIT_21_what_a_person_has_staged_or_left_is_not_swept_up(root: Path) -> None:
    write_files(root, {"b.md": "staged\n", "c.md": "changed\n", "d.md": "new\n"})
    git(root, "add", "b.md")
    staged = git(root, "ls-files", "-s", "b.md")
    with opened(root, Options(hand_edits="leave")) as vault:
        done(vault, "memory_str_replace", path="a.md", old_str="a", new_str="A")
        done(vault, "write_memory", key="k", value="v")
    assert git(root, "log", "-2", "--format=", "--name-only").split() == ["keys/k.md", "a.md"]
    assert git(root, "ls-files", "-s", "b.md") == staged
    assert git(root, "status", "--porcelain").splitlines() == ["M  b.md", " M c.md", "?? d.md"]


def test_GIT_22_a_commit_from_outside_is_not_undone_by_the_next_call(root: Path) -> None:
    write_files(root, {"b.md": "other\n"})
    git(root, "commit", "-qam", "other")
    outside = git(root, "rev-parse", "HEAD").strip()
    git(root, "reset", "-q", "--hard", "HEAD~1")
    with opened(root) as vault:
        done(vault, "memory_view", path="")
        git(
            root, "merge", "-q", "--ff-only", outside
        )  # file and commit at once: no edit that we would commit
        done(vault, "memory_str_replace", path="a.md", old_str="a", new_str="A")
    assert git(root, "rev-parse", "HEAD~1").strip() == outside
    assert git(root, "show", "HEAD:b.md") == "other\n"
    assert changed(root) == ["a.md"]


def test_GIT_25_a_client_cannot_write_headers_or_be_somebody_else(root: Path) -> None:
    for name in ("Eve\ncommitter Root <r@x> 0 +0000", "A <b@c>", PERSON):
        with greeted(root, "--no-watch", agent=name) as server:
            server.text("write_memory", key="who", value=name)
        raw = git(root, "cat-file", "-p", "HEAD").partition("\n\n")[0].splitlines()
        assert [line.split()[0] for line in raw] == ["tree", "parent", "author", "committer"]
        assert raw[3].startswith("committer vault-mcp <vault-mcp@vault-mcp.invalid>")
        assert "@agent.invalid>" in raw[2]


def test_GIT_27_an_equal_value_or_text_makes_no_commit(root: Path) -> None:
    with opened(root) as vault:
        done(vault, "write_memory", key="k", value="v")
        before = git(root, "rev-list", "--count", "HEAD")
        done(vault, "write_memory", key="k", value="v")
        done(vault, "memory_str_replace", path="a.md", old_str="a", new_str="a")
        done(vault, "memory_insert", path="a.md", insert_line=1, insert_text="x")
        done(vault, "memory_str_replace", path="a.md", old_str="x\n")
    assert int(git(root, "rev-list", "--count", "HEAD")) == int(before) + 2
    assert clean(root)


def test_GIT_29_names_in_any_script_are_readable_in_history(root: Path) -> None:
    with opened(root) as vault:
        done(vault, "memory_create", path="日本.md", file_text="1\n")
        done(vault, "write_memory", key="東京/駅", value="1")
        done(vault, "memory_rename", old_path="日本.md", new_path="Ελλάδα.md")
    assert commits(root)[:3] == [
        "memory_rename: 日本.md -> Ελλάδα.md",
        "write_memory: 東京/駅",
        "memory_create: 日本.md",
    ]


def test_GIT_38_the_time_in_the_trailer_is_the_authors_in_utc(root: Path) -> None:
    with greeted(root, "--no-watch", TZ="Asia/Kolkata") as server:
        server.text("memory_create", path="t.md", file_text="t\n")
    said = git(
        root,
        "log",
        "-1",
        "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
        "--format=%(trailers:key=Edited-At,valueonly)",
    )
    at = int(git(root, "log", "-1", "--format=%at"))
    assert said.strip() == git(root, "log", "-1", "--format=%ad", "--date=format:%Y-%m-%dT%H:%M:%SZ").strip()
    assert abs(int(git(root, "log", "-1", "--format=%ct")) - at) <= 2
    assert authors(root)[0] == "raw"

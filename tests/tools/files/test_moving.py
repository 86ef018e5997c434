"""Delete and rename: files and folders, one commit, nothing lost that Git does not have."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.vaults import CLAUDE, PERSON, authors, clean, commits, git, make_vault, opened, write_files
from vault_mcp.errors import AlreadyThere, BadArgument, NotFound, PathRefused
from vault_mcp.tools.files.moving import memory_delete, memory_rename
from vault_mcp.vault import Options


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {"a.md": "1\n", "b.md": "2\n", "d/c.md": "3\n", "d/e/f.md": "4\n"}
    root = make_vault(tmp_path / "v", files)
    (root / "d/pic.png").write_bytes(b"\x89PNG\x00\xff")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "picture")
    return root


def delete(root: Path, path: str) -> str:
    with opened(root) as vault:
        return memory_delete(vault, CLAUDE, path)


def rename(root: Path, old: str, new: str, options: Options | None = None) -> str:
    with opened(root, options) as vault:
        return memory_rename(vault, CLAUDE, old, new)


def files(root: Path) -> list[str]:
    """Give the files that are committed, without the two that the vault laid down."""
    return [p for p in git(root, "ls-files", "-z").split("\0") if p and not p.startswith(".")]


# -- delete


def test_a_file_is_deleted_and_can_be_brought_back(root: Path) -> None:
    told = delete(root, "a.md")
    assert told.splitlines() == [
        "Successfully deleted a.md",
        "History keeps it: history_restore, or a person's vault-mcp restore, brings it back.",
        f"Commit {git(root, 'rev-parse', 'HEAD')[:12]}.",
    ]
    assert not (root / "a.md").exists()
    assert git(root, "show", "HEAD~1:a.md") == "1\n"
    assert commits(root)[0] == "memory_delete: a.md"
    assert clean(root)


def test_a_folder_goes_with_all_that_is_in_it_in_one_commit(root: Path) -> None:
    before = len(commits(root))
    assert "Files deleted: 3." in delete(root, "/memories/d/")
    assert files(root) == ["a.md", "b.md"]
    assert not (root / "d").exists()
    assert len(commits(root)) == before + 1
    assert clean(root)


def test_what_was_never_committed_goes_into_history_first(root: Path) -> None:
    write_files(root, {"d/new.md": "not yet seen\n", "d/c.md": "edited\n"})
    delete(root, "d")
    assert git(root, "show", "HEAD~1:d/new.md") == "not yet seen\n"
    assert git(root, "show", "HEAD~1:d/c.md") == "edited\n"
    assert authors(root)[:2] == ["claude-desktop", PERSON]


@pytest.mark.parametrize("path", ["", "/", "/memories", ".", "d/.."])
def test_the_root_is_never_deleted_or_renamed(root: Path, path: str) -> None:
    with pytest.raises(PathRefused):
        delete(root, path)
    with pytest.raises(PathRefused):
        rename(root, path, "elsewhere")
    assert len(files(root)) == 5


def test_a_missing_path_is_named_in_the_words_of_the_standard(root: Path) -> None:
    with pytest.raises(NotFound, match=r"^Error: The path nope\.md does not exist\.$"):
        delete(root, "nope.md")
    with pytest.raises(NotFound, match=r"^Error: The path nope\.md does not exist\.$"):
        rename(root, "nope.md", "x.md")


def test_what_git_ignores_could_not_be_brought_back_and_stays(root: Path) -> None:
    (root / ".gitignore").write_text("*.log\n")
    write_files(root, {"only.log": "x", "d/run.log": "x", "logs/a.log": "x"})
    for path in ("only.log", "logs"):
        with pytest.raises(PathRefused, match="ignored by Git"):
            delete(root, path)
        with pytest.raises(PathRefused, match="ignored by Git"):
            rename(root, path, "kept")
    told = delete(root, "d")
    assert "was left in place" in told
    assert (root / "d/run.log").read_text() == "x"
    assert not (root / "d/c.md").exists()


def test_hidden_files_odd_names_and_repositories_in_a_folder_stay(root: Path) -> None:
    odd = os.fsdecode(b"odd\xff.md")
    write_files(root, {"d/.DS_Store": "x", "d/.obsidian/app.json": "{}"})
    (root / "d" / odd).write_text("x")
    git(root / "d", "init", "-q", "proj")
    write_files(root, {"d/proj/mine.md": "x"})
    told = rename(root, "d", "moved")
    assert "Files moved: 3. What in it is hidden, ignored by Git or a repository of its own was left" in told
    assert sorted(os.listdir(root / "d")) == sorted([".DS_Store", ".obsidian", odd, "proj"])
    assert (root / "d/proj/mine.md").read_text() == "x"


def test_a_folder_without_files_is_nothing_to_delete_or_move(root: Path) -> None:
    (root / "void/inner").mkdir(parents=True)
    with pytest.raises(NotFound, match="folder without files"):
        delete(root, "void")
    with pytest.raises(NotFound, match="folder without files"):
        rename(root, "void", "full")


# -- rename


def test_a_file_moves_with_its_history_and_makes_the_folders_it_needs(root: Path) -> None:
    told = rename(root, "a.md", "new/dir/a.md")
    assert told.splitlines()[0] == "Successfully renamed a.md to new/dir/a.md"
    assert (root / "new/dir/a.md").read_text() == "1\n"
    assert not (root / "a.md").exists()
    assert git(root, "log", "--follow", "--format=%s", "new/dir/a.md").splitlines()[-1] == "start"
    assert commits(root)[0] == "memory_rename: a.md -> new/dir/a.md"
    assert clean(root)


def test_a_folder_moves_whole_in_one_commit(root: Path) -> None:
    before = len(commits(root))
    assert "Files moved: 3." in rename(root, "d", "x/y")
    assert files(root) == ["a.md", "b.md", "x/y/c.md", "x/y/e/f.md", "x/y/pic.png"]
    assert (root / "x/y/pic.png").read_bytes() == b"\x89PNG\x00\xff"
    assert not (root / "d").exists()
    assert len(commits(root)) == before + 1
    assert clean(root)


@pytest.mark.parametrize("new", ["b.md", "d", "a.md", "/memories/b.md", "B.md"])
def test_nothing_is_ever_overwritten(root: Path, new: str) -> None:
    before = files(root)
    with pytest.raises(AlreadyThere) as error:
        rename(root, "a.md", new)
    assert str(error.value).startswith(f"Error: The destination {new} already exists")
    assert files(root) == before


@pytest.mark.parametrize(("old", "new"), [("d", "d/e/g"), ("d", "d/x"), ("d/e", "d/e/e2/e3")])
def test_a_folder_does_not_move_into_itself(root: Path, old: str, new: str) -> None:
    with pytest.raises(BadArgument, match="cannot be moved into itself"):
        rename(root, old, new)


def test_nothing_moves_into_a_file(root: Path) -> None:
    with pytest.raises(PathRefused, match=r"b\.md is no folder"):
        rename(root, "a.md", "b.md/a.md")
    with pytest.raises(PathRefused, match=r"a\.md is no folder"):
        rename(root, "a.md", "a.md/a.md")


def test_a_folder_may_move_next_to_a_name_that_begins_like_its_own(root: Path) -> None:
    rename(root, "d", "d2/e")
    assert (root / "d2/e/c.md").exists()


@pytest.mark.parametrize(("old", "new"), [("a.md", "A.md"), ("d", "D"), ("d/e", "d/E")])
def test_case_alone_can_be_renamed(root: Path, old: str, new: str) -> None:
    before = len(files(root))
    rename(root, old, new)
    assert len(files(root)) == before
    assert any(path == new or path.startswith(new + "/") for path in files(root))
    assert clean(root)


def test_a_file_may_take_the_place_of_a_folder_that_it_leaves_empty(root: Path) -> None:
    write_files(root, {"x/y.md": "y\n"})
    rename(root, "x/y.md", "x2.md")
    rename(root, "x2.md", "x")
    assert (root / "x").read_text() == "y\n"
    assert clean(root)


@pytest.mark.parametrize("new", [".git/x", "../x.md", "x?.md", "/etc/x.md", ".obsidian/x.md", "", "nul.md"])
def test_a_destination_that_the_vault_cannot_hold_is_refused(root: Path, new: str) -> None:
    before = files(root)
    with pytest.raises((PathRefused, AlreadyThere)):
        rename(root, "a.md", new)
    assert files(root) == before


def test_a_destination_that_git_ignores_is_refused(root: Path) -> None:
    (root / ".gitignore").write_text("private/\n")
    with pytest.raises(PathRefused, match="ignored by Git"):
        rename(root, "a.md", "private/a.md")
    assert (root / "a.md").exists()


def test_links_follow_unless_the_vault_says_otherwise(root: Path) -> None:
    write_files(root, {"n.md": "see [[d/c]] and ![[pic.png|200]]\n"})
    told = rename(root, "d", "x")
    assert "Links that follow it: 1." in told
    assert (root / "n.md").read_text() == "see [[c]] and ![[pic.png|200]]\n"
    rename(root, "b.md", "bb.md")
    write_files(root, {"n.md": "see [[bb]]\n"})
    told = rename(root, "bb.md", "bbb.md", Options(rename_links=False))
    assert (root / "n.md").read_text() == "see [[bb]]\n"
    assert "Links" not in told


def test_a_move_is_seen_by_git_as_one(root: Path) -> None:
    rename(root, "d", "x")
    seen = subprocess.run(
        ["git", "show", "-M", "--format=", "--name-status", "HEAD"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert [line.split("\t")[0] for line in seen.splitlines()] == ["R100"] * 3


def test_a_file_needs_a_name_where_it_goes_and_a_folder_may_end_in_a_slash(root: Path) -> None:
    write_files(root, {"link.md": "[[a]]\n"})
    with pytest.raises(
        PathRefused, match=r"^A file name is missing at the end of the path sub2/: .*/notes\.md\.$"
    ):
        rename(root, "a.md", "sub2/")
    assert (root / "a.md").read_text() == "1\n"
    assert (root / "link.md").read_text() == "[[a]]\n"
    assert not (root / "sub2").exists()
    rename(root, "d/", "sub2/")
    assert (root / "sub2/e/f.md").read_text() == "4\n"
    assert clean(root)

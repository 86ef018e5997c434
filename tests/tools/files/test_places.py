"""What a caller's path means, on real folders."""

import os
import unicodedata
from pathlib import Path

import pytest

from tests.vaults import git, make_vault, opened, write_files
from vault_mcp.errors import AlreadyThere, PathRefused
from vault_mcp.tools.files import places
from vault_mcp.tools.files.places import Place, there


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {"a.md": "1\n", "notes/Plan.md": "2\n", "memories/2026/m.md": "3\n", "memories/a.md": "4\n"}
    return make_vault(tmp_path / "v", files)


def new(root: Path, said: str, moved: Place | None = None) -> str:
    with opened(root) as vault, vault.change("test", by="t") as change:
        return places.new(change, said, exists="File {} already exists", moved=moved)


@pytest.mark.parametrize("said", ["", "/", ".", "./", "/memories", "/memories/", "//"])
def test_the_root_has_several_names(root: Path, said: str) -> None:
    place = there(str(root), said)
    assert (place.path, place.kind) == ("", "folder")
    assert place.said == (said or "/")


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("a.md", "a.md"),
        ("./notes//Plan.md", "notes/Plan.md"),
        ("notes/", "notes"),
        ("/a.md", "a.md"),
        ("/memories/a.md", "a.md"),
        ("/memories/notes/Plan.md", "notes/Plan.md"),
        ("memories/a.md", "memories/a.md"),
        ("/memories/2026/m.md", "memories/2026/m.md"),
        ("/memories/memories/a.md", "memories/a.md"),
        ("/memories/memories", "memories"),
    ],
)
def test_a_path_may_be_relative_or_below_memories(root: Path, said: str, path: str) -> None:
    place = there(str(root), said)
    assert (place.path, place.said) == (path, said)
    assert place.kind is not None


def test_another_spelling_finds_the_one_file_that_it_can_mean(root: Path) -> None:
    assert there(str(root), "NOTES/plan.MD").path == "notes/Plan.md"


def test_the_exact_spelling_comes_first_and_twins_are_told_apart(root: Path) -> None:
    composed, decomposed = "é.md", unicodedata.normalize("NFD", "é.md")
    write_files(root, {composed: "c", decomposed: "d", "LOG.md": "L", "log.md": "l"})
    assert there(str(root), composed).path == composed
    assert there(str(root), decomposed).path == decomposed
    assert there(str(root), "log.md").path == "log.md"
    assert there(str(root), "Log.md").kind is None


def test_a_file_that_a_mac_wrote_decomposed_is_found_composed(root: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "Zürich/café.md")
    write_files(root, {decomposed: "x"})
    assert there(str(root), "Zürich/café.md").path == decomposed


def test_what_is_not_there_has_no_kind(root: Path) -> None:
    assert there(str(root), "nope.md") == Place("nope.md", "nope.md", None)
    assert there(str(root), "/etc/hostname") == Place("etc/hostname", "/etc/hostname", None)
    assert there(str(root), "/memoriesX/a.md").kind is None


@pytest.mark.parametrize(
    "said",
    ["..", "../v/a.md", "notes/../../x", "/memories/../a.md", "notes\\Plan.md", "C:/a.md", "%2e%2e/a.md"],
)
def test_what_leads_out_is_refused(root: Path, said: str) -> None:
    with pytest.raises(PathRefused):
        there(str(root), said)
    with pytest.raises(PathRefused):
        new(root, said)


@pytest.mark.parametrize(
    "said", [".git/config", "a/.gitattributes", ".obsidian/app.json", ".vault-mcp.toml", "a/.x/b"]
)
def test_what_no_tool_may_touch_is_refused(root: Path, said: str) -> None:
    for path in (said, f"/memories/{said}", said.upper()):
        with pytest.raises(PathRefused):
            there(str(root), path)
        with pytest.raises(PathRefused):
            new(root, path)


def test_a_person_may_have_names_that_a_new_file_may_not(root: Path) -> None:
    write_files(root, {"What?.md": "x"})
    assert there(str(root), "What?.md").kind == "file"
    with pytest.raises(PathRefused, match="Windows"):
        new(root, "Why?.md")


def test_links_and_pipes_are_refused_wherever_they_stand(root: Path) -> None:
    os.symlink("a.md", root / "link.md")
    os.symlink("..", root / "up")
    os.mkfifo(root / "pipe.md")
    for said in ("link.md", "up", "up/v/a.md", "pipe.md"):
        with pytest.raises(PathRefused, match="leaves alone"):
            there(str(root), said)
    with pytest.raises(PathRefused, match="symbolic link"):
        new(root, "up/new.md")


def test_a_repository_of_its_own_is_left_alone(root: Path) -> None:
    git(root, "init", "-q", "proj")
    write_files(root, {"proj/sub/x.md": "x"})
    for said in ("proj", "proj/sub", "proj/sub/x.md", "proj/y.md", "proj/new/y.md"):
        with pytest.raises(PathRefused, match="repository of its own"):
            there(str(root), said)
    for said in ("proj/y.md", "proj/new/y.md"):
        with pytest.raises(PathRefused, match="repository of its own"):
            new(root, said)


# -- new paths


def test_a_new_path_comes_back_as_the_vault_writes_it(root: Path) -> None:
    assert new(root, "./x//y/new.md") == "x/y/new.md"
    assert new(root, "/memories/new.md") == "new.md"
    assert new(root, "memories/new.md") == "memories/new.md"


def test_a_new_file_goes_into_the_folder_that_is_there_in_its_own_spelling(root: Path) -> None:
    assert new(root, "Notes/new.md") == "notes/new.md"


def test_a_new_path_like_one_of_the_host_is_refused(root: Path) -> None:
    for said in ("/etc/motd", "/new.md", "//new.md", "/memoriesX/new.md"):
        with pytest.raises(PathRefused, match="is absolute"):
            new(root, said)


@pytest.mark.parametrize(
    "said", ["a.md", "/memories/a.md", "notes", "notes/Plan.md", "A.MD", "notes/plan.md", "", "/"]
)
def test_what_is_there_in_any_spelling_is_not_made_again(root: Path, said: str) -> None:
    with pytest.raises(AlreadyThere, match="already exists"):
        new(root, said)


def test_a_twin_in_another_unicode_form_is_the_same_file_elsewhere(root: Path) -> None:
    write_files(root, {unicodedata.normalize("NFD", "é.md"): "x"})
    with pytest.raises(AlreadyThere):
        new(root, "é.md")


def test_a_file_that_is_in_the_cloud_keeps_its_place(root: Path) -> None:
    write_files(root, {".far.md.icloud": "bplist"})
    with pytest.raises(AlreadyThere):
        new(root, "far.md")


def test_nothing_goes_into_a_file(root: Path) -> None:
    with pytest.raises(PathRefused, match=r"a\.md is no folder"):
        new(root, "a.md/x.md")
    with pytest.raises(PathRefused, match=r"a\.md is no folder"):
        new(root, "A.md/deep/x.md")


def test_a_file_may_become_its_own_twin_and_nothing_elses(root: Path) -> None:
    moved = there(str(root), "notes/Plan.md")
    assert new(root, "notes/plan.md", moved) == "notes/plan.md"
    with pytest.raises(AlreadyThere):
        new(root, "notes/Plan.md", moved)
    with pytest.raises(AlreadyThere):
        new(root, "A.md", moved)


def test_a_folder_may_become_its_own_twin_and_nothing_elses(root: Path) -> None:
    moved = there(str(root), "notes")
    assert new(root, "Notes", moved) == "Notes"
    with pytest.raises(AlreadyThere, match="as memories"):
        new(root, "Memories", moved)

"""A folder becomes a vault: what a person has there keeps its bytes, and history says where it came from."""

import os
import shutil
from pathlib import Path

import pytest

from tests.ordinary import being_ordinary, folder_of_an_ordinary_user
from tests.vaults import clean, commits, git, write_files
from vault_mcp import adopt as adoption
from vault_mcp.adopt import ATTRIBUTES, IGNORE, adopt
from vault_mcp.errors import RepositoryRefused, StorageFailed

SAMPLE = Path(__file__).resolve().parent.parent / "sample_vault"

OBSIDIAN = {
    "Plan.md": "# Plan\r\n\r\n[[Other]]\r\n",
    "Other.md": "no newline at the end",
    ".obsidian/app.json": "{}",
    ".obsidian/workspace.json": '{"main": 1}',
    "a folder/picture.png": "\x00\x01not really",
    ".trash/Old.md": "thrown away",
    "node.md~": "a copy an editor made",
}


def seen(root: Path) -> dict[str, tuple[bytes, int, int]]:
    """Give every file outside Git's folder with its bytes, time and permissions."""
    found = {}
    for path in root.rglob("*"):
        if path.is_file() and ".git" not in path.relative_to(root).parts:
            stat = path.stat()
            found[path.relative_to(root).as_posix()] = (path.read_bytes(), stat.st_mtime_ns, stat.st_mode)
    return found


def tracked(root: Path) -> set[str]:
    return set(git(root, "ls-files", "-z").split("\0")) - {""}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def test_an_empty_or_missing_folder_becomes_a_vault(root: Path) -> None:
    done = adopt(str(root))

    assert done.made_repository
    assert done.added == {".gitignore": IGNORE, ".gitattributes": ATTRIBUTES}
    assert (root / ".gitignore").read_text() == "".join(f"{line}\n" for line in IGNORE)
    assert done.commit == git(root, "rev-parse", "HEAD").strip()
    assert tracked(root) == {".gitignore", ".gitattributes"}
    assert clean(root)


def test_an_obsidian_vault_is_adopted_and_nothing_in_it_is_touched(root: Path) -> None:
    write_files(root, OBSIDIAN)
    before = seen(root)

    done = adopt(str(root))

    after = seen(root)
    assert {path: after[path] for path in before} == before
    assert after.keys() - before.keys() == {".gitignore", ".gitattributes"}
    assert tracked(root) == {
        ".gitignore",
        ".gitattributes",
        "Plan.md",
        "Other.md",
        "a folder/picture.png",
    }
    assert done.files == 3
    assert commits(root) == [
        "import: 3 files that were here",
        "import: keep line ends, ignore what Obsidian rewrites",
    ]
    assert git(root, "show", "HEAD:Plan.md") == OBSIDIAN["Plan.md"].replace("\r\n", "\n")  # text mode
    assert git(root, "log", "--format=%(trailers:key=Tool,valueonly,separator=)").split() == ["import"] * 2


def test_the_person_is_the_author_and_the_vault_the_committer(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(root.parent / "config"))
    (root.parent / "config").write_text("[user]\n\tname = Ann Person\n\temail = ann@example.org\n")
    adopt(str(root))
    assert (
        git(root, "log", "-1", "--format=%an <%ae> %cn").strip() == "Ann Person <ann@example.org> vault-mcp"
    )


def test_a_repository_with_a_history_gains_the_missing_lines_alone(root: Path) -> None:
    write_files(root, {"a.md": "1\n", ".gitignore": "*.log\n.trash/", "left.md": "not yet added\n"})
    git(root, "init", "-q")
    git(root, "-c", "user.name=Ann", "-c", "user.email=a@b", "add", "a.md", ".gitignore")
    git(root, "-c", "user.name=Ann", "-c", "user.email=a@b", "commit", "-q", "-m", "mine")
    write_files(root, {"a.md": "changed\n"})

    done = adopt(str(root))

    assert not done.made_repository
    assert done.added[".gitignore"] == (".obsidian/workspace*.json", ".DS_Store")
    assert (root / ".gitignore").read_text() == "*.log\n.trash/\n.obsidian/workspace*.json\n.DS_Store\n"
    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == [".gitattributes", ".gitignore"]
    assert git(root, "status", "--porcelain").splitlines() == [" M a.md", "?? left.md"]


def test_a_repository_without_a_history_is_imported_whole(root: Path) -> None:
    write_files(root, {"a.md": "1\n"})
    git(root, "init", "-q")
    assert adopt(str(root)).files == 1
    assert clean(root)


def test_a_vault_is_left_as_it_is(root: Path) -> None:
    write_files(root, OBSIDIAN)
    adopt(str(root))
    before = seen(root), git(root, "rev-parse", "HEAD")
    done = adopt(str(root))
    assert (done.made_repository, done.added, done.commit, done.files) == (False, {}, None, 0)
    assert (seen(root), git(root, "rev-parse", "HEAD")) == before


def test_the_sample_vault_needs_no_line_and_comes_in_whole(root: Path) -> None:
    shutil.copytree(SAMPLE, root)
    done = adopt(str(root))
    assert done.added == {}
    assert commits(root) == [f"import: {done.files} files that were here"]
    assert git(root, "status", "--porcelain") == "?? .obsidian/\n"


def test_of_hidden_files_only_those_that_a_team_shares_go_into_history(root: Path) -> None:
    shared = {".gitignore": ".trash/\n", ".vault-mcp.toml": 'hand_edits = "leave"\n'}
    write_files(root, {**shared, ".env": "TOKEN=1\n", ".obsidian/plugins/x/data.json": "{}"})
    adopt(str(root))
    assert tracked(root) == {".gitattributes", *shared}


def test_a_person_who_decides_about_line_ends_is_not_overruled(root: Path) -> None:
    write_files(root, {".gitattributes": "* text=auto\n"})
    adopt(str(root))
    assert (root / ".gitattributes").read_text() == "* text=auto\n*.md merge=vault\n"


def test_files_with_windows_line_ends_gain_lines_with_windows_line_ends(root: Path) -> None:
    write_files(root, {".gitignore": "*.log\r\nbuild"})
    adopt(str(root))
    assert (root / ".gitignore").read_bytes().split(b"\r\n")[:2] == [b"*.log", b"build"]
    assert b"\n" not in (root / ".gitignore").read_bytes().replace(b"\r\n", b"")


def test_what_cannot_be_taken_in_is_left_out_and_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(root, {"a.md": "1\n", "huge.bin": "x"})
    with (root / "huge.bin").open("ab") as huge:
        huge.truncate(65 * 1024 * 1024)  # sparse: takes no room
    with open(os.path.join(os.fsencode(root), b"caf\xe9.md"), "wb") as odd:
        odd.write(b"not UTF-8 by name")

    done = adopt(str(root))

    assert done.files == 1
    assert [name.encode("utf-8", "surrogateescape") for name in done.left_out] == [b"caf\xe9.md", b"huge.bin"]
    assert "a.md" in tracked(root)


def test_much_is_taken_in_by_several_commits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adoption, "BATCH", 10)
    write_files(root, {f"{i}.md": "12345\n" for i in range(5)})
    assert adopt(str(root)).files == 5
    assert [subject.split()[1] for subject in commits(root)[:3]] == ["1", "2", "2"]
    assert clean(root)


# -- what is refused, before anything is made


def test_a_folder_inside_another_repository_is_refused_with_what_to_do(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for inner in ("notes", "not/there/yet"):
        if inner == "notes":
            (tmp_path / inner).mkdir()
        with pytest.raises(RepositoryRefused) as refused:
            adopt(str(tmp_path / inner))
        assert "lies inside another Git repository" in str(refused.value)
        assert "vault-mcp init DIR" in str(refused.value)
    assert not (tmp_path / "not").exists()
    assert list((tmp_path / "notes").iterdir()) == []


def test_a_folder_inside_another_repository_gets_its_own_when_that_is_meant(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    done = adopt(str(tmp_path / "notes"), nested=True)
    assert done.around == str(tmp_path)
    assert clean(tmp_path / "notes")


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "b.git")
    before = sorted((tmp_path / "b.git").iterdir())
    with pytest.raises(RepositoryRefused, match="bare"):
        adopt(str(tmp_path / "b.git"))
    assert sorted((tmp_path / "b.git").iterdir()) == before


def test_a_folder_that_cannot_be_made_or_written_is_refused_in_one_sentence() -> None:
    with folder_of_an_ordinary_user() as place:
        shut = place / "shut"
        shut.mkdir()
        with being_ordinary(place):
            shut.chmod(0o555)
            with pytest.raises(StorageFailed, match=r"cannot be made \(Permission denied\)"):
                adopt(str(shut / "vault"))
            with pytest.raises(StorageFailed) as failed:
                adopt(str(shut))
            assert str(place) not in str(failed.value)

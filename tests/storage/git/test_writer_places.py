"""What a commit may put where: modes, folders, names, and what leads out of the vault."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.git.vaults import AGENT, AT, Vault
from vault_mcp.errors import PathRefused, Stale
from vault_mcp.storage.files import FileStat
from vault_mcp.storage.git.message import Message
from vault_mcp.storage.git.writer import Write, blob_id

# -- modes, folders, names


def test_modes_are_kept_in_git_and_on_disk(vault: Vault) -> None:
    os.chmod(vault.root / "a.md", 0o755)
    vault.git("commit", "-qam", "executable")
    os.chmod(vault.root / "b.md", 0o600)

    vault.commit({"a.md": "A\n", "b.md": "B\n", "new.md": "n\n"})

    assert {line.split()[3]: line.split()[0] for line in vault.git("ls-tree", "HEAD").splitlines()} == {
        "a.md": "100755",
        "b.md": "100644",
        "new.md": "100644",
        "people": "040000",
    }
    assert stat.S_IMODE(os.stat(vault.root / "a.md").st_mode) == 0o755
    assert stat.S_IMODE(os.stat(vault.root / "b.md").st_mode) == 0o600
    vault.assert_sound()


def test_a_persons_uncommitted_chmod_stays_theirs_to_commit(vault: Vault) -> None:
    os.chmod(vault.root / "a.md", 0o755)

    vault.commit({"a.md": "A\n"})

    assert vault.git("ls-tree", "HEAD", "a.md").startswith("100644")
    assert vault.status() == " M a.md\n"
    assert stat.S_IMODE(os.stat(vault.root / "a.md").st_mode) == 0o755


def test_a_persons_edit_takes_the_executable_bit_along(vault: Vault) -> None:
    vault.save("run.sh", "true\n")
    os.chmod(vault.root / "run.sh", 0o755)

    vault.commit({"run.sh": "true\n"}, write_files=False)

    assert vault.git("ls-tree", "HEAD", "run.sh").startswith("100755")
    vault.assert_sound()


def test_a_mode_can_be_asked_for(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        write = vault.seen("x.sh", "true\n", mode=0o100755)
        writer.commit({"x.sh": write}, Message("x"), author=AGENT, at=AT)

    assert vault.git("ls-tree", "HEAD", "x.sh").startswith("100755")
    assert stat.S_IMODE(os.stat(vault.root / "x.sh").st_mode) & 0o111
    vault.assert_sound()


def test_folders_that_a_deletion_leaves_empty_are_removed_and_others_stay(vault: Vault) -> None:
    vault.commit({"x/y/z.md": "z\n", "x/k.md": "k\n"})

    vault.commit({"x/y/z.md": None, "people/ada.md": None})

    assert not (vault.root / "x/y").exists()
    assert not (vault.root / "people").exists()
    assert (vault.root / "x/k.md").exists()
    vault.assert_sound()


def test_the_last_file_of_all_can_be_removed(vaults: Callable[..., Vault]) -> None:
    vault = vaults(notes={"a/b.md": "b\n"})

    vault.commit({"a/b.md": None})

    assert vault.git("ls-tree", "-r", "HEAD") == ""
    assert vault.there() == {}
    vault.assert_sound()
    vault.commit({"c.md": "c\n"})
    vault.assert_sound()


def test_a_name_changes_its_case_alone(vault: Vault) -> None:
    vault.commit({"a.md": None, "A.md": "a\n"})

    assert vault.git("ls-files").split() == ["A.md", "b.md", "people/ada.md"]
    assert vault.index() == vault.index_as_git_writes_it()
    vault.assert_sound()


def test_a_file_takes_the_place_of_a_folder_and_a_folder_that_of_a_file(vault: Vault) -> None:
    vault.commit({"x/deep/one.md": "1\n", "x/two.md": "2\n"})

    vault.commit({"x/deep/one.md": None, "x/two.md": None, "x": "now a file\n"})
    assert vault.text("x") == "now a file\n"
    vault.assert_sound()

    vault.commit({"x": None, "x/deep/three.md": "3\n"})
    assert vault.text("x/deep/three.md") == "3\n"
    assert vault.index() == vault.index_as_git_writes_it()
    vault.assert_sound()


def test_a_file_in_the_place_of_a_folder_that_still_holds_something_is_refused(vault: Vault) -> None:
    vault.save("people/untracked.md", "u\n")

    with pytest.raises(PathRefused, match="people"):
        vault.commit({"people/ada.md": None, "people": "x\n"})

    assert vault.text("people/ada.md") == "# Ada\n"
    assert vault.text("people/untracked.md") == "u\n"
    vault.assert_sound(clean=False)


@pytest.mark.parametrize(
    "name",
    [
        "Ada Lovelace.md",
        "日本語.md",
        "émoji 🎈.md",
        "-rf.md",
        "--output=x.md",
        "a\tb.md",
        "x 100644 a.md",
        "#.md",
    ],
)
def test_any_name_can_be_written_and_read_back(vault: Vault, name: str) -> None:
    vault.commit({name: "1\n", f"sub/{name}": "2\n"})
    done = vault.commit({name: "changed\n"})

    assert vault.repository.blob_at(done.sha, name) == b"changed\n"
    assert vault.repository.blob_at(done.sha, f"sub/{name}") == b"2\n"
    assert vault.index() == vault.index_as_git_writes_it()
    vault.assert_sound()


@pytest.mark.parametrize(
    "path",
    [
        "../out.md",
        "/etc/x.md",
        "a//b.md",
        "./a.md",
        "",
        ".git/config",
        ".GIT/config",
        "sub/.git/hooks/x",
        "git~1/config",
        ".gi\u200ct/config",
        ".git./x",
        ".git::$INDEX_ALLOCATION/x",
        "a\0b.md",
        "a\\b.md",
    ],
)
def test_a_path_that_could_leave_the_vault_or_reach_gits_folder_is_refused(vault: Vault, path: str) -> None:
    config = (vault.root / ".git/config").read_bytes()
    with vault.repository.writing() as writer, pytest.raises(PathRefused):
        writer.commit({path: Write(b"x\n")}, Message("x"), author=AGENT, at=AT)

    assert (vault.root / ".git/config").read_bytes() == config
    assert not (vault.root.parent / "out.md").exists()
    vault.assert_sound()


def test_no_write_goes_through_a_link_or_over_one(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret\n")
    (vault.root / "folder").symlink_to(outside)
    (vault.root / "file.md").symlink_to(outside / "secret.md")

    with pytest.raises(PathRefused, match="folder"):
        vault.commit({"folder/new.md": "x\n"})
    with vault.repository.writing() as writer:
        for write in (Write(b"x\n"), Write(b"x\n", files_stat(vault, "a.md"), blob_id(b"a\n"))):
            with pytest.raises((PathRefused, Stale)):
                writer.commit({"file.md": write}, Message("x"), author=AGENT, at=AT)

    assert (outside / "secret.md").read_text() == "secret\n"
    assert sorted(entry.name for entry in outside.iterdir()) == ["secret.md"]
    assert (vault.root / "file.md").is_symlink()


def files_stat(vault: Vault, path: str) -> FileStat | None:
    return vault.seen(path, None).seen


def test_submodules_and_nested_repositories_are_left_alone(vault: Vault, tmp_path: Path) -> None:
    inner = Vault.make(tmp_path / "inner", notes={"x.md": "x\n"})
    vault.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    vault.git("commit", "-qm", "submodule")
    Vault.make(vault.root / "nested", notes={"n.md": "n\n"})

    for path in ("sub/x.md", "sub/new.md", "nested/n.md", "nested/new.md"):
        with pytest.raises(PathRefused):
            vault.commit({path: "y\n"})
    vault.git("submodule", "deinit", "-q", "-f", "sub")
    with pytest.raises(PathRefused):
        vault.commit({"sub/new.md": "y\n"})

    assert vault.git("ls-files", "-s", "sub").startswith("160000")
    assert vault.git("log", "-1", "--format=%s").strip() == "submodule"

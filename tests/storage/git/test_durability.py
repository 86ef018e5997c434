"""What is there after a loss of power, by the setting `durability`."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.git.power import Disk, Loss, power_lost
from tests.storage.git.vaults import Vault
from tests.vaults import opened
from vault_mcp.errors import StorageFailed
from vault_mcp.storage.git import wal
from vault_mcp.storage.git.flush import Durability
from vault_mcp.storage.git.repository import Repository
from vault_mcp.vault import Options

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at files through /proc")

BIG = "".join(f"line {number}\n" for number in range(4000))
NEW = {
    "a.md": b"a again\n",
    "people/ada.md": b"# Ada\nby hand\n",
    "people/new/bo.md": BIG.encode() + b"more\n",
    "late.md": b"late\n",
}


def changes(vault: Vault, durability: Durability, tell: Callable[[str], None]) -> None:
    """Every kind of commit; ends with NEW on disk."""
    vault._repository = Repository.open(str(vault.root), durability=durability)
    tell(vault.commit({"a.md": "a changed\n"}, "one").sha)
    tell(vault.commit({"people/new/bo.md": BIG, "b.md": None}, "two").sha)
    tell(vault.commit({"a.md": "a again\n", "people/new/bo.md": BIG + "more\n"}, "three").sha)
    vault.save("people/ada.md", "# Ada\nby hand\n")
    tell(vault.commit({"people/ada.md": "# Ada\nby hand\n"}, "hand", write_files=False).sha)
    tell(vault.commit({"late.md": "late\n"}, "four").sha)


@pytest.mark.parametrize("lost", ["names", "bytes"])
@pytest.mark.parametrize("durability", ["wal", "fsync"])
def test_every_acknowledged_commit_is_there_after_a_loss_of_power(
    vault: Vault, tmp_path: Path, durability: Durability, lost: Loss
) -> None:
    target = tmp_path / "found"
    told = power_lost(vault.root, target, lost, lambda _, tell: changes(vault, durability, tell))
    found = Vault(target)
    Repository.open(str(target)).close()
    assert found.git("log", "--reverse", "--format=%H", "-5").split() == told
    assert found.there() == NEW
    found.assert_sound()
    found.commit({"a.md": "next\n"})
    found.assert_sound()
    found.close()


@pytest.mark.parametrize("lost", ["names", "bytes"])
@pytest.mark.parametrize("durability", ["wal", "fsync"])
def test_what_another_program_committed_is_kept_with_what_builds_on_it(
    vault: Vault, tmp_path: Path, durability: Durability, lost: Loss
) -> None:
    def action(_: Disk, tell: Callable[[str], None]) -> None:
        vault._repository = Repository.open(str(vault.root), durability=durability)
        tell(vault.commit({"a.md": "one\n"}).sha)
        vault.save("c.md", "by hand\n")
        vault.git("add", "-A")
        vault.git("commit", "-qm", "by hand")
        tell(vault.git("rev-parse", "HEAD").strip())
        tell(vault.commit({"a.md": "two\n"}).sha)

    told = power_lost(vault.root, tmp_path / "found", lost, action)
    found = Vault(tmp_path / "found")
    Repository.open(str(found.root)).close()
    assert found.git("log", "--reverse", "--format=%H", "-3").split() == told
    assert (found.text("a.md"), found.text("c.md")) == ("two\n", "by hand\n")
    found.assert_sound()


@pytest.mark.parametrize("lost", ["names", "bytes"])
def test_as_git_does_it_the_newest_may_be_lost_but_the_vault_opens_and_is_whole(
    vault: Vault, tmp_path: Path, lost: Loss
) -> None:
    before = vault.git("rev-parse", "HEAD").strip()
    target = tmp_path / "found"
    power_lost(vault.root, target, lost, lambda _, tell: changes(vault, "git", tell))
    found = Vault(target)
    Repository.open(str(target)).close()
    assert found.git("rev-parse", "HEAD").strip() == before
    found.assert_sound(clean=False)
    found.commit({"a.md": "next\n"})
    assert found.git("show", "HEAD:a.md") == "next\n"
    found.assert_sound(clean=False)
    found.close()


def test_what_was_flushed_before_and_a_commit_after_the_log_was_emptied_are_both_there(
    vault: Vault, tmp_path: Path
) -> None:
    def action(_: Disk, tell: Callable[[str], None]) -> None:
        changes(vault, "wal", tell)
        vault.repository._settle()
        assert not vault.repository._shop.log.left()
        tell(vault.commit({"late.md": "later\n"}, "five").sha)

    told = power_lost(vault.root, tmp_path / "found", "names", action)
    found = Vault(tmp_path / "found")
    Repository.open(str(found.root)).close()
    assert found.git("log", "--reverse", "--format=%H", "-6").split() == told
    assert found.there() == NEW | {"late.md": b"later\n"}
    found.assert_sound()


def test_a_torn_record_ends_the_log(vault: Vault, tmp_path: Path) -> None:
    target = tmp_path / "found"
    told = power_lost(vault.root, target, "names", lambda _, tell: changes(vault, "wal", tell))
    log = target / ".git" / "vault-mcp" / "log"
    content = bytearray(log.read_bytes())
    at = content.rindex(b"late\n")
    content[at] ^= 1
    log.write_bytes(content)
    found = Vault(target)
    Repository.open(str(target)).close()
    assert found.git("log", "--reverse", "--format=%H", "-4").split() == told[:4]
    assert "late.md" not in found.there()
    found.assert_sound()


def test_a_persons_newer_bytes_stay(vault: Vault, tmp_path: Path) -> None:
    target = tmp_path / "found"
    told = power_lost(vault.root, target, "names", lambda _, tell: changes(vault, "wal", tell))
    found = Vault(target)
    found.save("a.md", "mine\n")
    found.save("b.md", "b\n")  # what it was, but saved since
    Repository.open(str(target)).close()
    assert found.git("rev-parse", "HEAD").strip() == told[-1]
    assert found.text("a.md") == "mine\n"
    assert found.text("b.md") == "b\n"
    assert found.status().splitlines() == [" M a.md", "?? b.md"]


def test_a_record_that_does_not_fit_any_more_is_laid_aside_and_named(vault: Vault, tmp_path: Path) -> None:
    target = tmp_path / "found"
    power_lost(vault.root, target, "names", lambda _, tell: changes(vault, "wal", tell))
    found = Vault(target)
    found.save("b.md", "elsewhere\n")
    found.git("commit", "-qam", "elsewhere")
    tip = found.git("rev-parse", "HEAD")
    assert [finding.topic for finding in found.repository.state() if finding.level == "problem"] == 5 * [
        "lost"
    ]
    assert found.git("rev-parse", "HEAD") == tip
    kept = sorted((target / ".git" / "vault-mcp").glob("aside-*"))
    assert any(b"late\n" in path.read_bytes() for path in kept)
    assert not found.repository._shop.log.left()
    found.close()


def test_commits_return_where_only_the_reflog_outlived_them(vault: Vault, tmp_path: Path) -> None:
    target = tmp_path / "found"
    told = power_lost(vault.root, target, "names", lambda _, tell: changes(vault, "wal", tell))
    shutil.copytree(vault.root / ".git" / "logs", target / ".git" / "logs", dirs_exist_ok=True)
    found = Vault(target)
    Repository.open(str(target)).close()
    assert found.git("log", "--reverse", "--format=%H", "-5").split() == told
    assert found.there() == NEW
    found.assert_sound()


@pytest.mark.parametrize("what", ["commits", "trees", "everything new"])
@pytest.mark.parametrize("packed", [True, False])
def test_a_branch_whose_newest_objects_are_empty_files_is_where_it_was_last_whole(
    vault: Vault, what: str, packed: bool
) -> None:
    before = vault.git("rev-parse", "HEAD").strip()
    if packed:
        vault.git("gc", "-q")
    changes(vault, "git", lambda _: None)
    vault.close()
    tips = vault.git("rev-list", f"{before}..HEAD").split()
    listed = {"commits": tips, "trees": vault.git("log", "--format=%T", f"{before}..HEAD").split()}
    new = vault.git("rev-list", "--objects", f"{before}..HEAD").split("\n")
    listed["everything new"] = [line.split()[0] for line in new if line]
    for name in listed[what]:
        path = vault.root / ".git/objects" / name[:2] / name[2:]
        path.unlink()
        path.write_bytes(b"")
    there = vault.there()
    Repository.open(str(vault.root)).close()
    assert vault.git("rev-parse", "HEAD").strip() == before
    assert vault.there() == there == NEW
    vault.assert_sound(clean=False)
    with opened(vault.root, Options(embeddings="off")) as opened_again:
        opened_again.noticed(None)
    assert vault.git("show", "HEAD:late.md") == "late\n"
    # Nothing says that it was deleted on purpose, so that is left to the person, as any file that is missing.
    assert vault.status() == " D b.md\n"
    assert vault.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""


def test_an_empty_object_file_beside_its_packed_copy_moves_no_branch(vault: Vault) -> None:
    tip = vault.commit({"a.md": "packed\n"}).sha
    vault.close()
    vault.git("gc", "-q")
    (vault.root / ".git/objects" / tip[:2]).mkdir(exist_ok=True)
    (vault.root / ".git/objects" / tip[:2] / tip[2:]).write_bytes(b"")
    Repository.open(str(vault.root)).close()
    assert vault.git("rev-parse", "HEAD").strip() == tip
    vault.assert_sound()


def test_a_commit_that_a_person_took_back_does_not_return(vault: Vault) -> None:
    vault._repository = Repository.open(str(vault.root), durability="wal")
    vault.commit({"a.md": "a changed\n"})
    assert vault.repository._shop.log.left()
    vault.close()
    vault.git("reset", "-q", "--hard", "HEAD~1")
    tip = vault.git("rev-parse", "HEAD")
    assert vault.repository.state()
    assert vault.git("rev-parse", "HEAD") == tip
    assert vault.text("a.md") == "a\n"
    vault.assert_sound()


def test_a_file_set_back_by_hand_stays_so_where_no_power_was_lost(vault: Vault) -> None:
    vault._repository = Repository.open(str(vault.root), durability="wal")
    vault.commit({"a.md": "a changed\n"})
    vault.close()
    shutil.copystat(vault.root / "b.md", vault.root / "a.md")
    vault.save("a.md", "a\n")
    assert vault.repository.state()
    assert vault.text("a.md") == "a\n"


def test_a_commit_that_fails_leaves_no_record(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault._repository = Repository.open(str(vault.root), durability="wal")
    vault.commit({"b.md": "first\n"})
    tip = vault.git("rev-parse", "HEAD")
    logs = vault.root / ".git" / "logs" / "refs" / "heads" / "main"
    logs.unlink()
    logs.mkdir()
    with pytest.raises(StorageFailed):
        vault.commit({"a.md": "never\n"})
    logs.rmdir()
    vault.close()
    assert vault.repository.state()
    assert vault.git("rev-parse", "HEAD") == tip
    vault.assert_sound()


def test_two_processes_share_one_log(vault: Vault, tmp_path: Path) -> None:
    def action(_: Disk, tell: Callable[[str], None]) -> None:
        other = Vault(vault.root)
        for one in (vault, other):
            one._repository = Repository.open(str(vault.root), durability="wal")
        for number in range(6):
            tell((vault, other)[number % 2].commit({f"n{number}.md": "x\n"}).sha)
            if number == 3:
                vault.repository._settle()

    told = power_lost(vault.root, tmp_path / "found", "bytes", action)
    found = Vault(tmp_path / "found")
    Repository.open(str(found.root)).close()
    assert found.git("log", "--reverse", "--format=%H", "-6").split() == told
    found.assert_sound()


def test_a_commit_larger_than_a_record_may_be_is_flushed_whole(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_mcp.storage.git.publish.MOST_BYTES", 100)
    assert len(BIG) < wal.MOST_BYTES
    told = power_lost(vault.root, tmp_path / "found", "names", lambda _, tell: changes(vault, "wal", tell))
    found = Vault(tmp_path / "found")
    Repository.open(str(found.root)).close()
    assert found.git("log", "--reverse", "--format=%H", "-5").split() == told
    assert found.there() == NEW
    found.assert_sound()

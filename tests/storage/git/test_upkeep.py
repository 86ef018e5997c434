import os
import time
from pathlib import Path

from tests.storage.git.vaults import Vault
from vault_mcp.storage.git.upkeep import EVERY, Upkeep


def graphs(vault: Vault) -> list[Path]:
    return list((vault.root / ".git/objects/info/commit-graphs").glob("*.graph"))


def test_a_round_writes_the_commit_graph_and_no_configuration(vault: Vault) -> None:
    config = (vault.root / ".git/config").read_bytes()
    vault.commit({"a.md": "A\n"})
    assert graphs(vault) == []

    vault.repository.upkeep()

    assert vault.repository.wait_for_upkeep(20)
    assert len(graphs(vault)) == 1
    assert (vault.root / ".git/config").read_bytes() == config
    assert vault.git("commit-graph", "verify") == ""
    vault.assert_sound()


def test_many_commits_begin_a_round_by_themselves_and_few_do_not(vault: Vault) -> None:
    upkeep = Upkeep(vault.repository.program, vault.repository.common_dir)
    upkeep.count(EVERY - 1)
    assert upkeep.wait(5)
    assert graphs(vault) == []

    upkeep.count(1)

    assert upkeep.wait(20)
    assert len(graphs(vault)) == 1
    upkeep.close()


def test_enough_loose_objects_are_packed(vault: Vault) -> None:
    vault.git("config", "gc.auto", "10")
    vault.git("config", "gc.autoDetach", "false")
    with vault.repository.writing() as writer:
        for number in range(600):
            vault.commit({"a.md": f"{number}\n"}, writer=writer)

    assert vault.repository.wait_for_upkeep(60)
    vault.repository.upkeep()
    assert vault.repository.wait_for_upkeep(60)

    assert list((vault.root / ".git/objects/pack").glob("*.pack"))
    vault.commit({"a.md": "last\n"})
    vault.assert_sound()


def test_a_round_that_is_under_way_when_the_vault_is_closed_is_not_cut_off(vault: Vault) -> None:
    repository = vault.repository
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        upkeep = Upkeep(repository.program, repository.common_dir)
        upkeep.begin()
        upkeep.close()
        assert upkeep.wait(20)
        upkeep.begin()
        assert upkeep.wait(0)

    assert len(os.listdir("/proc/self/fd")) <= before
    assert len(graphs(vault)) <= 1
    vault.assert_sound()


def test_a_lock_of_a_tidying_killed_yesterday_is_removed_and_a_younger_one_is_not(vault: Vault) -> None:
    vault.git("config", "gc.auto", "1")
    vault.commit({"a.md": "A\n"})
    old, young = vault.root / ".git/objects/maintenance.lock", vault.root / ".git/packed-refs.lock"
    for lock in (old, young):
        lock.write_bytes(b"")
    yesterday = time.time() - 86_400
    os.utime(old, (yesterday, yesterday))

    vault.repository.upkeep()

    assert vault.repository.wait_for_upkeep(60)
    assert not old.exists()
    assert young.exists()
    young.unlink()
    vault.assert_sound()

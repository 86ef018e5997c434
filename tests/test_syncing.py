"""Sync in the background: by the clock, and after a quiet moment behind each change."""

from __future__ import annotations

from pathlib import Path

from tests.clones import remote_and_clones
from tests.vaults import CLAUDE, git, opened
from tests.waiting import wait_until
from vault_mcp.syncing import Syncing
from vault_mcp.tools.graph.entities import create_entities
from vault_mcp.vault import Options, Vault

COMMAND = ("vault-mcp", "merge-driver")


def begin(vault: Vault, **how: float | bool) -> Syncing:
    syncing = Syncing(vault, driver=COMMAND, **how)  # type: ignore[arg-type]  # as the test says
    vault.run_beside(syncing)
    return syncing


def remote_has(root: Path, sha: str | None) -> bool:
    return git(root, "ls-remote", "origin", "refs/heads/main").split("\t")[0] == sha


def test_a_change_is_pushed_after_a_quiet_moment_and_what_comes_is_taken_in(tmp_path: Path) -> None:
    a, b = remote_and_clones(tmp_path, files={"Plan.md": "One.\n"})
    options = Options(embeddings="off")
    with opened(a, options) as here, opened(b, options) as there:
        here.repository.register_driver(COMMAND)
        there.repository.register_driver(COMMAND)
        begin(here, on_change=True, quiet=0.05)
        create_entities(here, CLAUDE, [{"name": "Ada", "entityType": "person", "observations": ["x"]}])
        wait_until(lambda: remote_has(a, here.repository.head()), 60)
        begin(there, every=0.2)
        wait_until(lambda: there.repository.head() == here.repository.head(), 60)


def test_a_clone_in_which_nobody_ran_init_or_sync_sends_nothing(tmp_path: Path) -> None:
    a, _ = remote_and_clones(tmp_path)
    with opened(a, Options(embeddings="off")) as vault:
        create_entities(vault, CLAUDE, [{"name": "Ada", "entityType": "person", "observations": ["x"]}])
        syncing = begin(vault, on_change=True, quiet=0.05)
        wait_until(lambda: any("does not sync by itself" in trouble for trouble in vault.troubles), 60)
        assert syncing.rounds == 0
        assert not remote_has(a, vault.repository.head())


def test_a_remote_that_is_away_is_tried_again(tmp_path: Path) -> None:
    a, _ = remote_and_clones(tmp_path)
    with opened(a, Options(embeddings="off")) as vault:
        vault.repository.register_driver(COMMAND)
        (tmp_path / "remote.git").rename(tmp_path / "away.git")
        syncing = begin(vault, every=0.2)
        wait_until(lambda: syncing.rounds >= 2, 60)
        create_entities(vault, CLAUDE, [{"name": "Ada", "entityType": "person", "observations": ["x"]}])
        (tmp_path / "away.git").rename(tmp_path / "remote.git")
        wait_until(lambda: remote_has(a, vault.repository.head()), 60)
        assert vault.troubles == []

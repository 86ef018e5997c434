"""What stands between two machines: a remote that is away, hostile, or ahead."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clones import clone, remote_and_clones, sound, tree
from tests.notes.merges import BASE
from tests.sync.machines import ADA, Two, both, path, quiet, text, write
from tests.vaults import CLAUDE, CURSOR, git, make_vault
from vault_mcp.errors import BadArgument, NotFound, RepositoryRefused, StorageFailed
from vault_mcp.storage.git.environment import GitProgram
from vault_mcp.storage.git.remote import Remote, find_remote, push
from vault_mcp.sync import sync
from vault_mcp.tools.graph.observations import add_observations
from vault_mcp.vault import Vault

# -- the remote


def test_a_remote_that_is_away_is_no_error(two: Two, tmp_path: Path) -> None:
    here, _ = two
    add_observations(here, CLAUDE, [{"entityName": "Ada", "contents": ["Offline"]}])
    (tmp_path / "remote.git").rename(tmp_path / "away.git")
    done = sync(here)
    assert (done.state, done.sent) == ("offline", 0)
    (tmp_path / "away.git").rename(tmp_path / "remote.git")
    assert sync(here).sent == 1
    git(Path(here.root), "remote", "set-url", "origin", "https://nowhere.invalid/notes.git")
    assert sync(here).state == "offline"


def test_without_a_remote_it_says_how_to_name_one(tmp_path: Path) -> None:
    with quiet(make_vault(tmp_path / "a", {"A.md": "a\n"})) as vault:
        with pytest.raises(NotFound, match="vault-mcp sync REMOTE"):
            sync(vault)
        with pytest.raises(NotFound, match="no folder"):
            sync(vault, str(tmp_path / "nothing"))


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c touch% trapped",
        "--upload-pack=touch trapped",
        "ssh://-oProxyCommand=touch/x",
        "-oProxyCommand=x:y",
        "fd::3",
        "git://example.invalid/x",
        "ftp://example.invalid/x",
        "EXT::touch trapped",
    ],
)
def test_an_address_that_could_run_something_is_refused(two: Two, address: str) -> None:
    here, _ = two
    with pytest.raises((BadArgument, NotFound)):
        sync(here, address)
    git(Path(here.root), "config", "remote.origin.url", address)
    with pytest.raises((BadArgument, NotFound)):
        sync(here)
    assert not path(here, "trapped").exists()


def test_nothing_that_the_vaults_configuration_names_is_run(two: Two, tmp_path: Path) -> None:
    here, there = two
    write(there, "New.md", "x\n")
    sync(there)
    write(here, "Mine.md", "y\n")
    trap = tmp_path / "trapped"
    root = Path(here.root)
    for key in (
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
        "remote.origin.vcs",
        "remote.origin.proxy",
        "core.sshCommand",
        "core.hooksPath",
        "merge.vault.driver",
        "credential.helper",
    ):
        git(root, "config", key, f"touch '{trap}' #")
    for hook in ("pre-push", "post-merge", "reference-transaction", "post-checkout"):
        file = root / ".git/hooks" / hook
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\ntouch '{trap}'\n")
        file.chmod(0o755)
    assert sync(here).state == "in step"
    assert text(here, "New.md") == "x\n"
    assert not trap.exists()
    git(root, "config", "remote.origin.pushurl", f"ext::touch {trap}")
    assert sync(here).state == "in step"
    git(root, "config", f"url.ext::touch {trap} .insteadOf", str(tmp_path))
    with pytest.raises((BadArgument, StorageFailed)):
        sync(here)
    assert not trap.exists()


@contextlib.contextmanager
def hostile(tmp_path: Path, *index_info: str) -> Iterator[Vault]:
    """Have somebody push entries that no vault should take in; give the vault that is to be synced."""
    a, b = remote_and_clones(tmp_path, files={"A.md": "a\n"})
    blob = git(b, "hash-object", "-w", "--stdin", given="/etc/passwd").strip()
    head = git(b, "rev-parse", "HEAD").strip()
    lines = "".join(line.format(blob=blob, commit=head) for line in index_info)
    git(b, "update-index", "--index-info", given=lines)
    git(b, "commit", "-q", "-m", "hostile")
    git(b, "push", "-q")
    with quiet(a) as vault:
        yield vault


@pytest.mark.parametrize("diverged", [False, True])
@pytest.mark.parametrize(
    "entry", ["120000 {blob}\tlink\n", "160000 {commit}\tsub\n", "100644 {blob}\t.gitmodules\n"]
)
def test_links_and_other_repositories_never_reach_the_disk(
    tmp_path: Path, entry: str, diverged: bool
) -> None:
    with hostile(tmp_path, entry) as vault:
        if diverged:
            write(vault, "B.md", "b\n")
        before = git(Path(vault.root), "rev-parse", "HEAD")
        with pytest.raises((RepositoryRefused, StorageFailed), match=r"remote|origin"):
            sync(vault)
        assert git(Path(vault.root), "rev-parse", "HEAD") == before
        assert not os.path.lexists(path(vault, entry.split("\t")[1].strip()))
        assert sound(Path(vault.root))


def test_a_path_that_leaves_the_vault_is_refused(tmp_path: Path) -> None:
    a, b = remote_and_clones(tmp_path, files={"A.md": "a\n"})
    blob = git(b, "hash-object", "-w", "--stdin", given="x").strip()
    tree_ = git(b, "mktree", given=f"100644 blob {blob}\tx\n").strip()
    for name in ("..", ".git"):
        bad = git(b, "mktree", given=f"040000 tree {tree_}\t{name}\n").strip()
        commit = git(b, "commit-tree", bad, "-p", "HEAD", "-m", "bad").strip()
        git(b, "push", "-q", "-f", "origin", f"{commit}:refs/heads/main")
        with quiet(a) as vault:
            with pytest.raises((RepositoryRefused, StorageFailed)):
                sync(vault)
            assert git(a, "rev-parse", "HEAD") != commit
    assert not (tmp_path / "x").exists()


def test_an_ignored_file_is_never_overwritten_or_committed(two: Two) -> None:
    here, there = two
    write(there, "secret.md", "theirs\n")
    sync(there)
    path(here, ".git/info/exclude").write_text("secret.md\n")
    path(here, "secret.md").write_text("mine alone\n")
    with pytest.raises(RepositoryRefused, match="ignored"):
        sync(here)
    assert text(here, "secret.md") == "mine alone\n"


def test_what_somebody_pushes_meanwhile_is_merged_and_pushed_again(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = two
    write(here, "Here.md", "x\n")
    calls: list[str] = []

    def late(program: GitProgram, remote: Remote, sha: str) -> bool:
        if not calls:
            calls.append(sha)
            write(there, "There.md", "y\n")
            sync(there)
        return push(program, remote, sha)

    monkeypatch.setattr("vault_mcp.sync.push", late)
    sync(here)
    assert len(calls) == 1
    assert text(here, "There.md") == "y\n"
    sync(there)
    assert tree(Path(here.root)) == tree(Path(there.root))


def test_a_remote_with_a_password_is_shown_without_it(two: Two) -> None:
    here, _ = two
    program = here.repository.program
    assert find_remote(program, "https://ann:secret@example.org/n.git", "main").shown == (
        "https://example.org/n.git"
    )


def test_a_third_machine_moves_forward_to_a_merge_whose_other_parent_it_is_at(tmp_path: Path) -> None:
    a, b = remote_and_clones(tmp_path, files={ADA: BASE})
    with quiet(a) as here, quiet(b) as there:
        add_observations(here, CLAUDE, [{"entityName": "Ada", "contents": ["From here"]}])
        add_observations(there, CURSOR, [{"entityName": "Ada", "contents": ["From there"]}])
        sync(here)
        here.read_past()
        both((here, there))
        for vault in (here, there):
            vault.read_past()
            assert vault.index.history_head == vault.repository.head()
    c = clone(tmp_path / "remote.git", tmp_path / "c")
    with quiet(c) as fresh, quiet(a) as here:
        fresh.read_past()
        here.read_past()
        with fresh.reading() as one, here.reading() as other:
            assert one.find_commits(50).rows == other.find_commits(50).rows
            assert one.fact_versions(ADA) == other.fact_versions(ADA)

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.git.vaults import Vault
from tests.waiting import wait_until
from vault_mcp.errors import RepositoryRefused
from vault_mcp.storage.git.environment import GitProgram, find_git, safe_places
from vault_mcp.storage.git.repository import Repository


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """A file that appears when a program of the vault's is run."""
    return tmp_path / "RAN"


@pytest.fixture
def trap(tmp_path: Path, ran: Path) -> Path:
    """A program that tells that it was run, and passes its input on."""
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{ran}'\ncat\nexit 0\n")
    program.chmod(0o755)
    return program


def use_everything(vault: Vault) -> None:
    """Have every kind of child run once."""
    vault.git("update-index", "--index-version", "4")
    vault.commit({"a.md": f"{os.urandom(3).hex()}\n", "new.md": f"{os.urandom(3).hex()}\n"})
    head = vault.repository.head()
    assert head
    assert list(vault.repository.history(None, head))
    assert vault.repository.is_ancestor(head, head)
    vault.repository.ignored(["x.md"])
    vault.repository.blob(vault.raw_git("rev-parse", "HEAD:b.md", env={"GIT_TRACE": "0"}).decode().strip())
    vault.repository.state()
    vault.repository.upkeep()
    assert vault.repository.wait_for_upkeep(20)


def test_no_program_that_the_repositorys_own_configuration_names_is_run(
    vault: Vault, trap: Path, ran: Path
) -> None:
    vault.git("gc", "-q")
    hooks = vault.root / ".git/hooks"
    for name in (
        "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change",
        "reference-transaction", "pre-auto-gc", "post-checkout", "post-rewrite",
    ):  # fmt: skip
        (hooks / name).write_bytes(trap.read_bytes())
        (hooks / name).chmod(0o755)
    vault.save("x.c", "x\n")
    use_everything_with = {
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(hooks),
        "core.pager": str(trap),
        "core.editor": str(trap),
        "core.sshCommand": str(trap),
        "core.askPass": str(trap),
        "core.alternateRefsCommand": str(trap),
        "credential.helper": str(trap),
        "diff.external": str(trap),
        "diff.c.textconv": str(trap),
        "diff.c.command": str(trap),
        "filter.x.clean": str(trap),
        "filter.x.smudge": str(trap),
        "gpg.program": str(trap),
        "gpg.ssh.program": str(trap),
        "gpg.ssh.defaultKeyCommand": str(trap),
        "commit.gpgSign": "true",
        "log.showSignature": "true",
        "gc.recentObjectsHook": str(trap),
        "trailer.tool.command": str(trap),
        "uploadpack.packObjectsHook": str(trap),
        "pager.log": str(trap),
        "sequence.editor": str(trap),
        "merge.vault.driver": str(trap),
    }
    (vault.root / ".git/info/attributes").write_text("*.c diff=c filter=x\n*.md diff=c merge=vault\n")
    for key, value in use_everything_with.items():
        vault.raw_git("config", key, value, env={"GIT_CONFIG_GLOBAL": os.devnull})
    ran.unlink(missing_ok=True)

    repository = vault.repository
    (vault.root / ".git/index").write_bytes((vault.root / ".git/index").read_bytes())
    vault.commit({"a.md": "A\n", "new.md": "new\n"})
    head = repository.head()
    assert head
    assert len(list(repository.history(None, head))) == 2
    assert repository.is_ancestor(head, head)
    repository.ignored(["x.md"])
    assert repository.blob_at(head, "b.md") == b"b\n"
    repository.upkeep()
    assert repository.wait_for_upkeep(20)
    for made in ("directly", "through Git"):
        with pytest.raises(RepositoryRefused, match="vault-mcp trust DIR"):
            vault.commit({"x.c": "y\n"})
        assert any(made in finding.text for finding in repository.state())
        vault.git("config", "core.sharedRepository", "group")
    ran.unlink(missing_ok=True)
    vault.commit({"a.md": "AA\n", "new.md": "newer\n"})

    assert not ran.exists(), ran.read_text()
    assert vault.text("x.c") == "x\n"


def test_a_filter_runs_once_the_vault_is_trusted_or_when_it_is_the_users_own(
    vault: Vault, trap: Path, ran: Path
) -> None:
    vault.save(".gitattributes", "*.up filter=upper\n")
    vault.git("config", "filter.upper.clean", "tr a-z A-Z")
    with pytest.raises(RepositoryRefused, match=r"x\.up.*'upper'.*vault-mcp trust DIR"):
        vault.commit({"x.up": "loud\n"})
    assert not (vault.root / "x.up").exists()

    trusted = Repository.open(str(vault.root), trusted=True)
    vault._repository, ours = trusted, vault.repository
    ours.close()
    vault.commit({"x.up": "loud\n"})
    assert vault.git("show", "HEAD:x.up") == "LOUD\n"
    assert vault.text("x.up") == "loud\n"
    vault.git("add", ".gitattributes")
    vault.git("commit", "-qm", "attributes")
    assert vault.status() == ""
    vault.close()

    vault.git("config", "--unset", "filter.upper.clean")
    vault.git("config", "--global", "filter.upper.clean", "tr a-z A-Z")
    vault.commit({"x.up": "louder\n"})
    assert vault.git("show", "HEAD:x.up") == "LOUDER\n"
    vault.git("config", "filter.upper.clean", str(trap))
    vault.commit({"x.up": "loudest\n"})
    assert vault.git("show", "HEAD:x.up") == "LOUDEST\n"
    assert not ran.exists()


def test_a_filter_that_nothing_defines_changes_nothing(vault: Vault) -> None:
    vault.commit({".gitattributes": "*.md filter=lfs\n"})

    vault.commit({"a.md": "A\n"})

    assert vault.git("show", "HEAD:a.md") == "A\n"
    vault.assert_sound()


@pytest.mark.parametrize("entry", ["", ".", "relative", "{vault}", "{vault}/bin", "{link}"])
def test_a_program_named_git_in_the_vault_is_never_run(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, ran: Path, tmp_path: Path, entry: str
) -> None:
    for folder in (vault.root, vault.root / "bin", vault.root / "relative"):
        folder.mkdir(exist_ok=True)
        for name in ("git", "git.exe", "gpg", "sh"):
            (folder / name).write_text(f"#!/bin/sh\necho {name} >> '{ran}'\n")
            (folder / name).chmod(0o755)
    (tmp_path / "link").symlink_to(vault.root / "bin")
    entry = entry.format(vault=vault.root, link=tmp_path / "link")
    vault.git("gc", "-q")
    monkeypatch.setenv("PATH", f"{entry}:{os.environ['PATH']}")
    monkeypatch.chdir(vault.root)

    repository = Repository.open(".")
    try:
        assert os.path.isabs(repository.program.program)
        assert repository.program.program == find_git(str(vault.root), ["/usr/bin", "/usr/local/bin", "/bin"])
        head = repository.head()
        assert head
        assert repository.blob_at(head, "a.md") == b"a\n"
        assert list(repository.history(None, head))
        assert str(vault.root) not in repository.program.environment()["PATH"]
    finally:
        repository.close()
    assert not ran.exists()


def test_a_link_elsewhere_that_leads_to_a_program_in_the_vault_is_not_it(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "bin"
    vault.mkdir()
    outside.mkdir()
    (vault / "git").touch()
    (vault / "git").chmod(0o755)
    (outside / "git").symlink_to(vault / "git")

    with pytest.raises(RepositoryRefused, match="No git program"):
        find_git(str(vault), [str(outside)])
    assert safe_places(str(vault), ["", ".", "bin", str(vault), f"{vault}/x", "/usr/bin"]) == ["/usr/bin"]


def test_what_the_server_inherited_about_another_repository_is_not_passed_on(
    vault: Vault, vaults: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = vaults("other", notes={"o.md": "o\n"})
    vault.git("gc", "-q")
    for name, value in {
        "GIT_DIR": f"{other.root}/.git",
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": f"{other.root}/.git/index",
        "GIT_OBJECT_DIRECTORY": f"{other.root}/.git/objects",
        "GIT_CONFIG_PARAMETERS": "'core.bare'='true'",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_TRACE": "1",
    }.items():
        monkeypatch.setenv(name, value)

    head = vault.repository.head()
    assert head
    assert vault.repository.blob_at(head, "people/ada.md") == b"# Ada\n"
    assert [commit.subject for commit in vault.repository.history(None, head)] == ["first"]
    assert vault.repository.person().name == "Pat Person"
    done = vault.commit({"a.md": "A\n"})

    assert vault.repository.head() == done.sha
    assert not (other.root / "a.md").exists()


def test_a_remote_is_never_reached(vault: Vault, trap: Path, ran: Path) -> None:
    """A partial clone fetches what it lacks by itself, and a repository can say with which program."""
    vault.git("config", "core.repositoryFormatVersion", "1")
    vault.git("config", "extensions.partialClone", "origin")
    vault.git("config", "remote.origin.url", f"ext::{trap} %S")
    vault.git("config", "remote.origin.promisor", "true")
    vault.git("config", "remote.origin.uploadpack", str(trap))
    vault.git("config", "protocol.ext.allow", "always")
    vault.commit({"a.md": "A\n"})

    for url in (f"ext::{trap} %S", f"file://{vault.root}", str(vault.root)):
        vault.git("config", "remote.origin.url", url)
        code, _, err = vault.repository.program.attempt("cat-file", "-p", "1" * 40)
        assert code != 0
        assert b"not allowed" in err or b"not a valid" in err.lower() or b"could not fetch" in err.lower(), (
            err
        )
    assert not ran.exists()


def test_a_child_that_takes_too_long_is_ended_with_all_it_started(vault: Vault, tmp_path: Path) -> None:
    program = tmp_path / "slow"
    pid_file = tmp_path / "pid"
    program.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > '{pid_file}'\nwait\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)

    code, _, err = GitProgram(str(vault.root), str(program)).attempt("anything", timeout=0.5)

    assert (code, err) == (-1, b"it took too long")
    pid = int(pid_file.read_text())
    wait_until(
        lambda: not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_text()
    )


def test_importing_gitpython_leaves_the_environment_as_it_was(vault: Vault) -> None:
    vault.git("gc", "-q")
    before = dict(os.environ)

    assert vault.repository.blob(vault.git("rev-parse", "HEAD:a.md").strip()) == b"a\n"

    assert dict(os.environ) == before


def test_nothing_writes_the_configuration_of_the_repository_or_the_user(vault: Vault) -> None:
    files = [vault.root / ".git/config", Path(os.environ["HOME"], ".gitconfig")]
    before = [file.read_bytes() for file in files]

    use_everything(vault)

    assert [file.read_bytes() for file in files] == before

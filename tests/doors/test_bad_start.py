"""Vaults that cannot be used, or only read: each command says so in one sentence, and a server stays up."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.doors.commands import COMMAND, Commands
from tests.doors.frames import Server
from tests.tools.test_exchange import entity, jsonl, official
from tests.vaults import clean, commits, git, make_vault

ENTITY = "---\nentity: person\n---\n\n- likes tea\n"
SMALL = jsonl(entity("Bob", "likes coffee"))
NEW = {"entities": [{"name": "Bob", "entityType": "t", "observations": ["x"]}]}


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    file = tmp_path / "memory.jsonl"
    file.write_text(SMALL)
    return file


def bare(root: Path) -> None:
    git(root.parent, "init", "-q", "--bare", root.name)


def inside_another(root: Path) -> None:
    git(root.parent, "init", "-q")
    root.mkdir()
    (root / "a.md").write_text(ENTITY)


def of_another_owner(root: Path) -> None:
    make_vault(root, {"a.md": ENTITY})
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    for path, folders, names in os.walk(root):
        for name in [*folders, *names, "."]:
            os.chown(os.path.join(path, name), 12345, 12345, follow_symlinks=False)


UNUSABLE: dict[str, tuple[Callable[[Path], None], str]] = {
    "bare": (bare, "The repository is bare: it has no working tree for notes. Clone it first"),
    "inside another": (inside_another, "Make one of its own with: vault-mcp init DIR"),
    "another owner": (of_another_owner, "git config --global --add safe.directory"),
}


@pytest.mark.parametrize("kind", UNUSABLE)
@pytest.mark.parametrize("command", ["doctor", "export", "reindex", "import"])
def test_a_vault_that_cannot_be_used_is_refused_by_each_command(
    commands: Commands, tmp_path: Path, memory: Path, kind: str, command: str
) -> None:
    make, said = UNUSABLE[kind]
    root = tmp_path / "outer" / "vault"
    root.parent.mkdir()
    make(root)
    before = sorted(root.rglob("*"))
    file = [memory] if command == "import" else []
    assert said in commands.refused(command, *file, "--vault", root)
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_server_on_a_vault_that_cannot_be_used_stays_up_and_says_so_at_each_call(
    commands: Commands, tmp_path: Path, kind: str
) -> None:
    make, said = UNUSABLE[kind]
    root = tmp_path / "outer" / "vault"
    root.parent.mkdir()
    make(root)
    before = sorted(root.rglob("*"))
    with Server((*COMMAND, "--vault", str(root)), env=commands.environment()) as server:
        server.greet()
        for _ in range(2):
            assert said in server.error("read_graph")
            told = server.error("create_entities", **NEW)
            assert said in told
            assert str(tmp_path) not in told
        assert server.ask("tools/list")["result"]["tools"]
        server.close_input()
        assert server.ended() == 0
    assert sorted(root.rglob("*")) == before


def test_a_vault_that_was_put_right_is_opened_at_the_next_call(commands: Commands, tmp_path: Path) -> None:
    root = tmp_path / "outer" / "vault"
    root.parent.mkdir()
    inside_another(root)
    with Server((*COMMAND, "--vault", str(root)), env=commands.environment()) as server:
        server.greet()
        assert "vault-mcp init DIR" in server.error("read_graph")
        commands.good("init", root)
        assert "likes tea" in server.text("read_graph")


@pytest.mark.parametrize("command", ["init", "doctor", "export", "reindex", "demo", "import"])
def test_without_git_each_command_says_what_to_install(
    commands: Commands, tmp_path: Path, memory: Path, command: str
) -> None:
    root = make_vault(tmp_path / "vault")
    arguments: dict[str, list[str | Path]] = {
        "init": [tmp_path / "new"],
        "demo": [],
        "import": [memory, "--vault", root],
    }
    said = commands.refused(command, *arguments.get(command, ["--vault", root]), PATH="/nonexistent")
    assert said.startswith("No git program was found. Install Git")


def test_without_git_a_server_answers_with_what_to_install(commands: Commands, tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault", {"a.md": ENTITY})
    with Server((*COMMAND, "--vault", str(root)), env=commands.environment(PATH="/nonexistent")) as server:
        server.greet()
        for _ in range(2):
            assert "No git program was found. Install Git" in server.error("create_entities", **NEW)
        server.close_input()
        assert server.ended() == 0


@pytest.mark.parametrize("folder", ["/", "~", "/tmp/..", "~/.."])
@pytest.mark.parametrize("command", ["serve", "doctor", "export", "reindex", "import"])
def test_a_folder_that_holds_a_whole_life_is_refused_by_each_command(
    commands: Commands, memory: Path, command: str, folder: str
) -> None:
    file = [memory] if command == "import" else []
    assert "cannot be a vault" in commands.refused(command, *file, "--vault", folder)
    assert list(commands.home.iterdir()) == []


# -- states in which nothing may be written


def detached(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


def merging(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")
    (root / "b.md").write_text("other\n")
    git(root, "add", "b.md")
    git(root, "commit", "-q", "-m", "other")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "--no-commit", "--no-ff", "other")


STATES: dict[str, tuple[Callable[[Path], None], str]] = {
    "detached": (detached, "HEAD"),
    "merging": (merging, "A merge is under way in this repository. Finish it (git commit) or end it"),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("indexed", [True, False], ids=["with an index", "without an index"])
def test_a_server_reads_a_vault_that_may_not_be_written_and_refuses_writes_in_a_sentence(
    commands: Commands, tmp_path: Path, state: str, indexed: bool
) -> None:
    enter, said = STATES[state]
    root = make_vault(tmp_path / "vault", {"Ada.md": ENTITY})
    if indexed:
        commands.good("reindex", "--vault", root)
    enter(root)
    before = git(root, "status", "--porcelain"), commits(root)
    with Server((*COMMAND, "--vault", str(root)), env=commands.environment()) as server:
        server.greet()
        assert "likes tea" in server.text("open_nodes", names=["Ada"])
        assert "likes tea" in server.text("search_nodes", query="tea")
        told = server.error("create_entities", **NEW)
        assert said in told
        assert told.endswith("Nothing was saved.")
        assert "likes tea" in server.text("read_graph")
    assert (git(root, "status", "--porcelain"), commits(root)) == before
    assert not (root / "entities").exists()


# -- permissions

# Root may write everything by a right of its own, which this takes from it.
AS_ANYBODY = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all") if os.geteuid() == 0 else ()


def can_be_anybody() -> bool:
    """Say whether a program can be run for whom closed files are closed."""
    return not AS_ANYBODY or subprocess.run([*AS_ANYBODY, "true"], check=False).returncode == 0


closed_to_us = pytest.mark.skipif(
    os.name != "posix" or not can_be_anybody(), reason="nothing is closed to who runs this"
)


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A vault in which nothing may be written."""
    root = make_vault(tmp_path / "vault", {"Ada.md": ENTITY})
    for path in [*root.rglob("*"), root]:
        path.chmod(path.stat().st_mode & ~0o222)
    yield root
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


@closed_to_us
def test_a_vault_that_may_not_be_written_is_exported_but_not_imported_into(
    commands: Commands, closed: Path, memory: Path
) -> None:
    anybody = (*AS_ANYBODY, *COMMAND)
    out = commands.run("export", "--vault", closed, command=anybody)
    assert out.returncode == 0
    assert official(out.stdout)[0] == {("Ada", "person", frozenset({"likes tea"}))}

    done = commands.run("import", memory, "--vault", closed, command=anybody)
    assert (done.returncode, done.stdout) == (2, "")
    assert "ermission" in done.stderr.splitlines()[-1]
    assert commits(closed)[0] == "start"
    assert clean(closed)


@closed_to_us
def test_doctor_looks_at_a_vault_that_may_not_be_written(commands: Commands, closed: Path) -> None:
    done = commands.run("doctor", "--vault", closed, command=(*AS_ANYBODY, *COMMAND))
    assert done.returncode in (0, 1), done.stderr
    assert "Commits are made" in done.stdout


@closed_to_us
def test_a_vault_cannot_be_made_where_nothing_may_be_written(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "shut").chmod(0o555)
    done = commands.run("init", tmp_path / "shut/vault", command=(*AS_ANYBODY, *COMMAND))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("vault-mcp: The vault's folder cannot be made (Permission denied).")
    assert len(done.stderr.splitlines()) == 1


def test_a_server_on_a_file_says_so_at_the_start(commands: Commands, memory: Path) -> None:
    said = commands.refused("serve", "--vault", memory)
    assert f"{memory} is a file, and a vault is a folder." in said
    assert memory.read_text() == SMALL

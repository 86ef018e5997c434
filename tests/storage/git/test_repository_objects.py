"""What a repository reads: heads, objects, whom it names, and which files a commit has."""

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.git.vaults import Vault
from tests.waiting import wait_until
from vault_mcp.errors import BadArgument, NotFound, RepositoryRefused
from vault_mcp.storage.git.repository import Repository
from vault_mcp.storage.git.writer import blob_id

# -- heads and objects


def test_the_signature_changes_with_every_commit_of_ours_and_of_others(vault: Vault) -> None:
    repository = vault.repository
    seen = {repository.head_signature()}
    for number in range(5):
        vault.commit({"a.md": f"{number}\n"})
        assert repository.head_signature() not in seen
        seen.add(repository.head_signature())
        assert repository.head_signature() in seen
    vault.git("pack-refs", "--all")
    packed = repository.head_signature()
    assert repository.head() == vault.git("rev-parse", "HEAD").strip()
    vault.git("commit", "-q", "--allow-empty", "-m", "x")
    vault.git("pack-refs", "--all")
    assert repository.head_signature() != packed
    assert repository.head() == vault.git("rev-parse", "HEAD").strip()


def test_head_is_known_on_a_detached_commit_too(vault: Vault) -> None:
    vault.git("checkout", "-q", "--detach")
    assert vault.repository.head() == vault.git("rev-parse", "HEAD").strip()


@pytest.mark.parametrize(
    "target", ["refs/heads/../../config", "refs/heads/a b", "/etc/passwd", "refs/heads/x.lock"]
)
def test_a_head_that_leads_out_of_the_branches_is_refused(vault: Vault, target: str) -> None:
    (vault.root / ".git/HEAD").write_text(f"ref: {target}\n")

    with pytest.raises(RepositoryRefused):
        vault.commit({"a.md": "A\n"})
    assert vault.repository.head() is None


def test_packed_refs_and_packed_objects_are_read_and_built_upon(vault: Vault) -> None:
    for number in range(3):
        vault.commit({f"n{number}.md": f"{number}\n"})
        vault.git("gc", "-q", "--prune=now")
        assert not (vault.root / ".git/refs/heads/main").exists()
        fresh = Vault(vault.root)
        fresh.commit({"a.md": f"A{number}\n"})
        fresh.close()

    assert vault.git("rev-list", "--count", "HEAD").strip() == "7"
    vault.assert_sound()


def test_objects_are_read_loose_and_packed_from_many_threads(vault: Vault) -> None:
    contents = {f"n{number}.md": f"text {number}\n" * (number + 1) for number in range(40)}
    vault.commit(dict(contents))
    vault.git("gc", "-q", "--prune=now")
    vault.commit({"loose.md": "loose\n"})
    head = vault.repository.head()
    assert head
    wrong: list[str] = []

    def read() -> None:
        for path, text in contents.items():
            if vault.repository.blob_at(head, path) != text.encode():
                wrong.append(path)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []
    assert vault.repository.blob_at(head, "loose.md") == b"loose\n"
    assert vault.repository.blob_at(head, "nothing.md") is None
    assert vault.repository.blob(blob_id(b"text 0\n")) == b"text 0\n"


@pytest.mark.parametrize(
    "name",
    ["HEAD", "--output=x", "HEAD:../x", "../../etc/hostname", "0" * 40, "", "a\nb", "main", ":/x", "0" * 39],
)
def test_only_the_full_name_of_an_object_that_is_there_is_read(vault: Vault, name: str) -> None:
    with pytest.raises(NotFound):
        vault.repository.blob(name)
    with pytest.raises((NotFound, RepositoryRefused)):
        vault.repository.blob_at(name, "a.md")
    if name != "0" * 40:
        with pytest.raises(BadArgument):
            list(vault.repository.history(None, name))
    assert not vault.repository.is_ancestor(name, name)


def test_warming_up_reads_what_the_first_write_needs(vault: Vault, vaults: Callable[..., Vault]) -> None:
    vault.git("gc", "-q")
    vaults("unborn").repository.warm()
    assert children() == []

    vault.repository.warm()

    assert len(children()) == 1
    vault.commit({"a.md": "A\n"})
    assert len(children()) == 1


def test_a_child_of_git_that_died_is_replaced(vault: Vault) -> None:
    vault.git("gc", "-q")
    blob = vault.git("rev-parse", "HEAD:a.md").strip()
    assert vault.repository.blob(blob) == b"a\n"
    for pid in children():
        os.kill(pid, 15)
        wait_until(lambda pid=pid: pid not in children())  # type: ignore[misc]  # bound at once

    assert vault.repository.blob(blob) == b"a\n"


def children() -> list[int]:
    """Give the living children of this process that run Git."""
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            state, parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:2]
            program = Path(f"/proc/{name}/cmdline").read_text().split("\0")[0]
            if int(parent) == os.getpid() and state != "Z" and "git" in program:
                found.append(int(name))
    return found


def test_nothing_is_left_open_after_close(vault: Vault) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    def use() -> None:
        repository = Repository.open(str(vault.root))
        with repository.writing() as writer:
            vault.commit({"a.md": f"{open_files()} {os.urandom(4).hex()}\n"}, writer=writer)
        repository.blob(vault.git("rev-parse", "HEAD:b.md").strip())
        repository.ignored(["x.md"])
        assert len(children()) <= 2
        repository.close()

    vault.git("gc", "-q")
    use()
    before = open_files()
    for _ in range(5):
        use()

    assert open_files() == before
    assert children() == []


def test_the_person_is_who_git_says_or_human_and_never_the_login(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert vault.repository.person().name == "Pat Person"
    vault.git("config", "user.name", "Ann Other")
    vault.commit({"a.md": "A\n"})
    assert vault.repository.person().name == "Ann Other"
    vault.git("config", "--unset", "user.name")
    monkeypatch.setenv("HOME", str(tmp_path))

    nobody = Vault(vault.root)
    assert nobody.repository.person().name == "human"
    assert nobody.repository.person().email.endswith(".invalid")
    nobody.close()


def test_every_file_of_a_commit_is_listed_in_gits_order(vault: Vault) -> None:
    done = vault.commit({"x.md": "x\n", "x/y.md": "y\n", "x-z.md": "z\n", "日本.md": "n\n"})

    listed = list(vault.repository.tree_paths(done.sha))

    assert [path for path, _, _ in listed] == vault.git("ls-files", "-z").split("\0")[:-1]
    assert {path: blob for path, _, blob in listed}["日本.md"] == blob_id(b"n\n")


def test_ancestors_are_told_apart(vault: Vault) -> None:
    first = vault.git("rev-parse", "HEAD").strip()
    second = vault.commit({"a.md": "2\n"}).sha

    assert vault.repository.is_ancestor(first, second)
    assert vault.repository.is_ancestor(second, second)
    assert not vault.repository.is_ancestor(second, first)

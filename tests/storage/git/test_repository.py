import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.git.vaults import AGENT, AT, Vault, as_nobody
from vault_mcp.errors import RepositoryRefused, VaultBusy
from vault_mcp.storage.git.message import Message
from vault_mcp.storage.git.repository import Repository


def refusal(path: Path) -> str:
    with pytest.raises(RepositoryRefused) as caught:
        Repository.open(str(path))
    assert str(path) not in str(caught.value)
    return str(caught.value)


# -- opening


def test_a_repository_is_made_and_opened(tmp_path: Path) -> None:
    Repository.create(str(tmp_path / "new"))

    repository = Repository.open(str(tmp_path / "new"))

    assert repository.head() is None
    assert repository.git_dir == repository.common_dir == str(tmp_path / "new/.git")
    assert not (tmp_path / "new/.git/vault-mcp").exists()
    assert os.path.isdir(repository.state_dir)
    repository.close()


def test_what_is_no_working_tree_of_its_own_is_refused_with_what_to_do(vault: Vault, tmp_path: Path) -> None:
    plain, bare = tmp_path / "plain", tmp_path / "bare.git"
    plain.mkdir()
    vault.git("clone", "-q", "--bare", ".", str(bare))
    (vault.root / "inner").mkdir()

    assert "vault-mcp init" in refusal(plain)
    assert "does not exist" in refusal(tmp_path / "nowhere")
    assert "bare" in refusal(bare)
    inside = refusal(vault.root / "inner")
    assert "inside another Git repository (vault)" in inside
    assert "vault-mcp init" in inside


def test_a_repository_that_says_it_is_bare_is_refused(vault: Vault) -> None:
    vault.git("config", "core.bare", "true")

    with pytest.raises(RepositoryRefused, match="bare"):
        vault.commit({"a.md": "A\n"})


def test_a_working_tree_elsewhere_is_refused(vault: Vault, tmp_path: Path) -> None:
    vault.git("config", "core.worktree", str(tmp_path))

    with pytest.raises(RepositoryRefused, match=r"core\.worktree"):
        vault.commit({"a.md": "A\n"})
    assert vault.text("a.md") == "a\n"


def test_the_repository_of_another_user_is_refused_until_the_user_says_that_it_is_safe() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        vault = Vault.make(Path(folder, "vault"), notes={"a.md": "a\n"})
        home = Path(folder, "home")
        home.mkdir()
        os.chmod(home, 0o777)
        inner = Path(folder, "x")
        inner.mkdir()

        def open_it() -> None:
            os.environ["HOME"] = str(home)
            Repository.open(str(vault.root)).close()

        if os.geteuid() == 0:
            said = as_nobody(inner, open_it)
            assert said.startswith("RepositoryRefused: ")
            assert 'git config --global --add safe.directory "$PWD"' in said
            assert not (home / ".gitconfig").exists()
            (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {vault.root}\n")
            os.chmod(home / ".gitconfig", 0o644)
        assert as_nobody(inner, open_it) == ""


def test_a_missing_git_is_said_in_one_sentence(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    assert "No git program was found" in refusal(vault.root)


def test_a_linked_working_tree_commits_to_its_own_branch(vault: Vault, tmp_path: Path) -> None:
    vault.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "feature")
    linked = Vault(tmp_path / "linked")
    main = vault.git("rev-parse", "main")

    done = linked.commit({"a.md": "A\n", "n.md": "n\n"})
    linked.close()

    assert vault.git("rev-parse", "feature").strip() == done.sha
    assert vault.git("rev-parse", "main") == main
    assert vault.text("a.md") == "a\n"
    assert linked.status() == ""
    assert vault.status() == ""
    assert linked.git("reflog", "-1", "--format=%gs").strip() == "commit: change"
    assert vault.git("reflog", "-1", "--format=%gs").strip() == "commit (initial): first"
    assert (vault.root / ".git/worktrees/linked/vault-mcp/lock").exists()
    assert vault.git("fsck", "--strict") == ""


def test_a_git_file_that_leads_nowhere_is_refused(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved/.git").write_text("gitdir: /nowhere/at/all\n")

    assert "worktree repair" in refusal(tmp_path / "moved")


def test_a_shallow_clone_is_written_to(vault: Vault, tmp_path: Path) -> None:
    vault.commit({"a.md": "2\n"})
    vault.git("clone", "-q", "--depth", "1", vault.root.as_uri(), str(tmp_path / "shallow"))
    shallow = Vault(tmp_path / "shallow")

    shallow.commit({"a.md": "3\n"})

    head = shallow.repository.head()
    assert head
    assert [len(commit.changes) for commit in shallow.repository.history(None, head)] == [3, 1]
    shallow.close()
    shallow.assert_sound()


# -- states in which nothing may be written


def detach(vault: Vault) -> None:
    vault.git("checkout", "-q", "--detach")


def bisect(vault: Vault) -> None:
    vault.git("bisect", "start")


def conflict(vault: Vault, *command: str) -> None:
    vault.git("checkout", "-q", "-b", "other")
    vault.save("a.md", "other\n")
    vault.git("commit", "-qam", "other")
    vault.git("checkout", "-q", "main")
    vault.save("a.md", "main\n")
    vault.git("commit", "-qam", "main")
    subprocess.run(["git", *command], cwd=vault.root, capture_output=True, check=False)


def resolved_merge(vault: Vault) -> None:
    conflict(vault, "merge", "other")
    vault.git("add", "-A")


STATES: dict[str, tuple[Callable[[Vault], None], str]] = {
    "detached": (detach, "detached"),
    "merge": (lambda vault: conflict(vault, "merge", "other"), "git merge --abort"),
    "resolved merge": (resolved_merge, "git merge --abort"),
    "rebase": (lambda vault: conflict(vault, "rebase", "other"), "git rebase --abort"),
    "cherry-pick": (lambda vault: conflict(vault, "cherry-pick", "other"), "git cherry-pick --abort"),
    "revert": (lambda vault: conflict(vault, "revert", "--no-edit", "HEAD~1"), "git revert --abort"),
    "bisect": (bisect, "git bisect reset"),
}


@pytest.mark.parametrize("state", STATES)
def test_nothing_is_written_while_a_person_is_in_the_middle_of_something(vault: Vault, state: str) -> None:
    enter, said = STATES[state]
    enter(vault)
    before = vault.there(), vault.git("rev-parse", "HEAD"), vault.status()

    with pytest.raises(RepositoryRefused, match=said):
        vault.commit({"b.md": "agent\n"})

    assert (vault.there(), vault.git("rev-parse", "HEAD"), vault.status()) == before
    assert vault.leftovers() == []
    assert any(finding.level == "problem" and said in finding.text for finding in vault.repository.state())


def test_a_merge_that_begins_during_the_write_is_noticed_under_the_locks(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        (vault.root / ".git/MERGE_HEAD").write_text(vault.git("rev-parse", "HEAD"))
        with pytest.raises(RepositoryRefused, match="merge"):
            vault.commit({"a.md": "A\n"}, writer=writer)

    assert vault.text("a.md") == "a\n"


def test_a_commit_made_during_the_write_is_built_upon(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        vault.save("b.md", "theirs\n")
        vault.git("commit", "-qam", "theirs")
        theirs = vault.git("rev-parse", "HEAD").strip()

        done = vault.commit({"a.md": "A\n"}, writer=writer)

    assert done.parent == theirs
    vault.assert_sound()


def test_a_branch_switched_during_the_write_gets_the_commit(vault: Vault) -> None:
    with vault.repository.writing() as writer:
        vault.git("switch", "-q", "-c", "topic")

        done = vault.commit({"a.md": "A\n"}, writer=writer)

    assert vault.git("rev-parse", "topic").strip() == done.sha
    assert vault.git("rev-parse", "main").strip() == done.parent


# -- one writer at a time


def test_a_second_writer_waits_and_then_says_who_has_the_lock(vault: Vault) -> None:
    with vault.repository.writing():
        with pytest.raises(VaultBusy, match=r"0\.2 s"), vault.repository.writing(0.2):
            raise AssertionError("two writers")
        other = Vault(vault.root)
        with pytest.raises(VaultBusy), other.repository.writing(0.2):
            raise AssertionError("two writers")
        with other.repository.try_writing() as writer:
            assert writer is None
        other.close()

    with vault.repository.try_writing() as writer:
        assert writer is not None
    vault.commit({"a.md": "A\n"})


def test_a_refused_entry_gives_the_lock_back(vault: Vault) -> None:
    (vault.root / ".git/MERGE_HEAD").touch()
    with pytest.raises(RepositoryRefused):
        vault.commit({"a.md": "A\n"})
    (vault.root / ".git/MERGE_HEAD").unlink()

    vault.commit({"a.md": "A\n"})


# -- ignored paths


def test_ignored_paths_are_told_even_as_the_rules_change(vault: Vault) -> None:
    repository = vault.repository
    assert repository.ignored(["private/p.md", "x.tmp"]) == set()

    vault.save(".gitignore", "private/\n*.tmp\n!kept.tmp\n/日本.md\n")
    vault.save("sub/.gitignore", "!x.tmp\n")

    many = [f"private/{number}.md" for number in range(100)]
    asked = ["private/p.md", "x.tmp", "kept.tmp", "sub/x.tmp", "sub/日本.md", "日本.md", "-rf.md", "a.md"]
    assert repository.ignored(asked) == {"private/p.md", "x.tmp", "日本.md"}
    assert repository.ignored([*many, *asked]) == {*many, "private/p.md", "x.tmp", "日本.md"}
    vault.save("sub/.gitignore", "")
    assert repository.ignored(["sub/x.tmp"]) == {"sub/x.tmp"}


def test_a_tracked_file_is_never_ignored(vault: Vault) -> None:
    vault.save(".gitignore", "*.md\n")

    assert vault.repository.ignored(["a.md", "new.md", "people/ada.md"]) == {"new.md"}


def test_a_path_that_git_gives_no_answer_for_does_not_stop_the_others(vault: Vault, tmp_path: Path) -> None:
    (vault.root / "link").symlink_to(tmp_path)
    vault.save(".gitignore", "*.tmp\n")

    assert vault.repository.ignored(["link/x.tmp", "y.tmp"]) == {"y.tmp"}


# -- what doctor says


def test_the_commit_path_in_use_and_its_reason_are_told(vault: Vault) -> None:
    def told() -> str:
        return next(finding.text for finding in vault.repository.state() if finding.topic == "commits")

    assert "directly" in told()
    vault.git("update-index", "--index-version", "4")
    assert "version 4" in told()
    vault.git("config", "core.splitIndex", "true")
    assert "core.splitIndex" in told()


def test_an_old_lock_and_a_kept_text_are_told(vault: Vault) -> None:
    vault.commit({"a.md": "A\n"})
    lock = vault.root / ".git/index.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    (vault.root / ".git/vault-mcp/kept-1-0").write_text("x")

    told = {finding.topic: finding for finding in vault.repository.state()}

    assert told["lock"].level == "problem"
    assert "kept-1-0" in told["kept"].text


def test_the_state_folder_can_be_cleared_away_while_the_vault_is_open(vault: Vault) -> None:
    vault.commit({"a.md": "1\n"})
    subprocess.run(["rm", "-rf", str(vault.root / ".git/vault-mcp")], check=True)

    vault.commit({"a.md": "2\n"})

    assert vault.text("a.md") == "2\n"
    vault.assert_sound()


def test_a_second_process_started_by_itself_sees_the_commits(vault: Vault) -> None:
    program = (
        "import sys\n"
        "from vault_mcp.storage.git.repository import Repository\n"
        "repository = Repository.open(sys.argv[1])\n"
        "print(repository.head())\n"
        "repository.close()\n"
    )
    with vault.repository.writing() as writer:
        done = writer.commit({"a.md": vault.seen("a.md", "A\n")}, Message("x"), author=AGENT, at=AT)
        out = subprocess.run(
            [sys.executable, "-c", program, str(vault.root)], capture_output=True, check=True
        )
    assert out.stdout.decode().strip() == done.sha

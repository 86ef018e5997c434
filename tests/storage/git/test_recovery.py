import itertools
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.storage.git.killing import copies, dies_at, fails_at
from tests.storage.git.vaults import Vault
from vault_mcp.storage.git import objects
from vault_mcp.storage.git.repository import Repository

OLD = {"a.md": b"a\n", "b.md": b"b\n", "people/ada.md": b"# Ada\n"}
NEW = {"a.md": b"A\n", "b.md": b"b\n", "new/c.md": b"c\n"}
CHANGES: dict[str, bytes | str | None] = {"a.md": "A\n", "people/ada.md": None, "new/c.md": "c\n"}
MOST = 400


def write(vault: Vault) -> Callable[[], object]:
    return lambda: vault.commit(CHANGES, "agent")


def recovered(vault: Vault) -> None:
    """Start anew, as after a crash."""
    repository = Repository.open(str(vault.root))
    repository.close()


def subjects(vault: Vault) -> list[str]:
    return vault.git("log", "--format=%an: %s").splitlines()


@pytest.mark.parametrize(
    "way",
    ["one step", *(pytest.param(way, marks=pytest.mark.long) for way in ("links", "neither"))],
    indirect=True,
)
def test_a_kill_at_any_moment_leaves_all_of_a_commit_or_nothing(vault: Vault, memory: Path, way: str) -> None:
    """The whole list of moments, one after the other, until the write gets through."""
    seen = set()
    killed = 0
    for number, copy in enumerate(copies(vault, memory), 1):
        if not dies_at(number, write(copy)):
            break
        killed += 1
        if way == "neither":
            # Made as Git makes it, a lock cannot be known for ours: a person removes it, as the message says.
            for lock in ("index.lock", "refs/heads/main.lock"):
                (copy.root / ".git" / lock).unlink(missing_ok=True)
        recovered(copy)
        there = copy.there()
        assert there in (OLD, NEW), number
        assert subjects(copy) == ["claude: agent", "Pat Person: first"][there == OLD :], number
        copy.assert_sound()
        copy.commit({"b.md": "next\n"})
        copy.assert_sound()
        seen.add(there == NEW)
        assert number < MOST
    assert seen == {True, False}
    assert killed > 40


@pytest.mark.parametrize(
    "error",
    [OSError(28, "No space left on device"), pytest.param(KeyboardInterrupt(), marks=pytest.mark.long)],
    ids=repr,
)
def test_a_failure_at_any_moment_puts_all_back_or_gets_through(
    vault: Vault, memory: Path, error: BaseException
) -> None:
    seen = set()
    for number, copy in enumerate(copies(vault, memory), 1):
        outcome = fails_at(number, error, write(copy))
        if outcome == "over":
            break
        there = copy.there()
        made = len(subjects(copy)) == 2
        assert there == (NEW if made else OLD), number
        # Ctrl-C may come after the commit; an error of the disk is told only if there is none.
        assert made == (outcome == "returned") or (made and isinstance(error, KeyboardInterrupt)), number
        copy.git("update-index", "-q", "--refresh")
        assert made or copy.status() == "", number
        assert made or "intent" not in copy.leftovers(), number
        recovered(copy)
        assert copy.there() == there, number
        copy.assert_sound()
        seen.add((outcome, made))
        assert number < MOST
    assert {made for _, made in seen} == {True, False}


def test_a_kill_while_a_file_takes_the_place_of_a_folder_leaves_all_or_nothing(
    vault: Vault, memory: Path
) -> None:
    vault.commit({"people/more/bob.md": "# Bob\n"})
    before, after = vault.there(), {"a.md": b"a\n", "b.md": b"b\n", "people": b"list\n"}
    changes: dict[str, bytes | str | None] = {
        "people/ada.md": None,
        "people": "list\n",
        "people/more/bob.md": None,
    }
    seen = set()
    for number, copy in enumerate(copies(vault, memory), 1):
        if not dies_at(number, partial(copy.commit, changes, "agent")):
            break
        dies_at(number % 37 + 1, partial(recovered, copy))
        recovered(copy)
        there = copy.there()
        assert there in (before, after), number
        copy.assert_sound()
        copy.commit({"b.md": "next\n"})
        copy.assert_sound()
        seen.add(there == after)
        assert number < MOST
    assert seen == {True, False}


def test_a_kill_during_the_recovery_is_recovered_from(vault: Vault, memory: Path) -> None:
    for first in range(1, MOST, 12):
        for second, copy in enumerate(copies(vault, memory), 1):
            if not dies_at(first, write(copy)):
                return
            if not dies_at(second * 5, partial(recovered, copy)):
                break
            recovered(copy)
            there = copy.there()
            assert there in (OLD, NEW), (first, second)
            assert subjects(copy) == ["claude: agent", "Pat Person: first"][there == OLD :], (first, second)
            copy.assert_sound()
    raise AssertionError("the write never got through")


def test_what_a_person_saves_after_the_crash_is_neither_overwritten_nor_taken_for_the_agents(
    vault: Vault, memory: Path
) -> None:
    partly = 0
    for number, copy in enumerate(copies(vault, memory), 1):
        if not dies_at(number, write(copy)):
            break
        copy.save("a.md", "person\n")
        recovered(copy)

        assert copy.text("a.md") == "person\n", number
        for sha in copy.git("rev-list", "HEAD").split():
            author = copy.git("log", "-1", "--format=%an", sha).strip()
            assert copy.git("show", f"{sha}:a.md") == {"claude": "A\n", "Pat Person": "a\n"}[author] or (
                author == "claude" and copy.git("show", f"{sha}:a.md") == "a\n"
            ), number
        assert copy.status() in ("", " M a.md\n"), number
        partly += copy.status() != ""
        copy.assert_sound(clean=False)
    assert partly > 10


def test_what_another_program_committed_after_the_crash_is_built_upon(vault: Vault, memory: Path) -> None:
    for number, copy in enumerate(copies(vault, memory), 1):
        if not dies_at(number, write(copy)):
            break
        for lock in ("index.lock", "refs/heads/main.lock"):
            (copy.root / ".git" / lock).unlink(missing_ok=True)
        copy.save("b.md", "theirs\n")
        copy.git("reset", "-q")
        copy.git("add", "-A")
        copy.git("commit", "-qm", "backup")
        recovered(copy)

        assert copy.there() in ({**OLD, "b.md": b"theirs\n"}, {**NEW, "b.md": b"theirs\n"}), number
        assert copy.git("show", "HEAD:b.md") == "theirs\n"
        copy.assert_sound()


def test_a_kill_while_a_persons_edit_is_committed_leaves_their_file_alone(vault: Vault, memory: Path) -> None:
    vault.save("a.md", "by hand\n")
    for number, copy in enumerate(copies(vault, memory), 1):
        if not dies_at(number, partial(copy.commit, {"a.md": "by hand\n"}, write_files=False)):
            break
        recovered(copy)

        assert copy.text("a.md") == "by hand\n", number
        assert copy.status() in ("", " M a.md\n"), number
        copy.assert_sound(clean=False)


def test_a_kill_where_git_converts_line_ends_is_recovered_from(vault: Vault, memory: Path) -> None:
    vault.git("config", "core.autocrlf", "true")
    vault.save("a.md", "a\r\n")
    vault.git("add", "a.md")
    seen = set()
    for number, copy in enumerate(copies(vault, memory), 1):
        if not dies_at(number * 3, partial(copy.commit, {"a.md": "A\r\nB\r\n", "c.md": "c\r\n"})):
            break
        recovered(copy)

        seen.add(copy.text("a.md"))
        assert copy.text("a.md") in ("a\r\n", "A\r\nB\r\n"), number
        assert (copy.text("a.md") == "a\r\n") == (not (copy.root / "c.md").exists()), number
        copy.assert_sound()
    assert seen == {"a\r\n", "A\r\nB\r\n"}


def cut_off(vault: Vault, folder: Path) -> tuple[int, Vault]:
    """Give the moment when files are replaced and no commit is made yet, and a copy killed in it."""
    for number, copy in enumerate(copies(vault, folder), 1):
        assert dies_at(number, write(copy))
        if copy.there() == NEW and subjects(copy) == ["Pat Person: first"]:
            return number, Vault(copy.root.rename(folder / "cut off"))
    raise AssertionError("unreachable")


def test_a_running_server_recovers_at_its_next_write(vault: Vault, memory: Path) -> None:
    moment, _ = cut_off(vault, memory)
    with vault.repository.writing() as writer:
        assert writer.head == vault.git("rev-parse", "HEAD").strip()
    other = Vault(vault.root)
    assert dies_at(moment, write(other))
    assert vault.there() == NEW

    vault.commit({"b.md": "2\n"})

    assert subjects(vault) == ["claude: change", "claude: agent", "Pat Person: first"]
    assert vault.there() == {**NEW, "b.md": b"2\n"}
    vault.assert_sound()


def test_a_record_stays_until_the_repository_may_be_written(vault: Vault, memory: Path) -> None:
    _, copy = cut_off(vault, memory)
    (copy.root / ".git/MERGE_HEAD").write_text(copy.git("rev-parse", "HEAD"))

    recovered(copy)
    assert (copy.root / ".git/vault-mcp/intent").stat().st_size
    (copy.root / ".git/MERGE_HEAD").unlink()
    recovered(copy)

    assert subjects(copy) == ["claude: agent", "Pat Person: first"]
    copy.assert_sound()


@pytest.mark.parametrize("line", [b"{", b'{"version": 1, "commit": ', b"\0" * 50])
def test_a_record_that_was_never_finished_is_dropped(vault: Vault, line: bytes) -> None:
    vault.commit({"a.md": "1\n"})
    vault.close()
    (vault.root / ".git/vault-mcp/intent").write_bytes(line)
    (vault.root / ".git/vault-mcp/file-0").write_bytes(b"half")

    recovered(vault)

    assert os.stat(vault.root / ".git/vault-mcp/intent").st_size == 0
    assert vault.text("a.md") == "1\n"
    vault.assert_sound()


def test_what_a_process_of_the_same_number_left_of_its_objects_is_passed_over(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container every server is process 1, and begins to count anew."""
    for first in range(256):
        folder = vault.root / f".git/objects/{first:02x}"
        folder.mkdir(exist_ok=True)
        for number in range(3):
            (folder / f"tmp_obj_{os.getpid()}_{number}").write_bytes(b"half")
    monkeypatch.setattr(objects, "_numbers", itertools.count())

    vault.commit({"a.md": "1\n"})

    assert vault.git("show", "HEAD:a.md") == "1\n"
    assert vault.status() == ""

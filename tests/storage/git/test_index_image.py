import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.git.vaults import Vault
from tests.waiting import wait_until
from vault_mcp.errors import RepositoryRefused
from vault_mcp.storage.git.index_image import IndexImage, IndexNotPlainError


def test_the_index_is_byte_for_byte_what_git_writes(vault: Vault) -> None:
    for number in range(30):
        vault.commit({f"many/{number % 7}/n{number}.md": f"{number}\n"})
        assert vault.index() == vault.index_as_git_writes_it()
    vault.commit({"many/3/n3.md": None, "many/3/n10.md": "changed\n"})

    assert vault.index() == vault.index_as_git_writes_it()
    vault.assert_sound()


def test_its_trees_are_the_ones_that_git_would_build(vault: Vault) -> None:
    vault.git("read-tree", "HEAD")
    vault.git("update-index", "-q", "--refresh")
    vault.commit({"x/y/one.md": "1\n", "people/bob.md": "b\n"})
    vault.commit({"x/y/two.md": "2\n", "x/y/one.md": None})
    ours = vault.index()

    vault.git("read-tree", "HEAD")
    vault.git("update-index", "-q", "--refresh")

    assert tree_extension(ours) == tree_extension(vault.index())
    assert vault.git("write-tree") == vault.git("rev-parse", "HEAD^{tree}")


def tree_extension(index: bytes) -> bytes:
    at = index.index(b"TREE")
    size = int.from_bytes(index[at + 4 : at + 8], "big")
    return index[at + 8 : at + 8 + size]


def test_hundreds_of_entries_in_one_folder_are_kept_in_order(vaults: Callable[..., Vault]) -> None:
    vault = vaults(notes={f"flat/n{number:04}.md": f"{number}\n" for number in range(0, 1600, 2)})
    chooser = random.Random(5)
    with vault.repository.writing() as writer:
        for _ in range(40):
            numbers = chooser.sample(range(1600), 20)
            changes: dict[str, bytes | str | None] = {
                f"flat/n{number:04}.md": None
                if chooser.random() < 0.4 and (vault.root / f"flat/n{number:04}.md").exists()
                else f"new {chooser.random()}\n"
                for number in numbers
            }
            vault.commit(changes, writer=writer)

    assert vault.index() == vault.index_as_git_writes_it()
    vault.assert_sound()


def test_an_index_of_many_chunks_grows_shrinks_and_splits(vaults: Callable[..., Vault]) -> None:
    vault = vaults()
    notes = {f"{number % 16:x}/n{number}.md": f"{number}\n" for number in range(3000)}
    for path, content in notes.items():
        vault.save(path, content)
    with vault.repository.writing() as writer:
        vault.commit(dict(notes), writer=writer, write_files=False)
        assert vault.index() == vault.index_as_git_writes_it()
        vault.commit(dict.fromkeys(list(notes)[::3]), writer=writer)

    assert vault.index() == vault.index_as_git_writes_it()
    vault.assert_sound()


def test_flags_that_a_person_set_on_other_entries_survive(vault: Vault) -> None:
    vault.save("later.md", "later\n")
    vault.git("add", "-N", "later.md")
    vault.git("update-index", "--skip-worktree", "b.md")
    vault.git("update-index", "--assume-unchanged", "people/ada.md")
    before = vault.git("ls-files", "-v", "-t")

    vault.commit({"a.md": "A\n"})

    assert vault.git("ls-files", "-v", "-t") == before
    assert vault.status() == " A later.md\n"
    assert vault.index() == vault.index_as_git_writes_it()
    vault.git("update-index", "--no-skip-worktree", "b.md")
    vault.git("rm", "-q", "--cached", "later.md")
    vault.commit({"a.md": "AA\n"})
    assert vault.index()[4:8] == (2).to_bytes(4, "big")
    assert vault.index() == vault.index_as_git_writes_it()


def test_a_last_entry_with_more_flags_gone_makes_version_2_again(vault: Vault) -> None:
    vault.git("update-index", "--skip-worktree", "b.md")
    assert vault.index()[4:8] == (3).to_bytes(4, "big")

    vault.commit({"b.md": "B\n"})

    assert vault.index()[4:8] == (2).to_bytes(4, "big")
    assert vault.index() == vault.index_as_git_writes_it()
    vault.assert_sound()


def test_a_path_longer_than_the_length_field_is_kept(vault: Vault) -> None:
    # 4,096 bytes and more do not fit into the flags; no working tree holds such a path, but an index may.
    long = "/".join(["d" * 200] * 21) + "/x.md"
    blob = vault.git("rev-parse", "HEAD:a.md").strip()
    vault.git("update-index", "-z", "--index-info", given=f"100644 {blob}\t{long}\0".encode())

    vault.commit({"a.md": "A\n", "z.md": "z\n"})

    assert long in vault.git("ls-files", "-z")
    assert vault.index() == vault.index_as_git_writes_it()


def test_paths_in_conflict_are_refused_before_a_file_is_touched(vault: Vault) -> None:
    blob = vault.git("rev-parse", "HEAD:a.md").strip()
    lines = [f"0 {'0' * 40}\tb.md", f"100644 {blob} 2\tb.md", f"100644 {blob} 3\tb.md", ""]
    vault.git("update-index", "-z", "--index-info", given="\0".join(lines).encode())

    with pytest.raises(RepositoryRefused, match="conflict"):
        vault.commit({"a.md": "A\n"})

    assert vault.text("a.md") == "a\n"
    assert vault.leftovers() == []


@pytest.mark.parametrize(
    "settings_of_git",
    [
        ("--index-version", "4"),
        ("--split-index",),
        ("--untracked-cache",),
    ],
)
def test_an_index_of_another_kind_is_not_taken_for_a_plain_one(
    vault: Vault, settings_of_git: tuple[str, ...]
) -> None:
    vault.git("update-index", *settings_of_git)

    with pytest.raises(IndexNotPlainError):
        IndexImage(str(vault.root / ".git/index")).load()


def test_an_edit_within_the_second_of_a_commit_does_not_stay_hidden(vault: Vault) -> None:
    """What racy-git is about: same second, same size, in place; then the index grows older than the file."""
    hidden = 0
    for turn in range(8):
        fill = "abcdefgh"[turn]
        vault.commit({"a.md": f"{fill}\n", f"n{turn}.md": "n\n"})
        second = int(time.time())
        with open(vault.root / "a.md", "r+b") as file:
            file.write(b"X")
        stat = os.stat(vault.root / "a.md")
        hidden += int(stat.st_mtime) == second
        wait_until(lambda second=second: time.time() >= second + 1.05, 3)  # type: ignore[misc]  # bound at once
        vault.commit({"b.md": f"later {turn}\n"})

        assert vault.status() == " M a.md\n"
        vault.commit({"a.md": "done\n"})
        if hidden > 1:
            break
    assert hidden


def test_the_index_is_read_again_when_another_program_wrote_it(vault: Vault) -> None:
    vault.commit({"a.md": "1\n"})
    vault.save("b.md", "B\n")
    vault.git("add", "b.md")

    vault.commit({"a.md": "2\n"})

    assert vault.git("show", ":b.md") == "B\n"
    assert vault.index() == vault.index_as_git_writes_it()


def test_two_open_repositories_on_one_vault_never_write_a_stale_index(vault: Vault) -> None:
    other = Vault(vault.root)
    try:
        for number in range(40):
            (vault, other)[number % 3 == 0].commit({f"n{number % 5}.md": f"{number}\n"})
            assert vault.status() == ""
    finally:
        other.close()
    assert vault.index() == vault.index_as_git_writes_it()


# -- random operations, with Git's own commands and gc between them

NAMES = ["a.md", "b.md", "x/a.md", "x/b.md", "x/y/c.md", "z.md", "x.md", "x-y.md", "ü/ß.md"]
Operation = tuple[str, str, str]


def operations() -> st.SearchStrategy[list[Operation]]:
    kinds = st.sampled_from(
        [
            *["put"] * 3,
            *["drop", "hand", "stage", "edit", "sneak", "their commit", "gc", "reset", "pack-refs"],
        ]
    )
    return st.lists(st.tuples(kinds, st.sampled_from(NAMES), st.sampled_from("123456789")), max_size=25)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=operations())
def test_any_mix_of_ours_and_gits_own_commands_stays_sound(places: Path, steps: list[Operation]) -> None:
    vault = Vault.make(places / str(time.monotonic_ns()), notes={"a.md": "a\n", "x/b.md": "b\n"})
    try:
        hidden = False
        for number, (kind, name, word) in enumerate(steps):
            apply(vault, kind, name, word * (number + 2) + "\n")
            # Once a file was changed to the same size in the same second, Git makes a note of it whenever it
            # writes the index, and we only when the index is about to grow older than the file.
            hidden |= kind == "sneak"
            assert hidden or vault.index() == vault.index_as_git_writes_it()
        vault.assert_sound(clean=False)
        # What is left uncommitted is the person's, seen by Git like in a repository that we never touched.
        vault.git("add", "-A")
        vault.git("commit", "-qm", "rest", "--allow-empty")
        assert vault.status() == ""
        assert vault.git("write-tree") == vault.git("rev-parse", "HEAD^{tree}")
        files = dict.fromkeys(vault.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")[:-1])
        assert files.keys() == vault.there().keys()
    finally:
        vault.close()


def apply(vault: Vault, kind: str, name: str, content: str) -> None:
    target = vault.root / name
    if kind in ("put", "drop"):
        if kind == "put" or target.exists():
            vault.commit({name: content if kind == "put" else None})
            assert vault.git("diff", "HEAD", "--", name) == ""
    elif kind == "hand":
        vault.save(name, content)
        vault.commit({name: content}, write_files=False)
    elif kind == "sneak":
        if target.exists():
            vault.save(name, content[:1] * len(target.read_bytes()))
    elif kind in ("stage", "edit"):
        vault.save(name, content)
        if kind == "stage":
            vault.git("add", "--", name)
    elif kind == "their commit":
        vault.save(name, content)
        vault.git("add", "--", name)
        vault.git("commit", "-qm", "theirs", "--allow-empty")
    elif kind == "gc":
        vault.git("gc", "-q", "--prune=now")
    elif kind == "reset":
        vault.git("reset", "-q", "--hard")
    else:
        vault.git("pack-refs", "--all")

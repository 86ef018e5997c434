"""Every tool once on the disks of Windows and macOS, as far as Linux can play them."""

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.direct import call, done
from tests.every_tool import calls, looks, numbered
from tests.storage.playing import Played, System
from tests.vaults import CLAUDE, PERSON, git, make_vault, opened, write_files
from vault_mcp.vault import Options, Vault

OPTIONS = Options(embeddings="off")
SYSTEMS: tuple[System, ...] = ("windows", "mac", "old mac")


@pytest.fixture(params=SYSTEMS)
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Vault]:
    root = make_vault(tmp_path / "v", {"n.md": "a note\n"})
    with pytest.MonkeyPatch.context() as patch:
        Played(root, request.param, patch)
        with opened(root, OPTIONS) as vault:
            vault.wait_until_compared(60)
            yield vault


def on_disk(vault: Vault) -> set[str]:
    """Give the files of the vault as a system that composes names lists them."""
    found = set()
    for place, folders, names in os.walk(vault.root):
        folders[:] = [folder for folder in folders if folder != ".git"]
        found |= {os.path.relpath(os.path.join(place, name), vault.root) for name in names}
    return {unicodedata.normalize("NFC", path) for path in found}


def in_git(vault: Vault) -> set[str]:
    return set(filter(None, git(vault.root, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")))


def settled(vault: Vault) -> None:
    """See that nothing is left to be done, and that files, index and last commit agree."""
    before = git(vault.root, "rev-parse", "HEAD")
    vault.noticed(None)
    assert git(vault.root, "rev-parse", "HEAD") == before
    assert in_git(vault) == on_disk(vault)
    staged = set(filter(None, git(vault.root, "ls-files", "-z").split("\0")))
    assert staged == in_git(vault)
    assert git(vault.root, "diff", "--cached", "--name-only") == ""
    assert git(vault.root, "fsck", "--strict", "--no-dangling", "--no-progress") == ""


def test_every_tool(vault: Vault) -> None:
    root = Path(vault.root)
    for number, before in ((1, None), (2, 1), (3, 2)):
        for tool, said in calls(number, before, fresh=number == 3):
            head = git(root, "rev-parse", "HEAD")
            done(vault, tool, **numbered(root, said))
            assert git(root, "rev-parse", "HEAD^") == head, tool
            if tool == "create_entities":
                for looking, asked in looks(number):
                    if not looking.startswith(("memory_recall", "read_memory")):
                        done(vault, looking, **numbered(root, asked))
    settled(vault)


def test_names_beyond_ascii_and_names_that_differ_in_case(vault: Vault) -> None:
    made = [
        {"name": name, "entityType": "t", "observations": [name]} for name in ("Ärger", "ada", "Ada", "x?")
    ]
    done(vault, "create_entities", entities=made)
    settled(vault)
    done(vault, "rename_entity", entityName="Ärger", newName="ÄRGER")
    done(vault, "add_observations", observations=[{"entityName": "ÄRGER", "contents": ["more"]}])
    for key in ("Theme", "theme", "con", "a:b", "trailing."):
        done(vault, "write_memory", key=key, value=f"of {key}")
    for key in ("Theme", "theme", "con", "a:b", "trailing."):
        assert f"of {key}" in done(vault, "read_memory", key=key)
    done(vault, "memory_remember", text="Überlegung zu Ärger", session_id="s")
    settled(vault)


def test_files_are_found_in_another_spelling_and_a_case_is_changed(vault: Vault) -> None:
    done(vault, "memory_create", path="Übung/plan.md", file_text="one\n")
    assert "one" in done(vault, "memory_view", path="übung/PLAN.md")
    done(vault, "memory_view", path=unicodedata.normalize("NFD", "Übung/plan.md"))
    assert call(vault, "memory_create", path="übung/Plan.md", file_text="two\n").error
    done(vault, "memory_rename", old_path="Übung/plan.md", new_path="Übung/Plan.md")
    assert "Übung/Plan.md" in in_git(vault)
    settled(vault)
    done(vault, "memory_rename", old_path="Übung", new_path="ÜBUNG")
    assert "ÜBUNG/Plan.md" in in_git(vault)
    settled(vault)
    done(vault, "memory_delete", path="ÜBUNG")
    settled(vault)


def test_what_a_person_does_by_hand(vault: Vault) -> None:
    root = Path(vault.root)
    write_files(root, {"Café/Straße.md": "by hand\n", "b.md": "[[Straße]]\n"})
    vault.noticed(None)
    settled(vault)
    assert "Café/Straße.md" in in_git(vault)
    os.replace(root / "b.md", root / "B.md")
    vault.noticed(None)
    settled(vault)
    os.replace(root / "Café", root / "CAFÉ")
    vault.noticed(None)
    settled(vault)
    assert "CAFÉ/Straße.md" in in_git(vault)
    os.replace(root / "CAFÉ", root / "Café")
    vault.noticed(None)
    settled(vault)
    assert "B.md" in in_git(vault)
    (root / "Café/Straße.md").write_text("by hand, again\n")
    vault.noticed(None)
    settled(vault)
    assert git(root, "log", "-1", "--format=%an").strip() == PERSON
    assert "again" in done(vault, "memory_view", path="Café/Straße.md")
    os.unlink(root / "Café/Straße.md")
    vault.noticed(None)
    settled(vault)
    done(vault, "history_restore", note="Café/Straße.md")
    settled(vault)


def test_an_index_is_made_anew_and_a_vault_is_opened_again(vault: Vault) -> None:
    done(vault, "memory_create", path="Übung.md", file_text="one\n")
    vault.reindex()
    assert "Übung" in done(vault, "search_nodes", query="übung")
    with opened(Path(vault.root), OPTIONS) as again:
        again.wait_until_compared(60)
        done(again, "memory_str_replace", path="Übung.md", old_str="one", new_str="two")
        settled(again)
    assert "two" in done(vault, "memory_view", path="Übung.md")
    assert CLAUDE.agent in git(vault.root, "log", "-1", "--format=%an")

"""A folder of notes, or a project of basic-memory, brought into a vault."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vaults import authors, clean, commits, git, make_vault, opened, write_files
from vault_mcp.errors import BadArgument, PathRefused
from vault_mcp.tools.notes_importing import NotesImportReport, holds_notes, import_notes
from vault_mcp.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault")


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    with opened(root) as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "old notes"


def bring_in(vault: Vault, folder: Path, *, into: str = "old", dry_run: bool = False) -> NotesImportReport:
    return import_notes(vault, str(folder), by="import", source=folder.name, into=into, dry_run=dry_run)


def graph(vault: Vault) -> tuple[dict[str, str], set[tuple[str, str, str]]]:
    """Give entities with their types, and relations by the names that they join."""
    with vault.reading() as reader:
        relations = {(r.from_name, r.type, r.to_name) for r in reader.all_relations()}
        notes = [reader.note_at(path) for path in sorted(git_files(Path(vault.root))) if path.endswith(".md")]
    return {note.name: note.type for note in notes if note and note.kind == "entity"}, relations


def git_files(root: Path) -> list[str]:
    return git(root, "-c", "core.quotePath=false", "ls-files").splitlines()


PROJECT = {
    "drinks/coffee-brewing.md": (
        "---\ntitle: Coffee Brewing\ntype: guide\npermalink: main/drinks/coffee-brewing\n---\n\n"
        "# Coffee Brewing\n\n- [method] Pour over #brewing\n\n## Relations\n\n"
        "- requires [[Hand Grinder]]\n- pairs_with [[main/food/dark-chocolate]]\n"
        "- served_in [[Blue/White Cup]] (on Sundays)\n- follows [[A note to come]]\n"
    ),
    "tools/hand-grinder.md": (
        "---\ntitle: Hand Grinder\ntype: note\npermalink: main/tools/hand-grinder\n---\n\n"
        "See [[Coffee Brewing]] and [[drinks/coffee-brewing]].\n\n## Observations\n\n- [fact] Ceramic burrs\n"
    ),
    "food/dark-chocolate.md": (
        "---\ntitle: Dark chocolate\ntype: food\npermalink: main/food/dark-chocolate\n---\n"
    ),
    "Cup.md": "---\ntitle: Blue/White Cup\ntype: note\npermalink: main/cup\n---\n",
    "plain.md": "# No front matter\n\n- [fact] left alone\n",
    "pictures/cup.png": "\x89PNG\r\n",
}


def test_a_project_of_basic_memory_becomes_entities_that_lead_to_each_other(
    root: Path, vault: Vault, folder: Path
) -> None:
    write_files(folder, PROJECT)
    done = bring_in(vault, folder)
    entities, relations = graph(vault)
    assert entities == {
        "Coffee Brewing": "guide",
        "Hand Grinder": "note",
        "Dark chocolate": "food",
        "Blue/White Cup": "note",
    }
    assert relations == {
        ("Coffee Brewing", "requires", "Hand Grinder"),
        ("Coffee Brewing", "pairs_with", "Dark chocolate"),
        ("Coffee Brewing", "served_in", "Blue/White Cup"),
        ("Coffee Brewing", "follows", "A note to come"),
    }
    assert (done.entities, done.observations, done.relations, done.notes, done.others) == (4, 3, 4, 1, 1)
    assert done.problems == []
    assert {path for path in git_files(root) if path.startswith("old/")} == {
        "old/Blue White Cup.md",
        "old/drinks/Coffee Brewing.md",
        "old/food/Dark chocolate.md",
        "old/pictures/cup.png",
        "old/plain.md",
        "old/tools/Hand Grinder.md",
    }
    assert (
        "[[Coffee Brewing]] and [[Coffee Brewing|drinks/coffee-brewing]]."
        in (root / "old/tools/Hand Grinder.md").read_text()
    )
    assert (root / "old/plain.md").read_text() == PROJECT["plain.md"]
    assert (commits(root)[0], authors(root)[0]) == ("import: old notes", "import")
    assert clean(root)


def test_an_import_can_be_repeated_and_undone(root: Path, vault: Vault, folder: Path) -> None:
    write_files(folder, PROJECT)
    before = git_files(root)
    first = bring_in(vault, folder)
    again = bring_in(vault, folder)
    assert (again.commit, again.present, again.problems) == (None, len(PROJECT), [])
    assert first.commit
    git(root, "revert", "--no-edit", first.commit)
    assert git_files(root) == before


def test_a_dry_run_says_the_same_and_saves_nothing(root: Path, vault: Vault, folder: Path) -> None:
    write_files(folder, PROJECT)
    said = bring_in(vault, folder, dry_run=True)
    assert said.commit is None
    assert commits(root) == commits(root)[-1:]
    done = bring_in(vault, folder)
    done.commit = None
    assert said == done


NOTES = {
    "Plan.md": "---\ntags: [x]   # mine\n---\n\nSee [[Day 1]], [[Daily/Day 1#Noon|it]] and ![[map.png]].\r\n",
    "Daily/Day 1.md": "\ufeffBack to [[Plan]] and [the plan](../Plan.md).\n",
    "map.png": "png",
    ".obsidian/app.json": "{}",
    "notes.txt": "words",
}


def test_plain_notes_keep_every_byte(root: Path, vault: Vault, folder: Path) -> None:
    write_files(folder, NOTES)
    done = bring_in(vault, folder, into="")
    assert (done.notes, done.others, done.links, done.problems) == (2, 2, 0, [])
    for path, text in NOTES.items():
        assert (root / path).exists() is not path.startswith(".obsidian")
        if not path.startswith(".obsidian"):
            assert (root / path).read_bytes() == text.encode()


def test_a_link_goes_on_meaning_its_note_where_the_vault_has_one_of_that_name(
    root: Path, vault: Vault, folder: Path
) -> None:
    write_files(root, {"Plan.md": "the vault's own\n"})
    write_files(folder, NOTES)
    done = bring_in(vault, folder, into="old")
    assert done.links == 1
    assert (root / "old/Daily/Day 1.md").read_text() == (
        "\ufeffBack to [[old/Plan|Plan]] and [the plan](../Plan.md).\n"
    )
    assert (root / "Plan.md").read_text() == "the vault's own\n"


def test_what_the_vault_has_under_a_path_is_never_replaced(root: Path, vault: Vault, folder: Path) -> None:
    write_files(root, {"old/Plan.md": "mine\n"})
    write_files(folder, NOTES)
    done = bring_in(vault, folder)
    assert done.problems == ["Plan.md is left out: old/Plan.md is in the vault with other words, which stay."]
    assert (root / "old/Plan.md").read_text() == "mine\n"
    assert (root / "old/notes.txt").exists()


def test_names_that_another_system_could_not_tell_apart_or_store_get_others(
    root: Path, vault: Vault, folder: Path
) -> None:
    write_files(
        folder, {"a/Café.md": "1\n", "A/Cafe\u0301.md": "2\n", "What?.md": "3\n", "See.md": "[[What?]]\n"}
    )
    done = bring_in(vault, folder)
    assert done.problems == []
    kept = {path for path in git_files(root) if path.startswith("old/")}
    assert len({path.casefold() for path in kept}) == len(kept) == 4
    assert (root / "old/What.md").read_text() == "3\n"
    assert (root / "old/See.md").read_text() == "[[What|What?]]\n"


def test_two_notes_of_one_title_stay_two(root: Path, vault: Vault, folder: Path) -> None:
    head = "---\ntitle: Plan\ntype: note\npermalink: {}\n---\n"
    write_files(folder, {"a-plan.md": head.format("a"), "b-plan.md": head.format("b")})
    assert bring_in(vault, folder).entities == 2
    assert {path for path in git_files(root) if "Plan" in path} == {"old/Plan.md", "old/Plan (2).md"}


def test_what_git_ignores_or_is_no_text_is_told_or_kept(root: Path, vault: Vault, folder: Path) -> None:
    write_files(root, {".gitignore": "*.log\n"})
    git(root, "commit", "-qam", "ignore logs")
    write_files(folder, {"a.log": "x", "a.md": "x\n"})
    (folder / "latin.md").write_bytes("caf\xe9".encode("latin-1"))
    done = bring_in(vault, folder)
    assert done.problems == ["a.log is left out: Git ignores old/a.log in the vault."]
    assert (root / "old/latin.md").read_bytes() == b"caf\xe9"
    assert (done.notes, done.others) == (1, 1)


def test_a_folder_of_the_vault_and_a_place_outside_it_are_refused(
    root: Path, vault: Vault, folder: Path
) -> None:
    write_files(root, {"in/a.md": "x\n"})
    write_files(folder, NOTES)
    with pytest.raises(BadArgument, match="in the vault already"):
        bring_in(vault, root / "in")
    for into in ("../out", ".hidden", "/tmp/x"):
        with pytest.raises(PathRefused):
            bring_in(vault, folder, into=into)


def test_a_folder_of_notes_is_told_from_one_of_other_files(folder: Path) -> None:
    write_files(folder, {"a.json": "{}", ".trash/b.md": "x"})
    assert not holds_notes(str(folder))
    write_files(folder, {"deep/er/b.MD": "x"})
    assert holds_notes(str(folder))

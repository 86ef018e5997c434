"""Values under keys: one note and one commit each, exact, and a person's note of a key is that key."""

from pathlib import Path

import pytest

from tests.vaults import CLAUDE, CURSOR, PERSON, authors, clean, commits, git, make_vault, opened, write_files
from tests.waiting import wait_until
from vault_mcp.errors import AlreadyThere, BadArgument
from vault_mcp.tools.keys.reading import list_memory_keys, read_memory
from vault_mcp.tools.keys.writing import delete_memory, write_memory
from vault_mcp.tools.placing import FOLDER_MOST
from vault_mcp.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def key_note(key: str, value: str) -> str:
    return f"---\nkey: {key}\n---\n\n{value}\n"


def keys(root: Path) -> list[str]:
    return [path for path in git(root, "ls-files", "-z", "keys").split("\0") if path]


def caught_up(vault: Vault) -> None:
    wait_until(lambda: vault.index.history_head == vault.repository.head())


def test_a_value_is_a_note_under_keys_and_one_commit_of_the_agent(root: Path) -> None:
    with opened(root) as vault:
        told = write_memory(vault, CLAUDE, "user/theme", "dark")
    assert told == f"Saved “user/theme” in keys/user/theme.md. Commit {git(root, 'rev-parse', 'HEAD')[:12]}."
    assert (root / "keys/user/theme.md").read_text() == key_note("user/theme", "dark")
    assert (commits(root)[0], authors(root)[0]) == ("write_memory: user/theme", "claude-desktop")
    assert "+ dark" in git(root, "log", "-1", "--format=%b")
    assert clean(root)


def test_a_value_that_is_replaced_is_told_with_who_wrote_it(root: Path) -> None:
    with opened(root) as vault:
        caught_up(vault)
        write_memory(vault, CLAUDE, "user/theme", "dark")
        told = write_memory(vault, CURSOR, "user/theme", "light")
        assert "\nIt replaced “dark”, written by claude-desktop at 20" in told
        write_files(root, {"keys/user/theme.md": key_note("user/theme", "blue")})
        told = write_memory(vault, CURSOR, "user/theme", "red")
        assert f"It replaced “blue”, written by {PERSON} (a person) at 20" in told
    assert authors(root)[:2] == ["cursor", PERSON]


def test_an_equal_value_makes_no_commit(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", "v")
        before = commits(root)
        assert "holds exactly this value already" in write_memory(vault, CURSOR, "k", "v")
    assert commits(root) == before


def test_a_persons_own_note_of_a_key_is_that_key_wherever_it_lies(root: Path) -> None:
    mine = "---\ntags: [a]\n# why\nkey: user/theme\n---\nblue\n"
    write_files(root, {"Settings/my theme.md": mine})
    with opened(root) as vault:
        assert read_memory(vault, CLAUDE, "user/theme") == "blue"
        write_memory(vault, CLAUDE, "user/theme", "red")
        assert read_memory(vault, CLAUDE, "user/theme") == "red"
    assert (root / "Settings/my theme.md").read_text() == mine.replace("blue", "red")
    assert keys(root) == []


def test_a_note_that_was_moved_by_hand_is_still_its_key(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", "one")
    (root / "Elsewhere").mkdir()
    (root / "keys/k.md").rename(root / "Elsewhere/renamed.md")
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", "two")
        assert list_memory_keys(vault, CLAUDE) == ('["k"]',)
    assert "two" in (root / "Elsewhere/renamed.md").read_text()
    assert not (root / "keys/k.md").exists()


def test_a_note_that_a_person_made_a_moment_ago_is_found_where_it_would_be(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "other", "x")
        write_files(root, {"keys/k.md": key_note("k", "by hand")})
        assert "It replaced “by hand”" in write_memory(vault, CLAUDE, "k", "by tool")
    assert keys(root) == ["keys/k.md", "keys/other.md"]


@pytest.mark.parametrize("key", ["", "   ", "\n\t", "\ud800"])
def test_a_blank_key_and_half_a_character_are_refused(root: Path, key: str) -> None:
    before = commits(root)
    with opened(root) as vault:
        with pytest.raises(BadArgument):
            write_memory(vault, CLAUDE, key, "v")
        with pytest.raises(BadArgument):
            read_memory(vault, CLAUDE, key)
        with pytest.raises(BadArgument):
            delete_memory(vault, CLAUDE, key)
        with pytest.raises(BadArgument, match="surrogate"):
            write_memory(vault, CLAUDE, "k", "half \ud800")
    assert commits(root) == before


ODD = [
    *(
        "a/b",
        "a_b",
        "a-b",
        "a b",
        "a\\b",
        "A_B",
        "a.b",
        "a.json",
        "a",
        "ä",
        "a\u0308",
        "ключ",
        "k?",
        "k*",
        ".k",
    ),
    *(
        "k.",
        "CON",
        "con",
        "..",
        ".",
        "../up",
        "/abs",
        "a//b",
        "a/",
        "x.md",
        "x.md/y",
        "Log",
        "log",
        "LOG",
        "😀",
    ),
    *(
        "~$plan",
        "a/~$plan",
        "conflict-files-obsidian-git",
        "MEETIN~1",
        ".git/config",
        "a:b",
        "a\nb",
        "tab\tkey",
    ),
    *(
        "null",
        "true",
        "2024",
        "1e3",
        "~",
        "- dash",
        "# hash",
        "[[link]]",
        "'q'",
        '"d"',
        " lead",
        "trail ",
        "{x}",
    ),
    *("x" * 300, "ü" * 300, "a/b/c/d/e/f/g/h", "\x07bell", "\u202eevil", "%2e%2e", "k 0123456789"),
]


def test_any_key_has_a_note_of_its_own(root: Path) -> None:
    with opened(root) as vault:
        for key in ODD:
            write_memory(vault, CLAUDE, key, f"v:{key}")
        for key in ODD:
            assert read_memory(vault, CLAUDE, key) == f"v:{key}"
        (listed,) = list_memory_keys(vault, CLAUDE)
    paths = keys(root)
    assert len(paths) == len(ODD)
    assert len({path.casefold() for path in paths}) == len(ODD)
    assert clean(root)
    with opened(root) as vault:  # and again, from nothing but the files
        assert list_memory_keys(vault, CLAUDE) == (listed,)
        for key in ODD:
            assert read_memory(vault, CLAUDE, key) == f"v:{key}"


def test_a_file_that_is_no_key_keeps_its_place(root: Path) -> None:
    write_files(root, {"keys/k.md": "my own words\n", "keys/Log.md": "---\nkey: other\n---\nx\n"})
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", "v")
        write_memory(vault, CLAUDE, "log", "w")
        assert read_memory(vault, CLAUDE, "k") == "v"
        assert read_memory(vault, CLAUDE, "log") == "w"
    assert (root / "keys/k.md").read_text() == "my own words\n"
    assert len(keys(root)) == 4


def test_a_key_without_any_free_place_is_an_error(root: Path) -> None:
    with opened(root) as vault:
        for _ in range(3):
            write_memory(vault, CLAUDE, "k", "v")
            (path,) = [p for p in keys(root) if "key: k\n" in (root / p).read_text()]
            write_files(root, {path: "taken\n"})
        with pytest.raises(AlreadyThere, match="Other files stand where the key 'k' could go"):
            write_memory(vault, CLAUDE, "k", "v")


def test_a_full_folder_gets_sub_folders(root: Path) -> None:
    write_files(root, {f"keys/{n}.md": key_note(f"n{n}", "v") for n in range(FOLDER_MOST)})
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "new", "v")
        assert read_memory(vault, CLAUDE, "new") == "v"
    (path,) = [p for p in keys(root) if p.endswith("/new.md")]
    assert len(path.split("/")) == 3


def test_a_value_too_long_for_a_note_is_refused(root: Path) -> None:
    with opened(root) as vault, pytest.raises(BadArgument, match="too long for one note"):
        write_memory(vault, CLAUDE, "k", "東" * 3_000_000)
    assert keys(root) == []


# -- delete


def test_a_key_is_deleted_and_its_value_stays_in_history(root: Path) -> None:
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "k", "S3CRET")
        told = delete_memory(vault, CURSOR, "k")
        assert "no key “k”" in read_memory(vault, CLAUDE, "k")
        assert list_memory_keys(vault, CLAUDE) == ("[]",)
    assert told.startswith("Deleted “k” (keys/k.md). History keeps the value: history_restore brings it back")
    assert "only a person's vault-mcp erase removes it for good" in told
    assert "S3CRET" in git(root, "show", "HEAD~1:keys/k.md")
    assert (commits(root)[0], authors(root)[0]) == ("delete_memory: k", "cursor")
    assert clean(root)


def test_a_missing_key_is_no_error_and_no_commit(root: Path) -> None:
    before = commits(root)
    with opened(root) as vault:
        assert delete_memory(vault, CLAUDE, "k") == (
            "There is no key “k”, so nothing was deleted. list_memory_keys gives the keys."
        )
    assert commits(root) == before


def test_every_note_of_a_key_goes_with_it(root: Path) -> None:
    write_files(root, {"a.md": key_note("k", "1"), "b.md": key_note("k", "2"), "c.md": key_note("K", "3")})
    with opened(root) as vault:
        with vault.reading():
            pass
        told = delete_memory(vault, CLAUDE, "k")
        assert list_memory_keys(vault, CLAUDE) == ('["K"]',)
    assert "(a.md, b.md)" in told
    assert commits(root)[0] == "delete_memory: k"

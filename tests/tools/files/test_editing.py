"""Create, replace, insert: one commit each, every other byte as it was."""

import stat
from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, CURSOR, PERSON, authors, clean, commits, git, make_vault, opened, write_files
from tests.waiting import wait_until
from vault_mcp.errors import AlreadyThere, BadArgument, NoteUnreadable, NotFound, PathRefused
from vault_mcp.tools.files.editing import memory_create, memory_insert, memory_str_replace
from vault_mcp.tools.graph import entities, reading
from vault_mcp.tools.history import restoring


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v", {"a.md": "one\ntwo\nthree\n"})


def create(root: Path, path: str, text: str) -> str:
    with opened(root) as vault:
        return memory_create(vault, CLAUDE, path, text)


def edit(root: Path, old: str, new: str = "", path: str = "a.md") -> str:
    with opened(root) as vault:
        return memory_str_replace(vault, CLAUDE, path, old, new)


def insert(root: Path, line: int, text: str, path: str = "a.md") -> str:
    with opened(root) as vault:
        return memory_insert(vault, CLAUDE, path, line, text)


def commit(root: Path) -> str:
    return git(root, "rev-parse", "HEAD")[:12]


# -- create


def test_a_new_file_holds_the_text_to_the_letter_and_is_one_commit_of_the_agent(root: Path) -> None:
    text = "\ufeffa\r\nb\u2028\x0b no end"
    told = create(root, "x/y/new.md", text)
    assert told == f"File created successfully at: x/y/new.md\nCommit {commit(root)}."
    assert (root / "x/y/new.md").read_bytes() == text.encode()
    assert git(root, "show", "--format=%an|%cn|%s", "--name-only", "HEAD").split("\n")[0::2] == [
        "claude-desktop|vault-mcp|memory_create: x/y/new.md",
        "x/y/new.md",
    ]
    assert "Edited-By: claude-desktop" in git(root, "log", "-1", "--format=%b")
    assert clean(root)


def test_an_empty_file_and_files_of_any_kind_are_kept(root: Path) -> None:
    for path in ("empty.md", "a.json", "board.canvas", "script.py", "noending"):
        create(root, path, "")
        assert git(root, "show", f"HEAD:{path}") == ""
    assert clean(root)


def test_a_note_is_an_entity_or_a_key_at_once(root: Path) -> None:
    with opened(root) as vault:
        memory_create(vault, CLAUDE, "Ada.md", "---\nentity: person\n---\n\n- plays chess\n")
        found = reading.open_nodes(vault, CLAUDE, ["Ada"])
        with vault.reading() as reader:
            assert reader.entity("Ada") is not None
    assert "plays chess" in str(found["entities"])


def test_what_exists_is_never_overwritten(root: Path) -> None:
    write_files(root, {"d/x.md": "1"})
    before = commits(root)
    with pytest.raises(AlreadyThere, match=r"^Error: File a\.md already exists\. Choose another path\.$"):
        create(root, "a.md", "new")
    with pytest.raises(AlreadyThere, match=r"^Error: File d already exists\."):
        create(root, "d", "new")
    with pytest.raises(AlreadyThere, match=r"^Error: File A\.md already exists as a\.md, which some systems"):
        create(root, "A.md", "new")
    with pytest.raises(AlreadyThere, match=r"^Error: File / already exists"):
        create(root, "/", "new")
    assert (root / "a.md").read_text() == "one\ntwo\nthree\n"
    assert [c for c in commits(root) if not c.startswith("hand-edit")] == before


def test_a_new_file_is_a_plain_one_whatever_its_name(root: Path) -> None:
    create(root, "run.sh", "#!/bin/sh\n")
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) & 0o111 == 0
    assert git(root, "ls-files", "-s", "run.sh").startswith("100644 ")


@pytest.mark.parametrize("text", ["a\0b", "half \ud800 of it"])
def test_what_no_text_file_can_hold_is_refused(root: Path, text: str) -> None:
    before = commits(root)
    with pytest.raises(BadArgument, match=r"NUL|surrogate"):
        create(root, "n.md", text)
    with pytest.raises(BadArgument, match=r"NUL|surrogate"):
        edit(root, "two", text)
    with pytest.raises(BadArgument, match=r"NUL|surrogate"):
        insert(root, 0, text)
    assert commits(root) == before


def test_a_path_that_git_ignores_is_refused_and_leaves_no_file(root: Path) -> None:
    (root / ".gitignore").write_text("private/\n")
    with pytest.raises(PathRefused, match="ignored by Git"):
        create(root, "private/p.md", "secret")
    assert not (root / "private").exists()


# -- replace


def test_one_passage_is_replaced_and_shown_with_the_lines_around_it(root: Path) -> None:
    write_files(root, {"long.md": "".join(f"line {n}\n" for n in range(1, 21))})
    told = edit(root, "line 10\nline 11", "TEN\nand more\nELEVEN", "long.md")
    assert told.splitlines() == [
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):",
        "     8\tline 8",
        "     9\tline 9",
        "    10\tTEN",
        "    11\tand more",
        "    12\tELEVEN",
        "    13\tline 12",
        "    14\tline 13",
        f"Commit {commit(root)}.",
    ]
    assert commits(root)[0] == "memory_str_replace: long.md"
    assert clean(root)


def test_without_a_new_text_the_old_one_is_deleted(root: Path) -> None:
    edit(root, "two\n")
    assert (root / "a.md").read_text() == "one\nthree\n"
    edit(root, "one\nthree\n")
    assert (root / "a.md").read_bytes() == b""


def test_a_file_that_becomes_empty_is_shown_as_such(root: Path) -> None:
    assert "\nThe file is empty.\n" in edit(root, "one\ntwo\nthree\n")


def test_a_text_that_is_not_there_is_named_in_the_words_of_the_standard(root: Path) -> None:
    with pytest.raises(NotFound) as error:
        edit(root, "four", "4")
    assert str(error.value).startswith(
        "No replacement was performed, old_str `four` did not appear verbatim in a.md."
    )


def test_a_repeated_text_is_named_with_its_lines(root: Path) -> None:
    write_files(root, {"r.md": "aaa x\nb\nx\n"})
    with pytest.raises(BadArgument) as error:
        edit(root, "x", "y", "r.md")
    assert str(error.value) == (
        "No replacement was performed. Multiple occurrences of old_str `x` in lines: 1, 3. "
        "Please ensure it is unique."
    )
    with pytest.raises(BadArgument, match=r"`aa` in lines: 1\. Please"):
        edit(root, "aa", "b", "r.md")


def test_errors_repeat_only_so_much_of_what_came(root: Path) -> None:
    write_files(root, {"r.md": "x\n" * 1000})
    with pytest.raises(NotFound) as missing:
        edit(root, "y" * 10_000, "z")
    with pytest.raises(BadArgument, match=r"19, 20, …\. Please") as repeated:
        edit(root, "x", "z", "r.md")
    assert max(len(str(missing.value)), len(str(repeated.value))) < 1000


def test_an_empty_old_text_is_refused(root: Path) -> None:
    with pytest.raises(BadArgument, match="`old_str` is empty"):
        edit(root, "", "X")


def test_an_edit_that_changes_nothing_makes_no_commit(root: Path) -> None:
    before = commits(root)
    assert edit(root, "two", "two").endswith("Nothing changed, so no commit was made.")
    assert commits(root) == before


@pytest.mark.parametrize("path", ["nope.md", "x/nope.md"])
def test_a_missing_file_is_named_in_the_words_of_the_standard(root: Path, path: str) -> None:
    wanted = f"Error: The path {path} does not exist. Please provide a valid path."
    with pytest.raises(NotFound) as replacing:
        edit(root, "a", "b", path)
    with pytest.raises(NotFound) as inserting:
        insert(root, 0, "x", path)
    assert str(replacing.value) == str(inserting.value) == wanted


def test_a_folder_has_no_text(root: Path) -> None:
    write_files(root, {"d/x.md": "1"})
    with pytest.raises(NotFound, match=r"^Error: The path d does not exist\. .* It is a folder"):
        edit(root, "1", "2", "d")


@pytest.mark.parametrize("content", [b"caf\xe9 zebra\n", b"zebra\x00"])
def test_what_is_no_text_is_not_edited(root: Path, content: bytes) -> None:
    (root / "x.md").write_bytes(content)
    with pytest.raises(NoteUnreadable, match="not in UTF-8"):
        edit(root, "zebra", "x", "x.md")
    with pytest.raises(NoteUnreadable, match="not in UTF-8"):
        insert(root, 0, "x", "x.md")
    assert (root / "x.md").read_bytes() == content


def test_the_mode_of_a_file_is_kept(root: Path) -> None:
    (root / "a.md").chmod(0o600)
    edit(root, "two", "2")
    assert stat.S_IMODE((root / "a.md").stat().st_mode) == 0o600
    insert(root, 0, "top")
    assert stat.S_IMODE((root / "a.md").stat().st_mode) == 0o600


def test_what_a_person_left_uncommitted_is_theirs_and_then_edited(root: Path) -> None:
    write_files(root, {"a.md": "one\nby hand\n"})
    told = edit(root, "by hand", "by tool")
    assert (root / "a.md").read_text() == "one\nby tool\n"
    assert authors(root)[:2] == ["claude-desktop", PERSON]
    assert told.splitlines()[-1].startswith("Commit ")


def test_a_call_says_whose_words_it_replaced(root: Path) -> None:
    with opened(root) as vault:
        made = [{"name": "Ada", "entityType": "person", "observations": ["plays chess"]}]
        entities.create_entities(vault, CLAUDE, made)
    note = root / "entities/person/Ada.md"
    note.write_text(note.read_text() + "- typed by hand\n")
    with opened(root) as vault:
        wait_until(lambda: vault.index.history_head == vault.repository.head())
        told = memory_str_replace(vault, CLAUDE, "entities/person/Ada.md", "typed by hand", "typed by tool")
    assert f"It replaced “typed by hand”, written by {PERSON} (a person)" in told


def test_an_edit_that_leaves_an_entity_a_plain_note_warns_and_says_what_to_do(root: Path) -> None:
    note = root / "entities/person/Ada.md"
    with opened(root) as vault:
        made = [{"name": "Ada", "entityType": "person", "observations": ["plays chess"]}]
        entities.create_entities(vault, CURSOR, made)
        text = note.read_text("utf-8")
        body = text.splitlines().index("---", 1) + 1
        told = memory_insert(vault, CLAUDE, "entities/person/Ada.md", 0, "On top")
        assert note.read_text("utf-8") == f"On top\n{text}"
        assert "It replaced" not in told
        assert told.splitlines()[-2] == f"Commit {commit(root)}."
        assert told.splitlines()[-1] == (
            "Warning: this note is an entity no longer, since front matter has to begin on the first line; "
            f"its text begins behind line {body}. To take the change back use history_undo."
        )
        restoring.history_undo(vault, CLAUDE, change=commit(root))
        told = memory_insert(vault, CLAUDE, "entities/person/Ada.md", body, "On top")
        assert "Warning" not in told
        assert note.read_text("utf-8").splitlines()[body] == "On top"
        read: Any = reading.open_nodes(vault, CLAUDE, ["Ada"])
        assert [one["entityType"] for one in read["entities"]] == ["person"]
        told = memory_str_replace(vault, CLAUDE, "entities/person/Ada.md", "entity: person", "kind: person")
    assert told.splitlines()[-1] == (
        "Warning: this note is an entity no longer. To take the change back use history_undo."
    )
    assert clean(root)


def test_a_line_before_the_front_matter_of_a_memory_warns_once(root: Path) -> None:
    write_files(root, {"m.md": "---\r\nmemory: fact\r\nid: 1234567890123456\r\n---\r\nText.\r\n"})
    assert "Warning" not in insert(root, 4, "More.", "m.md")
    told = insert(root, 0, "Top.", "m.md")
    assert "this note is a memory no longer" in told
    assert "behind line 4." in told
    assert "Warning" not in insert(root, 0, "Higher.", "m.md")


@pytest.mark.parametrize("path", ["dir3/", "new.md/", "x/y//", "/memories/dir3/", "dir3/.", "a.md/"])
def test_a_path_that_ends_in_a_slash_lacks_the_name_of_a_file(root: Path, path: str) -> None:
    before = commits(root)
    wanted = r"^A file name is missing at the end of the path \S+: give one, as in \S+/notes\.md\.$"
    with pytest.raises(PathRefused, match=wanted):
        create(root, path, "x")
    with pytest.raises(PathRefused, match=wanted):
        edit(root, "one", "1", path)
    with pytest.raises(PathRefused, match=wanted):
        insert(root, 0, "x", path)
    assert commits(root) == before
    assert sorted(p.name for p in root.iterdir() if not p.name.startswith(".")) == ["a.md"]
    assert clean(root)


# -- insert


def test_nothing_put_into_an_empty_file_changes_nothing(root: Path) -> None:
    create(root, "empty.md", "")
    before = commits(root)
    told = insert(root, 0, "", "empty.md")
    assert told.startswith("The file empty.md reads so already.")
    assert (root / "empty.md").read_bytes() == b""
    assert commits(root) == before


def test_lines_are_inserted_and_shown(root: Path) -> None:
    told = insert(root, 1, "half")
    assert told.splitlines() == [
        "The file a.md has been edited.",
        "     1\tone",
        "     2\thalf",
        "     3\ttwo",
        "     4\tthree",
        f"Commit {commit(root)}.",
    ]
    assert commits(root)[0] == "memory_insert: a.md"
    assert clean(root)


@pytest.mark.parametrize("line", [-1, 4, 10**9])
def test_a_line_beyond_the_file_is_named_in_the_words_of_the_standard(root: Path, line: int) -> None:
    with pytest.raises(BadArgument) as error:
        insert(root, line, "x")
    assert str(error.value) == (
        f"Error: Invalid `insert_line` parameter: {line}. "
        "It should be within the range of lines of the file: [0, 3]."
    )


def test_a_snippet_of_much_text_is_cut(root: Path) -> None:
    told = insert(root, 1, "x" * 50 + "\n" + "y\n" * 5000)
    assert len(told) < 5000
    assert told.splitlines()[-2] == "(and on to line 5004)"

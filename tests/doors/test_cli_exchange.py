"""`vault-mcp import` and `export`, as processes."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.doors.commands import COMMAND, Commands, example_of
from tests.tools.test_exchange import HOSTILE, LOG, entity, jsonl, official, relation
from tests.vaults import authors, clean, commits, git, make_vault, write_files

SMALL = jsonl(entity("Ada", "likes tea", kind="person"), entity("Bob"), relation("Ada", "Bob"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.jsonl"


@pytest.mark.parametrize("command", ["import", "export"])
def test_help_has_an_example(commands: Commands, command: str) -> None:
    assert example_of(commands.good(command, "--help"))[:2] == ["vault-mcp", command]


# -- in


@pytest.mark.parametrize("name", ["pipe.jsonl", "pipe.md"])
def test_a_pipe_is_no_file_and_no_folder(commands: Commands, root: Path, tmp_path: Path, name: str) -> None:
    pipe = tmp_path / name
    os.mkfifo(pipe)
    said = commands.refused("import", pipe, "--vault", root)
    assert f"{pipe} is no file and no folder. Name one, or - to read standard input." in said
    assert clean(root)


def test_an_import_says_what_it_did(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(SMALL + "\n" + json.dumps(relation("Ada", "Ghost")))
    said = commands.good("import", file, "--vault", root)
    assert said.splitlines() == [
        f"memory.jsonl is in the vault (commit {git(root, 'rev-parse', '--short=7', 'HEAD').strip()}).",
        "  2 entities new, 0 there already",
        "  1 observation and 2 relations added",
        "  1 relation has an end that is no note; it is kept",
    ]
    assert (commits(root)[0], authors(root)[0]) == ("import: memory.jsonl", "import")
    assert clean(root)


def test_a_second_import_says_that_there_was_nothing_new(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(SMALL)
    commands.good("import", file, "--vault", root)
    before = git(root, "rev-parse", "HEAD")
    assert commands.good("import", file, "--vault", root).startswith(
        "The vault has everything of memory.jsonl"
    )
    assert git(root, "rev-parse", "HEAD") == before


def test_a_dry_run_saves_nothing(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(SMALL)
    before = git(root, "rev-parse", "HEAD")
    said = commands.good("import", file, "--vault", root, "--dry-run")
    assert said.startswith("Nothing was saved. An import of memory.jsonl would do this:\n  2 entities new")
    assert git(root, "rev-parse", "HEAD") == before
    assert list(root.glob("entities/*")) == []


def test_the_help_of_import_lists_what_it_takes_line_by_line(commands: Commands) -> None:
    said = commands.good("import", "--help")
    assert "\\b" not in said
    assert "\n    the JSON that mcp-memory-service and mem0 export\n" in said


def test_a_vault_that_is_not_there_is_made(commands: Commands, tmp_path: Path, file: Path) -> None:
    file.write_text(SMALL)
    done = commands.run("import", file, "--vault", tmp_path / "new")
    assert done.returncode == 0
    assert f"made a new vault in {tmp_path / 'new'}" in done.stderr
    assert commits(tmp_path / "new")[0] == "import: memory.jsonl"


def test_whose_import_it_is_can_be_said(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(SMALL)
    commands.good("import", file, "--vault", root, "--agent", "my old memory")
    assert authors(root)[0] == "my old memory"
    assert "my old memory%%" in (root / "entities/person/Ada.md").read_text()


def test_a_line_that_cannot_be_read_costs_itself_and_is_told_by_its_number(
    commands: Commands, root: Path, file: Path
) -> None:
    file.write_text(SMALL + '\n{"type":"entity","name":"cut off')
    done = commands.run("import", file, "--vault", root)
    assert done.returncode == 1
    assert "  2 entities new, 0 there already" in done.stdout
    assert "    Line 4 is not a JSON record from column 1 on" in done.stdout


def test_a_program_gets_the_numbers(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(HOSTILE)
    told = commands.json("import", file, "--vault", root)
    entities, relations = official(HOSTILE)
    assert told["commit"] == git(root, "rev-parse", "HEAD").strip()
    assert (told["entities"], told["relations"], told["problems"]) == (len(entities), len(relations), [])


def test_the_log_of_plain_text_memory_is_known_by_itself(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(LOG)
    commands.good("import", file, "--vault", root)
    assert "codex ~2026-01-04T10:00:00+01:00 claude-code" in (root / "entities/person/Ada.md").read_text()


def test_a_folder_of_keys_is_known_by_itself(commands: Commands, root: Path, tmp_path: Path) -> None:
    write_files(
        tmp_path / "keys", {"theme.json": '"dark"', "plan.json": '{"a": 1}', "bad.json": "{", "x.txt": ""}
    )
    done = commands.run("import", tmp_path / "keys", "--vault", root)
    assert done.returncode == 1
    assert "  2 keys new, 0 with another value, 0 as before" in done.stdout
    assert "  1 other file was left where it is" in done.stdout
    assert "    bad.json: It is no JSON in UTF-8." in done.stdout
    assert "dark" in (root / "keys/theme.md").read_text()
    assert commits(root)[0] == "import: keys"


def test_a_folder_of_notes_is_known_by_itself_and_the_whole_import_can_be_undone(
    commands: Commands, root: Path, tmp_path: Path
) -> None:
    head = "---\ntitle: Tea\ntype: drink\npermalink: tea\n---\n\n"
    write_files(tmp_path / "old", {"tea.md": f"{head}- [fact] Green\n", "Plan.md": "[[Tea]]\n", "a.png": "x"})
    before = git(root, "ls-files")
    dry = commands.good("import", tmp_path / "old", "--vault", root, "--dry-run")
    assert dry.startswith("Nothing was saved. An import of old would do this:\n  1 note and 1 other file new")
    assert git(root, "ls-files") == before
    said = commands.good("import", tmp_path / "old", "--vault", root, "--into", "from/before").splitlines()
    commit = git(root, "rev-parse", "--short=7", "HEAD").strip()
    assert said == [
        f"old is in the vault (commit {commit}).",
        "  1 note and 1 other file new, 0 there already",
        "  1 entity new, with 1 observation and 0 relations",
        "  in the folder from/before/",
    ]
    assert (root / "from/before/Tea.md").exists()
    commands.good("undo", commit, "--vault", root)
    assert git(root, "ls-files") == before


def test_text_that_a_chat_wrote_its_memory_out_as_is_known_by_its_ending_or_named(
    commands: Commands, root: Path, tmp_path: Path
) -> None:
    text = "- Lives in Graz\n- [2026-03-05] Has a dog\n"
    write_files(tmp_path, {"chatgpt.txt": text})
    said = commands.good("import", tmp_path / "chatgpt.txt", "--vault", root)
    assert "  2 memories new, 0 there already, in 1 session" in said
    (note,) = root.glob("memories/2026/03/*.md")
    assert "session: chatgpt\n" in note.read_text()
    done = commands.run("import", "-", "--format", "text", "--vault", root, given=text)
    assert (done.returncode, commits(root)[0]) == (0, "import: standard input")


def test_the_export_of_another_program_is_known_by_itself(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(json.dumps({"results": [{"id": "1", "memory": "Likes tea"}, {"id": "2"}]}))
    done = commands.run("import", file, "--vault", root)
    assert done.returncode == 1
    assert "  1 memory new" in done.stdout
    assert "    Entry 2 has no text." in done.stdout


def test_a_file_is_no_folder(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(SMALL)
    assert "is no folder" in commands.refused("import", file, "--format", "notes", "--vault", root)
    assert "is no folder" in commands.refused("import", file, "--into", "x", "--vault", root)


def test_standard_input_can_be_imported(commands: Commands, root: Path) -> None:
    done = commands.run("import", "-", "--vault", root, given=SMALL)
    assert done.returncode == 0
    assert commits(root)[0] == "import: standard input"


@pytest.mark.parametrize("content", ["", "not a memory\n", "[1, 2]", "\x00\x01"])
def test_a_file_that_holds_no_memory_is_refused_and_nothing_is_made(
    commands: Commands, tmp_path: Path, file: Path, content: str
) -> None:
    file.write_text(content)
    said = commands.refused("import", file, "--vault", tmp_path / "new")
    assert "holds no entity and no relation." in said
    assert not (tmp_path / "new").exists()


def test_a_file_that_is_not_there_is_refused(commands: Commands, root: Path, tmp_path: Path) -> None:
    assert "cannot be read (No such file" in commands.refused("import", tmp_path / "nope", "--vault", root)


def test_in_the_middle_of_a_merge_nothing_is_imported(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(SMALL)
    git(root, "checkout", "-q", "--detach")
    done = commands.run("import", file, "--vault", root)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "HEAD" in done.stderr.splitlines()[-1]
    assert list(root.glob("entities/*")) == []


# -- out


def test_what_came_in_goes_out_again(commands: Commands, root: Path, file: Path, tmp_path: Path) -> None:
    file.write_text(HOSTILE)
    commands.good("import", file, "--vault", root)
    done = commands.run("export", tmp_path / "out.jsonl", "--vault", root)
    assert done.returncode == 0
    assert done.stdout == ""
    entities, relations = official(HOSTILE)
    assert done.stderr == f"vault-mcp: exported {len(entities)} entities and {len(relations)} relations\n"
    text = (tmp_path / "out.jsonl").read_bytes().decode()
    assert official(text) == official(HOSTILE)
    assert not text.endswith("\n")
    assert [path.name for path in tmp_path.iterdir() if "export" in path.name] == []


def test_standard_output_gets_the_file_and_nothing_else(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(SMALL)
    commands.good("import", file, "--vault", root)
    assert official(commands.good("export", "--vault", root)) == official(SMALL)
    assert official(commands.good("export", "-", "--format", "jsonl", "--vault", root)) == official(SMALL)


def test_a_file_that_is_there_is_replaced_only_when_meant(commands: Commands, root: Path, file: Path) -> None:
    file.write_text("precious")
    assert "is there already" in commands.refused("export", file, "--vault", root)
    assert file.read_text() == "precious"
    commands.good("export", file, "--vault", root, "--force")
    assert file.read_text() == ""


def test_what_a_person_typed_a_moment_ago_is_in_the_export(commands: Commands, root: Path) -> None:
    write_files(root, {"Ada.md": "---\nentity: person\n---\n\n- likes tea\n"})
    assert official(commands.good("export", "--vault", root))[0] == {
        ("Ada", "person", frozenset({"likes tea"}))
    }


def test_an_export_works_in_the_middle_of_a_merge(commands: Commands, root: Path, file: Path) -> None:
    file.write_text(SMALL)
    commands.good("import", file, "--vault", root)
    git(root, "checkout", "-q", "--detach")
    assert official(commands.good("export", "--vault", root)) == official(SMALL)


def test_what_cannot_be_written_or_opened_is_refused(commands: Commands, root: Path, tmp_path: Path) -> None:
    done = commands.run("export", tmp_path / "no/such/folder.jsonl", "--vault", root)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be written (No such file" in done.stderr
    assert "vault-mcp init DIR" in commands.refused("export", "--vault", tmp_path / "nowhere")


def test_a_terminal_is_shown_how_far_it_is_and_a_pipe_is_not(
    commands: Commands, root: Path, file: Path
) -> None:
    file.write_text(jsonl(*(entity(f"E{number}") for number in range(300))))
    screen, terminal = os.openpty()
    arguments = [*COMMAND, "import", str(file), "--vault", str(root)]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=terminal, env=commands.environment(TERM="xterm")
    ) as process:
        os.close(terminal)
        drawn = b""
        with contextlib.suppress(OSError):  # how a terminal says that nobody writes to it any more
            while block := os.read(screen, 4096):
                drawn += block
        os.close(screen)
        assert process.stdout is not None
        assert b"memory.jsonl is in the vault" in process.stdout.read()
    assert process.returncode == 0
    assert b"Import" in drawn
    assert b"100%" in drawn
    assert commands.run("import", file, "--vault", root).stderr == ""

"""`vault-mcp doctor`, as a process: what it prints, and its exit codes."""

from pathlib import Path

import pytest

from tests.doors.commands import Commands, example_of
from tests.vaults import clean, commits, git, make_vault, write_files
from vault_mcp.doors.cli_doctor import MOST

BROKEN = "---\nentity: person\ntags: [a]\ntags: [b]\n---\n"


@pytest.fixture
def root(tmp_path: Path, commands: Commands) -> Path:
    root = make_vault(tmp_path / "vault", {"a.md": "1\n"})
    commands.good("reindex", "--vault", root)
    return root


def test_help_has_an_example_and_says_what_the_exit_codes_mean(commands: Commands) -> None:
    text = commands.good("doctor", "--help")
    assert example_of(text)[:2] == ["vault-mcp", "doctor"]
    assert "exit code is 0" in text


def test_a_sound_vault_is_said_to_be_so(commands: Commands, root: Path) -> None:
    lines = commands.good("doctor", "--vault", root).splitlines()
    assert lines == [
        "ok    commits: Commits are made directly, without running Git.",
        "ok    watcher: Hand edits are noticed at once.",
        "ok    index: The index is in step with the files (1).",
        "Everything is as it should be.",
    ]


def test_a_fault_is_one_line_and_the_exit_code_tells(commands: Commands, root: Path) -> None:
    write_files(root, {"odd.md": BROKEN})
    commands.good("reindex", "--vault", root)
    done = commands.run("doctor", "--vault", root)
    assert done.returncode == 1
    assert done.stdout.splitlines()[3:] == [
        "WRONG note: odd.md: It cannot be read in full: duplicate key tags. Keep one of the lines.",
        "1 problem, no notes.",
    ]
    assert done.stderr == ""


def test_a_note_worth_knowing_is_no_fault(commands: Commands, root: Path) -> None:
    write_files(root, {"a.md": "2\n"})
    done = commands.run("doctor", "--vault", root)
    assert done.returncode == 0
    assert "note  history: a.md: It is not committed yet." in done.stdout
    assert commits(root)[0] != "hand-edit: a.md"


def test_what_needs_no_person_is_done_when_wanted(commands: Commands, root: Path) -> None:
    write_files(root, {"a.md": "2\n", "odd.md": BROKEN})
    git(root, "rm", "-q", ".gitignore")
    git(root, "commit", "-q", "-m", "away")
    done = commands.run("doctor", "--vault", root, "--fix")
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith("fixed")] == [
        "fixed Added to .gitignore: .obsidian/workspace*.json, .trash/, .DS_Store.",
        "fixed Committed in the name of Ann Person: a.md, odd.md.",
    ]
    assert "WRONG note: odd.md" in done.stdout
    assert commits(root)[0] == "hand-edit: a.md and 1 more"
    assert clean(root)


def test_a_program_gets_every_finding(commands: Commands, root: Path) -> None:
    write_files(root, {f"{number}.md": BROKEN for number in range(MOST + 5)})
    commands.good("reindex", "--vault", root)
    told = commands.json("doctor", "--vault", root, code=1)
    assert told["vault"] == str(root)
    assert told["problems"] == MOST + 5 == sum(f["level"] == "problem" for f in told["findings"])
    assert told["findings"][-1].keys() == {"check", "level", "text", "do", "path", "fix"}


def test_a_person_gets_some_of_many_and_all_when_wanted(commands: Commands, root: Path) -> None:
    write_files(root, {f"{number}.md": BROKEN for number in range(MOST + 5)})
    commands.good("reindex", "--vault", root)
    some = commands.run("doctor", "--vault", root).stdout
    assert some.count("WRONG note: ") == MOST + 1
    assert "WRONG note: and 5 more; --all shows them." in some
    assert commands.run("doctor", "--vault", root, "--all").stdout.count("WRONG note: ") == MOST + 5


def test_what_the_settings_file_says_wrongly_is_told(commands: Commands, root: Path) -> None:
    (root / ".vault-mcp.toml").write_text('hand_edits = "sometimes"\n')
    assert "note  settings: hand_edits in .vault-mcp.toml must be" in commands.good("doctor", "--vault", root)


def test_a_merge_under_way_is_a_problem_that_says_how_to_end_it(commands: Commands, root: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")
    write_files(root, {"b.md": "other\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "other")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "--no-commit", "--no-ff", "other")
    done = commands.run("doctor", "--vault", root)
    assert done.returncode == 1
    assert "A merge is under way in this repository. Finish it (git commit)" in done.stdout


def test_a_vault_that_cannot_be_opened_is_a_code_of_its_own(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert "vault-mcp init DIR" in commands.refused("doctor", "--vault", tmp_path / "plain")
    assert "No git program" in commands.refused("doctor", "--vault", tmp_path / "plain", PATH="/nonexistent")

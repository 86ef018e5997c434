"""`vault-mcp merge-driver`, as Git calls it: real merges in real clones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.commands import Commands, example_of
from tests.notes.merges import BASE, CASES, check
from tests.vaults import clean, git, write_files

PLAIN = "# Plan\n\nOne.\n\nTwo.\n"


def merging(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "merge", "-q", "--no-edit", "theirs"], cwd=root, capture_output=True, text=True, check=False
    )


def diverged(root: Path, base: dict[str, str], ours: dict[str, str], theirs: dict[str, str]) -> None:
    """Give a vault two branches: it is on one, `theirs` is the other."""
    git(root, "config", "user.name", "Ann")
    git(root, "config", "user.email", "ann@example.org")
    for branch, files in (("", base), ("theirs", theirs), ("", ours)):
        if branch:
            git(root, "checkout", "-q", "-b", branch)
        elif files is ours:
            git(root, "checkout", "-q", "-")
        write_files(root, files)
        git(root, "add", "-A")
        git(root, "commit", "-q", "--allow-empty", "-m", branch or "here")


@pytest.fixture
def root(tmp_path: Path, commands: Commands) -> Path:
    root = tmp_path / "my notes"
    commands.good("init", root)
    return root


def test_help_has_an_example(commands: Commands) -> None:
    assert example_of(commands.good("merge-driver", "--help"))[:2] == ["vault-mcp", "merge-driver"]


def test_git_merges_fourteen_of_fourteen_right_where_the_driver_is_registered(root: Path) -> None:
    paths = [f"entities/person/{case.name}.md" for case in CASES]
    sides = [(case.ours(BASE), case.theirs(BASE)) for case in CASES]
    diverged(
        root,
        dict.fromkeys(paths, BASE),
        {path: ours for path, (ours, _) in zip(paths, sides, strict=True)},
        {path: theirs for path, (_, theirs) in zip(paths, sides, strict=True)},
    )
    done = merging(root)
    assert done.returncode == 0, done.stderr
    for path, case, (ours, theirs) in zip(paths, CASES, sides, strict=True):
        check(case, (root / path).read_text(), ours, theirs)
        assert (f"{path}: " in done.stderr) == case.reported
    assert clean(root)


def test_without_the_driver_git_asks_or_is_right(root: Path) -> None:
    git(root, "config", "--remove-section", "merge.vault")
    sides = {f"{case.name}.md": (case, case.ours(BASE), case.theirs(BASE)) for case in CASES}
    diverged(
        root,
        dict.fromkeys(sides, BASE),
        {path: ours for path, (_, ours, _) in sides.items()},
        {path: theirs for path, (_, _, theirs) in sides.items()},
    )
    assert merging(root).returncode == 1
    asked = git(root, "diff", "--name-only", "--diff-filter=U", "-z").split("\0")
    for path, (case, ours, theirs) in sides.items():
        text = (root / path).read_text()
        if path not in asked:
            check(case, text, ours, theirs)
        for line in {*ours.split("\n"), *theirs.split("\n")} - {*BASE.split("\n")} if path in asked else ():
            assert line in text


def test_what_only_a_person_can_decide_has_marks_and_stops_the_merge(root: Path) -> None:
    diverged(
        root,
        {"Plan.md": PLAIN},
        {"Plan.md": PLAIN.replace("Two", "Ours")},
        {"Plan.md": PLAIN.replace("Two", "Theirs")},
    )
    done = merging(root)
    assert done.returncode == 1
    assert "choose" in done.stderr
    assert (root / "Plan.md").read_text() == (
        "# Plan\n\nOne.\n\n<<<<<<< ours\nOurs.\n=======\nTheirs.\n>>>>>>> theirs\n"
    )
    assert git(root, "status", "--porcelain") == "UU Plan.md\n"


def test_a_note_that_is_no_text_is_left_to_the_person(root: Path) -> None:
    diverged(root, {"Odd.md": "x\n"}, {"Odd.md": "ours\n"}, {})
    git(root, "checkout", "-q", "theirs")
    (root / "Odd.md").write_bytes(b"\xff\xfe theirs\n")
    git(root, "commit", "-qam", "odd")
    git(root, "checkout", "-q", "-")
    assert merging(root).returncode == 1
    assert (root / "Odd.md").read_text() == "ours\n"


def test_modules_that_lie_in_the_vault_are_not_imported(root: Path) -> None:
    trap = "import pathlib; pathlib.Path('trapped').touch()\n"
    diverged(
        root,
        {"Ada.md": BASE, "vault_mcp/__init__.py": trap, "click.py": trap},
        {"Ada.md": CASES[0].ours(BASE)},
        {"Ada.md": CASES[0].theirs(BASE)},
    )
    assert merging(root).returncode == 0
    assert not (root / "trapped").exists()


def test_the_command_that_is_registered_stands_spaces_in_its_path(tmp_path: Path, commands: Commands) -> None:
    program = tmp_path / "my tools" / "vault-mcp"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m vault_mcp "$@"\n')
    program.chmod(0o755)
    root = tmp_path / "its notes"
    script = "import sys; from vault_mcp.doors.cli import main; sys.argv = sys.argv[1:]; main()"
    done = commands.run(program, "init", root, command=[sys.executable, "-P", "-c", script])
    assert done.returncode == 0, done.stderr
    assert git(root, "config", "merge.vault.driver") == f"'{program}' merge-driver %O %A %B %P\n"
    diverged(root, {"A b.md": BASE}, {"A b.md": CASES[0].ours(BASE)}, {"A b.md": CASES[0].theirs(BASE)})
    assert merging(root).returncode == 0
    assert "From B" in (root / "A b.md").read_text()


def test_a_clone_is_told_by_init_and_what_stood_there_is_replaced(
    root: Path, tmp_path: Path, commands: Commands
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    git(clone, "config", "merge.vault.driver", "touch trapped #")
    said = commands.good("init", clone)
    assert said.startswith(
        f"{clone} is a vault already. Nothing was changed but that Git merges notes by facts"
    )
    assert git(clone, "config", "merge.vault.driver").endswith("merge-driver %O %A %B %P\n")
    assert commands.good("init", clone).startswith(f"{clone} is a vault already. Nothing was changed.")


def test_a_pipe_is_none_of_the_files_that_git_made(commands: Commands, tmp_path: Path) -> None:
    write_files(tmp_path, {"base.md": PLAIN, "ours.md": PLAIN})
    os.mkfifo(tmp_path / "theirs.md")
    files = [tmp_path / name for name in ("base.md", "ours.md", "theirs.md")]
    assert f"{files[2]} is a pipe and no file." in commands.refused("merge-driver", *files)
    assert files[1].read_text() == PLAIN

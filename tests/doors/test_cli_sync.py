"""`vault-mcp sync`, as a process."""

from __future__ import annotations

from pathlib import Path

from tests.clones import remote_and_clones, tree
from tests.doors.commands import Commands, example_of
from tests.vaults import git, make_vault, write_files


def test_help_has_an_example(commands: Commands) -> None:
    assert example_of(commands.good("sync", "--help"))[:2] == ["vault-mcp", "sync"]


def test_the_first_sync_makes_the_remote_and_registers_the_driver(tmp_path: Path, commands: Commands) -> None:
    root = make_vault(tmp_path / "a vault", {"Plan.md": "One.\n"})
    bare = tmp_path / "its remote.git"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    said = commands.good("sync", bare, "--vault", root)
    assert said.startswith("In step with origin: 0 changes came, 2 changes went.")
    assert git(root, "config", "remote.origin.url") == f"{bare}\n"
    assert git(root, "config", "merge.vault.driver").endswith("merge-driver %O %A %B %P\n")
    assert commands.good("sync", "--vault", root).startswith("In step with origin; there was nothing to do.")


def test_two_machines_meet_and_what_is_left_to_a_person_is_said(tmp_path: Path, commands: Commands) -> None:
    a, b = remote_and_clones(tmp_path, files={"Plan.md": "One.\n"})
    write_files(a, {"Plan.md": "One of a.\n"})
    write_files(b, {"Plan.md": "One of b.\n"})
    commands.good("sync", "--vault", a)
    told = commands.json("sync", "--vault", b)
    assert (told["state"], told["received"], told["sent"]) == ("in step", 1, 2)
    assert [one["what"] for one in told["both_changed"]] == ["decide"]
    (conflict,) = told["conflicts"]
    assert "One of a." in (b / conflict).read_text()
    said = commands.good("sync", "--vault", a)
    assert said.startswith("In step with origin: 2 changes came, 0 changes went.")
    assert tree(a) == tree(b)
    found = commands.run("doctor", "--vault", a).stdout
    assert conflict in found


def test_a_remote_that_is_away_is_no_error(tmp_path: Path, commands: Commands) -> None:
    a, _ = remote_and_clones(tmp_path)
    (tmp_path / "remote.git").rename(tmp_path / "away.git")
    assert "cannot be reached now" in commands.good("sync", "--vault", a)


def test_without_a_remote_it_says_how_to_name_one(tmp_path: Path, commands: Commands) -> None:
    root = make_vault(tmp_path / "a")
    assert "This vault has no remote yet" in commands.refused("sync", "--vault", root)

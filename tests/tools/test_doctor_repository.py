"""What is wrong with the index and with the repository is found, and mended where that is safe."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.examined import ENTITY, faults, in_step, mended, only, vault_of
from tests.vaults import CLAUDE, git, make_vault, opened
from tests.waiting import wait_until
from vault_mcp.tools.doctor import examine
from vault_mcp.tools.graph import entities, reading


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "vault"


# -- the index


def index_file(root: Path) -> Path:
    (found,) = (root / ".git/vault-mcp").glob("index*.sqlite")
    return found


def changed_in_index(root: Path, sql: str) -> None:
    db = sqlite3.connect(index_file(root))
    with db:
        assert db.execute(sql).rowcount > 0
    db.close()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE files SET blob = replace(blob, substr(blob, 1, 4), 'dead')", "other words than Ada.md"),
        ("UPDATE state SET observations = 5", "counts 1 entities, 5 observations"),
        ("DELETE FROM files WHERE path = 'Ada.md'", "Changed since: Ada.md"),
    ],
)
def test_an_index_that_says_something_else_is_found_out(root: Path, sql: str, said: str) -> None:
    vault_of(root, {"Ada.md": ENTITY})
    changed_in_index(root, sql)
    finding = next(finding for finding in faults(root) if finding.check == "index")
    assert said in finding.text
    if finding.level == "problem":
        assert mended(root, [finding]) == ["Made the index anew."]
        assert faults(root) == []


def test_a_damaged_index_is_found_and_made_anew(root: Path) -> None:
    vault_of(root, {f"{i}.md": ENTITY for i in range(300)})
    file = index_file(root)
    db = sqlite3.connect(file)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    content = bytearray(file.read_bytes())
    content[20_000:60_000] = os.urandom(40_000)
    file.write_bytes(content)
    finding = next(finding for finding in faults(root) if finding.check == "index")
    assert (finding.level, finding.fix) == ("problem", "index")
    assert "damaged" in finding.text
    mended(root, [finding])
    assert faults(root) == [] or [f.check for f in faults(root)] == ["twins"]


def test_a_damaged_timeline_is_found_and_begun_anew(root: Path) -> None:
    vault_of(root, {f"{i}.md": ENTITY for i in range(120)})
    with opened(root) as vault:
        vault.wait_until_compared(30)
        reading.read_graph(vault, CLAUDE, as_of="now")
    (file,) = (root / ".git/vault-mcp").glob("timeline-*.sqlite")
    content = bytearray(file.read_bytes())
    content[20_000:60_000] = os.urandom(40_000)
    file.write_bytes(content)
    finding = next(finding for finding in faults(root) if finding.fix == "timeline")
    assert (finding.check, finding.level) == ("index", "problem")
    assert "damaged" in finding.text
    assert mended(root, [finding]) == ["Began the timeline of the past anew."]
    assert all(finding.fix != "timeline" for finding in faults(root))


def test_a_vault_without_an_index_is_told_as_it_is(root: Path) -> None:
    make_vault(root, {"Ada.md": ENTITY})
    finding = only(root)
    assert (finding.check, finding.level) == ("index", "note")
    assert "no index yet" in finding.text


# -- the repository

STATES: dict[str, tuple[Callable[[Path], object], str]] = {
    "detached": (lambda root: git(root, "checkout", "-q", "--detach"), "HEAD"),
    "lock": (lambda root: old_lock(root), "index.lock"),
    "signing": (lambda root: git(root, "config", "commit.gpgsign", "true"), "commit.gpgsign"),
    "sha": (
        lambda root: git(root, "config", "core.splitIndex", "true"),
        "Commits are made through Git itself",
    ),
}


def old_lock(root: Path) -> None:
    lock = root / ".git/index.lock"
    lock.touch()
    os.utime(lock, (1, 1))


@pytest.mark.parametrize("state", STATES)
def test_what_stands_in_the_way_of_commits_is_told(root: Path, state: str) -> None:
    enter, said = STATES[state]
    vault_of(root, {"a.md": "1\n"})
    enter(root)
    assert [finding for finding in faults(root) if said in finding.text] != []


def test_lines_that_are_missing_are_told_and_added_when_wanted(root: Path) -> None:
    vault_of(root, {"a.md": "1\n"})
    git(root, "rm", "-q", ".gitattributes")
    git(root, "commit", "-q", "-m", "away with it")
    in_step(root)
    finding = only(root)
    assert (finding.path, finding.text) == (
        ".gitattributes",
        ".gitattributes lacks * -text, *.md merge=vault.",
    )
    assert mended(root, [finding]) == ["Added to .gitattributes: * -text, *.md merge=vault."]
    in_step(root)
    assert faults(root) == []


def test_troubles_of_a_vault_that_is_open_are_told(root: Path) -> None:
    make_vault(root, {"a.md": "1\n"})
    with opened(root) as vault:
        vault.watch()
        wait_until(lambda: vault.watching == "events")
        vault.trouble("Something went wrong.")
        entities.create_entities(vault, CLAUDE, [{"name": "A", "entityType": "t", "observations": []}])
        told = [finding.text for finding in examine(vault)]
    assert "Hand edits are noticed at once." in told
    assert "Something went wrong." in told

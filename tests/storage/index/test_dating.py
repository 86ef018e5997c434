"""What it costs to date the lines of one note, counted in steps of SQLite's machine and not in seconds."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.vaults import make_vault, opened
from vault_mcp.storage.index.dating import date_note
from vault_mcp.vault import Options


def steps(folder: Path, lines: int) -> int:
    """Count the thousands of steps that it takes to date a note with so many lines, none of them stamped."""
    note = "---\nentity: t\n---\n\n" + "".join(f"- fact {number}\n" for number in range(lines))
    root = make_vault(folder, {"n.md": note})
    with opened(root, Options(embeddings="off")) as vault:
        vault.read_past()
    (index,) = (root / ".git/vault-mcp").glob("index*.sqlite")
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    with closing(sqlite3.connect(index)) as db:
        dated = "SELECT count(*) FROM observations WHERE added IS NOT NULL"
        assert db.execute(dated).fetchone() == (lines,)
        db.set_progress_handler(count, 1000)
        date_note(db, "n.md")
        db.set_progress_handler(None, 0)
        db.rollback()
    return counted


def test_the_cost_of_a_note_grows_with_its_lines_and_not_with_their_square(tmp_path: Path) -> None:
    few, many = steps(tmp_path / "few", 500), steps(tmp_path / "many", 4000)
    assert few > 0
    assert many < 16 * few  # eight times the lines: eight times the steps, and not sixty-four

"""Two machines with one vault, and what happens on them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.clones import sound, tree
from tests.vaults import opened, write_files
from vault_mcp.notes.note import Note, read_note
from vault_mcp.storage import files
from vault_mcp.sync import Synced, sync
from vault_mcp.vault import Options, Vault

Two = tuple[Vault, Vault]
ADA = "entities/person/Ada.md"
PLAN = "# Plan\n\nOne.\n\nTwo.\n\nThree.\n"


@contextlib.contextmanager
def quiet(root: Path) -> Iterator[Vault]:
    """Open a vault that has looked at its files, and makes no vectors: nothing here asks for them."""
    with opened(root, Options(embeddings="off")) as vault:
        vault.wait_until_compared(60)
        yield vault


def path(vault: Vault, name: str) -> Path:
    return Path(vault.root, name)


def text(vault: Vault, name: str) -> str:
    return path(vault, name).read_text()


def note(vault: Vault, name: str) -> Note:
    return read_note(name, text(vault, name))


def write(vault: Vault, name: str, content: str) -> None:
    """Save a file as a person does, and have it noticed."""
    write_files(Path(vault.root), {name: content})
    vault.noticed(frozenset([name]))


def remove(vault: Vault, *names: str) -> None:
    for name in names:
        path(vault, name).unlink()
    vault.noticed(frozenset(names))


def move(vault: Vault, old: str, new: str) -> None:
    path(vault, new).parent.mkdir(parents=True, exist_ok=True)
    path(vault, old).rename(path(vault, new))
    vault.noticed(frozenset([old, new]))


def both(two: Two) -> Synced:
    """Sync the first, the second, and the first again; give what the second was told."""
    here, there = two
    sync(here)
    done = sync(there)
    sync(here)
    assert tree(Path(here.root)) == tree(Path(there.root))
    for vault in two:
        assert sound(Path(vault.root))
        with vault.reading() as reader:
            known = sorted(row[0] for row in reader.files())
        assert known == sorted(path for path, _ in files.walk(vault.root))
    return done


def entity(name: str, *facts: str, type: str = "person") -> dict[str, object]:
    return {"name": name, "entityType": type, "observations": list(facts)}

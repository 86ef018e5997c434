"""A vault that protects what its person wrote, and what is done to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, PERSON, git, write_files
from vault_mcp.change import version_of
from vault_mcp.errors import Stale
from vault_mcp.tools.files import editing
from vault_mcp.tools.graph import entities
from vault_mcp.tools.tool import Caller
from vault_mcp.vault import Options, Vault

GUARDED = Options(protect_person=True, embeddings="off", undo_others=True)
OWNER = Caller(PERSON, person=True)
ADA = "entities/person/Ada.md"


def by_hand(vault: Vault, path: str, old: str, new: str) -> None:
    """Edit a file as a person does: with an editor."""
    file = Path(vault.root, path)
    text = file.read_text("utf-8") if file.exists() else ""
    assert old in text
    write_files(Path(vault.root), {path: text.replace(old, new, 1) if old else text + new})
    vault.noticed(None)


def made(vault: Vault, path: str, text: str) -> None:
    """Have an agent make a file."""
    editing.memory_create(vault, CLAUDE, path, text)


def entity(vault: Vault, name: str, *texts: str) -> None:
    rows = [{"name": name, "entityType": "person", "observations": list(texts)}]
    entities.create_entities(vault, CLAUDE, rows)


def version(vault: Vault, *notes: str) -> str:
    return " ".join(version_of(Path(vault.root, path).read_bytes()) for path in notes)


def head(vault: Vault) -> str:
    return git(vault.root, "rev-parse", "HEAD")


def refused(vault: Vault, call: Callable[..., object], *arguments: Any, words: str, **more: Any) -> str:
    """Call a tool that has to refuse for these words of a person, and to leave everything as it is."""
    before = head(vault)
    with pytest.raises(Stale) as caught:
        call(vault, CLAUDE, *arguments, **more)
    assert head(vault) == before
    said = str(caught.value)
    assert f"“{words}”" in said
    assert f"a person's ({PERSON}, 20" in said
    return said


def asks(
    vault: Vault, call: Callable[..., object], *arguments: Any, words: str, notes: tuple[str, ...]
) -> None:
    """Call a tool without a version, with a wrong one, and with those that its refusal names."""
    said = refused(vault, call, *arguments, words=words)
    needed = re.findall(r'if_version "([0-9a-f ]+)"', said)
    assert needed == [version(vault, *notes)]
    with pytest.raises(Stale, match="changed since"):
        call(vault, CLAUDE, *arguments, if_version="0123456789ab")
    call(vault, CLAUDE, *arguments, if_version=needed[0])
    assert git(vault.root, "log", "-1", "--format=%an").strip() == CLAUDE.agent

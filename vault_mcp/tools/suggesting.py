"""What somebody may mean who has typed a part of it, for the arguments of addresses and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_mcp.storage import paths as path_rules

if TYPE_CHECKING:
    from vault_mcp.vault import Vault


def entities(vault: Vault, typed: str, most: int) -> list[str]:
    """Give names of entities."""
    with vault.reading() as reader:
        return reader.names_like("entity", typed, most)


def keys(vault: Vault, typed: str, most: int) -> list[str]:
    """Give keys."""
    with vault.reading() as reader:
        return reader.names_like("key", typed, most)


def paths(vault: Vault, typed: str, most: int) -> list[str]:
    """Give paths of files that may be read."""
    with vault.reading() as reader:
        return [path for path in reader.paths_like(typed, most) if not path_rules.is_hidden(path)]


def sessions(vault: Vault, typed: str, most: int) -> list[str]:
    """Give sessions."""
    with vault.reading() as reader:
        return reader.sessions_like(typed, most)


def memories(vault: Vault, typed: str, most: int) -> list[str]:
    """Give numbers of memories."""
    with vault.reading() as reader:
        return reader.memories_like(typed, most)


def topics(vault: Vault, typed: str, most: int) -> list[str]:
    """Give what a question may be about: entities first, then tags."""
    with vault.reading() as reader:
        found = [*reader.names_like("entity", typed, most), *reader.tags_like(typed, most)]
    return list(dict.fromkeys(found))[:most]


def moments(vault: Vault, typed: str, most: int) -> list[str]:
    """Give ways to say how long ago, as the history tools understand them."""
    said = ("1 day ago", "3 days ago", "1 week ago", "2 weeks ago", "1 month ago", "3 months ago")
    return [words for words in said if typed.strip().lower() in words][:most]

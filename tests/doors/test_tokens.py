"""Tokens on the disk, and `vault-mcp token` as a process."""

import hashlib
import json
import os
import re
from pathlib import Path

import pytest

from tests.doors.commands import Commands
from tests.vaults import git, make_vault
from vault_mcp.doors.tokens import SCOPES, Tokens
from vault_mcp.errors import AlreadyThere, BadArgument
from vault_mcp.tools.tool import FAMILIES


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault", {"a.md": "a\n"})


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(str(tmp_path / "vault"), {"XDG_CONFIG_HOME": str(tmp_path / "config")})


# -- the command


def test_a_token_is_made_listed_and_removed(commands: Commands, root: Path) -> None:
    secret = commands.good("token", "add", "claude", "--vault", root).strip()
    assert re.fullmatch(r"vmcp_[A-Za-z0-9_-]{43}", secret)
    (row,) = commands.json("token", "list", "--vault", root)["tokens"]
    assert (row["name"], row["scopes"]) == ("claude", ["read", "write"])
    assert re.match(r"claude +read, write +20\d\d-", commands.good("token", "list", "--vault", root))
    assert commands.good("token", "remove", "claude", "--vault", root) == "The token of claude is gone.\n"
    assert "no token named 'claude'" in commands.refused("token", "remove", "claude", "--vault", root)
    assert commands.good("token", "list", "--vault", root) == ""


def test_a_program_gets_the_token_as_json(commands: Commands, root: Path) -> None:
    made = commands.json("token", "add", "ci", "--scope", "read", "--scope", "write:keys", "--vault", root)
    assert made["scopes"] == ["read", "write:keys"]
    assert made["token"].startswith("vmcp_")


def test_only_a_hash_is_kept_outside_the_vault_for_the_user_alone(commands: Commands, root: Path) -> None:
    before = git(root, "status", "--porcelain", "--ignored"), sorted((root / ".git").rglob("*"))
    secret = commands.good("token", "add", "claude", "--vault", root).strip()
    assert (git(root, "status", "--porcelain", "--ignored"), sorted((root / ".git").rglob("*"))) == before
    (file,) = (commands.home / ".config/vault-mcp/tokens").iterdir()
    assert file.name == hashlib.sha256(secret.encode()).hexdigest() + ".json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    kept = [path.read_bytes() for path in commands.home.rglob("*") if path.is_file()]
    assert not any(secret.encode() in bytes_ or secret[5:].encode() in bytes_ for bytes_ in kept)


@pytest.mark.parametrize(
    "name", ["", "a b", "-a", "agent", "Unknown", "human", "é", "a" * 61, "a/b", "a\nb", "."]
)
def test_a_name_must_be_one_that_nothing_else_looks_like(commands: Commands, root: Path, name: str) -> None:
    assert "cannot be the name of a token" in commands.refused("token", "add", "--vault", root, "--", name)


def test_a_settings_folder_inside_the_vault_is_refused(commands: Commands, root: Path) -> None:
    said = commands.refused("token", "add", "a", "--vault", root, XDG_CONFIG_HOME=str(root / "config"))
    assert "lies inside this vault" in said


def test_help_of_each_command_has_an_example(commands: Commands) -> None:
    for word in ("add", "list", "remove"):
        assert f"Example: vault-mcp token {word}" in commands.good("token", word, "--help")


# -- what they are


def test_a_token_holds_for_its_vault_until_it_is_removed(tokens: Tokens, tmp_path: Path) -> None:
    secret = tokens.add("claude", ["read"])
    found = tokens.verified(secret)
    assert found
    assert (found.name, *found.scopes) == ("claude", "read")
    elsewhere = Tokens(str(tmp_path / "other"), {"XDG_CONFIG_HOME": str(tmp_path / "config")})
    assert elsewhere.verified(secret) is None
    assert elsewhere.listed() == []
    assert tokens.remove("claude")
    assert tokens.verified(secret) is None
    assert not tokens.remove("claude")


@pytest.mark.parametrize("secret", ["", "x", "../../x", "\x00", "\ud800", "a" * 100_000])
def test_anything_else_is_no_token(tokens: Tokens, secret: str) -> None:
    tokens.add("claude")
    assert tokens.verified(secret) is None


def test_the_hash_of_a_token_is_no_token(tokens: Tokens) -> None:
    tokens.add("claude")
    (token,) = tokens.listed()
    assert tokens.verified(token.digest) is None


def test_a_file_inside_the_vault_is_no_token(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    outside = Tokens(str(root), {"XDG_CONFIG_HOME": str(tmp_path / "config")})
    secret = outside.add("mallory")
    root.mkdir()
    (tmp_path / "config").rename(root / "config")
    inside = Tokens(str(root), {"XDG_CONFIG_HOME": str(root / "config")})
    assert inside.verified(secret) is None
    assert inside.listed() == []


def test_a_file_that_is_no_token_costs_only_itself(tokens: Tokens, tmp_path: Path) -> None:
    secret = tokens.add("claude")
    folder = tmp_path / "config/vault-mcp/tokens"
    for name, text in {"a": "{", "b": "[]", "c": '{"vault": 1}', "d": json.dumps({"vault": None})}.items():
        (folder / f"{name}.json").write_text(text)
    (folder / "e.json").mkdir()
    assert [token.name for token in tokens.listed()] == ["claude"]
    assert tokens.verified(secret)


def test_a_name_is_given_once(tokens: Tokens) -> None:
    tokens.add("claude")
    for name in ("claude", "Claude"):
        with pytest.raises(AlreadyThere, match="token remove"):
            tokens.add(name)


def test_scopes_are_words_that_mean_something(tokens: Tokens) -> None:
    for scopes in (["admin"], ["read:nothing"], []):
        with pytest.raises(BadArgument, match="There are: read, write, read:graph"):
            tokens.add("claude", scopes)
    assert tokens.listed() == []


@pytest.mark.parametrize(
    ("scopes", "reads", "writes"),
    [
        (["read"], FAMILIES, ()),
        (["write"], FAMILIES, FAMILIES),
        (["read", "write:keys"], FAMILIES, ("keys",)),
        (["read:graph", "write:memories"], ("graph", "memories"), ("memories",)),
    ],
)
def test_what_a_scope_allows(
    tokens: Tokens, scopes: list[str], reads: tuple[str, ...], writes: tuple[str, ...]
) -> None:
    tokens.add("claude", scopes)
    (token,) = tokens.listed()
    assert tuple(family for family in FAMILIES if token.allows(family, writes=False)) == tuple(reads)
    assert tuple(family for family in FAMILIES if token.allows(family, writes=True)) == tuple(writes)
    assert token.reads_all == (len(reads) == len(FAMILIES))
    assert set(scopes) <= set(SCOPES)


def test_a_name_is_reserved_with_all_that_looks_like_it_in_a_commit(tokens: Tokens) -> None:
    assert not tokens.is_reserved("claude-code")
    tokens.add("claude-code")
    for name in ("claude-code", "Claude-Code", "claude code", "claude+code", "ｃlaude-code", "claude-code."):
        assert tokens.is_reserved(name)
    for name in ("claude", "claude-code-2", "東京", "unknown", "claude-code (no token)"):
        assert not tokens.is_reserved(name)
    tokens.remove("claude-code")
    assert not tokens.is_reserved("claude-code")


def test_a_name_added_long_after_the_folder_was_read_is_reserved_too(tokens: Tokens, tmp_path: Path) -> None:
    tokens.add("one")
    folder = tmp_path / "config/vault-mcp/tokens"
    os.utime(folder, (1_000_000_000, 1_000_000_000))
    assert tokens.is_reserved("one")
    assert not tokens.is_reserved("two")
    tokens.add("two")
    assert tokens.is_reserved("two")


def test_a_folder_that_is_not_there_gets_no_token(commands: Commands, tmp_path: Path) -> None:
    said = commands.refused("token", "add", "claude", "--vault", tmp_path / "none")
    assert f"There is no folder {tmp_path / 'none'}, so no vault." in said
    assert not (tmp_path / "none").exists()

"""Random keys and values: what was written last is what is read, now and from nothing but the files."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.vaults import CLAUDE, git, make_vault, opened
from vault_mcp.tools.keys.reading import list_memory_keys, read_memory, search_memory
from vault_mcp.tools.keys.writing import delete_memory, write_memory
from vault_mcp.vault import Vault

SIGNS = "aA bé\u0301\n\r\t\0%&#;\\`'\"-[]{}:|./~<>!\u2028😀"
some = st.text(st.sampled_from(SIGNS), max_size=8) | st.text(max_size=8)
keys = (some | st.sampled_from(["a", "A", "é", "e\u0301", "a/b", "k", ".", "CON"])).filter(str.strip)
values = some | st.builds(json.dumps, st.dictionaries(some, some, max_size=2))
steps = st.lists(st.tuples(keys, values | st.none()), min_size=1, max_size=12)


@given(steps)
@settings(max_examples=20)
def test_what_was_written_last_is_read(sequence: list[tuple[str, str | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_vault(Path(folder, "v"))
        start = int(git(root, "rev-list", "--count", "HEAD"))
        changes = 0
        held: dict[str, str] = {}
        with opened(root) as vault:
            for key, value in sequence:
                changes += held.get(key) != value
                if value is None:
                    delete_memory(vault, CLAUDE, key)
                    held.pop(key, None)
                else:
                    write_memory(vault, CLAUDE, key, value)
                    held[key] = value
                note(f"{key!r}: {value!r}")
            assert int(git(root, "rev-list", "--count", "HEAD")) == start + changes
            check(vault, held)
        assert git(root, "status", "--porcelain") == ""
        for path in (root / ".git/vault-mcp").glob("index.sqlite*"):
            path.unlink()
        with opened(root) as vault:
            check(vault, held)


def check(vault: Vault, held: dict[str, str]) -> None:
    assert {key: read_memory(vault, CLAUDE, key) for key in held} == held
    (listed,) = list_memory_keys(vault, CLAUDE)
    assert sorted(json.loads(listed)) == sorted(held)
    (found,) = search_memory(vault, CLAUDE, "")
    assert {entry["key"]: entry["value"] for entry in json.loads(found)} == held


@pytest.mark.parametrize(
    "piece", ["x", "line\n", "[[Link]] \r\n", "東", '{"a": ["b"]}, ', "```\n", "---\n", "\0"]
)
def test_a_value_of_a_megabyte_comes_back(tmp_path: Path, piece: str) -> None:
    value = (piece * (1_048_576 // len(piece.encode()) + 1))[: 1_048_576 // len(piece.encode()) * len(piece)]
    root = make_vault(tmp_path / "v")
    with opened(root) as vault:
        write_memory(vault, CLAUDE, "large", value)
        assert read_memory(vault, CLAUDE, "large") == value

"""Sessions and counts are exact."""

from pathlib import Path
from typing import Any

import pytest

from tests.direct import refused
from tests.vaults import CLAUDE, make_vault, opened
from vault_mcp.notes.transcript import read_transcript
from vault_mcp.tools.memories import listing, writing
from vault_mcp.tools.memories.importing import import_memories
from vault_mcp.vault import Options, Vault

QUIETLY = Options(embeddings="off")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def sessions(vault: Vault, **more: Any) -> dict[str, Any]:
    told: Any = listing.memory_list_sessions(vault, CLAUDE, **more)
    return dict(told)


def test_every_session_is_counted_in_full_the_newest_first(root: Path) -> None:
    lines = [
        f'{{"text": "{n}", "session_id": "s{n % 7}", "created": "2020-01-{n % 28 + 1:02}"}}'
        for n in range(70)
    ]
    with opened(root, QUIETLY) as vault:
        import_memories(vault, read_transcript("\n".join(lines).encode()), by="t", source="t")
        writing.memory_remember(vault, CLAUDE, "  The newest\n one " + "x" * 200, "now")
        told = sessions(vault)

    assert (told["collection"], told["session_count"]) == ("memories", 8)
    assert told["sessions"][0]["session_id"] == "now"
    assert told["sessions"][0]["sample"].startswith("The newest one xxx")
    assert len(told["sessions"][0]["sample"]) == 80
    assert {one["observed_count"] for one in told["sessions"][1:]} == {10}
    stored = [one["last_stored"] for one in told["sessions"]]
    assert stored == sorted(stored, reverse=True)


def test_sessions_come_in_pages(root: Path) -> None:
    lines = [f'{{"text": "{n}", "session_id": "s{n}"}}' for n in range(25)]
    with opened(root, QUIETLY) as vault:
        import_memories(vault, read_transcript("\n".join(lines).encode()), by="t", source="t")
        seen: list[str] = []
        cursor = ""
        while True:
            page = sessions(vault, limit=10, cursor=cursor)
            assert page["session_count"] == 25
            seen += [one["session_id"] for one in page["sessions"]]
            cursor = page.get("next_cursor", "")
            if not cursor:
                break
    assert len(seen) == len(set(seen)) == 25


def test_an_empty_vault_has_no_sessions(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        assert sessions(vault) == {"collection": "memories", "session_count": 0, "sessions": []}
        assert "cursor" in refused(vault, "memory_list_sessions", cursor="zzz")


def test_stats_count_what_there_is(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        writing.memory_remember(vault, CLAUDE, "x", "s")
        told: Any = listing.memory_stats(vault, CLAUDE)
    assert {k: told[k] for k in ("collection", "status", "approx_vector_count", "memories", "sessions")} == {
        "collection": "memories",
        "status": "ready",
        "approx_vector_count": 0,
        "memories": 1,
        "sessions": 1,
    }
    assert told["vectors"]["state"] == "off"

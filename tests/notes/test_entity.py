from collections.abc import Callable

import pytest

from tests.notes.entities import (
    AS_MARKDOWN,
    AT,
    HEAD,
    LATER,
    STAMP,
    TAIL,
    add,
    ended,
    holding,
    new,
    note,
    relate,
    related,
)
from vault_mcp.errors import AlreadyThere, BadArgument, NoteUnreadable, NotFound
from vault_mcp.notes import entity, keyed, memory
from vault_mcp.notes.line import Source, Stamp

# --- a new note ------------------------------------------------------------------------------------


def test_a_new_entity_with_relations_is_what_adding_them_would_give() -> None:
    relations = [("knows", "[[Bob]]", STAMP), ("", "[[Café|cafe]]", STAMP), ("knows", "[[Bob]]", STAMP)]
    facts = [("x", STAMP), ("- y", STAMP)]
    at_once = entity.new_entity("A", "A", "t", at=AT, agent="claude", observations=facts, relations=relations)

    assert at_once == entity.add_relations(new("x", "- y"), relations)
    assert related(at_once) == [("knows", "Bob"), ("", "Café")]


def test_a_new_entity_looks_as_a_person_would_write_it() -> None:
    text = entity.new_entity(
        "src/index.ts",
        "src index.ts",
        "module",
        at=AT,
        agent="claude",
        observations=[("Reads times", STAMP), ("[ ] test it", STAMP)],
        tags=["team/core"],
    )

    assert text == (
        "---\nentity: module\nname: src/index.ts\naliases:\n  - src/index.ts\ntags:\n  - team/core\n"
        f"created: {AT}\nagent: claude\n---\n\n## Observations\n\n- Reads times {TAIL}\n- [ ] test it\n"
    )


def test_an_entity_without_facts_has_an_empty_list_and_no_empty_line() -> None:
    text = new()

    assert text.endswith("---\n\n## Observations\n")
    assert add(text, "a").endswith(f"\n\n## Observations\n\n- a {TAIL}\n")


@pytest.mark.parametrize(
    "name", ["C# [v2] | a:b", "a\nb", " ", "---", "no", "[[x]]", "'q\"", "\t", "x: #y", "名前"]
)
def test_an_entity_keeps_a_name_that_no_file_can_have(name: str) -> None:
    assert note(new(name=name, stem="safe")).name == name


@pytest.mark.parametrize(
    "value",
    ["no", "1e3", "2024-01-01", "null", "~", "[[x]]", "# hash", "a: b", "*x", "|", '"q"', "", "a\nb", ".inf"],
)
def test_an_entity_keeps_a_type_that_yaml_would_take_for_something_else(value: str) -> None:
    text = entity.new_entity("A", "A", value, at=AT, agent="claude")

    assert note(text).type == value


# --- adding ----------------------------------------------------------------------------------------


def test_text_that_looks_like_markdown_comes_back_exactly_and_makes_nothing_else() -> None:
    text = relate(add(new("o"), *AS_MARKDOWN), ("knows", "B"))

    assert holding(text) == ["o", *AS_MARKDOWN]
    assert related(text) == [("knows", "B")]
    assert (note(text).passages, note(text).problems) == ((), ())


def test_a_new_fact_goes_behind_the_last_of_the_list() -> None:
    text = f"{HEAD}\n## Observations\n\n- a\n- b\n\n## Relations\n\n- r [[X]]\n\n## Notes\n\nProse.\n"

    assert add(text, "c", "d") == text.replace("- b\n", f"- b\n- c {TAIL}\n- d {TAIL}\n")
    assert relate(text, ("s", "Y")) == text.replace("[[X]]\n", f"[[X]]\n- s [[Y]] {TAIL}\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"\n## Observations\n\n- c {TAIL}\n"),
        ("\nProse.\n", f"\nProse.\n\n## Observations\n\n- c {TAIL}\n"),
        ("\nProse.\n\n\n", f"\nProse.\n\n## Observations\n\n- c {TAIL}\n\n\n"),
        ("\nProse.", f"\nProse.\n\n## Observations\n\n- c {TAIL}\n"),
        ("\n- a\n\n## Notes\n", f"\n- a\n- c {TAIL}\n\n## Notes\n"),
        ("\n* a\n  - under\n\nProse.\n", f"\n* a\n  - under\n- c {TAIL}\n\nProse.\n"),
        ("- a\n\n## Observations\n", f"- a\n\n## Observations\n\n- c {TAIL}\n"),
        ("\n## Observations\n\n## Notes\n", f"\n## Observations\n\n- c {TAIL}\n\n## Notes\n"),
        ("\n## Observations\n## Notes\n", f"\n## Observations\n\n- c {TAIL}\n\n## Notes\n"),
        ("\n## Observations\n\nWords.\n\n# Z\n", f"\n## Observations\n\nWords.\n\n- c {TAIL}\n\n# Z\n"),
        ("\n## Relations\n\n- r [[X]]\n", f"\n## Observations\n\n- c {TAIL}\n\n## Relations\n\n- r [[X]]\n"),
        ("## Relations\n- r [[X]]\n", f"\n## Observations\n\n- c {TAIL}\n\n## Relations\n- r [[X]]\n"),
        ("Hi.\n## Superseded\n- x\n", f"Hi.\n\n## Observations\n\n- c {TAIL}\n\n## Superseded\n- x\n"),
        ("\n## Observations\n- a\n### Work\n- b\n", f"\n## Observations\n- a\n### Work\n- b\n- c {TAIL}\n"),
    ],
)  # fmt: skip
def test_a_new_fact_goes_where_one_would_look_for_it(before: str, after: str) -> None:
    assert add(HEAD + before, "c") == HEAD + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Just words.\n", f"Just words.\n\n## Relations\n\n- s [[Y]] {TAIL}\n"),
        ("", f"## Relations\n\n- s [[Y]] {TAIL}\n"),
        ("## Observations\n\n# Z\n", f"## Observations\n\n## Relations\n\n- s [[Y]] {TAIL}\n\n# Z\n"),
        ("## Superseded\n- a\n", f"## Relations\n\n- s [[Y]] {TAIL}\n\n## Superseded\n- a\n"),
        ("## Relations\n- only words\n", f"## Relations\n- only words\n- s [[Y]] {TAIL}\n"),
    ],
)  # fmt: skip
def test_relations_are_added_to_plain_notes_too(before: str, after: str) -> None:
    assert relate(before, ("s", "Y")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- a\r\n- b\r\n", f"- a\r\n- b\r\n- c {TAIL}\r\n"),
        ("- a\r\n- b\n\r\nx\r\n", f"- a\r\n- b\n- c {TAIL}\n\r\nx\r\n"),
        ("- a\n- b\r\n\nx\n", f"- a\n- b\r\n- c {TAIL}\r\n\nx\n"),
        ("- a", f"- a\n- c {TAIL}\n"),
        ("- a\r\n- b", f"- a\r\n- b\r\n- c {TAIL}\r\n"),
        ("- a\n\nx", f"- a\n- c {TAIL}\n\nx"),
    ],
)
def test_a_new_line_ends_like_its_neighbour(before: str, after: str) -> None:
    assert add(HEAD + before, "c") == HEAD + after


def test_a_last_line_without_a_newline_can_be_edited_and_removed() -> None:
    assert entity.edit_observation(f"{HEAD}- a\r\n- b", "b", "c", at=LATER, by="c") == f"{HEAD}- a\r\n- c"
    assert entity.edit_observation(f"{HEAD}- a\r\n- b", "a", "c", at=LATER, by="c") == f"{HEAD}- c\r\n- b"
    assert entity.remove_observations(f"{HEAD}- a\n- b", {"b"}) == f"{HEAD}- a\n"


def test_front_matter_without_a_newline_behind_it_gets_one() -> None:
    assert add("---\nentity: t\n---", "c") == f"{HEAD}\n## Observations\n\n- c {TAIL}\n"


def test_what_is_there_already_is_not_added_twice() -> None:
    text = relate(new("a"), ("r", "X"))

    assert add(text, "a") == text
    assert holding(add(text, "b", "a", "b")) == ["a", "b"]
    assert relate(text, ("r", "X")) == text


def test_superseded_facts_of_an_import_go_under_their_heading_and_tasks_keep_their_stamp() -> None:
    old = Stamp(AT, "claude", superseded_at=LATER, superseded_by="b")

    text = entity.new_entity(
        "A", "A", "t", at=AT, agent="x", observations=[("a", old), ("[ ] b", STAMP)], imported=True
    )

    assert [(o.text, o.stamp, o.superseded) for o in note(text).observations] == [
        ("[ ] b", STAMP, False),
        ("a", old, True),
    ]


def test_relations_of_a_memory_leave_its_text_alone() -> None:
    words = "Text.\n\n## Relations\n\n- x [[Y]]\n```\nnever closed\n"
    text = memory.new_memory(
        words, type="episodic", id=1, importance=5, session="", tags=[], created=AT, agent="claude"
    )

    text = relate(relate(text, ("about", "Ada")), ("about", "Bob"))

    assert memory.memory_text(text) == words
    assert related(text) == [("about", "Ada"), ("about", "Bob")]
    assert related(entity.remove_relations(text, lambda r: r.target == "Ada")) == [("about", "Bob")]


# --- changing --------------------------------------------------------------------------------------


def test_an_edit_keeps_place_stamp_sign_and_block_id() -> None:
    text = f"{HEAD}\n- a\n* old {TAIL} ^b1\n- c\n"

    assert entity.edit_observation(text, "old", "new", at=LATER, by="cursor") == (
        f"{HEAD}\n- a\n* new %%+{AT} claude ~{LATER} cursor%% ^b1\n- c\n"
    )


def test_an_edit_keeps_the_sources() -> None:
    stamp = Stamp(AT, "claude", sources=(Source("B", "b"),))
    text = entity.add_observations(HEAD, [("old", stamp)])

    text = entity.edit_observation(text, "old", "new", at=LATER, by="cursor")

    assert note(text).observations[0].stamp == Stamp(
        AT, "claude", LATER, "cursor", sources=(Source("B", "b"),)
    )


def test_a_line_without_a_stamp_gets_the_one_git_knows() -> None:
    text = f"{HEAD}- old\n"

    assert entity.edit_observation(text, "old", "new", at=LATER, by="c", stamp=Stamp(AT, "Ada")) == (
        f"{HEAD}- new %%+{AT} Ada ~{LATER} c%%\n"
    )
    assert entity.edit_observation(text, "old", "new", at=LATER, by="c") == f"{HEAD}- new\n"


def test_a_task_that_is_ticked_stays_without_a_stamp() -> None:
    text = entity.edit_observation(
        f"{HEAD}- [ ] call\n", "[ ] call", "[x] call", at=LATER, by="c", stamp=Stamp(AT, "Ada")
    )

    assert text == f"{HEAD}- [x] call\n"


def test_an_edit_of_a_repeated_fact_leaves_one_line() -> None:
    text = f"{HEAD}- old %%+{LATER} b%%\n- x\n- old {TAIL}\n"

    assert entity.edit_observation(text, "old", "new", at=LATER, by="c") == (
        f"{HEAD}- new %%+{AT} claude ~{LATER} c%%\n- x\n"
    )


def test_a_fact_that_a_merge_left_among_relations_goes_back_when_it_is_edited() -> None:
    text = f"{HEAD}## Observations\n- a\n\n## Relations\n- lost {TAIL}\n- r [[X]]\n"

    text = entity.edit_observation(text, "lost", "met [[Y]]", at=LATER, by="c")

    assert holding(text) == ["a", "met [[Y]]"]
    assert related(text) == [("r", "X")]


def test_edits_that_make_no_sense_are_refused() -> None:
    text = entity.supersede_observation(new("a", "b", "gone"), "gone", at=LATER, by="c")

    with pytest.raises(NotFound, match="There is no observation 'z'"):
        entity.edit_observation(text, "z", "y", at=LATER, by="c")
    with pytest.raises(NotFound):
        entity.edit_observation(text, "gone", "y", at=LATER, by="c")
    with pytest.raises(AlreadyThere, match="'b' already"):
        entity.edit_observation(text, "a", "b", at=LATER, by="c")
    with pytest.raises(AlreadyThere, match="'gone' is superseded already"):
        entity.supersede_observation(text, "gone", at=LATER, by="c")
    with pytest.raises(NotFound):
        entity.supersede_observation(text, "z", at=LATER, by="c")
    with pytest.raises(NotFound):
        entity.revive_observation(text, "z", at=LATER, by="c")
    with pytest.raises(AlreadyThere):
        entity.revive_observation(text, "a", at=LATER, by="c")


def test_a_superseded_fact_moves_under_its_heading_and_says_what_replaced_it() -> None:
    text = relate(new("a", "b"), ("r", "X"))

    text = entity.supersede_observation(text, "a", at=LATER, by="cursor", replacement='say "c"')

    assert text.endswith(
        f"## Observations\n\n- b {TAIL}\n\n## Relations\n\n- r [[X]] {TAIL}\n\n## Superseded\n\n"
        f'- a %%+{AT} claude -{LATER} cursor >"say \\"c\\""%%\n'
    )


def test_a_superseded_line_without_a_stamp_gets_a_whole_one() -> None:
    text = f"{HEAD}- [ ] a ^b1\n- b\n"

    known = entity.supersede_observation(text, "[ ] a", at=LATER, by="c", stamp=Stamp(AT, "Ada"))
    unknown = entity.supersede_observation(text, "b", at=LATER, by="c")

    assert known == f"{HEAD}- b\n\n## Superseded\n\n- [ ] a %%+{AT} Ada -{LATER} c%% ^b1\n"
    assert unknown.endswith(f"- b %%+{LATER} c -{LATER} c%%\n")


def test_a_superseded_fact_that_is_added_again_holds_again() -> None:
    text = entity.supersede_observation(new("a", "b"), "a", at=LATER, by="c", replacement="b")

    text = entity.revive_observation(text, "a", at=LATER, by="d")

    assert holding(text) == ["b", "a"]
    assert ended(text) == []
    assert note(text).observations[1].stamp == Stamp(AT, "claude", LATER, "d")


def test_removing_takes_exactly_the_lines_of_those_texts() -> None:
    text = entity.supersede_observation(new("x", "x ", "X", "xx", "old"), "old", at=LATER, by="c")

    text = entity.remove_observations(text, {"x", "old", "not there"})

    assert holding(text) == ["x ", "X", "xx"]
    assert ended(text) == []
    assert "## Superseded" in text


def test_removing_takes_no_line_that_only_repeats_the_words() -> None:
    text = f"{HEAD}- a\n  - a\n- a\n\n## Notes\n\n- a\n\n```\n- a\n```\n"

    assert entity.remove_observations(text, {"a"}) == f"{HEAD}  - a\n\n## Notes\n\n- a\n\n```\n- a\n```\n"


def test_removing_relations_asks_of_each() -> None:
    text = relate(new("a [[X]]"), ("r", "X"), ("s", "X"), ("r", "Y"))

    text = entity.remove_relations(text, lambda relation: (relation.type, relation.target) == ("r", "X"))

    assert related(text) == [("s", "X"), ("r", "Y")]
    assert holding(text) == ["a [[X]]"]


# --- the name --------------------------------------------------------------------------------------


def test_a_name_that_no_file_can_have_is_said_in_the_note_and_no_longer_than_needed() -> None:
    text = new("a")

    odd = entity.set_name(text, "x | y", "x y")
    odder = entity.set_name(odd, "x / y", "x y")

    assert (note(odd).name, note(odd).aliases) == ("x | y", ("x | y",))
    assert (note(odder).name, note(odder).aliases) == ("x / y", ("x / y",))
    assert entity.set_name(odder, "plain", "plain") == text
    assert entity.set_name(text, "A", "A") == text


def test_aliases_of_a_persons_own_stay() -> None:
    text = "---\nentity: t\naliases: [Countess, Ada]  # mine\n---\n- a\n"

    odd = entity.set_name(text, "x | y", "x y")
    again = entity.set_name(odd, "plain", "plain")

    assert note(odd).aliases == ("Countess", "Ada", "x | y")
    assert (note(again).name, note(again).aliases) == ("A", ("Countess", "Ada"))


# --- refusing --------------------------------------------------------------------------------------

EDITS: list[Callable[[str], str]] = [
    lambda text: add(text, "new"),
    lambda text: relate(text, ("r", "X")),
    lambda text: entity.remove_observations(text, {"a"}),
]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize(
    "text",
    [
        "---\nentity: t\ntags: [a]\ntags: [b]\n---\n- a\n",
        "---\nentity: t\n<<<<<<< a\nx: 1\n=======\nx: 2\n>>>>>>> b\n---\n- a\n",
        f"{HEAD}<<<<<<< a\n- a\n=======\n- b\n>>>>>>> b\n",
        "---\nentity: t\n- a\n",
    ],
)
def test_a_note_in_pieces_is_left_alone(edit: Callable[[str], str], text: str) -> None:
    with pytest.raises(NoteUnreadable):
        edit(text)


def test_a_fence_that_is_never_closed_is_not_written_into() -> None:
    text = f"{HEAD}\n## Notes\n\n```\ncode\n"

    with pytest.raises(NoteUnreadable, match="code fence in line 7 is never closed"):
        add(text, "a")
    assert holding(add(f"{HEAD}\n- a\n\n```\n", "b")) == ["a", "b"]


def test_a_note_of_another_kind_has_no_observations_to_change() -> None:
    with pytest.raises(BadArgument, match="no entity"):
        add("Just words.\n", "a")
    with pytest.raises(BadArgument, match="key"):
        relate(keyed.new_keyed("k", "v"), ("r", "X"))


def test_a_relation_needs_one_link() -> None:
    with pytest.raises(BadArgument, match="no link"):
        entity.add_relations(HEAD, [("r", "X", STAMP)])
    with pytest.raises(BadArgument):
        entity.add_relations(HEAD, [("r", "[[X]] and [[Y]]", STAMP)])

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.notes.merges import ALL, BASE, CASES, A, B, Case, adds, check, deletes, edits
from vault_mcp.notes import entity, frontmatter
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.merge import has_marks, merge
from vault_mcp.notes.note import read_note

PLAIN = "# Plan\n\nOne.\n\nTwo.\n\nThree.\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("turned", [False, True])
def test_each_of_the_fourteen_merges_is_right(case: Case, turned: bool) -> None:
    ours, theirs = case.ours(BASE), case.theirs(BASE)
    merged = merge(BASE, *((theirs, ours) if turned else (ours, theirs)))
    check(case, merged.text, ours, theirs)
    assert merged.marked == merged.text
    assert bool(merged.pieces) == case.reported
    assert merged.open == ()


def test_lines_keep_their_ends_and_a_missing_last_one_is_added_where_something_follows() -> None:
    base = BASE.replace("\n", "\r\n").removesuffix("\r\n")
    ours = base + " and more"
    theirs = adds("From B", B)(base)
    merged = merge(base, ours, theirs).text
    assert merged.count("\r\n") == merged.count("\n")
    assert "From B" in merged
    assert merged.endswith(" and more")


def test_a_superseded_fact_moves_and_one_edited_meanwhile_stands_beside_it() -> None:
    def ends(note: str) -> str:
        return entity.supersede_observation(note, "Fact two", at=A[0], by=A[1], replacement="Newer")

    merged = merge(BASE, adds("From A", A)(BASE), ends(BASE))
    found = {fact.text: fact.superseded for fact in read_note("Ada.md", merged.text).observations}
    assert found["Fact two"] is True
    assert found["From A"] is False
    assert merged.pieces == ()

    merged = merge(BASE, ends(BASE), edits("Fact two", "Two by B", B)(BASE))
    found = {fact.text: fact.superseded for fact in read_note("Ada.md", merged.text).observations}
    assert (found["Fact two"], found["Two by B"]) == (True, False)
    assert [piece.kept for piece in merged.pieces] == ["both"]


def test_one_fact_superseded_by_two_is_told() -> None:
    def ends(by: tuple[str, str], instead: str) -> str:
        note = entity.add_observations(BASE, [(instead, Stamp(*by))])
        return entity.supersede_observation(note, "Fact two", at=by[0], by=by[1], replacement=instead)

    merged = merge(BASE, ends(A, "From A"), ends(B, "From B"))
    found = {fact.text: fact.superseded for fact in read_note("Ada.md", merged.text).observations}
    assert (found["Fact two"], found["From A"], found["From B"]) == (True, False, False)
    (piece,) = merged.pieces
    assert {piece.ours, piece.theirs} == {"From A", "From B"}
    assert piece.kept == "both"
    assert merge(BASE, ends(A, "From A"), ends(B, "From A")).pieces == ()


def test_both_making_a_list_of_their_own_keeps_both() -> None:
    base = entity.new_entity("Ada", "Ada", "person", at="2026-09-21T08:30:00Z", agent="claude")
    ours = entity.add_relations(base, [("knows", "[[Bob]]", Stamp(*A))])
    theirs = entity.add_observations(base, [("Old", Stamp(*B, superseded_at=B[0], superseded_by=B[1]))])
    for one, two in ((ours, theirs), (theirs, ours)):
        merged = merge(base, one, two)
        note = read_note("Ada.md", merged.text)
        assert [fact.text for fact in note.observations if fact.superseded] == ["Old"]
        assert [relation.target for relation in note.relations] == ["Bob"]
        assert merged.pieces == ()


def test_facts_that_both_added_stay_above_the_lists_that_both_made() -> None:
    def theirs(note: str) -> str:
        note = entity.add_observations(note, [("From B", Stamp(*B))])
        return entity.supersede_observation(note, "Fact five", at=B[0], by=B[1])

    base = entity.remove_relations(BASE, lambda relation: True)
    base = base.replace("\n\n## Relations\n", "\n").rstrip("\n") + "\n"
    ours = entity.add_observations(edits("Fact one", "One by A", A)(base), [("From A", Stamp(*A))])
    ours = entity.add_relations(ours, [("knows", "[[Eve]]", Stamp(*A))])
    for one, two in ((ours, theirs(base)), (theirs(base), ours)):
        merged = merge(base, one, two)
        found = {fact.text: fact.superseded for fact in read_note("Ada.md", merged.text).observations}
        assert merged.pieces == ()
        assert (found["From A"], found["From B"], found["Fact five"]) == (False, False, True)
        assert len(read_note("Ada.md", merged.text).relations) == 1


def test_the_same_list_made_twice_is_one() -> None:
    base = entity.new_entity("Ada", "Ada", "person", at="2026-09-21T08:30:00Z", agent="claude")
    ours = entity.add_relations(base, [("knows", "[[Bob]]", Stamp(*A))])
    theirs = entity.add_relations(base, [("knows", "[[Eve]]", Stamp(*B))])
    merged = merge(base, ours, theirs)
    assert merged.text.count("## Relations") == 1
    assert {relation.target for relation in read_note("Ada.md", merged.text).relations} == {"Bob", "Eve"}


def test_an_entity_that_both_made_is_one_as_old_as_the_older() -> None:
    def made(by: tuple[str, str], *facts: str) -> str:
        observations = [(fact, Stamp(*by)) for fact in facts]
        return entity.new_entity("Ada", "Ada", "person", at=by[0], agent=by[1], observations=observations)

    merged = merge("", made(B, "Both", "Ours"), made(A, "Both", "Theirs"))
    note = read_note("Ada.md", merged.text)
    assert (note.created, note.agent) == A
    assert {fact.text: fact.stamp for fact in note.observations} == {
        "Both": Stamp(*A),
        "Ours": Stamp(*B),
        "Theirs": Stamp(*A),
    }
    assert merged.open == ()


# -- what a person has to decide


def test_prose_changed_on_both_sides_keeps_ours_and_marks_both() -> None:
    ours, theirs = PLAIN.replace("Two.", "Two of ours."), PLAIN.replace("Two.", "Two of theirs.")
    merged = merge(PLAIN, ours, theirs)
    assert merged.text == ours
    assert [(piece.what, piece.ours, piece.theirs) for piece in merged.open] == [
        ("text", "Two of ours.\n", "Two of theirs.\n")
    ]
    assert merged.marked == PLAIN.replace(
        "Two.\n", "<<<<<<< ours\nTwo of ours.\n=======\nTwo of theirs.\n>>>>>>> theirs\n"
    )
    assert has_marks(merged.marked)


def test_prose_deleted_here_and_edited_there_is_for_a_person() -> None:
    ours, theirs = PLAIN.replace("Two.\n\n", ""), PLAIN.replace("Two.", "Two of theirs.")
    for one, two in ((ours, theirs), (theirs, ours)):
        merged = merge(PLAIN, one, two)
        assert merged.text == one
        assert len(merged.open) == 1
        assert "Two of theirs." in merged.marked


def test_prose_in_two_places_is_merged_by_the_line() -> None:
    merged = merge(PLAIN, PLAIN.replace("One.", "One more."), PLAIN.replace("Three.", "Three more."))
    assert merged.text == "# Plan\n\nOne more.\n\nTwo.\n\nThree more.\n"
    assert merged.pieces == ()


def test_bullets_of_a_plain_note_are_kept_from_both_sides() -> None:
    base = "# To do\n\n- [ ] tea\n- [ ] milk\n"
    ours = "# To do\n\n- [x] tea\n- [ ] milk\n- [ ] bread\n"
    theirs = "# To do\n\n- [ ] tea\n- [ ] jam\n"
    merged = merge(base, ours, theirs)
    assert merged.text == "# To do\n\n- [x] tea\n- [ ] bread\n- [ ] jam\n"


def test_one_property_set_two_ways_keeps_ours_and_marks_both() -> None:
    base = "---\nstatus: open\nrank: 1\nyear: 1\n---\n\nText.\n"
    ours = base.replace("status: open", "status: done").replace("rank: 1", "rank: 2")
    theirs = (
        base.replace("status: open", "status: late")
        .replace("rank: 1", "rank: 3")
        .replace("year: 1", "year: 2")
    )
    merged = merge(base, ours, theirs)
    assert frontmatter.read(merged.text)[0] == {"status": "done", "rank": 2, "year": 2}
    assert [(piece.what, piece.ours, piece.theirs) for piece in merged.open] == [
        ("status", "done", "late"),
        ("rank", "2", "3"),
    ]
    assert merged.marked.count("<<<<<<< ours") == 2
    assert "status: late\n>>>>>>> theirs" in merged.marked
    assert "rank: 3\n>>>>>>> theirs" in merged.marked


def test_a_property_deleted_here_and_changed_there_stays_changed() -> None:
    base = "---\nstatus: open\nyear: 1\n---\n\nText.\n"
    ours, theirs = base.replace("status: open\n", ""), base.replace("open", "late")
    for one, two in ((ours, theirs), (theirs, ours)):
        merged = merge(base, one, two)
        assert frontmatter.read(merged.text)[0] == {"status": "late", "year": 1}
        assert [piece.kept for piece in merged.pieces] == ["edit"]


def test_two_values_of_a_key_are_never_mixed() -> None:
    base = '---\nkey: window\n---\n\n```json\n{"from": 1,\n"other": 0,\n"to": 2}\n```\n'
    ours, theirs = base.replace('"from": 1', '"from": 5'), base.replace('"to": 2', '"to": 9')
    merged = merge(base, ours, theirs)
    assert merged.text == ours
    assert len(merged.open) == 1


def test_front_matter_that_cannot_be_read_makes_all_of_it_text() -> None:
    broken = "---\nstatus: open\nstatus: late\n---\n\nText.\n\nMore.\n"
    merged = merge(broken, broken.replace("Text.", "Ours."), broken.replace("More.", "Theirs."))
    assert merged.text == broken.replace("Text.", "Ours.").replace("More.", "Theirs.")
    merged = merge(broken, broken.replace("late", "ours"), broken.replace("late", "theirs"))
    assert merged.text == broken.replace("late", "ours")
    assert len(merged.open) == 1


# -- properties


Change = Callable[[str], str]
WORDS = st.sampled_from(["apple", "pear", "plum", "fig", "lime", "date", "kiwi"])


@st.composite
def changes(draw: st.DrawFn, side: tuple[str, str]) -> list[tuple[str, str]]:
    """Give what a side does, in order: (deed, fact). Each fact of the base is touched once at most."""
    left = list(ALL)
    found = []
    for _ in range(draw(st.integers(0, 6))):
        deed = draw(st.sampled_from(["add", "edit", "delete", "end", "tag", "type", "share"]))
        if deed in ("edit", "delete", "end"):
            if not left:
                continue
            fact = draw(st.sampled_from(left))
            left.remove(fact)
            found.append((deed, fact))
        else:
            found.append((deed, f"{draw(WORDS)} {draw(st.integers(0, 99))}"))
    return list(dict.fromkeys(found))


def done(text: str, deeds: list[tuple[str, str]], side: tuple[str, str]) -> str:
    at, by = side
    for deed, fact in deeds:
        if deed == "add":
            text = entity.add_observations(text, [(f"{fact} of {by}", Stamp(at, by))])
        elif deed == "share":
            text = entity.add_observations(text, [(f"{fact} of both", Stamp(at, by))])
        elif deed == "edit":
            text = entity.edit_observation(text, fact, f"{fact} as {by} has it", at=at, by=by)
        elif deed == "delete":
            text = entity.remove_observations(text, [fact])
        elif deed == "end":
            text = entity.supersede_observation(text, fact, at=at, by=by)
        elif deed == "tag":
            text = frontmatter.add_to_list(text, "tags", fact.split()[0])
        else:
            line = f"- typed {fact} at {by}"
            text = text.replace("\n\n## Relations", f"\n{line}\n\n## Relations") if line not in text else text
    return text


def facts(text: str) -> dict[str, bool]:
    return {fact.text: fact.superseded for fact in read_note("Ada.md", text).observations}


@settings(max_examples=150, deadline=None)
@given(changes(A), changes(B))
def test_every_fact_is_what_became_of_it(mine: list[tuple[str, str]], other: list[tuple[str, str]]) -> None:
    ours, theirs = done(BASE, mine, A), done(BASE, other, B)
    merged = merge(BASE, ours, theirs)
    note = read_note("Ada.md", merged.text)
    assert note.problems == ()
    assert merged.open == ()
    now, here, there = facts(merged.text), facts(ours), facts(theirs)
    for text in ({*here, *there}) - set(ALL):
        assert text in now, text
        assert merged.text.count(f"- {text} %%") <= 1
    for text in ALL:
        touched = [deed for deed, fact in (*mine, *other) if fact == text]
        if not touched:
            assert now[text] is False
        elif "end" in touched and "delete" not in touched:
            assert now[text] is True
        elif "end" not in touched:
            assert text not in now
    lines = [line for line in merged.text.split("\n") if line.startswith("- ")]
    assert len(lines) == len(set(lines))
    assert {*note.tags} == {*read_note("Ada.md", ours).tags, *read_note("Ada.md", theirs).tags}
    known = {*BASE.split("\n"), *ours.split("\n"), *theirs.split("\n")}
    assert [line for line in merged.text.split("\n") if line not in known] == []
    turned = merge(BASE, theirs, ours)
    assert facts(turned.text) == now


def said(text: str) -> list[str]:
    """Give the lines that say something: the marks around no properties at all do not."""
    front = frontmatter.split(text)
    empty = not front.properties and not front.problem
    return (text[front.body_start :] if empty else text).split("\n")


@settings(max_examples=150, deadline=None)
@given(*[st.lists(st.sampled_from(["a", "b", "", "- x", "- y %%+2026-10-01T09:00:00Z c%%", "## Relations",
                                   "## Observations", "- r [[N]]", "# T", "---", "k: v", "  - z", "```"]),
                  max_size=12)] * 3)  # fmt: skip
def test_nothing_of_theirs_is_lost_whatever_the_texts_are(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    texts = ["\n".join(lines) for lines in (base, ours, theirs)]
    merged = merge(*texts)
    sides = [line.rstrip("\r") for text in texts for line in text.split("\n")]
    assert [line for line in merged.text.split("\n") if line not in (*sides, "")] == []
    kept = json.dumps([merged.marked, [(piece.ours, piece.theirs) for piece in merged.pieces]])
    for text in texts[1:]:
        for line in said(text):
            if line not in base:
                assert line in kept


def test_marks_around_no_properties_are_nothing_to_keep() -> None:
    merged = merge("", "a", "---\n---")
    assert (merged.text, merged.pieces) == ("a", ())


def test_one_side_alone_is_taken_to_the_byte() -> None:
    for text in ("", "x", BASE, PLAIN.replace("\n", "\r\n")):
        assert merge(text, text, "other\n").text == "other\n"
        assert merge(text, "other\n", text).text == "other\n"
        assert merge(text, "other\n", "other\n").text == "other\n"
        assert merge(text, deletes("x")(BASE), deletes("x")(BASE)).pieces == ()

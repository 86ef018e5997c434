import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.notes.texts import TEXTS
from vault_mcp.errors import NoteUnreadable
from vault_mcp.notes.frontmatter import read
from vault_mcp.notes.line import Stamp
from vault_mcp.notes.memory import memory_text, new_memory, relations_start, replace_text, set_fields

AT = "2026-10-05T09:12:33Z"
ABOUT = ("about", "[[Ada Lovelace]]", None)


def memory(text: str, **fields: object) -> str:
    given_fields = {
        "type": "episodic",
        "id": 2026100509123301,
        "importance": 7,
        "session": "apollo-2026-10-05",
        "tags": ["apollo", "decision"],
        "created": AT,
        "agent": "claude-desktop",
    } | fields
    return new_memory(text, **given_fields)  # type: ignore[arg-type]  # one dictionary for all types


NOTE = """\
---
memory: episodic
id: 2026100509123301
importance: 7
session: apollo-2026-10-05
tags:
  - apollo
  - decision
created: 2026-10-05T09:12:33Z
agent: claude-desktop
---

Ada decided to ship the indexer first and add vectors in a second step.

## Relations

- about [[Ada Lovelace]]
- follows [[2026-10-04 Vectors need a model]] %%+2026-10-05T09:12:33Z cursor%%
"""


def test_a_memory_is_a_note_that_a_person_can_read() -> None:
    relations = [ABOUT, ("follows", "[[2026-10-04 Vectors need a model]]", Stamp(AT, "cursor"))]
    text = "Ada decided to ship the indexer first and add vectors in a second step."

    assert memory(text, relations=relations) == NOTE
    assert memory_text(NOTE) == text
    assert NOTE[relations_start(NOTE) :].startswith("## Relations\n")


def test_what_is_empty_is_left_out() -> None:
    note = memory("x", session="", tags=())

    assert list(read(note)[0]) == ["memory", "id", "importance", "created", "agent"]
    assert note.endswith("---\n\nx\n")
    assert relations_start(note) is None


def test_values_that_look_like_others_stay_text() -> None:
    properties, problem = read(memory("x", session="2026-10-05", tags=["2026", "no"], agent="1.10"))

    assert problem is None
    assert [properties[key] for key in ("id", "session", "tags", "agent", "created")] == [
        2026100509123301, "2026-10-05", ["2026", "no"], "1.10", AT,
    ]  # fmt: skip


@settings(max_examples=400)
@given(TEXTS, TEXTS, st.sampled_from([(), (ABOUT,)]), st.booleans())
def test_any_text_comes_back_exactly(text: str, new: str, relations: tuple[object, ...], crlf: bool) -> None:
    note = memory(text, relations=relations)
    if crlf:
        note = note.replace("\n", "\r\n")
    replaced = replace_text(note, new)

    assert memory_text(note) == text
    assert memory_text(replaced) == new
    assert (relations_start(note) is None) == (not relations)
    assert replaced[: replaced.index("agent: ")] == note[: note.index("agent: ")]
    assert replaced.endswith(note[relations_start(note) :] if relations else "\r\n" if crlf else "\n")
    assert not crlf or "\n" not in replaced.replace("\r\n", "")
    assert memory_text(replace_text(replaced, text)) == text


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("a\n## Relations\n- b [[c]]", "a\n\\## Relations\n- b [[c]]"),
        ("\\## Relations", "\\\\## Relations"),
        ("   ##  RELATIONS ##", "&#32;  ##  RELATIONS ##"),
        ("a\n   ##  RELATIONS ##", "a\n   \\##  RELATIONS ##"),
        ("### Relations\n## Relations too\n##Relations", "### Relations\n## Relations too\n##Relations"),
        ("---\nmemory: x\n---\n", "---\nmemory: x\n---&#10;"),
    ],
)
def test_a_heading_of_the_text_is_told_from_the_notes_own(text: str, body: str) -> None:
    note = memory(text, relations=[ABOUT])

    assert (
        note.partition("agent: claude-desktop\n---\n")[2]
        == f"\n{body}\n\n## Relations\n\n- about [[Ada Lovelace]]\n"
    )
    assert memory_text(note) == text


OWN_SECTIONS = "first\n## Relations\n- old\n## Notes\nmore"


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ("---\nmemory: semantic\n---\nright below\n", "right below"),
        ("---\nmemory: semantic\n---\n\n\n  # Title\n\nprose  \n\n\n", "# Title\n\nprose"),
        ("---\nmemory: semantic\n---\n", ""),
        ("---\nmemory: semantic\n---", ""),
        ("---\nmemory: semantic\n---\n## Relations\n\n- about [[x]]\n", ""),
        (f"---\nmemory: x\n---\n{OWN_SECTIONS}\n##  relations \r\n- a [[b]]", OWN_SECTIONS),
        ("---\nmemory: x\n---\n- [[a]]\n- [ ] task ^id\n", "- [[a]]\n- [ ] task ^id"),
        ("no front matter left\n", "no front matter left"),
    ],
)
def test_a_note_mended_by_hand_reads_sensibly(note: str, text: str) -> None:
    assert memory_text(note) == text
    assert memory_text(replace_text(note, "new\n")) == "new\n"


def test_a_new_text_leaves_all_around_it_as_it_was() -> None:
    note = NOTE.replace("agent: ", "mine: [x,   y] # kept\nagent: ").replace("step.\n", "step.  \n\n\n")

    assert replace_text(note, "New.") == note.replace(memory_text(note), "New.")
    assert replace_text(note, memory_text(note)) is note


def test_fields_change_in_their_own_lines() -> None:
    changed = set_fields(NOTE, importance=9, tags=["apollo", "new"], type="semantic")

    assert changed == NOTE.replace("7\n", "9\n").replace("decision", "new").replace("episodic", "semantic")
    assert set_fields(NOTE) is NOTE
    assert set_fields(NOTE, tags=[], session="") == NOTE.replace(
        "session: apollo-2026-10-05\ntags:\n  - apollo\n  - decision\n", ""
    )
    assert set_fields(memory("x", session=""), session="s").endswith(
        "agent: claude-desktop\nsession: s\n---\n\nx\n"
    )


def test_fields_of_a_broken_note_are_left_alone() -> None:
    with pytest.raises(NoteUnreadable):
        set_fields("---\nmemory: x\nmemory: y\n---\nz\n", importance=3)

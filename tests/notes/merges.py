"""The fourteen two-sided merges of one note: what each side does, and what has to come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vault_mcp.notes import entity, frontmatter
from vault_mcp.notes.line import Stamp, observation_line
from vault_mcp.notes.note import read_note

MADE = "2026-09-21T08:30:00Z"
A, B = ("2026-10-01T09:00:00Z", "claude"), ("2026-10-02T10:00:00Z", "cursor")
Edit = Callable[[str], str]


def _note() -> str:
    stamp = Stamp(MADE, "claude")
    facts = [(f"Fact {word}", stamp) for word in ("one", "two", "three", "four", "five")]
    relations = [("works_at", "[[Acme]]", stamp), ("knows", "[[Bob]]", stamp)]
    return entity.new_entity(
        "Ada",
        "Ada",
        "person",
        at=MADE,
        agent="claude",
        observations=facts,
        relations=relations,
        tags=["people"],
    )


BASE = _note()


def adds(text: str, by: tuple[str, str]) -> Edit:
    return lambda note: entity.add_observations(note, [(text, Stamp(*by))])


def relates(type: str, link: str, by: tuple[str, str]) -> Edit:
    return lambda note: entity.add_relations(note, [(type, f"[[{link}]]", Stamp(*by))])


def edits(old: str, new: str, by: tuple[str, str]) -> Edit:
    return lambda note: entity.edit_observation(note, old, new, at=by[0], by=by[1])


def deletes(text: str) -> Edit:
    return lambda note: entity.remove_observations(note, [text])


def tags(tag: str) -> Edit:
    return lambda note: frontmatter.add_to_list(note, "tags", tag)


def types(text: str) -> Edit:
    def typed(note: str) -> str:
        last = "- Fact five" + observation_line("", Stamp(MADE, "claude"))[2:]
        assert last in note
        return note.replace(last, f"{last}\n- {text}")

    return typed


@dataclass(frozen=True)
class Case:
    name: str
    ours: Edit
    theirs: Edit
    facts: tuple[str, ...]
    relations: tuple[str, ...] = ("works_at Acme", "knows Bob")
    tags: tuple[str, ...] = ("people",)
    reported: bool = False


ALL = ("Fact one", "Fact two", "Fact three", "Fact four", "Fact five")


def but(*gone: str, come: tuple[str, ...] = ()) -> tuple[str, ...]:
    return (*(fact for fact in ALL if fact not in gone), *come)


CASES = (
    Case("both add a fact", adds("From A", A), adds("From B", B), but(come=("From A", "From B"))),
    Case(
        "fact and relation",
        adds("From A", A),
        relates("likes", "Tea", B),
        but(come=("From A",)),
        ("works_at Acme", "knows Bob", "likes Tea"),
    ),
    Case(
        "both add a relation",
        relates("likes", "Jazz", A),
        relates("likes", "Tea", B),
        ALL,
        ("works_at Acme", "knows Bob", "likes Jazz", "likes Tea"),
    ),
    Case(
        "edits apart",
        edits("Fact two", "Two by A", A),
        edits("Fact four", "Four by B", B),
        but("Fact two", "Fact four", come=("Two by A", "Four by B")),
    ),
    Case(
        "edits of neighbours",
        edits("Fact two", "Two by A", A),
        edits("Fact three", "Three by B", B),
        but("Fact two", "Fact three", come=("Two by A", "Three by B")),
    ),
    Case(
        "one fact edited twice",
        edits("Fact two", "Two by A", A),
        edits("Fact two", "Two by B", B),
        but("Fact two", come=("Two by A", "Two by B")),
        reported=True,
    ),
    Case("delete and add", deletes("Fact three"), adds("From B", B), but("Fact three", come=("From B",))),
    Case(
        "delete against edit",
        deletes("Fact three"),
        edits("Fact three", "Three by B", B),
        but("Fact three", come=("Three by B",)),
        reported=True,
    ),
    Case("delete last and add", deletes("Fact five"), adds("From B", B), but("Fact five", come=("From B",))),
    Case(
        "edit last and add",
        edits("Fact five", "Five by A", A),
        adds("From B", B),
        but("Fact five", come=("Five by A", "From B")),
    ),
    Case("tags", tags("x"), tags("z"), ALL, tags=("people", "x", "z")),
    Case("person and tool", types("typed by hand"), adds("From B", B), but(come=("typed by hand", "From B"))),
    Case("same fact twice", adds("Same fact", A), adds("Same fact", B), but(come=("Same fact",))),
    Case("fact and tag", adds("From A", A), tags("z"), but(come=("From A",)), tags=("people", "z")),
)


def check(case: Case, merged: str, ours: str, theirs: str) -> None:
    """Hold a merged note against the case, and against what is always to be so."""
    note = read_note("Ada.md", merged)
    assert note.problems == ()
    assert "<<<<<<<" not in merged
    assert sorted(fact.text for fact in note.observations) == sorted(case.facts)
    assert sorted(f"{r.type} {r.target}" for r in note.relations) == sorted(case.relations)
    assert sorted(note.tags) == sorted(case.tags)
    lines = merged.split("\n")
    facts = [line for line in lines if line.startswith("- ")]
    assert len(facts) == len(set(facts)) == len(case.facts) + len(case.relations)
    sides = {*ours.split("\n"), *theirs.split("\n")}
    assert [line for line in lines if line not in sides] == []
    if case.name == "same fact twice":
        assert next(f.stamp for f in note.observations if f.text == "Same fact") == Stamp(*A)
    if case.name == "person and tool":
        assert next(f.stamp for f in note.observations if f.text == "typed by hand") is None

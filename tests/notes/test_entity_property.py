"""Any graph written is the graph read, and any edits keep to the model."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.notes.entities import (
    AT,
    HEAD,
    LATER,
    STAMP,
    TAIL,
    add,
    ended,
    holding,
    note,
    relate,
    related,
)
from vault_mcp.notes import entity
from vault_mcp.notes.line import Source, Stamp, clean_agent, encode_shown

# --- anything at all -------------------------------------------------------------------------------

SYNTAX = [
    *(
        "%%",
        "<br>",
        "&#10;",
        "\\",
        "```",
        "[[X]]",
        "\n",
        "\r\n",
        "\u2028",
        " ",
        "- ",
        "## Relations",
        "[ ] ",
        " ^b",
    ),
    f" {TAIL}",
]
texts = (
    st.lists(st.sampled_from(SYNTAX) | st.text(max_size=4), min_size=1, max_size=5).map("".join).filter(bool)
)
stamps = st.builds(
    Stamp,
    st.sampled_from([AT, LATER]),
    st.text(max_size=8).map(clean_agent),
    sources=st.lists(st.builds(Source, texts, texts), max_size=1).map(tuple),
)
observations = st.lists(st.tuples(texts, stamps), max_size=8, unique_by=lambda item: item[0])
relations = st.lists(st.tuples(texts, texts, stamps), max_size=5, unique_by=lambda item: item[:2])


@given(observations, relations)
def test_any_graph_written_is_the_graph_read(
    facts: list[tuple[str, Stamp]], pairs: list[tuple[str, str, Stamp]]
) -> None:
    text = entity.new_entity("A", "A", "t", at=AT, agent="claude", observations=facts, imported=True)
    text = entity.add_relations(
        text, [(type_, f"[[F|{encode_shown(name)}]]", stamp) for type_, name, stamp in pairs]
    )

    found = note(text)
    assert [(o.text, o.stamp) for o in found.observations] == facts
    assert [(r.type, r.shown, r.stamp) for r in found.relations] == pairs
    assert found.problems == ()


FOREIGN = [
    "Prose about [[T]].\n",
    "# Title\n\n- not a fact\n",
    "### Deep\n\n1. one\n2. two\n",
    "> [!note] Callout\n> - x\n",
    "| a | b |\n| - | - |\n",
    "```sh\n## Observations\n- code\n```\n",
    "%%\n- hidden\n%%\n",
    "\n\n",
    "  \t\n",
    "Setext\n======\n",
]
foreign = st.lists(st.sampled_from(FOREIGN), max_size=4).map("\n".join)
steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "edit", "remove", "supersede", "revive", "relate"]), texts, st.integers(0, 99)
    ),
    max_size=10,
)


def without_ours(text: str, ours: set[str]) -> list[str]:
    """The lines that are not ours, without blank ones: a new section brings those."""
    return [line for line in text.split("\n") if line.strip() and line.rstrip("\r") not in ours]


@settings(max_examples=150)
@given(foreign, foreign, steps, st.booleans(), st.booleans())
def test_any_edits_keep_to_the_model_and_leave_every_other_line(
    above: str, below: str, steps: list[tuple[str, str, int]], crlf: bool, bom: bool
) -> None:
    text = f"{HEAD}\n{above}\n## Observations\n\n- typed by hand\n\n## Mine\n\n{below}"
    text = ("\ufeff" if bom else "") + (text.replace("\n", "\r\n") if crlf else text)
    original = text
    now, gone, ties = ["typed by hand"], list[str](), list[str]()
    for step, words, number in steps:
        if step == "add" and words not in now + gone:
            text = add(text, words)
            now.append(words)
        elif step == "edit" and now and words not in now + gone:
            index = number % len(now)
            text = entity.edit_observation(text, now[index], words, at=LATER, by="c", stamp=STAMP)
            now[index] = words
        elif step == "remove" and now:
            words = now.pop(number % len(now))
            text = entity.remove_observations(text, {words})
        elif step == "supersede" and now:
            words = now.pop(number % len(now))
            text = entity.supersede_observation(text, words, at=LATER, by="c", stamp=STAMP)
            gone.append(words)
        elif step == "revive" and gone:
            words = gone.pop(number % len(gone))
            text = entity.revive_observation(text, words, at=LATER, by="c")
            now.append(words)
        elif step == "relate" and words not in ties:
            text = relate(text, (words, "X"))
            ties.append(words)

        assert (holding(text), ended(text)) == (now, gone)
        assert [type_ for type_, _ in related(text)] == ties
    found, lines = note(text), text.split("\n")
    numbers = [o.line for o in found.observations] + [r.line for r in found.relations]
    ours = {lines[number].rstrip("\r") for number in numbers}
    ours |= {"- typed by hand", "## Relations", "## Superseded"}
    assert without_ours(text, ours) == without_ours(original, ours)
    assert text.startswith("\ufeff") == bom
    assert "\r" not in text if not crlf else text.count("\n") == text.count("\r\n")
    assert text.endswith("\n")

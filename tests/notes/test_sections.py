import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.sections import Heading, fact_lines, item_end, scan


def facts(text: str, *, entity: bool = True) -> list[tuple[str, str]]:
    """What a body says, as (section, text)."""
    return [(fact.section, fact.bullet.text) for fact in fact_lines(scan(text), entity=entity)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("- a\n* b\n+ c\n-\td\n", [("top", "a"), ("top", "b"), ("top", "c"), ("top", "d")]),
        ("## Observations\n\n- a\n", [("observations", "a")]),
        ("##   OBSERVATIONS  ##  \r\n- a\r\n", [("observations", "a")]),
        ("   ## Observations\n- a\n", [("observations", "a")]),
        (
            "## Observations\n- a\n\n### Work\n\n- b\n\n## Notes\n- c\n",
            [("observations", "a"), ("observations", "b")],
        ),
        ("## Observations\n- a\n\n# Part two\n- b\n", [("observations", "a")]),
        ("# Ada\n\n- a\n", []),
        ("### Deep\n- a\n", []),
        ("# Observations\n- a\n", []),
        ("### Observations\n- a\n", []),
        ("##Observations\n- a\n", [("top", "a")]),
        ("- a\n\nObservations\n---\n- b\n", [("top", "a"), ("top", "b")]),
        ("## Relations\n- r [[X]]\n- lost\n", [("relations", "r [[X]]"), ("relations", "lost")]),
        ("## Superseded\n- old\n", [("superseded", "old")]),
        ("## Meeting\n- a\n\n## Observations\n- b\n", [("observations", "b")]),
        (
            "## Observations\n- a\n\n## Notes\n- x\n\n## Observations\n- b\n",
            [("observations", "a"), ("observations", "b")],
        ),
    ],
)
def test_where_a_list_line_stands_says_what_it_is(body: str, said: list[tuple[str, str]]) -> None:
    assert facts(body) == said


@pytest.mark.parametrize(
    "prose",
    [
        "  - nested",
        "\t- nested",
        " - indented",
        "1. numbered",
        "-no space",
        "-",
        "- ",
        "> - quoted",
        "> [!note]\n> - in a callout",
        "- - -",
        "* * *",
        "---",
        "```\n- in code\n```",
        "```md\n## Relations\n- in code\n```",
        "~~~\n- in code\n```\n- still in code\n~~~",
        "````\n```\n- in code\n````",
        "And:\n\n   ```\n- in code\n   ```",
        "%%\n- hidden\n%%",
        "%% a\n- hidden\nb %%",
        "<!--\n- hidden\n## Notes\n-->",
        "code `- part_of [[T]]`",
        "[Site](https://e.example/) is nice",
        "| - a | b |",
    ],
)
def test_what_is_no_top_level_bullet_is_no_fact(prose: str) -> None:
    assert facts(f"## Observations\n\n- before\n\n{prose}\n\n- after\n") == [
        ("observations", "before"),
        ("observations", "after"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "- ```",
        "- ```python",
        "- ~~~",
        "- # head",
        "- ## Relations",
        "- %%",
        "- <!--",
        "- --- x",
        "- > q",
        "- 1. one",
        "- - x",
    ],
)
def test_an_observation_opens_nothing(line: str) -> None:
    assert facts(f"{line}\n- after\n") == [("top", line[2:]), ("top", "after")]


def test_a_fence_inside_a_bullet_ends_with_the_bullet() -> None:
    body = "- run this\n  ```\n  ls\n- and this:\n\n  ```sh\n  - not me\n  ```\n  - nor me\n- last\n"

    assert facts(body) == [("top", "run this"), ("top", "and this:"), ("top", "last")]


def test_a_fence_behind_a_list_is_a_fence() -> None:
    assert facts("- a\n```\n- code\n```\n- b\n") == [("top", "a"), ("top", "b")]


def test_a_comment_that_is_never_closed_hides_nothing() -> None:
    stamped = "- b %%+2026-10-05T09:12:33Z a%%"

    assert facts(f"%%\n- a\n{stamped}\n<!-- so\n- c\n") == [("top", "a"), ("top", "b"), ("top", "c")]


def test_a_fence_that_is_never_closed_is_told_of() -> None:
    layout = scan("- a\n\n```\n- b\n")

    assert layout.open_fence == 2
    assert layout.fences == [(2, 5)]


def test_both_sides_of_a_conflict_are_read_without_the_marks() -> None:
    body = "- a\n<<<<<<< ours\n- b\n||||||| base\n=======\n- c\n>>>>>>> theirs\n- d\n"

    assert facts(body) == [("top", "a"), ("top", "b"), ("top", "c"), ("top", "d")]
    assert scan(body).conflicts == [1, 3, 4, 6]


@pytest.mark.parametrize(
    "prose", ["Title\n=======\n", ">>>>>>> is how mails quoted\n", "```\n<<<<<<< a\n>>>>>>> b\n```\n"]
)
def test_single_marks_are_no_conflict(prose: str) -> None:
    assert scan(prose).conflicts == []


def test_a_stamp_that_says_superseded_outweighs_the_section() -> None:
    body = "- a %%+2026-10-05T09:12:33Z a -2026-10-06T09:12:33Z b%%\n- b\n"

    assert [fact.superseded for fact in fact_lines(scan(body), entity=True)] == [True, False]


def test_a_note_that_is_no_entity_has_relations_only() -> None:
    body = "- a\n\n## Observations\n- b\n\n## Relations\n- about [[X]]\n- no link\n\n## Superseded\n- c\n"

    assert facts(body, entity=False) == [("relations", "about [[X]]")]


def test_headings_know_their_level_title_and_section() -> None:
    assert scan("# A #\n\n## C#\n### #\n####### seven\n#tag\n").headings == [
        Heading(0, 1, "A", "other"),
        Heading(2, 2, "C#", "other"),
        Heading(3, 3, "", "other"),
    ]


@pytest.mark.parametrize(
    ("text", "body_start", "first"),
    [
        ("---\na: 1\n---\n- x\n", 13, 3),
        ("---\na: 1\n---", 12, 3),
        ("\ufeff---\na: 1\n---\n- x\n", 14, 3),
        ("\ufeff- x\n", 1, 0),
        ("- x", 0, 0),
        ("", 0, 0),
    ],
)
def test_the_body_starts_behind_the_front_matter_and_the_byte_order_mark(
    text: str, body_start: int, first: int
) -> None:
    layout = scan(text, body_start)

    assert layout.first == first
    assert layout.bom + "\n".join(layout.lines) == text
    assert [layout.lines[number] for number, _ in layout.bullets] == (["- x"] if "- x" in text else [])


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("- a\n- b", 0),
        ("- a\n  - under\n\n  more\n\n- b", 3),
        ("- a\ngoes on\n\nnot this", 1),
        ("- a\n\n\tindented\n## Next", 2),
        ("- a\n```\nx\n```", 0),
        ("- a\r\n  under\r\n\r\n", 1),
    ],
)
def test_an_item_ends_behind_what_hangs_under_it(body: str, end: int) -> None:
    assert item_end(scan(body), 0) == end


lines = st.lists(
    st.sampled_from(
        [
            "- a",
            "  - b",
            "```",
            "~~~",
            "  ```",
            "%%",
            "<!--",
            "-->",
            "## Observations",
            "# x",
            "",
            "<<<<<<< a",
            ">>>>>>> b",
        ]
    )
    | st.text(max_size=6)
)


@given(lines.map("\n".join))
def test_any_text_is_scanned_and_every_fact_stands_where_it_says(text: str) -> None:
    layout = scan(text)

    for fact in fact_lines(layout, entity=True):
        assert layout.lines[fact.line][0] in "-*+"
    assert layout.bom + "\n".join(layout.lines) == text

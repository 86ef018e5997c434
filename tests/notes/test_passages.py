from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.passages import LONGEST, Passage, cut
from vault_mcp.notes.sections import scan


def passages(text: str) -> list[Passage]:
    layout = scan(text)
    return cut(layout.lines, layout.first, layout.headings)


def test_prose_is_cut_at_headings_and_says_under_which_it_stands() -> None:
    found = passages("Intro.\n\n# Coffee\n\n## Roast\n\nDark.\n\n### Grind\nCoarse.\n\n## Water\n\nSoft.\n")

    assert found == [
        Passage("", "Intro.", 0),
        Passage("Coffee > Roast", "Dark.", 6),
        Passage("Coffee > Roast > Grind", "Coarse.", 9),
        Passage("Coffee > Water", "Soft.", 13),
    ]


def test_short_paragraphs_stay_together_and_long_ones_go_apart() -> None:
    short, long = "Few words.", "Many words here. " * 30

    found = passages(f"{short}\n\n{short}\n\n{long}\n\n{long}\n")

    assert [passage.text for passage in found] == [
        f"{short}\n\n{short}\n\n{long.strip()}",
        long.strip(),
    ]
    assert [passage.line for passage in found] == [0, 6]


def test_a_long_paragraph_is_cut_behind_a_sentence() -> None:
    sentence = "The tide comes in at noon and goes out at six."

    found = passages(" ".join([sentence] * 60))

    assert len(found) > 3
    assert all(passage.text.endswith("six.") and len(passage.text) <= LONGEST for passage in found)


def test_a_long_list_is_cut_behind_a_line_and_each_piece_knows_where_it_starts() -> None:
    lines = [f"- entry number {number} of a list without blank lines" for number in range(100)]

    found = passages("\n".join(lines))

    assert [passage.text.split("\n")[0] for passage in found] == [lines[passage.line] for passage in found]
    assert "\n".join(passage.text for passage in found) == "\n".join(lines)


def test_text_without_spaces_is_cut_too() -> None:
    found = passages("潮" * 2_000 + "。" + "汐" * 100)

    assert "".join(passage.text for passage in found) == "潮" * 2_000 + "。" + "汐" * 100
    assert all(len(passage.text) <= LONGEST for passage in found)


def test_a_heading_with_nothing_under_it_is_found_all_the_same() -> None:
    assert passages("# Zebra\n\n## Empty\n\n## Observations\n") == [Passage("Zebra > Empty", "", 2)]
    assert passages("# Zebra") == [Passage("Zebra", "", 0)]


def test_signs_in_code_are_no_headings() -> None:
    found = passages("# Shell\n\n```sh\n# not a title\n\nls\n```\n")

    assert found == [Passage("Shell", "```sh\n# not a title\n\nls\n```", 2)]


def test_skipped_lines_part_paragraphs() -> None:
    assert cut(["one", "<<<<<<< ours", "two"], 0, (), {1}) == [Passage("", "one\n\ntwo", 0)]


words = st.text(alphabet="ab .\n#-é潮", max_size=300)


@given(st.lists(words, max_size=20).map("\n".join))
def test_no_word_of_a_text_is_lost_or_said_twice(text: str) -> None:
    layout = scan(text)

    found = cut(layout.lines, 0, layout.headings)

    titles = {heading.line for heading in layout.headings}
    prose = [line for number, line in enumerate(layout.lines) if number not in titles]
    assert "".join("".join(p.text for p in found).split()) == "".join("".join(prose).split())
    assert all(len(passage.text) <= LONGEST for passage in found)

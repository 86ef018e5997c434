import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mcp.notes.line import (
    RELATES_TO,
    Bullet,
    Pair,
    Source,
    Stamp,
    clean_agent,
    decode,
    encode,
    encode_shown,
    observation_line,
    parse_bullet,
    parse_relation,
    relation_line,
)

AT = "2026-10-05T09:12:33Z"
LATER = "2026-10-06T10:00:00Z"
STAMP = Stamp(AT, "claude-desktop")

# Anything a client can send, with what the grammar itself is made of coming often.
SYNTAX = [
    *(
        "%",
        "%%",
        "<br>",
        "&#10;",
        "&#9999999;",
        "&#",
        "\\",
        "\\\\",
        "<!--",
        "-->",
        " ^id",
        "+",
        "~",
        "-",
        ">",
        "<",
    ),
    *(
        '"',
        "[[",
        "]]",
        "|",
        "::",
        "[x] ",
        "- ",
        "\n",
        "\r",
        "\t",
        "\0",
        "\x85",
        "\u2028",
        "\xa0",
        " ",
        "\ufeff",
    ),
    *(
        " %%+2026-10-05T09:12:33Z a%%",
        "<!--+2026-10-05T09:12:33Z a-->",
        ' <"a" "b"',
        " -2026-10-05T09:12:33Z b",
    ),
]
anything = st.one_of(
    st.text(), st.lists(st.sampled_from(SYNTAX) | st.text(max_size=3), max_size=8).map("".join)
)
times = st.sampled_from([AT, LATER, "2024-01-01T00:00:00+02:00"])
agents = st.text(max_size=30).map(clean_agent)
sources = st.lists(st.builds(Source, anything, anything), max_size=2).map(tuple)
stamps = st.builds(Stamp, times, agents, sources=sources) | st.builds(
    Stamp, times, agents, times, agents, times, agents, st.none() | anything, sources
)

AS_MARKDOWN = [
    *("- dash", "# head", "---", "> q", "```", "[[A]]", "1. one", "* star", "+ plus", "<!-- c -->", "| t |"),
    *(
        "[x] done",
        "^blk",
        "  lead",
        "trail  ",
        "\ttab",
        "**b**",
        "%%c%%",
        "a: b",
        "\\",
        "&amp;",
        "- [ ] task",
    ),
    *(
        "==h==",
        "$x$",
        "~~s~~",
        "![[A]]",
        "<b>",
        "\xa0nbsp",
        "",
        " ",
        "a\r\nb",
        "%%%%",
        "<br>",
        "\\<br>",
        "&#10;",
    ),
]


def read(line: str) -> Bullet:
    assert line.startswith("- ")
    assert "\n" not in line
    return parse_bullet(line[2:])


@given(anything)
def test_escapes_give_every_text_back_from_one_line(text: str) -> None:
    line = encode(text)

    assert decode(line) == text
    assert len(line.splitlines()) <= 1
    assert "%%" not in line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[[link]] #tag **bold** \\d+ &amp; 5 % <b>", "[[link]] #tag **bold** \\d+ &amp; 5 % <b>"),
        ("two\nlines", "two<br>lines"),
        ("literal <br>", "literal \\<br>"),
        ("slash\\\nbreak", "slash\\\\<br>break"),
        ("slash\\<br>", "slash\\\\\\<br>"),
        ("%%hidden%%", "%&#37;hidden%&#37;"),
        ("a\tb\0c", "a\tb&#0;c"),
        ("&#65;", "\\&#65;"),
    ],
)
def test_only_what_a_line_cannot_hold_is_escaped(text: str, line: str) -> None:
    assert encode(text) == line


@pytest.mark.parametrize(
    "typed", ["&#9999999;", "&#55296;", "&#99999999999999999999;", "&#x41;", "&#٣;", "&#;"]
)
def test_a_number_that_names_no_character_stays_as_typed(typed: str) -> None:
    assert decode(typed) == typed


@given(anything, stamps)
def test_an_observation_with_its_stamp_comes_back_exactly(text: str, stamp: Stamp) -> None:
    bullet = read(observation_line(text, stamp, stamp_task=True))

    assert (bullet.text, bullet.stamp, bullet.block_id) == (text, stamp, "")


@given(anything.filter(bool))
def test_an_observation_without_a_stamp_comes_back_exactly(text: str) -> None:
    bullet = read(observation_line(text, None))

    assert (bullet.text, bullet.stamp, bullet.block_id) == (text, None, "")


@pytest.mark.parametrize("text", AS_MARKDOWN)
def test_text_that_looks_like_markdown_stays_text(text: str) -> None:
    bullet = read(observation_line(text, STAMP))

    assert bullet.text == text


def test_lines_look_as_the_format_says() -> None:
    whole = Stamp(AT, "claude", LATER, "cursor", LATER, "me", 'say "x"', (Source("Ada", "a\nb"),))

    assert observation_line("Dark roast", STAMP) == f"- Dark roast %%+{AT} claude-desktop%%"
    assert observation_line("typed", None) == "- typed"
    assert observation_line("old", whole) == (
        rf'- old %%+{AT} claude ~{LATER} cursor -{LATER} me >"say \"x\"" <"Ada" "a\nb"%%'
    )
    assert relation_line("works at", "[[X|Y]]", STAMP) == f"- works at [[X|Y]] %%+{AT} claude-desktop%%"


@pytest.mark.parametrize("task", ["[ ] call Ada", "[x] done ✅ 2026-10-07", "[-] dropped"])
def test_a_task_is_written_without_a_stamp(task: str) -> None:
    assert observation_line(task, STAMP) == f"- {task}"
    assert read(f"- {task}").is_task


@pytest.mark.parametrize(
    "stamp",
    [
        Stamp(AT, "a", sources=(Source("A", "b"),)),
        Stamp(AT, "a", superseded_at=LATER, superseded_by="b"),
    ],
)
def test_a_task_keeps_a_stamp_that_says_what_git_does_not_know(stamp: Stamp) -> None:
    assert read(observation_line("[ ] call", stamp)).stamp == stamp


def test_a_task_keeps_its_stamp_where_the_line_would_not_be_exact_without_or_on_import() -> None:
    assert read(observation_line("[ ] call ", STAMP)) == Bullet("[ ] call ", STAMP, "", True, "[ ] call ")
    assert read(observation_line("[ ] call ^id", STAMP)).text == "[ ] call ^id"
    assert read(observation_line("[ ] call", STAMP, stamp_task=True)).stamp == STAMP
    assert read(observation_line("[ ] call", STAMP)).stamp is None


@pytest.mark.parametrize(
    ("line", "text", "stamp", "block_id"),
    [
        ("- typed", "typed", None, ""),
        ("-    typed   ", "typed", None, ""),
        ("- typed ^b1", "typed", None, "b1"),
        ("- ^b1", "^b1", None, ""),
        (f"- Edited words %%+{AT} claude-desktop%%", "Edited words", STAMP, ""),
        (f"- x %%+{AT} claude-desktop%% ^a1b2", "x", STAMP, "a1b2"),
        (f"- x %%+{AT} claude-desktop%%\r", "x", STAMP, ""),
        (f"- x%%+{AT} claude-desktop%%  ", "x", STAMP, ""),
        (f"- [x] Send %%+{AT} claude-desktop%% ✅ 2026-10-07", "[x] Send ✅ 2026-10-07", STAMP, ""),
        (f"- x <!--+{AT} claude-desktop-->", "x", STAMP, ""),
        (f"- x %%my own%% %%+{AT} claude-desktop%%", "x %%my own%%", STAMP, ""),
        (f"- x %%+{LATER} a%% y %%+{AT} claude-desktop%%", f"x %%+{LATER} a%% y", STAMP, ""),
        (f"- x %%+{AT} claude-desktop%% %%+broken", "x %%+broken", STAMP, ""),
        (f"- x %%+{AT} claude", f"x %%+{AT} claude", None, ""),
        (f"- x %%+{AT} claude-->", f"x %%+{AT} claude-->", None, ""),
        ("- x %%+yesterday me%%", "x %%+yesterday me%%", None, ""),
        ("- x %%+2026-10-05 me%%", "x", Stamp("2026-10-05", "me"), ""),
        (
            "- x %%+2026-10-05T09:12:33.5+02:00 me <a@b>%%",
            "x",
            Stamp("2026-10-05T09:12:33.5+02:00", "me <a@b>"),
            "",
        ),
        ("- one<br>two", "one\ntwo", None, ""),
    ],
)
def test_lines_a_person_had_a_hand_in_read_as_meant(
    line: str, text: str, stamp: Stamp | None, block_id: str
) -> None:
    bullet = read(line)

    assert (bullet.text, bullet.stamp, bullet.block_id) == (text, stamp, block_id)


def test_a_broken_string_in_a_stamp_is_read_as_it_stands() -> None:
    bullet = read(rf'- x %%+{AT} a -{LATER} b >"C:\dir" <"\ud800" "z"%%')

    assert bullet.stamp == Stamp(AT, "a", "", "", LATER, "b", r"C:\dir", (Source("?", "z"),))


@given(st.text())
def test_any_line_at_all_can_be_read(body: str) -> None:
    bullet = parse_bullet(body)

    parse_relation(bullet)
    assert bullet.text == decode(bullet.raw)


def test_a_line_full_of_broken_stamps_is_read_in_no_time() -> None:
    body = f'<!--+{AT} a ~{AT} b -{AT} c <"x ' * 3_000

    assert parse_bullet(body).stamp is None


@pytest.mark.parametrize("sign", ["\\", "%", "[", "<br>", "&#", " ^a", "`", "::", '"', " "])
def test_long_rows_of_signs_take_no_time(sign: str) -> None:
    text = sign * 50_000

    assert read(observation_line(text, STAMP)).text == text
    assert parse_relation(read(relation_line(text, "[[X]]", STAMP))) == Pair(text, "X", None)


# --- relations -------------------------------------------------------------------------------------


@given(anything, anything, stamps)
def test_a_stamped_relation_comes_back_exactly(type_: str, name: str, stamp: Stamp) -> None:
    line = relation_line(type_, f"[[Some file|{encode_shown(name)}]]", stamp)

    bullet = read(line)
    assert parse_relation(bullet) == Pair(type_, "Some file", name)
    assert bullet.stamp == stamp


@given(anything.filter(bool))
def test_a_relation_without_a_stamp_comes_back_exactly(type_: str) -> None:
    assert parse_relation(read(relation_line(type_, "[[X]]", None))) == Pair(type_, "X", None)


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("- works at [[X]]", Pair("works at", "X", None)),
        ("- works at:: [[X]]", Pair("works at", "X", None)),
        ("- works at::[[X]]", Pair("works at", "X", None)),
        ("- [[X]]", Pair(RELATES_TO, "X", None)),
        ("- [[a/X.md|shown]] ^b", Pair(RELATES_TO, "a/X.md", "shown")),
        ("- knows [[X#Past|him]]", Pair("knows", "X", "him")),
        ("- knows [[X\\|him]]", Pair("knows", "X", "him")),
        ("- knows [[X|a [b] c]]", Pair("knows", "X", "a [b] c")),
        ("- array[0] of [[X]]", Pair("array[0] of", "X", None)),
        (f"-  [[X]] %%+{AT} a%%", Pair("", "X", None)),
        (f"- [[X]] %%+{AT} a%%", Pair(RELATES_TO, "X", None)),
        (f"- [ ] to [[X]] %%+{AT} a%%", Pair("[ ] to", "X", None)),
    ],
)
def test_relations_read_as_written(line: str, pair: Pair) -> None:
    assert parse_relation(read(line)) == pair


@pytest.mark.parametrize(
    "line",
    [
        "- no link at all",
        "- met [[A]] and [[B]]",
        "- met [[A|a]] and [[B]]",
        "- met [[A]] yesterday",
        "- shows ![[picture.png]]",
        "- [ ] call [[A]]",
        "- see [[#Here]]",
        "- see [[]]",
        "- [site](https://e.example/)",
        f"- met [[A]] %%+{AT} a%% yesterday",
    ],
)
def test_a_line_that_is_more_or_less_than_type_and_link_is_no_relation(line: str) -> None:
    assert parse_relation(read(line)) is None


# --- agents ----------------------------------------------------------------------------------------


@given(st.text())
def test_a_clean_agent_is_safe_in_a_stamp_and_a_header(name: str) -> None:
    agent = clean_agent(name)

    assert agent == agent.strip()
    assert 1 <= len(agent) <= 100
    assert not set(agent) & set("%~<>\n\r\0")
    assert agent.isprintable()
    assert clean_agent(agent) == agent


@pytest.mark.parametrize(
    ("given_name", "agent"),
    [
        ("claude-desktop", "claude-desktop"),
        ("  Ada\nLovelace <ada@example.org> ", "Ada Lovelace ada@example.org"),
        ("100%", "100"),
        ("", "unknown"),
        ("\u202e\0", "unknown"),
        ("x -2026-10-05T09:12:33Z y", "x 2026-10-05T09:12:33Z y"),
        ("日本語", "日本語"),
    ],
)
def test_agents_are_cleaned_to_one_plain_line(given_name: str, agent: str) -> None:
    assert clean_agent(given_name) == agent

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_mcp.notes.frontmatter import read
from vault_mcp.notes.links import (
    Link,
    find_links,
    markdown_target,
    resolve,
    rewrite_canvas,
    rewrite_links,
    stem_key,
    written_link,
)


def targets(text: str) -> list[str]:
    return [link.target for link in find_links(text)]


# -- finding


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[Note]]", Link("Note", "", None, False, 0, 8)),
        ("![[Folder/Pic.png|100]]", Link("Folder/Pic.png", "", "100", True, 0, 23)),
        ("[[Note.md#H1#H2]]", Link("Note.md", "H1#H2", None, False, 0, 17)),
        ("[[ Note #^id | shown ]]", Link("Note", "^id", " shown ", False, 0, 23)),
        ("[[Note\\|in a table]]", Link("Note", "", "in a table", False, 0, 20)),
        ("[[Note|a [b] c]]", Link("Note", "", "a [b] c", False, 0, 16)),
        ("[[Note|a&#124;b<br>c]]", Link("Note", "", "a|b\nc", False, 0, 22)),
        ("[x](a.md)", Link("a.md", "", "x", False, 0, 9, markdown=True)),
        ("![x](b/a%20b.md#h%20i)", Link("b/a b.md", "h i", "x", True, 0, 22, markdown=True)),
        ('[x](<a b.md#h> "title")', Link("a b.md", "h", "x", False, 0, 23, markdown=True)),
        ("[x](a\\(1\\).md)", Link("a(1).md", "", "x", False, 0, 14, markdown=True)),
        ("[x](a(1).md)", Link("a(1).md", "", "x", False, 0, 12, markdown=True)),
        ("[](../a.MD)", Link("../a.MD", "", "", False, 0, 11, markdown=True)),
    ],
)
def test_a_link_is_read_in_all_its_parts(text: str, link: Link) -> None:
    assert find_links(text) == [link]
    moved = find_links(f"é: {text} end")
    assert [(one.target, one.heading, one.shown) for one in moved] == [
        (link.target, link.heading, link.shown)
    ]
    assert [f"é: {text} end"[one.start : one.end] for one in moved] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "[[]] [[#here]] [[#^id]] [[|x]]",
        "[[a\nb]] [[a[b]] [a] [a](b) [a]( b.md",
        "[x](https://example.org/a.md) [x](//host/a.md) [x](mailto:a.md) [x](#a.md) [x](a.exe)",
        "`[[no]]` ``a ` [[no]]`` ```[[no]]```",
        "```\n[[no]]\n```",
        "````md\n```\n[[no]]\n```\n````",
        "~~~ `x`\n[[no]]\n```\n[[no]]\n~~~",
        "> ```\n> [[no]]\n> ```",
        "- ```\n  [[no]]\n  ```",
        "```\nnever closed [[no]]",
        "a %%[[no]]%% b",
        "%%\n[[no]]\n\n[[no]]\n%%",
        "%% [[no]] %%",
        "<!-- [[no]] --> <!--\n[[no]]\n-->",
        "\\[[no]] \\[x](a.md)",
    ],
)
def test_code_comments_and_other_things_hold_no_link(text: str) -> None:
    assert targets(text) == []
    assert targets(f"{text}\n\n[[yes]]" if "never closed" not in text else "[[yes]]") == ["yes"]


@pytest.mark.parametrize(
    "text",
    [
        "an unclosed ` sign [[yes]]",
        "one ` here\n\nanother [[yes]] ` there",
        "100 %% sure [[yes]]",
        "%% never closed\n[[yes]]",
        "%%\nopened, a fact %%+2026-10-05T09:12:33Z a%%\n%%[[yes]]",
        "<!-- never closed [[yes]]",
        "a ~~~ b [[yes]]",
        "``` not a fence ` [[yes]]",
        "\\\\[[yes]]",
        "!\\[a] [[yes]]",
        "> - 1. [[yes]]",
        "- ``` %%+2026-10-05T09:12:33Z a%%\n- [[yes]]",
        "- ```\n  [[no]]\n\n[[yes]]",
        "- a ` sign\n- [[yes]] and another ` sign",
        '- a fact about [[yes]] %%+2026-10-05T09:12:33Z a <"[[no]]" "x"%%',
    ],
)
def test_what_opens_nothing_hides_nothing(text: str) -> None:
    assert targets(text) == ["yes"]


def test_links_count_in_properties_quoted_or_not() -> None:
    text = (
        "---\nup: [[Home]]\nrel:\n  - \"[[B]]\"\n  - [[C|see]]\nlike: '[[It''s D|it''s]]' # [[E]]\n"
        'code: "`[[F \\u00e9|\\"f\\"]]`"\n---\n`[[no]]` [[G]]\n'
    )

    assert [(link.target, link.shown) for link in find_links(text)] == [
        *(
            ("Home", None),
            ("B", None),
            ("C", "see"),
            ("It's D", "it's"),
            ("E", None),
            ("F é", '"f"'),
            ("G", None),
        )
    ]


def test_names_types_and_other_texts_of_ours_are_no_links_whatever_they_look_like() -> None:
    text = (
        '---\nentity: "[[A]]"\nname: "[[B]]"\naliases:\n  - "[[B]]"\n- other [[C]]\n\ntags: [x]\n'
        'agent: [[D]]\n\'created\': "[[E]]"\nnames: "[[F]]"\nnamed: [[G]]\n---\nname: [[H]]\n'
    )

    assert targets(text) == ["F", "G", "H"]
    assert rewrite_links(text, lambda link: ("X", None)) == (
        text.replace("[[F]]", "[[X]]").replace("[[G]]", "[[X]]").replace("[[H]]", "[[X]]")
    )


def test_a_rule_at_the_top_opens_no_properties() -> None:
    assert targets("---\n\n`[[no]]` [[yes]]\n") == ["yes"]


HOSTILE = [
    "[" * 50_000,
    "[[" * 50_000,
    "[[a|" * 30_000,
    "![a](" * 30_000,
    "[![a](b)" * 20_000,
    "`" * 3 + "a`" * 50_000,
]
HOSTILE += [
    "<!--" * 50_000,
    "%%" * 50_000 + "[[a]]",
    "a %% b\n" * 30_000,
    "\\" * 100_000,
    "[a](" + "(" * 50_000,
]
HOSTILE += ["`a\n\n" * 30_000, "[[a#" * 30_000, " " * 100_000 + "```", "---\n" + "'[[a]]" * 5_000 + "\n---\n"]


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:8].strip() for text in HOSTILE])
def test_no_text_takes_long(text: str) -> None:
    start = time.process_time()
    find_links(text + "\n[[a]](b.md)")

    assert time.process_time() - start < 3


# -- resolving

FILES = [
    "Note.md",
    "b/Note.md",
    "a/b/Note.md",
    "x/Other.md",
    "x/y/Other.md",
    "Café.md",
    "v1.2.md",
    "board.canvas",
]
FILES += ["img/pic.PNG", "x/Index.md", "Index.MD", "z/q/Deep.md", "zz/Deep.md"]


@pytest.mark.parametrize(
    ("target", "from_path", "path"),
    [
        ("Note", "z/From.md", "Note.md"),
        ("Note", "a/b/From.md", "Note.md"),  # the exact path from the root comes first
        ("b/Note", "z/From.md", "b/Note.md"),
        ("/b/Note", "z/From.md", "b/Note.md"),
        ("NOTE.MD", "z/From.md", "Note.md"),
        ("Other", "x/y/From.md", "x/y/Other.md"),  # own folder
        ("Other", "From.md", "x/Other.md"),  # shortest path
        ("y/Other", "From.md", "x/y/Other.md"),  # a suffix
        ("Deep", "From.md", "zz/Deep.md"),  # the shorter string, not the fewer folders
        ("ther", "From.md", None),
        ("./Other", "x/y/From.md", "x/y/Other.md"),
        ("../Other", "x/y/From.md", "x/Other.md"),
        ("../Note", "x/y/From.md", None),
        ("../../../Note", "x/y/From.md", None),
        ("cafe\u0301", "From.md", "Café.md"),
        ("v1.2", "From.md", "v1.2.md"),
        ("board.canvas", "From.md", "board.canvas"),
        ("board", "From.md", None),
        ("pic.png", "From.md", "img/pic.PNG"),
        ("Index", "x/From.md", "Index.MD"),
        ("Nobody", "From.md", None),
        ("", "From.md", None),
    ],
)
def test_a_link_means_the_file_obsidian_would_open(target: str, from_path: str, path: str | None) -> None:
    assert resolve(target, from_path, FILES) == path
    assert resolve(target, from_path, reversed(FILES)) == path
    assert path is None or stem_key(target) == stem_key(path)


def test_where_a_disk_tells_case_apart_the_spelling_decides() -> None:
    files = ["log.md", "Log.md", "x/log.md"]

    assert [resolve(target, "From.md", files) for target in ("log", "Log", "LOG")] == [
        "log.md",
        "Log.md",
        "Log.md",
    ]
    assert resolve("note.canvas", "From.md", ["note.canvas.md", "note.canvas"]) == "note.canvas"


# -- writing


@pytest.mark.parametrize(
    ("path", "name", "unique", "written"),
    [
        ("entities/person/Ada Lovelace.md", "Ada Lovelace", True, "[[Ada Lovelace]]"),
        (
            "entities/person/Ada Lovelace.md",
            "Ada Lovelace",
            False,
            "[[entities/person/Ada Lovelace|Ada Lovelace]]",
        ),
        ("src index.ts.md", "src/index.ts", True, "[[src index.ts|src/index.ts]]"),
        ("a.md", "a|b [c]\n%%", True, "[[a|a&#124;b &#91;c&#93;<br>%&#37;]]"),
        ("my/C# notes^.md", "C# notes^", True, "[[C notes|C# notes^]]"),
        ("board.canvas", "board.canvas", True, "[[board.canvas]]"),
    ],
)
def test_a_link_is_written_as_short_as_it_may_be(path: str, name: str, unique: bool, written: str) -> None:
    assert written_link(path, name, unique=unique) == written


@given(st.text(min_size=1), st.booleans())
def test_a_written_link_is_read_back_with_its_name(name: str, unique: bool) -> None:
    links = find_links(f"- about {written_link('a/b.md', name, unique=unique)} %%+2026-10-05T09:12:33Z x%%\n")
    target = "b" if unique else "a/b"

    assert [(link.target, link.shown or target) for link in links] == [(target, name)]


@pytest.mark.parametrize(
    ("written", "from_path", "target"),
    [
        ("old.md", "x/From.md", "new/New.md"),
        ("old.md", "new/From.md", "New.md"),
        ("x/old.md", "new/From.md", "new/New.md"),
        ("../old.md", "x/From.md", "../new/New.md"),
        ("./old.md", "new/From.md", "./New.md"),
        ("./old.md", "From.md", "./new/New.md"),
    ],
)
def test_a_markdown_link_keeps_the_way_it_was_written(written: str, from_path: str, target: str) -> None:
    link = find_links(f"[x]({written})")[0]

    assert markdown_target(link, from_path, "new/New.md") == target
    assert resolve(target, from_path, ["new/New.md", "q/New.md"]) == "new/New.md"


# -- rewriting

BEFORE = """\
---
up: "[[Old]]"
plain: [[Old]]
list:
  - '[[old|it''s]]'
  - "[[Other]]"
---
# Old

See [[Old]], [[Old#Part|the part]], [[Old|Old]] and ![[Old#^id]];
also [[old.md]] and [[Folder/Old]].

| a | b |
|---|---|
| [[Old]] | [[Old\\|Old]] |

Not `[[Old]]`, not [[Older]], not %%[[Old]]%%.
[Old](Old.md), [that one](Folder/Old.md#part "title"),
[Old](<Folder/Old.md>), [web](https://x.org/Old.md)
"""

AFTER = """\
---
up: "[[New, \\"name\\"|N]]"
plain: "[[New, \\"name\\"|N]]"
list:
  - '[[New, "name"|it''s]]'
  - "[[Other]]"
---
# Old

See [[New, "name"|N]], [[New, "name"#Part|the part]], [[New, "name"|N]] and ![[New, "name"#^id|N]];
also [[New, "name".md|N]] and [[New, "name"|N]].

| a | b |
|---|---|
| [[New, "name"\\|N]] | [[New, "name"\\|N]] |

Not `[[Old]]`, not [[Older]], not %%[[Old]]%%.
[N](New,%20%22name%22.md), [that one](New,%20%22name%22.md#part "title"),
[N](<New, "name".md>), [web](https://x.org/Old.md)
"""


def test_a_rename_follows_every_link_and_touches_nothing_else() -> None:
    def moved(link: Link) -> tuple[str, str | None] | None:
        if stem_key(link.target) != "old":
            return None
        return 'New, "name"', "N" if link.shown in (None, "Old") else link.shown

    rewritten = rewrite_links(BEFORE, moved)

    assert rewritten == AFTER
    assert read(rewritten) == (
        {
            "up": '[[New, "name"|N]]',
            "plain": '[[New, "name"|N]]',
            "list": ['[[New, "name"|it\'s]]', "[[Other]]"],
        },
        None,
    )
    assert rewrite_links(BEFORE.replace("\n", "\r\n"), moved) == AFTER.replace("\n", "\r\n")


def test_a_plain_name_needs_no_new_quotes_in_a_property() -> None:
    assert (
        rewrite_links("---\nup: [[Old]]\n---\n", lambda _: ("New name", None))
        == "---\nup: [[New name]]\n---\n"
    )


def test_a_display_text_can_be_taken_away() -> None:
    text = "[[Old|Old name]] [Old name](Old.md) [](Old.md)"

    assert rewrite_links(text, lambda _: ("New", None)) == "[[New]] [New](New.md) [New](New.md)"


def test_nothing_to_rewrite_gives_the_very_text() -> None:
    assert rewrite_links(BEFORE, lambda _: None) is BEFORE
    assert rewrite_links(BEFORE, lambda link: (link.target, link.shown)) == BEFORE


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                "[[a]]",
                "[[a|b]]",
                "![[",
                "]]",
                "[x](a.md)",
                "`",
                "```\n",
                "%%",
                "\n",
                "---\n",
                "k: ",
                '"',
                "'",
                "|",
                "\\",
                "<!--",
                "-->",
            ]
        ),
        max_size=16,
    ).map("".join)
)
def test_links_that_stay_the_same_leave_any_text_as_it_is(text: str) -> None:
    assert rewrite_links(text, lambda link: (link.target, link.shown)) == text
    for link in find_links(text):
        assert text[link.start : link.end].lstrip("!").startswith("[")


# -- canvases


def test_a_canvas_follows_moved_files_without_being_laid_out_anew() -> None:
    canvas = (
        '{\n\t"nodes":[\n\t\t{"id":"1","type":"file","file":"a/Old.md","x":-1.0,"y":1e3},\n'
        '\t\t{"type":"text","text":"\\"file\\": \\"a/Old.md\\" [[Old]]","file" :\t"b/Stays.md"},\n'
        '\t\t{"id":"file","label":"a/Old.md","file":"caf\\u00e9/Old.md","subpath":"#file"}\n\t],\n\t"edges":[]\n}'
    )
    moved = {"a/Old.md": 'a/Néw "x".md', "café/Old.md": "New.md"}
    rewritten = rewrite_canvas(canvas, moved)

    assert rewritten == canvas.replace('"file":"a/Old.md"', '"file":"a/Néw \\"x\\".md"').replace(
        '"caf\\u00e9/Old.md"', '"New.md"'
    )
    assert [node.get("file") for node in json.loads(rewritten)["nodes"]] == [
        'a/Néw "x".md', "b/Stays.md", "New.md",
    ]  # fmt: skip
    assert rewrite_canvas(canvas, {"c.md": "d.md"}) is canvas
    assert rewrite_canvas('{"file": "\\x", "file": "a', {"a": "b"}) == '{"file": "\\x", "file": "a'

"""What a path may be: strings in, strings out."""

import os
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_mcp.errors import PathRefused
from vault_mcp.storage import paths

LEADING_OUT = [
    "../outside.md",
    "x/../../outside.md",
    "..",
    "x/..",
    "x/../..",
    "./../outside.md",
    "....//outside.md",
    "x/.../y.md",
    "%2e%2e/outside.md",
    "%2E%2e/outside.md",
    "%252e%252e/outside.md",
    "x%2f..%2foutside.md",
    "x/%2e%2e",
    "x%5c..%5coutside.md",
    "a%00.md",
]
ABSOLUTE = ["/etc/hostname", "//etc/hostname", "/proc/self/environ", "/"]
OF_WINDOWS = [
    "..\\..\\x.md",
    "C:\\x.md",
    "C:x.md",
    "c:/x.md",
    "\\\\srv\\share\\x.md",
    "a.md:stream",
    "a.md::$DATA",
    ".git::$INDEX_ALLOCATION/config",
]
HIDDEN = [
    ".git/config",
    ".GIT/hooks/pre-commit",
    "sub/.git",
    ".git /config",
    ".git./config",
    ".gitattributes",
    ".gitmodules",
    ".gitignore",
    "sub/.gitattributes",
    ".vault-mcp.toml",
    ".obsidian/app.json",
    "a/.trash/b.md",
    ".n.md.icloud",
    ".g\u200cit/config",
    "\u200c.git/config",
    "\u2066.git/config",
    "\ufeff.obsidian/app.json",
    "GIT~1/config",
    "git~1",
    "GITMOD~1",
    "VAULT-~1.TOM",
    "OBSIDI~1/app.json",
    "%2egit/config",
    "conflict-files-obsidian-git.md",
]
SHORT = ["MEETIN~1.MD", "note~1.md", "a/PROGRA~2/x.md"]
PASSING = ["n.md~", "#n.md#", "4913", "a/4913", "x.tmp", "x.TMP", "~$plan.docx", "a.md___jb_tmp___"]
NOT_STORABLE = [
    "CON",
    "con.md",
    "a/NUL",
    "aux.tar.gz",
    "COM1.txt",
    "LPT³",
    "CONIN$",
    "PRN .md",
    "a.",
    "a/b ",
    "a /b.md",
    "what?.md",
    'a"b.md',
    "a<b.md",
    "a>b.md",
    "a|b.md",
    "a*b.md",
    "~",
    "~/a.md",
    "\ufe52\ufe52/a.md",
    "a/\uff0e\uff0e",
    "\u2026",
    "\u202egpj.md",
    "a\u2066b.md",
    "x" * 256,
    "ä" * 128,
    "/".join(["x" * 200] * 6),
]
NO_CHARACTERS = [
    "a\x00.md",
    "a.md\x00.png",
    "a\nb",
    "a\x07\tb",
    "a\x7fb",
    "a\x85b",
    "a\u2028b",
    "a\ud800b",
    "\udcff",
]
FINE = [
    "a.md",
    "a/b/c.md",
    "--output=pwn.md",
    "-rf",
    "100%.md",
    "50%25 off.md",
    "a%20b.md",
    "a∕b.md",
    "a／b.md",
    "a..b.md",
    "a…b.md",
    "👨\u200d👩\u200d👧 family.md",
    "🧠 brain.md",
    "東京メモ.md",
    "cafe\u0301.md",
    "caf\u00e9.md",
    "C# notes.md",
    "[draft] plan #1 ^x.md",
    "console.md",
    "com10.md",
    "plan~draft.md",
    "4913/x.md",
    "x.tmp/y.md",
    " leading.md",
    "node_modules/x.md",
    "Plan.sync-conflict-20260101-120000-ABCDEFG.md",
]


@pytest.mark.parametrize("path", LEADING_OUT + ABSOLUTE + OF_WINDOWS)
@pytest.mark.parametrize("existing", [False, True])
def test_a_path_that_leads_out_is_refused_on_every_system(path: str, existing: bool) -> None:
    if existing and path in ("a.md:stream", "a.md::$DATA"):
        assert paths.inside(path, existing=True) == path  # a plain name here: Linux has no streams
        return
    with pytest.raises(PathRefused):
        paths.inside(path, existing=existing)


@pytest.mark.parametrize("path", HIDDEN + SHORT + PASSING + NO_CHARACTERS)
@pytest.mark.parametrize("existing", [False, True])
def test_hidden_parts_and_control_characters_are_refused_also_for_reading(path: str, existing: bool) -> None:
    with pytest.raises(PathRefused):
        paths.inside(path, existing=existing)


@pytest.mark.parametrize("path", NOT_STORABLE)
def test_a_name_that_some_system_cannot_store_is_refused(path: str) -> None:
    with pytest.raises(PathRefused):
        paths.inside(path)


@pytest.mark.parametrize("path", [p for p in NOT_STORABLE if len(p.encode()) < 100])
def test_such_a_name_may_still_be_read_where_this_disk_holds_it(path: str) -> None:
    assert paths.inside(path, existing=True) == path


@pytest.mark.parametrize("path", FINE)
def test_other_names_come_back_as_they_are(path: str) -> None:
    assert paths.inside(path) == path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", ""),
        (".", ""),
        ("./", ""),
        ("a/", "a"),
        ("./a.md", "a.md"),
        ("a//b///c.md", "a/b/c.md"),
        ("a/./b", "a/b"),
    ],
)
def test_dots_and_slashes_that_change_nothing_are_tolerated(given: str, expected: str) -> None:
    assert paths.inside(given) == expected


@pytest.mark.parametrize(
    "path", LEADING_OUT + ABSOLUTE + OF_WINDOWS + HIDDEN + PASSING + NOT_STORABLE + NO_CHARACTERS
)
def test_a_refusal_is_a_short_sentence_that_can_be_sent(path: str) -> None:
    with pytest.raises(PathRefused) as refused:
        paths.inside(path)
    message = str(refused.value)

    assert message.endswith(".")
    assert len(message) < 400
    assert all(unicodedata.category(char) not in ("Cc", "Cs") for char in message)


def test_a_refusal_never_repeats_an_absolute_path() -> None:
    with pytest.raises(PathRefused) as refused:
        paths.inside("/home/ada/vault/a.md")

    assert "ada" not in str(refused.value)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("./\\%2eE5fFcgit~1: \u200cCONa\x00\ud800"), max_size=16))
def test_whatever_is_let_through_lies_inside_and_is_let_through_again(path: str) -> None:
    try:
        found = paths.inside(path)
    except PathRefused:
        return
    parts = found.split("/") if found else []

    assert os.path.normpath(os.path.join("/vault", found)).startswith("/vault")
    assert all(part and not part.startswith(".") for part in parts)
    assert found == "" or not paths.is_hidden(found)
    assert paths.inside(found) == found


@pytest.mark.parametrize(
    "path", [*HIDDEN[:19], "conflict-files-obsidian-git.md", *PASSING, "a\\.git", "x\\GIT~1"]
)
def test_the_walk_passes_over_what_no_tool_may_touch(path: str) -> None:
    assert paths.is_hidden(path)


@pytest.mark.parametrize(
    "path", [*FINE, "what?.md", "CON", "MEETIN~1.MD", "bad\udcff.md", "a:b.md", "digit~1.md"]
)
def test_the_walk_sees_every_other_file_a_person_may_have(path: str) -> None:
    assert not paths.is_hidden(path)


def test_a_folder_may_have_the_name_of_a_passing_file() -> None:
    assert not paths.is_hidden_folder("4913")
    assert paths.is_hidden("4913")
    assert paths.is_hidden_folder("a/.git")
    assert paths.is_hidden_folder("GIT~1")


def test_what_git_refuses_to_hold_is_hidden(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    strictly = ["-c", "core.protectHFS=true", "-c", "core.protectNTFS=true"]
    adding = ["git", *strictly, "update-index", "--add", "--cacheinfo"]
    blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    for name in [
        ".git",
        ".GIT",
        "git~1",
        "GIT~1",
        ".git ",
        ".git.",
        ".g\u200cit",
        "\u200c.git",
        ".git\u206f",
    ]:
        refused = subprocess.run(
            [*adding, f"100644,{blob},sub/{name}"],
            cwd=tmp_path,
            check=False,
            capture_output=True,
        )

        assert refused.returncode != 0, name
        assert paths.is_hidden(f"sub/{name}")
        assert paths.is_hidden_folder(f"sub/{name}")


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        ("Plan.sync-conflict-20260101-120000-ABCDEFG.md", "Plan.md"),
        ("a/Plan.sync-conflict-20260101-120000.md", "a/Plan.md"),
        ("Plan (conflicted copy 2026-01-01).md", "Plan.md"),
        ("Plan (Ada's conflicted copy 2026-01-01).md", "Plan.md"),
        ("a/b/Plan (conflicted copy 2026-01-01 120000).md", "a/b/Plan.md"),
        ("Plan (Conflicted copy laptop 202601011200).md", "Plan.md"),
        ("Plan_conflict-20260101-120000.md", "Plan.md"),
        ("Plan (SFConflict ada@example.org 2026-01-01-12-00-00).md", "Plan.md"),
        ("Plan.Conflict.md", "Plan.md"),
        ("README (conflicted copy 2026-01-01)", "README"),
    ],
)
def test_a_conflict_copy_names_the_file_it_stands_beside(copy: str, original: str) -> None:
    assert paths.conflict_copy_of(copy) == original
    assert not paths.is_hidden(copy)


@pytest.mark.parametrize(
    "path",
    [
        "Plan.md",
        "Plan 2.md",
        "Plan (1).md",
        "Plan (2).md",
        "On conflicted copies.md",
        ".sync-conflict.md",
        "conflict.md",
    ],
)
def test_a_name_a_person_would_choose_is_no_conflict_copy(path: str) -> None:
    assert paths.conflict_copy_of(path) is None


def test_a_placeholder_names_the_note_that_is_not_downloaded() -> None:
    assert paths.placeholder_of(".n.md.icloud") == "n.md"
    assert paths.placeholder_of("a/b/.n.md.icloud") == "a/b/n.md"
    assert paths.placeholder_of("n.md.icloud") is None
    assert paths.placeholder_of(".icloud") is None
    assert paths.placeholder_for("a/n.md") == "a/.n.md.icloud"


def test_names_that_macos_or_windows_take_for_one_have_one_key() -> None:
    assert paths.place_key("Caf\u00e9/A.md") == paths.place_key("cafe\u0301/a.MD")
    assert paths.place_key("Straße.md") == paths.place_key("STRASSE.md")
    assert paths.place_key("a.md") != paths.place_key("b.md")


def test_any_name_on_disk_can_be_shown() -> None:
    assert paths.shown("bad\udcff.md") == "bad\\xff.md"
    assert paths.shown("a\nb.md") == "a\\nb.md"
    assert paths.shown("half\ud800") == "half\\ud800"
    assert paths.shown("東京 👨\u200d👩\u200d👧.md") == "東京 👨\u200d👩\u200d👧.md"

"""Cases about editing: one passage, one line, and nothing beside it."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.direct import done, refused
from tests.serving import greeted
from tests.vaults import clean, git, make_vault, opened

Kept = Callable[[bytes, str, dict[str, object]], str]
After = Callable[[bytes, str, dict[str, object]], bytes]
REPLACE, INSERT = "memory_str_replace", "memory_insert"


@pytest.fixture
def after(tmp_path: Path) -> After:
    """Give what one call makes of a file `a.md`."""

    def edited(content: bytes, tool: str, arguments: dict[str, object]) -> bytes:
        root = make_vault(tmp_path / "v")
        (root / "a.md").write_bytes(content)
        with opened(root) as vault:
            done(vault, tool, path="a.md", **arguments)
        assert clean(root)
        return (root / "a.md").read_bytes()

    return edited


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """Give the error of a call that leaves a file `a.md`, and history, as they were."""

    def told(content: bytes, tool: str, arguments: dict[str, object]) -> str:
        root = make_vault(tmp_path / "v")
        (root / "a.md").write_bytes(content)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "start")
        head = git(root, "rev-parse", "HEAD")
        with opened(root) as vault:
            error = refused(vault, tool, path="a.md", **arguments)
        assert (root / "a.md").read_bytes() == content
        assert git(root, "rev-parse", "HEAD") == head
        assert error.endswith("Nothing was saved.")
        return error

    return told


def test_EDIT_01_a_text_that_is_not_there_replaces_nothing(kept: Kept) -> None:
    told = kept(b"one\ntwo\n", REPLACE, {"old_str": "three", "new_str": "x"})
    assert "did not appear verbatim" in told


def test_EDIT_03_an_empty_text_stands_nowhere(kept: Kept) -> None:
    assert "`old_str` is empty" in kept(b"abc\n", REPLACE, {"old_str": "", "new_str": "X"})


def test_EDIT_04_a_replacement_is_text_and_no_pattern(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "price: P (a.b) [c] {d} $1 \\1\n"})
    with opened(root) as vault:
        done(vault, REPLACE, path="a.md", old_str="P", new_str="$& $$ \\1 \\g<0> %s {0}")
        done(vault, REPLACE, path="a.md", old_str="(a.b) [c]", new_str="(x)")
    assert (root / "a.md").read_text() == "price: $& $$ \\1 \\g<0> %s {0} (x) {d} $1 \\1\n"


def test_EDIT_06_a_crlf_file_is_matched_line_by_line_and_stays_one(after: After) -> None:
    replaced = after(b"one\r\ntwo\r\nthree\r\n", REPLACE, {"old_str": "one\ntwo", "new_str": "ONE\nTWO"})
    assert replaced == b"ONE\r\nTWO\r\nthree\r\n"


def test_EDIT_09_matches_that_overlap_are_counted(kept: Kept) -> None:
    told = kept(b"aaa\n", REPLACE, {"old_str": "aa", "new_str": "b"})
    assert "Multiple occurrences of old_str `aa` in lines: 1." in told


def test_EDIT_10_lines_go_to_the_start_the_middle_and_the_end(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "one\ntwo\n"})
    with opened(root) as vault:
        done(vault, INSERT, path="a.md", insert_line=0, insert_text="zero\n")
        done(vault, INSERT, path="a.md", insert_line=3, insert_text="end\n")
        done(vault, INSERT, path="a.md", insert_line=1, insert_text="half")
    assert (root / "a.md").read_text() == "zero\nhalf\none\ntwo\nend\n"


def test_EDIT_12_a_line_behind_an_unfinished_one_does_not_run_on(after: After) -> None:
    assert after(b"one\ntwo", INSERT, {"insert_line": 2, "insert_text": "three"}) == b"one\ntwo\nthree"


def test_EDIT_13_an_empty_file_has_line_zero_alone(after: After) -> None:
    assert after(b"", INSERT, {"insert_line": 0, "insert_text": "x\n"}) == b"x\n"


def test_EDIT_13_an_empty_file_has_no_line_one(kept: Kept) -> None:
    assert "[0, 0]" in kept(b"", INSERT, {"insert_line": 1, "insert_text": "x\n"})


def test_EDIT_15_a_missing_last_newline_stays_missing(after: After) -> None:
    assert after(b"one\ntwo", REPLACE, {"old_str": "two", "new_str": "TWO"}) == b"one\nTWO"


def test_EDIT_17_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": ""})
    with opened(root) as vault:
        assert "empty" in done(vault, "memory_view", path="a.md")
        assert "did not appear" in refused(vault, REPLACE, path="a.md", old_str="x", new_str="y")
        assert "a.md" in done(vault, "memory_view", path="")


def test_EDIT_19_bytes_that_are_not_utf_8_are_never_changed(tmp_path: Path) -> None:
    content = b"caf\xe9 zebra\n"
    root = make_vault(tmp_path / "v", {"b.md": "zebra\n"})
    (root / "a.md").write_bytes(content)
    with opened(root) as vault:
        assert "not in UTF-8" in refused(vault, "memory_view", path="a.md")
        assert "not in UTF-8" in refused(vault, REPLACE, path="a.md", old_str="zebra", new_str="x")
        assert "not in UTF-8" in refused(vault, INSERT, path="a.md", insert_line=0, insert_text="x")
        assert done(vault, "search_memory", query="zebra") == "[]"
        assert "b.md" in done(vault, "search_nodes", query="zebra")
        assert (root / "a.md").read_bytes() == content
        done(vault, "memory_rename", old_path="a.md", new_path="c.md")
        assert (root / "c.md").read_bytes() == content
        done(vault, "memory_delete", path="c.md")
    shown = git(root, "show", "--format=", "--raw", "--abbrev=40", "HEAD").split()
    assert git(root, "cat-file", "-s", shown[2]).strip() == str(len(content))
    assert clean(root)


def test_EDIT_21_create_makes_folders_and_overwrites_nothing(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "keep\n", "d/x.md": "1\n"})
    before = int(git(root, "rev-list", "--count", "HEAD"))
    with opened(root) as vault:
        assert "already exists" in refused(vault, "memory_create", path="a.md", file_text="new")
        assert "already exists" in refused(vault, "memory_create", path="d", file_text="new")
        done(vault, "memory_create", path="n/m/k.md", file_text="new\n")
    assert (root / "a.md").read_text() == "keep\n"
    assert (root / "n/m/k.md").read_text() == "new\n"
    assert int(git(root, "rev-list", "--count", "HEAD")) == before + 1


def test_EDIT_22_the_mode_of_a_file_survives_an_edit(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "x\n"})
    (root / "a.md").chmod(0o600)
    with opened(root) as vault:
        done(vault, REPLACE, path="a.md", old_str="x", new_str="y")
    assert stat.S_IMODE((root / "a.md").stat().st_mode) == 0o600


def test_EDIT_23_a_nul_is_an_error_and_half_a_character_costs_that_request_alone(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v", {"a.md": "x\n"})
    with greeted(root, "--no-watch") as server:
        assert "NUL" in server.error("memory_create", path="n.md", file_text="a\0b")
        request = {
            "jsonrpc": "2.0",
            "id": "half",
            "method": "tools/call",
            "params": {"name": "memory_create", "arguments": {"path": "n.md", "file_text": "HALF"}},
        }
        server.write(json.dumps(request).replace("HALF", "a\\ud800b").encode() + b"\n")
        reply = server.next()
        assert (reply["id"], "half of a surrogate pair" in reply["error"]["message"]) == ("half", True)
        assert server.text("memory_view", path="a.md").endswith("     1\tx")
    assert not (root / "n.md").exists()


def test_EDIT_25_marks_next_to_a_match_are_left_alone(after: After) -> None:
    replaced = after(b"**a** **M1**\n\n**b** x\nM2\n", REPLACE, {"old_str": "M1", "new_str": "Q"})
    assert replaced == b"**a** **Q**\n\n**b** x\nM2\n"


def test_EDIT_26_an_insertion_keeps_every_line_of_a_long_file(after: After) -> None:
    rows = b"".join(b"%d. row\n" % number for number in range(1, 201))
    assert after(rows, INSERT, {"insert_line": 0, "insert_text": "top\n"}) == b"top\n" + rows

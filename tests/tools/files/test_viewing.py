"""Views of files and folders, read from the disk of a real vault."""

import os
from pathlib import Path

import pytest

from tests.vaults import CLAUDE, commits, git, make_vault, opened, write_files
from vault_mcp.errors import BadArgument, NoteUnreadable, NotFound, PathRefused, StorageFailed
from vault_mcp.tools.files import viewing
from vault_mcp.tools.files.viewing import VIEW, memory_view
from vault_mcp.vault import Vault

HEADER = "Here's the content of {} with line numbers:"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(
        tmp_path / "v", {"a.md": "one\ntwo\nthree\n", "crlf.md": "\ufeffa\r\nb", "empty.md": ""}
    )


def view(root: Path, path: str = "", *view_range: int) -> str:
    with opened(root) as vault:
        return memory_view(vault, CLAUDE, path, view_range)


# -- files


def test_a_file_comes_with_numbers_and_no_line_that_is_not_there(root: Path) -> None:
    assert view(root, "a.md") == f"{HEADER.format('a.md')}\n     1\tone\n     2\ttwo\n     3\tthree"


def test_line_ends_and_the_byte_order_mark_are_not_shown(root: Path) -> None:
    assert view(root, "crlf.md") == f"{HEADER.format('crlf.md')}\n     1\ta\n     2\tb"


def test_an_empty_file_says_so(root: Path) -> None:
    assert view(root, "empty.md") == f"{HEADER.format('empty.md')}\nThe file is empty."


def test_the_path_is_named_as_the_caller_wrote_it(root: Path) -> None:
    assert view(root, "/memories/a.md").startswith(HEADER.format("/memories/a.md"))


@pytest.mark.parametrize(
    ("view_range", "numbers"),
    [
        ((2, 3), [2, 3]),
        ((2, -1), [2, 3]),
        ((1, 1), [1]),
        ((0, 2), [1, 2]),
        ((-5, 1), [1]),
        ((2, 99), [2, 3]),
        ((), [1, 2, 3]),
    ],
)
def test_a_range_counts_from_one_and_both_ends_are_in_it(
    root: Path, view_range: tuple[int, ...], numbers: list[int]
) -> None:
    rows = view(root, "a.md", *view_range).splitlines()[1:]
    assert [int(row.split("\t")[0]) for row in rows] == numbers


@pytest.mark.parametrize("view_range", [(4, 5), (3, 2), (2, -7), (99, -1)])
def test_a_range_without_lines_is_no_error(root: Path, view_range: tuple[int, int]) -> None:
    told = view(root, "a.md", *view_range)
    assert told == f"{HEADER.format('a.md')}\nNo line is in that range: the last line is 3."


@pytest.mark.parametrize("view_range", [(1,), (1, 2, 3)])
def test_a_range_has_two_ends(root: Path, view_range: tuple[int, ...]) -> None:
    with pytest.raises(BadArgument, match="two numbers"):
        view(root, "a.md", *view_range)


def test_a_long_view_is_cut_and_says_how_to_go_on_until_all_was_seen(root: Path) -> None:
    lines = [f"line {n} {'x' * (n % 90)}" for n in range(1, 1001)]
    write_files(root, {"long.md": "\n".join(lines) + "\n"})
    seen: list[str] = []
    first = 1
    with opened(root) as vault:
        while first:
            told = memory_view(vault, CLAUDE, "long.md", (first, -1))
            assert len(told) < VIEW + 200
            *rows, last = told.splitlines()[1:]
            if last.startswith("These are lines"):
                assert last == (
                    f"These are lines {first} to {first + len(rows) - 1} of 1000. "
                    f"To go on, call memory_view with view_range [{first + len(rows)}, -1]."
                )
                first += len(rows)
            else:
                rows.append(last)
                first = 0
            seen += [row.partition("\t")[2] for row in rows]
    assert seen == lines


def test_the_rest_of_a_range_is_asked_for_with_its_own_end(root: Path) -> None:
    write_files(root, {"long.md": "x" * 99 + "\n"})
    write_files(root, {"long.md": ("x" * 99 + "\n") * 500})
    assert view(root, "long.md", 10, 400).splitlines()[-1].endswith(", 400].")


def test_one_endless_line_is_cut(root: Path) -> None:
    write_files(root, {"long.json": "x" * 1_000_000 + "\nend\n"})
    told = view(root, "long.json")
    assert len(told) < VIEW + 300
    assert "(cut: line 1 has 1,000,000 characters)" in told
    assert told.endswith("These are lines 1 to 1 of 2. To go on, call memory_view with view_range [2, -1].")


def test_too_many_lines_are_refused_in_the_words_of_the_standard(root: Path) -> None:
    write_files(root, {"many.txt": "\n" * 1_000_000})
    with pytest.raises(BadArgument, match=r"^File many\.txt exceeds maximum line limit of 999,999 lines\.$"):
        view(root, "many.txt")


@pytest.mark.parametrize("content", [b"caf\xe9\n", b"a\x00b", b"\xff\xfea\x00", b"\x89PNG\r\n"])
def test_what_is_no_text_is_a_clear_error(root: Path, content: bytes) -> None:
    (root / "x.bin").write_bytes(content)
    with pytest.raises(NoteUnreadable, match=r"x\.bin is a binary file or not in UTF-8"):
        view(root, "x.bin")


def test_a_path_to_nowhere_tells_of_files_with_that_name(root: Path) -> None:
    write_files(root, {"deep/er/plan.md": "x"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "more")
    with opened(root) as vault:
        with vault.reading():
            pass  # the index is made
        with pytest.raises(NotFound) as error:
            memory_view(vault, CLAUDE, "plan.md")
    assert str(error.value) == (
        "The path plan.md does not exist. Please provide a valid path. There is: deep/er/plan.md."
    )
    with pytest.raises(NotFound, match=r"^The path nope\.md does not exist\. Please provide a valid path\.$"):
        view(root, "nope.md")


def test_a_file_in_the_cloud_is_said_to_be_there(root: Path) -> None:
    write_files(root, {"notes/.far.md.icloud": "bplist"})
    with pytest.raises(NotFound, match="is in iCloud and not on this disk"):
        view(root, "notes/far.md")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_file_that_may_not_be_read_is_told_without_the_hosts_path(root: Path) -> None:
    (root / "a.md").chmod(0)
    with pytest.raises(StorageFailed) as error:
        view(root, "a.md")
    assert str(root) not in str(error.value)


# -- folders


def test_a_folder_is_listed_two_levels_deep_with_sizes(root: Path) -> None:
    write_files(root, {"b/c/d.md": "12345", "b/x.md": "x" * 1536, "b/c/deeper/e.md": "", ".hidden/h.md": ""})
    write_files(root, {"node_modules/m/x.js": "", "b/node_modules/y.js": "", "image.png": "x" * 2048})
    rows = view(root).splitlines()
    assert rows[0] == (
        "Here're the files and directories up to 2 levels deep in /, excluding hidden items and node_modules:"
    )
    assert [row.split("\t")[1] for row in rows[1:]] == [
        "/", "a.md", "b/", "b/c/", "b/x.md", "crlf.md", "empty.md", "image.png",
    ]  # fmt: skip
    sizes = {name: size for size, name in (row.split("\t") for row in rows[1:])}
    assert (sizes["a.md"], sizes["b/x.md"], sizes["image.png"], sizes["empty.md"]) == (
        "14B",
        "1.5K",
        "2K",
        "0B",
    )


@pytest.mark.parametrize(
    ("said", "shown"), [("/memories", "/memories/b/x.md"), ("b", "b/x.md"), ("/b/", "b/x.md")]
)
def test_entries_are_named_so_that_they_can_be_asked_for(root: Path, said: str, shown: str) -> None:
    write_files(root, {"b/x.md": "x"})
    names = [row.split("\t")[1] for row in view(root, said).splitlines()[1:]]
    assert shown in names
    for name in names:
        assert view(root, name)


def test_an_empty_folder_says_so(root: Path) -> None:
    (root / "void").mkdir()
    assert view(root, "void").splitlines()[-1] == "It is empty."


def test_a_large_folder_is_cut_and_says_how_much_is_left(root: Path) -> None:
    for number in range(1200):
        (root / f"{number:04} {'n' * 30}.md").touch()
    rows = view(root).splitlines()
    assert len("\n".join(rows)) < VIEW + 200
    left = 1203 - (len(rows) - 3)
    assert rows[-1] == f"Not shown for length: {left} more. View one of the folders to see what is in it."


def test_links_pipes_and_nested_repositories_are_not_entered(root: Path) -> None:
    os.symlink("/etc", root / "etc")
    os.symlink(".", root / "self")
    os.mkfifo(root / "pipe.md")
    git(root, "init", "-q", "proj")
    write_files(root, {"proj/secret.md": "x"})
    told = view(root)
    assert "etc" not in told
    assert "self" not in told
    assert "pipe" not in told
    assert "secret" not in told
    with pytest.raises(PathRefused):
        view(root, "etc")


def test_a_name_that_is_not_utf_8_is_shown_escaped(root: Path) -> None:
    (root / os.fsdecode(b"bad\xff.md")).write_text("x")
    assert "bad\\xff.md" in view(root)


def test_views_change_nothing(root: Path) -> None:
    before = commits(root)
    with opened(root) as vault:
        memory_view(vault, CLAUDE, "")
        memory_view(vault, CLAUDE, "a.md")
    assert commits(root) == before


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0B"),
        (14, "14B"),
        (1023, "1023B"),
        (1024, "1K"),
        (4096, "4K"),
        (5632, "5.5K"),
        (1_258_292, "1.2M"),
        (3 << 30, "3G"),
    ],
)
def test_sizes_are_short(count: int, shown: str) -> None:
    assert viewing.size(count) == shown


def test_a_view_does_not_wait_for_the_index(root: Path) -> None:
    with opened(root) as vault:
        assert isinstance(vault, Vault)
        with vault.repository.writing():  # as while a long import is running
            assert memory_view(vault, CLAUDE, "a.md").endswith("three")

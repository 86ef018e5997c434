"""`vault-mcp search`, as a process, and how passages are shown."""

from pathlib import Path

import click
import pytest

from tests.doors.commands import Commands, example_of
from tests.vaults import make_vault
from vault_mcp.doors.cli_search import highlighted

FILES = {
    "Ada.md": "---\nentity: person\n---\n\n- likes green tea %%+2026-10-05T09:12:33Z cursor%%\n",
    "plain.md": "# Kitchen\n\nThe kettle boils for tea.\n",
    "memories/m.md": "---\nmemory: episodic\nid: 2026100509123301\n---\n\nWe drank tea.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault", FILES)


def test_help_has_an_example(commands: Commands) -> None:
    assert example_of(commands.good("search", "--help"))[:2] == ["vault-mcp", "search"]


def test_what_answers_is_shown_with_note_author_and_time(commands: Commands, root: Path) -> None:
    said = commands.good("search", "green tea", "--vault", root, "--embeddings", "off")
    first = said.split("\n\n")[0].splitlines()
    assert first[0] == "Ada.md  cursor, 2026-10-05T09:12:33Z"
    assert first[1] == "  likes green tea"
    assert "\x1b" not in said


def test_a_family_and_a_limit_narrow_it(commands: Commands, root: Path) -> None:
    off = ("--vault", root, "--embeddings", "off")
    told = commands.json("search", "tea", *off, "--family", "memories")
    assert [one["id"] for one in told["results"]] == [2026100509123301]
    told = commands.json("search", "tea", *off, "--limit", "1")
    assert (len(told["results"]), told["total_found"]) == (1, 3)


def test_words_answer_at_once_where_no_vectors_are_made_yet(commands: Commands, root: Path) -> None:
    told = commands.json("search", "kettle", "--vault", root)
    assert told["results"][0]["note"] == "plain.md"


@pytest.mark.parametrize(
    ("text", "query", "bold"),
    [
        ("She drinks tea daily.", "drinking TEA", ["drinks", "tea"]),
        ("Über Köln", "koln", ["Köln"]),
        ("the parseURL call", "url", ["parseURL"]),
        ("nothing of it", "of", []),
    ],
)
def test_found_words_are_bold_in_whatever_form_they_stand(text: str, query: str, bold: list[str]) -> None:
    wanted = text
    for word in bold:
        wanted = wanted.replace(word, click.style(word, bold=True))
    assert highlighted(text, query) == wanted


def test_nothing_found_is_exit_code_1(commands: Commands, root: Path) -> None:
    done = commands.run("search", "zyzzyva", "--vault", root, "--embeddings", "off")
    assert done.returncode == 1
    assert done.stdout == ""

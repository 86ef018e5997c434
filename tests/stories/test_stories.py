"""Every story comes true to the word, and together they tell of every tool and every documented error."""

from pathlib import Path

import pytest

from tests.stories.transcript import read, told, written
from vault_mcp.tools.families import whole_catalog

STORIES = sorted(Path(__file__).parent.glob("*.story"))


@pytest.mark.parametrize("path", STORIES, ids=[path.stem for path in STORIES])
def test_a_story_comes_true(path: Path, tmp_path: Path) -> None:
    story = path.read_text(encoding="utf-8")
    assert written(told(read(story), tmp_path)) == story


def test_every_file_key_and_memory_tool_has_a_story() -> None:
    called = {
        block.line.split()[1] for path in STORIES for block in read(path.read_text("utf-8")) if block.runs
    }
    wanted = {tool.name for tool in whole_catalog().tools if tool.family in ("files", "keys", "memories")}
    assert sorted(wanted - called) == []


def test_a_story_is_read_as_it_is_written() -> None:
    text = "A story\n\n  > view {}\n  # a\n\n    b\n\n  $ ls\n\nand words\n\n  more of them\n  $ true\n"
    blocks = read(text)
    assert [block.line for block in blocks if block.runs] == ["  > view {}", "  $ ls", "  $ true"]
    assert blocks[2].answer == ["# a", "", "  b"]
    assert written(blocks) == text

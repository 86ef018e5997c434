"""The six file tools behind one name."""

from pathlib import Path
from typing import Any

import pytest

from tests.vaults import CLAUDE, commits, make_vault, opened
from vault_mcp.errors import BadArgument
from vault_mcp.tools.families import whole_catalog
from vault_mcp.tools.files.single import COMMANDS, memory


def test_each_command_does_what_its_tool_does(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "v")
    calls: list[dict[str, Any]] = [
        {"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\n"},
        {"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "2"},
        {"command": "str_replace", "path": "/memories/a.md", "old_str": "one\n"},
        {"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "top"},
        {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"},
        {"command": "view", "path": "/memories/b.md", "view_range": [1, 1]},
        {"command": "delete", "path": "/memories/b.md"},
    ]
    with opened(root) as vault:
        said = [str(memory(vault, CLAUDE, **call)).splitlines() for call in calls]
    assert [lines[0].split(". Here")[0] for lines in said] == [
        "File created successfully at: /memories/a.md",
        "The memory file has been edited",
        "The memory file has been edited",
        "The file /memories/a.md has been edited.",
        "Successfully renamed /memories/a.md to /memories/b.md",
        "Here's the content of /memories/b.md with line numbers:",
        "Successfully deleted /memories/b.md",
    ]
    assert said[5][1:2] == ["     1\ttop"]
    assert [subject.split(":")[0] for subject in commits(root)[:6]] == [
        "memory_delete",
        "memory_rename",
        "memory_insert",
        "memory_str_replace",
        "memory_str_replace",
        "memory_create",
    ]


@pytest.mark.parametrize(
    ("command", "arguments", "says"),
    [
        ("view", {}, "`path` is missing: the command view needs it."),
        ("create", {"path": "a.md"}, "`file_text` is missing"),
        ("insert", {"path": "a.md"}, "`insert_line` and `insert_text` are missing"),
        ("rename", {"path": "a.md"}, "`old_path` and `new_path` are missing"),
    ],
)
def test_a_command_names_the_arguments_that_it_needs(
    tmp_path: Path, command: str, arguments: dict[str, object], says: str
) -> None:
    with opened(make_vault(tmp_path / "v")) as vault, pytest.raises(BadArgument) as error:
        memory(vault, CLAUDE, command, **arguments)
    assert says in str(error.value)


def test_arguments_of_other_commands_are_left_aside(tmp_path: Path) -> None:
    with opened(make_vault(tmp_path / "v")) as vault:
        memory(vault, CLAUDE, "create", path="a.md", file_text="x\n", old_str="?", insert_line=7)
        assert str(memory(vault, CLAUDE, "view", path="a.md", file_text="y")).endswith("     1\tx")


def test_the_tool_is_offered_only_to_who_asks_for_it_by_name() -> None:
    catalog = whole_catalog()
    tool = catalog.tool("memory")
    assert tool is not None
    assert tool.by_name_only
    for word in ("all", "files", "core"):
        assert "memory" not in [t.name for t in catalog.pick([word]).tools]
    assert [t.name for t in catalog.pick(["memory"]).tools] == ["memory"]
    assert "memory" in [t.name for t in catalog.pick(["all", "memory"]).tools]


def test_it_takes_the_arguments_of_all_six() -> None:
    catalog = whole_catalog()
    tool = catalog.tool("memory")
    assert tool is not None
    of_all = {
        name
        for command in COMMANDS
        if (six := catalog.tool(f"memory_{command}"))
        for name in six.inputs.fields
    }
    assert set(tool.inputs.fields) == {"command", *of_all}

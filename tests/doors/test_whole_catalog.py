"""The real catalog keeps the rules for catalogs."""

import json
import re

from tests.doors.catalog_checks import breaches, lint_errors, listed, size
from vault_mcp.doors.mcp_server import INSTRUCTIONS
from vault_mcp.doors.mcp_shown import shown
from vault_mcp.tools.families import whole_catalog
from vault_mcp.tools.tool import FAMILIES, Tool

CATALOG = whole_catalog()


def test_the_catalog_keeps_the_rules() -> None:
    assert breaches(CATALOG) == []


def test_the_lint_of_tool_definitions_finds_no_error() -> None:
    assert lint_errors(CATALOG) == []


def test_no_tool_lets_its_caller_choose_a_repository_or_a_vault() -> None:
    suspicious = re.compile("repo|vault|cwd|root|url|remote|command|agent_name", re.IGNORECASE)
    names = [(tool["name"], name) for tool in listed(CATALOG) for name in tool["inputSchema"]["properties"]]
    # The one command is a word out of six (view, create, …), not something that is run.
    assert [pair for pair in names if suspicious.search(pair[1])] == [("memory", "command")]


def test_what_deletes_or_overwrites_says_so() -> None:
    for tool in CATALOG.tools:
        if re.match("delete|edit|rename|merge", tool.name):
            assert tool.hints.destructive, tool.name
        assert not (tool.hints.read_only and tool.hints.destructive)


def test_the_core_fits_a_small_client() -> None:
    core = CATALOG.pick(["core"])
    assert 0 < len(core.tools) <= 15
    assert size(core) <= 16_000


def test_all_families_together_fit_a_models_patience() -> None:
    assert size(CATALOG.pick(["all"])) <= 60_000


def test_every_description_says_enough_and_no_more() -> None:
    for tool in CATALOG.tools:
        assert 240 <= len(tool.description) <= 560, tool.name


def test_a_description_names_only_tools_that_there_are() -> None:
    names = {tool.name for tool in CATALOG.tools}
    known = names | {word for tool in CATALOG.tools for word in _words(tool)}
    for tool in CATALOG.tools:
        for word in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", tool.description):
            assert word in known, (tool.name, word)


def test_the_instructions_name_every_family_and_only_tools_that_there_are() -> None:
    said = re.findall(r"\b[a-z]+_[a-z_]+\b", INSTRUCTIONS)
    tools = [CATALOG.tool(name) for name in said]
    assert None not in tools
    assert {tool.family for tool in tools if tool} == set(FAMILIES)


def test_the_prompts_name_only_tools_that_they_need() -> None:
    for prompt in CATALOG.prompts:
        said = set(re.findall(r"\b[a-z]+_[a-z]+(?:_[a-z]+)*\b", prompt.text))
        assert said & {tool.name for tool in CATALOG.tools} <= set(prompt.needs), prompt.name
        assert all(CATALOG.tool(name) for name in prompt.needs), prompt.name


def _words(tool: Tool) -> set[str]:
    """Give the names of what a tool takes and gives, at every depth."""
    return set(
        re.findall(r"[a-z]+(?:_[a-z]+)+", json.dumps([shown(tool).input_schema, shown(tool).output_schema]))
    )


def test_every_tool_of_the_graph_declares_its_result() -> None:
    assert [tool.name for tool in CATALOG.pick(["graph"]).tools if tool.result is None] == []

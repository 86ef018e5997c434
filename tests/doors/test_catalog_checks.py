"""The checks for catalogs find what they look for."""

from dataclasses import replace

from tests.doors.catalog_checks import breaches, lint_errors, result_fault
from tests.doors.dummy_server import CATALOG
from vault_mcp.tools import schema as s
from vault_mcp.tools.catalog import Catalog
from vault_mcp.tools.tool import Hints, Tool


def tool(name: str) -> Tool:
    found = CATALOG.tool(name)
    assert found is not None
    return found


def test_each_kind_of_breach_is_named() -> None:
    bad = replace(
        tool("note"),
        name="Note-It",
        description="Too short.",
        inputs=s.record({"items": s.array("Items.", s.record({"name": s.text()})), "plain": s.text()}),
        hints=Hints(read_only=True, destructive=True),
    )
    assert breaches(Catalog((bad, tool("view"), tool("view")))) == [
        "view: twice in the catalog",
        "Note-It: its name is no verb_noun",
        "Note-It: reads only, and destroys",
        "Note-It: its description has 10 characters",
        "Note-It: items[].name is not described",
        "Note-It: plain is not described",
    ]


def test_the_lint_of_tool_definitions_finds_a_tool_without_a_description() -> None:
    assert lint_errors(Catalog((replace(tool("note"), description=""),)))
    assert lint_errors(Catalog((tool("note"),))) == []


def test_a_result_is_held_to_its_schema_and_its_text() -> None:
    def result(text: str, structure: object = None, **more: object) -> dict[str, object]:
        block = {"type": "text", "text": text}
        return {"content": [block], **({} if structure is None else {"structuredContent": structure}), **more}

    assert result_fault(tool("whoami"), result('{"agent":"a"}', {"agent": "a"})) == ""
    assert "differ" in result_fault(tool("whoami"), result('{"agent":"b"}', {"agent": "a"}))
    assert "$.agent is missing" in result_fault(tool("whoami"), result("{}", {}))
    assert "is not of type" in result_fault(tool("whoami"), result("{}"))
    assert result_fault(tool("whoami"), result("No.", isError=True)) == ""
    assert "error with structure" in result_fault(tool("whoami"), result("No.", {}, isError=True))
    assert result_fault(tool("view"), result("plain")) == ""
    assert "without a schema" in result_fault(tool("view"), result("{}", {}))
    assert "not one block" in result_fault(tool("view"), {"content": []})
    two = [{"type": "text", "text": "[]"}, {"type": "text", "text": "There is more."}]
    assert result_fault(tool("view"), {"content": two}) == ""
    assert "not one block" in result_fault(tool("whoami"), {"content": two, "structuredContent": {}})
    assert "not one block" in result_fault(tool("view"), {"content": [{"type": "image", "text": "x"}]})

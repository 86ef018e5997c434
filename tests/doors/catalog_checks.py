"""What must hold for every catalog that is offered, for tests to apply to the real one."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import jsonschema

from vault_mcp.doors.mcp_shown import shown
from vault_mcp.tools.catalog import Catalog
from vault_mcp.tools.schema import Array, Record, Schema, Table
from vault_mcp.tools.tool import Tool

STUMBLES = ("$ref", "$defs", "anyOf", "oneOf", "allOf")
LONGEST_DESCRIPTION = 2_000
"""Some clients cut what is longer."""


def listed(catalog: Catalog) -> list[dict[str, Any]]:
    """The tools as `tools/list` shows them."""
    return [shown(tool).model_dump(by_alias=True, exclude_none=True, mode="json") for tool in catalog.tools]


def breaches(catalog: Catalog) -> list[str]:
    """Say what is wrong with a catalog, a line for each fault."""
    names = [tool.name for tool in catalog.tools]
    found = [f"{name}: twice in the catalog" for name in sorted(set(names)) if names.count(name) > 1]
    for tool, wire in zip(catalog.tools, listed(catalog), strict=True):
        found += [f"{tool.name}: {fault}" for fault in _faults(tool, wire)]
    return found


def _faults(tool: Tool, wire: dict[str, Any]) -> list[str]:
    found = []
    if not re.fullmatch(r"[a-z][a-z_]{1,40}", tool.name):
        found.append("its name is no verb_noun")
    if tool.hints.read_only and tool.hints.destructive:
        found.append("reads only, and destroys")
    if not 20 <= len(tool.description) < LONGEST_DESCRIPTION:
        found.append(f"its description has {len(tool.description)} characters")
    written = json.dumps([wire["inputSchema"], wire.get("outputSchema")])
    found += [f"its schemas use {word}" for word in STUMBLES if f'"{word}"' in written]
    for part in ("inputSchema", "outputSchema"):
        if part in wire:
            jsonschema.Draft202012Validator.check_schema(wire[part])
            if wire[part]["type"] != "object":
                found.append(f"its {part} is no object")
    found += [f"{path} is not described" for path in _undescribed(tool.inputs, "")]
    return found


def _undescribed(schema: Schema, path: str) -> list[str]:
    found = [] if schema.description or not path else [path]
    if isinstance(schema, Record):
        for name, field in schema.fields.items():
            found += _undescribed(field, f"{path}.{name}" if path else name)
    elif isinstance(schema, Array) and isinstance(schema.items, Record):
        # The list is described; what is in it needs words only for its fields.
        for name, field in schema.items.fields.items():
            found += _undescribed(field, f"{path}[].{name}")
    elif isinstance(schema, Table):
        found += _undescribed(schema.values, f"{path}.*")
    return found


def result_fault(tool: Tool, result: dict[str, Any]) -> str:
    """Say what is wrong with the result of a `tools/call` as a client got it, or ""."""
    wire = shown(tool).model_dump(by_alias=True, exclude_none=True)
    blocks = result.get("content", [])
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    if len(texts) != len(blocks) or not texts or (tool.result is not None and len(texts) != 1):
        return f"{tool.name}: its content is not one block of text"
    structure = result.get("structuredContent")
    if result.get("isError"):
        return f"{tool.name}: an error with structure" if structure is not None else ""
    if tool.result is None:
        return f"{tool.name}: structure without a schema" if structure is not None else ""
    try:
        jsonschema.validate(structure, wire["outputSchema"])
    except jsonschema.ValidationError as error:
        return f"{tool.name}: {error.json_path}: {error.message}"
    if missing := _missing(tool.result, structure, "$"):
        return f"{tool.name}: {missing[0]} is missing"
    return "" if json.loads(texts[0]) == structure else f"{tool.name}: text and structure differ"


def _missing(schema: Schema, value: object, path: str) -> list[str]:
    """Name the fields that a result always has, which its schema on the wire leaves unsaid, and that lack."""
    found = []
    if isinstance(schema, Record) and isinstance(value, dict):
        for name, field in schema.fields.items():
            if name in value:
                found += _missing(field, value[name], f"{path}.{name}")
            elif field.required:
                found.append(f"{path}.{name}")
    elif isinstance(schema, Array) and isinstance(value, list):
        for place, item in enumerate(value):
            found += _missing(schema.items, item, f"{path}[{place}]")
    return found


def size(catalog: Catalog) -> int:
    """Bytes of a `tools/list` result, as compact JSON."""
    return len(json.dumps({"tools": listed(catalog)}, ensure_ascii=False, separators=(",", ":")).encode())


def lint_errors(catalog: Catalog) -> list[str]:
    """Run `tdqs lint` over the tools and give what it calls errors."""
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder, "tools.json")
        tools.write_text(json.dumps({"tools": listed(catalog)}), encoding="utf-8")
        command = [str(Path(sys.executable).with_name("tdqs")), "lint", "--file", str(tools)]
        run = subprocess.run(
            [*command, "--fail-on", "error", "--format", "json"], capture_output=True, text=True, check=False
        )
    return [] if run.returncode == 0 else [run.stdout + run.stderr]

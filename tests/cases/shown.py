"""Which of the gathered cases have a test, found by their ids.

The cases are 171 reports of what went wrong in other servers and libraries. Each has an id of a kind and a
number, such as GRAPH-15. A test that shows one carries it: in its name, as in
`test_GRAPH_15_text_that_looks_like_markdown_comes_back_exactly`, or in the id of one of its parameters, as in
`pytest.param(…, id="GRAPH-15")`. So `pytest tests/cases -k GRAPH_15` runs what shows a case.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent

KINDS = {
    "CON": "concurrency",
    "EDIT": "edit",
    "FM": "frontmatter",
    "GIT": "git",
    "GRAPH": "graph",
    "MCP": "mcp",
    "NAME": "filename",
    "PATH": "path",
    "SEC": "security",
    "SRCH": "search",
    "WATCH": "watcher",
}

ALL = tuple(
    f"{kind}-{number}"
    for kind, numbers in (
        ("CON", "01 02 03 05 07 09 10 14"),
        ("EDIT", "01 03 04 06 09 10 12 13 15 17 19 21 22 23 25 26"),
        ("FM", "03 04 06 07 09 10 12 13 14 16 17 18 19 20 21 22 24 26 28 32 33 36 37 39 40 41 43"),
        ("GIT", "01 02 06 08 09 10 12 13 16 18 19 21 22 23 25 27 29 31 32 33 37 38 39 40"),
        ("GRAPH", "02 03 04 05 06 09 10 11 15 18 19 20 21 22 23 24 25 26"),
        ("MCP", "01 03 04 07 09 10 11 12 13 16 17 18 20"),
        ("NAME", "01 02 03 05 06 08 09 12 13 15 18 19 20 21"),
        ("PATH", "01 02 04 05 07 10 11 12 14 15 18"),
        ("SEC", "01 02 03 05 06 07 08 10 11 13 15 16 20"),
        ("SRCH", "01 02 05 06 11 14 15 16 17 18 19"),
        ("WATCH", "02 04 05 07 08 11 13 14 15 16 17 19 23 24 25 26"),
    )
    for number in numbers.split()
)
"""The 171 ids."""

_ID = re.compile(rf"(?:^|_)({'|'.join(KINDS)})[-_]([0-9]{{2}})(?![0-9])")


def ids_in(text: str) -> set[str]:
    """Give the ids that a test's name or a parameter's id carries."""
    return {f"{kind}-{number}" for kind, number in _ID.findall(text)}


def shown(folder: Path = FOLDER) -> dict[str, list[str]]:
    """Give each id with the tests that carry it, as file::name."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("test_*.py")):
        for name, carried in carried_by_tests(ast.parse(path.read_text(encoding="utf-8"))):
            for one in carried:
                found.setdefault(one, []).append(f"{path.name}::{name}")
    return found


def carried_by_tests(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Give each test of a module with the ids it carries; a list of parameters may stand beside the tests."""
    said = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            parts = [part for mark in node.decorator_list for part in ast.walk(mark)]
            parts += [
                part
                for named in [p.id for p in parts if isinstance(p, ast.Name) and p.id in said]
                for part in ast.walk(said[named])
            ]
            texts = [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]
            yield node.name, ids_in(node.name).union(*(ids_in(text) for text in texts if len(text) < 40))

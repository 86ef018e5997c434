"""Calls of every tool. Those that write are a commit each, in an order in which each has what it needs.

All names hold a number, so that rounds do not meet. A call that takes the number of a memory is given its
text instead, as `Number`, because two vaults give two numbers to one memory.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.serving import added, entity, head, relation

Call = tuple[str, dict[str, Any]]

HEAD = "(the last commit)"

_ID = re.compile(r"^id: ([0-9]{16})$", re.MULTILINE)


@dataclass(frozen=True)
class Number:
    """The number of the memory with this text."""

    text: str


def calls(n: int, before: int | None, *, fresh: bool) -> list[Call]:
    """Give the calls of round `n`; the memory of round `before` still stands; `fresh` archives the graph."""
    a, b, c, d = (f"{letter}{n}" for letter in ("Ada", "Bob", "Cy", "Dora"))
    folder, note = f"folder{n}", f"folder{n}/note.md"
    made: list[Call] = [
        ("create_entities", {"entities": [entity(one, f"{one} one", f"{one} two") for one in (a, b, c, d)]}),
        ("export_taxonomy", {}),
        ("create_relations", {"relations": [relation(a, "knows", b), relation(c, "knows", b)]}),
        ("add_observations", {"observations": [added(a, f"{a} three"), added(b, f"{b} met [[{a}]]")]}),
        ("edit_observation", {"entityName": a, "oldText": f"{a} three", "newText": f"{a} 3"}),
        ("supersede_observation", {"entityName": a, "oldText": f"{a} 3", "newText": f"{a} 4"}),
        ("rename_entity", {"entityName": b, "newName": f"Bea{n}"}),
        ("merge_entities", {"sourceName": c, "targetName": a}),
        ("memory_remember", {"text": f"remembered {n}", "session_id": f"s{n}", "tags": ["kept"]}),
        ("memory_remember", {"text": f"passing {n}", "session_id": f"p{n}"}),
        ("memory_remember", {"text": f"summed {n}", "session_id": f"s{n}"}),
        ("memory_link", {"source_id": a, "target_id": f"Bea{n}", "relation": "LIKES"}),
        (
            "memory_link_batch",
            {"edges": [{"source_id": a, "target_id": d}, {"source_id": d, "target_id": f"Bea{n}"}]},
        ),
        ("history_undo", {"session": f"p{n}"}),
        ("memory_create", {"path": f"{folder}.md", "file_text": f"file {n}\nsee [[{a}]]\n"}),
        ("memory_create", {"path": f"beside{n}.md", "file_text": f"see [[{folder}]]\n"}),
        ("memory_str_replace", {"path": f"{folder}.md", "old_str": "file", "new_str": "a file"}),
        ("memory_insert", {"path": f"{folder}.md", "insert_line": 1, "insert_text": "between\n"}),
        ("memory_rename", {"old_path": f"{folder}.md", "new_path": note}),
        ("memory", {"command": "insert", "path": note, "insert_line": 0, "insert_text": "above\n"}),
        ("memory_rename", {"old_path": folder, "new_path": f"moved{n}"}),
        ("memory_delete", {"path": f"moved{n}"}),
        ("history_restore", {"note": f"moved{n}/note.md"}),
        ("write_memory", {"key": f"key {n}", "value": f"value {n}\n---\n"}),
        ("write_memory", {"key": f"key {n}", "value": f"another {n}"}),
        ("delete_memory", {"key": f"key {n}"}),
        ("delete_observations", {"deletions": [{"entityName": a, "observations": [f"{a} one"]}]}),
        ("delete_relations", {"relations": [relation(a, "knows", f"Bea{n}")]}),
        ("delete_entities", {"entityNames": [d, f"Bea{n}"]}),
    ]
    if before is not None:
        known = Number(f"remembered {before}")
        update = ("memory_update", {"memory_id": known, "new_text": f"updated {n}", "session_id": f"s{n}"})
        made += [
            ("memory_forget", {"memory_id": known}) if n % 3 == 0 else update,
            ("memory_consolidate", {"topic_query": f"summed {n}", "limit": 1, "archive_sources": True}),
        ]
    if fresh:
        made.append(("initialize_memory", {"mode": "fresh"}))
    return made


def looks(n: int) -> list[Call]:
    """Give calls of every tool that only reads, to be made when some round `n` was just begun."""
    a = f"Ada{n}"
    return [
        ("read_graph", {}),
        ("search_nodes", {"query": a}),
        ("open_nodes", {"names": [a]}),
        ("memory_recall", {"query": f"remembered {n}"}),
        ("memory_list_sessions", {}),
        ("memory_explore_hierarchy", {"concept_id": a, "direction": "down"}),
        ("memory_verify_claim", {"premise": f"{a} one", "conclusion": f"{a} one"}),
        ("memory_stats", {}),
        ("memory_view", {"path": ""}),
        ("read_memory", {"key": f"key {n}"}),
        ("list_memory_keys", {}),
        ("search_memory", {"query": "value"}),
        ("history_log", {}),
        ("history_show", {"change": HEAD}),
        ("history_diff", {"since": HEAD}),
        ("history_blame", {"note": a}),
        ("history_read", {"note": a, "at": HEAD}),
        ("history_since", {}),
    ]


def numbered(root: Path, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Put the numbers that a vault gave to memories, and its last commit, where they are named."""
    return {name: _of_vault(root, value) for name, value in arguments.items()}


def _of_vault(root: Path, value: Any) -> Any:
    if isinstance(value, Number):
        return _number(root, value.text)
    return head(root) if value == HEAD else value


def _number(root: Path, text: str) -> int:
    for path in (root / "memories").rglob("*.md"):
        content = path.read_text(encoding="utf-8")
        found = _ID.search(content)
        if found and content.endswith(f"\n{text}\n"):
            return int(found[1])
    raise AssertionError(f"no memory says {text!r}")

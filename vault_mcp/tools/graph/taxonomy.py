"""The types and tags of the graph with their counts, and the start of a fresh one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from vault_mcp import progress
from vault_mcp.tools.graph.find import all_entities
from vault_mcp.tools.graph.records import Json, with_receipt
from vault_mcp.tools.placing import ARCHIVE
from vault_mcp.tools.tool import Caller

if TYPE_CHECKING:
    from vault_mcp.change import Change
    from vault_mcp.storage.index import Reader
    from vault_mcp.vault import Vault

VERSION = "1.0.0"
"""Version of the taxonomy's schema (docs/taxonomy.md)."""

PATH = "taxonomy.json"


def taxonomy(vault: Vault) -> Json:
    """Give the taxonomy as a JSON object: counts, and entity types, relation types and tags by name."""
    with vault.reading() as reader:
        return _taxonomy(reader)


def _taxonomy(reader: Reader) -> Json:
    totals = reader.totals()
    return {
        "taxonomy_version": VERSION,
        "counts": {
            "entities": totals.entities,
            "observations": totals.observations,
            "relations": totals.relations,
        },
        "entity_types": {c.name: c.count for c in reader.entity_types()},
        "relation_types": {c.name: c.count for c in reader.relation_types()},
        "tags": {c.name: c.count for c in reader.tags()},
    }


def taxonomy_text(vault: Vault) -> str:
    """Give the taxonomy as JSON text, the body of the resource memory://taxonomy."""
    return _written(taxonomy(vault))


def export_taxonomy(vault: Vault, caller: Caller) -> Json:
    """Write the taxonomy to `taxonomy.json`; the same taxonomy again changes nothing."""
    with vault.change("export_taxonomy", by=caller.agent, session=caller.session, subject=PATH) as change:
        with vault.snapshot() as reader:
            shown = _taxonomy(reader)
        change.write(PATH, _written(shown))
    return with_receipt(change, {"path": PATH, "taxonomy_version": VERSION, "counts": shown["counts"]})


def initialize_memory(vault: Vault, caller: Caller, mode: str) -> Json:
    """Archive every entity (`fresh`), or say that this vault is the memory's home (`adopt`)."""
    with vault.change("initialize_memory", by=caller.agent, session=caller.session, subject=mode) as change:
        backup = None
        moved = 0
        if mode == "fresh":
            folder = ARCHIVE + change.at[:19].replace(":", "").replace("T", "-")
            with vault.snapshot() as reader:
                paths = [row.path for row in all_entities(reader)]
            for number, path in enumerate(paths):
                progress.tell(number, len(paths), "entities archived")
                if change.exists(path):
                    change.move(path, _free(change, f"{folder}/{path}"))
                    moved += 1
            backup = folder if moved else None
    status = ("fresh" if moved else "unchanged") if mode == "fresh" else "adopted"
    return with_receipt(
        change,
        {"status": status, "header": _header(vault), "backup": backup},
    )


def _free(change: Change, path: str) -> str:
    number, free = 2, path
    while change.exists(free):
        free = f"{path[:-3]} ({number}).md"
        number += 1
    return free


def _header(vault: Vault) -> Json:
    name = vault.root.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return {"type": "header", "repo_name": name, "repo_root": ".", "added_at": None, "agent": None}


def _written(shown: Json) -> str:
    return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"

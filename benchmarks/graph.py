"""Graph tools over stdio beside the official server-memory, at 100 and 10,000 entities.

    python benchmarks/graph.py --server-memory node_modules/@modelcontextprotocol/server-memory/dist/index.js

Every entity has three observations and one relation, and each round adds to another one. The calls of all
servers are interleaved, so that a slow moment of the machine falls on each; medians in milliseconds, and the
ratios that count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.stdio_client import StdioClient
from vault_mcp.adopt import adopt
from vault_mcp.notes.jsonl import read_jsonl
from vault_mcp.tools.exchange import import_graph
from vault_mcp.vault import Vault


def graph_lines(entities: int) -> Iterator[str]:
    """Give a memory file of the official server's format."""
    words = ["apollo", "billing", "cache", "deploy", "editor", "fabric"]
    words += ["gateway", "harbor", "index", "journal", "kernel", "ledger"]
    for i in range(entities):
        texts = [f"{words[(i + n) % 12]} fact {n} of entity {i} about {words[i % 12]}" for n in range(3)]
        if i == entities // 2:
            texts.append("the only zyzzyva here")
        yield json.dumps(
            {"type": "entity", "name": f"Entity {i}", "entityType": "thing", "observations": texts}
        )
    for i in range(entities):
        row = {"from": f"Entity {i}", "to": f"Entity {(i * 7 + 1) % entities}", "relationType": "relates to"}
        yield json.dumps({"type": "relation", **row})


def make_vault(folder: Path, entities: int) -> Path:
    """Make a vault with that many entities, indexed."""
    root = folder / f"vault{entities}"
    adopt(str(root))
    vault = Vault.open(str(root))
    import_graph(vault, read_jsonl("\n".join(graph_lines(entities))), by="benchmark", source="generated")
    with vault.reading() as reader:
        assert reader.totals().entities == entities
    vault.close()
    return root


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--server-memory", help="index.js of @modelcontextprotocol/server-memory")
    options.add_argument("--entities", type=int, default=10_000)
    options.add_argument("--rounds", type=int, default=40)
    chosen = options.parse_args()
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as name:
        folder = Path(name)
        servers: dict[str, StdioClient] = {}
        for size in (100, chosen.entities):
            root = make_vault(folder, size)
            servers[f"vault-mcp {size}"] = StdioClient(
                [sys.executable, "-m", "vault_mcp", "--vault", str(root), "--embeddings", "off"]
            )
        if chosen.server_memory:
            file = folder / "memory.jsonl"
            file.write_text("\n".join(graph_lines(chosen.entities)), encoding="utf-8")
            servers[f"server-memory {chosen.entities}"] = StdioClient(
                ["node", chosen.server_memory], {**os.environ, "MEMORY_FILE_PATH": str(file)}
            )
        times: dict[tuple[str, str], list[float]] = {}
        for turn in range(chosen.rounds):
            for label, server in servers.items():
                added = {"entityName": f"Entity {turn * 37 % 100}", "contents": [f"new fact {turn}"]}
                for tool, arguments in (
                    ("add_observations", {"observations": [added]}),
                    ("search_nodes", {"query": "zyzzyva"}),
                    ("open_nodes", {"names": ["Entity 7"]}),
                ):
                    times.setdefault((tool, label), []).append(server.timed(tool, arguments))
        for server in servers.values():
            server.close()
    report({key: statistics.median(values[3:]) for key, values in times.items()}, chosen.entities)


def report(medians: dict[tuple[str, str], float], entities: int) -> None:
    """Print the medians and the ratios."""
    print(f"{'tool':18} {'server':24} median ms")
    for (tool, label), value in medians.items():
        print(f"{tool:18} {label:24} {value:8.2f}")
    for tool in ("add_observations", "search_nodes", "open_nodes"):
        large, small = medians[tool, f"vault-mcp {entities}"], medians[tool, "vault-mcp 100"]
        line = f"{tool}: {large / small:.2f}x its own time at 100 entities"
        peer = medians.get((tool, f"server-memory {entities}"))
        print(line + (f", {peer / large:.1f}x faster than server-memory" if peer else ""))


if __name__ == "__main__":
    main()

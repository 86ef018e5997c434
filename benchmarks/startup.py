"""How long a client waits for a fresh server, against the least a server on the same SDK can do.

    python benchmarks/startup.py [RUNS] [--notes N | --vault DIR] [--door]

Run it on a quiet machine. Each round starts every server once, one after the other, so that a busy moment
hits all of them alike; medians are shown, and ratios to the bare server's. A process is measured from its
start to the reply to `initialize`, to the reply to `tools/list` and to the reply of its first tool call.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BARE = """
from mcp.server import MCPServer
server = MCPServer("bare", version="1")
@server.tool()
def echo(text: str) -> str:
    "Give the text back."
    return text
server.run()
"""

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
STEPS = ("initialize", "tools/list", "first call")


@dataclass(frozen=True)
class Contender:
    name: str
    command: Sequence[str]
    tool: str
    arguments: dict[str, object]


def measure(contender: Contender) -> list[float]:
    """Start a server and give the seconds from then to each of the three replies."""
    began = time.perf_counter()
    with subprocess.Popen(
        contender.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        into, out = process.stdin, process.stdout
        assert into
        assert out

        def ask(method: str, params: Mapping[str, object]) -> float:
            frame = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
            into.write(json.dumps(frame).encode() + b"\n")
            into.flush()
            reply = json.loads(out.readline())
            assert reply["id"] == method, reply
            assert "result" in reply, reply
            assert not reply["result"].get("isError"), reply
            return time.perf_counter() - began

        times = [ask("initialize", INITIALIZE)]
        into.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        times.append(ask("tools/list", {}))
        times.append(ask("tools/call", {"name": contender.tool, "arguments": contender.arguments}))
        into.close()
        process.wait(20)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="?", type=int, default=11)
    parser.add_argument("--vault", help="a vault that is there; else a new one")
    parser.add_argument("--notes", type=int, default=0, help="entity notes in the new vault")
    parser.add_argument("--door", action="store_true", help="also the door alone, with tools that do nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = options.vault or os.path.join(folder, "vault")
        write_notes(vault, options.notes)
        contenders = [Contender("bare SDK server", [sys.executable, "-c", BARE], "echo", {"text": "x"})]
        serve = [sys.executable, "-m", "vault_mcp", "serve", "--vault", vault]
        contenders.append(Contender("vault-mcp", serve, "search_nodes", {"query": "Person 77"}))
        if options.door:
            dummy = os.path.join(os.path.dirname(__file__), "..", "tests", "doors", "dummy_server.py")
            contenders.append(Contender("door alone", [sys.executable, dummy], "whoami", {}))
            contenders.pop(1)
        patient(contenders[1])
        compare(contenders, options.runs)


def patient(contender: Contender) -> None:
    """Start a server again and again until its first call is answered: the first index takes its time."""
    for _ in range(20):
        try:
            measure(contender)
        except AssertionError:
            continue
        return


def write_notes(vault: str, count: int) -> None:
    """Write entity notes of a few lines each; the first start makes the folder a vault and indexes it."""
    for number in range(count):
        folder = os.path.join(vault, "entities", f"{number % 100:02}")
        os.makedirs(folder, exist_ok=True)
        stamp = f"%%+2026-01-{number % 28 + 1:02}T10:00:00Z writer%%"
        with open(os.path.join(folder, f"Person {number}.md"), "w", encoding="utf-8") as note:
            note.write(
                f"---\nentity: person\n---\n\n## Observations\n\n- works on project {number % 97} {stamp}\n"
            )
            note.write(f"- likes the colour {number % 11} {stamp}\n\n## Relations\n\n")
            note.write(f"- knows [[Person {(number * 7 + 1) % count}]] {stamp}\n")


def compare(contenders: Sequence[Contender], runs: int) -> None:
    """Measure all of them `runs` times, interleaved, and print the medians."""
    times: dict[str, list[list[float]]] = {contender.name: [] for contender in contenders}
    for contender in contenders:
        measure(contender)  # the first start reads the disk and may write byte code
    for _ in range(runs):
        for contender in contenders:
            times[contender.name].append(measure(contender))
    medians = {
        name: [statistics.median(run[step] for run in rounds) for step in range(len(STEPS))]
        for name, rounds in times.items()
    }
    first = next(iter(medians.values()))
    print(
        f"medians of {runs} interleaved starts, in ms from the start of the process (ratio to the first line)"
    )
    print(f"{'':18}" + "".join(f"{step:>22}" for step in STEPS))
    for name, row in medians.items():
        cells = (
            f"{1000 * value:10.0f} ({value / base:4.2f})" for value, base in zip(row, first, strict=True)
        )
        print(f"{name:18}" + "".join(f"{cell:>22}" for cell in cells))


if __name__ == "__main__":
    main()

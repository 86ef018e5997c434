"""A server with a few plain tools on a vault that holds nothing: what the door does by itself.

Run as a program by the tests, with the seconds that opening the vault takes as its argument.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from vault_mcp.doors.cli_serve import serve_vault, serve_vault_over_http
from vault_mcp.doors.settings import gather
from vault_mcp.doors.tokens import Tokens
from vault_mcp.errors import NotFound, Stale, StorageFailed
from vault_mcp.tools.catalog import Catalog
from vault_mcp.tools.schema import (
    anything,
    array,
    boolean,
    choice,
    integer,
    number,
    record,
    table,
    text,
)
from vault_mcp.tools.tool import ADDS, CHANGES, READS, Caller, Prompt, Resource, Tool

URI = "memory://dummy"
OTHER = "memory://other"


class DummyVault:
    """Remembers what was noted, and can tell that it has changed."""

    def __init__(self, notify: Callable[[Iterable[str]], None]) -> None:
        self.root = os.path.realpath(os.environ.get("DUMMY_ROOT", "."))
        self.notes: list[str] = []
        self.notify = notify
        self.tries = 0
        self.gate = threading.Event()

    def close(self) -> None:
        print("vault closed", file=sys.stderr, flush=True)


def note(vault: DummyVault, caller: Caller, text: str) -> Mapping[str, object]:
    vault.notes.append(text)
    vault.notify([OTHER, URI])
    return {"text": text, "agent": caller.agent, "count": len(vault.notes)}


def view(vault: DummyVault, caller: Caller) -> str:
    return "\n".join(vault.notes)


def whoami(vault: DummyVault, caller: Caller) -> Mapping[str, object]:
    return {"agent": caller.agent}


def echo(vault: DummyVault, caller: Caller, **arguments: object) -> Mapping[str, object]:
    return arguments


def fail(vault: DummyVault, caller: Caller, how: str) -> str:
    print("print inside a tool")
    match how:
        case "missing":
            raise NotFound("There is no note 'x'. Look for its name with search_nodes.")
        case "space":
            raise OSError(28, "No space left on device", "/somewhere/else/secret.md")
        case "permission":
            raise PermissionError(13, "Permission denied", os.path.join(vault.root, "people/Ada.md"))
        case "storage":
            raise StorageFailed("The disk is full. Nothing was saved.")
        case "fault":
            raise KeyError("/home/someone/secret")
        case _:
            return "fine"


def read_fault(vault: DummyVault, caller: Caller) -> str:
    raise KeyError("secret")


def stale(vault: DummyVault, caller: Caller, times: int, retry: bool = True) -> Mapping[str, object]:
    vault.tries += 1
    if vault.tries <= times:
        raise Stale("The note has changed meanwhile. Read it again.", retry=retry)
    return {"tries": vault.tries}


def odd(vault: DummyVault, caller: Caller, what: str) -> Mapping[str, object]:
    values: dict[str, object] = {
        "surrogate": {"name \udcff": ["file \udcff.md"]},
        "numbers": {"nan": float("nan"), "list": [float("inf")], "fine": 1.5},
        "unicode": {"text": "Zürich 東京 👩‍🚀 \u2028 \x00"},
        "huge": {"text": "x" * 2_000_000},
    }
    return {"value": values[what]}


def slow(vault: DummyVault, caller: Caller, name: str, seconds: float) -> Mapping[str, object]:
    """Begin, say so, and end when `read_gate` is called or the seconds have gone by."""
    print(f"began {name}", file=sys.stderr, flush=True)
    vault.gate.wait(seconds)
    vault.notes.append(name)
    print(f"finished {name}", file=sys.stderr, flush=True)
    return {"name": name, "count": len(vault.notes)}


def read_gate(vault: DummyVault, caller: Caller) -> Mapping[str, object]:
    notes = list(vault.notes)
    vault.gate.set()
    return {"notes": notes}


def child(vault: DummyVault, caller: Caller) -> Mapping[str, object]:
    return {"status": os.system("echo spoiled; cat")}


ALL_SHAPES = record(
    {
        "text": text("Any text.", default=""),
        "choice": choice("One of three.", ["a", "b", "c"], default="a"),
        "integer": integer("From 0 to 10.", default=3, minimum=0, maximum=10),
        "number": number("Any number.", optional=True),
        "boolean": boolean("Yes or no.", default=False),
        "texts": array("A list of text.", text("One of them."), default=[]),
        "records": array(
            "A list of records.",
            record({"name": text("A name."), "tags": array("Tags.", text("A tag."), default=[])}),
            default=[],
        ),
        "table": table(integer("A count."), "Counts.", optional=True),
        "anything": anything("Whatever there is.", optional=True),
    }
)

CATALOG = Catalog(
    tools=(
        Tool(
            name="note",
            title="Note a text",
            family="graph",
            description="Note one text for later.",
            inputs=record({"text": text("The text to note.")}),
            result=record({"text": text(), "agent": text(), "count": integer()}),
            hints=ADDS,
            run=note,
            in_core=True,
        ),
        Tool(
            name="view",
            title="View the texts",
            family="files",
            description="Show every noted text as it is.",
            inputs=record({}),
            result=None,
            hints=READS,
            run=view,
        ),
        Tool(
            name="whoami",
            title="Say who calls",
            family="keys",
            description="Say under which name calls are made.",
            inputs=record({}),
            result=record({"agent": text()}),
            hints=READS,
            run=whoami,
        ),
        Tool(
            name="echo",
            title="Echo values",
            family="memories",
            description="Give back every kind of value as it was understood.",
            inputs=ALL_SHAPES,
            result=record({}),
            hints=READS,
            run=echo,
        ),
        Tool(
            name="fail",
            title="Fail",
            family="history",
            description="Fail in a chosen way.",
            inputs=record({"how": text("How to fail.")}),
            result=None,
            hints=CHANGES,
            run=fail,
        ),
        Tool(
            name="read_fault",
            title="Fail reading",
            family="history",
            description="Fail in an unforeseen way while reading.",
            inputs=record({}),
            result=None,
            hints=READS,
            run=read_fault,
        ),
        Tool(
            name="stale",
            title="Be late",
            family="history",
            description="Find a note changed a number of times.",
            inputs=record({"times": integer("How often."), "retry": boolean("Whether to.", default=True)}),
            result=record({"tries": integer()}),
            hints=CHANGES,
            run=stale,
        ),
        Tool(
            name="odd",
            title="Give odd values",
            family="history",
            description="Give a value that is hard to send.",
            inputs=record({"what": choice("Which.", ["surrogate", "numbers", "unicode", "huge"])}),
            result=record({"value": anything()}),
            hints=READS,
            run=odd,
        ),
        Tool(
            name="slow",
            title="Write slowly",
            family="graph",
            description="Write, and take time over it.",
            inputs=record({"name": text("A name for the log."), "seconds": number("How long.", default=0.3)}),
            result=record({"name": text(), "count": integer()}),
            hints=ADDS,
            run=slow,
        ),
        Tool(
            name="read_gate",
            title="Let slow ones go",
            family="graph",
            description="Let every slow write end, and read what is noted.",
            inputs=record({}),
            result=record({"notes": array("", text())}),
            hints=READS,
            run=read_gate,
        ),
        Tool(
            name="child",
            title="Start a child",
            family="graph",
            description="Start a child that prints and reads.",
            inputs=record({}),
            result=record({"status": integer()}),
            hints=READS,
            run=child,
        ),
    ),
    resources=(
        Resource(
            uri=URI,
            name="dummy",
            title="The texts",
            description="Every noted text.",
            mime="text/plain",
            run=lambda vault: "\n".join(vault.notes),
        ),
    ),
    prompts=(
        Prompt(name="tidy", title="Tidy up", description="Tidy the notes.", text="Please tidy the notes."),
    ),
)


def load() -> Catalog:
    print("print while the catalog loads")
    return CATALOG


def main() -> None:
    print_early = os.environ.get("DUMMY_REFUSES", "")

    def open_vault(notify: Callable[[Iterable[str]], None]) -> DummyVault:
        time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)
        if print_early:
            raise StorageFailed(print_early)
        return DummyVault(notify)

    agent = os.environ.get("DUMMY_AGENT", "")
    if "DUMMY_HTTP" in os.environ:
        settings = gather({"http": os.environ["DUMMY_HTTP"], "agent": agent}, os.environ)
        serve_vault_over_http(load, open_vault, settings, Tokens(settings.vault, os.environ))
        return
    serve_vault(load, open_vault, agent=agent)


if __name__ == "__main__":
    main()

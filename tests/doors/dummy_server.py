"""A server with a few plain tools on a vault that holds nothing: what the door does by itself.

Run as a program by the tests, with the seconds that opening the vault takes as its argument.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping

from vault_mcp import progress
from vault_mcp.doors.cli_serve import serve_vault, serve_vault_over_http
from vault_mcp.doors.settings import gather
from vault_mcp.doors.tokens import Tokens
from vault_mcp.errors import BadArgument, NotFound, Stale, StorageFailed
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
from vault_mcp.tools.tool import (
    ADDS,
    CHANGES,
    READS,
    Argument,
    Caller,
    Content,
    Listed,
    Prompt,
    Resource,
    Template,
    Tool,
)

URI = "memory://dummy"
OTHER = "dummy://text/1"


class DummyVault:
    """Remembers what was noted, and can tell that it has changed."""

    def __init__(self, hear: Callable[[], None]) -> None:
        self.root = os.path.realpath(os.environ.get("DUMMY_ROOT", "."))
        self.notes: list[str] = []
        self.hear = hear
        self.tries = 0
        self.gate = threading.Event()

    def close(self) -> None:
        print("vault closed", file=sys.stderr, flush=True)


def note(vault: DummyVault, caller: Caller, text: str) -> Mapping[str, object]:
    vault.notes.append(text)
    vault.hear()
    return {"text": text, "agent": caller.agent, "count": len(vault.notes)}


def forget(vault: DummyVault, caller: Caller) -> Mapping[str, object]:
    """Forget the second text, and let the others keep their numbers."""
    vault.notes[1] = ""
    vault.hear()
    return {}


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


def one_text(vault: DummyVault, number: str) -> Content:
    if number == "raw":
        return Content(b"\x00\xff", "image/png")
    if not number.isdecimal():
        raise BadArgument(f"{number!r} is no number.")
    if int(number) >= len(vault.notes):
        raise NotFound(f"There is no text {number}.")
    return Content(vault.notes[int(number)], "text/plain")


def numbers(vault: DummyVault, typed: str, most: int) -> list[str]:
    return [str(number) for number in range(1_000) if str(number).startswith(typed)][:most]


def listed(vault: DummyVault) -> list[Listed]:
    return [Listed(f"dummy://text/{n}", text, text, "text/plain", "") for n, text in enumerate(vault.notes)]


def count_slowly(vault: DummyVault, caller: Caller, parts: int) -> str:
    """Count two things, each slowly enough for a client to be told in between."""
    for what in ("pages", "lines"):
        for done in range(parts):
            progress.tell(done, parts, what)
            time.sleep(0.15)
    return "counted"


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
            name="forget",
            title="Forget a text",
            family="graph",
            description="Forget the second text.",
            inputs=record({}),
            result=record({}),
            hints=CHANGES,
            run=forget,
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
            name="count_slowly",
            title="Count slowly",
            family="graph",
            description="Count, and say how far it has come.",
            inputs=record({"parts": integer("How many of each.")}),
            result=None,
            hints=READS,
            run=count_slowly,
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
    templates=(
        Template(
            stem="dummy://text/",
            variable="number",
            name="text",
            title="One text",
            description="A noted text by its number.",
            mime="text/plain",
            run=one_text,
            suggest=numbers,
        ),
    ),
    listed=listed,
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
        Prompt(
            name="about",
            title="About",
            description="Tell about something.",
            text="Tell about {topic}, {how}.",
            arguments=(
                Argument("topic", "About what.", numbers, required=True),
                Argument("how", "In which way.", otherwise="in short"),
            ),
            needs=("view",),
        ),
    ),
)


def load() -> Catalog:
    print("print while the catalog loads")
    return CATALOG


def main() -> None:
    print_early = os.environ.get("DUMMY_REFUSES", "")

    def open_vault(hear: Callable[[], None]) -> DummyVault:
        time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)
        if print_early:
            raise StorageFailed(print_early)
        return DummyVault(hear)

    agent = os.environ.get("DUMMY_AGENT", "")
    if "DUMMY_HTTP" in os.environ:
        settings = gather({"http": os.environ["DUMMY_HTTP"], "agent": agent}, os.environ)
        serve_vault_over_http(load, open_vault, settings, Tokens(settings.vault, os.environ))
        return
    serve_vault(load, open_vault, agent=agent)


if __name__ == "__main__":
    main()

"""The shapes that graph tools take and give, each described once."""

from collections.abc import Callable

from vault_mcp.tools import schema as s
from vault_mcp.tools.tool import Hints, Result, Tool

ENTITY_NAME = s.text("Exact name of the entity.")
IF_VERSION = s.text(
    "The note's version that you read; if it has changed since, the call fails. Leave out to skip the check.",
    default="",
)
CURSOR = s.text("next_cursor of the page before; leave out for the first page.", default="")
SINCE = s.text(
    "Only facts added or edited at or after this date or time (ISO 8601; no offset means local time).",
    default="",
)
BEFORE = s.text("Only facts added or edited before this date or time (ISO 8601).", default="")
AGENT = s.text("Only facts added or edited by this agent or person, by exact name.", default="")
AS_OF = s.text(
    'Answer as of then: a time, "2 weeks ago", or 7 or more hex digits of a change. Now unless set.',
    default="",
)
SUPERSEDED = s.boolean("Show superseded facts as well.", default=False)

OBSERVATION = s.anything(
    "A record {text, added_at, agent, edited_at?, edited_by?, …}, or bare text where so set."
)
ENTITY = s.record(
    {
        "name": s.text(),
        "entityType": s.text(),
        "observations": s.array("", OBSERVATION),
        "added_at": s.text(nullable=True, optional=True),
        "agent": s.text(nullable=True, optional=True),
    }
)
RELATION = s.record({"from": s.text(), "to": s.text(), "relationType": s.text()})
WARNINGS = s.array(
    "Remarks on stored texts: near_duplicate, instruction_like, secret.", s.record({}), optional=True
)
RECEIPT = s.record(
    {
        "commit": s.text("The commit that holds the change; null when nothing changed.", nullable=True),
        "replaced": s.array(
            "Words this change replaced: text, by, at, kind (person, agent, self).", s.record({})
        ),
    },
    "What was committed: commit, edited_by, edited_at, added, changed, removed, replaced.",
)
NEW_RELATIONS = s.array(
    "The relations.",
    s.record(
        {
            "from": s.text("Name of the note it starts from."),
            "to": s.text("Name of the note it points to."),
            "relationType": s.text("What the first is to the second, in active voice, as in 'works at'."),
        }
    ),
)
PAGE = {
    "total": s.record({}, "How many there are in all, before the page was cut.", optional=True),
    "next_cursor": s.text("Pass it as cursor for the next page; absent on the last.", optional=True),
    "left_out": s.text("What this page leaves out, in words.", optional=True),
}


def graph_tool(
    name: str,
    title: str,
    description: str,
    inputs: s.Record,
    result: s.Record,
    hints: Hints,
    run: Callable[..., Result],
    core: bool = False,
) -> Tool:
    """Give one entry of the graph family; the description's line breaks are only the source's."""
    return Tool(
        name=name,
        title=title,
        family="graph",
        description=" ".join(description.split()),
        inputs=inputs,
        result=result,
        hints=hints,
        run=run,
        in_core=core,
    )

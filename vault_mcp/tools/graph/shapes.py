"""The shapes that graph tools take and give, each described once."""

from collections.abc import Callable

from vault_mcp.tools import schema as s
from vault_mcp.tools.tool import Hints, Result, Tool

SINCE = s.text("Only facts added or edited since then (ISO 8601; local without offset).", default="")
BEFORE = s.text("Only facts added or edited before then.", default="")
AGENT = s.text("Only facts added or edited by this agent or person.", default="")
SUPERSEDED = s.boolean("Show superseded facts too.", default=False)

OBSERVATION = s.anything("text, added_at, agent, edited_at, edited_by; or bare text.")
OBSERVATIONS = s.array("", s.anything())
ENTITY = s.record({})
ENTITIES = s.array("", s.record({}))
RELATIONS = s.array("from, to, relationType.", s.record({}))
OPENED = s.array("name, entityType, observations, added_at, agent, note.", s.record({}))
NEW_RELATIONS = s.array(
    "The relations.",
    s.record(
        {
            "from": s.text("Note it starts from, by name."),
            "to": s.text("Note it points to, by name."),
            "relationType": s.text("What the first is to the second, as in 'works at'."),
        }
    ),
)
TOTAL = {"total": s.record({}, optional=True)}


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

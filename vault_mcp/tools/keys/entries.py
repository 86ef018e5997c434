"""The key-value tools as a client sees them."""

from collections.abc import Callable

from vault_mcp.tools import schema as s
from vault_mcp.tools.keys import reading, writing
from vault_mcp.tools.shapes import AS_OF, IF_VERSION, IF_VERSIONS
from vault_mcp.tools.tool import CHANGES, READS, Hints, Result, Tool


def key_tool(
    name: str,
    title: str,
    description: str,
    inputs: s.Record,
    hints: Hints,
    run: Callable[..., Result],
    *,
    longest_reply: int | None = None,
) -> Tool:
    """Give one entry of the keys family; the description's line breaks are only the source's."""
    return Tool(
        name=name,
        title=title,
        family="keys",
        description=" ".join(description.split()),
        inputs=inputs,
        result=None,
        hints=hints,
        run=run,
        longest_reply=longest_reply,
    )


LONGEST_VALUE = 4_000_000
"""Characters of a value; whatever can be written can be read in one reply."""

KEY = "Exact key, as in user/theme; any text not blank."
CURSOR = s.text("The cursor that the page before gave.", default="")

WRITE_MEMORY = key_tool(
    "write_memory",
    "Write a value",
    """Save one value under a key, in place of the value it had; read_memory gives it back to the
    letter. Each key is one note that a person can edit; the call is one Git commit in your name. The
    reply says what was replaced and whose it was; an equal value changes nothing. A blank key, or a
    value too long, fails, nothing saved. Use it for settings and state; for facts that others search
    and link, add_observations; for a text, memory_remember.""",
    s.record(
        {
            "key": s.text(KEY, max_length=2_000),
            "value": s.text(
                "The text to save, kept to the letter; structures go in as JSON text.",
                max_length=LONGEST_VALUE,
            ),
            "if_version": IF_VERSION,
        }
    ),
    CHANGES,
    writing.write_memory,
)

READ_MEMORY = key_tool(
    "read_memory",
    "Read a value",
    """Read the value under one exact key, as it was written or a person has edited it since, or as of a
    moment. Gives the value alone, whole, also when it is long. A key that is not there is no error: the
    reply says so, and names one that differs in case alone. A blank key fails. To see which keys there
    are use list_memory_keys; to find a value by its words, search_memory; for a file, memory_view.""",
    s.record({"key": s.text(KEY, max_length=2_000), "as_of": AS_OF}),
    READS,
    reading.read_memory,
    longest_reply=LONGEST_VALUE,
)

DELETE_MEMORY = key_tool(
    "delete_memory",
    "Delete a value",
    """Delete one key with its value, as one Git commit in your name. History keeps the value, so it can
    be brought back, and a secret is not gone by this alone; the reply says how both are done. A key
    that is not there is no error: the reply says so, nothing changed. A blank key fails, nothing
    deleted. To change a value use write_memory; for files use memory_delete, for memories
    memory_forget, for entities delete_entities.""",
    s.record({"key": s.text(KEY, max_length=2_000), "if_version": IF_VERSIONS}),
    CHANGES,
    writing.delete_memory,
)

LIST_MEMORY_KEYS = key_tool(
    "list_memory_keys",
    "List keys",
    """List the keys under which values are saved, in their order, as a JSON list of strings. Use it to
    see what is stored before write_memory. Where keys are left out, a second text says how many there
    are and with which cursor to go on; a cursor that is not from here fails. To find keys by a part of
    their name or value use search_memory; for the value of one, read_memory; entities are listed by
    read_graph.""",
    s.record(
        {
            "limit": s.integer("Keys a page.", default=1000, minimum=1, maximum=10_000),
            "cursor": CURSOR,
        }
    ),
    READS,
    reading.list_memory_keys,
)

SEARCH_MEMORY = key_tool(
    "search_memory",
    "Search keys and values",
    """Search keys and values for one text, regardless of case and accents, as a JSON list of {key,
    value} in the order of keys. The query counts as a whole: any part matches, no character is special,
    a blank one gives every entry. Long values are cut around the match; where entries are left out, a
    second text says how to go on. For one exact key use read_memory; notes and entities are found by
    search_nodes and memory_recall.""",
    s.record(
        {
            "query": s.text("Text that the key or the value contains."),
            "limit": s.integer("Entries a page.", default=50, minimum=1, maximum=500),
            "cursor": CURSOR,
        }
    ),
    READS,
    reading.search_memory,
)

TOOLS = (WRITE_MEMORY, READ_MEMORY, DELETE_MEMORY, LIST_MEMORY_KEYS, SEARCH_MEMORY)

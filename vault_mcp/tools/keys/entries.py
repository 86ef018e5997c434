"""The key-value tools as a client sees them."""

from collections.abc import Callable

from vault_mcp.tools import schema as s
from vault_mcp.tools.keys import reading, writing
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

AS_OF = s.text(
    'The value as of then: a time, "2 weeks ago", or 7 or more hex digits of a change. Now unless set.',
    default="",
)
KEY = "The exact key, as in user/theme; any text that is not blank."
CURSOR = s.text("The cursor that the call before gave; leave out for the first page.", default="")

WRITE_MEMORY = key_tool(
    "write_memory",
    "Write a value",
    """Save one value under a key, replacing the value that it had. The value comes back exactly from
    read_memory, whatever it holds. Each key is one Markdown note that a person can read and edit, and the
    call is one Git commit in your name; the reply says what it replaced and whose it was, and Git keeps it.
    An equal value changes nothing. A blank key, or a value of more than 4,000,000 characters, fails with
    nothing saved. For facts about people and projects, which others search and link, use
    add_observations.""",
    s.record(
        {
            "key": s.text(KEY, max_length=2_000),
            "value": s.text(
                "The text to save, kept to the letter; structures go in as JSON text.",
                max_length=LONGEST_VALUE,
            ),
        }
    ),
    CHANGES,
    writing.write_memory,
)

READ_MEMORY = key_tool(
    "read_memory",
    "Read a value",
    """Read the value under one exact key, as it was written or as a person has edited it since. Reads the
    note itself and changes nothing. Returns the value and nothing else, also when it is long. A key that is
    not there is no error: the reply says so, and names a key that differs in case alone. A blank key fails.
    To see which keys there are use list_memory_keys; to find a value by its words, search_memory; for
    files, memory_view.""",
    s.record({"key": s.text(KEY, max_length=2_000), "as_of": AS_OF}),
    READS,
    reading.read_memory,
    longest_reply=LONGEST_VALUE,
)

DELETE_MEMORY = key_tool(
    "delete_memory",
    "Delete a value",
    """Delete one key with its value, as one Git commit in your name. The value stays in Git history and can
    be brought back from it, so a secret is not gone by this alone; the reply says how both are done. A key
    that is not there is no error: the reply says so and nothing changes. A blank key fails with nothing
    deleted. To change a value write it again with write_memory; to delete files use memory_delete, for
    entities delete_entities.""",
    s.record({"key": s.text(KEY, max_length=2_000)}),
    CHANGES,
    writing.delete_memory,
)

LIST_MEMORY_KEYS = key_tool(
    "list_memory_keys",
    "List keys",
    """List the keys under which values are saved, in their order, as a JSON list of strings. Reads the
    index and changes nothing. Each page is bounded; where keys are left out, a second text says how many
    there are and with which cursor to go on. A cursor that this list did not give fails. To find keys by a
    part of their name or value use search_memory; for the value of one, read_memory; entities are listed by
    read_graph.""",
    s.record(
        {
            "limit": s.integer("Keys a page; 1000 unless set.", default=1000, minimum=1, maximum=10_000),
            "cursor": CURSOR,
        }
    ),
    READS,
    reading.list_memory_keys,
)

SEARCH_MEMORY = key_tool(
    "search_memory",
    "Search keys and values",
    """Search keys and values for one text, without regard to case and accents, and return the matches in
    the order of their keys as a JSON list of {key, value}. The query counts as a whole: any part of a key
    or value matches, no character is special. Changes nothing. Long values are cut around the match and say
    so; where matches are left out, a second text says how to go on. A blank query gives every entry. Notes
    and entities are found by search_nodes instead.""",
    s.record(
        {
            "query": s.text("Text that the key or the value contains."),
            "limit": s.integer("Entries a page; 50 unless set.", default=50, minimum=1, maximum=500),
            "cursor": CURSOR,
        }
    ),
    READS,
    reading.search_memory,
)

TOOLS = (WRITE_MEMORY, READ_MEMORY, DELETE_MEMORY, LIST_MEMORY_KEYS, SEARCH_MEMORY)

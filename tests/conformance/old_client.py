"""A visit of the SDK's 1.x client, run by an interpreter that has it: lists, calls, errors, news, progress.

Says on its last line what it saw, as one JSON object. It is given a URL, or the command of a server.
"""

# mypy: ignore-errors
# The SDK that this is checked with is not the one that it runs with.

import asyncio
import contextlib
import json
import sys
import time
from typing import Any

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

GRAPH = "memory://knowledge-graph"


@contextlib.asynccontextmanager
async def streams(words: list[str]) -> Any:
    """Connect to a URL or to a command."""
    if words[0].startswith("http"):
        async with streamablehttp_client(words[0]) as (read, write, _):
            yield read, write
    else:
        async with stdio_client(StdioServerParameters(command=words[0], args=words[1:])) as (read, write):
            yield read, write


async def visit(words: list[str]) -> dict[str, Any]:
    """Do what a client does and tell what it saw."""
    news: asyncio.Queue[str] = asyncio.Queue()

    async def heard(message: Any) -> None:
        root = getattr(message, "root", None)
        if isinstance(root, types.ResourceUpdatedNotification):
            await news.put(str(root.params.uri))

    information = types.Implementation(name="client of 1.x", version="1")
    async with (
        streams(words) as (read, write),
        ClientSession(read, write, client_info=information, message_handler=heard) as session,
    ):
        greeted = await session.initialize()
        tools = (await session.list_tools()).tools
        await session.list_resource_templates()
        prompts = (await session.list_prompts()).prompts
        await session.get_prompt(prompts[0].name, {word.name: "x" for word in prompts[0].arguments or []})
        await session.subscribe_resource(GRAPH)
        entities = [{"name": f"Ada {time.time_ns()}", "entityType": "person", "observations": ["likes tea"]}]
        made = await session.call_tool("create_entities", {"entities": entities})
        told = await asyncio.wait_for(news.get(), 60)
        text = (await session.read_resource(GRAPH)).contents[0].text
        refused = await session.call_tool("open_nodes", {"names": 5})
        await session.send_ping()
        assert made.structuredContent is not None
        return {
            "protocol": greeted.protocolVersion,
            "server": greeted.serverInfo.name,
            "tools": len(tools),
            "edited_by": made.structuredContent["receipt"]["edited_by"],
            "news": told,
            "graph": "Ada" in text,
            "refused": refused.isError,
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(visit(sys.argv[1:]))))

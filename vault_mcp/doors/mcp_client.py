"""A client of the SDK's with a server of ours as its child: what the demo talks through."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import Implementation, TextContent

from vault_mcp import __version__

INHERITED = ("PYTHONPATH", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
"""What a server needs of our environment beside what the SDK hands on by itself."""


class Connection:
    """One client with its own server process."""

    def __init__(self, portal: BlockingPortal, client: Client, name: str) -> None:
        self._portal = portal
        self._client = client
        self.name = name

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and give its structured result.

        Raises:
            RuntimeError: the tool answered with an error; its text is the message.
        """
        result = self._portal.call(self._client.call_tool, tool, arguments)
        if result.is_error:
            raise RuntimeError("".join(part.text for part in result.content if isinstance(part, TextContent)))
        return dict(result.structured_content or {})


@contextmanager
def connected(root: str, name: str) -> Iterator[Connection]:
    """Start a server on the vault at `root` and connect a client that calls itself `name`."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "vault_mcp", "serve", "--vault", root],
        env={key: os.environ[key] for key in INHERITED if key in os.environ},
    )
    client = Client(server, client_info=Implementation(name=name, version=__version__))
    with start_blocking_portal() as portal:
        connecting = portal.wrap_async_context_manager(client)
        connecting.__enter__()
        try:
            yield Connection(portal, client, name)
        finally:
            # What ends the block is not for the client's tasks to know: they would wrap it in a group.
            connecting.__exit__(None, None, None)

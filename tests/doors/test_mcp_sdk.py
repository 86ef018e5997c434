"""What the door takes from the SDK beyond its public methods, and the habits that it makes up for.

A test that fails here after an upgrade of the SDK names the place to look at: `mcp_server` and `mcp_live` for
members that have moved, `mcp_stdio` for a habit that has changed and may need no making up for any more.
"""

import asyncio
import inspect

import mcp_types
import pytest
from mcp.server import MCPServer
from mcp.server.lowlevel.server import Server as LowLevel
from mcp.server.runner import serve_dual_era_loop
from mcp.server.session import ServerSession
from pydantic import ValidationError

from vault_mcp.doors.mcp_live import Live
from vault_mcp.doors.mcp_server import VaultServer
from vault_mcp.doors.opening import Opening
from vault_mcp.tools.catalog import Catalog


def vault_server() -> VaultServer:
    return VaultServer(Opening(Catalog, lambda: pytest.fail("no vault is opened")), Live())


def test_the_low_level_server_is_where_it_was() -> None:
    assert isinstance(vault_server().low_level, LowLevel)


def test_a_session_still_knows_its_connection() -> None:
    assert "self._connection = connection" in inspect.getsource(ServerSession.__init__)


@pytest.mark.parametrize(
    "method", ["list_tools", "call_tool", "list_resources", "read_resource", "list_prompts", "get_prompt"]
)
def test_the_sdk_still_asks_its_public_methods(method: str) -> None:
    handlers = [value for name, value in vars(MCPServer).items() if name.startswith("_handle_")]
    assert any(f"self.{method}(" in inspect.getsource(handler) for handler in handlers)
    ours, theirs = getattr(VaultServer, method), getattr(MCPServer, method)
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)


def test_the_loop_for_both_families_takes_what_we_give_it() -> None:
    assert {"server", "read_stream", "write_stream", "lifespan_state"} <= set(
        inspect.signature(serve_dual_era_loop).parameters
    )


def test_the_sdk_still_cannot_read_half_a_surrogate_pair() -> None:
    with pytest.raises(ValidationError):
        mcp_types.jsonrpc_message_adapter.validate_json(rb'{"jsonrpc":"2.0","id":1,"method":"\ud800"}')


def test_calls_without_a_request_are_answered_in_the_name_of_nobody() -> None:
    result = asyncio.run(vault_server().call_tool("note", {}))
    assert result.is_error

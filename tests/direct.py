"""Calls as the door makes them, without a process in between: arguments fitted, errors told."""

from dataclasses import dataclass

from mcp_types import TextContent

from tests.vaults import CLAUDE
from vault_mcp.doors.mcp_arguments import fit
from vault_mcp.doors.mcp_results import explained, failed, nothing_saved, succeeded
from vault_mcp.errors import BadArgument
from vault_mcp.tools.families import whole_catalog
from vault_mcp.vault import Vault

CATALOG = whole_catalog()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client is told: the text (blocks by lines), and whether it is an error."""

    text: str
    error: bool


def call(vault: Vault, name: str, /, **arguments: object) -> Answer:
    """Call a tool of the catalog, as claude-desktop."""
    tool = CATALOG.tool(name)
    assert tool is not None, name
    try:
        fitted = fit(tool.name, tool.inputs, arguments)
        reply = succeeded(tool, tool.run(vault, CLAUDE, **fitted))
    except BadArgument as error:
        reply = failed(nothing_saved(tool, str(error)))
    except Exception as error:
        reply = failed(explained(tool, error, vault.root))
    text = "\n".join(block.text for block in reply.content if isinstance(block, TextContent))
    return Answer(text, bool(reply.is_error))


def done(vault: Vault, name: str, /, **arguments: object) -> str:
    """Call a tool, which must not fail, and give its text."""
    answer = call(vault, name, **arguments)
    assert not answer.error, answer.text
    return answer.text


def refused(vault: Vault, name: str, /, **arguments: object) -> str:
    """Call a tool, which must fail in a way that was foreseen, and give its error."""
    answer = call(vault, name, **arguments)
    assert answer.error, answer.text
    assert "fault in the server" not in answer.text, answer.text
    return answer.text

"""The MCP clients that `vault-mcp install` knows: where each keeps its servers, and in which words.

Checked against what their makers and users say of them in November 2026. A path can be had for any system,
whatever this one is.
"""

import glob
import ntpath
import os
import posixpath
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vault_mcp.doors import jsonc, toml_table

Platform = Literal["linux", "macos", "windows"]

COMMANDS = ("vault-mcp", "vault-mcp.exe", "git-vault-mcp", "git-vault-mcp.exe")
"""Names under which this program is started; the second is that of the distribution, for `uvx`."""

NAME = "vault"
"""What our server is called in a client's list."""


@dataclass(frozen=True, slots=True)
class Client:
    """One client.

    Attributes:
        title: its name as people write it.
        key: the key in its file under which servers stand.
        form: how the file is written.
        more: what an entry says beside the command and its arguments.
        tools: what `--tools` is to be for a client that takes few; "" for all tools.
        then: what the person does next.
    """

    title: str
    key: str = "mcpServers"
    form: Literal["json", "toml"] = "json"
    more: Mapping[str, str] = field(default_factory=dict)
    tools: str = ""
    then: str = "Start it anew."


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client("Claude Desktop", then="Quit Claude Desktop and start it again."),
    "claude-code": Client("Claude Code", more={"type": "stdio"}, then="Start a new session; /mcp shows it."),
    # Cursor offers a model some 40 tools, of all servers together.
    "cursor": Client("Cursor", tools="core", then="Look in Settings, Tools & MCP, whether it is on."),
    "vscode": Client(
        "VS Code",
        key="servers",
        more={"type": "stdio"},
        then="Run the command MCP: List Servers, and start it there.",
    ),
    "codex": Client("Codex", key="mcp_servers", form="toml", then="Start a new session; /mcp shows it."),
    "gemini": Client("Gemini CLI", then="Start a new session; /mcp shows it."),
    "windsurf": Client("Windsurf", then="Refresh the list of MCP servers in the Cascade panel."),
    "zed": Client(
        "Zed",
        key="context_servers",
        more={"source": "custom"},
        then="Look in the settings of the agent panel whether its dot is green.",
    ),
}
"""Every client, by the word that names it on the command line."""


def this_platform() -> Platform:
    """Give the system that this program runs on."""
    return "windows" if os.name == "nt" else "macos" if sys.platform == "darwin" else "linux"


def config_file(client: str, platform: Platform, home: str, environ: Mapping[str, str]) -> str:
    """Give the path of a client's own file of settings, whether it is there or not.

    Args:
        client: one of `CLIENTS`.
        platform: whose paths.
        home: the user's home folder.
        environ: the environment, for the variables that move a settings folder.
    """
    join = ntpath.join if platform == "windows" else posixpath.join
    if client == "claude-code":
        return join(environ.get("CLAUDE_CONFIG_DIR") or home, ".claude.json")
    if client == "codex":
        return join(environ.get("CODEX_HOME") or join(home, ".codex"), "config.toml")
    if client == "cursor":
        return join(home, ".cursor", "mcp.json")
    if client == "gemini":
        return join(home, ".gemini", "settings.json")
    if client == "windsurf":
        return join(home, ".codeium", "windsurf", "mcp_config.json")
    folder = _settings_folder(platform, home, environ)
    if client == "vscode":
        return join(folder, "Code", "User", "mcp.json")
    if client == "zed":
        if platform == "macos":
            folder = join(home, ".config")
        return join(folder, "Zed" if platform == "windows" else "zed", "settings.json")
    if platform == "windows":
        folder = _packaged_claude(environ) or folder
    return join(folder, "Claude", "claude_desktop_config.json")


def _settings_folder(platform: Platform, home: str, environ: Mapping[str, str]) -> str:
    if platform == "windows":
        return environ.get("APPDATA") or ntpath.join(home, "AppData", "Roaming")
    if platform == "macos":
        return posixpath.join(home, "Library", "Application Support")
    return environ.get("XDG_CONFIG_HOME") or posixpath.join(home, ".config")


def _packaged_claude(environ: Mapping[str, str]) -> str | None:
    """Give the folder that Windows shows a packaged (MSIX) Claude Desktop as its roaming AppData."""
    local = environ.get("LOCALAPPDATA")
    if not local:
        return None
    found = sorted(glob.glob(os.path.join(local, "Packages", "Claude_*", "LocalCache", "Roaming", "Claude")))
    return os.path.dirname(found[0]) if found else None


def own_command() -> list[str]:
    """Give the command that starts this program from anywhere."""
    called = os.path.abspath(sys.argv[0])
    for path in (called, f"{called}.exe"):
        if os.path.basename(path) in COMMANDS and os.access(path, os.X_OK):
            return [path]
    # A client may start it in any folder, and Python is not to look for modules there (-P).
    return [sys.executable, "-P", "-m", "vault_mcp"]


def runs_from_a_cache() -> bool:
    """Say whether this program lies in the cache of uv, which may be cleaned at any time (`uvx`)."""
    return any(part.startswith("archive-v") for part in os.path.abspath(sys.argv[0]).split(os.sep))


def driver_command() -> list[str]:
    """Give the command that Git is to call for a note that two sides changed.

    Git calls it inside the vault.
    """
    return [*own_command(), "merge-driver"]


def serve_arguments(root: str, tools: str = "", agent: str = "") -> list[str]:
    """Give the arguments of a server on the vault at `root`."""
    arguments = ["serve", "--vault", root]
    arguments += ["--tools", tools] if tools else []
    return [*arguments, "--agent", agent] if agent else arguments


def added(client: Client, text: str, name: str, command: list[str]) -> str:
    """Give a file of settings with our server in it; what else the entry says, and all other lines, stay.

    Args:
        client: whose file it is.
        text: what it holds.
        name: what the server is called in it.
        command: program and arguments.

    Raises:
        ValueError: the file cannot be read, or not be edited by us; the words say why.
    """
    values: dict[str, str | list[str]] = {"command": command[0], "args": command[1:]}
    if client.form == "toml":
        return toml_table.put(text, [client.key, name], values)
    known = entry(client, text, name)
    if known is None:
        return jsonc.put(text, [client.key, name], {**client.more, **values})
    for key, value in {**client.more, **values}.items():
        if known.get(key) != value:
            text = jsonc.put(text, [client.key, name, key], value)
    return text


def removed(client: Client, text: str, name: str) -> str:
    """Give a file of settings without the server of that name.

    Raises:
        ValueError: as for `added`.
    """
    edit = toml_table.drop if client.form == "toml" else jsonc.drop
    return edit(text, [client.key, name])


def entry(client: Client, text: str, name: str) -> dict[str, object] | None:
    """Give what a file of settings says of a server; None where it does not name it.

    Raises:
        ValueError: the file cannot be read, or names servers in a way that is none.
    """
    said = (toml_table if client.form == "toml" else jsonc).read(text)
    if not isinstance(said, dict):
        raise ValueError("it is no object")
    servers = said.get(client.key, {})
    if not isinstance(servers, dict):
        raise ValueError(f"{client.key} is no list of servers")
    found = servers.get(name)
    if found is not None and not isinstance(found, dict):
        raise ValueError(f"{name} in {client.key} is no server")
    return found


def is_ours(found: Mapping[str, object]) -> bool:
    """Say whether an entry starts this program, in whatever way it was installed."""
    arguments = found.get("args")
    words = [found.get("command"), *(arguments if isinstance(arguments, list) else [])]
    names = [ntpath.basename(word) for word in words if isinstance(word, str)]
    return any(name in (*COMMANDS, "vault_mcp") for name in names)


def snippet(client: Client, name: str, command: list[str]) -> str:
    """Give the lines that a person would put into the client's file by hand."""
    return added(client, "", name, command).rstrip("\n")

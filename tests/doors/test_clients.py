"""Where each client keeps its servers, on any system, and what an entry says."""

import json
import tomllib
from pathlib import Path

import pytest

from vault_mcp.doors import clients
from vault_mcp.doors.clients import CLIENTS, Platform
from vault_mcp.tools.families import whole_catalog

CURSOR_MOST = 40
"""Tools that Cursor offers a model, of all its servers together."""

MAC = "/Users/ada/Library/Application Support"
WIN = "C:\\Users\\ada"
PATHS: list[tuple[str, Platform, str]] = [
    ("claude-desktop", "linux", "/home/ada/.config/Claude/claude_desktop_config.json"),
    ("claude-desktop", "macos", f"{MAC}/Claude/claude_desktop_config.json"),
    ("claude-desktop", "windows", f"{WIN}\\AppData\\Roaming\\Claude\\claude_desktop_config.json"),
    ("claude-code", "linux", "/home/ada/.claude.json"),
    ("claude-code", "windows", f"{WIN}\\.claude.json"),
    ("cursor", "macos", "/Users/ada/.cursor/mcp.json"),
    ("cursor", "windows", f"{WIN}\\.cursor\\mcp.json"),
    ("vscode", "linux", "/home/ada/.config/Code/User/mcp.json"),
    ("vscode", "macos", f"{MAC}/Code/User/mcp.json"),
    ("vscode", "windows", f"{WIN}\\AppData\\Roaming\\Code\\User\\mcp.json"),
    ("codex", "linux", "/home/ada/.codex/config.toml"),
    ("codex", "windows", f"{WIN}\\.codex\\config.toml"),
    ("gemini", "macos", "/Users/ada/.gemini/settings.json"),
    ("gemini", "windows", f"{WIN}\\.gemini\\settings.json"),
    ("windsurf", "linux", "/home/ada/.codeium/windsurf/mcp_config.json"),
    ("windsurf", "windows", f"{WIN}\\.codeium\\windsurf\\mcp_config.json"),
    ("zed", "linux", "/home/ada/.config/zed/settings.json"),
    ("zed", "macos", "/Users/ada/.config/zed/settings.json"),
    ("zed", "windows", f"{WIN}\\AppData\\Roaming\\Zed\\settings.json"),
]
HOMES: dict[Platform, str] = {"linux": "/home/ada", "macos": "/Users/ada", "windows": WIN}


@pytest.mark.parametrize(("client", "platform", "path"), PATHS)
def test_each_client_keeps_its_settings_where_its_makers_say(
    client: str, platform: Platform, path: str
) -> None:
    assert clients.config_file(client, platform, HOMES[platform], {}) == path


def test_every_client_has_a_path_on_every_system() -> None:
    for client in CLIENTS:
        for platform, home in HOMES.items():
            assert clients.config_file(client, platform, home, {}).startswith(home)


@pytest.mark.parametrize(
    ("client", "platform", "variable", "path"),
    [
        ("codex", "linux", "CODEX_HOME", "/x/config.toml"),
        ("claude-code", "macos", "CLAUDE_CONFIG_DIR", "/x/.claude.json"),
        ("vscode", "linux", "XDG_CONFIG_HOME", "/x/Code/User/mcp.json"),
        ("zed", "linux", "XDG_CONFIG_HOME", "/x/zed/settings.json"),
        ("claude-desktop", "windows", "APPDATA", "/x\\Claude\\claude_desktop_config.json"),
    ],
)
def test_a_variable_that_moves_the_settings_is_followed(
    client: str, platform: Platform, variable: str, path: str
) -> None:
    assert clients.config_file(client, platform, HOMES[platform], {variable: "/x"}) == path


def test_a_packaged_claude_desktop_reads_the_folder_that_windows_shows_it(tmp_path: Path) -> None:
    roaming = tmp_path / "Packages" / "Claude_pzs8sxrjxfjjc" / "LocalCache" / "Roaming"
    (roaming / "Claude").mkdir(parents=True)
    environ = {"LOCALAPPDATA": str(tmp_path), "APPDATA": "C:\\elsewhere"}
    assert clients.config_file("claude-desktop", "windows", WIN, environ) == (
        f"{roaming}\\Claude\\claude_desktop_config.json"
    )


@pytest.mark.parametrize("client", CLIENTS)
def test_an_entry_says_what_to_start(client: str) -> None:
    chosen = CLIENTS[client]
    text = clients.snippet(chosen, "vault", ["/bin/vault-mcp", "serve", "--vault", "/v"])
    said = tomllib.loads(text) if chosen.form == "toml" else json.loads(text)
    assert said == {
        chosen.key: {
            "vault": {**chosen.more, "command": "/bin/vault-mcp", "args": ["serve", "--vault", "/v"]}
        }
    }
    found = clients.entry(chosen, text, "vault")
    assert found is not None
    assert clients.is_ours(found)


@pytest.mark.parametrize("client", CLIENTS)
def test_what_else_an_entry_says_stays_when_it_is_written_again(client: str) -> None:
    chosen = CLIENTS[client]
    text = clients.snippet(chosen, "vault", ["/old/vault-mcp", "serve"])
    if chosen.form == "toml":
        text += '\nenabled = true\n\n[mcp_servers.vault.env]\nLANG = "C"\n'
    else:
        text = text.replace('"args"', '"enabled": true, "env": {"LANG": "C"}, // mine\n "args"')
    found = clients.entry(chosen, clients.added(chosen, text, "vault", ["/new/vault-mcp"]), "vault")
    assert found == {
        **chosen.more,
        "command": "/new/vault-mcp",
        "args": [],
        "enabled": True,
        "env": {"LANG": "C"},
    }


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": "/x/bin/vault-mcp", "args": ["serve"]}, True),
        ({"command": "C:\\py\\Scripts\\vault-mcp.exe"}, True),
        ({"command": "/usr/bin/python3", "args": ["-m", "vault_mcp", "serve"]}, True),
        ({"command": "uvx", "args": ["--from", "git-vault-mcp", "vault-mcp"]}, True),
        ({"command": "npx", "args": ["-y", "@hashicorp/vault-server"]}, False),
        ({"url": "https://vault.example/mcp"}, False),
        ({"command": 3, "args": "vault-mcp"}, False),
    ],
)
def test_ours_is_told_from_another_server_of_the_same_name(entry: dict[str, object], ours: bool) -> None:
    assert clients.is_ours(entry) is ours


def test_a_client_that_takes_few_tools_gets_few() -> None:
    catalog = whole_catalog()
    assert len(catalog.pick([CLIENTS["cursor"].tools]).tools) <= CURSOR_MOST // 2
    for client in CLIENTS.values():
        if client.tools:
            catalog.pick([client.tools])

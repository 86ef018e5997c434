"""What tells other programs how to install and start this one, held to the source; and installing it.

The tests that install are marked long: they fetch what the package needs. `.ci/full` installs the official
tool for bundles and names it.
"""

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bundle.pack import manifest
from tests.doors.frames import Server
from tests.vaults import commits
from vault_mcp import __version__
from vault_mcp.doors.cli_serve import serve
from vault_mcp.doors.settings import KEYS
from vault_mcp.tools.families import whole_catalog

ROOT = Path(__file__).resolve().parent.parent
VARIABLES = {"VAULT_MCP_DIR", *(f"VAULT_MCP_{key.upper()}" for key in KEYS)}


def said(path: str) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", ["server.json", "bundle/manifest.json", ".claude-plugin/plugin.json"])
def test_each_description_of_the_server_has_its_version(path: str) -> None:
    assert said(path)["version"] == __version__


def test_the_entry_for_the_registry_is_as_the_registry_wants_it() -> None:
    entry = said("server.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert f"<!-- mcp-name: {entry['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert 1 <= len(entry["description"]) <= 100
    (package,) = entry["packages"]
    assert (package["registryType"], package["identifier"]) == ("pypi", "git-vault-mcp")
    assert package["version"] == __version__
    assert package["transport"] == {"type": "stdio"}
    assert [argument["value"] for argument in package["packageArguments"]] == [serve.name]
    assert {variable["name"] for variable in package["environmentVariables"]} <= VARIABLES


def test_the_bundle_offers_every_tool_and_sets_variables_that_there_are() -> None:
    bundle = said("bundle/manifest.json")
    assert set(bundle["server"]["mcp_config"]["env"]) <= VARIABLES
    assert (ROOT / bundle["server"]["entry_point"]).is_file()
    listed = manifest()["tools"]
    assert isinstance(listed, list)
    assert [tool["name"] for tool in listed] == [tool.name for tool in whole_catalog().pick(["all"]).tools]


def test_the_plugin_starts_the_server_from_its_own_folder() -> None:
    plugin, market = said(".claude-plugin/plugin.json"), said(".claude-plugin/marketplace.json")
    assert [(one["name"], one["source"]) for one in market["plugins"]] == [(plugin["name"], "./")]
    server = plugin["mcpServers"]["vault"]
    assert [server["command"], *server["args"]] == [
        "uvx",
        "--from",
        "${CLAUDE_PLUGIN_ROOT}",
        "vault-mcp",
        "serve",
    ]


# -- installed for real


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands uv, uvx, pipx and of a Python that can build."""
    place = tmp_path_factory.mktemp("tools")
    run([sys.executable, "-m", "venv", place])
    run([place / "bin/pip", "install", "-q", "build", "uv", "pipx"])
    return place / "bin"


@pytest.fixture(scope="module")
def built(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The sdist, and the wheel that is made from it, as a release would have them."""
    place = tmp_path_factory.mktemp("built")
    run([tools / "python", "-m", "build", "-q", "--outdir", place, ROOT])
    (wheel,), (sdist,) = place.glob("*.whl"), place.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


def run(command: list[str | Path], **more: str) -> str:
    done = subprocess.run(
        list(map(str, command)),
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **more},
        cwd="/",
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def works(command: list[str | Path], vault: Path, **more: str) -> None:
    """Say the version, serve a client, and keep what it remembers in a commit."""
    assert run([*command, "--version"], **more) == f"vault-mcp, version {__version__}\n"
    words = [*map(str, command), "serve", "--vault", str(vault)]
    environ = {**os.environ, "PYTHONPATH": "", **more}
    with Server(words, env=environ) as server:
        server.greet()
        server.text("memory_remember", text="Ada likes tea", session_id="first")
        server.close_input()
        assert server.ended() == 0
    assert commits(vault)[0].startswith("memory_remember")


@pytest.mark.long
@pytest.mark.parametrize("what", ["wheel", "sdist"])
def test_pip_installs_it(built: Mapping[str, Path], tmp_path: Path, what: str) -> None:
    run([sys.executable, "-m", "venv", tmp_path / "venv"])
    run([tmp_path / "venv/bin/pip", "install", "-q", built[what]])
    for name in ("vault-mcp", "git-vault-mcp"):
        works([tmp_path / "venv/bin" / name], tmp_path / name)
    said = run([tmp_path / "venv/bin/vault-mcp", "init", tmp_path / "notes", "--obsidian"])
    assert "added Memory.base" in said
    assert f"{tmp_path}/venv/bin/vault-mcp install CLIENT" in said


@pytest.mark.long
def test_pipx_installs_it(tools: Path, built: Mapping[str, Path], tmp_path: Path) -> None:
    places = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    run([tools / "pipx", "install", "--python", sys.executable, built["wheel"]], **places)
    works([tmp_path / "bin/vault-mcp"], tmp_path / "vault")


@pytest.mark.long
def test_uvx_runs_it_from_the_file(tools: Path, built: Mapping[str, Path], tmp_path: Path) -> None:
    python = {"UV_PYTHON": sys.executable, "HOME": str(tmp_path)}
    works([tools / "uvx", "--from", built["wheel"], "vault-mcp"], tmp_path / "vault", **python)
    works([tools / "uvx", built["wheel"]], tmp_path / "other", **python)
    said = run(
        [
            tools / "uvx",
            "--from",
            built["wheel"],
            "vault-mcp",
            "install",
            "cursor",
            "--vault",
            tmp_path / "v",
        ],
        **python,
    )
    assert "runs from uv's cache" in said


@pytest.mark.long
def test_the_official_tool_packs_a_bundle_that_runs(tools: Path, tmp_path: Path) -> None:
    program = os.environ.get("MCPB", "")
    if not Path(program).is_file():
        pytest.fail("MCPB has to name dist/cli/cli.js of @anthropic-ai/mcpb; .ci/full sets it.")
    packed = tmp_path / "x.mcpb"
    run([sys.executable, ROOT / "bundle/pack.py", "--with", f"node {program}", packed], PYTHONPATH=str(ROOT))
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path / "unpacked")
    config = json.loads((tmp_path / "unpacked/manifest.json").read_text())["server"]["mcp_config"]
    command = [word.replace("${__dirname}", str(tmp_path / "unpacked")) for word in config["args"]]
    assert (config["command"], command[-1]) == ("uv", "serve")
    works([tools / "uv", *command[:-1]], tmp_path / "vault", UV_PYTHON=sys.executable, HOME=str(tmp_path))

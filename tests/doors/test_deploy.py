"""The Dockerfile and the systemd unit, held to what the project is: neither is run here."""

import configparser
import re
import shlex
from pathlib import Path

import pytest

from vault_mcp.doors.cli import COMMANDS
from vault_mcp.doors.mcp_http import STOP_WAIT
from vault_mcp.doors.mcp_http_gate import HEALTH
from vault_mcp.doors.settings import KEYS, gather

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
UNIT = (ROOT / "deploy/vault-mcp.service").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    return [line.partition(" ")[2].strip() for line in DOCKERFILE.splitlines() if line.startswith(f"{name} ")]


def environment(words: list[str]) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in words)


def check_settings(variables: dict[str, str]) -> None:
    for name in variables:
        if name.startswith("VAULT_MCP_"):
            assert name == "VAULT_MCP_DIR" or name.removeprefix("VAULT_MCP_").lower() in KEYS
    assert gather({}, variables).complaints == ()


def test_the_image_copies_what_a_build_needs_and_its_context_lets_it_through() -> None:
    copied = {word for line in instructions("COPY") for word in shlex.split(line)[:-1]}
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert copied == let_through
    assert all((ROOT / name).exists() for name in copied)
    build = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = set(
        re.findall(r'(?:readme = |license-files = \[|packages = \[|^)"([\w.]+)"', build, re.MULTILINE)
    )
    assert {"README.md", "LICENSE", "vault_mcp", "sample_vault"} <= needed
    assert needed <= copied


def test_the_image_serves_as_nobody_special_with_volumes_and_a_health_check() -> None:
    (user,) = instructions("USER")
    assert user == "1000:1000"
    variables = environment(shlex.split(" ".join(instructions("ENV"))))
    check_settings(variables)
    assert set(re.findall(r'"(/\w+)"', instructions("VOLUME")[0])) == {
        variables["VAULT_MCP_DIR"],
        variables["XDG_CONFIG_HOME"],
    }
    port = variables["VAULT_MCP_HTTP"].rpartition(":")[2]
    assert instructions("EXPOSE") == [port]
    assert f"http://127.0.0.1:{port}{HEALTH}" in instructions("HEALTHCHECK")[0]
    assert DOCKERFILE.index("USER ") < DOCKERFILE.index("ENTRYPOINT")
    assert re.findall(r'"([\w-]+)"', instructions("CMD")[0])[0] in COMMANDS


def test_the_unit_starts_the_server_and_waits_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(UNIT)
    service = unit["Service"]
    assert re.fullmatch(r"%h/\S+/vault-mcp serve", service["ExecStart"])
    variables = environment(re.findall(r"^Environment=(\S+)$", UNIT, re.MULTILINE))
    check_settings({name: value.replace("%h", "/home/x") for name, value in variables.items()})
    assert int(service["TimeoutStopSec"]) > STOP_WAIT

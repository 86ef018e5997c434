"""What others measure a server by: the official suite, the official inspector, and a client of yesterday.

They come from npm and PyPI, so these tests are marked long; .ci/full installs them and says where.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.frames import ROOT
from tests.doors.over_http import REAL, HttpServer
from tests.vaults import authors, make_vault

NODE = "NODE_TOOLS"
"""Names a node_modules that holds Node itself, the conformance suite and the inspector."""

OLD = "OLD_MCP_PYTHON"
"""Names an interpreter with the SDK 1.30.0."""

pytestmark = pytest.mark.long


def place(variable: str) -> Path:
    """Give where something was installed."""
    path = Path(os.environ.get(variable, ""))
    if variable not in os.environ or not path.exists():
        pytest.fail(f"{variable} has to say where it is installed; .ci/full sets it.")
    return path


def node(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run a program of Node's to its end."""
    programs = place(NODE) / ".bin"
    paths = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [str(programs / "node"), *map(str, words)],
        env={**os.environ, **paths},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
        check=False,
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault")


@pytest.fixture
def fixtures(root: Path) -> Iterator[HttpServer]:
    command = [sys.executable, "-m", "tests.conformance.fixture_server", str(root), "0"]
    with HttpServer(command) as server:
        yield server


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_official_suite_passes_every_scored_scenario(
    fixtures: HttpServer, revision: str, tmp_path: Path
) -> None:
    suite = place(NODE) / "@modelcontextprotocol/conformance/dist/index.js"
    url = fixtures.url.replace("127.0.0.1", "localhost")
    done = node(suite, "server", "--url", url, "--requirements", revision, "-o", tmp_path / "results")
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    print(summary)
    assert len(re.findall(r"^✓ ", summary, re.MULTILINE)) >= 30, done.stdout
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("profile", ["all", "core"])
def test_the_inspector_finds_no_error_in_the_tools(root: Path, profile: str) -> None:
    inspector = place(NODE) / ".bin/mcp-inspector"
    server = [*REAL, "--vault", str(root), "--tools", profile]
    done = node(inspector, "--cli", *server, "--method", "tools/list", "--strict")
    assert done.returncode == 0, done.stdout
    print(done.stdout.splitlines()[-1])
    assert re.search(r"^0 errors", done.stdout, re.MULTILINE), done.stdout


def test_the_client_of_the_sdk_before_this_one_gets_all_it_asks_for(root: Path) -> None:
    python, visit = place(OLD), ROOT / "tests/conformance/old_client.py"
    plain = {**os.environ, "PYTHONPATH": ""}

    def told(*server: str) -> dict[str, object]:
        done = subprocess.run(
            [str(python), str(visit), *server],
            env=plain,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
        return said

    with HttpServer([*REAL, "--vault", str(root), "--http", "127.0.0.1:0"]) as server:
        over_http = told(server.url)
    over_streams = told(*REAL, "--vault", str(root))
    assert over_http == over_streams
    assert over_http["protocol"] == "2025-11-25"
    assert over_http["edited_by"] == "client of 1.x"
    assert over_http["news"] == "memory://knowledge-graph"
    assert over_http["graph"] is over_http["refused"] is True
    assert authors(root)[0] == "client of 1.x"

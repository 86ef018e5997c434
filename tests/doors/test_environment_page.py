"""docs/environment.md held to what the settings read."""

import re
from pathlib import Path

from vault_mcp.doors.cli_serve import serve
from vault_mcp.doors.settings import ELSEWHERE, KEYS, VAULT_KEYS, Settings, gather

PAGE = (Path(__file__).resolve().parents[2] / "docs/environment.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]
OURS = {row[0].strip("`"): row for row in ROWS if row[0].startswith("`VAULT_MCP_")}


def test_the_page_has_every_variable_once() -> None:
    assert sorted(OURS) == sorted(["VAULT_MCP_DIR", *(f"VAULT_MCP_{name.upper()}" for name in KEYS)])
    assert len(ROWS) == len({row[0] for row in ROWS})


def test_the_flags_are_those_of_serve() -> None:
    flags = {option for parameter in serve.params for option in parameter.opts if option.startswith("--")}
    named = {row[3].strip("`") for row in OURS.values() if row[3]}
    assert named <= flags
    assert {"--vault", "--agent", "--tools", "--exclude-tools", "--read-only", "--no-watch"} <= named


def test_the_defaults_are_those_of_the_settings() -> None:
    for name in ("read_only", "watch", *VAULT_KEYS):
        default = getattr(Settings(vault=""), name)
        shown = str(default).lower() if isinstance(default, bool) else default
        assert OURS[f"VAULT_MCP_{name.upper()}"][2] == f"`{shown}`"


def test_what_a_vaults_own_file_may_say_is_named_last() -> None:
    first = re.search(r"^Those from `(\w+)` on may also stand in `\.vault-mcp\.toml`", PAGE, re.MULTILINE)
    assert first
    names = list(OURS)
    assert set(names[names.index(first[1]) :]) == {f"VAULT_MCP_{name.upper()}" for name in VAULT_KEYS}


def test_variables_of_other_servers_are_honoured_or_answered(tmp_path: Path) -> None:
    theirs = {row[0].strip("`"): row[2] for row in ROWS if not row[0].startswith("`VAULT_MCP_")}
    assert set(theirs) == {*ELSEWHERE, "MEMORY_AGENT"}
    for name, sentence in ELSEWHERE.items():
        told = gather({"vault": str(tmp_path / "v")}, {name: "/x", "HOME": str(tmp_path)}).complaints
        assert told == (f"{name} is not used here. {sentence}",)
        assert set(re.findall("`([^`]+)`", sentence)) <= set(re.findall("`([^`]+)`", theirs[name]))
        assert "VAULT_MCP_DIR" in sentence

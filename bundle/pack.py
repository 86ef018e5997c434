"""Pack the bundle that Claude Desktop installs with a double click (`git-vault-mcp.mcpb`).

    npm install @anthropic-ai/mcpb
    python bundle/pack.py --with "npx mcpb" git-vault-mcp.mcpb

The bundle holds the package's source and `pyproject.toml`; the host's own uv installs what it needs. Its
manifest is `manifest.json` beside this file, completed by the list of tools, and checked and packed by the
official tool.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from vault_mcp.tools.families import whole_catalog

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("pyproject.toml", "README.md", "LICENSE", "vault_mcp", "sample_vault")


def manifest() -> dict[str, object]:
    """Give the manifest with every tool that is offered, each with its title."""
    said = json.loads((ROOT / "bundle" / "manifest.json").read_text(encoding="utf-8"))
    tools = whole_catalog().pick(("all",)).tools
    said["tools"] = [{"name": tool.name, "description": tool.title} for tool in tools]
    return dict(said)


def pack(target: Path, tool: list[str]) -> None:
    """Lay out the bundle in a folder of its own, and have it checked and packed.

    Args:
        target: the file to make.
        tool: the command of `@anthropic-ai/mcpb`.

    Raises:
        CalledProcessError: the official tool has something against it.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, place / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, place / part)
        text = json.dumps(manifest(), ensure_ascii=False, indent=2)
        (place / "manifest.json").write_text(text + "\n", encoding="utf-8")
        for command in (["validate", str(place / "manifest.json")], ["pack", str(place), str(target)]):
            subprocess.run([*tool, *command], check=True, stdout=sys.stderr)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Pack the bundle for Claude Desktop.")
    parser.add_argument("target", type=Path)
    parser.add_argument("--with", dest="tool", default="npx @anthropic-ai/mcpb", help="the official tool")
    arguments = parser.parse_args()
    pack(arguments.target.resolve(), shlex.split(arguments.tool))


if __name__ == "__main__":
    main()

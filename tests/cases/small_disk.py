"""Run on a disk of three megabytes: what a full disk does to an edit. Prints a JSON object."""

import json
import os
import sys
from pathlib import Path

from tests.direct import call
from tests.vaults import git, make_vault, opened


def fill(disk: Path) -> None:
    """Write until nothing more fits."""
    with open(disk / "ballast", "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue


def main(disk: Path) -> None:
    root = make_vault(disk / "vault", {"a.md": "old\n"})
    head = git(root, "rev-parse", "HEAD")
    with opened(root) as vault:
        call(vault, "memory_view", path="")
        with vault.reading():
            fill(disk)
        edit = call(vault, "memory_str_replace", path="a.md", old_str="old", new_str="new " * 20_000)
        view = call(vault, "memory_view", path="a.md")
        os.unlink(disk / "ballast")
        after = call(vault, "memory_str_replace", path="a.md", old_str="old", new_str="new")
    told = {
        "edit": [edit.text, edit.error],
        "view": view.text,
        "head": git(root, "rev-parse", "HEAD~1") == head,
        "after": after.error,
        "status": git(root, "status", "--porcelain"),
        "left": [path.name for path in (root / ".git/vault-mcp").iterdir() if path.name.startswith("file-")],
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Commands run as real processes, in a home of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.doors.frames import ROOT
from vault_mcp.storage.git.environment import find_git

COMMAND = (sys.executable, "-m", "vault_mcp")
GIT = os.path.dirname(find_git("/nonexistent"))


class Commands:
    """Runs commands as one user: what is in `home` is all that a process finds of a person's settings."""

    def __init__(self, home: Path, user: int | None = None) -> None:
        self.home = home
        self.user = user

    def environment(self, **more: str) -> dict[str, str]:
        """Give the environment of a command."""
        return {
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": os.pathsep.join((GIT, "/usr/bin", "/bin")),
            "HOME": str(self.home),
            **more,
        }

    def run(
        self,
        *arguments: str | Path,
        cwd: Path | str = "/",
        given: str = "",
        command: Sequence[str] = COMMAND,
        **env: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; it must not end in a traceback, whatever it was given."""
        done = subprocess.run(
            [*command, *map(str, arguments)],
            input=given.encode(),
            capture_output=True,
            env=self.environment(**env),
            cwd=cwd,
            timeout=120,
            check=False,
            user=self.user,
            group=self.user,
        )
        said = subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )
        assert "Traceback" not in said.stderr + said.stdout, said.stderr
        return said

    def good(self, *arguments: str | Path, **env: str) -> str:
        """Run a command that must succeed, and give what it printed."""
        done = self.run(*arguments, **env)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def refused(self, *arguments: str | Path, cwd: Path | str = "/", **env: str) -> str:
        """Run a command that must be refused in one sentence or two, and give them."""
        done = self.run(*arguments, cwd=cwd, **env)
        assert (done.returncode, done.stdout) == (2, ""), done
        lines = done.stderr.splitlines()
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("vault-mcp: ")
        return lines[0].removeprefix("vault-mcp: ")

    def json(self, *arguments: str | Path, code: int = 0, **env: str) -> Any:
        """Run a command that answers a program, and give the object."""
        done = self.run(*arguments, "--json", **env)
        assert done.returncode == code, done.stderr + done.stdout
        return json.loads(done.stdout)


def example_of(help_text: str) -> list[str]:
    """Give the example at the end of a command's help, as words."""
    (line,) = (line for line in help_text.splitlines() if line.strip().startswith("Example: vault-mcp "))
    return line.strip().removeprefix("Example: ").split()

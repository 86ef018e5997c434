"""`vault-mcp install`: the server put into a client's settings, and taken out again."""

import difflib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator

import click

from vault_mcp.doors import clients
from vault_mcp.doors.clients import CLIENTS, Client
from vault_mcp.doors.settings import gather
from vault_mcp.errors import AlreadyThere, BadArgument, Stale, StorageFailed
from vault_mcp.tools.catalog import PROFILES

LARGEST = 16 * 1024 * 1024
"""Bytes of a settings file; one of a client that keeps its history in it has been seen with several."""


@click.command(epilog="Example: vault-mcp install claude-code --vault ~/notes --dry-run")
@click.argument("client", metavar="[CLIENT]", required=False, type=click.Choice(list(CLIENTS)))
@click.option(
    "--vault", metavar="DIR", help="The vault it is to serve. Else VAULT_MCP_DIR, else ~/memory-vault."
)
@click.option(
    "--tools",
    metavar="LIST",
    help=f"What to offer: {', '.join(PROFILES)}, or names of tools. Else what fits.",
)
@click.option("--agent", metavar="NAME", help="Name for stamps and commits. Else the client's own name.")
@click.option(
    "--name", metavar="NAME", default=clients.NAME, show_default=True, help="What the server is called there."
)
@click.option("--file", "path", metavar="FILE", help="Another file of settings, such as a project's own.")
@click.option(
    "--print", "printed", is_flag=True, help="Print the lines for a person to paste; write nothing."
)
@click.option("--dry-run", is_flag=True, help="Show the difference; write nothing.")
@click.option("--remove", is_flag=True, help="Take the server out again.")
def install(
    client: str | None,
    vault: str | None,
    tools: str | None,
    agent: str | None,
    name: str,
    path: str | None,
    printed: bool,
    dry_run: bool,
    remove: bool,
) -> None:
    """Put this server into the settings of an MCP client.

    CLIENT is claude-desktop, claude-code, cursor, vscode, codex, gemini, windsurf or zed; without one, the
    list says which of them are on this machine and whether they have the server. Only the lines that must
    change are changed: other servers, comments and layout stay. The file as it was lies beside it, with the
    time in its name. A client that takes few tools gets `--tools core`.

    Nothing is downloaded and no other program is started.
    """
    if client is None:
        for line in _known(name):
            click.echo(line)
        return
    chosen = CLIENTS[client]
    root = gather({"vault": vault}, os.environ).vault
    offered = chosen.tools if tools is None else _known_tools(tools)
    command = [*clients.own_command(), *clients.serve_arguments(root, offered, agent or "")]
    if printed:
        click.echo(clients.snippet(chosen, name, command))
        return
    edit = _Edit(chosen, os.path.abspath(os.path.expanduser(path)) if path else _file(client), name)
    after = edit.without() if remove else edit.put(command)
    if dry_run:
        edit.show(after)
        return
    backup = edit.write(after)
    for line in _told(edit, after, backup, removing=remove, root=root, offered=offered):
        click.echo(line)


class _Edit:
    """One file of settings: as it was read, and as it will be."""

    def __init__(self, client: Client, file: str, name: str) -> None:
        self.client = client
        self.file = file
        self.name = name
        self.before = _read(file)

    @property
    def text(self) -> str:
        return "" if self.before is None else self.before

    def put(self, command: list[str]) -> str:
        found = self._entry()
        if found is not None and not clients.is_ours(found):
            raise AlreadyThere(
                f"{self.file} has a server {self.name!r} that is another program. Nothing was changed. "
                "Choose another name with --name, or take that one out first."
            )
        try:
            return clients.added(self.client, self.text, self.name, command)
        except ValueError as error:
            raise self._refused(error) from None

    def without(self) -> str:
        found = self._entry()
        if found is None:
            return self.text
        if not clients.is_ours(found):
            raise BadArgument(
                f"The server {self.name!r} in {self.file} is another program. Nothing was changed. "
                "Name ours with --name."
            )
        try:
            return clients.removed(self.client, self.text, self.name)
        except ValueError as error:
            raise self._refused(error) from None

    def show(self, after: str) -> None:
        """Print what would be changed, line by line."""
        if after == self.text:
            click.echo(f"Nothing would be changed in {self.file}.")
            return
        shown = os.path.basename(self.file)
        for line in difflib.unified_diff(
            self.text.splitlines(), after.splitlines(), self.file, f"{shown} after", lineterm=""
        ):
            click.echo(line)

    def write(self, after: str) -> str | None:
        """Write the file and give the path of the copy of what it was; None where there is none.

        Raises:
            Stale: the client wrote it in the meantime.
            StorageFailed: it cannot be written.
        """
        if after == self.text:
            return None
        target = os.path.realpath(
            self.file
        )  # a link, as people with a repository of dotfiles have it, stays one
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            backup = None if self.before is None else _copied(target)
            descriptor, fresh = tempfile.mkstemp(prefix=".vault-mcp.", dir=os.path.dirname(target))
            try:
                with open(descriptor, "wb") as out:
                    out.write(after.encode())
                if backup:
                    shutil.copymode(target, fresh)
                if _read(target) != self.before:
                    raise Stale(
                        f"{self.file} was written by its client just now. Nothing was changed. Try again."
                    )
                os.replace(fresh, target)
            except BaseException:
                os.unlink(fresh)
                raise
        except OSError as error:
            raise StorageFailed(
                f"{self.file} cannot be written ({error.strerror}). Nothing was changed. "
                "With --print you get the lines to paste."
            ) from error
        return backup

    def _entry(self) -> dict[str, object] | None:
        try:
            return clients.entry(self.client, self.text, self.name)
        except ValueError as error:
            raise self._refused(error) from None

    def _refused(self, error: ValueError) -> BadArgument:
        return BadArgument(
            f"{self.file} is not as {self.client.title} would read it: {error}. Nothing was changed. "
            "Mend it, or take the lines that --print gives and paste them."
        )


def _file(client: str) -> str:
    home = os.path.expanduser("~")
    return clients.config_file(client, clients.this_platform(), home, os.environ)


def _read(file: str) -> str | None:
    try:
        # Looked at before it is opened: opening a pipe waits for whoever writes into it.
        if not stat.S_ISREG(os.stat(file).st_mode):
            raise BadArgument(f"{file} is no file. Nothing was changed. Put a file of settings in its place.")
        with open(file, "rb") as found:
            raw = found.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise BadArgument(f"{file} is larger than any file of settings. Nothing was changed.")
        return raw.decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise BadArgument(f"{file} is not UTF-8 text. Nothing was changed. Save it as UTF-8.") from None
    except OSError as error:
        raise BadArgument(f"{file} cannot be read ({error.strerror}). Nothing was changed.") from error


def _copied(target: str) -> str:
    """Copy the file beside itself, with the time and a free name; give the copy's path."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number = 1
    while True:
        backup = f"{target}.{stamp}{f'-{number}' if number > 1 else ''}.bak"
        if not os.path.lexists(backup):
            shutil.copy2(target, backup)
            return backup
        number += 1


def _known_tools(tools: str) -> str:
    from vault_mcp.tools.families import whole_catalog  # noqa: PLC0415 - half the start, for one option

    words = [word.strip() for word in tools.split(",") if word.strip()]
    whole_catalog().pick(words)
    return ",".join(words)


def _told(
    edit: _Edit, after: str, backup: str | None, *, removing: bool, root: str, offered: str
) -> Iterator[str]:
    title = edit.client.title
    if after == edit.text:
        if removing:
            yield f"{title} has no server {edit.name!r}. {edit.file} was not changed."
        else:
            yield f"{title} has this server already. {edit.file} was not changed."
        return
    if removing:
        yield f"{title} starts this server no longer. The vault stays as it is."
    else:
        yield f"{title} will start this server, as {edit.name!r}."
    yield f"  {'made' if edit.before is None else 'changed':7}  {edit.file}"
    if backup:
        yield f"  before   {backup}"
    if removing:
        return
    yield f"  vault    {root}{'' if os.path.isdir(root) else ' (made when the server first starts)'}"
    if offered:
        yield f"  tools    {offered}"
    yield f"  next     {edit.client.then}"
    if clients.runs_from_a_cache():
        yield "  beware   this program runs from uv's cache, which may be cleaned. Install it for good first,"
        yield "           with uv tool install or pipx, and then repeat this."


def _known(name: str) -> Iterator[str]:
    """Say of every client whether it is on this machine and has the server."""
    wide = max(map(len, CLIENTS))
    for word, client in CLIENTS.items():
        file = _file(word)
        try:
            text = _read(file)
            found = None if text is None else clients.entry(client, text, name)
            state = "has this server" if found and clients.is_ours(found) else "does not have it"
        except (BadArgument, ValueError):
            state = "cannot be read"
        if not os.path.lexists(file):
            state = "does not have it" if os.path.isdir(os.path.dirname(file)) else "not found here"
        yield f"{word:{wide}}  {state:16}  {file}"

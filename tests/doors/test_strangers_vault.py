"""A vault that a stranger made, opened and used: none of their programs runs, nothing outside is touched."""

import os
import pty
import re
import subprocess
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from tests.cases.test_security import around, do_all, everything_offered
from tests.doors.commands import COMMAND, Commands
from tests.doors.frames import Server
from tests.serving import entity, found, given, greeted, path_of
from tests.vaults import git, make_vault, write_files
from tests.waiting import wait_until

CONFIG = """
[core]
\thooksPath = {traps}
\tfsmonitor = {trap}
\tpager = {trap}
\teditor = {trap}
\tsshCommand = {trap}
\taskPass = {trap}
\tgitProxy = {trap}
\talternateRefsCommand = {trap}
[filter "evil"]
\tclean = {trap}
\tsmudge = {trap}
\tprocess = {trap}
\trequired = true
[diff]
\texternal = {trap}
[diff "evil"]
\tcommand = {trap}
\ttextconv = {trap}
[merge "evil"]
\tdriver = {trap} %O %A %B
[merge "vault-mcp"]
\tdriver = {trap} %O %A %B
[gpg]
\tprogram = {trap}
[gpg "ssh"]
\tdefaultKeyCommand = {trap}
[credential]
\thelper = !{trap}
[sequence]
\teditor = {trap}
[trailer "x"]
\tcommand = {trap}
[uploadpack]
\tpackObjectsHook = {trap}
[alias]
\tlog = !{trap}
\tstatus = !{trap}
\tconfig = !{trap}
[remote "origin"]
\turl = ext::{trap}
\tuploadpack = {trap}
\tpromisor = true
[submodule "s"]
\tupdate = !{trap}
\turl = ext::{trap}
[gc]
\trecentObjectsHook = {trap}
[log]
\tshowSignature = true
[maintenance]
\tauto = true
"""

SETTINGS = """
vault = "/"
agent = "../../evil"
tools = "no such tool"
command = "{trap}"
embedding_url = "http://evil.example/v1"
hand_edits = "sometimes"
embedding_model = ["not", "a", "name"]
"""

BOMB = "---\na: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{one}: &{one} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, one in zip("abcdefgh", "bcdefghi", strict=True)
)

NOTES = {
    "bomb.md": BOMB + "---\nzebra in a bomb\n",
    "deep.md": "---\nx: " + "[" * 20_000 + "]" * 20_000 + "\n---\nzebra so deep\n",
    "deep map.md": "---\n" + "".join(f"{' ' * n}a:\n" for n in range(1_500)) + "---\nzebra in maps\n",
    "brackets.md": "[[" * 30_000 + "zebra",
    "stars.md": "*" * 60_000 + "\n" + "`" * 30_001 + "\nzebra\n",
    "links.md": "".join(f"[[L{number}]] " for number in range(10_000)) + "zebra",
    "line.md": "zebra " * 60_000,
    "lines.md": "zebra\n" * 40_000,
    "facts.md": "---\nentity: t\n---\n\n" + "".join(f"- zebra fact {n}\n" for n in range(6_000)),
    "nested.md": "".join(f"{'  ' * n}- zebra\n" for n in range(600)),
    "quotes.md": "> " * 20_000 + "zebra\n",
    "comments.md": "%%" * 20_001 + "<!--" * 20_000 + "zebra\n",
    "stamps.md": "---\nentity: t\n---\n\n- x" + " %%+ " * 30_000 + "zebra\n",
    "ansi.md": "---\nentity: \x1b]0;owned\x07\x1b[2J\n---\n\n- zebra \x1b[31mred\x1b[0m \x9b2J\n",
    "board.canvas": '{"nodes":' + "[" * 50_000,
    ".gitattributes": "*.md diff=evil merge=evil\n*.bin filter=evil\n",
    ".gitmodules": '[submodule "s"]\n\tpath = ../../x\n\turl = ext::sh\n',
}

NAMES = (
    "\x1b[31mred\x1b[0m.md",
    "two\nlines.md",
    "bell\x07.md",
    "\u202egnp.md",
    "-rf.md",
    "--help.md",
    " .md",
)


class Opened(FileSystemEventHandler):
    """Remembers which files were opened or changed."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.seen = threading.Event()

    def on_any_event(self, event: FileSystemEvent) -> None:
        if not event.is_directory:
            self.paths.add(os.fsdecode(event.src_path))


@contextmanager
def watched(folder: Path) -> Iterator[Opened]:
    """Tell which files below a folder are opened, for whatever purpose, by whatever process."""
    opened, observer = Opened(), Observer()
    observer.schedule(opened, str(folder), recursive=True)
    observer.start()
    try:
        yield opened
        (folder / "last").touch()
        wait_until(lambda: str(folder / "last") in opened.paths, 10)
        opened.paths.discard(str(folder / "last"))
    finally:
        observer.stop()
        observer.join(10)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    write_files(tmp_path / "outside", {"secret.md": "SECRET zebra\n"})
    return tmp_path / "outside"


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    """What came out of an archive that somebody sent."""
    traps = tmp_path / "traps"
    hooks = ("pre-commit", "post-commit", "commit-msg", "reference-transaction", "post-index-change", "run")
    write_files(traps, dict.fromkeys(hooks, f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/PWNED\nexit 1\n'))
    root = make_vault(tmp_path / "v", {"n.md": "zebra in a plain note\n", **NOTES})
    for hook in traps.iterdir():
        hook.chmod(0o755)
        (root / ".git/hooks").mkdir(exist_ok=True)
        (root / ".git/hooks" / hook.name).symlink_to(hook)
    (root / "to secret.md").symlink_to(outside / "secret.md")
    (root / "to folder").symlink_to(outside)
    (root / "to passwd.md").symlink_to("/etc/passwd")
    (root / "loop.md").symlink_to("loop.md")
    (root / "endless.md").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    (root / "binary.md").write_bytes(bytes(range(256)) * 1000)
    (root / "zeros.md").write_bytes(b"\0" * 1_000_000)
    with (root / "giant.md").open("wb") as giant:
        giant.truncate(3 << 30)
    with (root / "giant.bin").open("wb") as giant:
        giant.truncate(3 << 30)
    for name in NAMES:
        (root / name).write_text("zebra in a strange name\n")
    (root / ".vault-mcp.toml").write_text(SETTINGS.format(trap=traps / "run"))
    inner = make_vault(root / "inner", {"x.md": "zebra in a repository of its own\n"})
    for repository in (root, inner):
        with (repository / ".git/config").open("a") as config:
            config.write(CONFIG.format(trap=traps / "run", traps=traps, outside=outside))
    return root


def peak(server: Server) -> int:
    """Give the most memory that a process ever had, in MB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+([0-9]+) kB", status)[1]) >> 10  # type: ignore[index]


def test_a_strangers_vault_is_used_like_any_other_and_has_no_power(
    root: Path, outside: Path, tmp_path: Path
) -> None:
    before = around(root)
    with watched(outside) as opened:
        with greeted(root, "--tools", "all,memory", "--embeddings", "off") as server:
            assert "n.md" in found(server, "plain note")
            assert found(server, "SECRET") == []
            more = {"entityName": "facts", "contents": ["more zebra"]}
            given(server, "add_observations", observations=[more])
            assert "deep.md" in found(server, "zebra so deep")
            assert do_all(server, root) == everything_offered()
            most = peak(server)
        assert around(root) == before
    assert opened.paths == set()
    assert most < 300
    assert not (tmp_path / "PWNED").exists()
    plain = subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "fsck", "--strict", "--no-dangling"], cwd=root, check=False
    )
    assert plain.returncode == 0


EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31m red \x9b2J \x08\x08 \u202e back \x00"


def on_a_terminal(home: Path, *arguments: str) -> str:
    """Run a command as a person does, and give what their terminal gets."""
    ours, theirs = pty.openpty()
    environment = Commands(home).environment(TERM="xterm-256color")
    with subprocess.Popen(
        [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd="/"
    ) as child:
        os.close(theirs)
        said = b""
        with suppress(OSError):  # Linux says so when the other end of a terminal is closed
            while block := os.read(ours, 1 << 16):
                said += block
        os.close(ours)
        assert child.wait(60) in (0, 1), said
    return said.decode()


def test_no_text_of_a_vault_moves_a_terminal(tmp_path: Path) -> None:
    """Names, facts, authors and subjects with control characters are shown as what they are."""
    root = make_vault(
        tmp_path / "v", {"n.md": f"zebra [[gone {EVIL[:-1]}]]\n", "twice.md": "---\na: 1\na: 2\n---\n"}
    )
    for name in NAMES:
        (root / name).write_text(f"zebra {EVIL}\n")
    (root / "plain.md").write_text(f"---\n{EVIL}: x\n---\nzebra\n")
    git(root, "add", "-A")
    git(root, "-c", f"user.name=Eve {EVIL[:-1]}", "commit", "-q", "-m", f"by Eve {EVIL[:-1]}")
    with greeted(root, "--no-watch", "--embeddings", "off", agent=f"agent {EVIL[:-1]}") as server:
        zoe = entity(f"Zoe {EVIL}", f"zebra {EVIL}", kind=f"t {EVIL}")
        given(server, "create_entities", entities=[zoe])
        note = path_of(server, f"Zoe {EVIL}")
        server.text("write_memory", key=f"key {EVIL}", value=f"zebra {EVIL}")
        given(server, "memory_remember", text=f"zebra {EVIL}", session_id=f"s {EVIL}")
    vault = ("--vault", str(root))
    said = {
        "search": on_a_terminal(tmp_path, "search", "zebra", *vault),
        "log": on_a_terminal(tmp_path, "log", *vault),
        "show": on_a_terminal(tmp_path, "show", git(root, "rev-parse", "HEAD~2").strip(), *vault),
        "eve": on_a_terminal(tmp_path, "show", git(root, "rev-parse", "HEAD~3").strip(), *vault),
        "diff": on_a_terminal(tmp_path, "diff", git(root, "rev-parse", "HEAD~4").strip(), *vault),
        "blame": on_a_terminal(tmp_path, "blame", note, *vault),
        "doctor": on_a_terminal(tmp_path, "doctor", *vault),
        "undo": on_a_terminal(tmp_path, "undo", git(root, "rev-parse", "HEAD").strip(), *vault),
    }
    for command, text in said.items():
        # Bold, faint and colours are ours, or do no harm.
        plain = re.sub(r"\x1b\[(?:0|1|2|3[0-7])m", "", text).replace("\r\n", "\n")
        strange = sorted(
            {char for char in plain if unicodedata.category(char) == "Cc" or char == "\u202e"} - {"\n", "\t"}
        )
        assert strange == [], (command, strange, plain)
        assert len(plain) > 10, command

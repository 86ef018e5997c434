"""Where events come from: none at all, too few watches, a queue that runs over, another system's observer."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.watcher.telling import Watch
from tests.waiting import wait_until
from vault_mcp.storage.watcher.sources import Ear, Observed, Source


def no_watches(_root: str, _ear: Ear) -> Source:
    raise OSError(errno.ENOSPC, "inotify watch limit reached")


class Deaf:
    """A source that hears nothing, as on NFS."""

    alive = True

    def close(self) -> None:
        """Nothing to let go of."""


@pytest.mark.parametrize(
    ("listen", "mode", "said"),
    [(no_watches, "polling", "max_user_watches"), (lambda *_: Deaf(), "events", None)],
)
def test_without_events_the_vault_is_compared_every_few_seconds(
    root: Path, watch: Watch, listen: Callable[[str, Ear], Source], mode: str, said: str | None
) -> None:
    watcher, telling = watch(every=0.2, listen=listen)
    (root / "n.md").write_text("lion\n")
    wait_until(lambda: telling.comparisons > 2)

    assert watcher.mode == mode
    assert watcher.alive
    assert telling.paths == set()
    assert [said in trouble for trouble in telling.trouble if said] == ([True] if said else [])


def test_watches_that_run_out_later_are_let_go_and_said(root: Path, watch: Watch) -> None:
    ears: list[Ear] = []

    class Limited(Deaf):
        closed = False

        def close(self) -> None:
            self.closed = True

    source = Limited()

    def listen(_root: str, ear: Ear) -> Source:
        ears.append(ear)
        return source

    watcher, telling = watch(listen=listen)
    assert watcher.mode == "events"
    ears[0].hear_no_more(OSError(errno.ENOSPC, "inotify watch limit reached"))
    wait_until(lambda: telling.comparisons)
    wait_until(lambda: watcher.mode == "polling")

    assert source.closed
    assert len(telling.trouble) == 1
    assert len(ears) == 1  # not tried again at once


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a limit of Linux")
def test_a_process_without_a_file_left_for_events_falls_back_and_says_so(root: Path) -> None:
    story = """
import os, resource, sys
from tests.waiting import wait_until
from vault_mcp.storage.watcher import Watcher
from watchdog.observers import inotify_c
told, trouble = [], []
lowest = os.open("/", os.O_RDONLY)
os.close(lowest)
limit = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limit[1]))
watcher = Watcher(sys.argv[1], told.append, first=0, every=0.2, on_trouble=trouble.append)
watcher.start()
wait_until(lambda: trouble)
resource.setrlimit(resource.RLIMIT_NOFILE, limit)
wait_until(lambda: None in told)
print(watcher.mode, watcher.alive, trouble)
watcher.stop()
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", story, str(root)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[3],
    )

    assert done.stdout.startswith("polling True ['The system tells of no changes"), done.stderr
    assert done.stdout.count("The system") == 1
    assert str(root) not in done.stdout


@pytest.mark.parametrize("folders_at_start", [0, 20])
def test_a_system_without_enough_watches_falls_back_and_says_so(root: Path, folders_at_start: int) -> None:
    limited = [
        "unshare",
        "-Ur",
        "sh",
        "-c",
        'echo 10 > /proc/sys/user/max_inotify_watches && exec "$@"',
        "sh",
    ]
    if not shutil.which("unshare") or subprocess.run([*limited, "true"], check=False, stderr=-3).returncode:
        pytest.skip("no namespace of our own to set a limit in")
    story = """
import os, sys
from tests.waiting import wait_until
from vault_mcp.storage.watcher import Watcher
told, trouble, modes = [], [], []
watcher = Watcher(sys.argv[1], told.append, first=0, every=0.2, on_trouble=trouble.append)
watcher.start()
wait_until(lambda: None in told)
print(watcher.mode)
for number in range(20):
    os.makedirs(f"{sys.argv[1]}/later {number}")
wait_until(lambda: watcher.mode == "polling")
print(watcher.alive, trouble)
watcher.stop()
"""
    for number in range(folders_at_start):
        (root / f"folder {number}").mkdir()
    done = subprocess.run(
        [*limited, sys.executable, "-W", "error", "-c", story, str(root)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[3],
    )

    said = "True ['The system tells of no changes (inotify watch limit reached)"
    assert done.stdout.startswith(f"{'polling' if folders_at_start else 'events'}\n{said}"), done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a queue of Linux")
def test_events_lost_to_a_full_queue_are_made_up_for(root: Path) -> None:
    queued = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if queued > 100_000:
        pytest.skip("the queue is too long to fill")
    story = """
import sys
from vault_mcp.storage.watcher import Watcher
def tell(told):
    print(*["everything"] if told is None else told, sep="\\n", flush=True)
watcher = Watcher(sys.argv[1], tell, quiet=0.3, first=0, every=1000)
watcher.start()
sys.stdin.read()
watcher.stop()
"""
    for number in range(10):
        (root / f"{number}.md").write_text("")
    with subprocess.Popen(
        [sys.executable, "-c", story, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as child:
        assert child.stdin
        assert child.stdout
        told = iter(child.stdout.readline, "")
        giving_up = threading.Timer(120, child.kill)
        giving_up.start()
        assert "everything\n" in told  # the first comparison
        child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED)
        descriptors = [os.open(root / f"{number}.md", os.O_WRONLY) for number in range(10)]
        for _ in range(queued // 8):  # taking turns, since the system joins equal events in a row
            for descriptor in descriptors:
                os.write(descriptor, b"x")
        (root / "lost").mkdir()
        child.send_signal(signal.SIGCONT)
        assert "everything\n" in told
        for descriptor in descriptors:
            os.close(descriptor)
        (root / "lost" / "x.md").write_text("found\n")
        assert "lost/x.md\n" in told  # its folder is watched, though its making was not heard
        child.stdin.close()
        assert child.wait(60) == 0
        giving_up.cancel()


def test_the_observer_for_other_systems_tells_the_same(root: Path, tmp_path: Path, watch: Watch) -> None:
    (root / ".git").mkdir()
    watcher, telling = watch(listen=Observed)
    (root / ".git" / "index").write_text("x")
    (root / "n.md").write_text("lion\n")
    wait_until(lambda: telling.paths == {"n.md"})
    (root / "made").mkdir()
    (root / "made" / "x.md").write_text("lion\n")
    wait_until(lambda: telling.paths == {"n.md", "made/x.md"})

    assert telling.comparisons == 0
    (root / "made").rename(tmp_path / "gone")
    wait_until(lambda: telling.comparisons)
    assert watcher.mode == "events"

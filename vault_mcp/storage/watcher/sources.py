"""Where events come from: the only code that knows watchdog.

On Linux each folder is watched for itself, so that the floods inside `.git` and other hidden folders are
never heard, while a queue that overflows is. Elsewhere watchdog watches the whole tree and hidden paths are
dropped as they come (not run by us on macOS and Windows).
"""

from __future__ import annotations

import errno
import itertools
import os
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from vault_mcp.storage import files
from vault_mcp.storage.paths import is_hidden, is_hidden_folder

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.inotify_c import CallbackId, InotifyEvent, WatchDescriptor

NONE_LEFT = (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""What the system answers when it has no more watches to give."""


class Ear(Protocol):
    """What a source tells, from a thread of its own; no answer takes long."""

    def hear(self, path: str) -> None:
        """Take note that a file was made, changed, moved or deleted; with `/` at the end, a folder came."""

    def hear_everything(self) -> None:
        """Take note that anything may have changed, such as when a folder was moved away."""

    def hear_no_more(self, error: OSError | None) -> None:
        """Take note that events were lost (None) or that no more will come (the error)."""


class Source(Protocol):
    """Something that tells an ear what it hears, until it is closed."""

    @property
    def alive(self) -> bool:
        """Whether it still listens."""

    def close(self) -> None:
        """Let go of every watch."""


def listen(root: str, ear: Ear) -> Source:
    """Listen in the way that serves this system best."""
    if sys.platform.startswith("linux"):
        # Another version of watchdog may be different inside.
        with suppress(ImportError, AttributeError):
            return Inotify(root, ear)
    return Observed(root, ear)


class Inotify:
    """Linux: a watch on each folder that the vault looks into, and on no other.

    watchdog's reader of the inotify queue is used without its observers. These would watch `.git`, keep a
    thread for each folder that is watched for itself, hold every move back for half a second, and say nothing
    when the queue overflows or the watches run out (observed on watchdog 7.1).
    """

    def __init__(self, root: str, ear: Ear) -> None:
        """Set the watches; raises OSError when the system has none left."""
        # Imported here and so on the watcher's thread: 46 ms (watchdog 7.1), which a client would wait for.
        from watchdog.observers import inotify_c  # noqa: PLC0415

        self._root = root
        self._ear = ear
        on = inotify_c.InotifyConstants
        self._events = inotify_c.Mask(
            on.IN_CREATE
            | on.IN_MODIFY
            | on.IN_CLOSE_WRITE
            | on.IN_DELETE
            | on.IN_MOVED_FROM
            | on.IN_MOVED_TO
            | on.IN_MOVE_SELF
            | on.IN_ONLYDIR
            | on.IN_DONT_FOLLOW
        )
        self._ids = map(inotify_c.CallbackId, itertools.count(1))
        self._folders: dict[str, _Folder] = {}
        self._lock = threading.RLock()
        self._closing = False
        self._queue = inotify_c.InotifyFD()
        self._queue.start()
        try:
            self._watch("")
        except OSError:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        """Whether the queue is still read."""
        return self._queue.is_alive()

    def close(self) -> None:
        """Let go of every watch and end the reader's thread."""
        self._closing = True
        self._queue.stop()
        self._queue.join()

    def heard(self, folder: _Folder, event: InotifyEvent) -> None:
        """Take one event of a folder's own watch."""
        name = os.fsdecode(event.name)
        path = f"{folder.path}/{name}" if folder.path else name
        if not name:
            if event.is_move_self and not folder.path:
                self._ear.hear_no_more(None)
        elif not event.is_directory:
            if not is_hidden(name):
                self._ear.hear(path)
        elif not is_hidden_folder(name):
            if event.is_moved_from:
                self._forget(path)
                self._ear.hear_everything()
            elif event.is_create or event.is_moved_to:
                self._watch(path)
                self._ear.hear(path + "/")
            # A folder that is deleted was emptied before, and each of its files was heard of.

    def failed(self, error: Exception) -> None:
        """Give up on an error, or set all watches anew if it says nothing about the system."""
        self._ear.hear_no_more(error if isinstance(error, OSError) else None)

    def overflowed(self) -> None:
        """Take note that the queue ran over: also watches may be missing."""
        self._ear.hear_no_more(None)

    def ended(self, folder: _Folder) -> None:
        """Forget a folder whose watch the system took back, because the folder is gone."""
        with self._lock:
            if self._folders.get(folder.path) is folder:
                del self._folders[folder.path]
        if not folder.path and not self._closing:
            self._ear.hear_no_more(None)

    def _watch(self, under: str) -> None:
        with self._lock:
            for path in files.folders(self._root, under):
                if path not in self._folders:
                    self._add(_Folder(path, next(self._ids), self))

    def _add(self, folder: _Folder) -> None:
        place = os.fsencode(os.path.join(self._root, folder.path))
        try:
            folder.watch = self._queue.add_callback(place, self._events, folder, folder.id)
        except OSError as error:
            if error.errno in NONE_LEFT or not folder.path:
                raise
            return  # gone again, or no folder any more
        if folder.watch < 0:  # watchdog is silent about a folder that may not be read
            self._queue.remove_callbacks([(folder.watch, folder.id)])
        else:
            self._folders[folder.path] = folder

    def _forget(self, under: str) -> None:
        with self._lock:
            gone = [path for path in self._folders if path == under or path.startswith(under + "/")]
            folders = [self._folders.pop(path) for path in gone]
        self._queue.remove_callbacks([(folder.watch, folder.id) for folder in folders])


@dataclass(slots=True, eq=False)
class _Folder:
    """One watched folder: what watchdog calls back.

    The system keeps one watch for a folder wherever it is moved. Each path it is met under has its own
    `_Folder` and number, so that an event is at worst told under an old path too.
    """

    path: str
    id: CallbackId
    source: Inotify
    watch: WatchDescriptor = field(init=False)

    def on_event(self, event: InotifyEvent) -> None:
        """Take an event, on watchdog's thread, which an exception would end without a word."""
        try:
            self.source.heard(self, event)
        except Exception as error:  # see above
            self.source.failed(error)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Take note that the folder is gone."""
        self.source.ended(self)

    def on_queue_overflow(self) -> None:
        """Take note that events were lost."""
        self.source.overflowed()


class Observed:
    """Any other system: watchdog's observer on the whole tree, hidden paths dropped as they come."""

    def __init__(self, root: str, ear: Ear) -> None:
        """Start the observer; raises OSError when the system will not let it."""
        # As above: not before the watcher's own thread runs.
        from watchdog.events import FileSystemEventHandler  # noqa: PLC0415
        from watchdog.observers import Observer  # noqa: PLC0415

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                _hear_event(root, ear, event)

        self._observer = Observer()
        self._observer.schedule(Handler(), root, recursive=True)
        self._observer.start()

    @property
    def alive(self) -> bool:
        """Whether the observer and its emitters run."""
        return self._observer.is_alive() and all(emitter.is_alive() for emitter in self._observer.emitters)

    def close(self) -> None:
        """Stop the observer."""
        self._observer.stop()
        self._observer.join()


def _hear_event(root: str, ear: Ear, event: FileSystemEvent) -> None:
    if event.event_type not in ("created", "modified", "closed", "moved", "deleted"):
        return
    for place in (event.src_path, event.dest_path):
        path = files.named(os.path.relpath(os.fsdecode(place), root).replace(os.sep, "/")) if place else "."
        if path == "." or path.startswith("../"):
            continue
        if not event.is_directory:
            if not is_hidden(path):
                ear.hear(path)
        elif not is_hidden_folder(path):
            if event.event_type in ("moved", "deleted"):
                ear.hear_everything()
            elif event.event_type == "created":
                ear.hear(path + "/")

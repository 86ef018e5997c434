"""An ordinary user: tests are often run as root, whom no permission stops."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

NOBODY = 65534


@contextlib.contextmanager
def folder_of_an_ordinary_user() -> Iterator[Path]:
    """Give a folder that an ordinary user may reach and write; all in it is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        try:
            yield place
        finally:
            for path, folders, _ in os.walk(place):
                for name in folders:
                    os.chmod(os.path.join(path, name), 0o755)


def hand_over(place: Path) -> int | None:
    """Give everything in a folder to the ordinary user; say whose processes may touch it (None: our own)."""
    if os.geteuid() != 0:
        return None
    for path, folders, names in os.walk(place):
        for name in [*folders, *names, "."]:
            os.chown(os.path.join(path, name), NOBODY, NOBODY, follow_symlinks=False)
    return NOBODY


@contextlib.contextmanager
def being_ordinary(place: Path) -> Iterator[None]:
    """Be an ordinary user for a block, who owns all that is in a folder and has it as a home."""
    user, home = hand_over(place), os.environ.get("HOME")
    if user is not None:
        os.seteuid(user)
    os.environ["HOME"] = str(place)
    try:
        yield
    finally:
        if user is not None:
            os.seteuid(0)
        os.environ.pop("HOME")
        if home is not None:
            os.environ["HOME"] = home

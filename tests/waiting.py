"""Waiting for a condition with a bound, instead of sleeping and hoping."""

import threading
import time
from collections.abc import Callable

HANGS = 30.0
"""Seconds: what takes longer on whatever machine does hang. The work itself takes a fraction of one."""


def wait_until(condition: Callable[[], object], timeout: float = 5.0, *, every: float = 0.01) -> None:
    """Return as soon as `condition()` is true; fail the test after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            message = f"not true within {timeout:g} s: {getattr(condition, '__name__', condition)!s}"
            raise AssertionError(message)
        pause.wait(every)

"""How far long work has come, told to whoever waits for it.

The work says it wherever it is done, and need not know whether anybody hears: `tell(3, 10, "notes moved")`.
Who waits says so around the call, in the same thread or one that took over its context.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Hear = Callable[[int, int, str], None]
"""Takes how much is done, of how much (0 where that is not known), and what it is in a few words."""

_hearer: ContextVar[Hear | None] = ContextVar("hearer", default=None)


@contextmanager
def heard(hear: Hear) -> Iterator[None]:
    """Have the work of the block told to `hear`, which must return at once and raise nothing."""
    token = _hearer.set(hear)
    try:
        yield
    finally:
        _hearer.reset(token)


def wanted() -> bool:
    """Say whether anybody hears, for what costs something to find out."""
    return _hearer.get() is not None


def tell(done: int, total: int, what: str) -> None:
    """Say how far the work has come."""
    hear = _hearer.get()
    if hear is not None:
        hear(done, total, what)

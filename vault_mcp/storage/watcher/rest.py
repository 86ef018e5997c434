"""When changed files have come to rest, and when to compare them all. No thread and no clock of its own.

Times are seconds of one clock that never goes back, given by whoever calls.
"""

import math
from collections import deque
from dataclasses import dataclass

FEW = 32
"""Up to so many changed files each rests for itself; above, a flood is under way and all wait for its end."""

MANY = 2000
"""Above so many changed files they are no longer counted: anything may have changed."""

TOGETHER = 0.05
"""Seconds by which a file may be early so that what was saved together is told of together."""

TICK_SHARE = 100
"""A comparison that took a second is asked for again after so many."""

FLOOD = 30.0
"""Seconds after which even a flood that goes on is told of."""


@dataclass(slots=True)
class Heard:
    """One changed file: when it was first and last heard of, and until when it is held back in any case."""

    first: float
    last: float
    held_until: float = 0.0
    again: bool = False
    """Put in by `look_again`: such files never add up to a flood, which would call for a comparison."""


class Rest:
    """The files that changed and have not been told of yet."""

    def __init__(self, quiet: float, longest: float) -> None:
        self._quiet = quiet
        self._longest = longest
        self._heard: dict[str, Heard] = {}
        self._new = 0  # of these, how many came by an event
        self._last = 0.0
        self._everything: Heard | None = None

    def __bool__(self) -> bool:
        return bool(self._heard) or self._everything is not None

    def hear(self, path: str, now: float) -> None:
        """Note that a file changed just now."""
        self._last = now
        if self._everything is not None:
            self._everything.last = now
        elif (heard := self._heard.get(path)) is not None:
            heard.last, heard.held_until = now, 0.0
        else:
            self._heard[path] = Heard(now, now)
            self._new += 1
            if self._new > MANY:
                self.hear_everything(now)

    def hear_everything(self, now: float) -> None:
        """Note that anything may have changed."""
        first = min((heard.first for heard in self._heard.values() if not heard.again), default=now)
        self._everything = Heard(first, now) if self._everything is None else self._everything
        self._everything.last = self._last = now
        self._heard.clear()
        self._new = 0

    def look_again(self, path: str, now: float) -> None:
        """Note a file that a comparison found changed, however many of them there are."""
        if self._everything is None:
            self._heard.setdefault(path, Heard(now, now, again=True))

    def hold(self, path: str, heard: Heard, until: float) -> None:
        """Put a file back that `rested` gave, unless it was heard of since."""
        if self._everything is None and path not in self._heard:
            self._heard[path] = Heard(heard.first, heard.last, until, heard.again)
            self._new += not heard.again

    def rested(self, now: float) -> dict[str, Heard] | None:
        """Take out the files that have come to rest, or None when anything may have changed and that has."""
        if self._everything is not None:
            if now < self._everything_at(self._everything):
                return {}
            self._everything = None
            return None
        rested = {path: heard for path, heard in self._heard.items() if self._at(heard) <= now + TOGETHER}
        for path, heard in rested.items():
            del self._heard[path]
            self._new -= not heard.again
        return rested

    def next_at(self) -> float | None:
        """Tell when there will be something to take out if nothing more is heard."""
        if self._everything is not None:
            return self._everything_at(self._everything)
        return min((self._at(heard) for heard in self._heard.values()), default=None)

    def _at(self, heard: Heard) -> float:
        last = self._last if len(self._heard) > FEW else heard.last
        return max(heard.held_until, min(last + self._quiet, heard.first + self._longest))

    def _everything_at(self, everything: Heard) -> float:
        return min(everything.last + self._quiet, everything.first + max(FLOOD, self._longest))


class Tick:
    """When to ask for the next full comparison, so that all of them cost a hundredth of one core at most."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._costs = deque([0.0], maxlen=2)
        self.at = math.inf

    def start(self, at: float) -> None:
        """Set the first comparison, which finds what was done before the watches were set."""
        self.at = at

    def sooner(self, now: float) -> None:
        """Come back earlier, because telling of some file went wrong."""
        self.at = min(self.at, now + self._every)

    def took(self, cost: float, now: float) -> None:
        """Take note that a comparison was made and how many seconds it took."""
        self._costs.append(cost)
        # The cheaper of the last two: the other may have had a thousand new notes to take in.
        self.at = now + max(self._every, TICK_SHARE * min(self._costs))

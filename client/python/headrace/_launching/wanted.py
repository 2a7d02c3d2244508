"""How many workers a service wants."""

from __future__ import annotations

from typing import Any

#: Causes of verdicts.
_NO_WORKER, _UNKNOWN = "no_worker", "unknown"


def wanted_workers(status: dict[str, Any]) -> int | None:
    """The number that the running jobs of a service need, as its verdicts say (docs/monitoring.md); 0 if none runs. None: nothing
    is known yet, or another number of workers would change nothing.
    """
    needed: int | None = None
    running = [job for job in status["jobs"] if job["state"] == "running" and job.get("trainers")]
    for job in running:
        verdict = job["verdict"]
        # All workers run all jobs, so the most demanding one decides.
        if verdict["wanted"]:
            needed = max(needed or 0, verdict["wanted"])
        elif verdict["cause"] == _NO_WORKER:
            needed = max(needed or 0, 1)
        elif verdict["cause"] != _UNKNOWN and verdict["running"]:
            needed = max(needed or 0, verdict["running"])
    return needed if running else 0


class Demand:
    """How many workers there should be: a growing demand is followed at once, a shrinking one after half a minute, so that
    their number does not swing. The rules are those of ``headrace up --workers N..M``.
    """

    #: Seconds for which a verdict is of workers that were just started or stopped.
    settling = 8.0
    #: Seconds for which fewer workers must have been enough.
    patience = 30.0

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most
        self._last: int | None = None
        self._since = 0.0
        self._fewer_since: float | None = None
        self._most_needed = 0

    def look(self, needed: int | None, present: int, now: float) -> int:
        """The number that there should be, of `present` ones at that time in seconds. To be called each second or so."""
        if self._last != present:
            self._since, self._fewer_since = now, None
        self._last = present
        if needed is None or not self._least <= present <= self._most or now - self._since < self.settling:
            return self._within(present)
        if needed >= present:
            self._fewer_since = None
            return self._within(needed)
        if self._fewer_since is None:
            self._fewer_since, self._most_needed = now, 0
        self._most_needed = max(self._most_needed, needed)
        return self._within(self._most_needed if now - self._fewer_since >= self.patience else present)

    def _within(self, number: int) -> int:
        return min(max(number, self._least), self._most)


def bounds_of(workers: Any) -> tuple[int, int]:
    """The least and the most of the argument ``workers``: a number, or a pair."""
    pair = workers if isinstance(workers, (tuple, list)) else (workers, workers)
    if len(pair) != 2 or not all(isinstance(x, int) and not isinstance(x, bool) for x in pair):
        raise TypeError(f"workers must be a number, or the least and the most: (2, 16), not {workers!r}")
    low, high = pair
    if low < 0 or high < max(low, 1):
        raise ValueError(f"workers must be at least 1, and the least not above the most, not {workers!r}")
    return low, high

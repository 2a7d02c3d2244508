"""The number of workers that a service may have."""

from __future__ import annotations

from typing import Any


def bounds_of(workers: Any) -> tuple[int, int]:
    """The least and the largest number of workers in the argument ``workers``: a number, or a pair."""
    pair = workers if isinstance(workers, (tuple, list)) else (workers, workers)
    if len(pair) != 2 or not all(isinstance(x, int) and not isinstance(x, bool) for x in pair):
        raise TypeError(f"workers must be a number, or the least and the most: (2, 16), not {workers!r}")
    low, high = pair
    if low < 0 or high < max(low, 1):
        raise ValueError(f"workers must be at least 1, and the least not above the most, not {workers!r}")
    return low, high

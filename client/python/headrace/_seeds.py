"""The seed of the process, from which datasets without seeds of their own derive theirs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ._epochs import mixed


class _OfProcess:
    """The seed and the number of the next dataset without one. They are replaced together, so that threads see both."""

    state: tuple[int, Iterator[int]] | None = None


def set_seed(seed: int) -> None:
    """Later datasets get the same seeds as those after an earlier ``set_seed`` of this number, one by one."""
    _OfProcess.state = (seed, itertools.count())


def is_set() -> bool:
    """Has the process a seed?"""
    return _OfProcess.state is not None


def of_process() -> int | None:
    """The seed of the process, if it has one."""
    state = _OfProcess.state
    return None if state is None else state[0]


def derived(given: int | None) -> int | None:
    """A dataset's seed as the engine takes it: of the process' seed and the one given, if there are such. None is drawn."""
    state = _OfProcess.state
    if state is None:
        return None if given is None else given % 2**64
    seed, numbers = state
    # The first number tells the two cases apart.
    return mixed(0, seed, next(numbers)) if given is None else mixed(1, seed, given)

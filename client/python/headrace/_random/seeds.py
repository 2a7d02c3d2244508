"""The seed of the process, from which the seeds of datasets are derived."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .._epochs import mixed


class _OfProcess:
    """The seed, and the number of the next dataset without a seed. Both are replaced together, so that threads see
    matching values.
    """

    state: tuple[int, Iterator[int]] | None = None


def set_seed(seed: int) -> None:
    """Datasets that are made after this call get, in their order, the same seeds as after any other call with
    ``seed``.
    """
    _OfProcess.state = (seed, itertools.count())


def is_set() -> bool:
    """True if the process has a seed."""
    return _OfProcess.state is not None


def of_process() -> int | None:
    """The seed of the process, if it has one."""
    state = _OfProcess.state
    return None if state is None else state[0]


def derived(given: int | None) -> int | None:
    """The seed of a dataset for the engine. It is derived from the seed ``given`` and from the seed of the process, as
    far as there are such seeds. None: there is neither, and the engine draws a seed.
    """
    state = _OfProcess.state
    if state is None:
        return None if given is None else given % 2**64
    seed, numbers = state
    # The first argument, 0 or 1, distinguishes datasets without a seed from those with a given one.
    return mixed(0, seed, next(numbers)) if given is None else mixed(1, seed, given)

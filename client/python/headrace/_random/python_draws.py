"""Detects random numbers of Python and numpy that a function draws while it is traced."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np


def _same(one: Any, other: Any) -> bool:
    """True if two states of ``numpy.random`` are equal. They are tuples that contain an array."""
    return len(one) == len(other) and all(np.array_equal(x, y) for x, y in zip(one, other))


@contextlib.contextmanager
def warned_of(function: str) -> Iterator[None]:
    """Warns if the body of the ``with`` drew from ``random`` or ``numpy.random``: such a number is the same for all
    elements.

    It compares the states of the two modules before and after. So it does not notice generators that the function makes
    itself, and it counts draws of other threads, too.
    """
    of_python, of_numpy = random.getstate(), np.random.get_state()
    yield
    drawn = [name for name, same in (("random", random.getstate() == of_python),
                                     ("numpy.random", _same(np.random.get_state(), of_numpy))) if not same]
    if drawn:
        warnings.warn(f"{function} drew from {' and '.join(drawn)} when it was traced, once for all elements and passes; "
                      "headrace.random draws for each element", RuntimeWarning, stacklevel=2)

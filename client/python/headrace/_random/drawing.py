"""Finds the datasets whose functions draw random numbers for each element, and determines the seeds of the draws."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._epochs import mixed
from . import seeds


class _OfThread(threading.local):
    """``count``: the number of calls of ``note``. ``last``: true if a function that was traced after the last dataset
    was made draws random numbers.
    """

    def __init__(self) -> None:
        self.count = 0
        self.last = False


_of_thread = _OfThread()


def note() -> None:
    """Records that the function that is being traced draws random numbers for each element."""
    _of_thread.count += 1


@contextmanager
def traced() -> Iterator[None]:
    """The context in which a function is traced, and with it the functions of the datasets that it makes."""
    before = _of_thread.count
    yield  # an exception skips the next line, because no dataset is made of a function that fails
    _of_thread.last = _of_thread.last or _of_thread.count != before


def forget() -> None:
    """Records that no dataset is made of the function that was traced last."""
    _of_thread.last = False


def seed_of(*inputs: Any) -> int | None:
    """The seed of the random numbers of a dataset that is being made of these inputs: the seed of the inputs, or, if
    the function that was traced for the dataset draws, a seed that is derived from the seed of the process. None:
    there is no seed, or nothing is drawn.
    """
    draws, _of_thread.last = _of_thread.last, False
    given = of_inputs(inputs)
    if given is not None or not draws:
        return given
    seed = seeds.of_process()
    return None if seed is None else mixed(2, seed)


def of_inputs(inputs: Iterable[Any]) -> int | None:
    """The seed of the first of these datasets that has one."""
    return next((x._drawn_from for x in inputs if x._drawn_from is not None), None)


def decided(dataset: Any) -> _core.Graph:
    """The graph of a dataset for workers, with the seed for its functions, if there is one."""
    graph: _core.Graph = dataset._graph
    return graph if dataset._drawn_from is None else _core.options(graph, None, None, None, None, None, dataset._drawn_from)


def warn_of_what_is_not_decided(dataset: Any, where: str) -> None:
    """Warns if functions of a dataset draw random numbers while the process has a seed: if workers share the elements,
    the numbers of a worker depend on the elements that it was given before.
    """
    if dataset._drawn_from is not None:
        warnings.warn(f"{where}: under dynamic random.set_seed decides nothing of what functions draw for each element, as it "
                      "depends on what each worker is given; headrace.random.stateless_uniform and its like take seeds",
                      RuntimeWarning, stacklevel=4)

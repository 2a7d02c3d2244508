"""Which datasets have functions that draw by chance for each element, and from which seed, if the process has one."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _core, _seeds
from ._epochs import mixed


class _OfThread(threading.local):
    """How many functions have drawn while they were traced, and whether the one that was traced last did."""

    def __init__(self) -> None:
        self.count = 0
        self.last = False


_of_thread = _OfThread()


def note() -> None:
    """The function that is being traced draws for each element."""
    _of_thread.count += 1


@contextmanager
def traced() -> Iterator[None]:
    """A function is traced within, and with it those of the datasets that it makes."""
    before = _of_thread.count
    yield  # of a function that fails no dataset is made
    _of_thread.last = _of_thread.last or _of_thread.count != before


def forget() -> None:
    """No dataset is made of the function that was traced last."""
    _of_thread.last = False


def seed_of(*inputs: Any) -> int | None:
    """What decides the draws of a dataset that is made now of these: their seed, or one of the process if the function that
    was traced for it draws. None: nothing decides them, or there are none.
    """
    draws, _of_thread.last = _of_thread.last, False
    given = of_inputs(inputs)
    if given is not None or not draws:
        return given
    seed = _seeds.of_process()
    return None if seed is None else mixed(2, seed)


def of_inputs(inputs: Iterable[Any]) -> int | None:
    """The seed of the first of these datasets that has one."""
    return next((x._drawn_from for x in inputs if x._drawn_from is not None), None)


def decided(dataset: Any) -> _core.Graph:
    """The graph of a dataset for workers, with the seed of what its functions draw, if it has one."""
    graph: _core.Graph = dataset._graph
    return graph if dataset._drawn_from is None else _core.options(graph, None, None, None, None, None, dataset._drawn_from)


def warn_of_what_is_not_decided(dataset: Any, where: str) -> None:
    """Warns if functions of a dataset draw, and the seed of the process is to decide what: where workers share the elements,
    what one draws depends on what it was given before.
    """
    if dataset._drawn_from is not None:
        warnings.warn(f"{where}: under dynamic random.set_seed decides nothing of what functions draw for each element, as it "
                      "depends on what each worker is given; headrace.random.stateless_uniform and its like take seeds",
                      RuntimeWarning, stacklevel=4)

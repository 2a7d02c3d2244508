"""Combines the elements of one key into one element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._dataset import Dataset


class Reducer:
    """Combines the elements of a key into one, for ``group_by_reducer``.

    init_func: returns the first state for a key, an int64. reduce_func: returns the next state for a state and an
    element. finalize_func: returns the resulting element for the last state.

    >>> mean = Reducer(lambda key: (0.0, 0.0), lambda state, x: (state[0] + x, state[1] + 1), lambda total, n: total / n)
    >>> ds = Dataset.from_tensor_slices([1.0, 2.0, 4.0])
    >>> list(ds.apply(group_by_reducer(lambda x: hr.cast(x < 3, hr.int64), mean)))
    [np.float32(4.0), np.float32(1.5)]
    """

    def __init__(self, init_func: Callable[..., Any], reduce_func: Callable[..., Any],
                 finalize_func: Callable[..., Any]) -> None:
        for name, f in (("init_func", init_func), ("reduce_func", reduce_func), ("finalize_func", finalize_func)):
            if not callable(f):
                raise TypeError(f"Reducer: {name} must be a function, not {type(f).__name__}")
        self._init, self._reduce, self._finalize = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """The function that returns the first state for a key.

        >>> Reducer(lambda key: 0, lambda s, x: s + x, lambda s: s).init_func(3)
        0
        """
        return self._init

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """The function that returns the next state for a state and an element.

        >>> Reducer(lambda key: 0, lambda s, x: s + x, lambda s: s).reduce_func(3, 4)
        7
        """
        return self._reduce

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """The function that returns the resulting element for the last state.

        >>> Reducer(lambda key: 0, lambda s, x: s + x, lambda s: s).finalize_func(3)
        3
        """
        return self._finalize


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Callable[[Dataset], Dataset]:
    """Applies a ``Reducer`` to the elements of each key. After all elements were read, the results are given in the
    order of their keys.

    ``key_func`` returns an element's key, an int64. All elements are kept in memory until the last one was read.

    >>> total = Reducer(lambda key: np.int64(0), lambda total, x: total + x, lambda total: total)
    >>> list(Dataset.range(6).apply(group_by_reducer(lambda x: x % 2, total)))
    [np.int64(6), np.int64(9)]
    """
    if not isinstance(reducer, Reducer):
        raise TypeError(f"group_by_reducer: reducer must be a Reducer, not {type(reducer).__name__}")

    def one(key: Any, elements: Dataset) -> Dataset:
        state = elements.reduce(reducer.init_func(key), reducer.reduce_func)
        result = reducer.finalize_func(*state) if isinstance(state, tuple) else reducer.finalize_func(state)
        return Dataset.from_tensors(tuple(result) if isinstance(result, list) else result)

    return lambda dataset: dataset.group_by_window(key_func, one, window_size=2**63 - 1)

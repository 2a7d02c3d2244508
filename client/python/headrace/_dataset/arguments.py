"""Arguments that several operators have in common: each function checks one, and names it in its error."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

import numpy as np

from .. import _core, dtypes
from .._random import seeds as _seeds
from .._tensors import values as _values
from .._tensors.values import integer
from ..errors import ArgumentError
from .base import Described

if TYPE_CHECKING:
    from .dataset import Dataset

#: An int, an integer of numpy, or a scalar tensor of an integer. The tensor may depend on an element only if the
#: argument is read by ``count_of``.
Int: TypeAlias = "SupportsIndex | _core.Tensor"
#: A file or folder.
Path: TypeAlias = "str | os.PathLike[str]"
#: Names of files: one name, several names, a tensor of names, or a dataset of names.
Names: TypeAlias = ("str | bytes | os.PathLike[str] | Sequence[str | bytes | os.PathLike[str]] | "
                    "np.ndarray[Any, Any] | _core.Tensor | Dataset")

#: The value of an argument for which headrace chooses a number, and changes it while the dataset is read.
AUTOTUNE = -1


def flag(value: Any, argument: str) -> bool:
    """``value`` as a bool. It may also be a scalar tensor or array of one bool."""
    value = _values.known(value, argument, "a bool")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{argument} must be a bool, not {type(value).__name__}: {value!r}")
    return bool(value)


def seed_of(value: Any) -> int | None:
    """The seed of a dataset for the engine, derived from ``value`` and from the seed of ``headrace.random.set_seed`` if
    that was called. None: the engine draws one, once for a dataset.
    """
    return _seeds.derived(None if value is None else integer(value, "seed"))


def graphs(datasets: Any, operator: str) -> list[_core.Graph]:
    """The graphs of these datasets."""
    inputs = list(datasets)
    for x in inputs:
        if not isinstance(x, Described):
            raise TypeError(f"{operator}: datasets may hold only Datasets, not {type(x).__name__}")
    return [x._graph for x in inputs]


def parallel_calls(value: Any) -> int:
    """The number of calls at a time, or ``AUTOTUNE``; 0: the calls run in the caller's thread."""
    if value is None:
        return 0
    calls = integer(value, "num_parallel_calls")
    if calls != AUTOTUNE and calls < 1:
        raise ArgumentError(f"num_parallel_calls must be 1 or more, or headrace.AUTOTUNE, not {calls}")
    return calls


def order(deterministic: Any) -> bool | None:
    """True if parallel calls keep the order. None: the dataset's options determine this."""
    return None if deterministic is None else flag(deterministic, "deterministic")


def names(value: Any, argument: str) -> _core.Tensor:
    """File names as a tensor of strings."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, (list, tuple)):
        value = [os.fspath(x) if isinstance(x, os.PathLike) else x for x in value]
    out = _values.constant(np.array([], dtype=object)) if isinstance(value, list) and not value \
        else _values.constant(value)
    if out.dtype != dtypes.string:
        raise TypeError(f"{argument} must be a string or strings, not {out.dtype.name}")
    return out


def shares(value: Any, argument: str) -> list[float]:
    """One number for each class; an empty list for None."""
    if value is None:
        return []
    array = np.asarray(value, np.float64)
    if array.ndim != 1:
        raise ValueError(f"{argument} must be one number a class, not of shape {array.shape}")
    return [float(x) for x in array]


def compression(value: Any) -> str:
    """The compression of files; empty: none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"compression_type must be a string or None, not {type(value).__name__}")
    return value

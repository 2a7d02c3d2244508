"""Sources: the beginnings of datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core, dtypes
from .._tensors.values import integer
from .._tracing import tracing as _tracing
from .arguments import Int, Names, flag, names, seed_of
from .base import Described, made
from .ragged_rows import holds_ragged, slices

if TYPE_CHECKING:
    from .dataset import Dataset


class Sources(Described):
    """Constructors of datasets."""

    __slots__ = ()

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """``range(stop)``, ``range(start, stop)`` or ``range(start, stop, step)``: scalars of ``output_type``.

        Raises ``ValueError`` for a step of zero.

        >>> list(Dataset.range(1, 5, 2).as_numpy_iterator())
        [np.int64(1), np.int64(3)]
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(f"range takes stop, (start, stop) or (start, stop, step); {len(args)} numbers were given")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]

        def number(value: Any, argument: str) -> _core.Tensor:
            if isinstance(value, _core.Tensor):
                return _core.cast(value, "int64")
            return _core.constant(np.array(integer(value, argument), np.int64))

        out = made(_core.range(number(start, "start"), number(stop, "stop"), number(step, "step")))
        wanted = dtypes.as_dtype(output_type)
        return out if wanted == dtypes.int64 else out.map(lambda x: _core.cast(x, wanted.name))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of one element, which is these tensors.

        >>> list(Dataset.from_tensors([1, 2, 3]))
        [array([1, 2, 3], dtype=int32)]
        """
        return made(_core.from_tensors(_tracing.tensors(tensors)))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of these tensors along their first axes, which must have the same extent.

        Raises ``InvalidArgumentError`` if the extents differ, or if a tensor is a scalar. Rows of a ragged tensor are
        tensors, or ragged tensors if they have ragged axes themselves.

        >>> list(Dataset.from_tensor_slices({"x": [1, 2], "y": ["a", "b"]}))
        [{'x': np.int32(1), 'y': b'a'}, {'x': np.int32(2), 'y': b'b'}]
        """
        given = _tracing.tensors(tensors)
        return slices(given) if holds_ragged(given) else made(_core.from_tensor_slices(given))

    @staticmethod
    def from_generator(generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None,
                       output_signature: Any = None, name: str | None = None, *,
                       deterministic: bool = False) -> Dataset:
        """The elements that the iterable ``generator(*args)`` gives.

        The generator is shipped with cloudpickle and runs, in a process of its own, where the pipeline runs: here, or
        on workers started from Python. ``output_signature``: ``TensorSpec``s in the structure of the elements; or
        ``output_types`` (and ``output_shapes``). ``args``: tensors that ``generator`` is called with, as arrays,
        scalars of numpy, and ``bytes``.

        Each pass calls ``generator`` again. If this program reads the dataset, the call sees the present values of
        the program's variables. Changes that the generator itself has made to them (to a counter, to a random
        generator) are kept for the next pass, unless the program has changed a variable that the generator uses.
        These changes stay in the generator's process.

        ``deterministic``: a promise that each pass gives the same elements. With it, in a service under ``dynamic``,
        each worker starts a generator and gives a part of its elements; without it, one worker gives all elements.

        >>> def squares(n):
        ...     for i in range(n):
        ...         yield i * i
        >>> spec = TensorSpec([], dtypes.int64)
        >>> list(Dataset.from_generator(squares, args=(3,), output_signature=spec))
        [np.int64(0), np.int64(1), np.int64(4)]
        """
        from .._processes.python import from_generator

        return from_generator(generator, output_types, output_shapes, args, output_signature, deterministic)

    @staticmethod
    def list_files(file_pattern: Names, shuffle: bool | None = None, seed: Int | None = None,
                   name: str | None = None) -> Dataset:
        """Names of the files that match any of these globs, shuffled unless ``shuffle=False``.

        The files are listed when the dataset is read, by the process that reads it. Their number is not known before
        (``UNKNOWN_CARDINALITY``), and reading raises an error if no file matches.

        Elements are string scalars.

        >>> import os
        >>> [os.path.basename(x) for x in Dataset.list_files(os.path.dirname(hr.__file__) + "/_options.py")]
        [b'_options.py']
        """
        mixed = True if shuffle is None else flag(shuffle, "shuffle")
        return made(_core.list_files(names(file_pattern, "file_pattern"), mixed, seed_of(seed) if mixed else None))

    @staticmethod
    def counter(start: Int = 0, step: Int = 1, dtype: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """``start``, ``start + step`` ... without an end, as scalars of ``dtype``.

        >>> list(Dataset.counter(5, 2).take(2))
        [np.int64(5), np.int64(7)]
        """
        out = made(_core.counter(integer(start, "start"), integer(step, "step")))
        wanted = dtypes.as_dtype(dtype)
        return out if wanted == dtypes.int64 else out.map(lambda x: _core.cast(x, wanted.name))

    @staticmethod
    def random(seed: Int | None = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Dataset:
        """Random int64 numbers in [0, 2**32) without an end. They differ between passes if
        ``rerandomize_each_iteration`` is true.

        >>> list(Dataset.random(seed=1).take(2)) == list(Dataset.random(seed=1).take(2))
        True
        """
        again = False if rerandomize_each_iteration is None else flag(rerandomize_each_iteration,
                                                                       "rerandomize_each_iteration")
        return made(_core.random(seed_of(seed), again))

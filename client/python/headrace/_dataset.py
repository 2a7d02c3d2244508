"""Datasets: descriptions of elements, and what happens to them."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from . import _core, _options, _tracing, _values, dtypes
from ._specs import TensorSpec, flatten, map_structure, spec_of_leaf
from .errors import InvalidArgumentError, OutOfRangeError, UnimplementedError

#: Lets headrace choose a number while it runs.
AUTOTUNE = -1
#: The cardinality of datasets that never end.
INFINITE_CARDINALITY = -1
#: The cardinality of datasets that nobody has counted.
UNKNOWN_CARDINALITY = -2

_int = _values.integer


def _flag(value: Any, argument: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{argument} must be a bool, not {type(value).__name__}: {value!r}")
    return bool(value)


def _seed(value: Any) -> int | None:
    return None if value is None else _int(value, "seed") % 2**64


def _graphs(datasets: Any, operator: str) -> list[_core.Graph]:
    inputs = list(datasets)
    for x in inputs:
        if not isinstance(x, Dataset):
            raise TypeError(f"{operator}: datasets may hold only Datasets, not {type(x).__name__}")
    return [x._graph for x in inputs]


def _parallel(value: Any) -> int:
    """How many calls at a time: 0 is the caller's own thread."""
    if value is None:
        return 0
    calls = _int(value, "num_parallel_calls")
    if calls != AUTOTUNE and calls < 1:
        raise ValueError(f"num_parallel_calls must be 1 or more, or headrace.AUTOTUNE, not {calls}")
    return calls


def _names(value: Any, argument: str) -> _core.Tensor:
    """File names as a tensor of strings."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, (list, tuple)):
        value = [os.fspath(x) if isinstance(x, os.PathLike) else x for x in value]
    names = _values.constant(np.array([], dtype=object)) if isinstance(value, list) and not value \
        else _values.constant(value)
    if names.dtype != dtypes.string:
        raise TypeError(f"{argument} must be a string or strings, not {names.dtype.name}")
    return names


def _compression(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"compression_type must be a string or None, not {type(value).__name__}")
    return value


def missing(name: str) -> NoReturn:
    """Raises the error that says that the engine has no such operator."""
    raise UnimplementedError(f"{name}: this release of headrace has no such operator")


class Dataset:
    """A description of elements: where they come from and what happens to them.

    Immutable; nothing runs until it is iterated over, here or (before ``distribute``) on the workers of a service.
    Constructors, methods and arguments are named as in tf.data. Elements are numpy arrays and scalars, and ``bytes``
    for strings, in the nested tuples and dicts that ``element_spec`` tells. Arrays are read-only views of the memory
    into which the elements were computed or received.

    >>> import headrace as hr
    >>> ds = hr.Dataset.range(6).map(lambda x: x * x).batch(4)
    >>> for x in ds:
    ...     print(x)
    [0 1 4 9]
    [16 25]
    >>> ds.element_spec
    TensorSpec(shape=(None,), dtype=headrace.int64, name=None)
    """

    __slots__ = ("_given_options", "_graph")

    def __init__(self, graph: _core.Graph, options: _options.Options | None = None) -> None:
        if not isinstance(graph, _core.Graph):
            raise TypeError("a Dataset is made by its constructors: Dataset.range, Dataset.from_tensor_slices, ...")
        self._graph = graph
        self._given_options = options or _options.Options()

    def _with(self, graph: _core.Graph) -> Dataset:
        return Dataset(graph, self._given_options)

    # -- sources ----------------------------------------------------------------------

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
            return _core.constant(np.array(_int(value, argument), np.int64))

        out = Dataset(_core.range(number(start, "start"), number(stop, "stop"), number(step, "step")))
        wanted = dtypes.as_dtype(output_type)
        return out if wanted == dtypes.int64 else out.map(lambda x: _core.cast(x, wanted.name))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: these tensors.

        >>> list(Dataset.from_tensors([1, 2, 3]))
        [array([1, 2, 3], dtype=int32)]
        """
        return Dataset(_core.from_tensors(_tracing.tensors(tensors)))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of these tensors along their first axis, which must be equally long.

        Raises ``InvalidArgumentError`` if they are not, or are scalars.

        >>> list(Dataset.from_tensor_slices({"x": [1, 2], "y": ["a", "b"]}))
        [{'x': np.int32(1), 'y': b'a'}, {'x': np.int32(2), 'y': b'b'}]
        """
        return Dataset(_core.from_tensor_slices(_tracing.tensors(tensors)))

    @staticmethod
    def from_generator(generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None,
                       output_signature: Any = None, name: str | None = None) -> Dataset:
        """The elements that the iterable ``generator(*args)`` gives.

        It is shipped with cloudpickle and runs, in a process of its own, where the pipeline runs: here, or on workers
        started from Python. ``output_signature``: ``TensorSpec``s arranged as the elements; or ``output_types`` (and
        ``output_shapes``). Each pass starts a new generator.

        >>> def squares(n):
        ...     for i in range(n):
        ...         yield i * i
        >>> spec = TensorSpec([], dtypes.int64)
        >>> list(Dataset.from_generator(squares, args=(3,), output_signature=spec))
        [np.int64(0), np.int64(1), np.int64(4)]
        """
        from ._python import from_generator

        return from_generator(generator, output_types, output_shapes, args, output_signature)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: Any = None,
                   name: str | None = None) -> Dataset:
        """Names of the files that match any of these globs, shuffled unless ``shuffle=False``.

        That nothing matches is an error of the reading.
        """
        mixed = True if shuffle is None else _flag(shuffle, "shuffle")
        return Dataset(_core.list_files(_names(file_pattern, "file_pattern"), mixed, _seed(seed)))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of all datasets side by side; ends with the shortest.

        Takes datasets, or one nest (tuple or dict) of datasets, which gives the arrangement.

        >>> a, b = Dataset.range(3), Dataset.range(3, 9)
        >>> list(Dataset.zip(a, b))[2]
        (np.int64(2), np.int64(5))
        >>> next(iter(Dataset.zip({"a": a, "b": b})))
        {'a': np.int64(0), 'b': np.int64(3)}
        """
        if not args and datasets is None:
            raise TypeError("zip: at least one dataset is needed")
        if args and datasets is not None:
            raise TypeError("zip: datasets are given one by one or as `datasets`, not both")
        nest = datasets if datasets is not None else args[0] if len(args) == 1 else args
        inputs = flatten(nest)
        for x in inputs:
            if not isinstance(x, Dataset):
                raise TypeError(f"zip: the nest may hold only Datasets, not {type(x).__name__}")
        if isinstance(nest, Dataset):
            return nest
        out = Dataset(_core.zip([x._graph for x in inputs]))
        if isinstance(nest, tuple) and all(isinstance(x, Dataset) for x in nest):
            return out

        def arranged(*parts: Any) -> Any:
            rest = iter(parts)
            return map_structure(lambda _: next(rest), nest)
        return out.map(arranged)

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """``start``, ``start + step`` ... without an end, as scalars of ``dtype``.

        >>> list(Dataset.counter(5, 2).take(2))
        [np.int64(5), np.int64(7)]
        """
        out = Dataset(_core.counter(_int(start, "start"), _int(step, "step")))
        wanted = dtypes.as_dtype(dtype)
        return out if wanted == dtypes.int64 else out.map(lambda x: _core.cast(x, wanted.name))

    @staticmethod
    def random(seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Dataset:
        """Random int64 numbers in [0, 2**32) without an end; other ones in each pass if ``rerandomize_each_iteration``."""
        again = False if rerandomize_each_iteration is None else _flag(rerandomize_each_iteration,
                                                                       "rerandomize_each_iteration")
        return Dataset(_core.random(_seed(seed), again))

    @staticmethod
    def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None,
                             stop_on_empty_dataset: bool = False,
                             rerandomize_each_iteration: Any = None) -> Dataset:
        """Elements of several datasets, drawn at random with these weights (all alike if None).

        It ends when all did, or with ``stop_on_empty_dataset`` when one that is drawn has ended.

        >>> a, b = Dataset.range(2), Dataset.range(2, 4)
        >>> sorted(Dataset.sample_from_datasets([a, b], seed=1))
        [np.int64(0), np.int64(1), np.int64(2), np.int64(3)]
        """
        given = [] if weights is None else [float(x) for x in weights]
        again = False if rerandomize_each_iteration is None else _flag(rerandomize_each_iteration,
                                                                       "rerandomize_each_iteration")
        return Dataset(_core.sample_from(_graphs(datasets, "sample_from_datasets"), given, _seed(seed),
                                         _flag(stop_on_empty_dataset, "stop_on_empty_dataset"), again))

    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Dataset:
        """Elements of several datasets, in the order of ``choice_dataset``, int64 scalars.

        >>> a, b = Dataset.range(2), Dataset.range(10, 12)
        >>> list(Dataset.choose_from_datasets([a, b], Dataset.from_tensor_slices(np.array([1, 0, 1]))))
        [np.int64(10), np.int64(0), np.int64(11)]
        """
        if not isinstance(choice_dataset, Dataset):
            raise TypeError(f"choose_from_datasets: choice_dataset must be a Dataset, not "
                            f"{type(choice_dataset).__name__}")
        return Dataset(_core.choose_from(choice_dataset._graph, _graphs(datasets, "choose_from_datasets"),
                                         _flag(stop_on_empty_dataset, "stop_on_empty_dataset")))

    @staticmethod
    def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None,
             wait: bool = False) -> Dataset:
        """What ``save`` wrote."""
        missing("Dataset.load")

    # -- operators ------------------------------------------------------------------------

    def apply(self, transformation_func: Callable[[Dataset], Any]) -> Any:
        """``transformation_func(self)``, so that transformations chain."""
        if not callable(transformation_func):
            raise TypeError(f"apply: transformation_func must be a function, not {type(transformation_func).__name__}")
        return transformation_func(self)

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None, deterministic: bool | None = None,
            synchronous: bool | None = None, use_unbounded_threadpool: bool = False,
            name: str | None = None) -> Dataset:
        """``map_func`` of each element.

        The function is traced: it is called once, with tensors (one an argument if elements are tuples), and gives
        tensors in tuples and dicts. An element for which it fails is an error in its place. The order is kept.
        Raises ``OperatorNotAllowedInGraphError``, naming the line, for what cannot be traced.

        >>> list(Dataset.range(3).map(lambda x: (x, x / 2)))[1]
        (np.int64(1), np.float64(0.5))
        """
        from ._python import PyFunction

        if isinstance(map_func, PyFunction):
            return map_func._map(self, _parallel(num_parallel_calls))
        f = _tracing.trace(self._graph, map_func, "map", "map_func", dataset=False)
        return self._with(_core.map(self._graph, f, _parallel(num_parallel_calls)))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which ``predicate`` gives true, as one bool.

        >>> list(Dataset.range(5).filter(lambda x: x % 2 == 0))
        [np.int64(0), np.int64(2), np.int64(4)]
        """
        f = _tracing.trace(self._graph, predicate, "filter", "predicate", dataset=False)
        return self._with(_core.filter(self._graph, f))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that ``map_func`` makes of the elements, one dataset after another.

        >>> list(Dataset.range(3).flat_map(lambda x: Dataset.range(x)))
        [np.int64(0), np.int64(0), np.int64(1)]
        """
        f = _tracing.trace(self._graph, map_func, "flat_map", "map_func", dataset=True)
        return self._with(_core.flat_map(self._graph, f))

    def interleave(self, map_func: Callable[..., Any], cycle_length: Any = None, block_length: Any = None,
                   num_parallel_calls: Any = None, deterministic: bool | None = None,
                   name: str | None = None) -> Dataset:
        """The elements of the datasets that ``map_func`` makes of the elements, several datasets in turn.

        ``cycle_length`` datasets are open at a time (16 by default), and give ``block_length`` elements in turn.
        """
        f = _tracing.trace(self._graph, map_func, "interleave", "map_func", dataset=True)
        cycle = 16 if cycle_length is None or cycle_length == AUTOTUNE else _int(cycle_length, "cycle_length")
        length = 1 if block_length is None else _int(block_length, "block_length")
        return self._with(_core.interleave(self._graph, f, cycle, length, _parallel(num_parallel_calls)))

    def batch(self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None,
              deterministic: bool | None = None, name: str | None = None) -> Dataset:
        """``batch_size`` elements stacked into one.

        >>> list(Dataset.range(5).batch(2, drop_remainder=True))
        [array([0, 1]), array([2, 3])]
        """
        _parallel(num_parallel_calls)
        return self._with(_core.batch(self._graph, _int(batch_size, "batch_size"),
                                      _flag(drop_remainder, "drop_remainder")))

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None,
                name: str | None = None) -> Dataset:
        """Random order within a buffer of ``buffer_size`` elements.

        >>> sorted(Dataset.range(3).shuffle(3, seed=1))
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        again = True if reshuffle_each_iteration is None else _flag(reshuffle_each_iteration,
                                                                    "reshuffle_each_iteration")
        return self._with(_core.shuffle(self._graph, _int(buffer_size, "buffer_size"), _seed(seed), again))

    def global_shuffle(self, seed: Any = None, reshuffle_each_iteration: bool = True) -> Dataset:
        """All elements of a source in one random order that takes no memory.

        The dataset must be one whose elements can be read in any order: ``range``, ``from_tensors``,
        ``from_tensor_slices``, ``TFRecordDataset`` or ``FixedLengthRecordDataset`` without compression.

        >>> sorted(Dataset.range(3).global_shuffle(seed=1))
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        return self._with(_core.global_shuffle(self._graph, _seed(seed),
                                               _flag(reshuffle_each_iteration, "reshuffle_each_iteration")))

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """``count`` times; without end if it is None or -1."""
        return self._with(_core.repeat(self._graph, -1 if count is None else _int(count, "count")))

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first ``count`` elements; -1 for all."""
        return self._with(_core.take(self._graph, _int(count, "count")))

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first ``count`` elements; -1 skips all."""
        return self._with(_core.skip(self._graph, _int(count, "count")))

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """Keeps up to ``buffer_size`` elements ready, made by another thread; ``AUTOTUNE`` lets headrace choose."""
        return self._with(_core.prefetch(self._graph, _int(buffer_size, "buffer_size")))

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """(number, element), counted from ``start``."""
        return self._with(_core.enumerate(self._graph, _int(start, "start")))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """These elements, then those of ``dataset``, which must have the same structure and dtypes."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"concatenate: dataset must be a Dataset, not {type(dataset).__name__}")
        return self._with(_core.concatenate(self._graph, dataset._graph))

    def with_options(self, options: _options.Options, name: str | None = None) -> Dataset:
        """The same dataset, run as ``options`` say.

        Raises ``UnimplementedError`` for options that this release does not have.
        """
        given = _options.check(options)
        return Dataset(_core.options(self._graph, *_options.of_graph(given)), self._given_options.merge(given))

    def options(self) -> _options.Options:
        """The options that were given."""
        return self._given_options

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Leaves out the elements that failed. ``log_warning`` is accepted and changes nothing."""
        _flag(log_warning, "log_warning")
        return self._with(_core.ignore_errors(self._graph))

    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        """The last state after ``reduce_func(state, element)`` of all elements; it runs here.

        >>> Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x)
        np.int64(10)
        """
        initial = _tracing.tensors(initial_state)
        beside = _core.zip([_core.from_tensors(initial), self._graph])

        def both(state: Any, element: Any) -> Any:
            state = reduce_func(state, element)
            return state, state

        if not callable(reduce_func):
            raise TypeError(f"reduce: reduce_func must be a function, not {type(reduce_func).__name__}")
        f = _tracing.trace(beside, both, "reduce", "reduce_func", dataset=False)
        last, = Dataset(_core.from_tensors(initial))
        for last in self._with(_core.scan(self._graph, initial, f)):
            pass
        return last

    def scan(self, initial_state: Any, scan_func: Any, name: str | None = None) -> Dataset:
        """``map`` with a state: ``scan_func(state, element)`` gives the next state and an output.

        >>> list(Dataset.range(4).scan(np.int64(0), lambda total, x: (total + x, total + x)))
        [np.int64(0), np.int64(1), np.int64(3), np.int64(6)]
        """
        initial = _tracing.tensors(initial_state)
        beside = _core.zip([_core.from_tensors(initial), self._graph])
        f = _tracing.trace(beside, scan_func, "scan", "scan_func", dataset=False)
        return self._with(_core.scan(self._graph, initial, f))

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every ``num_shards``-th element, from number ``index``.

        >>> list(Dataset.range(5).shard(2, 1))
        [np.int64(1), np.int64(3)]
        """
        return self._with(_core.shard(self._graph, _int(num_shards, "num_shards"), _int(index, "index")))

    def take_while(self, predicate: Any, name: str | None = None) -> Dataset:
        """The elements before the first for which ``predicate`` is false.

        >>> list(Dataset.range(5).take_while(lambda x: x < 2))
        [np.int64(0), np.int64(1)]
        """
        f = _tracing.trace(self._graph, predicate, "take_while", "predicate", dataset=False)
        return self._with(_core.take_while(self._graph, f))

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of the elements along their first axis.

        >>> list(Dataset.range(3).batch(2).unbatch())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        return self._with(_core.unbatch(self._graph))

    def unique(self, name: str | None = None) -> Dataset:
        """Each value once, where it comes first. All that came is kept in memory.

        >>> list(Dataset.from_tensor_slices([1, 2, 1]).unique())
        [np.int32(1), np.int32(2)]
        """
        return self._with(_core.unique(self._graph))

    # -- not in this release's engine -------------------------------------------------------

    def bucket_by_sequence_length(self, element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any,
                                  padded_shapes: Any = None, padding_values: Any = None,
                                  pad_to_bucket_boundary: bool = False, no_padding: bool = False,
                                  drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """Batches of elements of similar length."""
        missing("Dataset.bucket_by_sequence_length")

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """Keeps the elements of the first pass for later ones."""
        missing("Dataset.cache")

    def group_by_window(self, key_func: Any, reduce_func: Any, window_size: Any = None,
                        window_size_func: Any = None, name: str | None = None) -> Dataset:
        """Groups elements by key, and reduces each group."""
        missing("Dataset.group_by_window")

    def padded_batch(self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
                     drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """As ``batch``, after padding to one shape."""
        missing("Dataset.padded_batch")

    def ragged_batch(self, batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64,
                     name: str | None = None) -> Dataset:
        """As ``batch``, of rows of different lengths."""
        missing("Dataset.ragged_batch")

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """Batches of another size."""
        missing("Dataset.rebatch")

    def rejection_resample(self, class_func: Any, target_dist: Any, initial_dist: Any = None, seed: Any = None,
                           name: str | None = None) -> Dataset:
        """Elements drawn so that classes come as often as wished."""
        missing("Dataset.rejection_resample")

    def save(self, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None:
        """Writes the elements to files."""
        missing("Dataset.save")

    def snapshot(self, path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None,
                 name: str | None = None) -> Dataset:
        """Keeps the elements of the first run in files for later ones."""
        missing("Dataset.snapshot")

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset:
        """Batches of sparse tensors."""
        missing("Dataset.sparse_batch")

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False,
               name: str | None = None) -> Dataset:
        """Datasets of neighbouring elements."""
        missing("Dataset.window")

    # -- use ------------------------------------------------------------------------------------

    @property
    def element_spec(self) -> Any:
        """``TensorSpec``s, arranged as the elements are."""
        return self._graph.spec(spec_of_leaf)

    def cardinality(self) -> builtins.int:
        """How many elements there are, or ``INFINITE_CARDINALITY`` or ``UNKNOWN_CARDINALITY``.

        >>> Dataset.range(42).cardinality(), Dataset.range(1).repeat().cardinality() == INFINITE_CARDINALITY
        (42, True)
        """
        return self._graph.cardinality()

    def __iter__(self) -> Iterator[Any]:
        return self._graph.read(None)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The same as ``iter``: elements are numpy's anyhow."""
        return self._graph.read(None)

    def restore(self, record: bytes) -> Iterator[Any]:
        """An iterator that goes on where one of an equal dataset stood when it gave ``record`` (``iterator.save()``).

        In this process or another: gives what was still to come, in the same order. Raises
        ``InvalidArgumentError`` or ``DataLossError`` for a record that is damaged or of another dataset.

        >>> ds = Dataset.range(5).shuffle(5)
        >>> it = iter(ds)
        >>> first = next(it)
        >>> list(ds.restore(it.save())) == list(it)
        True
        """
        if not isinstance(record, bytes):
            raise TypeError(f"restore: record must be the bytes that save() gave, not {type(record).__name__}")
        return self._graph.restore(record)

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element. Raises ``InvalidArgumentError`` if there are more, or none."""
        found = list(self.take(2))
        if len(found) != 1:
            raise InvalidArgumentError(
                f"get_single_element: the dataset has {'no element' if not found else 'more than one element'}")
        return found[0]

    def __len__(self) -> builtins.int:
        n = self.cardinality()
        if n == INFINITE_CARDINALITY:
            raise TypeError("this dataset never ends, and has no len()")
        if n == UNKNOWN_CARDINALITY:
            raise TypeError("the length of this dataset is not known")
        return n

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_encoded, (self._graph.encode(), self._given_options._given())

    def __repr__(self) -> str:
        return f"<headrace.Dataset of {self._graph.spec_text()}>"


def _from_encoded(graph: bytes, options: dict[str, Any]) -> Dataset:
    return Dataset(_core.decode_graph(graph), _options.Options.of(options))


class _FileDataset(Dataset):
    """Records of files; several files at a time if ``num_parallel_reads`` says so."""

    __slots__ = ()

    def __init__(self, filenames: Any, read: Callable[[_core.Tensor], _core.Graph], num_parallel_reads: Any) -> None:
        of_file = lambda name: Dataset(read(_core.reshape(name, [])))  # noqa: E731
        if isinstance(filenames, Dataset):
            inputs = filenames
        elif num_parallel_reads is None:
            super().__init__(read(_names(filenames, "filenames")))
            return
        else:
            inputs = Dataset.from_tensor_slices(_core.reshape(_names(filenames, "filenames"), [-1]))
        if num_parallel_reads is None:
            super().__init__(inputs.flat_map(of_file)._graph)
            return
        reads = _parallel(num_parallel_reads)
        super().__init__(inputs.interleave(of_file, 16 if reads == AUTOTUNE else reads,
                                           num_parallel_calls=num_parallel_reads)._graph)


class TFRecordDataset(_FileDataset):
    """The records of TFRecord files, as ``bytes``; their checksums are verified.

    ``filenames``: a name, several, a tensor of a traced function, or a dataset of names. ``compression_type``: ``""``,
    ``"GZIP"`` or ``"ZLIB"``. ``num_parallel_reads``: files read at a time, interleaved; None reads one after another.
    ``buffer_size`` is accepted; headrace chooses its own. A damaged record is a ``DataLossError`` naming the file.
    """

    __slots__ = ()

    def __init__(self, filenames: Any, compression_type: str | None = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None, name: str | None = None) -> None:
        how = _compression(compression_type)
        super().__init__(filenames, lambda files: _core.tfrecord(files, how), num_parallel_reads)


class TextLineDataset(_FileDataset):
    """The lines of text files, as ``bytes`` without ``\\n`` or ``\\r\\n``. Arguments as of ``TFRecordDataset``."""

    __slots__ = ()

    def __init__(self, filenames: Any, compression_type: str | None = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None, name: str | None = None) -> None:
        how = _compression(compression_type)
        super().__init__(filenames, lambda files: _core.text_lines(files, how), num_parallel_reads)


class FixedLengthRecordDataset(_FileDataset):
    """Records of ``record_bytes`` bytes from binary files, as ``bytes``; other arguments as of ``TFRecordDataset``.

    ``header_bytes`` and ``footer_bytes`` at the ends of each file are left out. A file whose size does not fit is an
    error.
    """

    __slots__ = ()

    def __init__(self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None,
                 buffer_size: Any = None, compression_type: str | None = None, num_parallel_reads: Any = None,
                 name: str | None = None) -> None:
        how = _compression(compression_type)
        record = _int(record_bytes, "record_bytes")
        header = 0 if header_bytes is None else _int(header_bytes, "header_bytes")
        footer = 0 if footer_bytes is None else _int(footer_bytes, "footer_bytes")
        super().__init__(filenames, lambda files: _core.fixed_length(files, record, header, footer, how),
                         num_parallel_reads)


__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "FixedLengthRecordDataset",
           "OutOfRangeError", "TFRecordDataset", "TensorSpec", "TextLineDataset"]

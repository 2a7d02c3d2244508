"""Methods of ``Dataset`` under their earlier names, as transformations for ``Dataset.apply``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from .. import _core, dtypes
from .._dataset import AUTOTUNE, Dataset
from .._tensors.values import constant, integer
from .._tracing import assertions as _assertions, tracing as _tracing
from ..errors import UnimplementedError

Transformation = Callable[[Dataset], Dataset]


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """``shuffle``, then ``repeat``: each pass in another order.

    >>> sorted(Dataset.range(2).apply(shuffle_and_repeat(2, count=2, seed=1)))
    [np.int64(0), np.int64(0), np.int64(1), np.int64(1)]
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def unbatch() -> Transformation:
    """``Dataset.unbatch``.

    >>> list(Dataset.range(2).batch(2).apply(unbatch()))
    [np.int64(0), np.int64(1)]
    """
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """``Dataset.unique``.

    >>> list(Dataset.from_tensor_slices([1, 1, 2]).apply(unique()))
    [np.int32(1), np.int32(2)]
    """
    return lambda dataset: dataset.unique()


def take_while(predicate: Any) -> Transformation:
    """``Dataset.take_while``.

    >>> list(Dataset.range(9).apply(take_while(lambda x: x < 2)))
    [np.int64(0), np.int64(1)]
    """
    return lambda dataset: dataset.take_while(predicate)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """``Dataset.ignore_errors``.

    >>> list(Dataset.range(3).map(lambda x: 4 // x).apply(ignore_errors()))
    [np.int64(4), np.int64(2)]
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def enumerate_dataset(start: Any = 0) -> Transformation:
    """``Dataset.enumerate``.

    >>> list(Dataset.from_tensor_slices(["a"]).apply(enumerate_dataset(5)))
    [(np.int64(5), b'a')]
    """
    return lambda dataset: dataset.enumerate(start)


def scan(initial_state: Any, scan_func: Any) -> Transformation:
    """``Dataset.scan``.

    >>> list(Dataset.range(3).apply(scan(np.int64(0), lambda total, x: (total + x, total + x))))
    [np.int64(0), np.int64(1), np.int64(3)]
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Declares the number of elements, or ``INFINITE_CARDINALITY``. Another number raises ``FailedPreconditionError``:
    here if it is known, else when the dataset is read.

    >>> Dataset.range(9).filter(lambda x: x < 2).apply(assert_cardinality(2)).cardinality()
    2
    """
    count = integer(expected_cardinality, "expected_cardinality")
    return lambda dataset: dataset._with(_core.assert_cardinality(dataset._graph, count))


def cardinality(dataset: Dataset) -> int:
    """``Dataset.cardinality``.

    >>> cardinality(Dataset.range(3))
    3
    """
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """``Dataset.get_single_element``.

    >>> get_single_element(Dataset.from_tensors("one"))
    b'one'
    """
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """``element_spec`` of a dataset or of an iterator. Raises ``TypeError`` for anything else.

    >>> get_structure(Dataset.range(4))
    TensorSpec(shape=(), dtype=headrace.int64, name=None)
    """
    if not hasattr(dataset_or_iterator, "element_spec"):
        raise TypeError("get_structure: dataset_or_iterator must be a Dataset or an iterator of one, not "
                        f"{type(dataset_or_iterator).__name__}")
    return dataset_or_iterator.element_spec


def group_by_window(key_func: Any, reduce_func: Any, window_size: Any = None,
                    window_size_func: Any = None) -> Transformation:
    """``Dataset.group_by_window``.

    >>> list(Dataset.range(4).apply(group_by_window(lambda x: x % 2, lambda key, xs: xs.batch(2), 2)))
    [array([0, 2]), array([1, 3])]
    """
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def bucket_by_sequence_length(element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any,
                              padded_shapes: Any = None, padding_values: Any = None,
                              pad_to_bucket_boundary: bool = False, no_padding: bool = False,
                              drop_remainder: bool = False) -> Transformation:
    """``Dataset.bucket_by_sequence_length``.

    >>> ds = Dataset.range(1, 3).flat_map(lambda n: Dataset.range(n).batch(9))
    >>> [x.shape for x in ds.apply(bucket_by_sequence_length(hr.size, [9], [2, 2]))]
    [(2, 2)]
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder)


def rejection_resample(class_func: Any, target_dist: Any, initial_dist: Any = None,
                       seed: Any = None) -> Transformation:
    """``Dataset.rejection_resample``.

    >>> ds = Dataset.range(4).apply(rejection_resample(lambda x: x % 2, [1.0, 0.0], [0.5, 0.5]))
    >>> [int(x) for _, x in ds]
    [0, 2]
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False,
                          row_splits_dtype: Any = dtypes.int64) -> Transformation:
    """``Dataset.ragged_batch``.

    >>> ds = Dataset.range(2).flat_map(lambda n: Dataset.range(n + 1).batch(9))
    >>> list(ds.apply(dense_to_ragged_batch(2)))
    [RaggedTensor([[0], [0, 1]])]
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def map_and_batch(map_func: Any, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: bool = False,
                  num_parallel_calls: Any = None) -> Transformation:
    """``map``, then ``batch``. At most one of num_parallel_calls and num_parallel_batches may be given.

    >>> list(Dataset.range(2).apply(map_and_batch(lambda x: x + 1, 2)))
    [array([1, 2])]
    """
    if num_parallel_calls is not None and num_parallel_batches is not None:
        raise ValueError("map_and_batch: give num_parallel_calls or num_parallel_batches, not both")
    calls = num_parallel_calls
    if num_parallel_batches is not None:
        calls = AUTOTUNE if num_parallel_batches == AUTOTUNE else num_parallel_batches * batch_size
    return lambda dataset: dataset.map(map_func, calls).batch(batch_size, drop_remainder)


def parallel_interleave(map_func: Any, cycle_length: Any, block_length: Any = 1, sloppy: bool | None = False,
                        buffer_output_elements: Any = None, prefetch_input_elements: Any = None) -> Transformation:
    """``Dataset.interleave`` with parallel calls. ``buffer_output_elements`` and ``prefetch_input_elements`` are
    accepted without effect.

    >>> ds = Dataset.range(2).apply(parallel_interleave(lambda x: Dataset.range(2).map(lambda y: 10 * x + y), 2))
    >>> list(ds)
    [np.int64(0), np.int64(10), np.int64(1), np.int64(11)]
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, cycle_length,
                                              None if sloppy is None else not sloppy)


def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None,
                         stop_on_empty_dataset: bool = False) -> Dataset:
    """``Dataset.sample_from_datasets``.

    >>> sorted(sample_from_datasets([Dataset.range(2), Dataset.range(5, 6)], seed=1))
    [np.int64(0), np.int64(1), np.int64(5)]
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Dataset:
    """``Dataset.choose_from_datasets``.

    >>> list(choose_from_datasets([Dataset.range(2), Dataset.range(5, 7)], Dataset.range(2)))
    [np.int64(0), np.int64(5)]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """``Dataset.counter``.

    >>> list(Counter(5).take(2))
    [np.int64(5), np.int64(6)]
    """
    return Dataset.counter(start, step, dtype)


def RandomDataset(seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Dataset:
    """``Dataset.random``.

    >>> RandomDataset(seed=1).element_spec
    TensorSpec(shape=(), dtype=headrace.int64, name=None)
    """
    return Dataset.random(seed, rerandomize_each_iteration)


def parse_example_dataset(features: Any, num_parallel_calls: Any = 1, deterministic: bool | None = None) -> Transformation:
    """``headrace.io.parse_example`` of each element, a batch of serialised ``tf.train.Example``s.

    >>> features = {"n": hr.io.FixedLenFeature([], hr.int64, 7)}
    >>> list(Dataset.from_tensors([b"", b""]).apply(parse_example_dataset(features)))
    [{'n': array([7, 7])}]
    """
    from ..io import parse_example

    if features is None:
        raise ValueError("parse_example_dataset: features must be given")
    return lambda dataset: dataset.map(lambda records: parse_example(records, features), num_parallel_calls, deterministic)


def map_and_batch_with_legacy_function(map_func: Any, batch_size: Any, num_parallel_batches: Any = None,
                                       drop_remainder: bool = False, num_parallel_calls: Any = None) -> Transformation:
    """``map_and_batch``.

    >>> list(Dataset.range(2).apply(map_and_batch_with_legacy_function(lambda x: x + 1, 2)))
    [array([1, 2])]
    """
    return map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls)


def _check_device(name: Any, operator: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{operator}: a device must be a str, not {type(name).__name__}")
    if not re.search(r"(?:^|[/:])cpu(?::|$)", name, re.IGNORECASE):
        raise UnimplementedError(f"{operator}: elements are on the CPU, and not on {name!r}; headrace.torch and headrace.jax "
                                 "hand them on")


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """Does nothing, because elements are on the CPU already. Raises ``UnimplementedError`` for another device.

    >>> list(Dataset.range(2).apply(copy_to_device("/cpu:0")))
    [np.int64(0), np.int64(1)]
    """
    _check_device(target_device, "copy_to_device")
    _check_device(source_device, "copy_to_device")
    return lambda dataset: dataset


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """``Dataset.prefetch``, because elements are on the CPU. Raises ``UnimplementedError`` for another device.

    >>> list(Dataset.range(2).apply(prefetch_to_device("/cpu:0")))
    [np.int64(0), np.int64(1)]
    """
    _check_device(device, "prefetch_to_device")
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


class TFRecordWriter:
    """Writes a dataset of string scalars into one TFRecord file.

    In a function that is given to a dataset, the process that runs the function writes a file for each element (or
    group); ``filename`` may depend on the element (or the key of the group).

    >>> import os, tempfile
    >>> import headrace as hr
    >>> path = os.path.join(tempfile.mkdtemp(), "some.tfrecord")
    >>> TFRecordWriter(path).write(Dataset.from_tensor_slices(["a", "b"]))
    >>> list(hr.TFRecordDataset(path))
    [b'a', b'b']
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        from .. import io

        name = filename
        if not (isinstance(filename, _core.Tensor) and _tracing.is_tracing()):
            name = constant(os.fsencode(io._path_of(filename, "TFRecordWriter: filename")))
        self._filename: _core.Tensor = name
        self._compression = io.TFRecordOptions.get_compression_type_string(compression_type)

    def write(self, dataset: Dataset) -> None:
        """Writes all elements; an existing file is replaced when the new one is complete.

        In a function that is given to a dataset, the result of the function is given after the file was written.
        Raises ``TypeError`` for a dataset whose elements are not string scalars, and ``UnimplementedError`` in a
        branch or a loop over tensors.

        >>> def write(key, words):
        ...     name = hr.strings.join([folder, "/of-", hr.strings.as_string(key)])
        ...     TFRecordWriter(name).write(words)
        ...     return Dataset.from_tensors(name)
        >>> words = Dataset.from_tensor_slices(["a", "bc", "d"])
        >>> files = list(words.group_by_window(lambda w: hr.cast(hr.strings.length(w), hr.int64), write, 100))
        >>> [name[-4:] for name in files], list(hr.TFRecordDataset(files[0]))
        ([b'of-1', b'of-2'], [b'a', b'd'])
        """
        from .. import dtypes
        from .._specs import TensorSpec

        if not isinstance(dataset, Dataset):
            raise TypeError(f"TFRecordWriter: dataset must be a Dataset, not {type(dataset).__name__}")
        if dataset.element_spec != TensorSpec([], dtypes.string):
            raise TypeError(f"TFRecordWriter: dataset must give string scalars, not {dataset.element_spec}")
        written = _core.write_tfrecord(dataset._graph, self._filename, self._compression)
        if not _tracing.is_tracing():
            next(iter(dataset._with(written)))
            return
        if _assertions.is_conditional():
            raise UnimplementedError("TFRecordWriter.write runs for every element, and so cannot stand in a branch or a loop "
                                     "over tensors; filter the elements before")
        _tracing.element_of(written)

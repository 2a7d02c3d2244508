"""Tables of the elements of a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core, dtypes
from .._dataset import Dataset
from .._specs import TensorSpec
from .._tensors import values as _values
from .._tensors.values import integer
from ..errors import FailedPreconditionError, UnimplementedError
from ..lookup import KeyValueTensorInitializer, StaticHashTable


class DatasetInitializer(KeyValueTensorInitializer):
    """The keys and values of a table: the elements ``(key, value)`` of a dataset, which is read by the constructor.

    Raises ``ValueError`` for other elements, and ``FailedPreconditionError`` for a key that has two values.

    >>> pairs = Dataset.zip(Dataset.from_tensor_slices(["a", "b"]), Dataset.range(2))
    >>> table = hr.lookup.StaticHashTable(DatasetInitializer(pairs), -1)
    >>> Dataset.from_tensors(["b", "x"]).map(table.lookup).get_single_element()
    array([ 1, -1])
    """

    def __init__(self, dataset: Dataset) -> None:
        _check(dataset, "DatasetInitializer")
        of_key: dict[Any, Any] = {}
        for key, value in dataset:
            if of_key.setdefault(key, value) != value:
                raise FailedPreconditionError(f"DatasetInitializer: the key {key!r} has the values {of_key[key]!r} and "
                                              f"{value!r}")
        key_spec, value_spec = dataset.element_spec
        super().__init__(*(_array(x, spec) for x, spec in ((of_key, key_spec), (of_key.values(), value_spec))))


def _array(values: Any, spec: TensorSpec) -> Any:
    if spec.dtype == dtypes.string:
        return np.array([*values, None], np.object_)[:-1]
    return np.array(list(values), spec.dtype.as_numpy_dtype)


def _check(dataset: Any, what: str) -> None:
    if not isinstance(dataset, Dataset):
        raise TypeError(f"{what}: dataset must be a Dataset, not {type(dataset).__name__}")
    spec = dataset.element_spec
    if not isinstance(spec, tuple) or len(spec) != 2 or any(
            not isinstance(part, TensorSpec) or part.shape.rank != 0 for part in spec):
        raise ValueError(f"{what}: the elements must be (key, value), two scalars, and are {spec}")


class _TableWithBuckets:
    """A table. A key that it does not contain is mapped, by the key's fingerprint, to one of ``buckets`` numbers, which
    begin with the table's size.
    """

    def __init__(self, initializer: DatasetInitializer, buckets: int) -> None:
        numbers = np.arange(len(initializer.keys), dtype=np.int64)
        self._place = StaticHashTable(KeyValueTensorInitializer(initializer.keys, numbers), np.int64(-1))
        # One value is appended, so that there is one even in an empty table: for a key that is not in the table,
        # `lookup` also gathers a value, the first one, and then does not use it.
        self._values = _core.constant(np.append(initializer.values.astype(np.int64), 0))
        self._buckets, self._is_text = buckets, initializer.keys.dtype == np.object_

    def lookup(self, keys: Any, name: str | None = None) -> _core.Tensor:
        """The number of each key, as int64, in the shape of the keys."""
        given = _values.constant(keys)
        place = self._place.lookup(given)
        text = given if self._is_text else _core.as_string(given)
        bucket = _core.to_hash_bucket_fast(text, self._buckets) + self._place.size()
        zero = _core.constant(np.array(0, np.int64))
        return _core.where(place >= 0, _core.gather(self._values, _core.maximum(place, zero), 0, 0), bucket)

    __getitem__ = lookup

    def size(self, name: str | None = None) -> np.int64:
        """The number of entries and buckets together."""
        return np.int64(self._place.size() + self._buckets)


def table_from_dataset(dataset: Dataset | None = None, num_oov_buckets: Any = 0, vocab_size: Any = None,
                       default_value: Any = None, hasher_spec: Any = None, key_dtype: Any = dtypes.string,
                       name: str | None = None) -> Any:
    """A table of the elements ``(key, value)`` of a dataset, which is read at once.

    num_oov_buckets: the number of buckets for keys that are not in the table: such a key gets a bucket by its
    fingerprint, and the buckets are the numbers from the table's size on. 0: such a key gets ``default_value`` (None:
    -1). vocab_size: the number of elements that are read; the dataset must have as many. hasher_spec: must be None,
    TensorFlow's default. key_dtype: string or an integer dtype; it has no other effect, because the keys have a
    dtype.

    Raises ``ValueError`` and ``TypeError`` naming the argument that is wrong, and ``FailedPreconditionError`` for a key
    that has two values, and for fewer elements than ``vocab_size``.

    >>> pairs = Dataset.zip(Dataset.from_tensor_slices(["a", "b"]), Dataset.range(5, 7))
    >>> table = table_from_dataset(pairs)
    >>> Dataset.from_tensors(["b", "x"]).map(table.lookup).get_single_element()
    array([ 6, -1])
    """
    _check(dataset, "table_from_dataset")
    assert dataset is not None
    value_type = dataset.element_spec[1].dtype
    buckets = integer(num_oov_buckets, "num_oov_buckets")
    if default_value is None:
        if not (value_type.is_integer or value_type.is_floating):
            raise ValueError(f"table_from_dataset: default_value must be given for values that are {value_type.name}")
        default_value = -1
    if buckets < 0:
        raise ValueError(f"table_from_dataset: num_oov_buckets must be 0 or more, not {buckets}")
    kind = dtypes.as_dtype(key_dtype)
    if not kind.is_integer and kind != dtypes.string:
        raise TypeError(f"table_from_dataset: key_dtype must be an integer or string, not {kind.name}")
    if hasher_spec is not None:
        raise UnimplementedError("table_from_dataset: this release has no hasher_spec: leave it out for TensorFlow's default")
    if buckets and value_type != dtypes.int64:
        raise TypeError(f"table_from_dataset: with num_oov_buckets, values must be int64, not {value_type.name}")
    if vocab_size is not None:
        count = integer(vocab_size, "vocab_size")
        if count < 1:
            raise ValueError(f"table_from_dataset: vocab_size must be 1 or more, not {count}")
        dataset = dataset.take(count)
    read = DatasetInitializer(dataset)
    if vocab_size is not None and len(read.keys) < count:
        raise FailedPreconditionError(f"table_from_dataset: vocab_size is {count}; the dataset has {len(read.keys)} keys")
    return _TableWithBuckets(read, buckets) if buckets else StaticHashTable(read, default_value)


def index_table_from_dataset(dataset: Dataset | None = None, num_oov_buckets: Any = 0, vocab_size: Any = None,
                             default_value: Any = -1, hasher_spec: Any = None, key_dtype: Any = dtypes.string,
                             name: str | None = None) -> Any:
    """A table whose keys are the elements of a dataset, numbered from 0 on. The arguments are those of
    ``table_from_dataset``.

    >>> table = index_table_from_dataset(Dataset.from_tensor_slices(["a", "b"]), num_oov_buckets=1)
    >>> Dataset.from_tensors(["b", "x"]).map(table.lookup).get_single_element()
    array([1, 2])
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"index_table_from_dataset: dataset must be a Dataset, not {type(dataset).__name__}")
    numbers = Dataset.counter()
    return table_from_dataset(Dataset.zip(dataset, numbers), num_oov_buckets, vocab_size, default_value, hasher_spec,
                              key_dtype, name)

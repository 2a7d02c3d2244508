"""Tables that travel with the graph, for traced functions. Named as in ``tf.lookup``."""

from __future__ import annotations

from typing import Any

from . import _core, dtypes
from ._refusals import refuse
from ._values import as_array, constant, holds_tensors, integer

Tensor = _core.Tensor


def _known(value: Any, dtype: Any, argument: str) -> Any:
    """As an array; also what was made a tensor outside of functions."""
    if holds_tensors(value):
        graph = _core.from_tensors(constant(value, dtype))
        if graph.is_inside_function():
            refuse(f"{argument} of a table must not depend on an element", "Use values that are known")
        value, dtype = next(graph.read()), None
    return as_array(value, dtype)


class KeyValueTensorInitializer:
    """Keys and values of a table: vectors, equally long; keys are strings or integers without repetition.

    Raises ``ValueError`` for other shapes.

    >>> hr.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]).values
    array([1, 2], dtype=int32)
    """

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
                 name: str | None = None) -> None:
        self.keys = _known(keys, key_dtype, "keys")
        self.values = _known(values, value_dtype, "values")
        if self.keys.ndim != 1 or self.keys.shape != self.values.shape:
            raise ValueError(f"keys and values must be vectors of one length, not {self.keys.shape} and "
                             f"{self.values.shape}")


class StaticHashTable:
    """A table from keys to values; ``default_value`` for other keys.

    >>> import headrace as hr
    >>> table = hr.lookup.StaticHashTable(hr.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    >>> list(hr.Dataset.from_tensor_slices(["b", "x"]).map(table.lookup))
    [np.int32(2), np.int32(-1)]
    """

    def __init__(self, initializer: KeyValueTensorInitializer, default_value: Any, name: str | None = None) -> None:
        if not isinstance(initializer, KeyValueTensorInitializer):
            raise TypeError(f"initializer must be a KeyValueTensorInitializer, not {type(initializer).__name__}")
        kind = dtypes.as_dtype(initializer.values.dtype)
        self._table = _core.table(_core.constant(initializer.keys), _core.constant(initializer.values),
                                  constant(default_value, kind))

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The value of each key.

        In the shape of the keys.

        >>> table = hr.lookup.StaticHashTable(hr.lookup.KeyValueTensorInitializer([3, 4], ["c", "d"]), "")
        >>> Dataset.from_tensors([4, 5]).map(table.lookup).get_single_element()
        array([b'd', b''], dtype=object)
        """
        return self._table.lookup(constant(keys))

    __getitem__ = lookup

    def size(self) -> int:
        """How many entries there are.

        >>> hr.lookup.StaticHashTable(hr.lookup.KeyValueTensorInitializer(["a"], [1]), -1).size()
        1
        """
        return self._table.size()


class StaticVocabularyTable:
    """A number for each word: its own for those of ``initializer`` (whose values are 0, 1, ...), and one of
    ``num_oov_buckets`` that follow for others, by their fingerprint.

    >>> table = hr.lookup.StaticVocabularyTable(hr.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1]), 1)
    >>> list(Dataset.from_tensor_slices(["b", "x"]).map(table.lookup))
    [np.int64(1), np.int64(2)]
    """

    def __init__(self, initializer: KeyValueTensorInitializer, num_oov_buckets: int,
                 lookup_key_dtype: Any = None, name: str | None = None) -> None:
        if not isinstance(initializer, KeyValueTensorInitializer):
            raise TypeError(f"initializer must be a KeyValueTensorInitializer, not {type(initializer).__name__}")
        if sorted(initializer.values.tolist()) != list(range(len(initializer.values))):
            raise ValueError("the values of a vocabulary must be 0, 1, ... in any order")
        buckets = integer(num_oov_buckets, "num_oov_buckets")
        if buckets < 1:
            raise ValueError(f"num_oov_buckets must be 1 or more, not {buckets}")
        words = [word for _, word in sorted(zip(initializer.values.tolist(), initializer.keys.tolist()))]
        self._table = _core.vocabulary_table([w.encode() if isinstance(w, str) else w for w in words], buckets)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The number of each word, as int64.

        In the shape of the words.

        >>> table = hr.lookup.StaticVocabularyTable(hr.lookup.KeyValueTensorInitializer(["a"], [0]), 1)
        >>> Dataset.from_tensors(["x", "a"]).map(table.lookup).get_single_element()
        array([1, 0])
        """
        return self._table.lookup(constant(keys))

    __getitem__ = lookup

    def size(self) -> int:
        """How many numbers there are, with the buckets.

        >>> hr.lookup.StaticVocabularyTable(hr.lookup.KeyValueTensorInitializer(["a"], [0]), 4).size()
        5
        """
        return self._table.size()

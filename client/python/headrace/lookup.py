"""Tables that are part of the graph, for traced functions. Named as in ``tf.lookup``."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, dtypes
from ._missing import names_of as _names_of
from ._refusals import refuse
from ._tensors.values import as_array, constant, holds_tensors, integer
from .errors import FailedPreconditionError, InvalidArgumentError, NotFoundError

if not TYPE_CHECKING:
    __getattr__ = _names_of("lookup")

Tensor = _core.Tensor


def _known(value: Any, dtype: Any, argument: str) -> Any:
    """``value`` as an array. A tensor is accepted if it depends on no element."""
    if holds_tensors(value):
        graph = _core.from_tensors(constant(value, dtype))
        if graph.is_inside_function():
            refuse(f"{argument} of a table must not depend on an element", "Use values that are known")
        value, dtype = next(graph.read()), None
    return as_array(value, dtype)


class _Initializer:
    """The keys and values of a table: vectors of equal length."""

    keys: Any
    values: Any


class KeyValueTensorInitializer(_Initializer):
    """The keys and values of a table: vectors of equal length; keys are strings or integers without repetition.

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


class TextFileIndex:
    """Values of ``key_index`` and ``value_index`` of ``TextFileInitializer`` that stand for no column.

    >>> hr.lookup.TextFileIndex.WHOLE_LINE, hr.lookup.TextFileIndex.LINE_NUMBER
    (-2, -1)
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(_Initializer):
    """The keys and values of a table, from the lines of a text file. The file is read at once; workers do not need it.

    key_index, value_index: ``TextFileIndex.WHOLE_LINE`` (a string or an integer), ``TextFileIndex.LINE_NUMBER`` (int64,
    from 0 on), or the number of a column between ``delimiter``s. key_dtype, value_dtype: the dtypes of keys and values.
    vocab_size: the number of lines that are read; the file must have as many. value_index_offset: a number that is
    added to values that are line numbers.

    Raises ``ValueError`` naming the argument that is wrong, ``NotFoundError`` if there is no such file, and
    ``InvalidArgumentError``, with the number of the line, for a line that does not fit.

    >>> with open(f"{folder}/words.txt", "w") as to:
    ...     _ = to.write("the\\nof\\n")
    >>> words = TextFileInitializer(f"{folder}/words.txt", hr.string, TextFileIndex.WHOLE_LINE, hr.int64,
    ...                             TextFileIndex.LINE_NUMBER)
    >>> table = StaticVocabularyTable(words, num_oov_buckets=1)
    >>> Dataset.from_tensors(["of", "cabbages"]).map(table.lookup).get_single_element()
    array([1, 2])
    """

    def __init__(self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
                 vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None,
                 value_index_offset: int = 0) -> None:
        if not isinstance(filename, (str, bytes, os.PathLike)):
            raise TypeError(f"filename must be a path, not {type(filename).__name__}")
        path = os.fsdecode(filename)
        wanted = None if vocab_size is None else integer(vocab_size, "vocab_size")
        if wanted is not None and wanted < 1:
            raise ValueError(f"vocab_size must be 1 or more, not {wanted}")
        parts = [_Part("key", key_dtype, key_index, delimiter), _Part("value", value_dtype, value_index, delimiter)]
        if parts[0].index == parts[1].index:
            raise ValueError(f"key_index and value_index must differ; both are {key_index}")
        offset = integer(value_index_offset, "value_index_offset")
        if offset and parts[1].index != TextFileIndex.LINE_NUMBER:
            raise ValueError("value_index_offset goes with value_index=TextFileIndex.LINE_NUMBER")
        lines = _lines(path, wanted)
        self.keys, self.values = (
            np.array([part.of(line, i, path) for i, line in enumerate(lines)], part.dtype.as_numpy_dtype)
            for part in parts)
        if offset:
            self.values += offset


class _Part:
    """The key or the value of each line."""

    def __init__(self, what: str, dtype: Any, index: Any, delimiter: Any) -> None:
        self.dtype, self.index, self.delimiter = dtypes.as_dtype(dtype), integer(index, f"{what}_index"), delimiter
        if self.index < TextFileIndex.WHOLE_LINE:
            raise ValueError(f"{what}_index must be the number of a column, or one of TextFileIndex, not {index}")
        if not isinstance(delimiter, str) or len(delimiter) != 1:
            raise ValueError(f"delimiter must be one character, not {delimiter!r}")
        if self.index == TextFileIndex.LINE_NUMBER and self.dtype != dtypes.int64:
            raise ValueError(f"{what}_dtype must be int64 with {what}_index=TextFileIndex.LINE_NUMBER, not "
                             f"{self.dtype.name}")
        fits = self.dtype == dtypes.string or self.dtype.is_integer or self.dtype.is_floating and self.index >= 0
        if not fits:
            raise ValueError(f"{what}_dtype {self.dtype.name} cannot be read from a file with this {what}_index")

    def of(self, line: bytes, number: int, path: str) -> Any:
        """The key or value in a line. Raises ``InvalidArgumentError`` with the number of the line if it does not fit.
        """
        if self.index == TextFileIndex.LINE_NUMBER:
            return number
        if self.index == TextFileIndex.WHOLE_LINE:
            text = line
        else:
            columns = line.split(self.delimiter.encode())
            if self.index >= len(columns):
                raise InvalidArgumentError(f"lookup: '{path}', line {number + 1}: there is no column {self.index} among "
                                           f"{len(columns)}")
            text = columns[self.index]
        if self.dtype == dtypes.string:
            return text
        try:
            return int(text) if self.dtype.is_integer else float(text)
        except ValueError:
            raise InvalidArgumentError(f"lookup: '{path}', line {number + 1}: {text.decode(errors='replace')!r} is no "
                                       f"{self.dtype.name}") from None


def _lines(path: str, wanted: int | None) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            lines = [line.rstrip(b"\n").removesuffix(b"\r") for line in itertools.islice(file, wanted)]
    except FileNotFoundError:
        raise NotFoundError(f"lookup: there is no file '{path}'") from None
    except OSError as e:
        raise FailedPreconditionError(f"lookup: '{path}' cannot be read: {e.strerror}") from None
    if wanted is not None and len(lines) < wanted:
        raise InvalidArgumentError(f"lookup: '{path}' has {len(lines)} lines; vocab_size is {wanted}")
    return lines


def _check(initializer: Any) -> None:
    if not isinstance(initializer, _Initializer):
        raise TypeError("initializer must be a KeyValueTensorInitializer or a TextFileInitializer, not "
                        f"{type(initializer).__name__}")


class StaticHashTable:
    """A table from keys to values; other keys get ``default_value``.

    >>> import headrace as hr
    >>> table = hr.lookup.StaticHashTable(hr.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    >>> list(hr.Dataset.from_tensor_slices(["b", "x"]).map(table.lookup))
    [np.int32(2), np.int32(-1)]
    """

    def __init__(self, initializer: _Initializer, default_value: Any, name: str | None = None) -> None:
        _check(initializer)
        kind = dtypes.as_dtype(initializer.values.dtype)
        self._table = _core.table(_core.constant(initializer.keys), _core.constant(initializer.values),
                                  constant(default_value, kind))

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The value of each key, in the shape of ``keys``.

        >>> table = hr.lookup.StaticHashTable(hr.lookup.KeyValueTensorInitializer([3, 4], ["c", "d"]), "")
        >>> Dataset.from_tensors([4, 5]).map(table.lookup).get_single_element()
        array([b'd', b''], dtype=object)
        """
        return self._table.lookup(constant(keys))

    __getitem__ = lookup

    def size(self, name: str | None = None) -> np.int64:
        """The number of entries, as int64.

        >>> hr.lookup.StaticHashTable(hr.lookup.KeyValueTensorInitializer(["a"], [1]), -1).size()
        np.int64(1)
        """
        return np.int64(self._table.size())


class StaticVocabularyTable:
    """A table that has a number for each word. A word of ``initializer`` has the number that it has there. Any other
    word has, by its fingerprint, one of ``num_oov_buckets`` numbers, which begin with the number of words in
    ``initializer``.

    The numbers in ``initializer`` may be any integers. The numbers of other words do not depend on them: if the words
    are numbered from 1 on (with 0 for padding), the last word has the same number as the first bucket.

    >>> table = hr.lookup.StaticVocabularyTable(hr.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1]), 1)
    >>> list(Dataset.from_tensor_slices(["b", "x"]).map(table.lookup))
    [np.int64(1), np.int64(2)]
    """

    def __init__(self, initializer: _Initializer, num_oov_buckets: int,
                 lookup_key_dtype: Any = None, name: str | None = None) -> None:
        _check(initializer)
        if initializer.values.dtype.kind not in "iu":
            raise ValueError(f"the values of a vocabulary must be integers, not {initializer.values.dtype.name}")
        buckets = integer(num_oov_buckets, "num_oov_buckets")
        if buckets < 1:
            raise ValueError(f"num_oov_buckets must be 1 or more, not {buckets}")
        words = [word for _, word in sorted(zip(initializer.values.tolist(), initializer.keys.tolist()))]
        self._table = _core.vocabulary_table([w.encode() if isinstance(w, str) else w for w in words], buckets)
        numbers = np.sort(initializer.values).astype(np.int64)
        #: The numbers of the words, sorted; None if they are 0, 1, ...
        self._numbers = None if np.array_equal(numbers, np.arange(len(numbers))) else numbers

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The number of each word, as int64, in the shape of ``keys``.

        >>> table = hr.lookup.StaticVocabularyTable(hr.lookup.KeyValueTensorInitializer(["a"], [0]), 1)
        >>> Dataset.from_tensors(["x", "a"]).map(table.lookup).get_single_element()
        array([1, 0])
        """
        found = self._table.lookup(constant(keys))
        if self._numbers is None:
            return found
        count = len(self._numbers)
        own = _core.gather(_core.constant(self._numbers), _core.minimum(found, constant(np.int64(count - 1))), 0, 0)
        return _core.where(found < count, own, found)

    __getitem__ = lookup

    def size(self, name: str | None = None) -> np.int64:
        """The number of words and buckets together, as int64.

        >>> hr.lookup.StaticVocabularyTable(hr.lookup.KeyValueTensorInitializer(["a"], [0]), 4).size()
        np.int64(5)
        """
        return np.int64(self._table.size())

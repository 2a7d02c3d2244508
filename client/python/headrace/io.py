"""Functions that read serialised data, for traced functions. Named as in ``tf.io``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core, dtypes
from ._missing import names_of as _names_of
from ._tensor_shape import TensorShape
from ._tensors.values import constant, integer, integers, known, tensor
from ._tensors.values import tensor as _tensor
from .errors import ArgumentError, InvalidArgumentError, NotFoundError, UnimplementedError
from .image import (  # noqa: F401  (tf.io has them, too)
    decode_and_crop_jpeg, decode_image, decode_jpeg, decode_png, encode_jpeg, encode_png, extract_jpeg_shape, is_jpeg,
)

if not TYPE_CHECKING:
    __getattr__ = _names_of("io")

Tensor = _core.Tensor


class FixedLenFeature(NamedTuple):
    """A feature with a tensor of a given shape in each example; ``default_value`` replaces a missing one.

    >>> hr.io.FixedLenFeature([28, 28], hr.float32).shape
    [28, 28]
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values: a vector, where TensorFlow gives a sparse tensor.

    >>> features = {"words": hr.io.VarLenFeature(hr.string)}
    >>> list(Dataset.from_tensors(b"").map(lambda s: hr.io.parse_single_example(s, features)))
    [{'words': array([], dtype=object)}]
    """

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """Any number of steps of tensors with one shape: [steps, ...]. Without the feature an example has 0 steps, whatever
    ``allow_missing`` is.

    ``default_value``: a scalar with which ``parse_example`` fills an example that has fewer steps than others.

    >>> features = {"rows": hr.io.FixedLenSequenceFeature([2], hr.int64, allow_missing=True)}
    >>> list(Dataset.from_tensors(b"").map(lambda s: hr.io.parse_single_example(s, features)))
    [{'rows': array([], shape=(0, 2), dtype=int64)}]
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """Values with indices: feature ``value_key`` has the values, and ``index_key`` (int64) their indices, each at most
    once.

    The result is a vector of ``size`` values, which are zeros or empty strings at all other indices; TensorFlow gives
    a sparse tensor.

    >>> features = {"bag": hr.io.SparseFeature("places", "counts", hr.int64, 3)}
    >>> list(Dataset.from_tensors(b"").map(lambda s: hr.io.parse_single_example(s, features)))
    [{'bag': array([0, 0, 0])}]
    """

    index_key: str
    value_key: str
    dtype: Any
    size: int
    already_sorted: bool = False


class RaggedFeature(NamedTuple):
    """Rows of different lengths: feature ``value_key`` has the values, and ``row_lengths_key`` (int64) the lengths.

    The result is a matrix; each row is filled with zeros or empty strings to the length of the longest row.

    >>> features = {"rows": hr.io.RaggedFeature(hr.int64, "values", "lengths")}
    >>> list(Dataset.from_tensors(b"").map(lambda s: hr.io.parse_single_example(s, features)))
    [{'rows': array([], shape=(0, 0), dtype=int64)}]
    """

    dtype: Any
    value_key: str | None = None
    row_lengths_key: str | None = None


def _feature(name: str, how: Any) -> _core.FeatureSpec:
    if isinstance(how, SparseFeature):
        return _core.sparse_feature(how.value_key, how.index_key, dtypes.as_dtype(how.dtype).name,
                                    integer(how.size, f"features['{name}']: size"))
    if isinstance(how, RaggedFeature):
        if how.value_key is None or how.row_lengths_key is None:
            raise UnimplementedError(f"features['{name}']: this release has no RaggedFeature without value_key and "
                                     "row_lengths_key: VarLenFeature reads as many values as there are")
        return _core.ragged_feature(how.value_key, how.row_lengths_key, dtypes.as_dtype(how.dtype).name)
    if isinstance(how, FixedLenFeature):
        dims = TensorShape(how.shape).as_list()
        kind = dtypes.as_dtype(how.dtype).name
        if how.default_value is None:
            return _core.fixed_len_feature(name, dims, kind)
        return _core.fixed_len_feature_with_default(name, dims, kind, constant(how.default_value, how.dtype))
    if isinstance(how, VarLenFeature):
        return _core.var_len_feature(name, dtypes.as_dtype(how.dtype).name)
    if isinstance(how, FixedLenSequenceFeature):
        dims, kind = TensorShape(how.shape).as_list(), dtypes.as_dtype(how.dtype).name
        if how.default_value is None:
            return _core.fixed_len_sequence_feature(name, dims, kind)
        return _core.fixed_len_sequence_feature_with_filler(name, dims, kind, constant(how.default_value, how.dtype))
    raise TypeError(f"features['{name}'] must be FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, "
                    f"SparseFeature or RaggedFeature, not {type(how).__name__}")


def _rank(key: str, how: Any) -> tuple[int, str]:
    """The sort key of a feature in TensorFlow's order: first sparse features, then dense, then ragged ones, and at
    the end sparse and ragged features whose name in examples differs from ``key``; in each group by ``key``.
    """
    if isinstance(how, (SparseFeature, RaggedFeature)) and how.value_key != key:
        return 3, key
    return 0 if isinstance(how, (VarLenFeature, SparseFeature)) else 2 if isinstance(how, RaggedFeature) else 1, key


def _by_key(features: Mapping[str, Any], out: Any) -> dict[str, Tensor]:
    """The tensors of ``out`` by the keys of ``features``, which may differ from the features' names in examples."""
    found = dict(out)
    return {key: found[getattr(features[key], "value_key", key)]
            for key in sorted(features, key=lambda key: _rank(key, features[key]))}


def parse_single_example(serialized: Any, features: Mapping[str, Any], example_names: Any = None,
                         name: str | None = None) -> dict[str, Tensor]:
    """One serialised ``tf.train.Example`` as a dict of tensors.

    The keys are in TensorFlow's order: those of ``VarLenFeature``s first, then those of features of known shapes, both
    sorted. A feature that is missing without a default, or has another number of values, is an error of the element.

    >>> import headrace as hr
    >>> features = {"label": hr.io.FixedLenFeature([], hr.int64, -1)}
    >>> ds = hr.Dataset.from_tensors(b"").map(lambda s: hr.io.parse_single_example(s, features))
    >>> next(iter(ds))
    {'label': np.int64(-1)}
    """
    given = tensor(serialized, "serialized")
    if given.ndim not in (0, None):
        raise ValueError(f"serialized must be a scalar, not of shape {given.shape}: parse_example takes several")
    return parse_example(given, features)


def parse_example(serialized: Any, features: Mapping[str, Any], example_names: Any = None,
                  name: str | None = None) -> dict[str, Tensor]:
    """A vector of serialised ``tf.train.Example``s (as ``batch`` makes it) as a dict of tensors with a new first axis.

    ``VarLenFeature`` and ``FixedLenSequenceFeature`` are filled to the length of the longest example, with zeros,
    empty strings, or the ``default_value``. ``SparseFeature`` is read as in ``parse_single_example``. An example that
    does not fit is an error of the element, which has the example's index in the vector. Raises
    ``InvalidArgumentError`` for ``RaggedFeature``.

    >>> features = {"n": hr.io.FixedLenFeature([], hr.int64, -1), "words": hr.io.VarLenFeature(hr.string)}
    >>> list(Dataset.from_tensors([b"", b""]).map(lambda s: hr.io.parse_example(s, features)))
    [{'words': array([], shape=(2, 0), dtype=object), 'n': array([-1, -1])}]
    """
    if not isinstance(features, Mapping) or not features:
        raise ValueError("features must be a dict with one FixedLenFeature or VarLenFeature at least")
    parts = [_feature(key, how) for key, how in features.items()]
    out: Any = _core.parse_example(tensor(serialized, "serialized"), parts)
    return _by_key(features, out)


def parse_single_sequence_example(serialized: Any, context_features: Mapping[str, Any] | None = None,
                                  sequence_features: Mapping[str, Any] | None = None, example_name: Any = None,
                                  name: str | None = None) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """One serialised ``tf.train.SequenceExample`` as two dicts of tensors: its context, and its feature lists.

    Features of lists are ``FixedLenSequenceFeature`` ([steps, ...]) or ``VarLenFeature`` ([steps, longest], filled with
    zeros or empty strings). An example that does not fit is an error of the element.

    >>> lists = {"words": hr.io.FixedLenSequenceFeature([], hr.string)}
    >>> ds = Dataset.from_tensors(b"").map(lambda s: hr.io.parse_single_sequence_example(s, None, lists)[1])
    >>> list(ds)
    [{'words': array([], dtype=object)}]
    """
    parts = [[_feature(key, how) for key, how in (given or {}).items()]
             for given in (context_features, sequence_features)]
    context, lists = _core.parse_sequence_example(tensor(serialized, "serialized"), *parts)
    return _by_key(context_features or {}, context), _by_key(sequence_features or {}, lists)


class TFRecordCompressionType:
    """Numbers for the compression of a TFRecord file, for ``TFRecordOptions``.

    >>> hr.io.TFRecordCompressionType.GZIP
    2
    """

    NONE, ZLIB, GZIP = 0, 1, 2


class TFRecordOptions:
    """The compression of a file by ``TFRecordWriter``.

    compression_type: ``""``, ``"ZLIB"``, ``"GZIP"``, a ``TFRecordCompressionType``, other ``TFRecordOptions``, or
    None.
    compression_level: from 0, which is fast, to 9, which makes the smallest file; None or -1: the default of zlib.
    input_buffer_size, output_buffer_size, flush_mode, mem_level, compression_strategy: accepted without effect.
    Raises ``UnimplementedError`` for window_bits and compression_method, which would change the format.

    >>> hr.io.TFRecordOptions("GZIP", compression_level=9)
    TFRecordOptions(compression_type='GZIP', compression_level=9)
    """

    __slots__ = ("_compression_type", "_level")

    def __init__(self, compression_type: Any = None, flush_mode: Any = None, input_buffer_size: Any = None,
                 output_buffer_size: Any = None, window_bits: Any = None, compression_level: Any = None,
                 compression_method: Any = None, mem_level: Any = None, compression_strategy: Any = None) -> None:
        for name, value in (("window_bits", window_bits), ("compression_method", compression_method)):
            if value is not None:
                raise UnimplementedError(f"TFRecordOptions: this release has no {name}: compression_type says the format")
        self._compression_type = self.get_compression_type_string(compression_type)
        self._level = -1 if compression_level is None else integer(compression_level, "compression_level")
        if not -1 <= self._level <= 9:
            raise ValueError(f"TFRecordOptions: compression_level must be between 0 and 9, or -1, not {self._level}")

    @property
    def compression_type(self) -> str:
        """``""``, ``"ZLIB"`` or ``"GZIP"``.

        >>> hr.io.TFRecordOptions(hr.io.TFRecordCompressionType.ZLIB).compression_type
        'ZLIB'
        """
        return self._compression_type

    @property
    def compression_level(self) -> int | None:
        """The level from 0 to 9, or None if none was chosen.

        >>> hr.io.TFRecordOptions("GZIP").compression_level
        """
        return None if self._level == -1 else self._level

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The compression as ``""``, ``"ZLIB"`` or ``"GZIP"``. ``options``: a ``TFRecordOptions``, a
        ``TFRecordCompressionType``, one of these strings, or None for no compression.

        Raises ``ValueError`` for any other value.

        >>> hr.io.TFRecordOptions.get_compression_type_string(hr.io.TFRecordCompressionType.GZIP)
        'GZIP'
        """
        if isinstance(options, TFRecordOptions):
            return options.compression_type
        types = {None: "", 0: "", 1: "ZLIB", 2: "GZIP", "": "", "ZLIB": "ZLIB", "GZIP": "GZIP"}
        if not isinstance(options, (str, int, type(None))) or options not in types:
            raise ValueError(f"TFRecordOptions: the compression must be '', 'ZLIB' or 'GZIP', not {options!r}")
        return types[options]

    def __repr__(self) -> str:
        return f"TFRecordOptions(compression_type={self._compression_type!r}, compression_level={self.compression_level})"


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The names of the files that match a glob, or any of several globs, in order. The files are listed at once.

    The result is a vector of strings, which is empty if no file matches. Raises ``TypeError`` in a function that is
    given to a dataset, where the files would have to be listed for each element.

    >>> with open(f"{folder}/some.txt", "w") as to:
    ...     _ = to.write("text")
    >>> len(list(Dataset.from_tensor_slices(matching_files(f"{folder}/*.txt"))))
    1
    """
    from ._dataset import Dataset
    from ._tracing.tracing import is_tracing

    if is_tracing():
        raise TypeError("io.matching_files lists files where it is called, and a function of a dataset is called once for all "
                        "elements: call it outside, or use flat_map with Dataset.list_files")
    patterns = known(pattern, "pattern", "strings")
    if isinstance(patterns, (str, bytes, os.PathLike)):
        patterns = [patterns]
    found: list[bytes] = []
    for one in patterns:
        try:
            found += Dataset.list_files(one, shuffle=False)
        except (NotFoundError, InvalidArgumentError):
            pass  # list_files raises an error if no file matches
    return _core.constant(np.array([*sorted(found), None], np.object_)[:-1])


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor of any dtype and shape as the bytes of a ``TensorProto``, which ``parse_tensor`` and TensorFlow read.

    The result is a scalar string.

    >>> list(Dataset.from_tensors([[1, 2]]).map(hr.io.serialize_tensor).map(lambda s: hr.io.parse_tensor(s, hr.int32)))
    [array([[1, 2]], dtype=int32)]
    """
    return _core.serialize_tensor(_tensor(tensor, "tensor"))


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor in the bytes of a ``TensorProto`` (a scalar string). Its shape is unknown while the function is
    traced.

    A tensor of another dtype, damaged bytes, and a tensor whose number of axes differs from that of the others in its
    block are errors of the element. If the shape is known, give it with ``ensure_shape``.

    >>> three = Dataset.from_tensors(3).map(hr.io.serialize_tensor)
    >>> list(three.map(lambda s: hr.io.parse_tensor(s, hr.int32)))
    [np.int32(3)]
    """
    return _core.parse_tensor(_tensor(serialized, "serialized"), dtypes.as_dtype(out_type).name)


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The bytes of the files with these names, in the shape of ``filename``. Files are read on the host that runs the
    function.

    A file that cannot be read is an error of the element, which names the file.

    >>> with open(f"{folder}/some.txt", "w") as to:
    ...     _ = to.write("some text")
    >>> list(Dataset.list_files(f"{folder}/*.txt").map(hr.io.read_file))
    [b'some text']
    """
    return _core.read_file(tensor(filename, "filename"))


def decode_csv(records: Any, record_defaults: Any, field_delim: str = ",", use_quote_delim: bool = True,
               na_value: str = "", select_cols: Any = None, name: str | None = None) -> list[Tensor]:
    """The fields of lines of a table: a list of tensors in the shape of ``records``.

    record_defaults: for each field that is read, a dtype (the value is required) or the value that stands for a missing
    one. select_cols: numbers of the fields to read, ascending. A line that does not fit is an error of the element, which
    names the field.

    >>> ds = Dataset.from_tensor_slices(["1,a", "2,"])
    >>> list(ds.map(lambda line: tuple(hr.io.decode_csv(line, [hr.int64, "none"]))))
    [(np.int64(1), b'a'), (np.int64(2), b'none')]
    """
    from .experimental._sources import _field

    if not isinstance(field_delim, str) or len(field_delim.encode()) != 1:
        raise ArgumentError(f"field_delim must be one character, not {field_delim!r}")
    fields = [_field(x)[1:] for x in record_defaults]
    out: list[Tensor] = _core.decode_csv(tensor(records, "records"), fields, field_delim, use_quote_delim, na_value,
                                         [] if select_cols is None else integers(select_cols, "select_cols"))
    return out


def decode_raw(input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None,
               name: str | None = None) -> Tensor:
    """The bytes of each string as values of ``out_type``, in a new last axis: [..., values].

    A string whose length is no multiple of the dtype's size is an error of the element.

    >>> Dataset.from_tensors(b"\\x01\\x00\\x02\\x00").map(lambda x: hr.io.decode_raw(x, hr.int16)).get_single_element()
    array([1, 2], dtype=int16)
    """
    if fixed_length is not None:
        raise UnimplementedError("io.decode_raw: this release has no fixed_length")
    return _core.decode_raw(tensor(input_bytes, "input_bytes"), dtypes.as_dtype(out_type).name, little_endian)


def _path_of(value: Any, argument: str) -> str:
    """A path, which may be in a tensor. Raises ``TypeError``, naming the argument."""
    if isinstance(value, Tensor) and not _core.is_static(value):
        raise TypeError(f"{argument} must be the same for all elements: a function of a dataset is called once. "
                        "experimental.TFRecordWriter(path).write(dataset) writes a file for each element")
    path = known(value, argument, "a path")
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"{argument} must be a path, not {type(path).__name__}")
    return os.fsdecode(path)


class TFRecordWriter:
    """Writes a TFRecord file, which appears under its name when it is closed: complete, or not at all.

    ``options``: ``""``, ``"GZIP"``, ``"ZLIB"``, ``TFRecordOptions`` or None. The object is a context manager: if an
    exception leaves the ``with`` statement, no file exists afterwards.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "some.tfrecord")
    >>> with TFRecordWriter(path) as to:
    ...     to.write(b"one")
    >>> import headrace as hr
    >>> list(hr.TFRecordDataset(path))
    [b'one']
    """

    __slots__ = ("_to",)

    def __init__(self, path: Any, options: str | TFRecordOptions | None = None) -> None:
        if options is not None and not isinstance(options, (str, TFRecordOptions)):
            raise TypeError(f"options must be a string, TFRecordOptions or None, not {type(options).__name__}")
        level = options._level if isinstance(options, TFRecordOptions) else -1
        kind = TFRecordOptions.get_compression_type_string(options)
        self._to: Any = _core.open_tfrecord_writer(_path_of(path, "TFRecordWriter: path"), kind, level)

    def write(self, record: bytes) -> None:
        """Appends a record.

        Raises ``TypeError`` for a value that is not ``bytes``, and ``ValueError`` once the file is closed.

        >>> with TFRecordWriter(f"{folder}/some.tfrecord") as to:
        ...     to.write(b"a record")
        """
        if self._to is None:
            raise ValueError("the file is closed")
        if not isinstance(record, bytes):
            raise TypeError(f"a record is bytes, not {type(record).__name__}")
        self._to.write(record)

    def flush(self) -> None:
        """Does nothing: the file does not exist before it is closed."""

    def close(self) -> None:
        """Flushes everything to the disk and gives the file its name.

        Raises an ``OpError`` if that fails.

        >>> to = TFRecordWriter(f"{folder}/empty.tfrecord")
        >>> to.close()
        """
        if self._to is not None:
            to, self._to = self._to, None
            to.finish()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is None:
            self.close()
        else:
            self._to = None

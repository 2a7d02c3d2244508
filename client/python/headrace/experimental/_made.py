"""Datasets that are composed of others, for the usual steps from files to batches."""

from __future__ import annotations

import csv
import glob
import gzip
import itertools
import os
import zlib
from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any

import numpy as np

from .. import dtypes
from .._dataset import AUTOTUNE, Dataset, TFRecordDataset
from .._dataset.arguments import compression, flag
from .._tensors.values import integer, unit
from ..errors import ArgumentError, InvalidArgumentError
from ..io import parse_example
from ._sources import CsvDataset


def _files(pattern: Any) -> list[str]:
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    out = sorted(itertools.chain.from_iterable(glob.glob(os.fspath(p)) for p in patterns))
    if not out:
        raise ValueError(f"file_pattern: no file matches {pattern!r}")
    return out


def _rows(files: list[str], read: Callable[[Any], Dataset], at_a_time: int, shuffle: bool, seed: Any,
          sloppy: bool) -> Dataset:
    names = Dataset.from_tensor_slices(files)
    if shuffle:
        names = names.shuffle(len(files), seed)
    return names.interleave(read, cycle_length=at_a_time, num_parallel_calls=at_a_time if at_a_time > 1 else None,
                            deterministic=not sloppy)


def _batches(rows: Dataset, batch_size: Any, num_epochs: Any, shuffle: bool, buffer: Any, seed: Any,
             drop_remainder: bool) -> Dataset:
    if shuffle:
        rows = rows.shuffle(buffer, seed)
    # A dataset without end has only complete batches.
    return rows.repeat(num_epochs).batch(batch_size, drop_remainder=drop_remainder or num_epochs is None)


def _lines(path: str, how: str, encoding: str) -> Any:
    if how == "GZIP":
        return gzip.open(path, "rt", encoding=encoding, newline="")
    if how == "ZLIB":
        with open(path, "rb") as file:
            return StringIO(zlib.decompress(file.read()).decode(encoding), newline="")
    return open(path, encoding=encoding, newline="")


def _rounded(value: float, kind: dtypes.DType) -> Any:
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(kind.as_numpy_dtype)


def _kind(text: str, before: Any) -> Any:
    """The narrowest dtype for this text and the earlier texts of the column, for which ``before`` is the narrowest
    (None: there are none). A text that is not a number, or is NaN or positive infinity, is a string.
    """
    kinds = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string]
    for kind in kinds[0 if before is None else kinds.index(before):]:
        try:
            if kind == dtypes.string:
                return kind
            value = int(text) if kind.is_integer else float(text)
            # As in TensorFlow, floats have no lower bound here.
            if kind.is_integer and kind.min <= value <= kind.max or kind.is_floating and _rounded(value, kind) <= kind.max:
                return kind
        except (ValueError, OverflowError):
            continue
    return dtypes.string


def make_csv_dataset(file_pattern: Any, batch_size: Any, column_names: Any = None, column_defaults: Any = None,
                     label_name: str | None = None, select_columns: Any = None, field_delim: str = ",",
                     use_quote_delim: bool = True, na_value: str = "", header: bool = True,
                     num_epochs: int | None = None, shuffle: bool = True, shuffle_buffer_size: int = 10000,
                     shuffle_seed: int | None = None, prefetch_buffer_size: int | None = None,
                     num_parallel_reads: int | None = None, sloppy: bool = False, num_rows_for_inference: int = 100,
                     compression_type: str | None = None, ignore_errors: bool = False,
                     encoding: str = "utf-8") -> Dataset:
    """Batches of the rows of tables in text files: dicts of columns, or ``(dict, label)`` with a ``label_name``.

    The files are listed when this function is called. column_names: None: the names in the first row of the first
    file.
    column_defaults: one default for each column that is read, as in ``CsvDataset``. None: the first
    ``num_rows_for_inference`` rows (0: all rows) determine whether a column is int32, int64, float32, float64 or
    string, and a missing value becomes 0 or ``""``. select_columns: the names or numbers of the columns to read.
    num_epochs: None: the rows are repeated without end, and all batches are full. The other arguments are those of
    ``CsvDataset`` and of ``shuffle``, ``batch``, ``prefetch``, ``ignore_errors`` and ``interleave``
    (num_parallel_reads, sloppy).

    Raises ``ValueError`` if no file matches and for names of columns that do not exist, and ``InvalidArgumentError``
    if the headers of the files differ.

    >>> with open(f"{folder}/table.csv", "w") as to:
    ...     _ = to.write("name,age\\nann,31\\nbob,\\n")
    >>> ds = make_csv_dataset(f"{folder}/*.csv", 2, label_name="age", num_epochs=1, shuffle=False)
    >>> list(ds)
    [({'name': array([b'ann', b'bob'], dtype=object)}, array([31,  0], dtype=int32))]
    """
    files, how = _files(file_pattern), compression(compression_type)

    def table(path: str) -> Any:
        lines = _lines(path, how, encoding)
        if use_quote_delim:
            return csv.reader(lines, delimiter=field_delim)
        return csv.reader(lines, delimiter=field_delim, quoting=csv.QUOTE_NONE)

    first: list[str] = next(table(files[0]), [])
    names = first if column_names is None else list(column_names)
    if len(set(names)) != len(names) or not names:
        raise ValueError(f"column_names must be different names: {names}")
    if flag(header, "header") and column_names is None:
        for path in files[1:]:
            other: list[str] = next(table(path), [])
            if other != names:
                raise InvalidArgumentError(f"make_csv_dataset: '{path}' has the columns {other}; '{files[0]}' has {names}")
    selected = list(range(len(names)))
    if select_columns is not None:
        for x in select_columns:
            if isinstance(x, str) and x not in names or not isinstance(x, str) and not 0 <= integer(
                    x, "select_columns") < len(names):
                raise ValueError(f"select_columns: there is no column {x!r} among {names}")
        selected = sorted(names.index(x) if isinstance(x, str) else int(x) for x in select_columns)
    kept = [names[i] for i in selected]
    if label_name is not None and label_name not in kept:
        raise ValueError(f"label_name must be one of the columns {kept}, not {label_name!r}")
    if column_defaults is None:
        kinds: list[Any] = [None] * len(selected)
        rows = itertools.chain.from_iterable(itertools.islice(table(path), 1 if header else 0, None) for path in files)
        for row in itertools.islice(rows, num_rows_for_inference or None):
            if len(row) != len(names):
                raise ValueError(f"make_csv_dataset: a row has {len(row)} fields, and there are {len(names)} columns: {row}")
            for i, at in enumerate(selected):
                if row[at] not in ("", na_value):
                    kinds[i] = _kind(row[at], kinds[i])
        column_defaults = [unit(0, kind or dtypes.string) for kind in kinds]
    if len(column_defaults) != len(kept):
        raise ArgumentError(f"column_defaults must be one for each of the {len(kept)} columns, not {len(column_defaults)}")
    given = list(column_defaults)

    def read(path: Any) -> Dataset:
        return CsvDataset(path, given, how, None, header, field_delim, use_quote_delim, na_value,
                          None if select_columns is None else selected)

    def arranged(*columns: Any) -> Any:
        features = dict(zip(kept, columns))
        return features if label_name is None else (features, features.pop(label_name))

    ds = _rows(files, read, num_parallel_reads or 1, shuffle, shuffle_seed, sloppy).map(arranged)
    if flag(ignore_errors, "ignore_errors"):
        ds = ds.ignore_errors()
    ds = _batches(ds, batch_size, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed, False)
    return ds.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def make_batched_features_dataset(file_pattern: Any, batch_size: Any, features: Mapping[str, Any], reader: Any = None,
                                  label_key: str | None = None, reader_args: Any = None,
                                  num_epochs: int | None = None, shuffle: bool = True,
                                  shuffle_buffer_size: int = 10000, shuffle_seed: int | None = None,
                                  prefetch_buffer_size: int | None = None, reader_num_threads: int | None = None,
                                  parser_num_threads: int | None = None, sloppy_ordering: bool = False,
                                  drop_final_batch: bool = False) -> Dataset:
    """Batches of the ``tf.train.Example``s in files: dicts as ``io.parse_example`` returns them, or ``(dict, label)``
    with a ``label_key``.

    The files are listed when this function is called. reader: a function that is called with a file and the
    ``reader_args``, and returns the dataset of the file's records; None: ``TFRecordDataset``. num_epochs: None: the
    records are repeated without end, and all batches are full. The other arguments are those of ``shuffle``,
    ``batch``, ``prefetch``, ``interleave`` (reader_num_threads, sloppy_ordering) and ``map`` (parser_num_threads).

    Raises ``ValueError`` if no file matches, and for a label that is no feature.

    >>> with hr.io.TFRecordWriter(f"{folder}/some.tfrecord") as to:
    ...     to.write(b"")
    >>> features = {"label": hr.io.FixedLenFeature([], hr.int64, -1)}
    >>> list(make_batched_features_dataset(f"{folder}/*.tfrecord", 4, features, num_epochs=1))
    [{'label': array([-1])}]
    """
    if label_key is not None and label_key not in features:
        raise ValueError(f"label_key must be one of the features {list(features)}, not {label_key!r}")
    arguments = tuple(reader_args or ())

    def read(path: Any) -> Dataset:
        out: Dataset = (reader or TFRecordDataset)(path, *arguments)
        return out

    def parse(records: Any) -> Any:
        parsed = parse_example(records, features)
        return parsed if label_key is None else (parsed, parsed.pop(label_key))

    rows = _rows(_files(file_pattern), read, reader_num_threads or 1, shuffle, shuffle_seed, sloppy_ordering)
    ds = _batches(rows, batch_size, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed,
                  flag(drop_final_batch, "drop_final_batch"))
    ds = ds.map(parse, parser_num_threads or 2)
    return ds.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)

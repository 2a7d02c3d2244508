"""Sources in addition to the common ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _core
from .._dataset import Dataset
from .._dataset.arguments import compression, flag, names
from .._specs import TensorSpec
from .._tensors.values import constant, integers
from ..dtypes import DType, as_dtype
from ..errors import ArgumentError


def _field(default: Any) -> tuple[str, str, Any]:
    """A column as (name, dtype, value), where the name is empty. ``default`` is a dtype if each row must have a value
    of the column (then ``value`` is None), or else the value that replaces a missing one.
    """
    if isinstance(default, (DType, type)):
        return "", as_dtype(default).name, None
    # In TensorFlow a default is a vector of one value; an empty vector means that there is no default.
    value = constant(default)
    if value.shape == (0,):
        return "", value.dtype.name, None
    if value.shape == (1,):
        value = constant(next(_core.from_tensors(value).read())[0])
    if value.ndim != 0:
        raise ValueError(f"record_defaults: {default!r} is neither a dtype nor one value")
    return "", value.dtype.name, value


class CsvDataset(Dataset):
    """The rows of tables in text files, as tuples of scalars.

    record_defaults: for each column that is read, a dtype (the value is required) or the value that stands for a
    missing one. A row that does not fit is an error in its place, which names file, line and column.
    compression_type: ``""``, ``"GZIP"`` or ``"ZLIB"``. header: the first line of each file is left out. select_cols:
    numbers of the columns to read. exclude_cols: numbers of the columns that are not read. buffer_size is accepted
    without effect.

    >>> path = f"{folder}/table.csv"
    >>> with open(path, "w") as to:
    ...     _ = to.write("name,age\\nann,31\\nbob,\\n")
    >>> list(CsvDataset(path, [hr.string, -1], header=True))
    [(b'ann', np.int32(31)), (b'bob', np.int32(-1))]
    """

    __slots__ = ()

    def __init__(self, filenames: Any, record_defaults: Any, compression_type: str | None = None,
                 buffer_size: Any = None, header: bool = False, field_delim: str = ",", use_quote_delim: bool = True,
                 na_value: str = "", select_cols: Any = None, exclude_cols: Any = None) -> None:
        fields = [_field(x) for x in record_defaults]
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("select_cols and exclude_cols cannot both be given")
        select = [] if select_cols is None else integers(select_cols, "select_cols")
        if exclude_cols is not None:
            out = set(integers(exclude_cols, "exclude_cols"))
            select = [i for i in range(len(fields) + len(out)) if i not in out]
        if not isinstance(field_delim, str) or len(field_delim) != 1:
            raise ArgumentError(f"field_delim must be one character, not {field_delim!r}")
        super().__init__(_core.csv(names(filenames, "filenames"), fields, flag(header, "header"), field_delim,
                                   flag(use_quote_delim, "use_quote_delim"), na_value, select,
                                   compression(compression_type)))


class SqlDataset(Dataset):
    """The rows of the result of a query, as tuples of scalars. driver_name: ``"sqlite"``.
    data_source_name: the database file.

    >>> import sqlite3
    >>> path = f"{folder}/some.db"
    >>> with sqlite3.connect(path) as db:
    ...     _ = db.execute("create table t as select 1 as n, 'one' as name")
    >>> list(SqlDataset("sqlite", path, "select n, name from t", (hr.int64, hr.string)))
    [(np.int64(1), b'one')]
    """

    __slots__ = ()

    def __init__(self, driver_name: str, data_source_name: str, query: str, output_types: Any) -> None:
        if not isinstance(driver_name, str):
            raise TypeError(f"driver_name must be a str, not {type(driver_name).__name__}")
        kinds = output_types if isinstance(output_types, (tuple, list)) else (output_types,)
        super().__init__(_core.sql(driver_name, names(data_source_name, "data_source_name"), names(query, "query"),
                                   [("", as_dtype(kind).name, None) for kind in kinds]))


def _json_field(name: str, kind: Any) -> tuple[str, str, Any, Any]:
    """A key of the objects as (name, dtype, value, dims). ``kind`` is a dtype or a spec if each object must have the
    key (then the third part is None), or else the scalar that is used if the key is missing.
    """
    if isinstance(kind, TensorSpec):
        return name, kind.dtype.name, None, kind.shape.dims
    if isinstance(kind, (DType, type)):
        return name, as_dtype(kind).name, None, ()
    value = constant(kind)
    if value.ndim != 0:
        raise ValueError(f"fields['{name}']: {kind!r} is neither a dtype, a TensorSpec nor one value")
    return name, value.dtype.name, value, ()


class JsonLinesDataset(Dataset):
    """JSON objects, one on each line, as dicts of the keys in ``fields``; other keys are ignored.

    ``fields`` has for each key a dtype (for a scalar), a ``TensorSpec`` (for arrays, of any depth), or a default value,
    which is used where the key is missing. A line that does not fit is an error in its place, which names file and
    line.

    >>> path = f"{folder}/some.jsonl"
    >>> with open(path, "w") as to:
    ...     _ = to.write('{"n": 1, "words": ["a", "b"]}\\n')
    >>> list(JsonLinesDataset(path, {"n": hr.int64, "words": hr.TensorSpec([None], hr.string)}))
    [{'n': np.int64(1), 'words': array([b'a', b'b'], dtype=object)}]
    """

    __slots__ = ()

    def __init__(self, filenames: Any, fields: Mapping[str, Any], compression_type: str | None = None) -> None:
        if not isinstance(fields, Mapping):
            raise TypeError(f"fields must be a dict of names, not {type(fields).__name__}")
        super().__init__(_core.json_lines(names(filenames, "filenames"),
                                          [_json_field(name, kind) for name, kind in fields.items()],
                                          compression(compression_type)))


class TarDataset(Dataset):
    """The samples of tar files in WebDataset's layout: dicts of ``__key__`` and the members of ``extensions``.

    Neighbouring members whose names are equal up to the first dot are one sample. An entry of ``extensions`` may have
    alternatives, as ``"jpg;jpeg"``. A sample that lacks a member for one of the entries is an error, or is left out
    with ``skip_incomplete``. Compressed files are recognised.

    >>> import io, tarfile
    >>> path = f"{folder}/some.tar"
    >>> with tarfile.open(path, "w") as to:
    ...     member = tarfile.TarInfo("photo1.txt")
    ...     member.size = 3
    ...     to.addfile(member, io.BytesIO(b"cat"))
    >>> list(TarDataset(path, ["txt"]))
    [{'__key__': b'photo1', 'txt': b'cat'}]
    """

    __slots__ = ()

    def __init__(self, filenames: Any, extensions: Any, skip_incomplete: bool = False) -> None:
        if isinstance(extensions, str) or not all(isinstance(x, str) for x in extensions):
            raise TypeError(f"extensions must be several strings, not {extensions!r}")
        super().__init__(_core.tar_samples(names(filenames, "filenames"), list(extensions),
                                           flag(skip_incomplete, "skip_incomplete")))

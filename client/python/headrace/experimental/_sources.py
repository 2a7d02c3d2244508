"""Sources beside the common ones."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._dataset import Dataset
from .._dataset.arguments import compression, flag, names
from .._values import constant, integers
from ..dtypes import DType, as_dtype


def _field(default: Any) -> tuple[str, str, Any]:
    """A required column of a dtype, or one with a value that stands for a missing one."""
    if isinstance(default, (DType, type)):
        return "", as_dtype(default).name, None
    # TensorFlow gives defaults in lists of one.
    value = constant(default[0] if isinstance(default, (list, tuple)) and len(default) == 1 else default)
    if value.ndim != 0:
        raise ValueError(f"record_defaults: {default!r} is neither a dtype nor one value")
    return "", value.dtype.name, value


class CsvDataset(Dataset):
    """The rows of tables in text files, as tuples of scalars.

    record_defaults: for each column that is read, a dtype (the value is required) or the value that stands for a
    missing one. A row that does not fit is an error in its place, naming file, line and column. compression_type:
    ``""``, ``"GZIP"`` or ``"ZLIB"``. header: the first line of each file is left out. select_cols: numbers of the
    columns to read; exclude_cols: of those not to read. buffer_size is accepted; headrace chooses its own.
    """

    __slots__ = ()

    def __init__(self, filenames: Any, record_defaults: Any, compression_type: str | None = None,
                 buffer_size: Any = None, header: bool = False, field_delim: str = ",", use_quote_delim: bool = True,
                 na_value: str = "", select_cols: Any = None, exclude_cols: Any = None) -> None:
        fields = [_field(x) for x in record_defaults]
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("select_cols and exclude_cols cannot both be given")
        select = integers(select_cols, "select_cols")
        if exclude_cols is not None:
            out = set(integers(exclude_cols, "exclude_cols"))
            select = [i for i in range(len(fields) + len(out)) if i not in out]
        if not isinstance(field_delim, str) or len(field_delim) != 1:
            raise ValueError(f"field_delim must be one character, not {field_delim!r}")
        super().__init__(_core.csv(names(filenames, "filenames"), fields, flag(header, "header"), field_delim,
                                   flag(use_quote_delim, "use_quote_delim"), na_value, select,
                                   compression(compression_type)))


class SqlDataset(Dataset):
    """The rows that a query gives, as tuples of scalars. driver_name: ``"sqlite"``; data_source_name: its file."""

    __slots__ = ()

    def __init__(self, driver_name: str, data_source_name: str, query: str, output_types: Any) -> None:
        if not isinstance(driver_name, str):
            raise TypeError(f"driver_name must be a str, not {type(driver_name).__name__}")
        kinds = output_types if isinstance(output_types, (tuple, list)) else (output_types,)
        super().__init__(_core.sql(driver_name, names(data_source_name, "data_source_name"), names(query, "query"),
                                   [("", as_dtype(kind).name, None) for kind in kinds]))

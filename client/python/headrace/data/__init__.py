"""The names of tf.data: after ``import headrace as tf``, ``tf.data.Dataset`` is ``headrace.Dataset``."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import experimental
from .._dataset import (
    AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset, FixedLengthRecordDataset, TFRecordDataset,
    TextLineDataset,
)
from .._core import Iterator
from .._iterator_spec import IteratorSpec
from .._missing import names_of as _names_of
from .._numpy_iterator import NumpyIterator
from .._options import Options, ThreadingOptions
from .._specs import DatasetSpec

if not _TYPE_CHECKING:
    __getattr__ = _names_of("data")

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec",
           "FixedLengthRecordDataset", "Iterator", "IteratorSpec", "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions",
           "experimental"]

"""The names of tf.data: after ``import headrace as tf``, ``tf.data.Dataset`` is ``headrace.Dataset``."""

from . import experimental
from .._dataset import (
    AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset, FixedLengthRecordDataset, TFRecordDataset,
    TextLineDataset,
)
from .._options import Options

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "FixedLengthRecordDataset",
           "Options", "TFRecordDataset", "TextLineDataset", "experimental"]

"""Datasets, which describe elements by sources and operators. Each module holds operators of one kind."""

from .arguments import AUTOTUNE
from .dataset import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from .files import FixedLengthRecordDataset, TFRecordDataset, TextLineDataset

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "FixedLengthRecordDataset",
           "TFRecordDataset", "TextLineDataset"]

"""What ``headrace.experimental`` holds, by the name of tf.data."""

from ...experimental import (
    AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, CsvDataset, JsonLinesDataset, SqlDataset, TarDataset, sleep,
    snapshot,
)
from . import service

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "CsvDataset", "JsonLinesDataset",
           "SqlDataset", "TarDataset", "service", "sleep", "snapshot"]

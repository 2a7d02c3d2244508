"""What tf.data.experimental holds: the service, more sources, and pauses."""

from .._dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from . import service
from ._keeping import snapshot
from ._sleep import sleep
from ._sources import CsvDataset, JsonLinesDataset, SqlDataset, TarDataset

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "CsvDataset", "JsonLinesDataset",
           "SqlDataset", "TarDataset", "service", "sleep", "snapshot"]

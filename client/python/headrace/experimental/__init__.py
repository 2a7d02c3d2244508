"""The content of tf.data.experimental: the service, more sources, and pauses."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .._dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .._missing import names_of as _names_of
from .._optional import Optional, get_next_as_optional
from .._options import (
    AutoShardPolicy, AutotuneOptions, DistributeOptions, ExternalStatePolicy, OptimizationOptions, ThreadingOptions,
)
from ..service import SHARD_HINT
from . import service
from ._keeping import snapshot
from ._made import make_batched_features_dataset, make_csv_dataset
from ._saving import distributed_save
from ._sleep import sleep
from ._sources import CsvDataset, JsonLinesDataset, SqlDataset, TarDataset
from ._transformations import (
    Counter, RandomDataset, TFRecordWriter, assert_cardinality, bucket_by_sequence_length, cardinality,
    choose_from_datasets, dense_to_ragged_batch, enumerate_dataset, get_single_element, get_structure, group_by_window,
    ignore_errors,
    map_and_batch, parallel_interleave, rejection_resample, sample_from_datasets, scan, shuffle_and_repeat, take_while,
    unbatch, unique,
)

if not _TYPE_CHECKING:
    __getattr__ = _names_of("data.experimental")

__all__ = [
    "AUTOTUNE", "AutoShardPolicy", "AutotuneOptions", "Counter", "CsvDataset", "DistributeOptions", "ExternalStatePolicy",
    "INFINITE_CARDINALITY", "JsonLinesDataset", "OptimizationOptions", "Optional", "RandomDataset", "SHARD_HINT", "SqlDataset",
    "TFRecordWriter", "TarDataset", "ThreadingOptions", "UNKNOWN_CARDINALITY", "assert_cardinality",
    "bucket_by_sequence_length", "cardinality", "choose_from_datasets", "dense_to_ragged_batch", "distributed_save",
    "enumerate_dataset", "get_next_as_optional", "get_single_element", "get_structure", "group_by_window", "ignore_errors",
    "make_batched_features_dataset", "make_csv_dataset", "map_and_batch", "parallel_interleave",
    "rejection_resample", "sample_from_datasets", "scan", "service", "shuffle_and_repeat", "sleep", "snapshot",
    "take_while", "unbatch", "unique",
]

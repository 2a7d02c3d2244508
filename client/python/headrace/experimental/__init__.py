"""The content of tf.data.experimental: the service, more sources, and pauses."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .._dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .._missing import names_of as _names_of
from .._optional import Optional, get_next_as_optional
from .._options import (
    AutoShardPolicy, AutotuneAlgorithm, AutotuneOptions, DistributeOptions, ExternalStatePolicy, OptimizationOptions, StatsOptions,
    ThreadingOptions,
)
from .._statistics import Histogram, StatsAggregator
from ..service import SHARD_HINT
from . import service
from ._grouping import Reducer, group_by_reducer
from ._keeping import load, save, snapshot
from ._lists import at, from_list, pad_to_cardinality
from ._made import make_batched_features_dataset, make_csv_dataset
from ._measuring import bytes_produced_stats, latency_stats, set_stats_aggregator
from ._saving import distributed_save
from ._sleep import sleep
from ._sources import CsvDataset, JsonLinesDataset, SqlDataset, TarDataset
from ._tables import DatasetInitializer, index_table_from_dataset, table_from_dataset
from ._transformations import (
    Counter, RandomDataset, TFRecordWriter, assert_cardinality, bucket_by_sequence_length, cardinality,
    choose_from_datasets, copy_to_device, dense_to_ragged_batch, enumerate_dataset, get_single_element, get_structure,
    group_by_window, ignore_errors, map_and_batch, map_and_batch_with_legacy_function, parallel_interleave,
    parse_example_dataset, prefetch_to_device, rejection_resample, sample_from_datasets, scan, shuffle_and_repeat,
    take_while, unbatch, unique,
)

if not _TYPE_CHECKING:
    __getattr__ = _names_of("data.experimental")

__all__ = [
    "AUTOTUNE", "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "Counter", "CsvDataset",
    "DatasetInitializer", "DistributeOptions", "ExternalStatePolicy", "Histogram", "INFINITE_CARDINALITY", "JsonLinesDataset",
    "OptimizationOptions", "Optional", "RandomDataset", "Reducer", "SHARD_HINT", "SqlDataset", "StatsAggregator", "StatsOptions", "TFRecordWriter",
    "TarDataset", "ThreadingOptions", "UNKNOWN_CARDINALITY", "assert_cardinality", "at",
    "bucket_by_sequence_length", "bytes_produced_stats", "cardinality", "choose_from_datasets", "copy_to_device", "dense_to_ragged_batch",
    "distributed_save", "enumerate_dataset", "from_list", "get_next_as_optional", "get_single_element",
    "get_structure", "group_by_reducer", "group_by_window", "ignore_errors", "index_table_from_dataset", "latency_stats", "load",
    "make_batched_features_dataset", "make_csv_dataset", "map_and_batch", "map_and_batch_with_legacy_function",
    "pad_to_cardinality", "parallel_interleave", "parse_example_dataset", "prefetch_to_device",
    "rejection_resample", "sample_from_datasets", "save", "scan", "service", "set_stats_aggregator", "shuffle_and_repeat", "sleep",
    "snapshot", "table_from_dataset", "take_while", "unbatch", "unique",
]

"""Transformations that measure the time or the size of elements."""

from __future__ import annotations

from collections.abc import Callable

from .. import _core
from .._dataset import Dataset
from .._options import Options
from .._statistics import StatsAggregator


def _measured(tag: str, operator: str, *, size: bool) -> Callable[[Dataset], Dataset]:
    if not isinstance(tag, str):
        raise TypeError(f"{operator}: tag must be a str, not {type(tag).__name__}")
    if not tag:
        raise ValueError(f"{operator}: tag must not be empty")
    return lambda dataset: dataset._with(_core.stats(dataset._graph, tag, size))


def latency_stats(tag: str) -> Callable[[Dataset], Dataset]:
    """Measures the time for each element, in microseconds, and records it under the name ``tag`` in the dataset's
    ``StatsAggregator``.

    The time of a block is divided equally among its elements. Nothing is measured without an aggregator, or on the
    workers of a service.

    >>> aggregator = hr.experimental.StatsAggregator()
    >>> ds = Dataset.range(5).apply(latency_stats("numbers")).apply(set_stats_aggregator(aggregator))
    >>> list(ds.take(2)), aggregator.get_summary()["numbers"].count
    ([np.int64(0), np.int64(1)], 2)
    """
    return _measured(tag, "latency_stats", size=False)


def bytes_produced_stats(tag: str) -> Callable[[Dataset], Dataset]:
    """Measures the number of bytes of each element, as ``latency_stats`` does. Elements that failed are not measured.

    >>> aggregator = hr.experimental.StatsAggregator()
    >>> ds = Dataset.from_tensor_slices(["a", "bcd"]).apply(bytes_produced_stats("words"))
    >>> list(ds.apply(set_stats_aggregator(aggregator)))
    [b'a', b'bcd']
    >>> aggregator.get_summary()["words"].buckets
    ((1.0, 1), (3.363585661014858, 1))
    """
    return _measured(tag, "bytes_produced_stats", size=True)


def set_stats_aggregator(stats_aggregator: StatsAggregator, prefix: str = "",
                         counter_prefix: str = "") -> Callable[[Dataset], Dataset]:
    """Calls ``Dataset.with_options`` with these arguments as ``experimental_stats``.

    >>> aggregator = hr.experimental.StatsAggregator()
    >>> ds = Dataset.range(3).apply(latency_stats("total")).apply(set_stats_aggregator(aggregator, prefix="train"))
    >>> list(ds), list(aggregator.get_summary())
    ([np.int64(0), np.int64(1), np.int64(2)], ['train::total'])
    """
    options = Options()
    options.experimental_stats.aggregator = stats_aggregator
    options.experimental_stats.prefix = prefix
    options.experimental_stats.counter_prefix = counter_prefix
    return lambda dataset: dataset.with_options(options)

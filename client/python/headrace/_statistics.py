"""Measurements of datasets, made while they are read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from . import _core


@dataclass(frozen=True)
class Histogram:
    """The values that were measured under one name, in microseconds or bytes.

    >>> values = Histogram(count=2, sum=5.0, sum_of_squares=17.0, min=1.0, max=4.0, buckets=((1.0, 1), (4.0, 1)))
    >>> values.mean, values.stddev
    (2.5, 1.5)
    """

    #: The number of values, one for each element.
    count: int
    sum: float
    sum_of_squares: float
    min: float
    max: float
    #: (limit, number of values) by ascending limits: 0 and powers of 2^(1/4). Values are at most their bucket's limit, and
    #: larger than the next smaller such power.
    buckets: tuple[tuple[float, int], ...]

    @property
    def mean(self) -> float:
        """The sum divided by the count.

        >>> Histogram(4, 8.0, 16.0, 2.0, 2.0, ((2.0, 4),)).mean
        2.0
        """
        return self.sum / self.count

    @property
    def stddev(self) -> float:
        """The standard deviation.

        >>> Histogram(4, 8.0, 16.0, 2.0, 2.0, ((2.0, 4),)).stddev
        0.0
        """
        return math.sqrt(max(0.0, self.sum_of_squares / self.count - self.mean**2))

    def percentile(self, percent: float) -> float:
        """The number that this percentage of the values does not exceed: the limit of a bucket, or the largest value.

        Raises ``ValueError`` for a number that is not from 0 to 100.

        >>> Histogram(4, 11.0, 67.0, 1.0, 8.0, ((1.0, 3), (8.0, 1))).percentile(75)
        1.0
        """
        if not 0 <= percent <= 100:
            raise ValueError(f"percentile: percent must be from 0 to 100, not {percent!r}")
        seen = 0
        for limit, values in self.buckets:
            seen += values
            if seen * 100 >= percent * self.count:
                return min(max(limit, self.min), self.max)
        return self.max


class StatsAggregator:
    """Collects the measurements of ``latency_stats`` and ``bytes_produced_stats``, in all iterations over the datasets
    whose options name it.

    >>> import headrace as hr
    >>> aggregator = hr.experimental.StatsAggregator()
    >>> options = hr.Options()
    >>> options.experimental_stats.aggregator = aggregator
    >>> ds = hr.Dataset.range(3).apply(hr.experimental.bytes_produced_stats("bytes")).with_options(options)
    >>> list(ds)
    [np.int64(0), np.int64(1), np.int64(2)]
    >>> aggregator.get_summary()["bytes"].sum
    24.0
    """

    def __init__(self) -> None:
        self._all: Any = _core.Statistics()

    def get_summary(self) -> dict[str, Histogram]:
        """The measurements so far, by name: a copy, which does not change.

        Elements that were read ahead count, too.

        >>> StatsAggregator().get_summary()
        {}
        """
        return {tag: Histogram(count, total, squares, least, most, tuple(buckets.items()))
                for tag, (count, total, squares, least, most, buckets) in self._all.summary().items()}

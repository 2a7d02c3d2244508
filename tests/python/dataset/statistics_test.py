"""The statistics of datasets that StatsAggregator collects."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr
from headrace import experimental


def with_aggregator(ds, **settings):
    aggregator = experimental.StatsAggregator()
    options = hr.Options()
    options.experimental_stats.aggregator = aggregator
    for name, value in settings.items():
        setattr(options.experimental_stats, name, value)
    return ds.with_options(options), aggregator


def test_EachElementHasItsBytesAndItsLatency():
    words = hr.Dataset.from_tensor_slices(["a", "bcd", ""]).apply(experimental.bytes_produced_stats("bytes"))
    ds, aggregator = with_aggregator(words.apply(experimental.latency_stats("latency")))
    assert list(ds) == [b"a", b"bcd", b""]
    found = aggregator.get_summary()
    assert sorted(found) == ["bytes", "latency"]
    size = found["bytes"]
    assert (size.count, size.sum, size.min, size.max, size.sum_of_squares) == (3, 4.0, 0.0, 3.0, 10.0)
    assert sum(n for _, n in size.buckets) == 3 and size.percentile(100) == 3.0 and size.percentile(0) == 0.0
    assert found["latency"].count == 3 and found["latency"].min >= 0


def test_LatenciesAreMicroseconds():
    ds, aggregator = with_aggregator(
        hr.Dataset.range(4).apply(experimental.sleep(2000)).apply(experimental.latency_stats("slow")))
    list(ds)
    assert aggregator.get_summary()["slow"].mean >= 2000


def test_StatisticsAddUpOverIterationsAndDatasets():
    aggregator = experimental.StatsAggregator()
    first = hr.Dataset.range(3).apply(experimental.bytes_produced_stats("a")).apply(
        experimental.set_stats_aggregator(aggregator))
    second = hr.Dataset.range(4).apply(experimental.bytes_produced_stats("b")).apply(
        experimental.set_stats_aggregator(aggregator, prefix="other"))
    before = aggregator.get_summary()
    for _ in range(2):
        list(first.map(lambda x: x + 1))
        list(second.batch(2))
    assert before == {}
    assert {tag: x.count for tag, x in aggregator.get_summary().items()} == {"a": 6, "other::b": 8}


def test_ElementsOfFunctionsWindowsAndReductionsAreMeasured():
    inner = hr.Dataset.range(4).flat_map(lambda n: hr.Dataset.range(n).apply(experimental.bytes_produced_stats("inner")))
    ds, aggregator = with_aggregator(inner)
    assert ds.reduce(np.int64(0), lambda total, x: total + x) == 4
    assert aggregator.get_summary()["inner"].count == 6
    ds, aggregator = with_aggregator(hr.Dataset.range(4).window(2).apply(experimental.bytes_produced_stats("windows")))
    assert [list(w) for w in ds] == [[0, 1], [2, 3]]
    assert aggregator.get_summary()["windows"].sum == 32


def test_WhatARestoredIteratorReadsIsMeasured():
    ds, aggregator = with_aggregator(hr.Dataset.range(6).apply(experimental.bytes_produced_stats("x")))
    it = iter(ds)
    next(it)
    record = it.save()
    del it
    counted = aggregator.get_summary()["x"].count
    assert list(ds.restore(record)) == [1, 2, 3, 4, 5]
    assert aggregator.get_summary()["x"].count == counted + 5
    it = iter(ds)
    it.restore(record)
    assert list(it) == [1, 2, 3, 4, 5]
    assert aggregator.get_summary()["x"].count == counted + 10


def test_AllEdgesAreOperatorsByNameAndNumber():
    ds, aggregator = with_aggregator(hr.Dataset.range(6).map(lambda x: x).batch(2), latency_all_edges=True, prefix="p")
    list(ds)
    assert {tag: x.count for tag, x in aggregator.get_summary().items()} == {
        "p::record_latency_batch/_1": 3, "p::record_latency_map/_2": 6, "p::record_latency_range/_3": 6}


def test_TagsAndAggregatorsOfOtherTypesAreRefused():
    for transformation in (experimental.latency_stats, experimental.bytes_produced_stats):
        with pytest.raises(TypeError, match="tag must be a str, not int"):
            transformation(3)
        with pytest.raises(ValueError, match="tag must not be empty"):
            transformation("")
    with pytest.raises(TypeError, match="aggregator must be a StatsAggregator or None, not str"):
        experimental.set_stats_aggregator("x")
    with pytest.raises(ValueError, match="from 0 to 100"):
        experimental.Histogram(1, 1.0, 1.0, 1.0, 1.0, ((1.0, 1),)).percentile(101)


def test_OnWorkersNothingIsMeasuredWhichAWarningSays():
    ds, aggregator = with_aggregator(hr.Dataset.range(4).apply(experimental.latency_stats("there")))
    with hr.service.DispatchServer() as dispatcher, \
            hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
        with pytest.warns(RuntimeWarning, match="measure nothing on workers; put them behind distribute"):
            there = ds.apply(hr.service.distribute("distributed_epoch", dispatcher.target))
        here = there.apply(experimental.bytes_produced_stats("here"))
        assert sorted(here) == [0, 1, 2, 3]
    assert {tag: x.count for tag, x in aggregator.get_summary().items()} == {"here": 4}

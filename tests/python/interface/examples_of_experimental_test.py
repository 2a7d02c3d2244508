"""The examples of the pages of tf.data.experimental and tf.debugging: a test for each, named after its page."""

from __future__ import annotations

import numpy as np
import pytest

from peer import LIBRARY, differs, elements, ours, plain, tf

Dataset, experimental = tf.data.Dataset, tf.data.experimental


def test_shuffle_and_repeat():
    d = Dataset.from_tensor_slices([1, 2, 3]).apply(experimental.shuffle_and_repeat(2, count=2))
    assert sorted(elements(d)) == [1, 1, 2, 2, 3, 3]


def test_shuffle_and_repeat_IsShuffleThenRepeat():
    numbers = Dataset.range(8)
    one = elements(numbers.apply(experimental.shuffle_and_repeat(3, 2, 5)))
    other = elements(numbers.shuffle(3, seed=5, reshuffle_each_iteration=True).repeat(2))
    assert sorted(one) == sorted(other) and len(one) == 16
    if LIBRARY == "headrace":  # in TensorFlow the two datasets draw different seeds
        assert one == other


def test_snapshot_WithShards(tmp_path):
    dataset = Dataset.range(10).enumerate()
    dataset = dataset.apply(experimental.snapshot(str(tmp_path / "snapshot"), shard_func=lambda x, y: x % 4))
    dataset = dataset.map(lambda x, y: y)
    assert sorted(elements(dataset)) == list(range(10))


def test_snapshot_WithAReader(tmp_path):
    def read(datasets):
        datasets = datasets.shuffle(4)
        return datasets.interleave(lambda x: x, num_parallel_calls=tf.data.AUTOTUNE)

    for _ in range(2):
        dataset = Dataset.range(10).apply(experimental.snapshot(str(tmp_path / "snapshot"), reader_func=read))
        assert sorted(elements(dataset)) == list(range(10))


@pytest.mark.skipif(LIBRARY == "tensorflow", reason="later versions have no statistics")
def test_StatsAggregator():
    aggregator = experimental.StatsAggregator()
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    dataset = Dataset.range(3).apply(experimental.latency_stats("total")).with_options(options)
    assert elements(dataset) == [0, 1, 2]


@pytest.mark.skipif(LIBRARY == "tensorflow", reason="later versions have no statistics")
def test_StatsOptions():
    options = tf.data.Options()
    options.experimental_stats.aggregator = experimental.StatsAggregator()
    options.experimental_stats.latency_all_edges = True
    assert elements(Dataset.range(3).with_options(options)) == [0, 1, 2]


def test_TFRecordWriter(tmp_path):
    path = str(tmp_path / "some.tfrecord")
    experimental.TFRecordWriter(path).write(Dataset.range(3).map(tf.io.serialize_tensor))
    read = tf.data.TFRecordDataset(path).map(lambda x: tf.io.parse_tensor(x, tf.int64))
    assert elements(read) == [0, 1, 2]


def test_TFRecordWriter_OfSeveralFiles(tmp_path):
    prefix = str(tmp_path / "part-")

    def write(key, dataset):
        name = tf.strings.join([prefix, tf.strings.as_string(key)])
        experimental.TFRecordWriter(name).write(dataset.map(lambda _, x: x))
        return Dataset.from_tensors(name)

    dataset = Dataset.from_tensor_slices(["a", "b", "c", "d", "e"]).enumerate()
    dataset = dataset.apply(experimental.group_by_window(lambda i, _: i % 2, write, tf.int64.max))
    names = elements(dataset)
    assert sorted(names) == [(prefix + x).encode() for x in "01"]
    assert [elements(tf.data.TFRecordDataset(prefix + x)) for x in "01"] == [[b"a", b"c", b"e"], [b"b", b"d"]]


def test_ThreadingOptions():
    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = 10
    assert elements(Dataset.range(3).with_options(options)) == [0, 1, 2]


def test_unbatch():
    letters = Dataset.from_generator(lambda: iter([["a", "b", "c"], ["a", "b"]]), tf.string)
    assert elements(letters.apply(experimental.unbatch())) == [b"a", b"b", b"c", b"a", b"b"]


def test_unique():
    dataset = Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).apply(experimental.unique())
    assert elements(dataset) == [1, 37, 2]


@ours("what dataset.options() gives cannot be set: with_options")
def test_Options_ByMutation():
    dataset = Dataset.range(42)
    options = tf.data.Options()
    options.experimental_deterministic = False
    dataset = dataset.with_options(options)
    assert dataset.options().experimental_deterministic is False


def test_Assert():
    def f(x):
        check = tf.Assert(tf.less_equal(tf.reduce_max(x), 1.0), [x])
        with tf.control_dependencies([] if check is None else [check]):
            return tf.identity(x)

    assert elements(Dataset.from_tensors([0.5, 1.0]).map(f)) == [[0.5, 1.0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(Dataset.from_tensors([0.5, 1.5]).map(f))


def test_assert_shapes():
    n, q, d = 10, 3, 2
    x, y = tf.zeros([n, q]), tf.zeros([n, d])
    param, scalar = tf.zeros([q]), tf.constant(0.0)

    def f(i):
        tf.debugging.assert_shapes([(x, ("N", "Q")), (y, ("N", "D")), (param, ("Q",)), (scalar, ())])
        return i

    assert elements(Dataset.range(1).map(f)) == [0]

    def wrong(i):
        tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("N", "D"))])
        return i

    with pytest.raises(ValueError):
        Dataset.range(1).map(wrong)

    def outer(i):
        tf.debugging.assert_shapes([(x, (..., "Q")), (param, ("Q",)), (y, ("*", 2))])
        return i

    assert elements(Dataset.range(1).map(outer)) == [0]


def test_check_numerics():
    dataset = Dataset.from_tensor_slices(np.array([1.0, 0.0])).map(
        lambda x: tf.debugging.check_numerics(1 / x, "a quotient"))
    iterator = dataset.as_numpy_iterator()
    assert plain(next(iterator)) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="a quotient"):
        next(iterator)


@ours("functions compute in datasets")
def test_enable_check_numerics_InADataset():
    tf.debugging.enable_check_numerics()
    try:
        dataset = Dataset.from_tensors(np.array([[0.0, -1.0], [4.0, 3.0]])).map(tf.math.sqrt)
    finally:
        tf.debugging.disable_check_numerics()
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(dataset)


@differs("functions compute in datasets")
def test_enable_check_numerics():
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.math.sqrt(np.array([[0.0, -1.0], [4.0, 3.0]]))
    finally:
        tf.debugging.disable_check_numerics()

"""Extents and counts that depend on the element. The expected values are those of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headrace as hr


def lists(ds: hr.Dataset) -> list[Any]:
    return [x.tolist() for x in ds.as_numpy_iterator()]


def of(f: Any, *numbers: int) -> list[Any]:
    return lists(hr.Dataset.from_tensor_slices(np.array(numbers or (1, 2, 3))).map(f))


@pytest.mark.parametrize("f, expected, shape, dtype", [
    (lambda x: hr.fill([x], x), [[1], [2, 2], [3, 3, 3]], (None,), hr.int64),
    (lambda x: hr.fill([x, 2], 5), [[[5, 5]], [[5, 5]] * 2, [[5, 5]] * 3], (None, 2), hr.int32),
    (lambda x: hr.fill([x], "a"), [[b"a"], [b"a"] * 2, [b"a"] * 3], (None,), hr.string),
    (lambda x: hr.fill(hr.stack([x, 2]), 5), [[[5, 5]], [[5, 5]] * 2, [[5, 5]] * 3], (None, 2), hr.int32),
    (lambda x: hr.zeros([x]), [[0], [0, 0], [0, 0, 0]], (None,), hr.float32),
    (lambda x: hr.ones([x], hr.uint8), [[1], [1, 1], [1, 1, 1]], (None,), hr.uint8),
    (lambda x: hr.range(x), [[0], [0, 1], [0, 1, 2]], (None,), hr.int64),
    (lambda x: hr.range(0, x, 2), [[0], [0], [0, 2]], (None,), hr.int64),
    (lambda x: hr.range(x, 0, -1), [[1], [2, 1], [3, 2, 1]], (None,), hr.int64),
    (lambda x: hr.range(hr.cast(x, hr.float32), dtype=hr.float64), [[0], [0, 1], [0, 1, 2]], (None,), hr.float64),
    (lambda x: hr.tile([1, 2], [x]), [[1, 2], [1, 2] * 2, [1, 2] * 3], (None,), hr.int32),
    (lambda x: hr.tile([[1, 2]], [x, 2]), [[[1, 2] * 2], [[1, 2] * 2] * 2, [[1, 2] * 2] * 3], (None, 4), hr.int32),
    (lambda x: hr.tile([[b"a"], [b"b"]], [1, x]), [[[b"a"], [b"b"]], [[b"a"] * 2, [b"b"] * 2], [[b"a"] * 3, [b"b"] * 3]],
     (2, None), hr.string),
    (lambda x: hr.repeat([1, 2], x), [[1, 2], [1, 1, 2, 2], [1, 1, 1, 2, 2, 2]], (None,), hr.int32),
    (lambda x: hr.repeat([[1, 2], [3, 4]], [1, x], axis=1), [[[1, 2], [3, 4]], [[1, 2, 2], [3, 4, 4]],
                                                              [[1, 2, 2, 2], [3, 4, 4, 4]]], (2, None), hr.int32),
    (lambda x: hr.linspace(0.0, 1.0, x), [[0.0], [0.0, 1.0], [0.0, 0.5, 1.0]], (None,), hr.float32),
    (lambda x: hr.linspace(0, 2, x), [[0.0], [0.0, 2.0], [0.0, 1.0, 2.0]], (None,), hr.float64),
    (lambda x: hr.linspace([0.0, 1.0], [2.0, 3.0], x, axis=-1), [[[0.0], [1.0]], [[0.0, 2.0], [1.0, 3.0]],
                                                                [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]], (2, None), hr.float32),
    (lambda x: hr.eye(x, 2), [[[1, 0]], [[1, 0], [0, 1]], [[1, 0], [0, 1], [0, 0]]], (None, 2), hr.float32),
    (lambda x: hr.eye(1, batch_shape=[x]), [[[[1]]], [[[1]]] * 2, [[[1]]] * 3], (None, 1, 1), hr.float32),
    (lambda x: hr.sequence_mask(x), [[True], [True] * 2, [True] * 3], (None,), hr.bool),
    (lambda x: hr.sequence_mask([1, 2], x), [[[True], [True]], [[True, False], [True, True]],
                                             [[True, False, False], [True, True, False]]], (2, None), hr.bool),
    (lambda x: hr.one_hot([0, 2], x, dtype=hr.int32), [[[1], [0]], [[1, 0], [0, 0]], [[1, 0, 0], [0, 0, 1]]],
     (2, None), hr.int32),
    (lambda x: hr.reshape(hr.range(6 * x), [x, -1])[:, 0], [[0], [0, 6], [0, 6, 12]], (None,), hr.int64),
    (lambda x: hr.constant([1, 2, 3, 4])[:x], [[1], [1, 2], [1, 2, 3]], (None,), hr.int32),
    (lambda x: hr.constant([1, 2, 3, 4])[-x:], [[4], [3, 4], [2, 3, 4]], (None,), hr.int32),
    (lambda x: hr.constant([1, 2, 3, 4])[x:0:-1], [[2], [3, 2], [4, 3, 2]], (None,), hr.int32),
    (lambda x: hr.constant([[1, 2, 3], [4, 5, 6]])[..., :x], [[[1], [4]], [[1, 2], [4, 5]], [[1, 2, 3], [4, 5, 6]]],
     (2, None), hr.int32),
    (lambda x: hr.constant([[1, 2, 3], [4, 5, 6]])[1, :x], [[4], [4, 5], [4, 5, 6]], (None,), hr.int32),
    (lambda x: hr.constant([[1, 2, 3], [4, 5, 6]])[:, x - 1], [[1, 4], [2, 5], [3, 6]], (2,), hr.int32),
    (lambda x: hr.constant([[1, 2, 3], [4, 5, 6]])[x // 3, None, : x - 1], [[[]], [[1]], [[4, 5]]], (1, None), hr.int32),
])
def test_each_element_has_its_own_shape(f: Any, expected: list[Any], shape: tuple[Any, ...], dtype: Any) -> None:
    ds = hr.Dataset.range(1, 4).map(f)
    assert lists(ds) == expected
    assert ds.element_spec == hr.TensorSpec(shape, dtype)


@pytest.mark.parametrize("f", [
    lambda x: hr.fill([x], 1), lambda x: hr.range(x), lambda x: hr.tile([1, 2], [x]), lambda x: hr.repeat([1, 2], x),
    lambda x: hr.linspace(0.0, 1.0, x), lambda x: hr.sequence_mask(x), lambda x: hr.constant([1, 2])[:x], lambda x: hr.zeros([x]),
])
def test_an_extent_of_zero_is_empty(f: Any) -> None:
    assert of(f, 0) == [[]]


@pytest.mark.parametrize("f, message", [
    (lambda x: hr.fill([x], 1), "fill: an extent is -1; it must be 0 or more"),
    (lambda x: hr.range(x), "range: 0 in steps of 1 never comes to -1"),
    (lambda x: hr.range(0, 3, x + 1), "range: delta is 0; it must be another number"),
    (lambda x: hr.tile([1, 2], [x]), "tile: multiple -1 is negative"),
    (lambda x: hr.repeat([1, 2], x), "repeat: a number of repeats is -1; it must be 0 or more"),
    (lambda x: hr.linspace(0.0, 1.0, x), "range: 0 in steps of 1 never comes to -1"),
    (lambda x: hr.eye(x), "range: 0 in steps of 1 never comes to -1"),
])
def test_a_negative_extent_is_an_error_of_its_element(f: Any, message: str) -> None:
    with pytest.raises(hr.errors.InvalidArgumentError) as e:
        of(f, -1)
    assert message in str(e.value)
    kept = hr.Dataset.from_tensor_slices(np.array([2, -1, 2])).map(f).ignore_errors()
    assert len(list(kept)) == 2


def test_a_negative_bound_and_length_mean_what_they_do_elsewhere() -> None:
    assert of(lambda x: hr.constant([1, 2, 3])[:x], -1) == [[1, 2]]
    assert of(lambda x: hr.sequence_mask([2], x), -2) == [[[]]]


def test_rows_of_different_lengths_are_padded_and_batched() -> None:
    ds = hr.Dataset.range(1, 5).map(lambda x: hr.fill([x], x))
    assert lists(ds.padded_batch(2)) == [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
    assert [x.to_list() for x in ds.ragged_batch(3)] == [[[1], [2, 2], [3, 3, 3]], [[4, 4, 4, 4]]]


def test_functions_of_such_tensors_broadcast_in_each_element() -> None:
    assert of(lambda x: (hr.range(x) + x) * hr.ones([x], hr.int64)) == [[1], [2, 3], [3, 4, 5]]
    assert of(lambda x: hr.reduce_sum(hr.range(x))) == [0, 1, 3]


@pytest.mark.parametrize("f, message", [
    (lambda x: hr.fill([hr.cast(x, hr.float32)], 1), "dims must be an int or a scalar tensor of integers"),
    (lambda x: hr.fill(hr.range(x), 1), "how many extents there are must be known"),
    (lambda x: hr.tile([1, 2], [x, 1]), "2 multiples for shape [2]"),
    (lambda x: hr.constant([1, 2])[::x], "a slice's step is the same for all elements"),
    (lambda x: hr.range(hr.cast(x, hr.uint8)), "range: the numbers must be int32, int64 or floats without dtype"),
])
def test_what_cannot_be_is_refused_where_it_is_written(f: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError, hr.errors.InvalidArgumentError, hr.errors.OperatorNotAllowedInGraphError)) as e:
        hr.Dataset.range(1, 4).map(f)
    assert message in str(e.value)


# -- counts of inner datasets -----------------------------------------------------------------


def inner(f: Any, *numbers: int) -> list[Any]:
    return lists(hr.Dataset.from_tensor_slices(np.array(numbers or (0, 1, 2, 3))).flat_map(f))


def test_an_inner_dataset_is_repeated_as_often_as_the_element_says() -> None:
    ds = hr.Dataset.range(1, 4).interleave(lambda x: hr.Dataset.from_tensors(x).repeat(x), cycle_length=2)
    assert lists(ds) == [1, 2, 2, 3, 3, 3]
    assert ds.cardinality() == hr.UNKNOWN_CARDINALITY
    assert inner(lambda x: hr.Dataset.range(2).repeat(x)) == [0, 1] * 6
    for forever in (-1, -2):
        ds = hr.Dataset.from_tensors(np.int64(forever)).flat_map(lambda x: hr.Dataset.range(2).repeat(x))
        assert lists(ds.take(5)) == [0, 1, 0, 1, 0]


def test_an_inner_dataset_is_taken_and_skipped_as_the_element_says() -> None:
    assert inner(lambda x: hr.Dataset.range(3).take(x)) == [0, 0, 1, 0, 1, 2]
    assert inner(lambda x: hr.Dataset.range(3).take(x), -1, -2) == [0, 1, 2] * 2
    assert inner(lambda x: hr.Dataset.range(3).skip(x)) == [0, 1, 2, 1, 2, 2]
    assert inner(lambda x: hr.Dataset.range(3).skip(x), -1, -2) == []


def test_an_inner_dataset_has_batches_of_the_size_that_the_element_says() -> None:
    assert inner(lambda x: hr.Dataset.range(3).batch(x), 1, 2) == [[0], [1], [2], [0, 1], [2]]
    assert inner(lambda x: hr.Dataset.range(3).batch(x, drop_remainder=True), 2) == [[0, 1]]
    assert inner(lambda x: hr.Dataset.range(3).padded_batch(x), 2) == [[0, 1], [2]]
    ds = hr.Dataset.range(1, 4).flat_map(lambda x: hr.Dataset.range(3).batch(x, drop_remainder=True))
    assert ds.element_spec == hr.TensorSpec((None,), hr.int64)
    ragged = hr.Dataset.range(2, 3).flat_map(lambda x: hr.Dataset.range(3).map(hr.range).ragged_batch(x))
    assert [x.to_list() for x in ragged] == [[[], [0]], [[0, 1]]]


def test_an_inner_dataset_is_shuffled_within_the_buffer_that_the_element_says() -> None:
    assert inner(lambda x: hr.Dataset.range(3).shuffle(x), 1) == [0, 1, 2]
    assert sorted(inner(lambda x: hr.Dataset.range(3).shuffle(x), 5)) == [0, 1, 2]


def test_an_inner_dataset_sleeps_as_long_as_the_element_says() -> None:
    sleep = hr.data.experimental.sleep
    assert inner(lambda x: hr.Dataset.range(2).apply(sleep(x)), 0, 9) == [0, 1] * 2
    with pytest.raises(hr.errors.InvalidArgumentError, match="sleep_microseconds is -1; it must be between 0"):
        inner(lambda x: hr.Dataset.range(2).apply(sleep(x)), -1)


@pytest.mark.parametrize("f", [lambda x: hr.Dataset.range(3).batch(x), lambda x: hr.Dataset.range(3).padded_batch(x),
                               lambda x: hr.Dataset.range(3).shuffle(x)])
def test_a_size_below_one_is_an_error(f: Any) -> None:
    with pytest.raises(hr.errors.InvalidArgumentError, match="_size is 0; it must be at least 1"):
        inner(f, 0)


def test_counts_are_integers() -> None:
    with pytest.raises(TypeError, match="count must be an int or a scalar tensor of integers"):
        hr.Dataset.range(3).flat_map(lambda x: hr.Dataset.range(3).take(hr.cast(x, hr.float32)))
    with pytest.raises(TypeError, match="count must be an int or a scalar tensor of integers"):
        hr.Dataset.range(3).flat_map(lambda x: hr.Dataset.range(3).take(hr.stack([x, x])))
    assert lists(hr.Dataset.range(5).take(hr.constant(2))) == [0, 1], "one that is the same for all is a number"
    assert hr.Dataset.range(5).take(hr.constant(2)).cardinality() == 2


def test_an_iterator_goes_on_within_inner_datasets() -> None:
    ds = hr.Dataset.range(1, 6).interleave(
        lambda x: hr.Dataset.range(9).skip(x).take(x).repeat(x).batch(x), cycle_length=2, block_length=3)
    expected = lists(ds)
    for n in range(len(expected)):
        it = iter(ds)
        seen = [next(it).tolist() for _ in range(n)]
        after = iter(ds)
        after.restore(it.save())
        assert seen + [x.tolist() for x in after] == expected, n


def test_a_service_runs_them() -> None:
    dispatcher = hr.data.experimental.service.DispatchServer()
    worker = hr.data.experimental.service.WorkerServer(
        hr.data.experimental.service.WorkerConfig(dispatcher_address=dispatcher.target.split("://")[1]))
    ds = hr.Dataset.range(1, 6).flat_map(lambda x: hr.Dataset.range(9).skip(x).take(x).repeat(x).batch(x))
    there = ds.apply(hr.data.experimental.service.distribute("parallel_epochs", dispatcher.target))
    assert lists(there) == lists(ds)
    rows = hr.Dataset.range(1, 6).map(lambda x: hr.fill([x], x)[1:x])
    there = rows.apply(hr.data.experimental.service.distribute("parallel_epochs", dispatcher.target))
    assert lists(there) == lists(rows)
    del worker


# -- paddings -----------------------------------------------------------------------------------


def test_paddings_may_depend_on_the_element() -> None:
    x = [[1, 2]]
    assert of(lambda n: hr.pad(x, [[0, n - 1], [n, 0]], constant_values=9)) == [
        [[9, 1, 2]], [[9, 9, 1, 2], [9, 9, 9, 9]], [[9, 9, 9, 1, 2], [9] * 5, [9] * 5]]
    assert of(lambda n: hr.pad(["a"], hr.stack([hr.stack([n * 0, n])])), 1) == [[b"a", b""]]
    assert of(lambda n: hr.pad(x, hr.constant([[0, 0], [0, 1]])), 1) == [[[1, 2, 0]]]
    ds = hr.Dataset.range(1, 3).map(lambda n: hr.pad(hr.range(n), [[0, 3 - n]]))
    assert lists(ds) == [[0, 0, 0], [0, 1, 0]]
    with pytest.raises(hr.errors.InvalidArgumentError, match="an extent is -1"):
        of(lambda n: hr.pad(x, [[0, 0], [0, n]]), -1)
    with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match="pad mirrors as many values in all elements"):
        hr.Dataset.range(3).map(lambda n: hr.pad(x, [[0, 0], [0, n]], "REFLECT"))
    with pytest.raises(ValueError, match="paddings for 1 axes; the tensor has 2"):
        hr.Dataset.range(3).map(lambda n: hr.pad(x, [[0, n]]))


@pytest.mark.parametrize("value", [
    [True], [b"a"], [7], np.array([7], np.uint8), [1.5], np.array([1.5], np.float16), np.array([1j]),
])
def test_WithoutAFillerPadAddsZerosOfTheDtype(value):
    x = hr.Dataset.from_tensors(value).get_single_element()
    zero = b"" if x.dtype == object else np.zeros([], x.dtype)
    for f in (lambda x: hr.pad(x, [[1, 2]]), lambda x: hr.pad(x, [[1, hr.size(x) + 1]]),
              lambda x: hr.pad(x, [[1, 2]], constant_values=False)):
        out = hr.Dataset.from_tensors(x).map(f).get_single_element()
        assert out.dtype == x.dtype and out.tolist() == [zero, *x.tolist(), zero, zero]


@pytest.mark.parametrize("draw", [
    lambda shape: hr.random.stateless_uniform(shape, [1, 2]), lambda shape: hr.random.stateless_normal(shape, [1, 2]),
    lambda shape: hr.random.stateless_truncated_normal(shape, [1, 2], dtype=hr.float64),
    lambda shape: hr.random.stateless_uniform(shape, [1, 2], 3, 99, hr.int32)])
def test_WhatIsDrawnOfAComputedShapeIsThatOfTheSameKnownOne(draw):
    for shape in (lambda x: [x, 2], lambda x: hr.stack([x, 2]), lambda x: hr.shape(hr.zeros([x, 2]))):
        ds = hr.Dataset.range(1, 4).map(lambda x: draw(shape(x)))
        assert ds.element_spec.shape.as_list()[0] is None
        known = [hr.Dataset.from_tensors(draw([n, 2])).get_single_element().tolist() for n in (1, 2, 3)]
        assert lists(ds) == known


def test_DrawsOfEachElementMayHaveComputedShapes():
    drawn = list(hr.Dataset.range(3).map(lambda x: (hr.random.uniform([x]), hr.random.normal([2, x]))))
    assert [(a.shape, b.shape) for a, b in drawn] == [((0,), (2, 0)), ((1,), (2, 1)), ((2,), (2, 2))]
    with pytest.raises(hr.errors.InvalidArgumentError, match="never comes to -1"):
        of(lambda x: hr.random.uniform([x]), -1)
    with pytest.raises(ValueError, match="shape must be known when the function is traced"):
        hr.random.stateless_uniform(hr.TensorShape([None]), [1, 2])


@pytest.mark.parametrize("f, expected, shape", [
    (lambda x: hr.where(hr.range(4, dtype=hr.int64) > x), [[[2], [3]], [[3]], []], (None, 1)),
    (lambda x: hr.where(hr.reshape(hr.range(4, dtype=hr.int64), [2, 2]) > x), [[[1, 0], [1, 1]], [[1, 1]], []], (None, 2)),
    (lambda x: hr.where([x - 2, 0, x]), [[[0], [2]], [[2]], [[0], [2]]], (None, 1)),
    (lambda x: hr.where(hr.cast([x - 1, x], hr.float32)), [[[1]], [[0], [1]], [[0], [1]]], (None, 1)),
    (lambda x: hr.where(hr.range(x) > 0), [[], [[1]], [[1], [2]]], (None, 1)),
])
def test_WhereAloneGivesThePlacesThatAreTrue(f, expected, shape):
    ds = hr.Dataset.range(1, 4).map(f)
    assert ds.element_spec == hr.TensorSpec(shape, hr.int64)
    assert lists(ds) == expected


def test_WhereTakesBothSidesOrNone():
    with pytest.raises(ValueError, match="x and y must be given both, or none"):
        hr.where([True], 1)
    with pytest.raises(hr.errors.InvalidArgumentError, match="a scalar has no places"):
        hr.where(True)


CUBE = np.arange(8).reshape(2, 2, 2)


@pytest.mark.parametrize("mask, axis, expected, shape", [
    ([[True, False], [False, True]], None, [[0, 1], [6, 7]], (None, 2)),
    ([[True, False], [False, True]], 1, [[0, 3], [4, 7]], (2, None)),
    ([[True, False], [False, True]], -2, [[0, 3], [4, 7]], (2, None)),
    (CUBE > 3, None, [4, 5, 6, 7], (None,)),
    ([False, True], 1, [[[2, 3]], [[6, 7]]], (2, None, 2)),
    ([[False] * 2] * 2, 0, [], (None, 2)),
])
def test_AMaskMayHaveSeveralAxes(mask, axis, expected, shape):
    ds = hr.Dataset.from_tensors(CUBE).map(lambda x: hr.boolean_mask(x, mask, axis))
    assert ds.element_spec.shape.as_list() == list(shape)
    assert lists(ds) == [expected]


def test_AMaskFitsTheTensorInEachElement():
    def masked(rows, columns):
        x = hr.reshape(hr.range(rows * 2), [rows, 2])
        return hr.boolean_mask(x, hr.reshape(hr.range(columns * 2) % 3, [columns, 2]) == 0)
    pairs = hr.Dataset.from_tensor_slices(([1, 2, 3], [1, 2, 3]))
    assert lists(pairs.map(masked)) == [[0], [0, 3], [0, 3]]
    with pytest.raises(hr.errors.InvalidArgumentError, match="boolean_mask: mask and tensor have the same extents"):
        lists(hr.Dataset.from_tensors((2, 1)).map(masked))
    for mask, axis, error, match in [([True], 0, ValueError, "does not fit"), (True, 0, ValueError, "must have an axis"),
                                     ([True, False], 3, ValueError, "from axis 3 on"), ([1, 0], 0, TypeError, "of bools")]:
        with pytest.raises(error, match=match):
            hr.boolean_mask(CUBE, mask, axis)


def test_AShapeIsAVectorOfExtents():
    def of_shape(x):
        return {"zeros": hr.zeros(x.shape), "reshaped": hr.reshape(hr.range(6), x.shape), "filled": hr.fill([1] + x.shape[1:], "a"),
                "shape": x.shape, "none": x[0, 0].shape}
    ds = hr.Dataset.from_tensors(np.ones([2, 3])).map(of_shape)
    assert {key: (spec.dtype.name, spec.shape.as_list()) for key, spec in ds.element_spec.items()} == {
        "zeros": ("float32", [2, 3]), "reshaped": ("int32", [2, 3]), "filled": ("string", [1, 3]), "shape": ("int32", [2]),
        "none": ("int32", [0])}
    assert ds.get_single_element()["shape"].tolist() == [2, 3]
    assert hr.constant(hr.TensorShape([2**31])).dtype == hr.int64 and hr.constant(hr.TensorShape([2]), hr.int64).dtype == hr.int64
    for wrong in (lambda x: hr.zeros(x.shape), lambda x: hr.reshape(x, x.shape), lambda x: x.shape):
        with pytest.raises(ValueError, match=r"not wholly known.*headrace.shape"):
            hr.Dataset.range(4).batch(2).map(wrong)


def test_ShapesAreComparedAndPutTogether():
    shape = hr.TensorShape
    assert shape([2]) + (3,) == [2, 3] and [1] + shape([2]) == [1, 2] and (shape(None) + [1]).rank is None
    assert shape(None).merge_with([2]) == [2] and shape([2, 3]).most_specific_compatible_shape([2]).rank is None
    assert shape(None).is_compatible_with([2]) and not shape([2]).is_compatible_with([2, 2])
    for wrong in (lambda: shape([2]).merge_with([3]), lambda: shape([2]).with_rank(2), lambda: shape([2]).with_rank_at_least(2),
                  lambda: shape([2]).with_rank_at_most(0), lambda: shape([2]).assert_has_rank(0),
                  lambda: shape([2]).assert_same_rank([1, 2]), lambda: shape([None]).assert_is_fully_defined(),
                  lambda: shape([2]).assert_is_compatible_with([3])):
        with pytest.raises(ValueError):
            wrong()


def test_ADatasetIsShardedByNumbersOfTheElement():
    ds = hr.Dataset.range(3).interleave(lambda i: hr.Dataset.range(7).map(lambda x: {"a": x, "b": (x, -x)}).shard(3, i), cycle_length=3)
    assert [int(e["a"]) for e in ds] == [0, 1, 2, 3, 4, 5, 6] and all(e["b"][1] == -e["a"] for e in ds)
    assert list(hr.Dataset.range(1, 4).flat_map(lambda n: hr.Dataset.range(5).shard(n, n - 1))) == [0, 1, 2, 3, 4, 1, 3, 2]


@pytest.mark.parametrize(("shards", "index", "message"), [
    (3, 3, "index must be below num_shards: x = 3, y = 3"), (3, -1, "index must be 0 or more"), (0, 0, "num_shards must be 1 or more"),
])
def test_AWrongShardOfAnElementIsItsError(shards, index, message):
    ds = hr.Dataset.from_tensor_slices([[shards, index], [2, 1]]).flat_map(lambda x: hr.Dataset.range(4).shard(x[0], x[1]))
    with pytest.raises(hr.errors.InvalidArgumentError, match=message):
        list(ds)
    assert list(ds.ignore_errors()) == [1, 3]


def test_PartsOfAShapeWithoutARankAreNotKnown():
    shape = hr.TensorShape(None)
    assert shape[0] is None and shape[-1] is None and shape[:2].as_list() == shape[1:3].as_list() == [None, None]
    assert [part.rank for part in (shape[1:], shape[-2:], shape[:-1])] == [None] * 3
    ds = hr.Dataset.range(2).map(lambda n: hr.py_function(lambda m: m, [n], hr.int64)).map(lambda x: x + (1 if x.shape[-1] is None else 0))
    assert list(ds) == [1, 2]


@pytest.mark.parametrize("f", [hr.range, lambda n: hr.fill([2], n), lambda n: hr.zeros([n]), lambda n: hr.range(5)[:n]])
def test_OperandsWhoseRanksShowInTheElementsAreCheckedThere(f):
    def read(value):
        texts = hr.Dataset.from_tensors(value).map(hr.io.serialize_tensor)
        return list(texts.map(lambda text: f(hr.io.parse_tensor(text, hr.int64))))
    assert len(read(np.int64(3))) == 1
    for wrong in (np.arange(2), np.zeros(0, np.int64)):
        with pytest.raises(hr.errors.InvalidArgumentError):
            read(wrong)


def test_AnAxisThatIsNoneIsRefused():
    for f in (lambda x: hr.unstack(x, num=2, axis=5), lambda x: hr.repeat(x, 2, axis=5), lambda x: hr.repeat(x, 2, axis=-3)):
        with pytest.raises(hr.errors.InvalidArgumentError):
            hr.Dataset.from_tensors([[1, 2]]).map(f)


def test_UnstackDropsNoParts():
    rows = hr.Dataset.from_tensors([[1, 2], [3, 4]])
    assert len(rows.map(lambda x: tuple(hr.unstack(x, num=2))).get_single_element()) == 2
    for num in (-1, 0, 1, 3):
        with pytest.raises(hr.errors.InvalidArgumentError, match=f"num is {num}"):
            rows.map(lambda x: tuple(hr.unstack(x, num=num)))
    unknown = hr.Dataset.range(6).batch(4)  # batches of 4 and of 2
    with pytest.raises(hr.errors.InvalidArgumentError, match="num is 0"):
        unknown.map(lambda x: (x, *hr.unstack(x, num=0)))
    parts = iter(unknown.map(lambda x: tuple(hr.unstack(x, num=4))))
    assert next(parts) == (0, 1, 2, 3)
    with pytest.raises(hr.errors.InvalidArgumentError):
        next(parts)
    with pytest.raises(hr.errors.InvalidArgumentError):
        next(iter(unknown.map(lambda x: tuple(hr.unstack(x, num=3)))))


def rows_of(*lengths):
    return hr.Dataset.from_tensor_slices(np.array(lengths)).map(hr.range)


@pytest.mark.parametrize(("lengths", "values", "parts"), [
    ([2, 2], 4, [[0, 1], [2, 3]]), ([2, -1], 2, [[0, 1], []]), ([-1, 2], 3, [[0], [1, 2]]),
    ([1, -1, 2], 5, [[0], [1, 2], [3, 4]]), ([1, -1, 0], 3, [[0], [1, 2], []]),
    (hr.constant([1, 3]), 4, [[0], [1, 2, 3]]), ((0, 4), 4, [[], [0, 1, 2, 3]]),
])
def test_LengthsMakeUpAnExtentThatIsNotKnown(lengths, values, parts):
    known = hr.Dataset.from_tensors(np.arange(values)).map(lambda x: tuple(hr.split(x, lengths)))
    unknown = rows_of(values).map(lambda x: tuple(hr.split(x, lengths)))
    for ds in (known, unknown, rows_of(values).map(lambda x: tuple(hr.split(hr.stack([x, x], 1), lengths, -2))).map(
            lambda *both: tuple(x[:, 1] for x in both))):
        assert [x.tolist() for x in ds.get_single_element()] == parts
    numbers = hr.Dataset.from_tensors(hr.constant(lengths)).get_single_element()
    assert [spec.shape[0] for spec in unknown.element_spec] == [None if n == -1 else n for n in numbers]


@pytest.mark.parametrize(("lengths", "extent"), [
    ([2, 2], 5), ([2, 2], 3), ([2, -1], 1), ([-1, 2], 1), ([2, -1, 2], 3), ([1, 1], 0),
])
def test_SplitDropsNoValues(lengths, extent):
    with pytest.raises(ValueError, match=f"do not make up the {extent} of axis 0"):
        hr.split(np.arange(extent), lengths)
    for one in range(len(lengths)):
        ds = rows_of(extent, 4).map(lambda x: hr.split(x, lengths)[one])
        with pytest.raises(hr.errors.InvalidArgumentError, match="split: parts of|ensure_shape: the shape is"):
            next(iter(ds))
        assert len(list(ds.ignore_errors())) == (sum(lengths) == 4 or -1 in lengths)


def test_WrongLengthsOfPartsAreNamed():
    for x in (hr.Dataset.from_tensors(np.arange(4)), rows_of(4)):
        for wrong, message in [([-1, -1], r"the lengths are \[-1, -1\]"), ([-2, 6], "must be 0 or more")]:
            with pytest.raises(ValueError, match=message):
                x.map(lambda x: tuple(hr.split(x, wrong)))
        with pytest.raises(hr.errors.InvalidArgumentError, match="split: axis 1 of a tensor of shape"):
            x.map(lambda x: tuple(hr.split(x, [4], 1)))


def test_AxesOfUnstackAreKnownInts():
    rows = hr.Dataset.from_tensors([[1, 2], [3, 4]])
    for axis in (np.array(1), hr.constant(-1)):
        parts = rows.map(lambda x: tuple(hr.unstack(x, axis=axis))).get_single_element()
        assert [x.tolist() for x in parts] == [[1, 3], [2, 4]]
    with pytest.raises(TypeError, match="axis must be an int, not bool"):
        hr.unstack([1, 2], axis=True)
    unknown = hr.Dataset.from_generator(lambda: [[1]], output_signature=hr.TensorSpec(None, hr.int64))
    for f in (hr.unstack, lambda x: hr.split(x, 1)):
        with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match="needs to know how many axes there are"):
            unknown.map(lambda x: tuple(f(x)))


@pytest.mark.parametrize("f", [
    lambda: hr.zeros(None), lambda: hr.fill(None, 3), lambda: hr.reshape([1], None), lambda: hr.reverse([[1, 2]], None),
    lambda: hr.roll([1, 2], None, None), lambda: hr.random.stateless_uniform(None, [1, 2]),
    lambda: hr.slice([1], [0], None),
])
def test_NoneIsNoShapeAndNoAxis(f):
    with pytest.raises(TypeError, match=r"(shape|dims|axis|shift|size) must be an int or a list of ints, not None"):
        f()


@pytest.mark.parametrize(("f", "error", "message"), [
    (lambda: hr.range(0, 3, 0), ValueError, "range: delta is 0; it must be another number"),
    (lambda: hr.range(0.0, 3.0, 0), ValueError, "range: delta is 0; it must be another number"),
    (lambda: hr.range(300, dtype=hr.uint8), ValueError, "range: the numbers from 0 to 299 do not fit uint8"),
    (lambda: hr.range(0, -3, -1, hr.uint64), ValueError, "range: the numbers from 0 to -2 do not fit uint64"),
    (lambda: hr.sequence_mask([1.5], 2), TypeError, "sequence_mask: lengths must be integers, not float32"),
    (lambda: hr.pad([1, 2], [1, 1]), ValueError, "pad: each axis has two paddings"),
])
def test_WrongNumbersAreNamed(f, error, message):
    with pytest.raises(error, match=message):
        f()


def test_ARangeMayEndAtTheLargestNumberOfItsDtype():
    assert hr.Dataset.from_tensors(hr.range(254, 256, dtype=hr.uint8)).get_single_element().tolist() == [254, 255]
    assert hr.Dataset.from_tensors(hr.range(2, -1, -1, hr.uint8)).get_single_element().tolist() == [2, 1, 0]


def test_AGeneratorOfDatasetsIsReadOnce():
    def two():
        yield from (hr.Dataset.range(2), hr.Dataset.range(2, 4))
    chosen = hr.Dataset.from_tensor_slices(np.array([1, 0, 1]))
    assert list(hr.Dataset.choose_from_datasets(two(), chosen)) == [2, 0, 3]
    assert sorted(hr.Dataset.sample_from_datasets(two(), seed=1)) == [0, 1, 2, 3]
    assert hr.Dataset.from_tensors(np.array([1 + 2j, 3])).map(np.mean).get_single_element() == 2 + 1j

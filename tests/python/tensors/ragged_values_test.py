"""Ragged tensors of nested lists, and datasets of ragged tensors and their rows."""

from __future__ import annotations

import random

import numpy as np
import pytest

import headrace as hr
from headrace import Dataset
from headrace.ragged import constant


def deep(x):
    if isinstance(x, tuple):
        return tuple(map(deep, x))
    if isinstance(x, dict):
        return {key: deep(part) for key, part in x.items()}
    return x.to_list() if isinstance(x, hr.RaggedTensor) else x.tolist()


@pytest.mark.parametrize("given, options, rank, dtype, shape", [
    # Ranks, dtypes and shapes of the values are those of TensorFlow 2.21.
    ([[1, 2], [3]], {}, 1, hr.int32, (3,)),
    ([[1.5], []], {}, 1, hr.float32, (1,)),
    ([[b"a"], [b"b", b"c"]], {}, 1, hr.string, (3,)),
    ([[True], []], {}, 1, hr.bool, (1,)),
    ([[2**40]], {}, 1, hr.int64, (1,)),
    ([[], []], {}, 1, hr.float32, (0,)),
    ([[], [[1]]], {}, 2, hr.int32, (1,)),
    ([[[]], []], {}, 2, hr.float32, (0,)),
    ([[[]], []], {"dtype": hr.string}, 2, hr.string, (0,)),
    ([[[1, 2], [3]], [[4]]], {}, 2, hr.int32, (4,)),
    ([[[1, 2], [3, 4]], [[5, 6]]], {"ragged_rank": 1}, 1, hr.int32, (3, 2)),
    ([[[1, 2], [3, 4]], [[5, 6]]], {"inner_shape": (2,)}, 1, hr.int32, (3, 2)),
    ([[], []], {"ragged_rank": 1, "inner_shape": (3,)}, 1, hr.float32, (0, 3)),
    ([[1], [2, 3]], {"dtype": hr.float32}, 1, hr.float32, (3,)),
    ([], {"ragged_rank": 1}, 1, hr.float32, (0,)),
])
def test_NestedListsAreARaggedTensor(given, options, rank, dtype, shape):
    out = constant(given, **options)
    assert isinstance(out, hr.RaggedTensor) and out.to_list() == given
    assert (out.ragged_rank, out.dtype, out.flat_values.shape) == (rank, dtype, shape)


def test_ListsWithoutRowsAreATensor():
    for given in ([], [1, 2], 3):
        assert isinstance(constant(given), hr.Tensor)
    assert deep(Dataset.from_tensors(constant([[1, 2]], ragged_rank=0)).get_single_element()) == [[1, 2]]


def test_StringsAndArraysAreTaken():
    assert constant([["a"], ["é", b"\x00"]]).to_list() == [[b"a"], ["é".encode(), b"\x00"]]
    assert constant([np.array([1, 2]), (3,)]).to_list() == [[1, 2], [3]]
    assert constant(np.array([[1, 2], [3, 4]])).dtype == hr.int32


@pytest.mark.parametrize("given, options, error, text", [
    ([[1], 2], {}, ValueError, "equally deep"),
    ([[1], [[2]]], {}, ValueError, "equally deep"),
    ([[1, 2]], {"ragged_rank": 2}, ValueError, "between 0 and 1"),
    ([[1, 2], [3]], {"ragged_rank": 0}, ValueError, "lengths differ"),
    ([[[1, 2], [3]], [[5, 6]]], {"ragged_rank": 1}, ValueError, "lengths differ"),
    ([[[1, 2]]], {"inner_shape": (3,)}, ValueError, "inner_shape"),
    ([[1.5]], {"dtype": hr.int32}, TypeError, "no int32"),
    ([["a"]], {"dtype": hr.int32}, TypeError, "no int32"),
    ([[1]], {"dtype": hr.string}, TypeError, "no string"),
    ([[300]], {"dtype": hr.uint8}, ValueError, "range of uint8"),
    ([[1], ["a"]], {}, ValueError, "several types"),
    ([[1]], {"row_splits_dtype": hr.int32}, hr.errors.UnimplementedError, "row_splits_dtype"),
])
def test_WhatIsNoRaggedTensorSaysWhy(given, options, error, text):
    with pytest.raises(error, match=text):
        constant(given, **options)


def test_RowsOfARaggedTensorAreElements():
    # This tensor has as many values as rows. The elements must be the rows, and not the values.
    assert deep(tuple(Dataset.from_tensor_slices(constant([[1, 2], [], [3]])))) == ([1, 2], [], [3])
    ds = Dataset.from_tensor_slices({"r": constant([[[1, 2], [3]], [], [[4], [], [5]]]), "x": [1, 2, 3]})
    assert ds.element_spec["r"] == hr.RaggedTensorSpec([None, None], hr.int32) and ds.cardinality() == 3
    assert deep(tuple(ds)) == ({"r": [[1, 2], [3]], "x": 1}, {"r": [], "x": 2}, {"r": [[4], [], [5]], "x": 3})
    pairs = Dataset.from_tensor_slices(constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1))
    assert pairs.element_spec == hr.TensorSpec([None, 2], hr.int32)
    assert deep(tuple(pairs)) == ([[1, 2], [3, 4]], [[5, 6]])
    assert list(Dataset.from_tensor_slices(constant([[1, 2], [], [3]])).map(hr.reduce_sum)) == [3, 0, 3]
    with pytest.raises(ValueError, match="rows"):
        Dataset.from_tensor_slices((constant([[1], [2]]), [1, 2, 3]))


def test_RaggedTensorsAreBatchedAndTakenApart():
    ragged = Dataset.from_tensors((constant([[1, 2], [], [3]]), 7)).repeat(2)
    batch = ragged.batch(2)
    assert batch.element_spec[0].ragged_rank == 2
    assert deep(tuple(batch)) == (([[[1, 2], [], [3]], [[1, 2], [], [3]]], [7, 7]),)
    assert deep(tuple(batch.unbatch())) == deep(tuple(ragged))
    assert deep(tuple(ragged.map(lambda r, x: r).unbatch())) == ([1, 2], [], [3]) * 2
    assert deep(tuple(ragged.map(lambda r, x: r).batch(3, drop_remainder=True))) == ()
    of_texts = Dataset.from_tensor_slices([["a b", "c"], ["", "d"], ["e", "f g"]]).map(hr.strings.split)
    assert deep(tuple(of_texts.batch(2))) == ([[[b"a", b"b"], [b"c"]], [[], [b"d"]]], [[[b"e"], [b"f", b"g"]]])


def test_AnyRaggedTensorsComeBackFromABatch():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    draw = random.Random(seed)

    def lists(depth):
        return [lists(depth - 1) if depth > 1 else draw.randint(0, 9) for _ in range(draw.randint(0, 3))]

    for _ in range(20):
        depth = draw.randint(2, 4)
        given = [lists(depth) for _ in range(draw.randint(1, 5))]
        spec = hr.RaggedTensorSpec([None] * depth, hr.int32)
        ds = Dataset.from_generator(lambda given=given, depth=depth: (
            constant(x, hr.int32, depth - 1) for x in given), output_signature=spec)
        size = draw.randint(1, 3)
        batches = [given[i:i + size] for i in range(0, len(given), size)]
        assert [x.to_list() for x in ds.batch(size)] == batches
        assert [x.to_list() for x in ds.ragged_batch(size)] == batches
        assert [x.to_list() if depth > 1 else x.tolist() for x in ds.batch(size).unbatch()] == given
        assert [deep(x) for x in ds.unbatch()] == [row for x in given for row in x]


def test_BesideRaggedTensorsABatchHasTensorsOfOneShape():
    ds = Dataset.range(1, 3).flat_map(lambda n: Dataset.range(n).batch(9)).map(lambda x: (x, hr.strings.split(["a b"])))
    with pytest.raises(hr.errors.UnimplementedError, match="ragged_batch"):
        ds.batch(2)
    assert deep(tuple(ds.ragged_batch(2))) == (([[0], [0, 1]], [[[b"a", b"b"]], [[b"a", b"b"]]]),)


@pytest.mark.parametrize("splits", [[1, 3], [], [[0, 3]], 3])
def test_RowSplitsBeginWithZero(splits):
    with pytest.raises(ValueError, match="begins with 0"):
        hr.RaggedTensor.from_row_splits([1, 2, 3], splits)


@pytest.mark.parametrize(("make", "rows", "message"), [
    (hr.RaggedTensor.from_row_lengths, [1, 1], "row lengths add up to the number of values: x = 2, y = 3"),
    (hr.RaggedTensor.from_row_lengths, [2, 2], "row lengths add up to the number of values: x = 4, y = 3"),
    (hr.RaggedTensor.from_row_lengths, [4, -1], "row lengths are 0 or more"),
    (hr.RaggedTensor.from_row_splits, [1, 3], "row_splits begins with 0"),
    (hr.RaggedTensor.from_row_splits, [0, 2], "row lengths add up to the number of values"),
    (hr.RaggedTensor.from_row_splits, [0, 2, 1, 3], "row lengths are 0 or more"),
])
def test_RowsThatDoNotMakeUpTheValuesAreAnErrorOfTheElement(make, rows, message):
    with pytest.raises(ValueError):
        make([1, 2, 3], rows)
    with pytest.raises(hr.errors.InvalidArgumentError, match=message):
        make(hr.constant([1, 2, 3]), hr.constant(rows))
    ds = Dataset.from_tensors(([1, 2, 3], rows))
    for f in (make, lambda x, y: make(x, y).flat_values, lambda x, y: make(x, y).row_lengths()):
        with pytest.raises(hr.errors.InvalidArgumentError, match=message):
            list(ds.map(f))


def test_RowsOfRaggedValuesAreCounted():
    def three_deep(values, inner, middle, outer):
        rows = hr.RaggedTensor.from_row_lengths(values, inner)
        return hr.RaggedTensor.from_row_splits(hr.RaggedTensor.from_row_lengths(rows, middle), outer)
    parts = np.arange(4), np.array([1, 0, 3]), np.array([2, 1, 0])
    wanted = [[[[0], []]], [[[1, 2, 3]], []]]
    for splits in (np.array([0, 1, 3]), np.array([0, 1, 3], np.uint8)):
        assert three_deep(*parts, splits).to_list() == wanted
        assert Dataset.from_tensors((*parts, splits)).map(three_deep).get_single_element().to_list() == wanted
    for wrong in ([0, 1], [0, 1, 4]):
        with pytest.raises(hr.errors.InvalidArgumentError, match="row lengths add up to the number of values"):
            Dataset.from_tensors((*parts, np.array(wrong))).map(three_deep).get_single_element()

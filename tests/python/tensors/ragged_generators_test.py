"""Generators and Python functions that give ragged tensors, as RaggedTensors or as nested lists."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr


def given(*values, spec):
    return hr.Dataset.from_generator(lambda: iter(values), output_signature=spec)


def test_RaggedTensorsAndNestedListsComeAsTheyWereGiven():
    ds = given([[1, 2], [3]], hr.RaggedTensor.from_row_lengths(np.array([4, 5, 6], np.int32), [1, 2]), [[], []],
               spec=hr.RaggedTensorSpec([2, None], hr.int32))
    assert ds.element_spec == hr.RaggedTensorSpec([2, None], hr.int32)
    assert [x.to_list() for x in ds] == [[[1, 2], [3]], [[4], [5, 6]], [[], []]]


def test_RowsOfRows():
    ds = given([[[1.5], []], [[2.5, 3.5]]], spec=hr.RaggedTensorSpec([None, None, None], hr.float32))
    assert [x.to_list() for x in ds] == [[[[1.5], []], [[2.5, 3.5]]]]


def test_FloatsKeepTheirDigits():
    ds = given([[0.1]], spec=hr.RaggedTensorSpec([None, None], hr.float64))
    assert [x.to_list() for x in ds] == [[[0.1]]]


def test_BesideOtherTensors():
    ds = given({"words": [[b"a"], []], "n": 3},
               spec={"words": hr.RaggedTensorSpec([None, None], hr.string), "n": hr.TensorSpec([], hr.int64)})
    assert [x["words"].to_list() for x in ds] == [[[b"a"], []]]
    assert [x.tolist() for x in ds.map(lambda e: e["words"].row_lengths())] == [[1, 0]]


def test_APythonFunctionMayGiveThem():
    split = hr.py_function(lambda n: [list(range(int(n))), [int(n)]], hr.RaggedTensorSpec([2, None], hr.int64))
    assert [x.to_list() for x in hr.Dataset.range(3).map(split)] == [[[], [0]], [[0], [1]], [[0, 1], [2]]]


@pytest.mark.parametrize("value, kind", [([[1.5]], hr.int32), ([[2**40]], hr.int32), ([[300]], hr.uint8)])
def test_NumbersThatDoNotFitAreErrors(value, kind):
    with pytest.raises(hr.errors.OpError, match="from_generator"):
        list(given(value, spec=hr.RaggedTensorSpec([None, None], kind)))


@pytest.mark.parametrize("value", [[1, 2], 3, "text"])
def test_WhatIsNotNestedSoDeepIsAnError(value):
    with pytest.raises(hr.errors.OpError, match="from_generator"):
        list(given(value, spec=hr.RaggedTensorSpec([None, None], hr.int32)))


@pytest.mark.parametrize("arguments, text", [
    ({}, "must have a rank"), ({"shape": [3]}, "ragged_rank is 0"), ({"shape": [None, 3]}, "must be None"),
    ({"shape": [None, None], "ragged_rank": 2}, "between 1 and 1"),
    ({"shape": [None, None], "row_splits_dtype": hr.int32}, "row_splits_dtype must be int64"),
])
def test_SpecsThatCannotBeSayWhy(arguments, text):
    with pytest.raises(ValueError, match=text):
        hr.RaggedTensorSpec(**arguments)


def test_AnIteratorsSpecFitsIteratorsAlone():
    spec = hr.data.IteratorSpec(hr.TensorSpec([], hr.int64))
    ds = hr.Dataset.range(3)
    assert spec.is_compatible_with(iter(ds)) and not spec.is_compatible_with(ds)
    assert not spec.is_compatible_with(hr.DatasetSpec.from_value(ds))

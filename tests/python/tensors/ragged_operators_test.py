"""Operators on ragged tensors. The expected values are those of TensorFlow 2.21."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import headrace as hr

ROWS = hr.ragged.constant([[1, 2, 3], [], [5]])


def in_a_function(f, *ragged):
    return hr.Dataset.from_tensors(tuple(ragged)).map(f).get_single_element()


def outside(f, *ragged):
    return f(*ragged)


@pytest.mark.parametrize("where", [in_a_function, outside])
@pytest.mark.parametrize("f", [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.truediv, operator.pow,
                               operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.and_, operator.xor])
def test_an_operator_is_of_each_value(where, f):
    for other in (2, np.int64(2), np.array(2, np.int32)):
        flat = f(np.int32([1, 2, 3, 5]), np.int32(2)).tolist()
        got = where(lambda r: f(r, other), ROWS)
        assert got.to_list() == [flat[:3], [], flat[3:]] and got.dtype == in_a_function(lambda x: f(x, 2), np.int32(1)).dtype.name
        flat = f(np.int32(2), np.int32([1, 2, 3, 5])).tolist()
        assert where(lambda r: f(other, r), ROWS).to_list() == [flat[:3], [], flat[3:]]
    flat = f(np.int32([1, 2, 3, 5]), np.int32([1, 2, 3, 5])).tolist()
    assert where(lambda r, s: f(r, s), ROWS, ROWS).to_list() == [flat[:3], [], flat[3:]]


@pytest.mark.parametrize("where", [in_a_function, outside])
def test_one_operand_has_operators_too(where):
    assert where(lambda r: -r, ROWS).to_list() == [[-1, -2, -3], [], [-5]]
    assert where(lambda r: abs(-r), ROWS).to_list() == ROWS.to_list()
    assert where(lambda r: ~(r > 2), ROWS).to_list() == [[True, True, False], [], [False]]
    assert where(lambda r: hr.cast(r, hr.float32) / 2, ROWS).to_list() == [[0.5, 1, 1.5], [], [2.5]]
    assert where(lambda r: hr.ragged.map_flat_values(hr.maximum, r, 2), ROWS).to_list() == [[2, 2, 3], [], [5]]


def test_a_tensor_of_the_element_stands_beside_a_ragged_tensor():
    r, n = hr.Dataset.from_tensors((ROWS, np.int32(10))).map(lambda r, n: (r * n, n)).get_single_element()
    assert r.to_list() == [[10, 20, 30], [], [50]] and n == 10


def test_rows_of_rows_keep_their_lengths():
    deep = hr.ragged.constant([[[1], [2, 3]], []])
    assert in_a_function(lambda r: r + r, deep).to_list() == [[[2], [4, 6]], []]


def test_rows_of_other_lengths_are_an_error_of_the_element():
    one, other = hr.ragged.constant([[1], [2, 3]]), hr.ragged.constant([[1, 2], [3]])
    ds = hr.Dataset.from_tensors((one, other)).concatenate(hr.Dataset.from_tensors((one, one)))
    with pytest.raises(hr.errors.InvalidArgumentError, match="the rows of two RaggedTensors differ in length: x = .1, 2., y = .2, 1."):
        list(ds.map(lambda a, b: a + b))
    (left,) = ds.map(lambda a, b: a + b).ignore_errors()
    assert left.to_list() == [[2], [4, 6]]


@pytest.mark.parametrize(("f", "message"), [
    (lambda r: bool(r), "a RaggedTensor has no truth value"),
    (lambda r: r + [1, 2, 3], "must be a scalar, or a RaggedTensor whose rows have the same lengths"),
    (lambda r: r + hr.ragged.constant([[[1]], [[2]], [[3]]]), "1 ragged axes stands beside one with 2"),
    (lambda r: hr.reduce_sum(r, 1), "a RaggedTensor stands where a tensor is needed: to_tensor"),
    (lambda r: hr.concat([r, r], 1), "a RaggedTensor stands where a tensor is needed: to_tensor"),
    (lambda r: hr.ragged.map_flat_values(abs, 3), "no argument is a RaggedTensor"),
])
def test_what_is_not_to_be_had_says_what_is(f, message):
    with pytest.raises(ValueError, match=message):
        f(ROWS)

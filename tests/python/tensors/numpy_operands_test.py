"""Numbers and arrays of numpy as operands of tensors: they take the tensor's dtype. The expected values are those of
TensorFlow 2.21, unless a comment states otherwise.
"""

from __future__ import annotations

import operator

import numpy as np
import pytest

import headrace as hr


def of(f, dtype, value=3):
    """The result of a function for a tensor of this dtype."""
    return hr.Dataset.from_tensors(np.array(value, dtype)).map(f).get_single_element()


def is_equal(value, expected):
    return value.dtype == expected.dtype and np.array_equal(value, expected)


OPERANDS = [np.float64(2.0), np.int32(2), np.int64(2), np.uint8(2), np.array([1.0, 2.0]), np.array([1, 2]), [np.float64(2), np.float64(1)]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32", "uint8"])
@pytest.mark.parametrize("f", [operator.add, operator.sub, operator.mul, operator.eq, operator.lt, operator.ge, operator.pow, operator.mod])
def test_an_operand_of_numpy_takes_the_dtype_of_the_tensor_on_either_side(f, dtype):
    for operand in OPERANDS:
        as_it_is = np.asarray(operand).astype(dtype)
        assert is_equal(of(lambda x: f(x, operand), dtype), f(np.array(3, dtype), as_it_is))
        if not isinstance(operand, list):  # with a list on the left, Python would use the list's operator
            assert is_equal(of(lambda x: f(operand, x), dtype), f(as_it_is, np.array(3, dtype)))


@pytest.mark.parametrize("f", [
    hr.maximum, hr.minimum, hr.math.squared_difference, hr.math.divide_no_nan, lambda x, y: hr.where(x > 5, x, y),
    lambda x, y: hr.clip_by_value(x, y, y), lambda x, y: hr.stack([x, y]), lambda x, y: np.maximum(y, x), lambda x, y: np.where(x > 5, y, x),
    lambda x, y: np.clip(x, y, y), lambda x, y: hr.concat([[x], [y]], 0),
])
def test_functions_of_two_tensors_take_numbers_of_numpy(f):
    assert is_equal(of(lambda x: f(x, np.float64(2.5)), "float32"), of(lambda x: f(x, 2.5), "float32"))


def test_images_are_normalized_by_numbers_that_numpy_computed():
    images = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    mean, std = images.mean((0, 1), np.float64), images.std((0, 1), np.float64)
    done = of(lambda x: (x - mean) / std, "float32", images)
    assert is_equal(done, (images - mean.astype(np.float32)) / std.astype(np.float32))
    assert is_equal(of(lambda x: hr.matmul(x, np.eye(3)), "float32", images), images)


def test_bools_are_0_and_1_beside_numbers():
    assert is_equal(of(lambda x: x * np.array([True, False]), "float32"), np.array([3, 0], np.float32))


@pytest.mark.parametrize(("dtype", "operand"), [
    ("int64", np.float64(2.5)), ("int64", np.array([1.0, np.nan])), ("int64", np.float64(2.0**63)), ("int32", np.int64(2**40)),
    ("uint8", np.int64(300)), ("uint8", np.int64(-1)), ("uint64", np.int64(-1)), ("int64", np.uint64(2**63)), ("float16", np.float64(1e6)),
    ("float32", np.float64(1e300)), ("float32", np.complex64(1j)), ("bool", np.int64(1)),
])
def test_a_number_that_would_become_another_one_is_an_error(dtype, operand):
    # TensorFlow truncates or wraps the number.
    with pytest.raises(hr.errors.InvalidArgumentError, match=rf"does not fit the other operand, which is {dtype}; cast one"):
        of(lambda x: x == operand, dtype, 1)


def test_infinity_and_nan_fit_floats():
    assert is_equal(of(lambda x: x < np.float64("inf"), "float32"), np.True_)
    assert is_equal(of(lambda x: x == np.array([np.nan, 3]), "float16"), np.array([False, True]))


@pytest.mark.parametrize("f", [
    lambda x: hr.stack([[x, np.float64(1)]]), lambda x: hr.concat([[x, np.float64(1)], [x]], 0), lambda x: hr.convert_to_tensor([x, np.float64(1)]),
    lambda x: x + [1, np.float64(2)], lambda x: x + [np.float64(1), 2],
])
def test_numbers_of_numpy_in_lists_take_the_dtype_too(f):
    assert of(f, "float32").dtype == np.float32


def test_each_number_of_a_list_is_looked_at():
    for numbers in ([np.float64(1e300), 1], [1, np.float64(1e300)]):
        with pytest.raises(hr.errors.InvalidArgumentError, match="does not fit the other operand"):
            of(lambda x: x + numbers, "float32")


@pytest.mark.parametrize(("bounds", "dtype"), [
    ((np.int64(3),), "int64"), ((np.float64(3),), "float64"), ((np.float64(0), 1, np.float64(0.25)), "float64"), ((np.int32(3),), "int32"), ((3,), "int32"),
    ((0, np.int64(3)), "int64"), ((np.float32(0), 1, 0.25), "float32"), ((np.int64(0), 1.0, 0.5), "float32"),
])
def test_a_range_of_numbers_of_numpy_has_their_dtype(bounds, dtype):
    assert hr.range(*bounds).dtype.name == dtype
    assert hr.Dataset.range(1).map(lambda _: hr.range(*bounds)).element_spec.dtype.name == dtype

"""Python's own functions (``len``, ``int``, ``sorted`` ...) of tensors, in functions that are traced. The expected
values are those of TensorFlow 2.21.
"""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

Dataset = hr.Dataset
#: Vectors of 2 and 3 numbers, [-0, -1] and [-0, -1, -2].
VECTORS = Dataset.range(2, 4).map(lambda n: -hr.range(n))


def read(f, ds):
    ds = ds.map(f)
    return ds.element_spec.dtype.name, [x.tolist() for x in ds]


@pytest.mark.parametrize(("f", "ds", "dtype", "values"), [
    (lambda v: len(v), VECTORS, "int32", [2, 3]), (lambda v: len(v) * 2 + 1, VECTORS, "int32", [5, 7]),
    (lambda v: len(v), Dataset.range(5).batch(2), "int32", [2, 2, 1]), (lambda v: v * 0 + len(v), Dataset.from_tensors([7, 8]), "int32", [[2, 2]]),
    (lambda x: int(x), Dataset.range(2, 4), "int32", [2, 3]), (lambda x: int(hr.cast(x, hr.float32) * -1.7), Dataset.range(2, 4), "int32", [-3, -5]),
    (lambda x: int(hr.strings.as_string(x)), Dataset.range(2, 4), "int32", [2, 3]),
    (lambda x: float(x) / 2, Dataset.range(2, 4), "float32", [1.0, 1.5]),
    (lambda x: float(hr.strings.as_string(x)), Dataset.range(2, 4), "float32", [2.0, 3.0]),
    (lambda v: sorted(v), VECTORS, "int64", [[-1, 0], [-2, -1, 0]]), (lambda v: sorted(v, reverse=True), VECTORS, "int64", [[0, -1], [0, -1, -2]]),
    (lambda x: hr.reduce_sum(range(x)), Dataset.range(2, 5), "int64", [1, 3, 6]), (lambda x: range(1, x, 2), Dataset.range(5, 6), "int64", [[1, 3]]),
])
def test_they_are_tensors(f, ds, dtype, values):
    assert read(f, ds) == (dtype, values)


def test_of_python_s_values_they_are_python_s():
    seen = []

    def f(x):
        seen.append((len([1, 2]), int("12"), int("ff", 16), float("1.5"), int(), range(3), sorted([2, 1], key=lambda n: -n, reverse=True)))
        return x if x > 0 else -x
    list(Dataset.range(1).map(f))
    assert set(map(repr, seen)) == {"(2, 12, 255, 1.5, 0, range(0, 3), [1, 2])"}


def test_their_lengths_and_numbers_go_where_tensors_go():
    ds = VECTORS.map(lambda v: hr.fill([len(v)], int(hr.reduce_sum(v))))
    assert [x.tolist() for x in ds] == [[-1, -1], [-3, -3, -3]]


@pytest.mark.parametrize(("f", "message"), [
    (lambda v: sorted(v, key=lambda x: -x), "there is no key for a tensor"), (lambda v: sorted(hr.stack([v, v])), "is no vector"),
    (lambda v: len(v[0]), "a scalar tensor has no len"),
    (lambda v: max(v), "Python needs to know here how many parts a tensor has"),
])
def test_what_they_do_not_do_is_an_error(f, message):
    with pytest.raises((ValueError, TypeError), match=message):
        VECTORS.map(f)


def test_a_number_that_is_out_of_range_is_an_error_of_the_element():
    ds = Dataset.from_tensor_slices(np.array([5, 2**40])).map(lambda x: int(x))
    assert list(ds.ignore_errors()) == [5]


def test_the_length_of_a_dataset_without_end_is_an_error():
    endless = Dataset.range(3).repeat()
    with pytest.raises((TypeError, ValueError), match="never ends|infinite|endless"):
        list(Dataset.range(1).map(lambda x: x + len(endless)))
    with pytest.raises(hr.errors.InvalidArgumentError, match="never ends"):
        list(Dataset.range(6).window(3).map(lambda w: len(w.repeat())))
    assert list(Dataset.range(6).window(4).map(lambda w: len(w))) == [4, 2]

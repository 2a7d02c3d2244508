"""Functions of an inner dataset that use the parameter of the outer function. The parameter is a row of a column in
which the rows have different shapes.
"""

import numpy as np
import pytest

import headrace as hr

N, M = 13, 9


def of(n, start):
    return hr.range(n % 3 + 1) + start


def same(a, b):
    if isinstance(a, hr.RaggedTensor):
        return a.to_list() == b.to_list()
    return np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("f", [
    lambda o, x: o + x, lambda o, x: x - o, lambda o, x: hr.maximum(o, x), lambda o, x: o == x, lambda o, x: (o + 1) * x + o,
    lambda o, x: hr.where(x > 0, o, x), lambda o, x: o // (x + 1), lambda o, x: hr.cast(o, hr.float32) * 0.5,
    lambda o, x: hr.concat([o, x], 0), lambda o, x: hr.reverse(o, [0]), lambda o, x: hr.reduce_sum(o) + x,
    lambda o, x: hr.expand_dims(o, 0) + hr.expand_dims(x, 1), lambda o, x: hr.strings.as_string(o),
    lambda o, x: hr.strings.join([hr.strings.as_string(o), hr.strings.as_string(x)], "-"),
    lambda o, x: hr.strings.as_string(o) == hr.strings.as_string(x), lambda o, x: hr.gather(o, x % hr.cast(hr.size(o), hr.int64)),
    lambda o, x: hr.one_hot(o % 4, 4), lambda o, x: hr.sort(o, direction="DESCENDING"), lambda o, x: hr.shape(o) + hr.shape(x),
    lambda o, x: hr.clip_by_value(o, x[0], 3), lambda o, x: hr.cumsum(o) + x[0], lambda o, x: hr.tile(o, [2]),
])
@pytest.mark.parametrize("nested", ["flat_map", "interleave"])
def test_AreThoseOfTheirElement(f, nested):
    def alone(n, m):
        try:
            pair = hr.Dataset.from_tensors((np.int64(n), np.int64(m)))
            return next(iter(pair.map(lambda n, m: f(of(n, 10 * n), of(m, 0)))))
        except hr.errors.OpError:
            return None

    want = [alone(n, m) for n in range(N) for m in range(M)]
    outer = hr.Dataset.range(N).map(lambda n: of(n, 10 * n)).prefetch(64)

    def inner(o):
        return hr.Dataset.range(M).map(lambda m: of(m, 0)).map(lambda x: f(o, x)).ignore_errors()
    how = {"cycle_length": 1} if nested == "interleave" else {}
    got = list(getattr(outer, nested)(inner, **how).prefetch(2))
    want = [x for x in want if x is not None]
    assert len(got) == len(want) > N
    assert all(same(a, b) for a, b in zip(got, want))

"""``py_function`` and ``numpy_function`` of tensors, inside functions that are traced."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import headrace as hr


def square(n: Any) -> Any:
    return n * n


def halves(n: Any) -> Any:
    return n // 2, np.full([int(n)], 0.5, np.float32)


def named(n: Any) -> str:
    return f"element {n}"


def of(f: Any, n: int = 4) -> list[Any]:
    return list(hr.Dataset.range(n).map(f))


def test_it_gives_tensors_that_the_function_goes_on_with() -> None:
    assert of(lambda x: hr.py_function(square, [x], hr.int64) + x) == [0, 2, 6, 12]
    assert of(lambda x: hr.py_function(square, inp=[x], Tout=hr.TensorSpec([], hr.int64))) == [0, 1, 4, 9]
    assert of(lambda x: hr.numpy_function(square, [x * 2], hr.int64)) == [0, 4, 16, 36]
    assert of(lambda x: hr.py_function(named, [x], hr.string), 2) == [b"element 0", b"element 1"]


def test_a_list_of_dtypes_gives_a_list() -> None:
    def f(x: Any) -> Any:
        half, filled = hr.py_function(halves, [x], [hr.int64, hr.float32])
        return half, hr.reduce_sum(filled)
    assert of(f) == [(0, 0.0), (0, 0.5), (1, 1.0), (1, 1.5)]

    def one(x: Any) -> Any:
        (only,) = hr.py_function(square, [x], [hr.int64])
        return only
    assert of(one) == [0, 1, 4, 9]


def test_calls_follow_one_another() -> None:
    def f(x: Any) -> Any:
        once = hr.py_function(square, [x], hr.int64)
        return hr.py_function(lambda a, b: a + b, [once, x + 1], hr.int64)
    assert of(f) == [1, 3, 7, 13]


def test_several_tensors_go_in_and_structures_come_out() -> None:
    def f(x: Any) -> Any:
        out = hr.py_function(lambda a, b: {"sum": a + b, "both": np.stack([a, b])}, [x, 10 * x],
                             {"sum": hr.TensorSpec([], hr.int64), "both": hr.TensorSpec([2], hr.int64)})
        return out["sum"], out["both"][1]
    assert of(f, 3) == [(0, 0), (11, 10), (22, 20)]


def test_set_shape_says_what_Tout_left_open() -> None:
    def f(x: Any) -> Any:
        y = hr.py_function(lambda n: np.full([3], n), [x], hr.int64)
        assert y.shape.rank is None
        y.set_shape([3])
        assert y.shape == [3]
        y.set_shape([None])  # less precise than the known shape
        assert y.shape == [3]
        return y
    ds = hr.Dataset.range(2).map(f)
    assert ds.element_spec == hr.TensorSpec([3], hr.int64)
    assert [x.tolist() for x in ds.batch(2)] == [[[0] * 3, [1] * 3]]

    def wrong(x: Any) -> Any:
        y = hr.py_function(square, [x], hr.int64)
        y.set_shape([2])
        return y
    with pytest.raises(hr.errors.InvalidArgumentError, match="ensure_shape"):
        of(wrong)
    with pytest.raises(ValueError):
        hr.Dataset.range(1).map(lambda x: x.set_shape([2]) or x)


def test_filter_and_take_while_ask_them() -> None:
    small = lambda x: hr.py_function(lambda n: n < 2, [x], hr.bool)  # noqa: E731
    assert list(hr.Dataset.range(4).filter(small)) == [0, 1]
    assert list(hr.Dataset.range(4).take_while(small)) == [0, 1]
    pairs = hr.Dataset.range(4).map(lambda x: (x, x * 2))
    assert list(pairs.filter(lambda a, b: hr.py_function(lambda m, n: m + n > 3, [a, b], hr.bool))) == [(2, 4), (3, 6)]


class One(NamedTuple):
    x: Any


@pytest.mark.parametrize("one", [lambda x: (x,), One, lambda x: {"x": x}, lambda x: x])
def test_filter_and_take_while_keep_tuples_of_one_part(one: Any) -> None:
    def small(element: Any) -> Any:
        x = element.x if isinstance(element, One) else element["x"] if isinstance(element, dict) else element
        return hr.py_function(lambda v: bool(v < 2), [x], hr.bool)

    ds = hr.Dataset.range(3).map(one)
    for kept in (ds.filter(small), ds.take_while(small)):
        assert kept.element_spec == ds.element_spec and list(kept) == list(ds)[:2]
        assert [type(x) for x in kept] == [type(x) for x in ds][:2]


def test_flat_map_and_interleave_make_datasets_of_what_they_give() -> None:
    ds = hr.Dataset.range(3).flat_map(lambda x: hr.Dataset.range(hr.py_function(square, [x], hr.TensorSpec([], hr.int64))))
    assert list(ds) == [0, 0, 1, 2, 3]
    inner = hr.Dataset.range(2).interleave(
        lambda x: hr.Dataset.range(2).map(lambda y: hr.py_function(lambda a, b: 10 * a + b, [x, y], hr.int64)))
    assert sorted(inner) == [0, 1, 10, 11]


def test_calls_at_a_time_keep_the_order() -> None:
    ds = hr.Dataset.range(50).map(lambda x: hr.py_function(square, [x], hr.int64), num_parallel_calls=4)
    assert list(ds) == [n * n for n in range(50)]


def test_an_exception_is_the_error_of_its_element() -> None:
    def fails(n: Any) -> Any:
        if n == 1:
            raise ValueError("one is not liked")
        return n
    ds = hr.Dataset.range(3).map(lambda x: hr.py_function(fails, [x], hr.int64))
    assert list(ds.ignore_errors()) == [0, 2]
    with pytest.raises(hr.errors.OpError, match="one is not liked"):
        list(ds)


def test_in_branches_and_loops_it_is_refused() -> None:
    def branch(x: Any) -> Any:
        return hr.cond(x > 1, lambda: hr.py_function(square, [x], hr.TensorSpec([], hr.int64)), lambda: x)

    def written(x: Any) -> Any:
        if x > 1:
            x = hr.py_function(square, [x], hr.TensorSpec([], hr.int64))
        return x

    def loop(x: Any) -> Any:
        return hr.while_loop(lambda i: i < 3, lambda i: (hr.py_function(square, [i], hr.TensorSpec([], hr.int64)),), (x,))[0]
    for f in (branch, written, loop):
        with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match="runs for every element"):
            hr.Dataset.range(3).map(f)


@pytest.mark.parametrize("call, message", [
    (lambda x: hr.py_function(3, [x], hr.int64), "func must be callable, not int"),
    (lambda x: hr.py_function(square, [x]), "Tout must say what func gives"),
    (lambda x: hr.numpy_function(square, [x]), "it takes func, inp and Tout"),
    (lambda x: hr.numpy_function(square, [x], hr.int64, stateful=1), "stateful must be a bool"),
    (lambda x: hr.py_function(square, [None], hr.int64), "NoneType"),
])
def test_what_cannot_be_called_is_an_error(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        hr.Dataset.range(3).map(call)


def test_outside_of_functions_it_has_no_tensors() -> None:
    with pytest.raises(TypeError, match="inp is of tensors in a function that is traced"):
        hr.py_function(square, [3], hr.int64)
    with pytest.raises(TypeError, match="scan.*calls a Python function with tensors; do so in a map before"):
        hr.Dataset.range(3).scan(np.int64(0), lambda s, x: (s + hr.py_function(square, [x], hr.TensorSpec([], hr.int64)), x))


def test_workers_run_them(cluster: Any) -> None:
    ds = hr.Dataset.range(20).map(lambda x: (x, hr.py_function(square, [x], hr.TensorSpec([], hr.int64))))
    there = ds.apply(hr.service.distribute("dynamic", cluster(2).target))
    assert sorted(there) == [(n, n * n) for n in range(20)]


@pytest.mark.parametrize("call", [hr.py_function, hr.numpy_function])
def test_a_list_is_the_list_of_the_parts_however_tout_lists_them(call: Any) -> None:
    for given in ([7], (7,), 7):
        assert of(lambda n: call(lambda _: given, [n], hr.int64), 1) == [7]
        assert of(lambda n: call(lambda _: given, [n], (hr.int64,)), 1) == [(7,)]
    for given in ([7, 8], (7, 8)):
        assert of(lambda n: call(lambda _: given, [n], (hr.int64, hr.int64)), 1) == [(7, 8)]
        assert of(lambda n: tuple(call(lambda _: given, [n], [hr.int64, hr.int64])), 1) == [(7, 8)]
    (image,) = of(lambda n: call(lambda _: [np.array([5, 6])], [n], hr.int64), 1)
    assert image.tolist() == [5, 6]


@pytest.mark.parametrize("tout", [hr.int64, (hr.int64,), [hr.int64]])
def test_more_parts_than_declared_are_an_error(tout: Any) -> None:
    with pytest.raises(hr.errors.InvalidArgumentError, match="it gave"):
        of(lambda n: hr.py_function(lambda _: [7, 8], [n], tout), 1)


class Pair(NamedTuple):
    a: Any
    b: Any


def test_a_named_tuple_declares_its_parts() -> None:
    got = of(lambda n: hr.py_function(lambda m: Pair(m, m + 1), [n], Pair(hr.int64, hr.int64)), 2)
    assert got == [Pair(0, 1), Pair(1, 2)] and type(got[0]).__name__ == "Pair"


@pytest.mark.parametrize("call", [hr.py_function, hr.numpy_function])
def test_a_call_of_no_tensors_or_without_results_says_what_is_missing(call: Any) -> None:
    with pytest.raises(ValueError, match="inp is empty"):
        of(lambda n: call(lambda: 1, [], hr.int64))
    with pytest.raises(ValueError, match="Tout is empty"):
        of(lambda n: call(lambda m: None, [n], []))

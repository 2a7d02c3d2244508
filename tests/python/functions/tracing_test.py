"""Python functions become functions of a graph, or an error states why they cannot."""

from __future__ import annotations

import concurrent.futures
import json
import math
import threading

import numpy as np
import pytest

import headrace as hr
from headrace._tracing import tracing as _tracing


def run(f, *columns):
    """The results of ``f`` for the rows of these columns."""
    slices = tuple(np.asarray(c) for c in columns)
    ds = hr.Dataset.from_tensor_slices(slices if len(slices) > 1 else slices[0])
    return list(ds.map(f))


@pytest.mark.parametrize("f", [
    lambda x: x + 1, lambda x: 1 - x, lambda x: x * x, lambda x: x / 2, lambda x: 7 // x, lambda x: -x % 3,
    lambda x: x**2, lambda x: -x, lambda x: abs(-x), lambda x: x == 2, lambda x: x != 2, lambda x: x < 2,
    lambda x: x >= 2, lambda x: (x > 1) & (x < 3), lambda x: (x > 1) | ~(x < 3), lambda x: x & 1, lambda x: ~x,
    lambda x: x ^ 3, lambda x: x << 2, lambda x: x >> 1, lambda x: 2 <= x,
])
def test_OperatorsOfIntegersGiveWhatNumpyGives(f):
    given = np.array([1, 2, 3], np.int64)
    got = run(f, given)
    np.testing.assert_array_equal(np.array(got), f(given))
    assert got[0].dtype == f(given).dtype


@pytest.mark.parametrize("f", [
    np.sqrt, np.exp, np.log, np.tanh, np.sin, np.cos, np.square, np.floor, np.ceil, np.rint, np.sign, np.abs,
    np.negative, np.isnan, lambda x: np.add(x, 1.5), lambda x: np.maximum(x, 0.5), lambda x: np.minimum(0.5, x),
    lambda x: np.power(x, 2.0), lambda x: np.where(x > 0.5, x, 0.0), lambda x: np.array([1, 2], np.float32) * x,
    lambda x: np.float32(2) * x, lambda x: np.clip(x, 0.25, 0.75), lambda x: np.logical_and(x > 0.2, x < 0.9),
])
def test_UfuncsGiveWhatNumpyGives(f):
    given = np.array([0.1, 0.4, 0.75], np.float32)
    for row, x in zip(run(f, given), given, strict=True):
        np.testing.assert_allclose(row, f(x), rtol=1e-6)
        assert row.dtype == np.asarray(f(x)).dtype


@pytest.mark.parametrize("f", [
    lambda x: x[0], lambda x: x[-1], lambda x: x[:, 1], lambda x: x[..., ::2], lambda x: x[None, 1], lambda x: x.T
    if isinstance(x, np.ndarray) else np.transpose(x), lambda x: np.sum(x), lambda x: np.sum(x, axis=1),
    lambda x: np.mean(x, axis=0, keepdims=True), lambda x: np.max(x), lambda x: np.reshape(x, (4, 3)),
    lambda x: np.stack([x, x], axis=1), lambda x: np.concatenate([x, x], axis=1), lambda x: np.expand_dims(x, 1),
    lambda x: x[1:, ::-1], np.argmax, np.argmin, np.cumsum, lambda x: np.argmax(x, axis=1),
    lambda x: np.argmin(x, axis=0), lambda x: np.cumsum(x, axis=1), lambda x: np.cumsum(x, axis=0),
])
def test_IndexingAndFunctionsOfArraysGiveWhatNumpyGives(f):
    given = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for row, x in zip(run(f, given), given, strict=True):
        np.testing.assert_allclose(row, f(x))


def test_PartsAreArgumentsAndDictsAreOne():
    pairs = hr.Dataset.from_tensor_slices(([1, 2], [10, 20]))
    assert [int(x) for x in pairs.map(lambda a, b: a + b)] == [11, 22]
    named = hr.Dataset.from_tensor_slices({"a": [1, 2], "b": [10, 20]})
    assert list(named.map(lambda r: {"sum": r["a"] + r["b"], **r}))[1] == {"sum": 22, "a": 2, "b": 20}
    assert list(pairs.map(lambda *parts: parts[::-1]))[0] == (10, 1)


def test_CapturedValuesBecomeConstants():
    table = np.arange(5, dtype=np.float64) ** 2
    scale = 2
    ds = hr.Dataset.range(3).map(lambda i: hr.constant(table)[i] * scale)
    table[:] = 0  # a copy was captured
    assert list(ds) == [0.0, 2.0, 8.0]
    assert list(hr.Dataset.range(2).map(lambda i: (i, [1, 2], "s", 1.5)))[0][3].dtype == np.float32


def test_LiteralsTakeTheirNeighboursDtype():
    ds = hr.Dataset.from_tensors(np.float32(1))
    assert next(iter(ds.map(lambda x: x * 2 + 0.5))).dtype == np.float32
    with pytest.raises(ValueError, match="does not fit"):
        hr.Dataset.range(1).map(lambda x: x + 0.5)


def test_ATensorTellsShapeAndDtype():
    seen = []
    hr.Dataset.from_tensors(np.zeros((2, 3), np.uint8)).batch(4).map(lambda x: seen.append(
        (x.shape.as_list(), x.dtype, x.ndim, x.shape.rank, repr(x))) or x)
    assert seen == [([None, 2, 3], hr.uint8, 3, 3, "<headrace.Tensor shape=(None, 2, 3) dtype=uint8>")]


def test_FunctionsAreNamedAsInTensorFlow():
    ds = hr.Dataset.from_tensors(b" a,b ")
    assert [x.tolist() for x in ds.map(lambda s: hr.strings.split(hr.strings.strip(s), ","))] == [[b"a", b"b"]]
    assert list(ds.map(lambda s: (hr.strings.length(s), hr.strings.upper(s)))) == [(5, b" A,B ")]
    assert list(hr.Dataset.from_tensors("12").map(lambda s: hr.strings.to_number(s, hr.int64))) == [12]
    raw = hr.Dataset.from_tensors(b"\x01\x00\x02\x00").map(lambda s: hr.io.decode_raw(s, hr.uint16))
    assert [x.tolist() for x in raw] == [[1, 2]]
    x = hr.Dataset.from_tensors(np.arange(6, dtype=np.float32))
    (r,) = x.map(lambda v: hr.reshape(v, [2, 3]))
    assert r.shape == (2, 3)
    assert list(x.map(lambda v: (hr.math.reduce_sum(v), hr.reduce_max(v), hr.shape(v)[0], hr.size(v)))) == \
        [(15.0, 5.0, 6, 6)]
    assert [y.tolist() for y in x.map(lambda v: hr.concat([v[:2], hr.zeros([1])], 0))] == [[0, 1, 0]]
    assert [y.tolist() for y in x.map(lambda v: hr.gather(v, [1, 1]))] == [[1, 1]]


def test_CondTakesOneBranchForEachElement():
    f = lambda x: hr.cond(x > 0, lambda: {"q": 12 // x, "p": 1}, lambda: {"q": x, "p": 0})  # noqa: E731
    got = list(hr.Dataset.range(3).map(f))
    assert got == [{"q": 0, "p": 0}, {"q": 12, "p": 1}, {"q": 6, "p": 1}]
    with pytest.raises(TypeError, match="structure"):
        hr.Dataset.range(3).map(lambda x: hr.cond(x > 0, lambda: (x, x), lambda: x))


def test_AFunctionMayGiveADataset(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(f"{name}1\n{name}2\n")
    names = hr.Dataset.from_tensor_slices([str(tmp_path / "a"), str(tmp_path / "b")])
    ds = names.interleave(lambda n: hr.TextLineDataset(n).enumerate().map(lambda i, s: (s, n)), cycle_length=2)
    assert [s for s, _ in ds] == [b"a1", b"b1", b"a2", b"b2"]


def assign(x):
    x[0] = 1  # the line
    return x


@pytest.mark.parametrize("f, line", [
    (lambda x: [0, 1, 2][x], "[0, 1, 2][x]"),
    (lambda x: math.sqrt(x), "math.sqrt(x)"),
    (lambda x: np.asarray(x), "np.asarray(x)"),
    (lambda x: np.arctan2(x, x), "np.arctan2"),
    (lambda x: np.linalg.norm(x), "np.linalg.norm"),
    (lambda x: np.add.reduce(x), "np.add.reduce"),
    (lambda x: 3 in x, "3 in x"),
    (lambda x: sum(x), "sum(x)"),
    (lambda x: x.numpy(), "x.numpy()"),
    (lambda x: x and 1, "x and 1"),
    (lambda x: x in {1, 2}, "x in {1, 2}"),
    (lambda x: {0: 1}.get(x, 7), "{0: 1}.get(x, 7)"),
    (lambda x: {0: 1}[x], "{0: 1}[x]"),
    (lambda x: {"0": 1}[str(x)], '{"0": 1}[str(x)]'),
    (lambda x: hash(x), "hash(x)"),
    (lambda x: json.loads(x), "json.loads(x)"),
    (lambda x: open(x), "open(x)"),
    (lambda x: open(str(x)), "open(str(x))"),
    (lambda x: int(str(x)), "int(str(x))"),
    (lambda x: x.decode(), "x.decode()"),
    (lambda x: x.item(), "x.item()"),
    (lambda x: x.astype(np.int32), "x.astype(np.int32)"),
    (lambda x: round(x), "round(x)"),
    (lambda x: math.floor(x), "math.floor(x)"),
    (lambda x: f"{x:03d}", 'f"{x:03d}"'),
    (lambda x: x(), "x()"),
    (lambda x: hr.constant([1, 2, 3])[::x], "[1, 2, 3])[::x]"),
    (assign, "x[0] = 1  # the line"),
])
def test_WhatCannotBeTracedNamesTheLineAndOffersPyFunction(f, line):
    with pytest.raises(hr.errors.OperatorNotAllowedInGraphError) as e:
        hr.Dataset.range(3).map(f)
    assert "tracing_test.py:" in str(e.value)
    assert line in str(e.value)
    assert "py_function" in str(e.value)


def test_OtherLibrariesObjectsAreRefused():
    class Strange:
        pass

    with pytest.raises(TypeError, match="Strange"):
        hr.Dataset.range(3).map(lambda x: x + Strange())
    with pytest.raises(TypeError, match="Strange"):
        hr.Dataset.range(3).map(lambda x: Strange())
    with pytest.raises(TypeError, match="x: .*Strange"):
        hr.Dataset.range(3).map(lambda x: hr.sqrt(Strange()))


def test_TheErrorOfWhatATensorWasGivenToIsTheCause():
    with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match="JSON object must be str") as e:
        hr.Dataset.range(3).map(lambda x: json.loads(x))
    assert type(e.value.__cause__) is TypeError


def test_AnErrorOfTheFunctionItselfStaysAsItIs():
    class Mine(Exception):
        pass

    def wrong(x):
        raise Mine("of the Tensor")

    with pytest.raises(Mine):
        hr.Dataset.range(3).map(wrong)
    with pytest.raises(AttributeError, match="no_such_attribute"):
        hr.Dataset.range(3).map(lambda x: x.no_such_attribute)
    with pytest.raises(KeyError, match="'b'"):
        hr.Dataset.range(3).map(lambda x: {"a": x}["b"])
    with pytest.raises(TypeError, match="a slice's bounds"):
        hr.Dataset.from_tensors([1, 2]).map(lambda x: x[:1.5])
    assert not hasattr(hr.constant(1), "_repr_html_")


def test_DivmodGivesBoth():
    assert list(hr.Dataset.range(8, 9).map(lambda x: (divmod(x, 3), divmod(30, x)))) == [((2, 2), (3, 6))]


def test_FunctionsOfStringsRandomNumbersAndTables():
    s = hr.Dataset.from_tensors("Über 12 ab")
    assert list(s.map(lambda s: hr.strings.length(s, unit="UTF8_CHAR"))) == [10]
    assert [x.decode() for x in s.map(lambda s: hr.strings.upper(s, encoding="utf-8"))] == ["ÜBER 12 AB"]
    with pytest.raises(hr.errors.InvalidArgumentError, match="encoding 'latin-1' is not known"):
        s.map(lambda s: hr.strings.lower(s, "latin-1"))
    assert list(s.map(lambda s: hr.strings.regex_replace(s, "[0-9]+", "#"))) == ["Über # ab".encode()]
    assert list(s.map(lambda s: hr.strings.regex_full_match(s, ".*ab"))) == [True]
    assert list(s.map(lambda s: hr.strings.substr(s, -2, 2))) == [b"ab"]
    assert list(hr.Dataset.from_tensors("a b c").map(lambda s: hr.strings.ngrams(hr.strings.split(s), 2)))[0].tolist() \
        == [b"a b", b"b c"]
    assert 0 <= next(iter(s.map(lambda s: hr.strings.to_hash_bucket_fast(s, 7)))) < 7
    draw = lambda i: hr.random.stateless_uniform([3], hr.stack([7, hr.cast(i, hr.int32)]))  # noqa: E731
    a, b = list(hr.Dataset.range(2).map(draw))
    assert a.shape == (3,) and (a >= 0).all() and (a < 1).all() and (a != b).any()
    np.testing.assert_array_equal(a, next(iter(hr.Dataset.range(1).map(draw))))
    words = hr.lookup.KeyValueTensorInitializer(["x", "y"], [0, 1])
    table = hr.lookup.StaticVocabularyTable(words, 2)
    got = [int(x) for x in hr.Dataset.from_tensor_slices(["y", "x", "other"]).map(table.lookup)]
    assert got[:2] == [1, 0] and got[2] in (2, 3) and table.size() == 4


def test_ImagesAreDecodedAndResized():
    pixels = (np.arange(6 * 4 * 3) % 251).astype(np.uint8).reshape(6, 4, 3)
    files = hr.Dataset.from_tensors(pixels).map(hr.image.encode_png)
    (back,) = files.map(lambda s: hr.image.decode_image(s, channels=3))
    np.testing.assert_array_equal(back, pixels)
    (small,) = files.map(lambda s: hr.image.resize(hr.io.decode_png(s), [3, 2], antialias=True))
    assert small.shape == (3, 2, 3) and small.dtype == np.float32
    (flipped,) = files.map(lambda s: hr.image.flip_left_right(hr.image.decode_png(s)))
    np.testing.assert_array_equal(flipped, pixels[:, ::-1])
    (part,) = files.map(lambda s: hr.image.stateless_random_crop(hr.image.decode_png(s), [2, 2, 3], [1, 2]))
    assert part.shape == (2, 2, 3)
    with pytest.raises(hr.errors.InvalidArgumentError, match="no JPEG"):
        list(hr.Dataset.from_tensors(b"no image").map(hr.image.decode_jpeg))
    with pytest.raises(ValueError, match="size"):
        files.map(lambda s: hr.image.resize(hr.image.decode_png(s), [3]))


def test_EachElementDrawsItsOwnNumbers():
    ds = hr.Dataset.range(50).map(lambda x: (hr.random.uniform([]), hr.random.uniform([]), hr.random.uniform([], seed=3),
                                             hr.random.uniform([], seed=3)))
    rows = np.array([[float(v) for v in row] for row in ds])
    assert len(set(rows[:, :3].ravel())) == 150 and (rows[:, 2] == rows[:, 3]).all()
    assert (rows >= 0).all() and (rows < 1).all()


def test_StepsAreRepeatedAsOftenAsAnElementSays():
    def digits(n):
        return hr.while_loop(lambda n, k: n > 0, lambda n, k: (n // 10, k + 1), (n, 0), maximum_iterations=6)[1]

    assert [int(x) for x in hr.Dataset.from_tensor_slices([0, 7, 12345]).map(digits)] == [0, 1, 5]
    ds = hr.Dataset.range(3).map(lambda x: hr.while_loop(lambda y: y < 1000, lambda y: y + x + 1, (x,))[0])
    assert list(ds) == [1000, 1001, 1001]
    ds = hr.Dataset.range(3).map(lambda x: hr.while_loop(lambda y: y < 9, lambda y: y + 1, (x,), maximum_iterations=0)[0])
    assert list(ds) == [0, 1, 2]
    with pytest.raises(ValueError, match="maximum_iterations"):
        hr.Dataset.range(1).map(lambda x: hr.while_loop(lambda x: x > 0, lambda x: x, (x,), maximum_iterations=-1))


def test_ALoopVariableMayGrowWhereAShapeInvariantSaysSo():
    def countdown(x):
        return hr.while_loop(lambda x, y: x > 0, lambda x, y: (x - 1, hr.concat([y, hr.reshape(x, [1])], 0)),
                             (x, hr.zeros([0], hr.int64)), shape_invariants=([], [None]))[1]
    assert [x.tolist() for x in hr.Dataset.range(4).map(countdown)] == [[], [1], [2, 1], [3, 2, 1]]
    with pytest.raises(hr.errors.InvalidArgumentError, match="variable 1 is .* shape invariant"):
        hr.Dataset.range(4).map(lambda x: hr.while_loop(
            lambda x, y: x > 0, lambda x, y: (x - 1, hr.concat([y, y], 0)), (x, hr.zeros([1], hr.int64))))


def test_SequenceExamplesAreParsed():
    features = {"f": hr.io.FixedLenSequenceFeature([], hr.int64)}
    context = {"c": hr.io.FixedLenFeature([], hr.int64, 7)}
    ds = hr.Dataset.from_tensors(b"").map(lambda s: hr.io.parse_single_sequence_example(s, context, features))
    ((c, f),) = ds
    assert c == {"c": 7} and f["f"].tolist() == []


@pytest.mark.parametrize("f", [lambda x: str(x), lambda x: f"file-{x}.txt", lambda x: hr.strings.join([f"{x}", "b"])])
def test_TheTextOfATensorIsNoData(f):
    with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match="as a Python str.*as_string"):
        hr.Dataset.range(3).map(f)


def test_AFunctionOfOtherArgumentsIsNamed():
    with pytest.raises(TypeError, match="map: map_func .*missing a required argument: 'y'; it is called with 1"):
        hr.Dataset.range(3).map(lambda x, y: x)
    with pytest.raises(TypeError, match="filter: predicate .*too many positional.*called with 2 arguments"):
        hr.Dataset.zip(hr.Dataset.range(3), hr.Dataset.range(3)).filter(lambda x: True)
    with pytest.raises(TypeError, match="made by its constructors"):
        hr.Dataset()


def test_NumbersInListsWithTensorsTakeTheirDtype():
    ds = hr.Dataset.range(1, 2)
    assert next(iter(ds.map(lambda i: hr.constant([7, i])))).dtype == np.int64
    assert next(iter(ds.map(lambda i: hr.constant([[1, 2], [i, 7]])))).tolist() == [[1, 2], [1, 7]]
    assert next(iter(ds.map(lambda i: ([4, hr.cast(i, hr.float32)],))))[0].tolist() == [4.0, 1.0]
    for part, kind in ((0.5, hr.int64), (300, hr.uint8), (1, hr.bool), (1, hr.string)):
        with pytest.raises(hr.errors.InvalidArgumentError, match="cast one"):
            hr.Dataset.from_tensors(hr.zeros([], kind)).map(lambda x: hr.constant([part, x]))


def test_NumbersBesideTensorsThatAreJoinedTakeTheirDtype():
    (got,) = hr.Dataset.from_tensors(np.array([5, 6])).map(lambda x: hr.concat([[1, 2], x, [3]], 0))
    assert got.dtype == np.int64 and got.tolist() == [1, 2, 5, 6, 3]
    (got,) = hr.Dataset.from_tensors(np.array([0.5])).map(lambda x: hr.stack([[1], x]))
    assert got.dtype == np.float64 and got.tolist() == [[1.0], [0.5]]
    with pytest.raises(hr.errors.InvalidArgumentError, match="cast one"):
        hr.Dataset.from_tensors(np.array([5])).map(lambda x: hr.concat([x, np.array([1.5])], 0))
    with pytest.raises(hr.errors.InvalidArgumentError, match="cast one"):
        hr.Dataset.from_tensors(np.array([5])).map(lambda x: hr.concat([x, [1.5]], 0))


def test_NumbersInListsBesideATensorTakeItsDtype():
    (got,) = hr.Dataset.from_tensors(np.array([2, 5])).map(lambda x: (
        x == [2, 7], x + (1, 1), [10, 10] - x, hr.math.multiply([2, 3], x), hr.maximum(x, [3, 3]), x / [2, 2]))
    assert [part.tolist() for part in got] == [[True, False], [3, 6], [8, 5], [4, 15], [3, 5], [1.0, 2.5]]
    assert [part.dtype.name for part in got[1:5]] == 4 * ["int64"]
    (got,) = hr.Dataset.from_tensors(np.float32([1, 2])).map(lambda x: (x - [1, 2], x * [0.5, 2]))
    assert [part.dtype.name for part in got] == 2 * ["float32"]
    for wrong in (lambda x: x + [0.5, 1], lambda x: x + np.array([0.5, 1]), lambda x: hr.add(x, [0.5, 1])):
        with pytest.raises(hr.errors.InvalidArgumentError, match="cast one"):
            hr.Dataset.from_tensors(np.array([2, 5])).map(wrong)


def test_AListThatAFunctionGivesIsATuple():
    ds = hr.Dataset.range(2)
    assert list(ds.map(lambda x: [x, x + 1])) == [(0, 1), (1, 2)] and list(ds.map(lambda x: ["a"])) == 2 * [(b"a",)]
    assert [x.tolist() for x in ds.map(lambda x: {"a": [x, 5]}).map(lambda e: e["a"])] == [[0, 5], [1, 5]]
    assert [x.tolist() for _, x in ds.map(lambda x: (x, [x, 5]))] == [[0, 5], [1, 5]]
    assert [int(x) for x in ds.scan(np.int64(1), lambda s, x: [s + x, s])] == [1, 1]


def test_NumbersOfPythonAloneAreInt32AndFloat32():
    (got,) = hr.Dataset.range(1).map(lambda x: (
        hr.where(x > 0, 1, 0), hr.where(x > 0, 1.0, 0.0), hr.minimum(1.5, 2.0), hr.add(1, 2), hr.sqrt(2.0),
        hr.stack([1, 2]), hr.stack([1.5, 2]), hr.where([x > 0], x, [5]), hr.constant(3, shape=[2, 2])))
    assert [part.dtype.name for part in got] == ["int32", "float32", "float32", "int32", "float32", "int32", "float32",
                                                 "int64", "int32"]
    assert got[7].tolist() == [5] and got[8].tolist() == [[3, 3], [3, 3]]


def test_two_threads_trace_at_once():
    """Two functions that are traced at the same time have the same random numbers and datasets as when each is traced
    alone."""
    def windows(meet):
        def f(rows):
            meet()
            total = rows.reduce(np.int64(0), lambda a, b: a + b)
            meet()
            return total
        return hr.Dataset.range(6).window(3).map(f)

    def draws(meet):
        def f(x):
            first = _tracing.next_salt()
            meet()
            second = _tracing.next_salt()
            meet()
            return first, second
        return hr.Dataset.range(2).map(f)

    alone = [list(ds) for ds in (windows(lambda: None), draws(lambda: None))]
    assert alone == [[3, 12], [(1, 2)] * 2]
    barrier = threading.Barrier(2, timeout=30)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        together = [x.result() for x in [pool.submit(make, barrier.wait) for make in (windows, draws)]]
    assert [list(ds) for ds in together] == alone

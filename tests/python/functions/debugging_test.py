"""The assertions of ``debugging`` on values, dtypes, shapes and collections."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

d = hr.debugging


def run(f, *columns):
    ds = hr.Dataset.from_tensor_slices(columns if len(columns) > 1 else columns[0])
    return list(ds.map(f))


def test_DtypesAreCheckedWhenTheFunctionIsTraced():
    assert run(lambda x: d.assert_integer(d.assert_type(x, hr.int32)), [1, 2]) == [1, 2]
    with pytest.raises(TypeError, match="assert_integer: sizes: the tensor is float32"):
        run(lambda x: d.assert_integer(x, "sizes"), [1.5])
    with pytest.raises(TypeError, match="assert_type: the tensor is int32; float32 is needed"):
        run(lambda x: d.assert_type(x, hr.float32), [1])
    assert d.assert_same_float_dtype([hr.constant(1.0), None], hr.float32) == hr.float32
    assert d.assert_same_float_dtype() == hr.float32
    for tensors, dtype in (([hr.constant(1.0)], hr.float64), ([hr.constant(1)], None), (None, hr.int32)):
        with pytest.raises(ValueError, match="assert_same_float_dtype"):
            d.assert_same_float_dtype(tensors, dtype)


def test_RanksThatAreKnownAreCheckedAtOnceAndOthersWhereTheElementIs():
    assert run(lambda x: d.assert_scalar(d.assert_rank_in(d.assert_rank_at_least(x, 0), [1, 0])), [7]) == [7]
    for f, text in ((lambda x: d.assert_rank_at_least(x, 1), "rank 1 or more is needed"),
                    (lambda x: d.assert_rank_in(x, [1, 2]), r"\[1, 2\] is needed"),
                    (lambda x: d.assert_scalar(hr.stack([x])), "a scalar is needed")):
        with pytest.raises(hr.errors.InvalidArgumentError, match=text):
            run(f, [1])
    with pytest.raises(ValueError, match="ranks must hold"):
        d.assert_rank_in(1, [])

    def unknown(f):
        ds = hr.Dataset.from_generator(lambda: iter([np.ones(2), np.ones((1, 2))]),
                                       output_signature=hr.TensorSpec(None, hr.float64))
        it, out = iter(ds.map(f)), []
        for _ in range(2):
            try:
                out.append(next(it).shape)
            except hr.errors.InvalidArgumentError as e:
                out.append("needed" in str(e))
        return out
    assert unknown(lambda x: d.assert_rank_at_least(x, 2)) == [True, (1, 2)]
    assert unknown(lambda x: d.assert_rank_in(x, [0, 1])) == [(2,), True]


def test_ShapesFitTogether():
    pairs = hr.Dataset.range(6).batch(2, drop_remainder=True)
    assert len(list(pairs.map(lambda x: d.assert_shapes([(x, ("N",)), (x, [2]), (x[0], ())])[0]))) == 3
    with pytest.raises(hr.errors.InvalidArgumentError, match="assert_shapes"):
        pairs.map(lambda x: d.assert_shapes([(x, ("N",)), (x[:1], ("N",))])[0])
    uneven = hr.Dataset.range(3).batch(2)
    it = iter(uneven.map(lambda x: d.assert_shapes([(x, (2,))])[0]))
    assert next(it).tolist() == [0, 1]
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"the shape is \(2,\)"):
        next(it)
    it = iter(uneven.map(lambda x: d.assert_shapes([(x, ("N",)), (hr.constant([1, 2]), ("N",))])[0]))
    assert next(it).tolist() == [0, 1]
    with pytest.raises(hr.errors.InvalidArgumentError, match="the shape is"):
        next(it)


def test_ShapesAreWrittenAsTheDocumentationSays():
    x, scalar = hr.ones([2, 3]), hr.constant(1)
    d.assert_shapes([(x, "NM"), (hr.ones([3]), "M"), (scalar, None), (scalar, ("*", "K")), (hr.ones([1]), "K"), (x, (4 / 2, b"3"))])
    for shapes in ([(x, "NN")], [(x, (2, 2.0))], [(scalar, ("*", 2))], [(scalar, (..., "A", "B"))], [(x, (True, "M"))]):
        with pytest.raises(ValueError, match="needed"):
            d.assert_shapes(shapes)
    with pytest.raises(ValueError, match="iterable"):
        d.assert_shapes({"text": 1})
    with pytest.raises(ValueError, match="only begin"):
        d.assert_shapes([(x, ("N", "*"))])


def test_NearIsTenStepsOfTheDtype():
    def near(x, y):
        try:
            run(lambda a, b: d.assert_near(a, b), np.array([x]), np.array([y]))
            return True
        except hr.errors.InvalidArgumentError:
            return False
    step = np.float32(2**-23)
    # As in TensorFlow 2.21, 20 steps are too many.
    assert near(np.float32(1) + 19 * step, np.float32(1)) and not near(np.float32(1) + 20 * step, np.float32(1))
    assert near(1 + 19 * 2**-52, 1.0) and not near(1 + 20 * 2**-52, 1.0)
    assert run(lambda a: d.assert_near(a, 1.0, rtol=0.5), [1.25]) == [1.25]
    with pytest.raises(hr.errors.InvalidArgumentError):
        d.assert_near(0.0, 0.0, rtol=0.0, atol=0.0)


def test_ComplexNumbersAreNearByTheirDistance():
    def near(x, y, kind=np.complex64, **tolerances):
        try:
            run(lambda a, b: d.assert_near(a, b, **tolerances), np.array([x], kind), np.array([y], kind))
            return True
        except hr.errors.InvalidArgumentError:
            return False
    for kind, step in ((np.complex64, 2.0**-23), (np.complex128, 2.0**-52)):
        assert near(1 + 19 * step, 1, kind) and not near(1 + 20 * step, 1, kind)
        assert near(1 + 1j + 22 * step * 1j, 1 + 1j, kind) and not near(1 + 1j + 26 * step * 1j, 1 + 1j, kind)
    assert near(1 + 1j, 1 + 1.5j, atol=0.6) and not near(1 + 1j, 1 + 1.5j, atol=0.4)
    assert near(3 + 4j, 3 + 4.5j, rtol=0.2, atol=0.0)
    rows = np.array([[1 + 1j, 2], [3j, 4]], np.complex64)
    (got,) = hr.Dataset.from_tensors(rows).map(lambda x: d.assert_near(x, x[0] * 0 + x, atol=hr.constant(0.1)))
    assert got.tolist() == rows.tolist()
    (got,) = hr.Dataset.from_tensors(rows).map(lambda x: d.assert_near(x, x[0], atol=9.0))  # x[0] is broadcast
    assert got.tolist() == rows.tolist()
    with pytest.raises(hr.errors.InvalidArgumentError, match="assert_near: rows: x = "):
        list(hr.Dataset.from_tensors(rows).map(lambda x: d.assert_near(x, x[0], atol=0.1, message="rows")))


def test_OtherNumbersAreNotNear():
    with pytest.raises(TypeError, match="x is int32; floats"):
        d.assert_near(1, 1)
    with pytest.raises(TypeError, match="x is float32, and y float64"):
        d.assert_near(1.0, hr.constant(1.0, hr.float64))


def test_SeveralTensorsOfTheirOwnDtypesPassOrFailTogether():
    it = iter(hr.Dataset.range(2).map(lambda x: tuple(d.Assert(x < 1, [x, hr.cast(x, hr.float32), "s"]))))
    assert next(it) == (0, 0.0, b"s")
    with pytest.raises(hr.errors.InvalidArgumentError, match="Assert"):
        next(it)


def test_Collections():
    for x in ([1], (1,), {"a": 1}, iter([1])):
        d.assert_proper_iterable(x)
    for x in (1, "ab", b"ab", np.ones(2), hr.constant([1])):
        with pytest.raises(TypeError, match="assert_proper_iterable"):
            d.assert_proper_iterable(x)
    assert d.is_numeric_tensor(hr.constant(1.5)) and not d.is_numeric_tensor(hr.constant(True))


def test_FeaturesAtPlacesAndRowsOfDifferentLengths(tmp_path):
    def feature(kind, *values):
        def field(number, body):
            return bytes([number << 3 | 2, len(body)]) + body
        ints = b"".join(bytes([v]) for v in values)
        body = field(3, field(1, ints)) if kind == "int" else field(1, b"".join(field(1, v) for v in values))
        return body

    def entry(key, body):
        pair = b"\n" + bytes([len(key)]) + key.encode() + b"\x12" + bytes([len(body)]) + body
        return b"\n" + bytes([len(pair)]) + pair
    features = entry("at", feature("int", 3, 1)) + entry("v", feature("int", 30, 10)) + \
        entry("n", feature("int", 2, 0, 1)) + entry("w", feature("int", 1, 2, 3))
    example = b"\n" + bytes([len(features)]) + features
    how = {"sparse": hr.io.SparseFeature("at", "v", hr.int64, 5),
           "rows": hr.io.RaggedFeature(hr.int64, "w", "n")}
    (got,) = hr.Dataset.from_tensors(example).map(lambda x: hr.io.parse_single_example(x, how))
    assert {k: v.tolist() for k, v in got.items()} == {"sparse": [0, 10, 0, 30, 0],
                                                       "rows": [[1, 2], [0, 0], [3, 0]]}


def test_DrawsCategories():
    drawn = np.stack(list(hr.Dataset.range(50).map(lambda x: hr.random.categorical([[0.0, 0.0, -1e9]], 4))))
    assert drawn.shape == (50, 1, 4) and set(drawn.flat) == {0, 1}


def test_ImagesOfABatchAreFlippedEachByItself():
    images = np.arange(64)[:, None, None, None] + np.zeros((1, 1, 2, 1), np.int64)
    images[:, :, 1] += 100
    (got,) = hr.Dataset.from_tensors(images).map(lambda x: hr.image.stateless_random_flip_left_right(x, [3, 4]))
    flipped = got[:, 0, 0, 0] >= 100
    assert 10 < flipped.sum() < 54


def kept(ds):
    """Elements, without those that failed."""
    return [int(x) for x in ds.ignore_errors()]


def test_AssertionsInBranchesAreAboutTheElementsThatTakeThem():
    def by_cond(x):
        return hr.cond(x > 2, lambda: (hr.debugging.assert_less(12 // (x - 2), 12), x * 10)[1], lambda: x)

    def by_if(x):
        if x > 2:
            y = small(x)
        else:
            y = x
        return y

    def small(x):
        hr.debugging.assert_less(12 // (x - 2), 12)
        return x * 10

    for f in (by_cond, by_if):
        assert kept(hr.Dataset.range(5).map(f)) == [0, 1, 2, 40]


def test_WhatIsKnownToBeFalseInABranchIsAboutItsElements():
    def f(x):
        return hr.case([(x < 2, lambda: x)], default=lambda: (hr.debugging.Assert(False, [x]), x)[1])

    assert kept(hr.Dataset.range(4).map(f)) == [0, 1]


def test_AssertionsInStepsOfLoopsAreAboutTheStepsThatAreTaken():
    def f(n):
        return hr.while_loop(lambda i: i < n, lambda i: (hr.debugging.assert_less(i, 2), (i + 1,))[1], (0 * n,))[0]

    assert kept(hr.Dataset.range(5).map(f)) == [0, 1, 2]

    def rewritten(n):
        i = 0 * n
        while i < n:
            i = checked(i) + 1
        return i

    def checked(i):
        hr.debugging.assert_less(i, 2)
        return i

    assert kept(hr.Dataset.range(5).map(rewritten)) == [0, 1, 2]


def test_ALaterMapThatDropsTheTensorKeepsTheAssertion():
    def f(x):
        hr.debugging.assert_less(x, 2)
        return x, x + 1

    assert kept(hr.Dataset.range(4).map(f).map(lambda a, b: b)) == [1, 2]


def test_AnAssertionOfAFunctionThatGivesADatasetFailsInItsPlace():
    def f(x):
        hr.debugging.assert_none_equal(x, 2)
        return hr.Dataset.range(x)

    assert kept(hr.Dataset.range(4).flat_map(f)) == [0, 0, 1, 2]


def test_WhatAnElementDependsOnIsEvaluated():
    def f(x):
        with hr.control_dependencies([d.assert_less(x, 2), [hr.strings.to_number(hr.strings.as_string(x))]]):
            return hr.identity(x)

    def unused(x):
        with hr.control_dependencies([6 // x]):
            return x
    assert kept(hr.Dataset.range(4).map(f)) == [0, 1]
    assert kept(hr.Dataset.range(3).map(lambda x: (hr.control_dependencies([]), x)[1])) == [0, 1, 2]
    assert kept(hr.Dataset.range(3).map(unused)) == [1, 2]
    for wrong in (3, [3], [None], hr.constant(1)):
        with pytest.raises(TypeError, match="control_inputs must be a list of tensors"):
            with hr.control_dependencies(wrong):
                pass

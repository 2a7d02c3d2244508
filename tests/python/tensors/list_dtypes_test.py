"""Dtypes of tensors that are made of numbers and lists of Python and numpy. The expected values are those of
TensorFlow 2.21, unless a comment states otherwise.
"""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

D = hr.Dataset
i8, i16, i32, i64, u8, u32, u64 = np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64
f16, f32, f64 = np.float16, np.float32, np.float64

# Two cases differ from TensorFlow: numpy's integers, and numpy's float64 in functions, keep their dtypes here, because
# elements of datasets are of these classes.
#: A list, and the dtypes that it has outside of functions, as an argument of a dataset, and in functions.
LISTS = [
    ([i64(1), i64(2)], "int64", "int64", "int64"), ([i64(2**40)], "int64", "int64", "int64"),
    ([1, i64(2)], "int64", "int64", "int64"), ([1, 2**40], "int64", "int64", "int64"),
    ([u8(1)], "uint8", "uint8", "uint8"), ([i8(1)], "int8", "int8", "int8"), ([i16(1)], "int16", "int16", "int16"),
    ([u32(2**32 - 1)], "uint32", "uint32", "uint32"), ([i32(1)], "int32", "int32", "int32"),
    ([f16(1)], "float16", "float16", "float16"), ([f32(1), 2.0], "float32", "float32", "float32"),
    ([2.0, f32(1)], "float32", "float32", "float32"), ([f64(1), 2.0], "float64", "float64", "float64"),
    ([i64(1), 2.0], "float32", "float32", "float32"), ([i64(1), f64(2)], "float32", "float32", "float32"),
    ([f64(1), i64(2)], "float64", "float64", "float64"), ([f64(1), f32(2)], "float64", "float64", "float64"),
    ([f32(1), f64(2)], "float32", "float32", "float32"), ([f16(1), f32(2)], "float16", "float16", "float32"),
    ([1, 2.0], "float32", "float32", "float32"), ([1, True], "int32", "int32", "int32"),
    ([np.bool_(True), False], "bool", "bool", "bool"), ([np.complex64(1)], "complex128", "complex128", "complex64"),
    ([[i64(1)], [i64(2)]], "int64", "int64", "int64"), ([[i64(1)], np.array([3])], "int64", "int64", "int64"),
    ([[2], np.array([1])], "int64", "int64", "int64"), ([[2.0], np.array([1.0])], "float32", "float32", "float32"),
    ([], "float32", "float32", "float32"), ([[], []], "float32", "float32", "float32"),
    ([np.str_("a"), "b"], "string", "string", "string"),
]
#: A list of arrays, and the dtypes that it has outside of functions and as an argument of a dataset. In functions
#: TensorFlow refuses such lists.
OF_ARRAYS = [
    ([np.array([1])], "int64", "int64"), ([np.array([1]), [2]], "int64", "int64"),
    ([np.array([1]), np.array([2])], "int64", "int64"), ([np.array([1], u8)], "uint8", "uint8"),
    ([np.array([1.0])], "float64", "float64"), ([np.array([1.0], f32), np.array([1.0])], "float32", "float32"),
    ([np.array([1]), np.array([1.0])], "float32", "float32"), ([np.array([1.0]), np.array([1])], "float64", "float64"),
    ([np.array([[1, 2], [3, 4]])], "int64", "int64"), ([np.zeros([0])], "float32", "float64"),
]


@pytest.mark.parametrize("value, outside, of_dataset, in_function", LISTS, ids=[repr(x[0]) for x in LISTS])
def test_ListsHaveTheDtypesOfTensorFlow(value, outside, of_dataset, in_function):
    assert hr.constant(value).dtype == outside == hr.convert_to_tensor(value).dtype
    assert D.from_tensors(value).element_spec.dtype == of_dataset
    assert D.range(1).map(lambda x: hr.constant(value)).element_spec.dtype == in_function
    if len(value) > 0:
        assert D.from_tensor_slices(value).element_spec.dtype == of_dataset
        assert D.from_tensor_slices({"a": (value,)}).element_spec["a"][0].dtype == of_dataset


@pytest.mark.parametrize("value, outside, of_dataset", OF_ARRAYS, ids=[repr(x[0]) for x in OF_ARRAYS])
def test_ListsOfArraysHaveTheDtypesOfTensorFlow(value, outside, of_dataset):
    assert hr.constant(value).dtype == outside
    assert D.from_tensors(value).element_spec.dtype == of_dataset


def test_ElementsInListsLoseNothing():
    ids = list(D.range(99_998, 100_001))
    assert list(D.from_tensor_slices(ids).map(lambda x: x * x)) == [x * x for x in range(99_998, 100_001)]
    assert list(D.from_tensor_slices({"a": [0, *ids]}).map(lambda x: x["a"] * x["a"])) == [0, *(x * x for x in range(99_998, 100_001))]
    total = D.range(3).reduce(f64(0.1), lambda s, x: s + 1)
    assert D.range(1).map(lambda x: hr.constant([total])).get_single_element().tolist() == [total]


def test_ArraysAndScalarsThatStandAloneKeepTheirs():
    for value in (i64(1), u8(1), f64(1), np.array([1]), np.array(1.0), np.array([1], i16)):
        assert hr.constant(value).dtype == value.dtype == D.from_tensors(value).element_spec.dtype
    assert hr.constant(2**40).dtype == hr.int64 and hr.constant(1.5).dtype == hr.float32 and hr.constant(7).dtype == hr.int32


def test_StatesOfReduceAndScanAreOfTheSameRules():
    total = D.range(3).map(lambda x: hr.cast(x, hr.int32)).reduce([0, 1], lambda s, x: s + x)
    assert total.dtype == i32 and total.tolist() == [3, 4]


@pytest.mark.parametrize("value, dtype, expected", [
    (True, hr.int32, 1), ([True, 1], hr.int32, [1, 1]), ([i64(1)], hr.float32, [1.0]), ([u8(1)], hr.int64, [1]),
    (f64(1.7), hr.int32, 1), (np.array([1.7]), hr.int32, [1]), (i64(1), hr.bool, True), (300, hr.uint8, 44),
    (2**40, hr.int32, 0), (1e40, hr.float32, np.inf), (1, hr.complex64, 1), ([True, False], hr.float32, [1.0, 0.0]),
    ([], hr.bool, []), ([], hr.string, []), ([[], []], hr.string, [[], []]), (np.array([]), hr.string, []), ((), hr.int64, []),
])
def test_ADtypeIsTakenWhereTensorFlowTakesIt(value, dtype, expected):
    for ds in (D.from_tensors(hr.constant(value, dtype)), D.range(1).map(lambda x: hr.convert_to_tensor(value, dtype))):
        assert ds.element_spec.dtype == dtype
        assert np.asarray(next(iter(ds))).tolist() == expected


@pytest.mark.parametrize("value, dtype", [
    (1.7, hr.int32), ([1.7], hr.int32), (2.0, hr.int64), (float("nan"), hr.int32), (1, hr.bool), ([1, True], hr.bool),
    (1, hr.string), ([1], hr.string), (True, hr.string), ("1", hr.float32), (b"a", hr.int32), (1 + 2j, hr.float32),
    ([f64(1.7)], hr.int32), ([np.bool_(1)], hr.int64), (np.array([1]), hr.string),
])
def test_ValuesThatADtypeDoesNotTakeAreTypeErrors(value, dtype):
    for make in (hr.constant, hr.convert_to_tensor):
        with pytest.raises(TypeError, match="cannot hold"):
            make(value, dtype)
        with pytest.raises(TypeError, match="cannot hold"):
            D.range(1).map(lambda x: make(value, dtype))
    with pytest.raises(TypeError):
        hr.ones([2], hr.string)


def test_ListsOfSeveralKindsAreErrors():
    for value in ([True, 2.0], [1, "a"], ["a", 1], [1e300]):
        with pytest.raises((TypeError, ValueError)):
            hr.constant(value)
    with pytest.raises(ValueError, match="use headrace.cast"):
        hr.convert_to_tensor(hr.constant(1.5), hr.int32)


def test_RequiredTextColumnsStayTexts(tmp_path):
    required = hr.constant([], hr.string)
    lines = D.from_tensor_slices(["007", "3.5"])
    assert [x for x, in lines.map(lambda line: tuple(hr.io.decode_csv(line, [required])))] == [b"007", b"3.5"]
    path = tmp_path / "table.csv"
    path.write_text("a,b\n007,1\n1e3,2\n")
    ds = hr.data.experimental.CsvDataset(str(path), [required, hr.constant([], hr.int32)], header=True)
    assert list(ds) == [(b"007", 1), (b"1e3", 2)]  # as in TensorFlow 2.21
    fields = lines.map(lambda line: tuple(hr.io.decode_csv(line, [[3]]))).element_spec
    assert fields[0].dtype == hr.int32  # as in TensorFlow 2.21
    ds = D.range(1).map(lambda x: hr.concat([hr.constant([], hr.string), ["a"]], 0))
    assert next(iter(ds)).tolist() == [b"a"]


def test_ADefaultOfAnotherKindThanItsFeatureIsATypeError():
    for default, dtype in ((1.5, hr.int64), ("a", hr.float32), (1, hr.string)):
        features = {"a": hr.io.FixedLenFeature([], dtype, default_value=default)}
        with pytest.raises(TypeError, match="cannot hold"):
            D.from_tensors(b"").map(lambda s: hr.io.parse_single_example(s, features))
    features = {"a": hr.io.FixedLenFeature([], hr.float32, default_value=1)}
    assert next(iter(D.from_tensors(b"").map(lambda s: hr.io.parse_single_example(s, features)))) == {"a": 1.0}


def test_ZerosAndOnesAreOfAnyDtype():
    for dtype in (hr.bool, hr.int8, hr.uint64, hr.float16, hr.complex64):
        zero, one = next(iter(D.range(1).map(lambda x: (hr.zeros([1], dtype), hr.ones([1], dtype)))))
        assert zero.dtype == one.dtype == dtype.as_numpy_dtype and not zero[0] and one[0]
    assert next(iter(D.range(1).map(lambda x: hr.one_hot(x, 2, dtype=hr.bool)))).tolist() == [True, False]


def test_ARangeIsAListOfInts():
    # The dtype is that of TensorFlow 2.21.
    assert D.from_tensor_slices(range(3)).element_spec.dtype == hr.int32 == hr.constant(range(3)).dtype


BIG = 2**63 + 1  # float64 does not hold it

#: Lists of integers of which numpy makes floats, or, for integers that no dtype holds, objects.
MIXED = [
    ([1, BIG], u64), ([BIG, 1, 0], u64), ([[1], [BIG]], u64), ([[[BIG]], [[5]]], u64),
    ([i64(1), BIG], u64), ([u64(BIG), 1], u64), ([u64(1), i64(2)], u64), ([np.array([1]), np.array([BIG])], u64),
    ([u64(1), i64(-2)], i64),
]


@pytest.mark.parametrize("value, dtype", MIXED, ids=[repr(x[0]) for x in MIXED])
def test_IntegersOnBothSidesOfTwoToThe63StayIntegers(value, dtype):
    expected = np.asarray(value, np.object_).tolist()
    for ds in (D.from_tensors(value), D.from_tensors(hr.constant(value)), D.range(1).map(lambda x: hr.constant(value))):
        got = next(iter(ds))
        assert got.dtype == dtype and got.tolist() == expected
    if dtype == u64:
        assert hr.constant(value, hr.uint64).numpy().tolist() == expected
    assert hr.constant(value, hr.float32).dtype == hr.float32


def test_IntegersThatTheDeclaredDtypeDoesNotHoldAreErrors():
    for value in ([1, BIG], [u64(BIG), 1]):
        with pytest.raises(ValueError, match="out of the range of int64"):
            hr.constant(value, hr.int64)


@pytest.mark.parametrize("value", [
    [-1, BIG], [i64(-1), u64(BIG)], [2**64], 2**64, [1, 2**64], -2**63 - 1, [[-2**63 - 1], [0]],
])
def test_IntegersThatNoDtypeHoldsAreErrors(value):
    for make in (hr.constant, hr.convert_to_tensor, D.from_tensors, lambda x: D.range(1).map(lambda _: hr.constant(x)),
                 lambda x: hr.constant(x, hr.int64)):
        with pytest.raises(ValueError, match="an integer is out of the range of u?int64"):
            make(value)


def test_IntegersBesideATensorOfUint64AreExact():
    ds = D.from_tensors(np.array([0, 2], u64))
    assert next(iter(ds.map(lambda x: x + [u64(BIG), 1]))).tolist() == [BIG, 3]
    assert next(iter(ds.map(lambda x: x + [BIG, 1]))).tolist() == [BIG, 3]


def test_FunctionsThatAreDeclaredToGiveUint64GiveExactIntegers():
    vector = hr.TensorSpec([2], hr.uint64)
    assert next(iter(D.range(1).map(hr.py_function(lambda x: [1, BIG], vector)))).tolist() == [1, BIG]
    assert next(iter(D.from_generator(lambda: [[1, BIG]], output_signature=vector))).tolist() == [1, BIG]
    ragged = hr.RaggedTensorSpec([2, None], hr.uint64)
    (rows,) = D.from_generator(lambda: [[[1], [BIG, 2]]], output_signature=ragged)
    assert rows.to_list() == [[1], [BIG, 2]] == hr.ragged.constant([[1], [BIG, 2]]).to_list()
    for given in ([1, BIG], [-1, BIG], [2**64, 1]):
        with pytest.raises(hr.errors.InvalidArgumentError, match="out of the range|does not hold"):
            next(iter(D.range(1).map(hr.py_function(lambda x: given, hr.TensorSpec([2], hr.int64)))))

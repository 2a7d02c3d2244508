"""Errors have the classes that TensorFlow 2.21 raises for the same program, and are raised at the same point as in
TensorFlow: when something is made, or for an element. Where earlier versions of this package raised another class, an
``except`` for either class catches the error.
"""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

Dataset = hr.Dataset
INVALID = hr.errors.InvalidArgumentError
TEN = Dataset.range(10)
SCALAR = hr.TensorSpec([], hr.int64)

#: Programs that fail when something is made. Each has the class of TensorFlow's error, the class that earlier
#: versions of this package raised, and the program.
MADE = {
    "an int times a float": (TypeError, INVALID, lambda: TEN.map(lambda x: x * 0.5)),
    "an int and a float": (TypeError, INVALID, lambda: TEN.map(lambda x: x + 1.5)),
    "two dtypes": (TypeError, INVALID, lambda: TEN.map(lambda x: x + hr.cast(x, hr.int32))),
    "a comparison with a float": (TypeError, INVALID, lambda: TEN.map(lambda x: x > 1.5)),
    "reduce with two dtypes": (TypeError, INVALID, lambda: TEN.reduce(0, lambda s, x: s + x)),
    "reduce to another dtype": (TypeError, INVALID, lambda: TEN.reduce(0, lambda s, x: x)),
    "scan without an output": (TypeError, INVALID, lambda: TEN.scan(0, lambda s, x: s)),
    "scan with three results": (TypeError, INVALID, lambda: TEN.scan(0, lambda s, x: (s, x, x))),
    "choices of int32": (TypeError, INVALID, lambda: Dataset.choose_from_datasets([TEN], Dataset.from_tensors(0))),
    "datasets of two dtypes": (TypeError, INVALID, lambda: Dataset.choose_from_datasets(
        [TEN, Dataset.from_tensors(1.0)], Dataset.range(2))),
    "gather by floats": (TypeError, INVALID, lambda: TEN.map(lambda x: hr.gather([1, 2], [0.5, 1.0]))),
    "one_hot of floats": (TypeError, INVALID, lambda: TEN.map(lambda x: hr.one_hot(hr.cast(x, hr.float32), 3))),
    "concat of two dtypes": (TypeError, INVALID, lambda: TEN.map(lambda x: hr.concat([[1.5], [x]], 0))),
    "padded shapes for a tuple": (TypeError, INVALID, lambda: Dataset.zip((TEN, TEN)).padded_batch(2, ([None], [None]))),
    "an index outside": (ValueError, INVALID, lambda: TEN.map(lambda x: hr.constant([1, 2])[5])),
    "an index of another kind": (ValueError, TypeError, lambda: Dataset.from_tensors([1, 2]).map(lambda x: x["a"])),
    "None": (ValueError, TypeError, lambda: Dataset.from_tensor_slices(None)),
    "None as an element": (INVALID, TypeError, lambda: Dataset.from_tensors(None)),
    "a set": (ValueError, TypeError, lambda: Dataset.from_tensor_slices({1, 2})),
    "a generator": (ValueError, TypeError, lambda: Dataset.from_tensor_slices(x for x in [1])),
    "a list of dicts": (ValueError, TypeError, lambda: Dataset.from_tensor_slices([{"a": 1}])),
    "a date": (ValueError, TypeError, lambda: Dataset.from_tensors(np.datetime64("2020-01-01"))),
    "constant of None": (ValueError, TypeError, lambda: hr.constant(None)),
    "texts and numbers": (ValueError, TypeError, lambda: hr.constant(["a", 1])),
    "map without a function": (ValueError, TypeError, lambda: TEN.map(None)),
    "a predicate that gives None": (ValueError, TypeError, lambda: TEN.filter(lambda x: None)),
    "a function that gives None": (INVALID, TypeError, lambda: TEN.map(lambda x: None)),
    "no parallel calls": (INVALID, ValueError, lambda: TEN.map(lambda x: x, num_parallel_calls=0)),
    "-5 parallel calls": (INVALID, ValueError, lambda: TEN.map(lambda x: x, num_parallel_calls=-5)),
    "two delimiters": (INVALID, ValueError, lambda: hr.experimental.CsvDataset("x", [hr.int32], field_delim="||")),
    "a raise under an if": (ValueError, hr.errors.OperatorNotAllowedInGraphError, lambda: TEN.map(raises_above_two)),
    "a variable of one branch": (ValueError, hr.errors.OperatorNotAllowedInGraphError, lambda: TEN.map(sets_in_one_branch)),
    "a crop outside": (ValueError, INVALID, lambda: Dataset.from_tensors(np.zeros((7, 9, 3))).map(
        lambda x: hr.image.crop_to_bounding_box(x, 5, 0, 3, 4))),
    "a crop from a negative place": (ValueError, INVALID, lambda: Dataset.from_tensors(np.zeros((7, 9, 3))).map(
        lambda x: hr.image.crop_to_bounding_box(x, -1, 0, 3, 4))),
    "a crop of nothing": (ValueError, INVALID, lambda: Dataset.from_tensors(np.zeros((7, 9, 3))).map(
        lambda x: hr.image.crop_to_bounding_box(x, 0, 0, 0, 4))),
    "a key with two values": (hr.errors.FailedPreconditionError, hr.errors.FailedPreconditionError,
                              lambda: table(["a", "a"], [1, 2])),
}


def raises_above_two(x):
    if x > 2:
        raise ValueError("too many")
    return x


def sets_in_one_branch(x):
    if x > 1:
        y = x
    return y


def table(keys, values):
    return hr.lookup.StaticHashTable(hr.lookup.KeyValueTensorInitializer(keys, values), -1)


@pytest.mark.parametrize("what", MADE)
def test_WhatIsMadeWrong(what):
    theirs, older, make = MADE[what]
    with pytest.raises(theirs) as caught:
        make()
    assert isinstance(caught.value, older)


def test_AKeyThatIsThereTwiceWithOneValueIsNoError():
    assert table(["a", "b", "a"], [1, 2, 1]).size() == 2


def example(**features):
    kinds = {"a": hr.train.Feature(int64_list=hr.train.Int64List(value=[1]))}
    return hr.train.Example(features=hr.train.Features(feature={**kinds, **features})).SerializeToString()


def generator_of(value, kind=SCALAR):
    return Dataset.from_generator(lambda: [value], output_signature=kind)


def raising(error, function=hr.py_function):
    def f(_):
        raise error
    return Dataset.range(1).map(lambda x: function(f, [x], hr.int64))


def of_generator_that(error):
    def generator():
        raise error
        yield 1
    return Dataset.from_generator(generator, output_signature=SCALAR)


UNKNOWN = hr.errors.UnknownError
#: Programs whose first element fails. Each has the class of the error, and the program.
READ = {
    "no PNG": (INVALID, lambda: Dataset.from_tensors(b"abc").map(hr.image.decode_png)),
    "no JPEG": (INVALID, lambda: Dataset.from_tensors(b"abc").map(hr.image.decode_jpeg)),
    "half a PNG": (INVALID, lambda: Dataset.from_tensors(b"\x89PNG\r\n\x1a\n\0").map(hr.image.decode_png)),
    "no serialized tensor": (INVALID, lambda: Dataset.from_tensors(b"abc").map(lambda x: hr.io.parse_tensor(x, hr.int32))),
    "half a serialized tensor": (INVALID, lambda: Dataset.range(1).map(
        lambda x: hr.io.parse_tensor(hr.strings.substr(hr.io.serialize_tensor(hr.constant([1, 2, 3])), 0, 15), hr.int32))),
    "no Example": (INVALID, lambda: Dataset.from_tensors(b"abc").map(
        lambda x: hr.io.parse_single_example(x, {"a": hr.io.FixedLenFeature([], hr.int64)}))),
    "a missing feature": (INVALID, lambda: Dataset.from_tensors(example()).map(
        lambda x: hr.io.parse_single_example(x, {"z": hr.io.FixedLenFeature([], hr.int64)}))),
    "a missing field": (INVALID, lambda: Dataset.from_tensors(",1").map(
        lambda x: hr.io.decode_csv(x, [hr.constant([], hr.int32), 0]))),
    "a row that is too long": (hr.errors.DataLossError, lambda: Dataset.range(3, 4).map(hr.range).padded_batch(1, [2])),
    "a shape of a generator": (INVALID, lambda: generator_of([1, 2, 3], hr.TensorSpec([2], hr.int64))),
    "a dtype of a generator": (INVALID, lambda: generator_of("x")),
    "None of a generator": (INVALID, lambda: generator_of(None)),
    "a structure of a generator": (INVALID, lambda: generator_of((1, 2, 3), (SCALAR, SCALAR))),
    "another dtype of numpy_function": (INVALID, lambda: Dataset.range(1).map(
        lambda x: hr.numpy_function(lambda v: np.float32(v) / 3, [x], hr.int64))),
    **{f"{type(e).__name__} of {name}": (theirs, lambda e=e, make=make: make(e))
       for e, theirs in (
           (ValueError("m"), INVALID), (TypeError("m"), INVALID), (KeyError("m"), UNKNOWN), (IndexError("m"), UNKNOWN),
           (ZeroDivisionError("m"), UNKNOWN), (RuntimeError("m"), UNKNOWN), (AttributeError("m"), UNKNOWN),
           (AssertionError("m"), UNKNOWN), (FileNotFoundError("m"), UNKNOWN), (MemoryError("m"), hr.errors.ResourceExhaustedError),
           (NotImplementedError("m"), hr.errors.UnimplementedError), (hr.errors.NotFoundError("m"), UNKNOWN),
           (UnicodeDecodeError("utf8", b"a", 0, 1, "m"), INVALID), (hr.errors.OutOfRangeError("m"), UNKNOWN))
       for name, make in (("py_function", raising), ("from_generator", of_generator_that))},
    "StopIteration of py_function": (INVALID, lambda: raising(StopIteration("m"))),
    "StopIteration of numpy_function": (INVALID, lambda: raising(StopIteration("m"), hr.numpy_function)),
    "StopIteration of from_generator": (UNKNOWN, lambda: of_generator_that(StopIteration("m"))),
}


@pytest.mark.parametrize("what", READ)
def test_WhatAnElementRaises(what):
    theirs, make = READ[what]
    it = iter(make())
    with pytest.raises(theirs) as caught:
        next(it)
    assert type(caught.value) is theirs


# TensorFlow raises this error when the dataset is made. headrace raises it when the dataset is read.
def test_AListingWithoutFiles(tmp_path):
    with pytest.raises(INVALID, match="no file matches"):
        list(Dataset.list_files(str(tmp_path / "*.txt")))


def test_AFixedLengthThatLeavesARest(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    with pytest.raises(INVALID):
        list(hr.FixedLengthRecordDataset(str(tmp_path / "a"), 2))

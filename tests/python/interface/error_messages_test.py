"""Error messages name the function that the program called, and the remedy."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import headrace as hr

Dataset = hr.Dataset
SCALAR = hr.TensorSpec([], hr.int64)


def read(ds):
    return [int(x) for x in ds]


# -- values outside of functions: the expected values are those of TensorFlow 2.21 -------------------------

def test_OperationsOutsideOfFunctionsHaveValues():
    v = next(iter(Dataset.from_tensors([1.5, 2.5])))
    assert float(hr.reduce_sum(v)) == 4.0 and int(hr.size(v)) == 2 and bool(hr.reduce_any(v > 2))
    assert hr.constant([1, 2]).numpy().tolist() == [1, 2] and hr.constant("a").numpy() == b"a"
    assert np.asarray(hr.square(v)).tolist() == [2.25, 6.25] and np.asarray(hr.constant(["a", "b"])).tolist() == [b"a", b"b"]
    assert list(range(hr.constant(3))) == [0, 1, 2]
    if hr.reduce_sum(v) > 3:
        v = None
    assert v is None


# In TensorFlow the results of both functions, random.uniform and io.read_file, have values.
def test_WhatIsDrawnOrReadHasNoValueAndSaysSo(tmp_path):
    (tmp_path / "a").write_text("x")
    for drawn in (hr.random.uniform([]), hr.io.read_file(str(tmp_path / "a"))):
        with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match="Outside of functions .* use numpy and Python"):
            drawn.numpy()


def test_FunctionsOfTensorsMayStandInPyFunction():
    ds = Dataset.from_tensor_slices([[1, 2], [3, 4]])
    assert [x.tolist() for x in ds.map(lambda x: hr.py_function(lambda v: hr.square(v), [x], hr.int32))] == [[1, 4], [9, 16]]
    assert read(ds.map(lambda x: hr.py_function(lambda v: hr.reduce_sum(v), [x], hr.int32))) == [3, 7]


def test_InAFunctionThereIsStillNone():
    for f in (float, int, bool, np.asarray, lambda x: x.numpy()):
        with pytest.raises(hr.errors.OperatorNotAllowedInGraphError):
            Dataset.range(3).map(f)


# -- errors ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind, text, make", [
    (TypeError, "^reduce: the function gives the new state int64.*as the initial state is: cast what it gives",
     lambda: Dataset.range(3).reduce(0, lambda s, x: x)),
    (ValueError, "^random_crop: size 30", lambda: Dataset.from_tensors(np.zeros((7, 9, 3))).map(
        lambda x: hr.image.random_crop(x, [30, 30, 3]))),
    (TypeError, "literal 1.0 does not fit", lambda: Dataset.range(3).map(lambda x: x > 1.0)),
    (TypeError, "literal 1e[+]20 does not fit", lambda: Dataset.range(3).map(lambda x: x > 1e20)),
    (TypeError, "assert_cardinality", lambda: len(Dataset.range(3).filter(lambda x: x > 1))),
    (hr.errors.UnimplementedError, "strings.as_string: this release has no precision",
     lambda: Dataset.range(3).map(lambda x: hr.strings.as_string(x, precision=2))),
    (hr.errors.UnimplementedError, "strings.as_string: this release has no width",
     lambda: Dataset.range(3).map(lambda x: hr.strings.as_string(x, width=2))),
    (hr.errors.UnimplementedError, "to_tensor: this release has no shape",
     lambda: hr.ragged.constant([[1], [2, 3]]).to_tensor(shape=[2, 5])),
    (hr.errors.UnimplementedError, "index the row itself", lambda: hr.ragged.constant([[1], [2, 3]])[1, 0]),
    (hr.errors.UnimplementedError, "this release has no RaggedFeature without value_key", lambda: Dataset.from_tensors(b"").map(
        lambda x: hr.io.parse_single_example(x, {"a": hr.io.RaggedFeature(hr.int64)}))),
])
def test_NamesWhatIsWrong(kind, text, make):
    with pytest.raises(kind, match=text):
        make()


def running():
    yield 1


@pytest.mark.parametrize("what", [running(), threading.Lock()], ids=["generator", "lock"])
def test_WhatCannotBeSentNamesTheFunction(what):
    with pytest.raises(TypeError, match="^from_generator: .*cannot be sent to the process in which it runs.*"
                                        "Give the function that makes a generator"):
        Dataset.from_generator(lambda: what, output_signature=SCALAR)
    with pytest.raises(TypeError, match="^py_function: .*cannot be sent"):
        Dataset.range(3).map(lambda x: hr.py_function(lambda v: what, [x], hr.int64))
    with pytest.raises(TypeError, match="^numpy_function: .*cannot be sent"):
        Dataset.range(3).map(lambda x: hr.numpy_function(lambda v: what, [x], hr.int64))


def test_AMapWithAPythonFunctionNamesMap():
    def f(x):
        return hr.ensure_shape(hr.py_function(lambda v: [v], [x], hr.int64), [2])

    for calls in (None, 2):
        with pytest.raises(hr.errors.InvalidArgumentError, match="^map: ensure_shape: "):
            list(Dataset.range(1).map(f, num_parallel_calls=calls))
    with pytest.raises(hr.errors.InvalidArgumentError, match="^map: .*division by zero"):
        list(Dataset.range(2).window(2).map(lambda w: 1 // (w.reduce(np.int64(0), lambda s, x: s + x) - 1)))


def test_TracebacksOfPythonFunctionsHaveTheirLinesAlone():
    def inner():
        raise RuntimeError("broken")

    def f(*_):
        inner()
        yield 1

    for ds in (Dataset.from_generator(f, output_signature=SCALAR),
               Dataset.range(1).map(lambda x: hr.py_function(lambda v: inner(), [x], hr.int64)),
               Dataset.range(1).map(lambda x: hr.py_function(lambda v: inner(), [x], [hr.int64]))):
        with pytest.raises(hr.errors.UnknownError, match="RuntimeError: broken") as caught:
            list(ds)
        assert "in inner" in str(caught.value) and "_processes" not in str(caught.value)


def test_AResultThatDoesNotFitHasNoLinesOfCode():
    with pytest.raises(hr.errors.InvalidArgumentError, match="has the shape") as caught:
        list(Dataset.from_generator(lambda: [[1]], output_signature=SCALAR))
    assert "Traceback (" not in str(caught.value)


def test_NumpyOfAValueInAPythonFunctionSaysToLeaveItAway():
    with pytest.raises(hr.errors.UnknownError, match=r"leave .numpy\(\) away"):
        list(Dataset.range(1).map(lambda x: hr.py_function(lambda v: v.numpy(), [x], hr.int64)))

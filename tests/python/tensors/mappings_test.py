"""Mappings that are not dicts: they are dicts of their items in elements, and no tensors."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import headrace as hr
from headrace import Dataset

SCALAR = hr.TensorSpec([], hr.int64)
SPEC = {"a": SCALAR, "b": SCALAR}


@pytest.fixture(params=[collections.UserDict, collections.ChainMap], ids=["UserDict", "ChainMap"])
def mapping(request):
    return request.param


def test_SourcesTakeTheirItems(mapping):
    given = mapping({"a": np.int64(1), "b": np.int64(2)})
    assert list(Dataset.from_tensors(given)) == [{"a": 1, "b": 2}]
    assert list(Dataset.from_tensors({"x": (given, 3)})) == [{"x": ({"a": 1, "b": 2}, 3)}]
    assert list(Dataset.from_tensor_slices(mapping({"a": [1, 2], "b": [3, 4]}))) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]
    listed = hr.experimental.from_list([given, {"b": np.int64(5), "a": np.int64(6)}])
    assert list(listed) == [{"a": 1, "b": 2}, {"a": 6, "b": 5}]
    assert list(Dataset.zip(mapping({"a": Dataset.range(1)}))) == [{"a": 0}]
    assert hr.experimental.Optional.from_value(given).get_value() == {"a": 1, "b": 2}


def test_ResultsOfTracedFunctionsAreDictsOfTheirItems(mapping):
    ds = Dataset.range(2)
    both = [{"a": 0, "b": 1}, {"a": 1, "b": 2}]
    assert list(ds.map(lambda x: mapping({"a": x, "b": x + 1}))) == both
    assert list(ds.flat_map(lambda x: Dataset.from_tensors(mapping({"a": x, "b": x + 1})))) == both
    state = mapping({"a": np.int64(0)})
    assert ds.reduce(state, lambda s, x: mapping({"a": s["a"] + x})) == {"a": 1}
    assert list(ds.scan(state, lambda s, x: (mapping({"a": s["a"] + x}), mapping({"o": x})))) == [{"o": 0}, {"o": 1}]


def test_BranchesAndLoopsTakeThem(mapping):
    def chosen(x):
        if x > 0:
            y = mapping({"a": x, "b": x + 1})
        else:
            y = {"b": x + 7, "a": x + 5}
        return y

    def counted(x):
        y = mapping({"a": x, "b": x})
        while y["a"] < 3:
            y = mapping({"b": y["b"], "a": y["a"] + 1})
        return y

    ds = Dataset.range(2)
    assert list(ds.map(chosen)) == [{"a": 5, "b": 7}, {"a": 1, "b": 2}]
    both = ds.map(lambda x: hr.cond(x > 0, lambda: mapping({"a": x}), lambda: {"a": x + 5}))
    assert list(both) == [{"a": 5}, {"a": 1}]
    assert list(ds.map(counted)) == [{"a": 3, "b": 0}, {"a": 3, "b": 1}]
    with pytest.raises(TypeError, match=f"loop_vars must be a tuple or list of variables, not {mapping.__name__}"):
        ds.map(lambda x: hr.while_loop(lambda a: a < 3, lambda a: a + 1, mapping({"a": x})))


def test_ResultsOfPythonFunctionsAreDictsOfTheirItems(mapping):
    def given(x=1):
        return mapping({"b": x + 1, "a": x})

    ds = Dataset.range(1, 2)
    assert list(ds.map(hr.py_function(given, SPEC))) == [{"a": 1, "b": 2}]
    assert list(ds.map(lambda x: hr.py_function(given, [x], mapping(SPEC)))) == [{"a": 1, "b": 2}]
    for declared in (SPEC, mapping(SPEC)):
        assert list(Dataset.from_generator(lambda: [given()], output_signature=declared)) == [{"a": 1, "b": 2}]
    types, shapes = mapping({"a": hr.int64, "b": hr.int64}), mapping({"b": [], "a": []})
    assert list(Dataset.from_generator(lambda: [given()], types, shapes)) == [{"a": 1, "b": 2}]


@pytest.mark.parametrize("of", [lambda m: m, lambda m: [m, m], lambda m: ([[1], m],)])
def test_NoTensorIsMadeOfTheirKeys(mapping, of):
    bad = of(mapping({"a": 1}))
    for make in (hr.constant, lambda x: hr.constant(x, hr.string), lambda x: hr.stack([x]), hr.ragged.constant,
                 lambda x: Dataset.range(1).map(lambda _: ([x],)),
                 lambda x: Dataset.range(1).map(lambda n: hr.py_function(lambda _: n, [x], hr.int64)),
                 lambda x: Dataset.from_generator(lambda a: [1], args=([x],), output_signature=SCALAR)):
        with pytest.raises((TypeError, ValueError), match=f"cannot hold {mapping.__name__}|nested equally deep"):
            make(bad)
    for given in (bad, [bad]):
        for ds in (Dataset.range(1).map(hr.py_function(lambda _: given, hr.string)),
                   Dataset.from_generator(lambda: [given], output_signature=hr.TensorSpec(None, hr.string))):
            with pytest.raises(hr.errors.InvalidArgumentError):
                next(iter(ds))
    assert not hr.TensorSpec(None, hr.string).is_compatible_with(mapping({"a": 1}))

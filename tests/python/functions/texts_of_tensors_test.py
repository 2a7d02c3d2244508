"""Traced functions must not use values as data that are fixed when they are traced: descriptions of tensors, and
numbers that Python or numpy drew during the trace."""

from __future__ import annotations

import random
import threading
import warnings

import numpy as np
import pytest

import headrace as hr


def words():
    return hr.Dataset.from_tensor_slices(["x", "y"]).map(lambda word: {"a": word, "b": word})


@pytest.mark.parametrize("f", [
    lambda d: str(d["a"]) + d["b"], lambda d: d["b"] + str(d["a"]), lambda d: d["b"] + f"<{d['a']}>",
    lambda d: d["b"] + "{}".format(d["a"]), lambda d: d["b"] + "%s" % d["a"], lambda d: d["b"] + repr(d["a"]),
    lambda d: d["b"] + str(d["a"]).encode(), lambda d: d["b"] + str(d["a"]).upper(), lambda d: d["b"] + [str(d["a"])],
    lambda d: d["b"] + np.str_(str(d["a"])), lambda d: d["b"] + np.array([str(d["a"])]), lambda d: d["b"] + str([d["a"]]),
    lambda d: d["b"] == str(d["a"]), lambda d: str(d["a"]) != d["b"], lambda d: d["b"] < str(d["a"]),
    lambda d: str(d["a"]), lambda d: str(d["a"]).encode(), lambda d: np.array(str(d["a"])),
    lambda d: np.array(["long" * 9, str(d["a"])], object), lambda d: (d["b"], ["z", str(d["a"])]),
    lambda d: {"n": (d["b"], str(d["a"]))}, lambda d: {str(d["a"]): d["b"]},
    lambda d: hr.constant(["z", f"{d['a']}"]), lambda d: hr.strings.join([d["b"], str(d["a"])]),
    lambda d: hr.where(d["a"] == "x", str(d["a"]), d["b"]), lambda d: hr.io.read_file(f"/data/{d['a']}"),
    lambda d: hr.strings.regex_replace(d["b"], "x", f"{d['a']}"), lambda d: hr.strings.regex_full_match(d["b"], str(d["a"])),
    lambda d: hr.strings.split(d["b"], str(d["a"])), lambda d: hr.strings.join([d["b"]], str(d["a"])),
])
def test_TheDescriptionOfATensorIsNeverData(f):
    with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match="as a Python str.*as_string"):
        words().map(f)


def test_OtherTextsAreOperandsAsBefore():
    assert list(words().map(lambda d: "<" + d["a"] + b">")) == [b"<x>", b"<y>"]
    assert list(words().map(lambda d: (d["a"] == "x", d["a"] != np.str_("x"), d["a"] < "y"))) == [
        (True, False, True), (False, True, False)]
    assert list(words().map(lambda d: (d["a"] == None, d["a"] != None))) == [(False, True)] * 2  # noqa: E711


def test_DescriptionsArePrintedAndAreMessages(capsys):
    def shown(d):
        print(d["a"])
        return hr.debugging.assert_equal(d["a"], d["b"], f"of {d['a']}")

    assert list(words().map(shown)) == [b"x", b"y"]
    assert capsys.readouterr().out == "<headrace.Tensor shape=() dtype=string>\n"


def test_FilesAreReadAndArraysEnterWithSuchTextsOutsideOfFunctions():
    text = "a page about <headrace.Tensor shape=() dtype=string>"
    assert list(hr.Dataset.from_tensor_slices(np.array([text], object))) == [text.encode()]


@pytest.mark.parametrize("draw, name", [
    (lambda: random.random(), "random"), (lambda: random.choice([1.0, 2.0]), "random"),
    (lambda: np.random.rand(), "numpy.random"), (lambda: float(np.random.randint(9)), "numpy.random"),
    (lambda: np.random.normal(), "numpy.random"),
    (lambda: random.random() + np.random.rand(), "random and numpy.random")])
def test_NumbersOfPythonThatATraceDrawsAreAWarning(draw, name):
    ds = hr.Dataset.from_tensor_slices([1.5])
    with pytest.warns(RuntimeWarning, match=f"map: map_func .*drew from {name} when it was traced.*headrace.random"):
        ds.map(lambda x: x + draw())


def test_OnlyTheOutermostFunctionWarns():
    def inner(x):
        return x + random.randint(1, 9)

    with pytest.warns(RuntimeWarning) as seen:
        hr.Dataset.range(2).flat_map(lambda x: hr.Dataset.range(2).map(inner))
    assert ["flat_map" in str(one.message) for one in seen] == [True]


def test_FunctionsThatDrawFromOursOrNothingDoNotWarn():
    own = np.random.default_rng(7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hr.Dataset.range(2).map(lambda x: hr.random.uniform([]) + 1)
        hr.Dataset.range(2).map(lambda x: x + int(own.integers(9)))
        hr.Dataset.range(2).map(hr.py_function(lambda x: x + random.randint(1, 9), Tout=hr.int64))


def test_AFunctionThatFailsDoesSoWithItsOwnError():
    def fails(x):
        random.random()
        raise KeyError("of the function")

    with warnings.catch_warnings(), pytest.raises(KeyError, match="of the function"):
        warnings.simplefilter("error")
        hr.Dataset.range(2).map(fails)
    assert list(hr.Dataset.range(2).map(lambda x: x + 1)) == [1, 2]


def test_ThreadsTraceByThemselves():
    texts: list[bytes] = []
    text = np.array(["<headrace.Tensor shape=() dtype=string>"], object)

    def outside(x):
        thread = threading.Thread(target=lambda: texts.extend(
            hr.Dataset.from_tensor_slices(text).as_numpy_iterator()))
        thread.start()
        thread.join()
        return x

    hr.Dataset.range(1).map(outside)
    assert texts == [str(text[0]).encode()]

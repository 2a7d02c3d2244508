"""Strings of elements equal ``str`` and ``bytes``, as TensorFlow's tensors do. The expected results are those of
TensorFlow 2.21, except where a comment states otherwise.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import headrace as hr

Dataset = hr.Dataset
WORDS = Dataset.from_tensor_slices(["cat", "dog"])


def first(ds):
    return next(iter(ds))


def test_AStringEqualsStrAndBytes():
    cat = first(WORDS)
    assert cat == "cat" and "cat" == cat and cat == b"cat" and b"cat" == cat
    assert cat != "dog" and cat != b"dog" and not cat != "cat"
    assert cat in ["cat"] and ["dog", "cat"].index(cat) == 1
    assert [x == "cat" for x in WORDS] == [True, False]
    assert first(Dataset.from_tensors("Ä")) == "Ä" and first(Dataset.from_tensors(b"\xff")) != "\xff"
    assert cat is not None and cat != None  # noqa: E711


def test_SoDoTheStringsOfAVector():
    words = first(WORDS.batch(2))
    assert (words == "cat").tolist() == [True, False]
    assert (words != "cat").tolist() == [False, True]
    assert (words == b"cat").tolist() == [True, False]
    assert (words == ["cat", "x"]).tolist() == [True, False]
    assert (np.array(["cat", "x"]) == words).tolist() == [True, False]
    assert first(Dataset.from_tensors({"w": (["a", "b"], "c")}))["w"][0].tolist() == ["a", "b"]


def test_AStringIsComparedWithEachOfAnArrayOrAList():
    cat = first(WORDS)
    for words in (np.array(["cat", "dog"]), np.array([b"cat", "dog"], object), ["cat", "dog"], ("cat", b"dog")):
        assert (cat == words).tolist() == [True, False]
        assert (words == cat).tolist() == [True, False]
        assert (words != cat).tolist() == [False, True]
    assert np.where(np.array(["cat", "dog"]) == cat)[0].tolist() == [0]


def test_StringsAreJoinedWithBoth():
    cat = first(WORDS)
    assert cat + "s" == "cats" and "s" + cat == b"scat" and cat + b"s" == "cats" and b"s" + cat == "scat"


def test_IteratorsOfNumpyAndNumpyFunctionGiveBytes():
    assert type(next(WORDS.as_numpy_iterator())) is bytes
    assert type(next(WORDS.batch(2).as_numpy_iterator())[0]) is bytes
    assert type(next(hr.data.NumpyIterator(WORDS))) is bytes
    got = list(WORDS.map(lambda x: hr.numpy_function(lambda v: (v == "cat", v == b"cat", type(v) is bytes), [x],
                                                     [hr.bool, hr.bool, hr.bool])))
    assert [tuple(map(bool, x)) for x in got] == [(False, True, True), (False, False, True)]
    got = WORDS.batch(2).map(lambda x: hr.numpy_function(lambda v: v == b"cat", [x], hr.bool))
    assert first(got).tolist() == [True, False]


def test_PyFunctionGivesStringsThatEqualBoth():
    asked = Dataset.from_tensor_slices(["a", "b"])
    for name in ("a", b"a"):
        assert [int(x) for x in asked.map(lambda x: hr.py_function(lambda v: 1 if v == name else 0, [x], hr.int64))] == [1, 0]
        many = asked.batch(2).map(lambda x: hr.py_function(lambda v: np.array(v == name, np.int64), [x], hr.int64))
        assert first(many).tolist() == [1, 0]
        parts = Dataset.from_tensors(({"s": ["a", "b"]}, 1)).map(
            hr.py_function(lambda d, _: (d["s"] == name).tolist(), hr.bool))
        assert first(parts).tolist() == [True, False]


# The following behaviour is that of bytes, and not of TensorFlow.

def test_AStringIsBytes():
    cat = first(WORDS)
    assert isinstance(cat, bytes) and cat.decode() == "cat" and bytes(cat) == b"cat" and cat[:2] == b"ca"
    assert repr(cat) == str(cat) == f"{cat}" == "b'cat'"
    assert hash(cat) == hash(b"cat") == hash("cat") and {"cat": 1}[cat] == {b"cat": 1}[cat] == {cat: 1}["cat"] == 1
    assert cat * 2 == b"catcat" and b",".join([cat, cat]) == b"cat,cat" and sorted([cat, b"ant"]) == [b"ant", b"cat"]
    assert len(first(Dataset.from_tensors(b"a\0b\0"))) == 4
    with pytest.raises(TypeError):
        cat < "dog"  # noqa: B015


def test_ItsCopiesByPickleAreBytesAlone():
    cat = first(Dataset.from_tensors(b"cat\0"))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps([cat], protocol))[0]
        assert type(again) is bytes and again == b"cat\0"
    assert copy.deepcopy(cat) == copy.copy(cat) == "cat\0"


def test_NumpyTakesItAsBytes():
    cat = first(WORDS)
    assert np.asarray(cat).item() == b"cat" and np.array([cat, cat]).dtype == "S3"
    assert np.array([cat], dtype=object)[0] == "cat" and first(WORDS.batch(2)).astype(str).tolist() == ["cat", "dog"]


def test_ItMayBeAnElementAgain():
    words = list(WORDS)
    assert list(Dataset.from_tensor_slices(words)) == list(Dataset.from_tensors(words).unbatch()) == ["cat", "dog"]
    cat = words[0]
    assert list(WORDS.map(lambda x: x == cat)) == [True, False]
    assert list(WORDS.filter(lambda x: hr.strings.regex_full_match(x, cat.decode()))) == ["cat"]
    ends = first(Dataset.from_tensors(b"x\0").map(lambda x: hr.py_function(lambda v: v, [x], hr.string)))
    assert ends == b"x\0"

"""Arrays that enter from Python."""

from __future__ import annotations

import sys
import weakref

import numpy as np
import pytest

import headrace as hr


@pytest.mark.parametrize("make", [
    lambda: np.array([[b"a", "b"]], object), lambda: np.array([b"a", b"bc"]), lambda: np.array(["a", "bc"]),
    lambda: np.array("a", object), lambda: np.arange(6).reshape(2, 3), lambda: np.arange(6).reshape(2, 3).T])
def test_NothingKeepsAnArrayThatEntered(make):
    array = make()
    alone = sys.getrefcount(array)
    hr._core.constant(array)
    assert sys.getrefcount(array) == alone
    gone = weakref.ref(array)
    del array
    assert gone() is None


def test_NothingKeepsTheStringsThatEntered():
    text = b"a text of its own " * 9
    alone = sys.getrefcount(text)
    for _ in range(10):
        hr._core.constant(np.array([[text], [text]], object))
    assert sys.getrefcount(text) == alone


def test_AStringThatIsNoUnicodeSaysSo():
    with pytest.raises(UnicodeEncodeError, match="surrogates"):
        hr.Dataset.from_tensors(np.array(["\ud800"], object))
    with pytest.raises(TypeError, match="str and bytes"):
        hr._core.constant(np.array([b"a", 1], object))

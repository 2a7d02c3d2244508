"""Functions for the tests of control flow."""

from __future__ import annotations

import linecache
import pathlib
import re

import numpy as np
import pytest

import headrace as hr

NUMBERS = list(range(-7, 12))


def same(f, numbers=NUMBERS):
    """Checks that the function gives the same results for tensors as for numpy's numbers."""
    want = [f(np.int64(n)) for n in numbers]
    got = list(hr.Dataset.from_tensor_slices(np.array(numbers, np.int64)).map(f))
    for n, a, b in zip(numbers, want, got, strict=True):
        assert np.array_equal(a, b), (n, a, b)


def refused(f, text, line=None):
    with pytest.raises(hr.errors.OperatorNotAllowedInGraphError) as failed:
        hr.Dataset.range(3).map(f)
    assert re.search(text, str(failed.value)), failed.value
    # The error must name a file and a line number. If `line` is given, that line of the file must begin with it.
    place = re.search(r"(\w+\.py):(\d+): ", str(failed.value))
    assert place, failed.value
    file = pathlib.Path(__file__).parent / place[1]
    assert linecache.getline(str(file), int(place[2])).strip().startswith(line or ""), failed.value

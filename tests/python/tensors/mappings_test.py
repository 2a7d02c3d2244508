"""Mappings that are not dicts, names with zero bytes, and iterators that were not made by a dataset."""

import collections

import pytest

from headrace.data import Dataset


def test_results_of_functions_may_be_any_mapping():
    for made in (lambda x: collections.UserDict(a=x, b=x + 1), lambda x: collections.ChainMap({"a": x}, {"b": x + 1})):
        [element] = list(Dataset.range(1).map(made))
        assert dict(element) == {"a": 0, "b": 1}


def test_names_with_zero_bytes_are_whole():
    [element] = list(Dataset.from_tensors({"a\0b": 1, "a\0c": 2}))
    assert element == {"a\0b": 1, "a\0c": 2}


def test_an_iterator_without_a_pass_is_refused():
    base = type(iter(Dataset.range(1)))

    class Own(base):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match="not made by a dataset"):
        next(Own())

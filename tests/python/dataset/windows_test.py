"""Iteration over elements that are datasets. The elements of these may have any shapes, and may be datasets again."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr
from headrace import Dataset


def deep(x):
    """Datasets as lists, and tensors as Python's values."""
    if isinstance(x, (Dataset, list)):
        return [deep(y) for y in x]
    if isinstance(x, tuple):
        return tuple(deep(y) for y in x)
    return x.to_list() if isinstance(x, hr.RaggedTensor) else x.tolist() if hasattr(x, "tolist") else x


def vectors(count):
    """[], [0], [0, 1] ..."""
    return Dataset.from_generator(lambda: (np.arange(n) for n in range(count)),
                                  output_signature=hr.TensorSpec([None], hr.int64))


def test_ElementsOfAWindowMayDifferInShape():
    ds = vectors(4).window(2)
    assert deep(ds) == [[[], [0]], [[0, 1], [0, 1, 2]]]
    assert [w.element_spec for w in ds] == [hr.TensorSpec([None], hr.int64)] * 2
    pictures = Dataset.range(1, 4).map(lambda n: n + hr.zeros([2, 1], hr.int64)).flat_map(
        lambda x: Dataset.from_tensors(x).repeat(2).batch(2)).window(3)
    assert [np.asarray(x).shape for w in pictures for x in w] == [(2, 2, 1)] * 3


def test_StringsAndOtherDtypesOfAnyShapeComeBack():
    for value in (["a", b"\xff"], [True, False], np.array([1.5, -2], np.float16), np.array([1j], np.complex64)):
        ds = Dataset.from_tensor_slices(value).batch(9).window(2)
        (window,) = ds
        (element,) = window
        (wanted,) = Dataset.from_tensors(value)
        assert element.dtype == wanted.dtype and element.tolist() == wanted.tolist()


def test_WindowsOfWindowsAreIteratedOver():
    ds = Dataset.range(5).window(3).window(2)
    assert ds.element_spec == hr.DatasetSpec(hr.DatasetSpec(hr.TensorSpec([], hr.int64)))
    assert deep(ds) == [[[0, 1, 2], [3, 4]]]
    (outer,) = ds
    assert outer.element_spec == hr.DatasetSpec(hr.TensorSpec([], hr.int64))
    assert deep(outer.flat_map(lambda w: w)) == [0, 1, 2, 3, 4]
    assert deep(Dataset.range(17).window(3).window(2).window(2)) == [
        [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]], [[[12, 13, 14], [15, 16]]]]
    assert deep(Dataset.range(4).window(3, shift=1).window(2, shift=1)) == [
        [[0, 1, 2], [1, 2, 3]], [[1, 2, 3], [2, 3]], [[2, 3], [3]], [[3]]]


def test_WindowsOfWindowsOfAnyShapesAreIteratedOver():
    assert deep(vectors(4).window(2).window(2)) == [[[[], [0]], [[0, 1], [0, 1, 2]]]]
    pairs = Dataset.range(5).map(lambda x: (x, hr.strings.as_string(x))).window(3).window(2)
    assert deep(pairs) == [([[0, 1, 2], [3, 4]], [[b"0", b"1", b"2"], [b"3", b"4"]])]


def test_AWindowOfRaggedTensorsIsADatasetOfThem():
    ds = Dataset.range(9).batch(3).ragged_batch(2).window(2)
    assert ds.element_spec == hr.DatasetSpec(hr.RaggedTensorSpec([None, None], hr.int64))
    assert deep(ds) == [[[[0, 1, 2], [3, 4, 5]], [[6, 7, 8]]]]
    assert deep(ds.flat_map(lambda w: w.map(lambda r: r.row_lengths()))) == [[3, 3], [3]]
    with pytest.raises(hr.errors.UnimplementedError, match="windows of windows of ragged tensors"):
        list(ds.window(2))


def test_TuplesOfOneWindowAreTuples():
    ds = Dataset.range(3).map(lambda x: (x,)).window(2)
    assert deep(ds) == [([0, 1],), ([2],)] and deep(Dataset.zip((Dataset.range(3).window(2),))) == [([0, 1],), ([2],)]

    def first_is_0(window):
        return window.take(1).get_single_element() == 0

    assert deep(ds.filter(first_is_0)) == deep(ds.take_while(first_is_0)) == [([0, 1],)]


def test_IteratorsOfWindowsAreIterators():
    for ds in (Dataset.range(5).window(3), Dataset.range(5).window(2).window(2)):
        it = iter(ds)
        assert isinstance(it, hr.data.Iterator) and it.element_spec == ds.element_spec
        assert deep(it.get_next_as_optional().get_value()) == deep(next(iter(ds)))
        assert hr.data.IteratorSpec.from_value(it).is_compatible_with(it)


def test_AnIterationOverWindowsGoesOnWhereItWas():
    ds = vectors(9).shuffle(9, seed=3).window(2).window(2)
    it = iter(ds)
    first = deep(next(it))
    record = it.save()
    rest = deep(list(it))
    assert len(first) == 2 and [deep(w) for w in ds.restore(record)] == rest
    it.restore(record)
    assert [deep(w) for w in it] == rest
    it.close()
    assert list(it) == []


def test_WindowsFromWorkersAreIteratedOver():
    dispatcher = hr.service.DispatchServer()
    worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
    with dispatcher, worker:
        ds = Dataset.range(5).apply(hr.service.distribute("parallel_epochs", dispatcher.target))
        assert deep(ds.window(2).window(2)) == [[[0, 1], [2, 3]], [[4]]]

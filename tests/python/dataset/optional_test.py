"""``Optional``, and the class of iterators."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr
from headrace import Dataset

Optional = hr.experimental.Optional


def test_AnOptionalHasAValueOrNone():
    it = iter(Dataset.range(1))
    one, none = it.get_next_as_optional(), it.get_next_as_optional()
    assert one.has_value() and one.get_value() == 0 and not none.has_value()
    assert one.element_spec == none.element_spec == hr.TensorSpec([], hr.int64)
    with pytest.raises(hr.errors.InvalidArgumentError, match="no value"):
        none.get_value()
    assert not Optional.empty(hr.TensorSpec([2], hr.string)).has_value()


def test_AValueMayBeATensor():
    assert Optional.from_value(hr.constant(3)).get_value() == np.int32(3)
    assert Optional.from_value(hr.constant(3) + 4).get_value() == 7
    made = Optional.from_value({"a": hr.constant([1, 2]), "b": hr.ragged.constant([[1], [2, 3]]), "c": ("x", Dataset.range(2))})
    assert made.get_value()["a"].tolist() == [1, 2] and made.get_value()["b"].to_list() == [[1], [2, 3]]
    assert made.element_spec == {"a": hr.TensorSpec([2], hr.int32), "b": hr.RaggedTensorSpec([2, None], hr.int32),
                                 "c": (hr.TensorSpec([], hr.string), hr.DatasetSpec(hr.TensorSpec([], hr.int64)))}
    with pytest.raises(TypeError, match="the same for all elements"):
        Dataset.range(2).map(lambda x: Optional.from_value(x).get_value())


def test_EveryIteratorGivesValuesOfNumpy():
    for it in (iter(Dataset.range(2)), Dataset.range(2).as_numpy_iterator(), hr.data.NumpyIterator(Dataset.range(2)),
               iter(Dataset.range(2).window(1))):
        assert isinstance(it, hr.data.NumpyIterator) and isinstance(it, hr.data.Iterator)
        it.next()
        it.next()
        with pytest.raises(StopIteration):
            it.next()
    assert not isinstance([], hr.data.NumpyIterator)
    with pytest.raises(TypeError, match="must be a Dataset, not list"):
        hr.data.NumpyIterator([])


def test_SpecsOfIteratorsFitIteratorsAlone():
    spec = hr.data.IteratorSpec(hr.TensorSpec([], hr.int64))
    assert spec.is_compatible_with(iter(Dataset.range(3))) and spec.is_compatible_with(spec)
    for other in (Dataset.range(3), hr.DatasetSpec(hr.TensorSpec([], hr.int64)), iter(Dataset.from_tensors("a")), 3):
        assert not spec.is_compatible_with(other)


def test_SpecsOfDatasetsFitDatasetsAlone():
    ds = hr.Dataset.range(2)
    spec = hr.DatasetSpec.from_value(ds)
    assert spec.is_compatible_with(ds) and spec.is_compatible_with(spec)
    assert not any(map(spec.is_compatible_with, (iter(ds), hr.data.IteratorSpec.from_value(iter(ds)), ds.batch(2), 3)))


def test_SpecsOfDatasetsAreComparedByKeys():
    one = hr.DatasetSpec({"a": hr.TensorSpec([2], hr.int64), "b": hr.TensorSpec([], hr.string)})
    other = hr.DatasetSpec({"b": hr.TensorSpec([], hr.string), "a": hr.TensorSpec([3], hr.int64)})
    assert one.is_compatible_with(hr.DatasetSpec(dict(reversed(one.element_spec.items()))))
    assert not one.is_compatible_with(other)
    both = one.most_specific_compatible_type(other)
    assert both.element_spec == {"a": hr.TensorSpec([None], hr.int64), "b": hr.TensorSpec([], hr.string)}
    swapped = {"a": hr.TensorSpec([], hr.string), "b": hr.TensorSpec([2], hr.int64)}
    assert not one.is_compatible_with(hr.DatasetSpec(dict(reversed(swapped.items()))))

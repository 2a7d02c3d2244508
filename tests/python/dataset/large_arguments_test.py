"""Arguments of datasets that are much larger than any dataset."""

import numpy as np
import pytest

import headrace as hr
from headrace.data import Dataset


@pytest.mark.parametrize("cycle, block", [(16, 2**60), (4, 2**62), (2**58, 2**58), (1, 2**63 - 1)])
def test_interleave_takes_whole_datasets_with_a_large_block_length(cycle, block):
    ds = Dataset.range(3).interleave(lambda x: Dataset.range(3).map(lambda y: x * 10 + y), cycle, block)
    assert list(ds) == [0, 1, 2, 10, 11, 12, 20, 21, 22]


@pytest.mark.parametrize("calls", [2**58, 2**62])
def test_map_with_very_many_calls(calls):
    assert list(Dataset.range(5).map(lambda x: x + 1, num_parallel_calls=calls)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("extent", [2**61, 2**62, 2**63 - 2])
def test_shapes_that_are_too_large_are_refused(extent):
    with pytest.raises(ValueError, match="too large"):
        Dataset.from_tensors([1, 2, 3]).padded_batch(1, padded_shapes=[extent])

    def fails():
        raise RuntimeError("no element")
        yield np.zeros(1, np.int64)

    with pytest.raises(ValueError, match="too large"):
        list(Dataset.from_generator(fails, output_signature=hr.TensorSpec([extent], hr.int64)))


def test_batches_of_rows_whose_common_shape_is_too_large():
    def rows(n):
        return hr.zeros([n, hr.cast(0, hr.int64)]), hr.zeros([hr.cast(0, hr.int64), n])

    long, wide = Dataset.from_tensors(np.int64(2**39)).map(lambda n: rows(n)[0]), \
        Dataset.from_tensors(np.int64(2**39)).map(lambda n: rows(n)[1])
    with pytest.raises(hr.errors.InvalidArgumentError, match="too large"):
        list(long.concatenate(wide).padded_batch(2))


def test_a_negative_skip_reads_nothing_of_an_infinite_input():
    assert list(Dataset.range(3).repeat().skip(-1)) == []

"""``OutOfRangeError`` marks the end of the data. No failed element may raise it, because a loop over ``get_next`` would
take the failure for the end. The errors of failed elements are those of TensorFlow 2.21.
"""

import pathlib

import numpy as np
import pytest

import headrace as hr

Dataset = hr.Dataset


def read_until_the_end(ds):
    """The elements before OutOfRangeError, read as in TensorFlow's guides."""
    iterator, out = iter(ds), []
    try:
        while True:
            out.append(iterator.get_next())
    except hr.errors.OutOfRangeError:
        return out


def over(value, f):
    return Dataset.from_tensors(value).concatenate(Dataset.from_tensors(value)).map(f)


def csv_file(folder):
    (folder / "a.csv").write_text("a\n1\n99999999999\n")
    return str(folder / "a.csv")


FAILING = {
    "gather": lambda _: over([1, 2], lambda x: hr.gather(x, [7])),
    "gather of batches": lambda _: over([[1, 2]], lambda x: hr.gather(x, hr.constant([[7]]), batch_dims=1)),
    "an index": lambda _: over(np.int64(7), lambda i: hr.constant([1, 2, 3])[i]),
    "an index of an open axis": lambda _: Dataset.range(3).batch(3).repeat(2).map(lambda x: hr.boolean_mask(x, x > 0)[5]),
    "the second of one field": lambda _: over("one", lambda s: hr.strings.split(s, ",")[1]),
    "substr": lambda _: over("abc", lambda s: hr.strings.substr(s, 7, 1)),
    "a cast": lambda _: over(np.int64(300), lambda x: hr.cast(x, hr.uint8)),
    "a float that is no int": lambda _: over(np.float32(1e20), lambda x: hr.cast(x, hr.int32)),
    "to_number of an int": lambda _: over("99999999999", lambda s: hr.strings.to_number(s, hr.int32)),
    "decode_csv": lambda _: over("99999999999", lambda s: hr.io.decode_csv(s, [np.int32(0)])[0]),
    "a crop": lambda _: over(np.zeros((2, 2, 1), np.uint8),
                             lambda x: hr.image.crop_to_bounding_box(hr.boolean_mask(x, [True, True]), 1, 1, 5, 5)),
    "a slice": lambda _: over(([1, 2, 3], np.int32(7)), lambda x, n: hr.slice(x, [n], [1])),
    "CsvDataset": lambda folder: hr.experimental.CsvDataset(csv_file(folder), [hr.int32], header=True).skip(1),
}


@pytest.mark.parametrize("what", FAILING)
def test_NoElementThatFailsIsTheEnd(what, tmp_path: pathlib.Path):
    with pytest.raises(hr.errors.InvalidArgumentError) as caught:
        read_until_the_end(FAILING[what](tmp_path))
    assert not isinstance(caught.value, hr.errors.OutOfRangeError)


def raises_the_end(*_):
    raise hr.errors.OutOfRangeError("mine")
    yield 1


def raises_the_end_of_one(x):
    raise hr.errors.OutOfRangeError("mine")


@pytest.mark.parametrize("ds", [
    Dataset.from_generator(raises_the_end, output_signature=hr.TensorSpec([], hr.int64)),
    Dataset.range(2).map(lambda x: hr.py_function(raises_the_end_of_one, [x], hr.int64)),
])
def test_AnEndThatAPythonFunctionRaisesIsUnknown(ds):
    with pytest.raises(hr.errors.UnknownError, match="mine"):
        read_until_the_end(ds)


def test_TheEndIsOutOfRange():
    assert read_until_the_end(Dataset.range(3)) == [0, 1, 2]

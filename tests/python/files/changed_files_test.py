"""Positions, and what happens to files between saving and restoring them."""

import shutil

import pytest

import headrace as hr
from headrace.data import Dataset, FixedLengthRecordDataset, TextLineDataset, TFRecordDataset


@pytest.fixture
def texts(tmp_path):
    for name in "bcd":
        (tmp_path / f"{name}.txt").write_text("".join(f"{name}{i}\n" for i in range(4)))
    return tmp_path


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("read", ["flat_map", "interleave"])
def test_ANameThatComesOrGoesIsNoticedWhileTheFirstFileIsRead(texts, shuffle, read):
    def dataset():
        names = Dataset.list_files(f"{texts}/*.txt", shuffle=shuffle, seed=1)
        return names.flat_map(TextLineDataset) if read == "flat_map" else names.interleave(TextLineDataset, cycle_length=2)

    it = iter(dataset())
    taken = [next(it) for _ in range(3)]
    position = it.save()
    assert sorted(taken + list(dataset().restore(position))) == sorted(list(dataset()))
    (texts / "a.txt").write_text("a0\n")
    with pytest.raises(hr.errors.FailedPreconditionError, match="other files"):
        list(dataset().restore(position))
    (texts / "a.txt").unlink()
    (texts / "c.txt").unlink()
    with pytest.raises(hr.errors.FailedPreconditionError, match="other files"):
        list(dataset().restore(position))


def test_AnEarlierFileOfFixedLengthRecordsMayNotGrow(tmp_path):
    names = [str(tmp_path / name) for name in "ab"]
    for name in names:
        with open(name, "wb") as file:
            file.write(b"".join(name[-1:].encode() + b"%03d" % i for i in range(10)))
    it = iter(FixedLengthRecordDataset(names, 4))
    for _ in range(15):
        last = next(it)
    assert last == b"b004"
    position = it.save()
    with open(names[1], "ab") as file:
        file.write(b"b010")
    assert list(FixedLengthRecordDataset(names, 4).restore(position)) == [b"b%03d" % i for i in range(5, 10)]
    with open(names[0], "ab") as file:
        file.write(b"a010")
    with pytest.raises(hr.errors.FailedPreconditionError, match="records"):
        list(FixedLengthRecordDataset(names, 4).restore(position))


def test_IndicesOfRecordFilesAreNotListed(tmp_path):
    for k in range(2):
        with hr.io.TFRecordWriter(str(tmp_path / f"f{k}")) as to:
            for i in range(3):
                to.write(b"%d%d" % (k, i))
    names = [str(tmp_path / f"f{k}") for k in range(2)]
    assert len(list(TFRecordDataset(names).global_shuffle(seed=1))) == 6
    assert (tmp_path / ".f0.index").exists()
    assert [x.decode() for x in Dataset.list_files(f"{tmp_path}/*", shuffle=False)] == names


@pytest.mark.parametrize("read", [
    lambda ds: ds.shuffle(2, seed=1),
    lambda ds: ds.flat_map(lambda x: Dataset.range(2).map(lambda y: x * 10 + y)),
    lambda ds: ds,
])
@pytest.mark.parametrize("keep", [lambda ds, folder: ds.cache(folder), lambda ds, folder: ds.snapshot(folder)])
def test_APositionIsOfOnePassThoughAnotherRunFillsTheFolderOfTheCache(tmp_path, keep, read):
    folder = str(tmp_path / "kept")

    def dataset():
        return read(keep(Dataset.range(8).shuffle(8), folder))

    it = iter(dataset())
    next(it)
    position = it.save()
    del it
    expected = list(dataset().restore(position))
    shutil.rmtree(folder, ignore_errors=True)
    list(dataset())
    assert list(dataset().restore(position)) == expected
    # A pass that the folder gave is not given by other elements.
    it = iter(dataset())
    next(it)
    position = it.save()
    expected = list(dataset().restore(position))
    shutil.rmtree(folder)
    list(dataset())
    with pytest.raises(hr.errors.DataLossError, match="when the position was saved"):
        list(dataset().restore(position))

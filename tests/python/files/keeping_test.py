"""Caches, snapshots, saved datasets and explain."""

import os

import numpy as np
import pytest

import headrace as hr


def test_a_cache_gives_the_order_of_the_first_pass(tmp_path):
    for place in ("", tmp_path / "c"):
        ds = hr.Dataset.range(100).shuffle(100).cache(place)
        first = list(ds)
        assert sorted(first) == list(range(100))
        assert list(ds) == first


def test_a_cache_in_a_folder_serves_another_program_s_dataset(tmp_path):
    assert list(hr.Dataset.range(5).cache(str(tmp_path))) == [0, 1, 2, 3, 4]
    assert list(hr.Dataset.range(50).cache(str(tmp_path))) == [0, 1, 2, 3, 4]


def test_a_saved_dataset_is_loaded_with_its_structure(tmp_path):
    ds = hr.Dataset.from_tensor_slices({"n": np.arange(3), "word": ["a", "bb", ""]})
    for how in (None, "NONE", "GZIP", "SNAPPY", "AUTO"):
        ds.save(tmp_path / "s", compression=how)
        loaded = hr.Dataset.load(tmp_path / "s", element_spec=ds.element_spec)
        assert loaded.element_spec == ds.element_spec
        assert len(loaded) == 3
        assert [(x["n"], x["word"]) for x in loaded] == [(0, b"a"), (1, b"bb"), (2, b"")]


def test_shards_are_read_as_the_reader_says(tmp_path):
    path = os.fspath(tmp_path)
    hr.Dataset.range(10).save(path, shard_func=lambda x: x % 3)
    assert sorted(hr.Dataset.load(path)) == list(range(10))
    inner = []

    def reader(datasets):
        inner.extend(list(d) for d in datasets)
        return datasets.interleave(lambda x: x, cycle_length=3)

    assert list(hr.Dataset.load(path, reader_func=reader)) == list(range(10))
    assert inner == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]
    shuffled = hr.Dataset.load(path, reader_func=lambda ds: ds.shuffle(3).flat_map(lambda x: x.map(lambda n: n * 2)))
    assert sorted(shuffled) == list(range(0, 20, 2))
    with pytest.raises(TypeError, match="reader_func must give a dataset of elements"):
        hr.Dataset.load(path, reader_func=lambda ds: ds)
    with pytest.raises(hr.errors.UnimplementedError, match="not map"):
        hr.Dataset.load(path, reader_func=lambda ds: ds.map(lambda x: x))


def test_functions_of_python_are_saved(tmp_path):
    squares = hr.Dataset.range(4).map(hr.py_function(lambda x: x * x, hr.TensorSpec([], hr.int64)))
    squares.save(tmp_path)
    assert list(hr.Dataset.load(tmp_path)) == [0, 1, 4, 9]


def test_a_snapshot_is_read_by_the_next_run(tmp_path):
    ds = hr.Dataset.range(10).shuffle(10).snapshot(str(tmp_path))
    first = list(ds)
    assert list(hr.Dataset.range(10).shuffle(10).snapshot(str(tmp_path))) == first
    assert len(os.listdir(tmp_path)) == 1


def test_a_snapshot_is_read_as_the_reader_says(tmp_path):
    def make(reader):
        return hr.Dataset.range(10).snapshot(str(tmp_path), shard_func=lambda x: x % 3, reader_func=reader)

    assert list(make(lambda shards: shards.flat_map(lambda x: x))) == list(range(10))  # writes the snapshot
    assert list(make(lambda shards: shards.flat_map(lambda x: x))) == [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]
    assert list(make(lambda shards: shards.interleave(lambda x: x, cycle_length=3))) == list(range(10))
    with pytest.raises(TypeError, match="snapshot: reader_func must give a dataset of elements"):
        make(lambda shards: shards)


@pytest.mark.parametrize("calls", [None, 4, hr.AUTOTUNE])
def test_a_dataset_reads_its_snapshot_by_the_reader_in_each_later_iteration(tmp_path, calls):
    def in_turn(shards):
        return shards.interleave(lambda x: x, cycle_length=3, num_parallel_calls=calls)

    ds = hr.Dataset.range(9).map(lambda x: 8 - x).snapshot(str(tmp_path), shard_func=lambda x: x % 3, reader_func=in_turn)
    ds = ds.map(lambda x: x + 0)
    assert ds.cardinality() == hr.UNKNOWN_CARDINALITY
    assert list(ds) == [8, 7, 6, 5, 4, 3, 2, 1, 0]  # writes the snapshot
    for _ in range(2):
        read = list(ds)
        assert sorted(read) == list(range(9)) and [x % 3 for x in read] == [read[0] % 3, read[1] % 3, read[2] % 3] * 3
    it = iter(ds)
    first = [next(it) for _ in range(4)]
    record = it.save()
    rest = list(it)
    assert sorted(first + rest) == list(range(9)) and list(ds.restore(record)) == rest


def test_a_reader_draws_another_order_of_the_files_in_each_iteration(tmp_path):
    ds = hr.Dataset.range(20).snapshot(str(tmp_path), shard_func=lambda x: x, reader_func=lambda shards: shards.shuffle(
        20).flat_map(lambda x: x))
    assert list(ds) == list(range(20))
    later = [tuple(ds) for _ in range(4)]
    assert len(set(later)) > 1 and all(sorted(order) == list(range(20)) for order in later)


def test_what_a_reader_gives_is_of_the_elements_that_are_kept(tmp_path):
    def with_numbers(shards):
        return shards.flat_map(lambda x: x.enumerate())

    with pytest.raises(ValueError, match="reader_func gives .*but the elements that are kept are int64.*behind the snapshot"):
        hr.Dataset.range(3).snapshot(str(tmp_path), reader_func=with_numbers)
    # The shards cannot be listed before the snapshot is written.
    with pytest.raises(hr.errors.NotFoundError, match="holds no saved dataset"):
        hr.Dataset.range(3).snapshot(str(tmp_path), reader_func=lambda shards: list(shards)[0])


@pytest.mark.parametrize("keep", [
    lambda ds, path: ds.cache(path), lambda ds, path: ds.snapshot(path, shard_func=lambda x: x % 4),
    lambda ds, path: ds.snapshot(path, shard_func=lambda x: x % 4,
                                 reader_func=lambda shards: shards.interleave(lambda x: x, cycle_length=2))])
@pytest.mark.parametrize("guarantee", ["at_most_once", "at_least_once"])
def test_workers_share_what_folders_hold(tmp_path, keep, guarantee):
    ds = keep(hr.Dataset.range(40), str(tmp_path / "kept"))
    with hr.service.DispatchServer() as dispatcher, \
            hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)), \
            hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
        def shared():
            return ds.map(lambda x: x + 1).apply(hr.service.distribute("distributed_epoch", dispatcher.target,
                                                                       guarantee=guarantee))

        with pytest.raises(hr.errors.FailedPreconditionError, match="read it once without the service|at_least_once cannot"):
            list(shared())
        assert sorted(ds) == list(range(40))
        assert sorted(shared()) == list(range(1, 41))


def test_wrong_arguments_are_told(tmp_path):
    ds = hr.Dataset.range(3)
    with pytest.raises(hr.errors.NotFoundError, match="holds no saved dataset"):
        hr.Dataset.load(tmp_path / "none")
    with pytest.raises(hr.errors.InvalidArgumentError, match="compression is 'ZIP'"):
        ds.save(tmp_path, compression="ZIP")
    with pytest.raises(hr.errors.UnimplementedError, match="checkpoint_args"):
        ds.save(tmp_path, checkpoint_args={})
    with pytest.raises(TypeError, match="snapshot: reader_func must be a function, not int"):
        ds.snapshot(tmp_path, reader_func=3)
    with pytest.raises(hr.errors.InvalidArgumentError, match="never ends"):
        ds.repeat().cache()
    with pytest.raises(TypeError, match="path must be a path, not int"):
        ds.save(3)
    ds.save(tmp_path)
    with pytest.raises(hr.errors.InvalidArgumentError, match="element_spec is"):
        hr.Dataset.load(tmp_path, element_spec=hr.TensorSpec([], hr.string))
    with pytest.raises(hr.errors.InvalidArgumentError, match="was saved with 'NONE'"):
        hr.Dataset.load(tmp_path, compression="GZIP")


def test_explain_names_operators_and_the_bottleneck():
    text = hr.Dataset.range(100_000).map(lambda x: x * 2).batch(100).explain(elements=500)
    assert "batch(100)" in text
    assert "500 elements in" in text
    assert text.startswith("bottleneck: ")


def test_what_people_read_shows_functions_by_their_labels():
    def double(x):
        return 2 * x

    spec = hr.TensorSpec([], hr.int64)
    ds = hr.Dataset.range(9).map(hr.py_function(double, spec))
    shown = "test_what_people_read_shows_functions_by_their_labels.<locals>.double"
    assert f"map('python:{shown}')" in ds.explain() and len(ds.explain()) < 2000
    generated = hr.Dataset.from_generator(lambda: double(None), output_signature=spec)
    with pytest.raises(hr.errors.OpError) as failed:
        list(generated)
    assert len(str(failed.value)) < 2000
    with pytest.raises(TypeError, match="takes and gives tensors, not DatasetSpec"):
        hr.Dataset.range(9).window(2).map(hr.py_function(double, spec))

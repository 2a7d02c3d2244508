"""Datasets that the workers of a service write into a folder."""

import fcntl
import io
import os
import re
import threading

import pytest

import headrace as hr
from headrace.experimental import distributed_save


@pytest.fixture
def service():
    with hr.service.DispatchServer() as dispatcher:
        workers = [hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)) for _ in range(2)]
        yield dispatcher
        for worker in workers:
            worker.stop()


def numbers(dataset):
    return [int(x) for x in dataset]


def test_what_is_saved_is_loaded_in_order(service, tmp_path):
    ds = hr.Dataset.range(1000).map(lambda x: x * x)
    done = distributed_save(ds, tmp_path / "a", service.target, wait=True)
    assert done["state"] == "saved" and done["elements"] == 1000 and done["failure"] == ""
    assert numbers(hr.Dataset.load(tmp_path / "a")) == numbers(ds)
    assert service.status()["saves"] == [done]


def test_it_is_the_same_with_every_number_of_workers(tmp_path):
    ds = hr.Dataset.range(50).flat_map(lambda x: hr.Dataset.range(x)).filter(lambda x: x % 3 != 0)
    found = []
    for count in (1, 3):
        with hr.service.DispatchServer() as dispatcher:
            workers = [hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)) for _ in range(count)]
            distributed_save(ds, tmp_path / str(count), dispatcher.target, wait=True)
            for worker in workers:
                worker.stop()
        found.append(numbers(hr.Dataset.load(tmp_path / str(count))))
    assert found == [numbers(ds), numbers(ds)]


def test_a_random_order_of_all_is_the_same_for_every_number_of_workers(tmp_path):
    ds = hr.Dataset.range(500).global_shuffle(seed=7, reshuffle_each_iteration=False)
    for count in (1, 3):
        with hr.service.DispatchServer() as dispatcher:
            workers = [hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)) for _ in range(count)]
            distributed_save(ds, tmp_path / str(count), dispatcher.target, wait=True)
            for worker in workers:
                worker.stop()
        assert numbers(hr.Dataset.load(tmp_path / str(count))) == numbers(ds)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_how_far_it_is(service, tmp_path, monkeypatch):
    for screen in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stderr", screen)
        distributed_save(hr.Dataset.range(200), tmp_path / str(type(screen).__name__), service.target, wait=True)
        lines = screen.getvalue().split("\r\x1b[K")
        if isinstance(screen, Terminal):
            assert re.fullmatch(r"\[#{30}\] (\d+)/\1 pieces, 200 elements, 0\.0 MiB, 0 workers, saved\n", lines[-1])
        else:
            assert lines == [""]


def test_python_functions_run_on_workers(service, tmp_path):
    double = hr.py_function(lambda x: 2 * x, hr.TensorSpec([], hr.int64))
    distributed_save(hr.Dataset.range(20).map(double), tmp_path / "a", service.target, wait=True)
    assert numbers(hr.Dataset.load(tmp_path / "a")) == list(range(0, 40, 2))


def test_it_is_read_while_it_is_written(service, tmp_path):
    folder = tmp_path / "a"
    got = []
    reader = threading.Thread(target=lambda: got.extend(numbers(hr.Dataset.load(folder, wait=True, stall_timeout=60))))
    reader.start()
    slow = hr.Dataset.range(100).apply(hr.experimental.sleep(1000))
    assert distributed_save(slow, folder, service.target)["state"] == "planning"
    ds = hr.Dataset.load(folder, wait=True, stall_timeout=60)
    shared = ds.apply(hr.service.distribute("dynamic", service.target))
    assert sorted(numbers(shared)) == list(range(100))
    reader.join()
    assert got == list(range(100))
    by_pieces = hr.Dataset.load(folder, reader_func=lambda pieces: pieces.interleave(lambda piece: piece, cycle_length=4),
                                wait=True)
    assert sorted(numbers(by_pieces)) == list(range(100))


def test_a_wrong_spec_is_refused(service, tmp_path):
    distributed_save(hr.Dataset.range(5), tmp_path / "a", service.target, wait=True)
    for wait in (False, True):
        with pytest.raises(hr.errors.InvalidArgumentError, match="element_spec is .* holds elements of"):
            hr.Dataset.load(tmp_path / "a", element_spec=hr.TensorSpec([], hr.string), wait=wait)


def test_what_cannot_be_is_refused(service, tmp_path):
    ds = hr.Dataset.range(5)
    with pytest.raises(hr.errors.InvalidArgumentError, match="never ends"):
        distributed_save(ds.repeat(), tmp_path / "a", service.target)
    with pytest.raises(hr.errors.InvalidArgumentError, match="compression is 'LZ4'"):
        distributed_save(ds, tmp_path / "a", service.target, compression="LZ4")
    with pytest.raises(hr.errors.UnavailableError, match="127.0.0.1:1 "):
        distributed_save(ds, tmp_path / "a", "127.0.0.1:1", worker_timeout=0.1)
    with pytest.raises(TypeError, match="dataset must be a Dataset, not int"):
        distributed_save(5, tmp_path / "a", service.target)
    with pytest.raises(TypeError, match="path must be a path, not int"):
        distributed_save(ds, 5, service.target)
    with pytest.raises(TypeError, match="wait must be a bool"):
        distributed_save(ds, tmp_path / "a", service.target, wait=1)
    distributed_save(ds, tmp_path / "a", service.target, wait=True)
    with pytest.raises(hr.errors.AlreadyExistsError, match="holds another dataset"):
        distributed_save(hr.Dataset.range(6), tmp_path / "a", service.target, wait=True)
    with pytest.raises(hr.errors.NotFoundError, match="holds no saved dataset"):
        hr.Dataset.load(tmp_path / "b")
    with pytest.raises(hr.errors.DeadlineExceededError, match="nobody saved a dataset"):
        hr.Dataset.load(tmp_path / "b", wait=True, stall_timeout=0.05)


def test_a_failed_element_is_the_error_of_the_save(service, tmp_path):
    failing = hr.Dataset.range(100).map(lambda x: 10 // (x - 70))
    with pytest.raises(hr.errors.OpError, match="piece .*division by zero"):
        distributed_save(failing, tmp_path / "a", service.target, wait=True)
    assert service.status()["saves"][-1]["state"] == "failed"
    with pytest.raises(hr.errors.AbortedError, match="ended early"):
        numbers(hr.Dataset.load(tmp_path / "a", wait=True))


def test_the_configurations_limits_hold(tmp_path):
    config = hr.service.DispatcherConfig(worker_max_concurrent_snapshots=1)
    with hr.service.DispatchServer(config) as dispatcher:
        worker = hr.service.WorkerConfig(dispatcher.target, snapshot_max_chunk_size_bytes=1)
        with hr.service.WorkerServer(worker):
            large = hr.Dataset.range(4).map(lambda x: hr.fill([100_000], x)).take(4)  # saved as one piece
            with pytest.warns(RuntimeWarning, match="one worker wrote all of it: take looks at more than one element"):
                distributed_save(large, tmp_path / "a", dispatcher.target, compression="NONE", wait=True)
    files = [name for _, _, names in os.walk(tmp_path / "a") for name in names if name.endswith(".rows")]
    assert len(files) == 4


def test_a_generator_beside_numbers_is_run_once(service, tmp_path):
    def mixed():
        import random
        yield from random.sample(range(100), 100)

    shuffled = hr.Dataset.from_generator(mixed, output_signature=hr.TensorSpec([], hr.int64))
    both = hr.Dataset.zip(hr.Dataset.range(100), shuffled)
    done = distributed_save(both, tmp_path / "a", service.target, wait=True)
    assert "generator says only at its end how many elements it has" in done["whole_because"]
    got = [(int(a), int(b)) for a, b in hr.Dataset.load(tmp_path / "a")]
    assert [a for a, _ in got] == list(range(100))
    assert sorted(b for _, b in got) == list(range(100))


def test_a_position_stays_good_when_the_save_is_over(service, tmp_path):
    gate = str(tmp_path / "gate")

    def held(x):
        if x >= 40:
            import fcntl
            with open(gate) as file:
                fcntl.flock(file, fcntl.LOCK_SH)
        return x

    slow = hr.Dataset.range(60).map(hr.py_function(held, hr.TensorSpec([], hr.int64)))
    with open(gate, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        distributed_save(slow, tmp_path / "a", service.target)
        at = iter(hr.Dataset.load(tmp_path / "a", wait=True, stall_timeout=60))
        first = [int(next(at)) for _ in range(3)]
        record = at.save()
    distributed_save(slow, tmp_path / "a", service.target, wait=True)
    again = hr.Dataset.load(tmp_path / "a", wait=True, stall_timeout=60).restore(record)
    assert first + numbers(again) == list(range(60))


def test_a_save_whose_files_are_gone_says_so_when_it_is_asked_for_again(service, tmp_path):
    ds = hr.Dataset.range(1000)
    distributed_save(ds, tmp_path / "a", service.target, wait=True)
    next((tmp_path / "a" / "pieces").rglob("*.rows")).unlink()
    with pytest.raises(hr.errors.DataLossError, match="is not there with its"):
        distributed_save(ds, tmp_path / "a", service.target, wait=True)


def test_a_failure_with_bytes_that_are_no_text_is_told(service, tmp_path):
    folder = os.fsencode(tmp_path)
    with open(folder + b"/bad\xff", "wb") as file:
        file.write(b"not a record file")
    ds = hr.Dataset.list_files(str(tmp_path / "bad*")).flat_map(lambda f: hr.data.TFRecordDataset(f))
    with pytest.raises(hr.errors.OpError, match=r"bad\\xff"):
        distributed_save(ds, tmp_path / "a", service.target, wait=True)
    assert r"bad\xff" in service.status()["saves"][0]["failure"]

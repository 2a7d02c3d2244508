"""Trainers that share elements which workers make only once."""

import pathlib
import re
import threading
import time
import warnings

import pytest

import headrace as hr
from headrace import service
from headrace.service import CrossTrainerCache


@pytest.fixture
def cache_bytes():
    return 1 << 26


@pytest.fixture
def target(cache_bytes):
    with service.DispatchServer(service.DispatcherConfig(heartbeat_interval_ms=50, worker_timeout_ms=1000)) as dispatcher:
        with service.WorkerServer(service.WorkerConfig(dispatcher.target, cross_trainer_cache_size_bytes=cache_bytes)):
            yield dispatcher.target


def shared(dataset, target, cache, mode="parallel_epochs", job="train", **options):
    return dataset.apply(service.distribute(mode, target, job_name=job, cross_trainer_cache=cache, **options))


def take(iterator, count):
    return [int(next(iterator)) for _ in range(count)]


def window(target):
    for job in service.status(target)["jobs"]:
        for task in job["tasks"]:
            if task["window"]:
                return task["window"]
    return None


def test_EachTrainerIsGivenAllElements(target):
    a = iter(shared(hr.Dataset.counter(), target, CrossTrainerCache("a", on_lag="wait")))
    b = iter(shared(hr.Dataset.counter(), target, CrossTrainerCache(trainer_id="b", on_lag="wait")))
    assert take(a, 500) == list(range(500))
    assert take(b, 500) == list(range(500))


def test_IteratorsOfOneTrainerAreGivenDifferentElements(target):
    iterators = [iter(shared(hr.Dataset.counter(), target, CrossTrainerCache("a"))) for _ in range(2)]
    seen = [x for one in iterators for x in take(one, 500)]
    assert len(set(seen)) == 1000


def test_AFiniteDatasetIsGivenToAllTrainersThatAreExpected(target):
    seen = {}

    def train(name):
        ds = shared(hr.Dataset.range(1000), target, CrossTrainerCache(name, on_lag="wait", expected_trainers=2))
        seen[name] = [int(x) for _ in range(2) for x in ds]

    threads = [threading.Thread(target=train, args=(name,)) for name in "ab"]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert seen == {name: [*range(1000), *range(1000)] for name in "ab"}


@pytest.mark.parametrize("cache_bytes", [1 << 16])
def test_ATrainerThatIsTooSlowIsWarned(target):
    large = hr.Dataset.counter().map(lambda x: hr.fill([1024], x))
    slow = iter(shared(large, target, CrossTrainerCache("slow")))
    fast = iter(shared(large, target, CrossTrainerCache("fast")))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        next(slow)
        for _ in range(3000):
            next(fast)
        before, skipped = 0, 0
        for _ in range(2000):
            now = int(next(slow)[0])
            skipped, before = skipped + now - before - 1, now
            if skipped:
                break
        next(slow)
    assert skipped
    assert any("trainer 'slow' was too slow" in str(one.message) for one in told)
    until = time.monotonic() + 60
    while not (now := window(target)) or not any(x["trainer"] == "slow" and x["skipped"] for x in now["trainers"]):
        assert time.monotonic() < until
    assert now["bytes"] <= now["budget"] == 1 << 16


@pytest.mark.parametrize("arguments, error, text", [
    ({"trainer_id": ""}, ValueError, "trainer_id"),
    ({"trainer_id": 3}, TypeError, "trainer_id"),
    ({"trainer_id": None}, TypeError, "trainer_id must be a str"),
    ({"trainer_id": "\ud800"}, ValueError, "UTF-8"),
    ({"trainer_id": "a", "on_lag": "wait", "expected_trainers": 1 << 40}, ValueError, "between 1 and 65536"),
    ({"trainer_id": "a", "lag_limit": 1e-12, "on_lag": "wait"}, ValueError, "lag_limit"),
    ({"trainer_id": "a", "on_lag": "stop"}, ValueError, "on_lag"),
    ({"trainer_id": "a", "start": "middle"}, ValueError, "start"),
    ({"trainer_id": "a", "lag_limit": 3}, ValueError, "on_lag=\"wait\""),
    ({"trainer_id": "a", "lag_limit": 0, "on_lag": "wait"}, ValueError, "lag_limit"),
    ({"trainer_id": "a", "lag_limit": "x", "on_lag": "wait"}, TypeError, "lag_limit"),
    ({"trainer_id": "a", "expected_trainers": 2}, ValueError, "on_lag=\"wait\""),
    ({"trainer_id": "a", "expected_trainers": 0, "on_lag": "wait"}, ValueError, "expected_trainers"),
    ({"trainer_id": "a", "expected_trainers": "x", "on_lag": "wait"}, TypeError, "expected_trainers"),
])
def test_WrongArgumentsNameThemselves(arguments, error, text):
    with pytest.raises(error, match=text):
        CrossTrainerCache(**arguments)


def test_TheRuleIsNamedThatIsBroken():
    cache = CrossTrainerCache("a")
    with pytest.raises(ValueError, match="job_name"):
        hr.Dataset.counter().apply(service.distribute("off", "localhost:1", cross_trainer_cache=cache))
    with pytest.raises(hr.errors.InvalidArgumentError, match="infinite dataset"):
        shared(hr.Dataset.range(5), "localhost:1", cache)
    with pytest.raises(hr.errors.InvalidArgumentError, match="at_least_once"):
        shared(hr.Dataset.counter(), "localhost:1", cache, mode="distributed_epoch", guarantee="at_least_once")


def test_ADatasetWithItIsIteratedOnce(target):
    ds = shared(hr.Dataset.counter(), target, CrossTrainerCache("a"))
    assert take(iter(ds), 3) == [0, 1, 2]
    with pytest.raises(hr.errors.InvalidArgumentError, match="iterated once"):
        next(iter(ds))


def test_TheExampleOfTheDocumentRuns(capsys):
    text = (pathlib.Path(__file__).parents[3] / "docs" / "sharing.md").read_text()
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    exec(compile(program, "docs/sharing.md", "exec"), {})
    assert capsys.readouterr().out.strip() == re.search(r"# (\[0, 1, 4\] \[.*\])", program).group(1)

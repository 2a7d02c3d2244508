"""Replicas that get elements of one group in each round."""

import importlib.util
import pathlib
import re

import pytest

import headrace as hr
from headrace import service

ROOT = pathlib.Path(__file__).parents[3]


@pytest.fixture
def target():
    with service.DispatchServer(service.DispatcherConfig(heartbeat_interval_ms=50, worker_timeout_ms=1000)) as dispatcher:
        with service.WorkerServer(service.WorkerConfig(dispatcher.target)):
            yield dispatcher.target


def replica(target, index, consumers=2, dataset=None, mode="parallel_epochs", **more):
    dataset = dataset or hr.Dataset.counter()
    return iter(dataset.apply(service.distribute(mode, target, job_name="train", consumer_index=index,
                                                 num_consumers=consumers, **more)))


def test_EachConsumerGetsItsElementOfEachRound(target):
    a, b = replica(target, 0), replica(target, 1)
    for i in range(0, 600, 2):
        assert (int(next(a)), int(next(b))) == (i, i + 1)
    rounds = service.status(target)["jobs"][0]["rounds"]
    assert rounds["consumers"] == 2 and rounds["missing"] == [] and rounds["epoch"] == 1


def test_OneThatIsMissingIsNamed(target):
    a = replica(target, 0, consumer_timeout=0.2)
    with pytest.raises(hr.errors.UnavailableError, match="no consumer with consumer_index 1 of 2 has come"):
        next(a)
    assert service.status(target)["jobs"][0]["rounds"]["missing"] == [1]


def test_OneComesInThePlaceOfAnother(target):
    a, b = replica(target, 0), replica(target, 1)
    assert [int(next(a)), int(next(b))] == [0, 1]
    with pytest.raises(hr.errors.FailedPreconditionError, match="rejoin"):
        next(replica(target, 1))
    b = replica(target, 1, rejoin=True)
    # In each step, b is read first. If a were read first, it might not know yet of the new b, and hand out its element
    # of a round of which the old b had received the other element. The new b would then begin after that round.
    for i in range(2, 200, 2):
        assert (int(next(b)), int(next(a))) == (i + 1, i)


def test_RulesAreNamed(target):
    with pytest.raises(hr.errors.InvalidArgumentError, match="infinite dataset"):
        replica(target, 0, dataset=hr.Dataset.range(5))
    with pytest.raises(hr.errors.InvalidArgumentError, match="at_least_once"):
        replica(target, 0, mode="distributed_epoch", guarantee="at_least_once")
    with pytest.raises(hr.errors.InvalidArgumentError, match="LOCAL"):
        replica(target, 0, target_workers="LOCAL")
    with pytest.raises(hr.errors.InvalidArgumentError, match="cross_trainer_cache"):
        replica(target, 0, cross_trainer_cache=service.CrossTrainerCache("a"))


def test_TheDocumentedExampleGivesWhatItSays(capsys):
    section = (ROOT / "docs" / "sharing.md").read_text().split("## Coordinated reads")[1]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)
    exec(compile(code, "sharing.md", "exec"), {})
    assert capsys.readouterr().out.strip() == re.search(r"# (\[.*)", code).group(1)


def test_TheExampleSavesPadding(capfd):
    spec = importlib.util.spec_from_file_location("coordinated", ROOT / "examples" / "python" / "coordinated.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.main(str(ROOT / "examples" / "data" / "sentences"), 60, 3), capfd.readouterr().out
    text = capfd.readouterr().out
    lengths = [line.split(":")[1].split() for line in text.splitlines() if re.match(r"  step \d+:", line)]
    assert len(lengths) == 10 and all(len(x) == 3 for x in lengths)

"""The elements that each replica and process of a strategy reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import headrace as hr

Policy = hr.data.experimental.AutoShardPolicy
Local, Processes = hr.distribute.LocalStrategy, hr.distribute.ProcessStrategy


def steps(strategy, distributed):
    return [[part.tolist() for part in strategy.experimental_local_results(x)] for x in distributed]


def with_policy(ds, policy):
    options = hr.Options()
    options.experimental_distribute.auto_shard_policy = policy
    return ds.with_options(options)


@pytest.mark.parametrize("replicas, ds, wanted", [
    (2, hr.Dataset.range(10).batch(4), [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], [9]]]),
    (2, hr.Dataset.range(7).batch(3), [[[0, 1], [2]], [[3, 4], [5]], [[6], []]]),
    (4, hr.Dataset.range(13).batch(6), [[[0, 1], [2, 3], [4, 5], []], [[6, 7], [8, 9], [10, 11], []], [[12], [], [], []]]),
    (3, hr.Dataset.range(7).batch(2), [[[0], [1], []], [[2], [3], []], [[4], [5], []], [[6], [], []]]),
    (2, hr.Dataset.range(6).batch(4).repeat(2), [[[0, 1], [2, 3]], [[4], [5]]] * 2),
    (2, hr.Dataset.range(5).batch(4, drop_remainder=True), [[[0, 1], [2, 3]]]),
])
def test_EachBatchIsDividedAmongTheReplicasAsDocumented(replicas, ds, wanted):
    strategy = Local(replicas)
    assert steps(strategy, strategy.experimental_distribute_dataset(ds)) == wanted


def test_ATupleOfOneBatchIsDividedIntoTuples():
    (x,) = Local(2).experimental_distribute_dataset(hr.Dataset.from_tensors(([1, 2, 3],)))
    assert type(x) is tuple and [part.tolist() for part in x[0].values] == [[1, 2], [3]]


def test_NestsOfAnyDtypeAreDividedTogether():
    ds = hr.Dataset.range(3).map(lambda x: (hr.strings.as_string(x), {"y": hr.stack([x, x]) / 0})).batch(3)
    (x,) = Local(2).experimental_distribute_dataset(ds)
    assert [p.tolist() for p in x[0].values] == [[b"0", b"1"], [b"2"]]
    assert [p.shape for p in x[1]["y"].values] == [(2, 2), (1, 2)]
    with pytest.raises(ValueError, match="batch the dataset"):
        Local(2).experimental_distribute_dataset(hr.Dataset.range(3))


def test_RaggedBatchesAreDividedByTheirRows():
    def rows(n):
        return hr.strings.as_string(hr.range(n))
    twos = hr.Dataset.range(5).map(lambda n: (n, rows(n))).ragged_batch(3)
    got = [[[part.to_list() for part in pair.values] for pair in step[1:]]
           for step in Local(2).experimental_distribute_dataset(twos)]
    assert got == [[[[[], [b"0"]], [[b"0", b"1"]]]], [[[[b"0", b"1", b"2"]], [[b"0", b"1", b"2", b"3"]]]]]
    threes = hr.Dataset.range(1, 5).map(hr.range).ragged_batch(2).ragged_batch(2)
    distributed = Local(3).experimental_distribute_dataset(threes)
    assert [part.to_list() for x in distributed for part in x.values] == [
        [[[0], [0, 1]]], [[[0, 1, 2], [0, 1, 2, 3]]], []]
    from_function = Local(2).distribute_datasets_from_function(lambda c: threes)
    assert [part.to_list() for x in from_function for part in x.values][1] == []


def test_DatasetsFromAFunctionAreTakenInTurnAndFilledAtTheEnd():
    strategy = Local(2)
    distributed = strategy.distribute_datasets_from_function(lambda c: hr.Dataset.range(5).batch(2))
    assert steps(strategy, distributed) == [[[0, 1], [2, 3]], [[4], []]]
    seen = []
    each = hr.distribute.InputOptions(experimental_replication_mode=hr.distribute.InputReplicationMode.PER_REPLICA)
    strategy = Processes(2, rank=1, world_size=2)
    strategy.distribute_datasets_from_function(
        lambda c: seen.append((c.num_input_pipelines, c.input_pipeline_id, c.num_replicas_in_sync))
        or hr.Dataset.range(1), each)
    assert seen == [(4, 2, 4), (4, 3, 4)]
    with pytest.raises(TypeError, match="must return a headrace.Dataset"):
        strategy.distribute_datasets_from_function(lambda c: [1])


def test_AnElementThatFailsRaisesInItsPlace():
    it = iter(Local(1).experimental_distribute_dataset(hr.Dataset.range(3).map(lambda x: 6 // (x - 1)).batch(1)))
    assert next(it).tolist() == [-6]
    with pytest.raises(hr.errors.OpError):
        next(it)
    assert next(it).tolist() == [6]
    with pytest.raises(hr.errors.OutOfRangeError):
        it.get_next()


def test_AnElementThatFailsTakesNoOtherReplicasWithIt():
    each = hr.distribute.InputOptions(experimental_replication_mode=hr.distribute.InputReplicationMode.PER_REPLICA)
    it = iter(Local(2).distribute_datasets_from_function(
        lambda c: hr.Dataset.range(4).map(lambda x: 6 // (x - c.input_pipeline_id) + 100 * c.input_pipeline_id), each))
    seen = [[], []]
    errors = 0
    while True:
        try:
            step = next(it)
        except hr.errors.OpError:
            errors += 1
            continue
        except StopIteration:
            break
        for replica, part in enumerate(step.values):
            seen[replica] += np.ravel(part).tolist()
    assert errors == 2
    assert seen == [[6, 3, 2], [94, 106, 103]]


def read_in_processes(code, count, tmp_path):
    """Runs `code` in `count` processes, whose ranks are in the environment. Returns each process's `rows`."""
    started = []
    for rank in range(count):
        env = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(count), "FOLDER": str(tmp_path)}
        program = f"import os, json, headrace as hr\n{code}\nprint(json.dumps(rows))"
        started.append(subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True))
    out = []
    for process in started:
        said, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        out.append(json.loads(said))
    return out


READ = """
o = hr.Options()
o.experimental_distribute.auto_shard_policy = hr.data.experimental.AutoShardPolicy.{policy}
s = hr.distribute.ProcessStrategy({replicas})
d = s.experimental_distribute_dataset(({ds}).with_options(o))
rows = [[[int(r) for r in p] for p in s.experimental_local_results(x)] for x in d]
"""


def flat(processes):
    return [row for steps in processes for step in steps for part in step for row in part]


def test_ProcessesReadEachElementOnceUnderData(tmp_path):
    got = read_in_processes(READ.format(policy="DATA", replicas=2, ds="hr.Dataset.range(50).shuffle(50, seed=3).batch(7)"),
                            2, tmp_path)
    assert sorted(flat(got)) == list(range(50))
    assert len(got[0]) == len(got[1]) == 8
    # In each step the processes together have one global batch.
    whole = [x.tolist() for x in hr.Dataset.range(50).shuffle(50, seed=3).batch(7)]
    assert [sorted(r for process in got for part in process[i] for r in part) for i in range(8)] == [sorted(x) for x in whole]


def test_ProcessesReadEachFileOnceUnderFileAndAuto(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.txt").write_text("".join(f"{10 * i + j}\n" for j in range(4)))
    ds = "hr.TextLineDataset([os.environ['FOLDER'] + f'/{i}.txt' for i in range(5)])" \
         ".map(lambda x: hr.strings.to_number(x, hr.int64)).batch(4)"
    for policy in ("FILE", "AUTO"):
        got = read_in_processes(READ.format(policy=policy, replicas=1, ds=ds), 2, tmp_path)
        assert [sorted({r // 10 for r in flat([one])}) for one in got] == [[0, 2, 4], [1, 3]]
        assert sorted(flat(got)) == sorted(10 * i + j for i in range(5) for j in range(4))


def test_FewerFilesThanProcessesAreAnErrorUnderFileAndDividedAsDataUnderAuto(tmp_path):
    (tmp_path / "a").write_text("1\n2\n3\n4\n")
    ds = hr.TextLineDataset(str(tmp_path / "a")).batch(2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="1 file for 2 workers"):
        Processes(rank=0, world_size=2).experimental_distribute_dataset(with_policy(ds, Policy.FILE))
    got = [Processes(rank=r, world_size=2) for r in (0, 1)]
    assert [steps(s, s.experimental_distribute_dataset(ds)) for s in got] == [[[[b"1"]], [[b"3"]]], [[[b"2"]], [[b"4"]]]]


def test_OffReadsEverythingAndHintWhereTheGraphSaysSo():
    strategy = Processes(rank=1, world_size=2)
    whole = with_policy(hr.Dataset.range(4).batch(2), Policy.OFF)
    assert steps(strategy, strategy.experimental_distribute_dataset(whole)) == [[[0]], [[1]], [[2]], [[3]]]
    hinted = with_policy(hr.Dataset.range(8).shard(hr.experimental.SHARD_HINT, 0).batch(2), Policy.HINT)
    assert steps(strategy, strategy.experimental_distribute_dataset(hinted)) == [[[1]], [[3]], [[5]], [[7]]]
    with pytest.raises(hr.errors.InvalidArgumentError, match="SHARD_HINT"):
        strategy.experimental_distribute_dataset(with_policy(hr.Dataset.range(8).batch(2), Policy.HINT))


def test_AnOrderThatEachProcessWouldDrawIsRefusedOrDrawnByTheSeed():
    ds = hr.Dataset.range(20).shuffle(20).batch(4)
    with pytest.raises(ValueError, match="has no seed"):
        Processes(rank=0, world_size=2).experimental_distribute_dataset(ds)
    both = [Processes(rank=r, world_size=2, seed=5) for r in (0, 1)]
    read = [s.experimental_distribute_dataset(ds) for s in both]
    first = [steps(s, d) for s, d in zip(both, read)]
    assert sorted(flat(first)) == list(range(20))
    second = [steps(s, d) for s, d in zip(both, read)]
    assert sorted(flat(second)) == list(range(20)) and second != first


def test_ARankThatCannotBeFoundIsAnErrorThatNamesTheVariables(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="SLURM_PROCID"):
        Processes()
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(ValueError, match="WORLD_SIZE is missing"):
        Processes()
    monkeypatch.setenv("WORLD_SIZE", "x")
    with pytest.raises(ValueError, match="WORLD_SIZE must be a number"):
        Processes()


def test_StrategiesThatTrainSayWhereToLook():
    for name in ("MirroredStrategy", "TPUStrategy", "get_strategy"):
        with pytest.raises(hr.errors.UnimplementedError, match="LocalStrategy"):
            getattr(hr.distribute, name)
    for name, text in (("scope", "leave it out"), ("reduce", "all_reduce"), ("gather", "all_gather"), ("extended", "the framework")):
        for place in (Local(2), hr.distribute.Strategy):
            with pytest.raises(hr.errors.UnimplementedError, match=text):
                getattr(place, name)
    assert not hasattr(Local(2), "nonsense")
    with pytest.raises(hr.errors.UnimplementedError, match="on the host"):
        hr.distribute.InputOptions(experimental_place_dataset_on_device=True)

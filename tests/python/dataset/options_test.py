"""The options of datasets: how they are shown and merged, and the warnings and errors for contradictions."""

from __future__ import annotations

import warnings

import pytest

import headrace as hr


def options(**given):
    out = hr.Options()
    for name, value in given.items():
        setattr(out, name, value)
    return out


def test_WhatADatasetShowsCannotBeSetAndIsNobodyElses():
    ds = hr.Dataset.range(3).with_options(options(deterministic=True))
    other = ds.map(lambda x: x + 1)
    with pytest.raises(AttributeError, match="give that to with_options"):
        ds.options().deterministic = False
    with pytest.raises(AttributeError, match="give that to with_options"):
        ds.options().autotune.enabled = False
    assert ds.options().deterministic is True and other.options().deterministic is True
    assert ds.options() == other.options() == options(deterministic=True)


def test_OptionsThatWereGivenMayChangeAfterwards():
    given = options(deterministic=True)
    ds = hr.Dataset.range(3).with_options(given)
    given.deterministic = False
    assert ds.options().deterministic is True


def test_WhatOneDatasetShowsCanBeGivenToAnother():
    ds = hr.Dataset.range(3).with_options(options(deterministic=False))
    assert hr.Dataset.range(2).with_options(ds.options()).options().deterministic is False


@pytest.mark.parametrize("combine", [
    lambda a, b: hr.Dataset.zip(a, b),
    lambda a, b: hr.Dataset.zip({"a": a, "b": b}),
    lambda a, b: a.concatenate(b),
    lambda a, b: hr.Dataset.sample_from_datasets([a, b], seed=1),
    lambda a, b: hr.Dataset.choose_from_datasets([a, b], hr.Dataset.range(2)),
])
def test_ADatasetOfSeveralHasTheOptionsOfAll(combine):
    a = hr.Dataset.range(3).with_options(options(deterministic=False))
    b = hr.Dataset.range(3).with_options(options(dataset_name="b"))
    out = combine(a, b).options()
    assert (out.deterministic, out.dataset_name) == (False, "b")
    with pytest.warns(UserWarning, match="deterministic is False in one place and True in another"):
        assert combine(a, hr.Dataset.range(3).with_options(options(deterministic=True))).options().deterministic is True


def test_ContradictionsWarnWhereTheyAreMade():
    with pytest.warns(UserWarning, match="option deterministic is True in one place and False in another") as told:
        hr.Dataset.range(1).with_options(options(deterministic=True)).with_options(options(deterministic=False))
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="deterministic"):
        assert options(deterministic=True).merge(options(deterministic=False)).deterministic is False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hr.Dataset.range(1).with_options(options(deterministic=True)).with_options(options(deterministic=True))


def test_HintsAreAccepted():
    given = options(experimental_slack=False, experimental_warm_start=True,
                    experimental_external_state_policy=hr.experimental.ExternalStatePolicy.WARN)
    given.threading.max_intra_op_parallelism = 1
    given.experimental_optimization.apply_default_optimizations = True
    given.experimental_optimization.map_parallelization = False
    ds = hr.Dataset.range(3).with_options(given)
    assert [int(x) for x in ds] == [0, 1, 2]
    assert ds.options() == given


@pytest.mark.parametrize("policy", ["FILE", "DATA", "HINT"])
def test_SharingAmongProcessesChangesNothingWithoutAStrategy(policy):
    given = hr.Options()
    given.experimental_distribute.auto_shard_policy = hr.experimental.AutoShardPolicy[policy]
    assert [int(x) for x in hr.Dataset.range(3).with_options(given)] == [0, 1, 2]


def test_OptionsThatAreNotHereSayWhatToUse():
    with pytest.raises(hr.errors.UnimplementedError, match="is not in this release: "):
        hr.Options().experimental_service
    with pytest.raises(hr.errors.UnimplementedError, match="is not in this release: "):
        hr.Options().experimental_service = 1


@pytest.mark.parametrize("combine", [hr.Dataset.flat_map, hr.Dataset.interleave])
def test_OptionsOfDatasetsThatFunctionsGiveChangeNothing(combine):
    given = hr.Options()
    given.deterministic = False
    ds = combine(hr.Dataset.range(3), lambda n: hr.Dataset.range(n).with_options(given))
    assert ds.options().deterministic is None
    assert ds.with_options(given).options().deterministic is False
    assert sorted(int(x) for x in ds) == [0, 0, 1]

"""Public names, and names whose use raises an error because this release lacks them (see ``documented_test.py``)."""

from __future__ import annotations

import importlib
import inspect
import pickle

import numpy as np
import pytest

import headrace as hr
import documented
from headrace._epochs import Epochs
from headrace._missing import MISSING, MissingNameError
from headrace._refusals import NoSuchAttributeError

#: Classes that are defined in private modules, each with the name in its `__module__`, which is in tracebacks and in
#: pickles of the class.
SHOWN_AS = {
    hr.Tensor: "headrace", hr.TensorSpec: "headrace._specs", hr.DatasetSpec: "headrace._specs",
    hr.TensorShape: "headrace._tensor_shape", hr.RaggedTensorSpec: "headrace._functions.ragged",
    hr.RaggedTensor: "headrace._functions.ragged", hr.data.IteratorSpec: "headrace._iterator_spec",
    hr.data.NumpyIterator: "headrace._numpy_iterator", hr.experimental.Optional: "headrace._optional",
    hr.Options: "headrace._options", hr.experimental.AutoShardPolicy: "headrace._options",
    hr.experimental.Histogram: "headrace._statistics", hr.experimental.StatsAggregator: "headrace._statistics",
    hr.Dataset: "headrace._dataset.dataset", hr.PyFunction: "headrace._processes.python",
    MissingNameError: "headrace._missing", NoSuchAttributeError: "headrace._refusals", Epochs: "headrace._epochs",
}


#: Further names that pickles contain: those of datasets, and of the Python programs in graphs.
IN_PICKLES = {
    "headrace._dataset.dataset": ["_from_encoded"], "headrace._processes.python": ["_Parts", "_OnePart", "_Twice"],
    "headrace._processes.whole_generator": ["WholeGenerator"],
}


def test_NamesInPicklesStayWhereTheyAre():
    for module, names in IN_PICKLES.items():
        for name in names:
            assert getattr(importlib.import_module(module), name).__module__ == module


@pytest.mark.parametrize("kind", SHOWN_AS, ids=lambda kind: kind.__name__)
def test_AClassKeepsTheModuleThatItsPicklesName(kind):
    assert kind.__module__ == SHOWN_AS[kind]
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_NamesThatAreThereAreNotCalledMissing():
    for place, at in (("", hr), ("data", hr.data), ("data.experimental", hr.data.experimental), ("Dataset", hr.Dataset),
                      ("debugging", hr.debugging), ("io", hr.io), ("ragged", hr.ragged)):
        assert not [name for name in MISSING.get(place, {}) if name in dir(at)]


def test_OtherNamesAreUnknownAsEverywhere():
    for place in (hr.data, hr.experimental, hr.Dataset, hr.Dataset.range(1)):
        with pytest.raises(AttributeError, match="nonsense") as e:
            place.nonsense
        assert not isinstance(e.value, MissingNameError)
    with pytest.raises(MissingNameError, match="make_one_shot_iterator"):
        hr.Dataset.range(1).make_one_shot_iterator


def test_ModulesOfFunctionsSayWhatToUseInPlaceOfWhatTheyLack():
    for place, name, text in ((hr, "function", "leave the decorator out"), (hr.io, "gfile", "pathlib"),
                              (hr, "print", "py_function")):
        with pytest.raises(MissingNameError, match=text):
            getattr(place, name)
    for place in (hr, hr.math, hr.strings, hr.io, hr.image, hr.random, hr.lookup, hr.debugging):
        with pytest.raises(AttributeError, match="nonsense'; functions that it lacks can run in Python"):
            place.nonsense


def test_MigratingTellsOfEveryName():
    import pathlib

    text = (pathlib.Path(__file__).parents[3] / "docs" / "migrating.md").read_text()
    ours = {"service", "sleep", "CsvDataset", "JsonLinesDataset", "TarDataset", "SqlDataset"}
    names = {row.name.split(".")[-1] for row in documented.rows() if row.mark != "refused"
             and row.name.rpartition(".")[0] in ("tf.data", "tf.data.experimental")}
    untold = [name for name in {*names, *hr.experimental.__all__} - ours if name not in text]
    assert not sorted(untold)


def test_IteratorsAreOfTheDocumentedClass():
    it = iter(hr.Dataset.range(2))
    assert isinstance(it, hr.data.Iterator) and it.get_next() == 0


def test_TheOldNameOfAnOptionIsThatOption():
    options = hr.Options()
    options.experimental_deterministic = False
    assert options.deterministic is False and options.experimental_deterministic is False
    options.experimental_threading.private_threadpool_size = 3
    assert hr.Dataset.range(1).with_options(options).options().threading.private_threadpool_size == 3
    with pytest.raises(AttributeError, match="no option 'nonsense'"):
        options.nonsense


def test_TransformationsDoWhatTheMethodsDo():
    ds, x = hr.Dataset.range(6), hr.experimental
    assert list(ds.apply(x.enumerate_dataset(1))) == list(ds.enumerate(1))
    assert [int(i) for i in ds.apply(x.scan(np.int64(0), lambda s, e: (s + e, s + e)))] == [0, 1, 3, 6, 10, 15]
    assert list(ds.apply(x.map_and_batch(lambda e: e * 2, 3, drop_remainder=True)))[1].tolist() == [6, 8, 10]
    assert x.cardinality(ds) == 6 and x.get_single_element(ds.take(1)) == 0
    grouped = ds.apply(x.group_by_window(lambda e: e % 2, lambda k, xs: xs.batch(3), 3))
    assert [g.tolist() for g in grouped] == [[0, 2, 4], [1, 3, 5]]
    assert list(ds.map(lambda e: 6 // e).apply(x.ignore_errors())) == [6, 3, 2, 1, 1]
    assert [int(e) for e in x.Counter(3).take(2)] == [3, 4]
    with pytest.raises(ValueError, match="not both"):
        x.map_and_batch(lambda e: e, 2, num_parallel_batches=2, num_parallel_calls=2)
    with pytest.raises(hr.errors.FailedPreconditionError, match="assert_cardinality"):
        list(ds.filter(lambda e: e > 3).apply(x.assert_cardinality(3)))
    with pytest.raises(TypeError, match="string scalars"):
        x.TFRecordWriter("/nowhere/x").write(ds)
    assert all(inspect.getdoc(getattr(x, name)) for name in x.__all__ if inspect.isroutine(getattr(x, name)))


def test_SamplesByADatasetOfWeights():
    turns = hr.Dataset.range(6).map(lambda i: hr.one_hot(i % 2, 2, dtype=hr.float32))
    got = hr.Dataset.sample_from_datasets([hr.Dataset.range(9), hr.Dataset.range(10, 19)], turns, seed=1)
    assert [int(e) for e in got] == [0, 10, 1, 11, 2, 12]
    with pytest.raises(hr.errors.InvalidArgumentError, match="weights"):
        hr.Dataset.sample_from_datasets([hr.Dataset.range(9)], hr.Dataset.from_tensors("x"))


def test_EverythingPublicIsExported():
    public = {name for name, value in vars(hr).items() if not name.startswith("_")
              and not (inspect.ismodule(value) and name not in hr.__all__)}
    assert sorted(public - {"jax", "keras", "torch"}) == sorted(hr.__all__)

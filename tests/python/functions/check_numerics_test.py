"""``enable_check_numerics``: the numbers that functions compute must be finite."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr
from headrace import Dataset


@pytest.fixture(autouse=True)
def checked():
    hr.debugging.enable_check_numerics()
    yield
    hr.debugging.disable_check_numerics()


def results(f, *values):
    """The result of a function for each value, or the text of its error."""
    it, out = iter(Dataset.from_tensor_slices(np.array(values)).map(f)), []
    while True:
        try:
            out.append(next(it).tolist())
        except hr.errors.InvalidArgumentError as error:
            out.append(str(error))
        except StopIteration:
            return out


@pytest.mark.parametrize("f", [
    lambda x: 1 / x,
    lambda x: hr.math.log(x),
    lambda x: hr.cast(1 / (x + 1), hr.float32) / hr.cast(x, hr.float32),
    lambda x: hr.reduce_sum(hr.stack([x, 1 / x])),
    lambda x: np.log(x),
    lambda x: np.divide(1.0, x),
    lambda x: hr.cast(hr.cast(x == 0, hr.float64) * 1e300, hr.float32),
    lambda x: (hr.cast(x == 0, hr.float64) * 1e300) ** 2,
    lambda x: hr.strings.to_number(hr.where(x == 0, "inf", "2")),
])
def test_AnElementThatComputesNoNumberIsAnError(f):
    first, second = results(f, 2.0, 0.0)
    assert isinstance(first, float)
    assert "check_numerics_test.py" in second and "lambda x" in second and "the result of" in second


def test_TheErrorNamesTheLineAndTheResult():
    def f(x):
        y = x * 2
        return 1 / y

    _, text = results(f, 2.0, 0.0)
    assert "`return 1 / y`: the result of /, float64 of shape ()" in text


def test_WhatOnlyMovesValuesIsNotChecked():
    def f(x):
        return hr.where(x > 5, x, hr.maximum(hr.reshape(hr.stack([x, x]), [2, 1])[0, 0], x))

    assert results(f, 1.0, np.inf) == [1.0, np.inf]
    assert results(lambda x: hr.identity(x), np.inf) == [np.inf]
    assert results(lambda x: x + 1, 1.0, np.inf)[0] == 2.0


def test_ABranchThatIsNotTakenIsNotChecked():
    def f(x):
        if x > 0:
            y = 1 / x
        else:
            y = x
        return y

    assert results(f, 2.0, 0.0) == [0.5, 0.0]
    assert results(lambda x: hr.cond(x > 0, lambda: hr.math.log(x), lambda: x), 1.0, 0.0) == [0.0, 0.0]
    assert results(lambda x: hr.math.divide_no_nan(1.0, x), 2.0, 0.0) == [0.5, 0.0]


def test_AFunctionPutTogetherOfOthersIsCheckedAsOne():
    assert results(hr.math.sigmoid, -2000.0, 2000.0) == [0.0, 1.0]
    (text,) = results(hr.math.sigmoid, np.nan)
    assert "the result of sigmoid" in text
    zeros = Dataset.from_tensors([[1.0, 2.0], [0.0, 1.0]]).map(lambda x: hr.math.divide_no_nan(x[0], x[1]))
    assert zeros.get_single_element().tolist() == [0.0, 2.0]
    assert results(hr.math.is_finite, 1.0, np.inf) == [True, False]


def test_StepsOfLoopsAreChecked():
    def f(x):
        i = 0
        while i < 3:
            x, i = 1 / (x - 1), i + 1
        return x

    first, second = results(f, 5.0, 1.0)
    assert isinstance(first, float) and "x, i = 1 / (x - 1), i + 1" in second


def test_IntegersAndTextsAreLeftAlone():
    assert results(lambda x: x // 2 + hr.reduce_sum([x, x]), 4, 6) == [10, 15]
    assert list(Dataset.from_tensors(4).map(hr.strings.as_string)) == [b"4"]


def test_WhatDependsOnNoElementIsLookedAtAtOnce():
    with pytest.raises(hr.errors.InvalidArgumentError, match="hr.constant"):
        Dataset.range(1).map(lambda x: hr.constant(1.0) / hr.constant(0.0))


def test_FunctionsThatWereTracedWhileItWasOffAreNotChecked():
    hr.debugging.disable_check_numerics()
    ds = Dataset.from_tensors(0.0).map(lambda x: 1 / x)
    hr.debugging.enable_check_numerics()
    hr.debugging.enable_check_numerics()  # a second call has no effect
    assert list(ds) == [np.inf]
    hr.debugging.disable_check_numerics()
    assert list(Dataset.from_tensors(0.0).map(lambda x: 1 / x)) == [np.inf]
    assert list(Dataset.from_tensors(0.0).map(np.log)) == [-np.inf]


def test_ItRunsOnWorkers():
    dispatcher = hr.service.DispatchServer()
    worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
    with dispatcher, worker:
        ds = Dataset.from_tensor_slices([2.0, 0.0]).map(lambda x: 1 / x)
        it = iter(ds.apply(hr.service.distribute("parallel_epochs", dispatcher.target)))
        assert next(it) == 0.5
        with pytest.raises(hr.errors.InvalidArgumentError, match="the result of /"):
            next(it)


def test_LimitsAreNumbers():
    hr.debugging.enable_check_numerics(stack_height_limit=5, path_length_limit=20)
    with pytest.raises(TypeError, match="stack_height_limit"):
        hr.debugging.enable_check_numerics("high")

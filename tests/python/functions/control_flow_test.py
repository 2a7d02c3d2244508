"""Control flow over tensors: traced functions give what plain Python gives, element by element."""

from __future__ import annotations

import functools
from collections import OrderedDict

import numpy as np
import pytest

import headrace as hr
from control_flow import NUMBERS, refused, same

# -- expressions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [
    lambda x: x if x > 0 else -x,
    lambda x: 1 if x > 0 else 2 if x < -3 else x,
    lambda x: 10 // x if x != 0 and 10 // x > 2 else x,
    lambda x: x == 0 or 10 // x > 2,
    lambda x: not x > 3,
    lambda x: 0 < x < 5,
    lambda x: 0 < x <= x * x < 50 != x,
    lambda x: (x, 2 * x) if x > 0 and x % 2 == 0 or x == -1 else (-x, x),
    lambda x: [y if y > 3 else x for y in (x, x + 1, 2)][1],
    lambda x: (lambda y: y if y > x else x)(3),
])
def test_Expressions(f):
    same(f)


def test_AndOrAndConditionsDoNotEvaluateForElementsWhatPythonWouldNot():
    ds = hr.Dataset.range(3)
    assert list(ds.map(lambda x: 10 // x if x > 0 else x)) == [0, 10, 5]
    assert list(ds.map(lambda x: x > 0 and 10 // x == 5)) == [False, False, True]


# -- statements ------------------------------------------------------------------------------------------


def test_IfSetsVariables():
    def f(x):
        y = x
        if x > 3:
            y = x * 2
            z = y + 1
        elif x < -3:
            y, z = -x, x
        else:
            z = 0 * x
        return y, z
    same(f)


def test_IfWithoutElseAndInsideAnother():
    def f(x):
        if x > 0:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            if x > 10:
                x -= 10
        return x
    same(f)


def test_EarlyReturns():
    def f(x):
        if x < -2:
            return -x
        y = 2 * x
        if y > 10:
            if x % 2 == 0:
                return y + 1
            y = y - 5
        elif x == 0:
            return x + 100
        return y
    same(f)


def test_AReturnThatDoesNotEndItsBranch():
    def f(x):
        if x > 0:
            if x > 5:
                return x
            x = x + 100
        return 2 * x
    same(f)


def test_LoopsOfPythonWithBranchesInThem():
    def f(x):
        total = 0 * x
        for i in range(5):
            if x > i:
                total += i
            elif i == 3:  # a branch of Python itself, not over a tensor
                total -= 1
        n = 3
        while n:
            n -= 1
            total = total + n if x > n else total
        return total
    same(f)


def test_VariablesOfComprehensionsAreTheirOwn():
    def f(x):
        y = 5
        if x > 0:
            z = sum([y for y in (x, x)])
        else:
            z = x
        return z + y
    same(f)


def test_FunctionsThatAreCalled():
    def sign(x):
        return 1 + 0 * x if x > 0 else x if x == 0 else 0 * x - 1

    class Scale:
        def __init__(self, by):
            self.by = by

        def of(self, x, *, most):
            if x > most:
                return most * self.by
            return x * self.by

        def __call__(self, x):
            return x if x < self.by else self.by + 0 * x

    same(lambda x: sign(x) * x)
    same(lambda x: Scale(3).of(x, most=4))
    same(functools.partial(Scale(2).of, most=6))
    same(Scale(5))


def test_MethodsOfBaseClassesAndAnnotations():
    class Base:
        def of(self, x):
            return x if x > 2 else -x

    class Other(Base):
        def of(self, x):
            y: int
            if x > 0:
                y: int = super().of(x)
            else:
                y = x + 1
            return y
    same(Other().of)


def test_ClosuresAreThoseOfTheFunction():
    by = 2

    def f(x, more=7, *, least=-3):
        nonlocal by
        if x > by:
            x = x * by
        return x + more if x > least else x
    same(f)
    by = 5
    same(f)


def test_Filters():
    def even_or_large(x):
        if x > 6:
            return True
        return x % 2 == 0
    assert list(hr.Dataset.range(10).filter(even_or_large)) == [0, 2, 4, 6, 7, 8, 9]
    assert list(hr.Dataset.range(10).filter(lambda x: 2 < x < 5 or x == 8)) == [3, 4, 8]


def test_ScanAndReduce():
    def longest(state, x):
        if x > state:
            state = x
        return state
    assert hr.Dataset.from_tensor_slices([3, 9, 4]).reduce(np.int32(0), longest) == 9


def test_StructuresOfTensors():
    def f(x):
        if x["a"] > 1:
            out = {"a": x["a"], "b": (x["a"], 2)}
        else:
            out = {"a": -x["a"], "b": (0, x["a"])}
        return out
    got = list(hr.Dataset.from_tensor_slices({"a": np.arange(3)}).map(f))
    assert [(e["a"], *e["b"]) for e in got] == [(0, 0, 0), (-1, 0, 1), (2, 2, 2)]


# -- limits ----------------------------------------------------------------------------------------------


def test_WhatDependsOnNoTensorIsPythons():
    calls = []

    def f(x, flag=True):
        if flag:
            calls.append(1)
        assert flag and not calls == []
        return x
    hr.Dataset.range(2).map(f)
    assert calls == [1], "nothing is rewritten, nor traced twice"


def test_WhatABranchDoesInPlaceIsRefused():
    seen = []

    def appends(x):
        if x > 0:
            seen.append(x)
        return x

    def sets_part(x):
        out = {}
        if x > 0:
            out["a"] = x
        return x
    refused(appends, r"calls `seen.append\(x\)` and does not use the result", "if x > 0:")
    refused(sets_part, r"changes `out\['a'\]` in place")


def outcomes(f, *values):
    """The result of a function for each value, or "failed"."""
    it, out = iter(hr.Dataset.from_tensor_slices(list(values)).map(f)), []
    for _ in values:
        try:
            out.append(int(next(it)))
        except hr.errors.InvalidArgumentError:
            out.append("failed")
    return out


def test_BranchesThatOnlyAssertHoldForTheElementsThatTakeThem():
    def small(x):
        if x > 2:
            hr.debugging.assert_less(x, 5)
        return x

    def one_or_the_other(x):
        if x > 2:
            hr.debugging.assert_less(x, 5, message="large")
        else:
            hr.debugging.assert_positive(x)
            hr.debugging.assert_rank(x, 0)
        return x

    def nested(x):
        if x > 2:
            if x % 2 == 0:
                hr.debugging.Assert(x < 5, [x])
        elif x < 0:
            hr.debugging.assert_none_equal(x, -2)
        return x

    def beside_others(x):
        y = x
        if x > 2:
            hr.debugging.assert_less(x, 5)
            y = x * 10
        return y

    def returning(x):
        if x > 2:
            hr.debugging.assert_less(x, 5)
            return x * 10
        hr.debugging.assert_positive(x)
        return x

    def in_a_loop(x):
        total = 0
        for i in range(x):
            if i > 2:
                hr.debugging.assert_less(x, 5)
            total = total + i
        return total

    def in_a_step(x):
        while x > 0:
            hr.debugging.assert_less(x, 5)
            x = x - 1
        return x

    assert outcomes(small, 1, 4, 6) == [1, 4, "failed"]
    assert outcomes(one_or_the_other, 1, 4, 6, 0) == [1, 4, "failed", "failed"]
    assert outcomes(nested, 1, 4, 5, 6, 7, -1, -2) == [1, 4, 5, "failed", 7, -1, "failed"]
    assert outcomes(beside_others, 1, 4, 6) == [1, 40, "failed"]
    assert outcomes(returning, 1, 4, 6, 0) == [1, 40, "failed", "failed"]
    assert outcomes(in_a_loop, 3, 4, 5) == [3, 6, "failed"]
    assert outcomes(in_a_step, 3, 5) == [0, "failed"]


def test_TheAssertionsThatBranchesMayHaveAreThoseOfDebugging():
    from headrace._control_flow.rewriting import ASSERTIONS

    assert {x for x in hr.debugging.__dict__ if x.startswith("assert_")} | {"Assert", "check_numerics"} == ASSERTIONS


def test_BranchesThatDoNothingAreRefused():
    def nothing(x):
        if x > 2:
            pass
        return x

    def check(x):
        hr.debugging.assert_less(x, 5)

    def by_a_helper(x):
        if x > 2:
            check(x)
        return x
    refused(nothing, "sets no variable")
    refused(by_a_helper, r"calls `check\(x\)` and does not use the result")


def test_BranchesOfOtherKindsAreRefused():
    def only_one(x):
        if x > 0:
            y = x
        return y

    def other_dtype(x):
        return x if x > 0 else 0.5

    def other_structure(x):
        return (x, x) if x > 0 else x

    def no_value(x):
        if x > 0:
            return x

    def not_bool(x):
        return x if x else -x
    refused(only_one, "`y` is set in only one branch")
    refused(other_dtype, "int64 in one and float32 in the other")
    refused(other_structure, "different structures")
    refused(no_value, "one branch of an `if` over a tensor returns a value, and the other one returns none")
    refused(not_bool, "the condition is int64, and not bool.*Compare it")
    refused(lambda x: x if hr.stack([x, x]) > 0 else x, r"shape \(2,\), and is not one bool.*reduce_all")


def test_AVariableThatNobodyUsesMayDiffer():
    def f(x):
        if x > 0:
            name, y = "positive", x
        else:
            name, y = None, -x
        return y
    same(f)


def test_SomeFunctionsAreLeftAlone():
    @hr.autograph.experimental.do_not_convert
    def f(x):
        return x if x > 0 else -x

    namespace = {}
    exec("def f(x):\n    return x if x > 0 else -x\n", namespace)
    for one in (f, namespace["f"]):
        with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match="whether a tensor is true"):
            hr.Dataset.range(3).map(one)


def test_OnAService():
    def f(x):
        if x % 3 == 0:
            return x * 10
        return x
    with hr.service.DispatchServer() as dispatcher, \
            hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
        ds = hr.Dataset.range(7).map(f).apply(hr.service.distribute("distributed_epoch", dispatcher.target))
        assert sorted(map(int, ds)) == [0, 1, 2, 4, 5, 30, 60]


def test_BranchesMayGiveDictsOfOtherClassesWithKeysInAnotherOrder():
    def given(one, other):
        return list(hr.Dataset.range(2).map(
            lambda x: hr.cond(x > 0, lambda: one(a=x, b=x + 1), lambda: other(b=x + 7, a=x + 5))))
    assert given(dict, OrderedDict) == [{"a": 5, "b": 7}, {"a": 1, "b": 2}]
    assert given(OrderedDict, OrderedDict) == [OrderedDict(a=5, b=7), OrderedDict(a=1, b=2)]


def test_CondAndCaseChooseDatasets():
    def two_or_three(x):
        return hr.cond(x > 0, lambda: hr.Dataset.range(2), lambda: hr.Dataset.range(10, 13))

    def three_ways(x):
        return hr.case([(x == 0, lambda: hr.Dataset.range(1)), (x == 1, lambda: hr.Dataset.range(5, 6))],
                       lambda: hr.Dataset.range(x).skip(1))
    assert [int(x) for x in hr.Dataset.range(2).flat_map(two_or_three)] == [10, 11, 12, 0, 1]
    assert [int(x) for x in hr.Dataset.range(4).flat_map(three_ways)] == [0, 5, 1, 1, 2]


def test_FunctionsOfOneLineThatDifferInConstants():
    ds = hr.Dataset.range(4).map(lambda x: hr.constant(1) if x > 1 else hr.constant(2)).map(
        lambda x: hr.constant(7) if x > 1 else hr.constant(8)).map(lambda x: hr.constant(5) if x > 7 else hr.constant(6))
    assert [int(x) for x in ds] == [6, 6, 5, 5]
    f, g, h = (lambda x: x + 1 if x > 0 else x), (lambda x: x + 2 if x > 0 else x), (lambda x: x + 1.0 if x > 0 else -0.0)
    for one, want in ((f, [0, 2]), (g, [0, 3]), (h, [-0.0, 2.0])):
        got = list(hr.Dataset.from_tensor_slices([0.0, 1.0] if one is h else [0, 1]).map(one))
        assert [x.item() for x in got] == want and np.signbit(got[0]) == (one is h)


def test_FunctionsWithInnerFunctionsAndClassesAreRewritten():
    def f(x):
        class Inner:
            def add(self, y):
                return y + 1
        parts = [i + x for i in range(2)]
        twice = lambda y: y * 2  # noqa: E731
        if x > 1:
            return Inner().add(twice(parts[1]))
        return parts[0]
    assert [int(x) for x in hr.Dataset.range(4).map(f)] == [0, 1, 7, 9]

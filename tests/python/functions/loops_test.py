"""Loops over tensors: traced functions give what plain Python gives, element by element."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr
from control_flow import NUMBERS, refused, same


def test_WhileGoesOnAsLongAsEachElementSays():
    def collatz(x):
        steps = 0
        while x > 1:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            steps += 1
        return x, steps
    same(collatz, [*NUMBERS, 27, 97])


def test_MoreStepsThanAGraphCouldHoldOneByOne():
    def count(x):
        n = 0
        while n < x:
            n += 1
        return n
    same(count, [5, 0, 3000])


def test_AStepMayHaveManyFunctionsInAChain():
    def with_many(x):
        while x < 120_000:
            for _ in range(50_000):
                x = x + 1
        return x
    same(with_many, [0, 3, 120_000])


def test_ForOverARangeWithTensorBounds():
    def total(x):
        s = 0
        for i in range(x):
            s += i * i
        return s

    def backwards(x):
        s = x
        for i in range(10, x, -3):
            s = 2 * s + i
        return s
    same(total)
    same(backwards)
    want = [int(total(n)) for n in range(5)]
    assert list(hr.Dataset.range(5).map(lambda x: total_of(x))) == want


def total_of(x):
    s = 0
    for i in hr.range(x):
        s += i * i
    return s


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("bounds", [
    (0, 127, 50), (126, 127, 1), (127, 0, -60), (5, 5, 1), (5, 3, 1), (3, -1, -1), (-128, 127, 100),
])
def test_ARangeHasTheStepsOfPythonForEachDtype(dtype, bounds):
    def steps(start, stop):
        count, last = 0, hr.constant(0, dtype)
        for i in range(start, stop, bounds[2]):
            count += 1
            last = i  # an error if its dtype is another one
        return count, last
    least = np.iinfo(dtype).min
    start, stop = np.array(max(bounds[0], least), dtype), max(bounds[1], least)
    want = list(range(start, stop, bounds[2]))
    both = hr.Dataset.from_tensors((start, np.array(stop, dtype))).map(steps)
    one = hr.Dataset.from_tensors(start).map(lambda x: steps(x, bounds[1]))
    assert both.get_single_element() == (len(want), want[-1] if want else 0)
    want = list(range(start, *bounds[1:]))
    assert one.get_single_element() == (len(want), want[-1] if want else 0)


def test_ARangeOfTheLargestNumbersStopsThere():
    def steps(start, stop):
        count = 0
        for i in range(start, stop, 2):
            count += hr.cast(i >= start, hr.int32)
        return count
    for dtype in INTEGERS[:-1]:
        most = np.iinfo(dtype).max
        bounds = np.array(most - 3, dtype), np.array(most, dtype)
        assert hr.Dataset.from_tensors(bounds).map(steps).get_single_element() == 2
    beyond = hr.Dataset.from_tensors((np.uint64(2**63), np.uint64(2**63 + 3))).map(steps)
    with pytest.raises(hr.errors.InvalidArgumentError, match="9223372036854775808 does not fit int64"):
        beyond.get_single_element()


def test_TheBoundsOfARangeAreIntegersOfOneDtype():
    def mixed(x):
        s = x
        for i in range(x, hr.cast(x, hr.int32)):
            s += i
        return s

    def floating(x):
        s = x
        for i in range(x, 5.5):
            s += i
        return s
    refused(mixed, "the bounds of a range are int64 and int32.*Use headrace.cast to one dtype", "for i in range")
    refused(floating, "the bound of a range is float32", "for i in range")


def test_ForOverTheRowsOfATensor():
    def longest(rows):
        best = 0
        for row in rows:
            if row[0] > best:
                best = row[0]
        return best
    ds = hr.Dataset.range(7).map(lambda x: hr.stack([x, -x])).batch(3)
    assert list(ds.map(longest)) == [2, 5, 6]


def test_BreakAndContinue():
    def f(x):
        s = 0
        for i in range(x):
            if i == 2:
                continue
            if s > 20:
                break
            s += i
        return s

    def unrolled(x):
        s = 0
        for i in range(4):
            if x == i:
                break
            s += 10 ** i
        return s

    def forever(x):
        n = 0
        while True:
            n += 1
            if n * n > x:
                break
        return n
    same(f)
    same(unrolled)
    same(forever)


def test_ReturnInLoops():
    def root(x):
        for i in range(x):
            if i * i >= x:
                return i
        return -x

    def unrolled(x):
        for i in range(3):
            if x > i:
                return x + i
        return x

    def inner(x):
        for i in range(x):
            for j in range(i):
                if i * j > x:
                    return i * 100 + j
        return x * 0
    same(root)
    same(unrolled)
    same(inner)


def test_LoopsInLoopsAndBranches():
    def f(x):
        s = 0
        if x > 3:
            for i in range(x):
                j = i
                while j > 0:
                    if j % 2 == 0:
                        s += j
                    j -= 1
        else:
            s = x
        return s
    same(f)


def test_AnElementThatFailsLeavesTheLoop():
    def f(x):
        y = x
        while y < 3:
            y = y + 6 // x
        return y
    ds = hr.Dataset.from_tensor_slices(np.array([1, 0, 2, 3])).map(f)
    assert list(ds.ignore_errors()) == [7, 5, 3]


def test_LoopVariablesThatChangeAreNamed():
    def shape(x):
        y = hr.reshape(x, [1])
        while x > 0:
            y = hr.concat([y, y], 0)
            x = x - 1
        return y

    def dtype(x):
        y = x
        while y > 0:
            y = hr.cast(y, hr.float32) - 1.0
        return y

    def local(x):
        while x > 0:
            z = x
            x = x - 1
        return z + 0

    def in_place(x):
        seen = []
        while x > 0:
            x = x - 1
            seen.append(x)
        return x
    refused(shape, "`y` has the shape .* before a step .* after it")
    refused(dtype, "`y` is int64 before a step of a loop over a tensor and float32 after it.*cast")
    refused(local, "`z` has no value after a loop")
    refused(in_place, "a `while` over a tensor calls `seen.append")


def test_OptionsOfLoopsSayWhatToUseInstead():
    def grows(n):
        out = hr.zeros([0], hr.int64)
        for i in hr.range(n):
            hr.autograph.experimental.set_loop_options(shape_invariants=[(out, hr.TensorShape([None]))])
            out = hr.concat([out, [i]], 0)
        return out
    with pytest.raises(hr.errors.UnimplementedError, match="while_loop takes shape_invariants"):
        hr.Dataset.range(3).map(grows)


def test_ListsAreVariablesOfALoopAsTuplesAre():
    def fibonacci(n):
        pair = [0, 1]
        for _ in hr.range(n):
            pair = [pair[1], pair[0] + pair[1]]
        return pair[0], type(pair).__name__

    def kept_for_one_step(n):
        parts, total = [n], 0 * n
        while total < n:
            parts = [total, total + 1, 5]
            total += parts[1] - parts[0]
        return total

    def other_length_after(n):
        parts = [n]
        for i in hr.range(n):
            parts = [i, i]
        return parts[0]
    assert [int(x) for x, _ in hr.Dataset.range(10).map(fibonacci)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
    assert next(iter(hr.Dataset.range(2).map(fibonacci)))[1] == "list"
    assert [int(x) for x in hr.Dataset.range(4).map(kept_for_one_step)] == [0, 1, 2, 3]
    refused(other_length_after, "`parts` has no value after a loop")


def test_AStepIsTracedOnceMoreForAListOfAnotherLength():
    traced = []

    @hr.autograph.experimental.do_not_convert
    def noted(x):
        traced.append(1)
        return x

    def grows(n):
        parts, total = [n], 0 * n
        for _ in hr.range(n):
            parts = parts + [n]
            total += noted(n)
        return total
    assert [int(x) for x in hr.Dataset.range(4).map(grows)] == [0, 1, 4, 9] and len(traced) == 2


def test_AnErrorInAStepIsNotMistakenForAListOfAnotherLength():
    traced = []

    @hr.autograph.experimental.do_not_convert
    def wrong(x):
        traced.append(1)
        return {0: 1}[x]

    def same_length(n):
        parts = [n]
        for _ in hr.range(n):
            parts = [wrong(parts[0])]
        return parts[0]
    refused(same_length, r"\{0: 1\}\[x\]")
    assert len(traced) == 1

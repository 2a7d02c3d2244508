"""The shipped bytes of a Python function are the same in every process of a program."""

import os
import subprocess
import sys

import pytest

from headrace._processes import canonical as _canonical

PROGRAM = """
import hashlib
import headrace as hr
from headrace._processes import shipping as _shipping

WORDS = {"ash", "birch", "cedar", "elm", "fir", "oak", "pine", "yew"}
def counted():
    seen = frozenset("abcdefgh")
    def f(x, known={"one", "two", "three", "four"}):
        return int(str(x) in {"red", "green", "blue", "white"} or x in WORDS or x in seen or x in known)
    return f
print(hashlib.sha256(_shipping.pack("function", counted(), ["int64", []], ["int64", []])).hexdigest())
"""


def test_sets_are_shipped_in_one_order():
    shown = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        how = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
        shown.add(how.stdout)
    assert len(shown) == 1


@pytest.mark.parametrize("made", [{3, 1, 2}, frozenset("xyz"), {1, "a", None, (2, "b"), 2.5}, set(), {frozenset({1})}])
def test_sets_are_what_they_were(made):
    import pickle

    def f():
        return made

    again = pickle.loads(_canonical.dumps(f))()
    assert again == made
    assert type(again) is type(made)


def test_two_names_of_one_set_stay_two_names_of_one_set():
    import pickle

    shared = {"a", "b"}

    def add(x):
        shared.add(x)

    def has(x):
        return x in shared

    adds, asks = pickle.loads(_canonical.dumps((add, has)))
    adds("c")
    assert asks("c") and "c" not in shared


def test_a_constant_set_stays_constant():
    import pickle

    def f(x):
        return x in {"a", "b", "c"}

    again = pickle.loads(_canonical.dumps(f))
    assert [again(x) for x in "acz"] == [True, True, False]
    assert any(type(c) is frozenset for c in again.__code__.co_consts)

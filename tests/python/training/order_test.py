"""The facts about a graph's order by which ``headrace.torch`` decides whether processes can divide its elements."""

from __future__ import annotations

import pytest

import headrace as hr


def same(x):
    return x


def options(**given):
    out = hr.Options()
    out.deterministic = False
    for name, value in given.items():
        setattr(getattr(out, name), *value)
    return out


SCALAR = hr.TensorSpec([], hr.int64)


@pytest.mark.parametrize("make, reorders", [
    (lambda ds: ds.map(same), ""),
    (lambda ds: ds.map(same).with_options(options()), ""),
    (lambda ds: ds.map(same, num_parallel_calls=2).with_options(options()), "map"),
    (lambda ds: ds.map(same, num_parallel_calls=2, deterministic=False), "map"),
    (lambda ds: ds.map(same, num_parallel_calls=2, deterministic=True).with_options(options()), ""),
    (lambda ds: ds.filter(lambda x: x > 0).with_options(options()), ""),
    (lambda ds: ds.map(hr.py_function(same, SCALAR)).with_options(options()), ""),
    (lambda ds: ds.map(same).with_options(options(autotune=("enabled", False))), ""),
    (lambda ds: ds.map(same).with_options(options(threading=("private_threadpool_size", 1))), ""),
    (lambda ds: ds.flat_map(lambda x: hr.Dataset.range(x).map(same)).with_options(options()), ""),
    (lambda ds: ds.interleave(lambda x: hr.Dataset.range(x), num_parallel_calls=2).with_options(options()), "interleave"),
])
def test_AnOperatorWithParallelCallsMayReorder(make, reorders):
    assert make(hr.Dataset.range(9))._graph.order()[1] == reorders

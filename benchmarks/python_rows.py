"""Measures how fast a Python program gets elements. Each case is compared with a limit, such as the same loop over a
list. The program continues the table and the JSON file of headrace_bench, which was started with the same arguments
before. The names of its cases begin with python_.

    PYTHONPATH=build/python python benchmarks/python_rows.py [--json FILE] [--runs N] [--only CASE...]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable

import numpy as np

import headrace as hr

def rate(elements: Iterable[object], count: int) -> float:
    """The elements per second of a loop over ``elements``. The first one is not counted, so that the start-up is not
    counted.
    """
    it = iter(elements)
    next(it)
    begin = time.perf_counter()
    n = sum(1 for _ in it)
    took = time.perf_counter() - begin
    assert n == count - 1, (n, count)
    return n / took


def median_next(elements: Iterable[object]) -> float:
    """The median of the seconds of one next()."""
    it = iter(elements)
    times = []
    clock = time.perf_counter
    for _ in range(100_000):
        begin = clock()
        next(it)
        times.append(clock() - begin)
    return statistics.median(times)


def compare(name: str, unit: str, what: str, ours: Callable[[], float], limit: Callable[[], float],
            runs: int) -> dict[str, object]:
    """Medians of alternating runs, printed with the column widths of headrace_bench."""
    pairs = [(limit(), ours()) for _ in range(runs)]
    of_limit, of_ours = (statistics.median(x) for x in zip(*pairs))
    print(f"{name:<46} {of_ours:10.4g} {unit:<16} {of_limit:10.4g} {of_ours / of_limit:7.3f}  {what}", flush=True)
    return {"case": name, "value": of_ours, "unit": unit, "limit": of_limit, "limit_name": what, "runs": runs}


def cases() -> dict[str, tuple[str, str, Callable[[], float], Callable[[], float]]]:
    """By name: the unit, the description of the limit, and the functions that measure the case and the limit."""
    scalars = hr.Dataset.range(1_000_000)
    numbers = list(np.arange(1_000_000))
    batches = hr.Dataset.range(10_000_000).batch(1000)
    one_batch, one_large = np.zeros(1000, np.int64), np.zeros(1 << 17, np.int64)
    large = hr.Dataset.range(500).map(lambda x: hr.fill([1 << 17], x))
    cheap = hr.Dataset.range(20_000)
    by_python = cheap.map(hr.py_function(lambda x: x * x + 1, hr.TensorSpec([], hr.int64)))
    return {
        "python_scalars": ("elements/s", "a loop over a list of numpy scalars",
                           lambda: rate(scalars, 1_000_000), lambda: rate(numbers, 1_000_000)),
        "python_next_p50": ("s", "the same of the list", lambda: median_next(scalars), lambda: median_next(numbers)),
        "python_batches_1000": ("batches/s", "a copy of 1,000 numbers each", lambda: rate(batches, 10_000),
                                lambda: rate((one_batch.copy() for _ in range(10_000)), 10_000)),
        "python_1m_arrays": ("arrays/s", "a copy of 1 MiB each", lambda: rate(large, 500),
                             lambda: rate((one_large.copy() for _ in range(500)), 500)),
        "python_traced_map": ("elements/s", "the same by py_function",
                              lambda: rate(cheap.map(lambda x: x * x + 1), 20_000), lambda: rate(by_python, 20_000)),
    }


def is_called(name: str, wanted: str) -> bool:
    """True if `wanted` is `name`, the name of a case, or the first words of `name`."""
    return name == wanted or name.startswith(wanted + "_")


def main() -> None:
    # headrace_bench runs with the same arguments before this program: it handles --help and rejects invalid arguments.
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", nargs="+", action="extend", default=[], metavar="CASE")
    parser.add_argument("--headrace")
    parser.add_argument("cases", nargs="*", default=[], metavar="CASE")
    given = parser.parse_args()
    wanted = given.only + given.cases
    known = cases()
    for x in wanted:
        if is_called(x, "python") and not any(is_called(name, x) for name in known):
            parser.exit(1, f"there is no case {x}; there are {', '.join(known)}\n")
    rows = [compare(name, unit, what, ours, limit, given.runs) for name, (unit, what, ours, limit) in known.items()
            if not wanted or any(is_called(name, x) for x in wanted)]
    if given.json:
        with open(given.json, "a", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()

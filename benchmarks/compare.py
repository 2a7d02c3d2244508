"""The same rows for headrace, tf.data and torch, each library in a process of its own, measured in turn.

    python benchmarks/compare.py [--json FILE] [--only CASE ...] [--runs N]

`./run compare` makes the environment. Each row is one case: `value` is headrace's figure, `other` is that of the
other library, and `ratio` is value / other, or other / value if the figures are times: above 1 headrace is faster.
The figures are medians of runs that are taken in turn.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import compare_data

HERE = pathlib.Path(__file__).parent
LIBRARIES = ("headrace", "tensorflow", "torch")


class Side:
    """A library in a process of its own, which measures one case at a time on request."""

    def __init__(self, library: str, data: str) -> None:
        command = [sys.executable, str(HERE / f"compare_{library}.py"), data]
        quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=quiet, text=True)
        self.cases = set(self._answer())

    def _answer(self) -> list[str]:
        assert self.process.stdout
        while line := self.process.stdout.readline():
            if line.startswith("answer "):
                return line.split()[1:]
        raise RuntimeError(f"{self.process.args[1]} ended with {self.process.wait()}")

    def measure(self, case: str) -> float:
        """Returns the figure of one run of the case."""
        assert self.process.stdin
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        return float(self._answer()[0])

    def close(self) -> None:
        """Ends the process."""
        assert self.process.stdin
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="also one JSON object a line")
    parser.add_argument("--only", nargs="*", default=[], metavar="CASE", help="these cases, or groups by first words")
    parser.add_argument("--runs", type=int, default=5, help="runs of each; medians are shown")
    given = parser.parse_args()
    out = open(given.json, "w", encoding="utf-8") if given.json else None
    with tempfile.TemporaryDirectory() as data:
        compare_data.write(data)
        sides = {}
        for library in LIBRARIES:
            if importlib.util.find_spec(library) is None:
                print(f"{library} is not installed here: no rows for it")
            else:
                sides[library] = Side(library, data)
        ours = sides.pop("headrace")
        print(f"{'case':28} {'value':>10} {'unit':12} {'other':>10} {'ratio':>8}  other is")
        for name, unit in compare_data.CASES.items():
            if given.only and not any(name == x or name.startswith(x + "_") for x in given.only):
                continue
            for library, other in sides.items():
                if name not in other.cases:
                    continue
                pairs = [(other.measure(name), ours.measure(name)) for _ in range(given.runs)]
                theirs, value = (statistics.median(x) for x in zip(*pairs))
                ratio = theirs / value if unit == "s" else value / theirs
                print(f"{name:28} {value:10.4g} {unit:12} {theirs:10.4g} {ratio:8.2f}  {library}", flush=True)
                if out:
                    out.write(json.dumps({"case": name, "value": value, "unit": unit, "limit": theirs,
                                          "limit_name": library, "runs": given.runs}) + "\n")
                    out.flush()
        for side in (ours, *sides.values()):
            side.close()


if __name__ == "__main__":
    main()

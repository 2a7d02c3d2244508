"""Random functions with control flow over tensors give what plain Python gives. HEADRACE_TEST_SEED repeats a run."""

from __future__ import annotations

import importlib.util
import os
import random

import numpy as np

import headrace as hr

VARIABLES = ["a", "b", "c"]


class Maker:
    """Makes the source code of a random function of one int64."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0

    def number(self, depth=2):
        pick = self.random.random()
        if depth == 0 or pick < 0.3:
            return self.random.choice(VARIABLES)
        if pick < 0.45:
            return f"({self.number(depth - 1)} if {self.truth(depth - 1)} else {self.number(depth - 1)})"
        if pick < 0.55:
            return f"{self.number(depth - 1)} // {self.random.choice([-3, 2, 7])}"
        return f"({self.number(depth - 1)} {self.random.choice(['+', '-', '*'])} {self.random.choice([self.number(depth - 1), '3'])}) % 97"

    def truth(self, depth=2):
        pick = self.random.random()
        compare = lambda: self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        if depth == 0 or pick < 0.4:
            return f"{self.number(0)} {compare()} {self.random.choice([*VARIABLES, '5', '0'])}"
        if pick < 0.55:
            return f"(not {self.truth(depth - 1)})"
        if pick < 0.7:
            return f"({self.number(0)} {compare()} {self.number(1)} {compare()} 40)"
        return f"({self.truth(depth - 1)} {self.random.choice(['and', 'or'])} {self.truth(depth - 1)})"

    def block(self, depth, may_return):
        out = []
        for _ in range(self.random.randint(1, 3)):
            pick = self.random.random()
            if depth == 0 or pick < 0.4:
                out.append(f"{self.random.choice(VARIABLES)} = {self.number()}")
            elif pick < 0.5:
                out.append(f"{self.random.choice(VARIABLES)} += {self.number(1)}")
            elif pick < 0.7:
                bound = self.random.choice([str(self.random.randint(1, 3)), f"{self.random.choice(VARIABLES)} % 5"])
                self.loops += 1
                item = f"i{self.loops}"
                out.append(f"for {item} in range({bound}):")
                out += self.inner(self.leaving())
                out += self.inner(self.block(depth - 1, False) + [f"{self.random.choice(VARIABLES)} -= {item}"])
            elif pick < 0.78:
                # A separate counter makes sure that the loop ends.
                out.append(f"n{depth} = {self.random.choice(VARIABLES)} % 6")
                out.append(f"while n{depth} > 0 and {self.truth(1)}:")
                out += self.inner([f"n{depth} -= 1", *self.leaving(), *self.block(depth - 1, False)])
            else:
                out.append(f"if {self.truth()}:")
                out += self.inner(self.block(depth - 1, may_return))
                if self.random.random() < 0.3:
                    out.append(f"elif {self.truth()}:")
                    out += self.inner(self.block(depth - 1, may_return))
                if self.random.random() < 0.6:
                    out.append("else:")
                    out += self.inner(self.block(depth - 1, may_return))
        if may_return and depth < 3 and self.random.random() < 0.3:
            out.append(f"return {self.number()}, {self.number()}")
        return out

    def leaving(self):
        if self.random.random() < 0.5:
            return []
        return [f"if {self.truth(1)}:", f"    {self.random.choice(['break', 'continue'])}"]

    @staticmethod
    def inner(lines):
        return [f"    {line}" for line in lines]

    def function(self, name):
        body = ["a, b, c = x, x * 2, x - 5", *self.block(3, True), "return a + b, c"]
        return "\n".join([f"def {name}(x):", *self.inner(body)])


def test_RandomFunctions(tmp_path):
    seed = int(os.environ.get("HEADRACE_TEST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"HEADRACE_TEST_SEED={seed}")
    count = 60
    file = tmp_path / "functions.py"
    file.write_text("\n\n".join(Maker(seed + i).function(f"f{i}") for i in range(count)))
    spec = importlib.util.spec_from_file_location("random_functions", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    numbers = np.arange(-9, 24)
    for i in range(count):
        f = getattr(module, f"f{i}")
        want = [f(n) for n in numbers]
        got = list(hr.Dataset.from_tensor_slices(numbers).map(f))
        assert [tuple(map(int, e)) for e in got] == [tuple(map(int, e)) for e in want], Maker(seed + i).function(f"f{i}")

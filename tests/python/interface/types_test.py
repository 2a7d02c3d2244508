"""Checks a user's program with mypy."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import headrace as hr

PROGRAM = """
import headrace as hr

ds: hr.Dataset = hr.Dataset.range(9).map(lambda x: x + 1).shuffle(3, seed=1).batch(2)
it = iter(ds)
record: bytes = it.save()
it.restore(record)
it.close()
for x in ds.restore(record):
    print(x)
options = hr.Options()
options.deterministic = True
options.autotune.enabled = False
served = ds.apply(hr.experimental.service.distribute("off", "localhost:5050"))
files = hr.data.TFRecordDataset(["a", "b"], num_parallel_reads=hr.data.AUTOTUNE)
number = hr.math.log(hr.cast(hr.constant(1), hr.float32))
ds.batch("x")  # wrong: incompatible type "str"; expected "SupportsIndex | Tensor"
ds.take(None)  # wrong: incompatible type "None"
ds.shuffle(3, seed="s")  # wrong: incompatible type "str"
ds.batch(2, drop_remainder="no")  # wrong: incompatible type "str"; expected "bool"
hr.TFRecordDataset(3)  # wrong: incompatible type "int"
ds.bach(3)  # wrong: has no attribute "bach"
options.deterministic = 3  # wrong: Incompatible types in assignment
options.threading.private_threadpool_size = "3"  # wrong: Incompatible types in assignment
"""


def test_MypyAcceptsWhatIsRightAndNamesWhatIsWrong(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", os.devnull, "program.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "MYPYPATH": str(pathlib.Path(hr.__file__).parents[1])})
    said = {int(line.split(":")[1]): line for line in done.stdout.splitlines()
            if line.startswith("program.py:") and ": error:" in line}
    wanted = {number: line.split("# wrong: ")[1] for number, line in enumerate(PROGRAM.splitlines(), 1)
              if "# wrong: " in line}
    assert said.keys() == wanted.keys(), done.stdout
    assert all(wanted[number] in said[number] for number in wanted), done.stdout


def test_TheDtypeOfAnElementFindsADTypeInADict():
    for dtype in (hr.int64, hr.uint8, hr.float32, hr.bool, hr.complex64):
        assert {dtype: 1}[np.zeros(1, dtype.as_numpy_dtype).dtype] == 1 and {dtype: 1}[hr.as_dtype(dtype.name)] == 1
    assert np.dtype("int32") not in {hr.int64: 1}

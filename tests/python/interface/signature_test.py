"""The service can be imported by all names of its modules."""

from __future__ import annotations

import os
import subprocess
import sys


def test_TheServiceIsFoundByItsUsualNames():
    program = """
from headrace.experimental.service import DispatchServer, distribute
import headrace.data.experimental.service
import headrace.experimental.service as service
from headrace.data.experimental import AUTOTUNE, sleep
from headrace.data import Dataset
assert headrace.data.experimental.service.WorkerConfig is service.WorkerConfig is headrace.service.WorkerConfig
assert service.distribute is distribute and DispatchServer is headrace.data.experimental.service.DispatchServer
"""
    subprocess.run([sys.executable, "-c", program], check=True,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})

"""The program that the jobs of tests/slurm/check run: reads all elements once, waits until the service has $WORKERS
workers, and prints whether it read all. The rank $FAILS fails instead."""

import os
import sys

import headrace as hr

hr.service.secure()
ds = hr.Dataset.range(1000).apply(hr.service.distribute("distributed_epoch"))
read = sorted(int(x) for x in ds)
if os.environ.get("FAILS") == os.environ["SLURM_PROCID"]:
    sys.exit(9)
wanted = int(os.environ["WORKERS"])
while (workers := len(hr.service.status()["workers"])) < wanted:
    pass
print("rank", os.environ["SLURM_PROCID"], "read all:", read == list(range(1000)), "workers:", workers)

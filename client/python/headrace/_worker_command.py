"""``headrace worker --python``: a worker that runs Python functions too."""

from __future__ import annotations

import argparse
import json
import math
import signal
import subprocess
import sys
from typing import Any

from .errors import DeadlineExceededError, FailedPreconditionError, OpError

# The command's exit codes.
_USAGE, _CANNOT_CONNECT, _VERSION_MISMATCH = 2, 4, 5

#: Settings of `headrace worker` that a worker in Python does not have.
_NOT_HERE = ("http_port", "lease", "plugin", "max_stuck_threads", "memory_limit", "no_restart", "port_file", "log_level", "log_format",
             "log_file")


def _bytes(text: str) -> int:
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}.get(text[-1:].upper(), 1)
    return int(text if unit == 1 else text[:-1]) * unit


def _ms(seconds: float | None) -> int | None:
    """Whole milliseconds, rounded up; None for None."""
    return None if seconds is None else math.ceil(seconds * 1000)


def _time_ms(text: str | None) -> int | None:
    """Milliseconds of a time in the form of settings: ``500ms``, ``1h``. ``never`` is thirty years."""
    if text is None:
        return None
    if text == "never":
        return 10**12
    for unit, factor in (("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)):
        if text.endswith(unit):
            return int(text[:-len(unit)]) * factor
    raise ValueError(text)


def _settings(arguments: list[str]) -> dict[str, Any] | int:
    """Returns the settings of a worker with these arguments.

    If there is an error, it is printed, and the exit code for this program is returned instead.
    """
    from .__main__ import binary

    program = binary()
    if program is None:
        print("headrace: the command's program is not in this installation", file=sys.stderr)
        return 1
    said = subprocess.run([program, "config", "worker", "--json", *arguments], stdout=subprocess.PIPE, text=True)
    if said.returncode != 0:
        return said.returncode
    settings = json.loads(said.stdout)
    for key in _NOT_HERE:
        origin = settings[key]["from"]
        if origin == "command line":
            print(f"headrace: worker --python: there is no --{key.replace('_', '-')}", file=sys.stderr)
            return _USAGE
        if origin != "default":
            print(f"headrace: worker --python: {key} ({origin}) has no effect", file=sys.stderr)
    return {key: about["value"] for key, about in settings.items()}


def run(arguments: list[str]) -> int:
    """Serves until SIGTERM or Ctrl-C; returns the exit code."""
    from . import service

    parser = argparse.ArgumentParser(
        prog="headrace worker --python", allow_abbrev=False,
        description="Run input pipelines, with the Python functions in them, for a dispatcher.",
        epilog="Other options, files and environment variables are those of `headrace worker`, but for the following: "
        + ", ".join(_NOT_HERE))
    parser.add_argument("--python-processes", type=int, metavar="N", help="processes that run Python functions; default: "
                        "as many as there are CPUs")
    parser.add_argument("--python-memory", type=_bytes, metavar="BYTES", help="bound of the memory of each; K, M and G "
                        "stand for units of 1024; default: none")
    parser.add_argument("--python-call-timeout", type=float, metavar="SECONDS", help="bound of the time of one call; "
                        "default: none")
    parser.add_argument("--python-from-anyone", action="store_true", help="run the Python functions of everybody who "
                        "reaches the dispatcher; default, without TLS: only those of this user's programs on this host")
    given, others = parser.parse_known_args(arguments)
    holds = _settings(others)
    if isinstance(holds, int):
        return holds
    if holds["dispatcher"].startswith("kubernetes:"):
        print(f"headrace: worker --python: the dispatcher must not be {holds['dispatcher']}: only the command without "
              "--python asks again until its pod runs", file=sys.stderr)
        return _USAGE
    try:
        server = service.WorkerServer(service.WorkerConfig(
            dispatcher_address=holds["dispatcher"], worker_address=holds["advertise_data"] or holds["advertise"],
            port=holds["data_port"], worker_tags=holds["tag"], host=holds["host"], tls_cert=holds["tls_cert"] or "",
            tls_key=holds["tls_key"] or "", tls_ca=holds["tls_ca"] or "", insecure=holds["insecure"],
            heartbeat_interval_ms=_time_ms(holds["heartbeat"]),
            dispatcher_timeout_ms=_time_ms(holds["dispatcher_timeout"]),
            shutdown_quiet_period_ms=_time_ms(holds["drain"]) or 0,
            cross_trainer_cache_size_bytes=_bytes(holds["cross_trainer_cache_size"]) or None,
            snapshot_max_chunk_size_bytes=_bytes(holds["save_max_file_size"]), python_processes=given.python_processes,
            python_memory_bytes=given.python_memory, python_call_timeout_ms=_ms(given.python_call_timeout),
            python_from_anyone=given.python_from_anyone))
    except (OpError, ValueError) as e:
        print(f"headrace: worker: {e}", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(f"worker listening on {server.address}", flush=True)
    try:
        server.join()
    except KeyboardInterrupt:
        pass
    except (FailedPreconditionError, DeadlineExceededError) as e:
        print(f"headrace: worker: {e}", file=sys.stderr)
        return _VERSION_MISMATCH if isinstance(e, FailedPreconditionError) else _CANNOT_CONNECT
    except OpError as e:  # the worker is not in the dispatcher's list
        print(f"headrace: worker: {e}", file=sys.stderr)
        return 1
    finally:
        server.stop()
    return 0

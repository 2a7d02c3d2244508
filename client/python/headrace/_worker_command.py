"""``headrace worker --python``: a worker that runs Python functions too."""

from __future__ import annotations

import argparse
import math
import signal
import sys

from .errors import FailedPreconditionError, OpError

#: The exit code of a worker whose dispatcher is of another major version, as the command's.
_VERSION_MISMATCH = 5


def _bytes(text: str) -> int:
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 1)
    return int(text if unit == 1 else text[:-1]) * unit


def _ms(seconds: float | None) -> int | None:
    """Whole milliseconds, of which 0 is none."""
    return None if seconds is None else math.ceil(seconds * 1000)


def run(arguments: list[str]) -> int:
    """Serves until SIGTERM or Ctrl-C; returns the exit code."""
    from . import service

    parser = argparse.ArgumentParser(
        prog="headrace worker --python",
        description="Run input pipelines, with the Python functions in them, for a dispatcher.")
    parser.add_argument("--dispatcher", default="127.0.0.1:5050", metavar="HOST:PORT", help="address of the dispatcher")
    parser.add_argument("--host", default="127.0.0.1", help="address to bind")
    parser.add_argument("--advertise", default="", metavar="HOST", help="what trainers are told; default: --host")
    parser.add_argument("--data-port", type=int, default=0, help="port from which trainers read; 0: any free one")
    parser.add_argument("--tag", action="append", default=[], help="a label that jobs may ask for")
    parser.add_argument("--python-processes", type=int, metavar="N", help="processes that run Python functions; default: "
                        "as many as there are CPUs")
    parser.add_argument("--python-memory", type=_bytes, metavar="BYTES", help="bound of the memory of each; K, M and G "
                        "stand for units of 1024; default: none")
    parser.add_argument("--python-call-timeout", type=float, metavar="SECONDS", help="bound of the time of one call; "
                        "default: none")
    parser.add_argument("--python-from-anyone", action="store_true", help="run the Python functions of everybody who "
                        "reaches the dispatcher; default, without TLS: only those of this user's programs on this host")
    parser.add_argument("--tls-cert", default="", metavar="FILE")
    parser.add_argument("--tls-key", default="", metavar="FILE")
    parser.add_argument("--tls-ca", default="", metavar="FILE")
    parser.add_argument("--insecure", action="store_true", help="listen off loopback without TLS")
    given = parser.parse_args(arguments)
    try:
        server = service.WorkerServer(service.WorkerConfig(
            dispatcher_address=given.dispatcher, worker_address=given.advertise or None, port=given.data_port,
            worker_tags=given.tag, host=given.host, tls_cert=given.tls_cert, tls_key=given.tls_key,
            tls_ca=given.tls_ca, insecure=given.insecure, python_processes=given.python_processes,
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
    except FailedPreconditionError as e:
        print(f"headrace: worker: {e}", file=sys.stderr)
        return _VERSION_MISMATCH
    except OpError as e:  # it is none of the dispatcher's workers
        print(f"headrace: worker: {e}", file=sys.stderr)
        return 1
    finally:
        server.stop()
    return 0

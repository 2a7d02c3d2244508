"""Numbers of iterations that several processes take part in."""

from __future__ import annotations

import hashlib
import multiprocessing
import multiprocessing.context
import multiprocessing.sharedctypes
from typing import Any

_KEPT = 8
# Registers the type of shared memory with the pickler that spawns processes, which must be done
# before spawning begins.
_KNOWN_TYPE = multiprocessing.sharedctypes.RawArray("q", 1 + 2 * _KEPT)


def mixed(*numbers: int) -> int:
    """One number of 64 bits that depends on all of these numbers."""
    text = ",".join(str(x) for x in numbers).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


class Epochs:
    """Counts iterations. Processes that are spawned with the object share the count with this process.

    A process begins an iteration with a key that is the same in all processes which take part in the iteration, and
    differs from the keys of other iterations; the first process that begins the iteration increases the count.
    """

    def __init__(self) -> None:
        # The number of the next iteration, and then the last pairs of a key and the number of its iteration.
        self._kept: Any = [0] + [-1, -1] * _KEPT

    @property
    def next(self) -> int:
        """The number of the next iteration."""
        return int(self._kept[0])

    @next.setter
    def next(self, number: int) -> None:
        self._kept[0] = number

    def begin(self, key: int | None = None) -> int:
        """Begins an iteration and returns its number. ``key`` None: an iteration of this process alone."""
        if isinstance(self._kept, list):
            return self._count(key)
        with self._kept.get_lock():
            return self._count(key)

    def _count(self, key: int | None) -> int:
        kept = self._kept
        for i in range(1, len(kept), 2):
            if key is not None and kept[i] == key:
                return int(kept[i + 1])
        number = int(kept[0])
        kept[0] = number + 1
        if key is not None:
            kept[1:] = [key, number, *kept[1:-2]]
        return number

    def __getstate__(self) -> dict[str, Any]:
        if multiprocessing.context.get_spawning_popen() is None:
            return {"_kept": list(self._kept)}
        if isinstance(self._kept, list):
            self._kept = multiprocessing.get_context("spawn").Array("q", self._kept)
        return {"_kept": self._kept}

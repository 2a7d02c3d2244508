"""Exports arrays through DLPack, for libraries that do not accept read-only arrays of numpy."""

from __future__ import annotations

from typing import Any

from .. import _core


class Shared:
    """The memory of an array, for ``from_dlpack``. It must not be written to, because other objects may share it."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **_: Any) -> object:
        return _core.dlpack(self._array)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the device is the CPU

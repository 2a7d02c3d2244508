"""Elements that are kept for later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._values import integer
from .base import Described, missing

if TYPE_CHECKING:
    from .dataset import Dataset


class Keeping(Described):
    """Methods that keep elements in memory or in files."""

    __slots__ = ()

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """Keeps up to ``buffer_size`` elements ready, made by another thread; ``AUTOTUNE`` lets headrace choose."""
        return self._with(_core.prefetch(self._graph, integer(buffer_size, "buffer_size")))

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """Keeps the elements of the first pass for later ones."""
        missing("Dataset.cache")

    def save(self, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None:
        """Writes the elements to files."""
        missing("Dataset.save")

    @staticmethod
    def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None,
             wait: bool = False) -> Dataset:
        """What ``save`` wrote."""
        missing("Dataset.load")

    def snapshot(self, path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None,
                 name: str | None = None) -> Dataset:
        """Keeps the elements of the first run in files for later ones."""
        missing("Dataset.snapshot")

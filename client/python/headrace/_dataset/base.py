"""The base of all parts of a Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core, _options
from .._random import drawing as _drawing

if TYPE_CHECKING:
    from .dataset import Dataset


class Described:
    """The data of a ``Dataset``: its graph, the options that it was given, and the seed of its functions."""

    __slots__ = ("_drawn_from", "_given_options", "_graph", "_stacked")

    def __init__(self, graph: _core.Graph | None = None, options: _options.Options | None = None,
                 drawn_from: int | None = None) -> None:
        if not isinstance(graph, _core.Graph):
            raise TypeError("a Dataset is made by its constructors: Dataset.range, Dataset.from_tensor_slices, ...")
        self._graph = graph
        self._given_options = options or _options.Options()
        # The dataset that is read in place of this one, if the elements of this one contain datasets. False: they
        # contain no datasets. None: this is not determined yet.
        self._stacked: Dataset | bool | None = None
        self._drawn_from = drawn_from  # the seed of the numbers that functions draw for each element

    def _with(self, graph: _core.Graph) -> Dataset:
        return made(graph, self._given_options, _drawing.seed_of(self))


def made(graph: _core.Graph, options: _options.Options | None = None, drawn_from: int | None = None) -> Dataset:
    """The dataset of a graph."""
    from .dataset import Dataset

    return Dataset(graph, options, drawn_from)

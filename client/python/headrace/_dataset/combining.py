"""Several datasets as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import _core, _options
from .._random import drawing as _drawing
from .._specs import flatten, map_structure, spec_of_leaf
from ..errors import InvalidArgumentError
from .arguments import flag, graphs, seed_of
from .base import Described, made

if TYPE_CHECKING:
    from .dataset import Dataset


class DifferentElementsError(InvalidArgumentError, TypeError):
    """Datasets cannot be combined, because their elements have different structures or dtypes."""


def _of(inputs: Iterable[Described]) -> _options.Options:
    return _options.of_inputs(x._given_options for x in inputs)


class Combining(Described):
    """Constructors and methods that take several datasets."""

    __slots__ = ()

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of all datasets side by side; ends with the shortest.

        Takes datasets, or one nest (tuple or dict) of datasets; the elements have the structure of the nest.

        >>> a, b = Dataset.range(3), Dataset.range(3, 9)
        >>> list(Dataset.zip(a, b))[2]
        (np.int64(2), np.int64(5))
        >>> next(iter(Dataset.zip({"a": a, "b": b})))
        {'a': np.int64(0), 'b': np.int64(3)}
        """
        if not args and datasets is None:
            raise TypeError("zip: at least one dataset is needed")
        if args and datasets is not None:
            raise TypeError("zip: datasets are given one by one or as `datasets`, not both")
        nest = datasets if datasets is not None else args[0] if len(args) == 1 else args
        inputs = flatten(nest)
        for x in inputs:
            if not isinstance(x, Described):
                raise TypeError(f"zip: the nest may hold only Datasets, not {type(x).__name__}")
        if isinstance(nest, Described):
            return made(nest._graph, nest._given_options, nest._drawn_from)
        out = made(_core.zip([x._graph for x in inputs]), _of(inputs), _drawing.of_inputs(inputs))
        if type(nest) is tuple and all(isinstance(x, Described) for x in nest):
            return out
        return out._with(_core.arranged(out._graph, map_structure(lambda x: x._graph.spec(spec_of_leaf), nest)))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """These elements, then those of ``dataset``, which must have the same structure and dtypes.

        Raises ``TypeError`` if ``dataset`` is no dataset, and, if its elements have another structure or other
        dtypes, an ``InvalidArgumentError`` that is also a ``TypeError``.

        >>> list(Dataset.range(2).concatenate(Dataset.range(7, 8)))
        [np.int64(0), np.int64(1), np.int64(7)]
        """
        if not isinstance(dataset, Described):
            raise TypeError(f"concatenate: dataset must be a Dataset, not {type(dataset).__name__}")
        try:
            return made(_core.concatenate(self._graph, dataset._graph), _of([self, dataset]),
                        _drawing.of_inputs([self, dataset]))
        except InvalidArgumentError as error:
            raise DifferentElementsError(str(error)) from None

    @staticmethod
    def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None,
                             stop_on_empty_dataset: bool = False,
                             rerandomize_each_iteration: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets, drawn at random with these weights (None: all weights are equal).

        ``weights`` may be a Dataset of vectors, one for each draw; then the result ends when ``weights`` ends. The
        result also ends when all ``datasets`` have ended, or, with ``stop_on_empty_dataset``, when a dataset is drawn
        that has ended.

        >>> a, b = Dataset.range(2), Dataset.range(2, 4)
        >>> sorted(Dataset.sample_from_datasets([a, b], seed=1))
        [np.int64(0), np.int64(1), np.int64(2), np.int64(3)]
        """
        datasets = list(datasets)
        again = False if rerandomize_each_iteration is None else flag(rerandomize_each_iteration,
                                                                       "rerandomize_each_iteration")
        if isinstance(weights, Described):
            return made(_core.sample_from_by(graphs(datasets, "sample_from_datasets"), weights._graph, seed_of(seed),
                                             flag(stop_on_empty_dataset, "stop_on_empty_dataset"), again),
                        _of([*datasets, weights]), _drawing.of_inputs([*datasets, weights]))
        given = [] if weights is None else [float(x) for x in weights]
        return made(_core.sample_from(graphs(datasets, "sample_from_datasets"), given, seed_of(seed),
                                      flag(stop_on_empty_dataset, "stop_on_empty_dataset"), again), _of(datasets),
                    _drawing.of_inputs(datasets))

    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True,
                             name: str | None = None) -> Dataset:
        """Elements of several datasets. Each element of ``choice_dataset``, an int64 scalar, is the index of the
        dataset that gives the next element.

        >>> a, b = Dataset.range(2), Dataset.range(10, 12)
        >>> list(Dataset.choose_from_datasets([a, b], Dataset.from_tensor_slices(np.array([1, 0, 1]))))
        [np.int64(10), np.int64(0), np.int64(11)]
        """
        datasets = list(datasets)
        if not isinstance(choice_dataset, Described):
            raise TypeError(f"choose_from_datasets: choice_dataset must be a Dataset, not "
                            f"{type(choice_dataset).__name__}")
        return made(_core.choose_from(choice_dataset._graph, graphs(datasets, "choose_from_datasets"),
                                      flag(stop_on_empty_dataset, "stop_on_empty_dataset")),
                    _of([choice_dataset, *datasets]), _drawing.of_inputs([choice_dataset, *datasets]))

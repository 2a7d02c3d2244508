"""The class ``Dataset``, whose methods are inherited from a class for each kind of operator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core, _options
from .._missing import missing
from .._refusals import refuse
from .._specs import spec_of_leaf
from .._tensors import values as _values
from .._tracing import tracing as _tracing
from .batching import Batching
from .choosing import Choosing
from .combining import Combining
from .functions import Functions
from .keeping import Keeping
from .sources import Sources
from .windows import WindowIterator, holds_datasets, outside, stacked, with_datasets

#: The cardinality of datasets that never end.
INFINITE_CARDINALITY = -1
#: The cardinality of datasets whose number of elements is not known.
UNKNOWN_CARDINALITY = -2


class _Names(type):
    """The metaclass of ``Dataset``: raises an error for names that this release lacks. For names of tf.data, the
    error contains the replacement.
    """

    if not TYPE_CHECKING:  # a type checker reports missing names itself
        def __getattr__(cls, name: str) -> Any:
            missing("Dataset", name)


class Dataset(Sources, Combining, Functions, Batching, Choosing, Keeping, metaclass=_Names):
    """A description of elements: the sources from which they are read, and the operators that are applied to them.

    A dataset is immutable, and nothing runs until it is iterated over. Then its operators run in this process, except
    the operators before a ``distribute``, which run on the workers of a service. Constructors, methods and arguments
    are named as in tf.data. Elements are numpy arrays and scalars, and for strings ``bytes`` that also compare equal to
    the ``str``, in nested tuples and dicts as in ``element_spec``. Arrays are read-only views of the memory into which
    the elements were computed or received. The argument ``name`` of many methods is for people: nothing depends on it.

    >>> import headrace as hr
    >>> ds = hr.Dataset.range(6).map(lambda x: x * x).batch(4)
    >>> for x in ds:
    ...     print(x)
    [0 1 4 9]
    [16 25]
    >>> ds.element_spec
    TensorSpec(shape=(None,), dtype=headrace.int64, name=None)
    """

    __slots__ = ()

    def apply(self, transformation_func: Callable[[Dataset], Any]) -> Any:
        """``transformation_func(self)``, so that transformations chain. Raises ``TypeError`` if the result is
        no dataset.

        >>> list(Dataset.range(9).apply(lambda ds: ds.skip(7)))
        [np.int64(7), np.int64(8)]
        """
        if not callable(transformation_func):
            raise TypeError(f"apply: transformation_func must be a function, not {type(transformation_func).__name__}")
        out = transformation_func(self)
        if not isinstance(out, Dataset):
            raise TypeError(f"apply: transformation_func must give a Dataset, not {type(out).__name__}: {out!r}")
        return out

    def with_options(self, options: _options.Options, name: str | None = None) -> Dataset:
        """The same dataset with these options. Warns of options that were set to another value before.

        Raises ``UnimplementedError`` for options that this release does not have.

        >>> options = hr.Options()
        >>> options.autotune.cpu_budget = 2
        >>> list(Dataset.range(2).with_options(options))
        [np.int64(0), np.int64(1)]
        """
        given = _options.check(options)
        return Dataset(_core.options(self._graph, *_options.of_graph(given)), self._given_options.merge(given),
                       self._drawn_from)

    def options(self) -> _options.Options:
        """The options that this dataset and its inputs were given, read-only: ``with_options`` sets others.

        >>> options = hr.Options()
        >>> options.deterministic = False
        >>> Dataset.range(2).with_options(options).options().deterministic
        False
        """
        return self._given_options._shown()

    @property
    def element_spec(self) -> Any:
        """``TensorSpec``s, arranged as the elements are.

        >>> Dataset.range(4).batch(2, drop_remainder=True).element_spec
        TensorSpec(shape=(2,), dtype=headrace.int64, name=None)
        """
        return outside(self._graph.spec(spec_of_leaf))

    def cardinality(self) -> Any:
        """The number of elements, or ``INFINITE_CARDINALITY`` or ``UNKNOWN_CARDINALITY``: an int.

        In a traced function the result is a scalar int64 tensor, because the size of a window or of another dataset
        may differ from element to element. There, ``InvalidArgumentError`` is raised if the number is not known
        before the elements are read, for instance after a ``filter``.

        >>> Dataset.range(42).cardinality(), Dataset.range(1).repeat().cardinality() == INFINITE_CARDINALITY
        (42, True)
        >>> list(Dataset.range(5).window(3).map(lambda w: w.cardinality()))
        [np.int64(3), np.int64(2)]
        """
        n = self._graph.cardinality()
        if not _tracing.is_tracing():
            return n
        if n != UNKNOWN_CARDINALITY:
            return _values.constant(np.int64(n))
        return _tracing.element_of(_core.cardinality(self._graph))

    def __iter__(self) -> _core.Iterator:
        if _tracing.is_tracing() and self._graph.is_inside_function():
            refuse("Python needs the elements here of a dataset that depends on a tensor", "Use its method reduce")
        return self._iterator(_core.give_string_values)

    def _iterator(self, prepared: Callable[[_core.Iterator], _core.Iterator] = lambda read: read) -> _core.Iterator:
        graph = self._readable()
        read = prepared(self._begun(graph))
        return read if graph is self._graph else self._of_windows(read)

    def _begun(self, graph: _core.Graph) -> _core.Iterator:
        return graph.read(self._drawn_from, _options.measured(self._given_options))

    def _readable(self) -> _core.Graph:
        """The graph that is read, with tensors in place of datasets among its elements."""
        if self._stacked is None:
            self._stacked = stacked(self) if holds_datasets(self._graph) else False
        return self._stacked._graph if isinstance(self._stacked, Dataset) else self._graph

    def _of_windows_or_tensors(self, element: Any) -> Any:
        """Converts an element of the graph of ``_readable`` to the element that users get: tensors that represent
        datasets become datasets.
        """
        return with_datasets(self.element_spec, element)

    def _of_windows(self, read: _core.Iterator) -> Any:
        return WindowIterator(read, self.element_spec)

    def as_numpy_iterator(self) -> _core.Iterator:
        """An iterator as by ``iter``, except that strings are plain ``bytes``: strings in the elements of ``iter`` also
        compare equal to the ``str``.

        >>> list(Dataset.range(2).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        >>> words = Dataset.from_tensor_slices(["cat"])
        >>> [x == "cat" for x in words], [x == "cat" for x in words.as_numpy_iterator()]
        ([True], [False])
        """
        return self._iterator()

    def restore(self, record: bytes) -> _core.Iterator:
        """An iterator that continues from ``record``, which an iterator of an equal dataset has saved (``iterator.save()``).

        The record may come from another process. The iterator gives the remaining elements in the same order (none if
        the saved iterator had ended). Iterations that are started later are numbered after the restored one. Raises
        ``InvalidArgumentError`` or ``DataLossError`` for a record that is damaged or of another dataset.

        >>> ds = Dataset.range(5).shuffle(5)
        >>> it = iter(ds)
        >>> first = next(it)
        >>> list(ds.restore(it.save())) == list(it)
        True
        """
        if not isinstance(record, bytes):
            raise TypeError(f"restore: record must be the bytes that save() gave, not {type(record).__name__}")
        graph = self._readable()
        read = _core.give_string_values(graph.restore(record, _options.measured(self._given_options)))
        return read if graph is self._graph else self._of_windows(read)

    def fingerprint(self) -> np.uint64:
        """A number that is equal for equal datasets: of the same sources, operators, functions and seeds.

        Equal datasets give the same elements, as far as files do not change and nothing is drawn at random.

        >>> Dataset.range(4).fingerprint() == Dataset.range(4).fingerprint() != Dataset.range(5).fingerprint()
        np.True_
        """
        return np.uint64(int(self._readable().fingerprint()[:16], 16))

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element. Raises ``InvalidArgumentError`` if there are more, or none.

        In a traced function, the dataset may depend on an argument of the function; then the result is made of
        tensors.

        >>> Dataset.range(3).batch(3).get_single_element()
        array([0, 1, 2])
        """
        single = _core.single_element(self._graph)
        if single.is_inside_function():
            return _tracing.element_of(single)
        return next(iter(Dataset(single, self._given_options, self._drawn_from)))

    def __len__(self) -> int:
        if _tracing.is_tracing():
            refuse("len() of a dataset is a tensor in a traced function, and Python needs an int", "Use cardinality()")
        n = self._graph.cardinality()
        if n == INFINITE_CARDINALITY:
            raise TypeError("this dataset never ends, and has no len()")
        if n == UNKNOWN_CARDINALITY:
            raise TypeError("the length of this dataset is not known before it is read; if you know it, give it by "
                            "apply(headrace.experimental.assert_cardinality(n))")
        return n

    def __bool__(self) -> bool:
        return True

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            missing("Dataset", name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_encoded, (self._graph.encode(), self._given_options._given(), self._drawn_from)

    def __repr__(self) -> str:
        return f"<headrace.Dataset of {self._graph.spec_text()}>"


def _from_encoded(graph: bytes, options: dict[str, Any], drawn_from: int | None = None) -> Dataset:
    return Dataset(_core.decode_graph(graph), _options.Options._of(options), drawn_from)

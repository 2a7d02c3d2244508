"""The class of iterators whose elements are numpy values, as ``tf.data.NumpyIterator``. In headrace, every iterator of
a dataset is an instance of this class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core


def _next(self: Any) -> Any:
    """The next element, as the function ``next`` returns it. Raises ``StopIteration`` at the end.

    >>> Dataset.range(2).as_numpy_iterator().next()
    np.int64(0)
    """
    return next(self)


_next.__name__ = "next"
_next.__qualname__ = "Iterator.next"
_core.Iterator.next = _next  # type: ignore[attr-defined]

if TYPE_CHECKING:
    NumpyIterator = _core.Iterator
else:
    class _EveryIterator(type):
        """The metaclass of ``NumpyIterator``, which makes every iterator of a dataset an instance of that class."""

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, _core.Iterator)

        def __subclasscheck__(cls, subclass: Any) -> bool:
            return issubclass(subclass, _core.Iterator)

    class NumpyIterator(metaclass=_EveryIterator):
        """The result of ``iter`` and ``as_numpy_iterator`` of a dataset: its elements, one after another.

        Raises ``TypeError`` for a value that is not a dataset.

        >>> it = hr.data.NumpyIterator(Dataset.range(2))
        >>> it.next(), next(it), isinstance(it, hr.data.NumpyIterator)
        (np.int64(0), np.int64(1), True)
        """

        def __new__(cls, dataset: Any) -> _core.Iterator:
            from ._dataset import Dataset

            if not isinstance(dataset, Dataset):
                raise TypeError(f"NumpyIterator: dataset must be a Dataset, not {type(dataset).__name__}")
            return dataset.as_numpy_iterator()

        next = _next
        save = _core.Iterator.save
        restore = _core.Iterator.restore

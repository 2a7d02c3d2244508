"""Several elements as one, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core, dtypes
from .._specs import element_of, flatten, parts_along, spec_of_leaf
from .._tensor_shape import TensorShape
from .._tensors import values as _values
from .._tensors.values import count_of, integer, integers
from .._tracing import tracing as _tracing
from ..errors import UnimplementedError
from .arguments import Int, flag, order, parallel_calls
from .base import Described
from .ragged_rows import batched, holds_ragged
from .rebatching import check_rows, empty_batches, in_turn, sizes_of

if TYPE_CHECKING:
    from .dataset import Dataset


class Batching(Described):
    """Methods that make batches, windows and groups of elements, or split batches."""

    __slots__ = ()

    def batch(self, batch_size: Int, drop_remainder: bool = False, num_parallel_calls: Int | None = None,
              deterministic: bool | None = None, name: str | None = None) -> Dataset:
        """``batch_size`` elements stacked into one.

        ``num_parallel_calls`` and ``deterministic`` are checked and have no effect: a batch is made column by column,
        in the order of the elements.

        >>> list(Dataset.range(5).batch(2, drop_remainder=True))
        [array([0, 1]), array([2, 3])]
        """
        parallel_calls(num_parallel_calls)
        order(deterministic)
        size, drop = count_of(batch_size, "batch_size"), flag(drop_remainder, "drop_remainder")
        this = self._with(self._graph)
        if holds_ragged(this.element_spec):
            return batched(this, size, drop, ragged=False)
        return self._with(_core.batch(self._graph, size, drop))

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of the elements along their first axis.

        >>> list(Dataset.range(3).batch(2).unbatch())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        this = self._with(self._graph)
        if holds_ragged(this.element_spec):
            def rows(*element: Any) -> Dataset:
                return this.from_tensor_slices(element_of(this.element_spec, element))
            return this.flat_map(rows)
        return self._with(_core.unbatch(self._graph))

    def padded_batch(self, batch_size: Int, padded_shapes: Any = None, padding_values: Any = None,
                     drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """Makes batches of elements of different shapes: each element is padded at the ends of its axes.

        ``padded_shapes``: a shape for each component, in the structure of the elements, or one shape for all. None in
        place of a shape or of an extent: the largest in the batch. ``padding_values``: a value for each component, or
        one for all; None: zeros and empty strings.

        >>> ds = Dataset.range(1, 4).flat_map(lambda n: Dataset.range(n).batch(9))
        >>> list(ds.padded_batch(2, padding_values=-1))[0]
        array([[ 0, -1],
               [ 0,  1]])
        """
        return self._with(_core.padded_batch(self._graph, count_of(batch_size, "batch_size"),
                                             *self._padding(padded_shapes, padding_values, "padded_batch"),
                                             flag(drop_remainder, "drop_remainder")))

    def _padding(self, shapes: Any, values: Any, operator: str) -> tuple[list[Any], list[Any]]:
        """The shapes and padding values, one for each component; an empty list for an argument that is None."""
        spec = self._graph.spec(spec_of_leaf)
        return ([] if shapes is None else
                [(one.shape if x is None else TensorShape(x)).dims
                 for one, x in _of_components(spec, shapes, _is_shape, "padded_shapes")],
                [] if values is None else
                [None if x is None else _fill(x, one.dtype)
                 for one, x in _of_components(spec, values, _is_value, "padding_values")])

    def ragged_batch(self, batch_size: Int, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64,
                     name: str | None = None) -> Dataset:
        """Makes batches of tensors of different shapes: a batch of such tensors is a ``RaggedTensor``.

        ``row_splits_dtype`` must be int64.

        >>> ds = Dataset.range(3).flat_map(lambda n: Dataset.range(n).batch(9))
        >>> list(ds.ragged_batch(2))
        [RaggedTensor([[0], [0, 1]])]
        """
        if dtypes.as_dtype(row_splits_dtype) != dtypes.int64:
            raise UnimplementedError("ragged_batch: row_splits_dtype must be int64 in this release; headrace.cast "
                                     "gives the row lengths another dtype")
        size, drop = count_of(batch_size, "batch_size"), flag(drop_remainder, "drop_remainder")
        this = self._with(self._graph)
        if holds_ragged(this.element_spec):
            return batched(this, size, drop, ragged=True)
        return self._with(_core.ragged_batch(self._graph, size, drop))

    def sparse_batch(self, batch_size: Int, row_shape: Any, name: str | None = None) -> Dataset:
        """Batches of sparse tensors."""
        raise UnimplementedError("sparse_batch: this release has no sparse tensors: ragged_batch and padded_batch batch "
                                 "elements of different shapes")

    def rebatch(self, batch_size: Int | Sequence[Int], drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """Batches of another size with the same rows. If ``batch_size`` is a list, the batches have its sizes in
        turn.

        A size of 0 gives a batch of no rows. ``drop_remainder`` leaves out the last rows if they are too few for a
        batch. If an element of the input failed, the batch with its rows is one error; if ``batch_size`` is a list, all
        batches of one pass over the list are together one error.

        Raises ``ValueError`` for negative sizes, an empty list, and elements that are scalars.

        >>> list(Dataset.range(5).batch(2).rebatch(3))
        [array([0, 1, 2]), array([3, 4])]
        >>> list(Dataset.range(7).batch(4).rebatch([3, 1]))
        [array([0, 1, 2]), array([3]), array([4, 5, 6])]
        """
        sizes, drop = sizes_of(batch_size), flag(drop_remainder, "drop_remainder")
        this = self._with(self._graph)
        check_rows(this)
        if isinstance(sizes, list):
            return self._with(in_turn(this, sizes, drop)._graph)
        if sizes == 0:
            return self._with(empty_batches(this).repeat()._graph)
        return self.unbatch().batch(sizes, drop)

    def window(self, size: Int, shift: Int | None = None, stride: Int = 1, drop_remainder: bool = False,
               name: str | None = None) -> Dataset:
        """Datasets of ``size`` elements, ``stride`` apart, that begin every ``shift`` elements (None: ``size``).

        Each component becomes a dataset of its own, for functions to read, or to iterate over.

        >>> ds = Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> list(ds.flat_map(lambda w: w.batch(3)))
        [array([0, 1, 2]), array([1, 2, 3]), array([2, 3, 4])]
        >>> list(ds.map(lambda w: w.reduce(np.int64(0), lambda total, x: total + x)))
        [np.int64(3), np.int64(6), np.int64(9)]
        >>> [list(map(int, w)) for w in Dataset.range(5).window(3)]
        [[0, 1, 2], [3, 4]]
        """
        length = integer(size, "size")
        return self._with(_core.window(self._graph, length, length if shift is None else integer(shift, "shift"),
                                       integer(stride, "stride"), flag(drop_remainder, "drop_remainder")))

    def group_by_window(self, key_func: Callable[..., Any], reduce_func: Callable[..., Any],
                        window_size: Int | None = None, window_size_func: Any = None, name: str | None = None) -> Dataset:
        """The elements of the datasets that ``reduce_func(key, dataset)`` returns. It is called for each group of
        ``window_size`` elements with one key.

        ``key_func`` gives an element's key, an int. ``window_size_func``, in place of ``window_size``, gives the size
        for a key. Smaller groups come at the end, in the order of their keys.

        >>> ds = Dataset.range(6).group_by_window(lambda x: x % 2, lambda key, xs: xs.batch(3), window_size=2)
        >>> list(ds)
        [array([0, 2]), array([1, 3]), array([4]), array([5])]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError("group_by_window: give either window_size or window_size_func")
        key = _tracing.trace(self._graph, key_func, "group_by_window", "key_func", dataset=False)
        opened = _core.open_group_function(self._graph) if callable(reduce_func) else None
        reduce = _tracing.trace_with(opened, None if opened is None else opened.group, reduce_func, "group_by_window",
                                     "reduce_func", dataset=True)
        if window_size_func is None:
            return self._with(_core.group_by_window(self._graph, key, reduce, integer(window_size, "window_size")))
        opened = _core.open_key_function()
        size = _tracing.trace_with(opened, opened.argument, window_size_func, "group_by_window", "window_size_func",
                                   dataset=False)
        return self._with(_core.group_by_window_func(self._graph, key, reduce, size))

    def bucket_by_sequence_length(self, element_length_func: Callable[..., Any], bucket_boundaries: Any,
                                  bucket_batch_sizes: Any, padded_shapes: Any = None, padding_values: Any = None,
                                  pad_to_bucket_boundary: bool = False, no_padding: bool = False,
                                  drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """Batches of elements of similar length, padded as by ``padded_batch``. ``element_length_func`` gives the
        length of an element.

        Elements with a length below the first boundary are the first bucket, and so on. ``bucket_batch_sizes`` has
        one size for each bucket, and so one more than there are boundaries. ``pad_to_bucket_boundary`` pads to the
        longest length of the bucket, and fails for elements that are too long for the last boundary; ``no_padding``
        does not pad.

        >>> ds = Dataset.from_tensor_slices([1, 5, 2, 6]).flat_map(lambda n: Dataset.range(n).batch(9))
        >>> import headrace as hr
        >>> list(ds.bucket_by_sequence_length(lambda x: hr.size(x), [4], [2, 2]))[0]
        array([[0, 0],
               [0, 1]])
        """
        f = _tracing.trace(self._graph, element_length_func, "bucket_by_sequence_length", "element_length_func",
                           dataset=False)
        return self._with(_core.bucket_by_sequence_length(
            self._graph, f, integers(bucket_boundaries, "bucket_boundaries"),
            integers(bucket_batch_sizes, "bucket_batch_sizes"),
            *self._padding(padded_shapes, padding_values, "bucket_by_sequence_length"),
            flag(pad_to_bucket_boundary, "pad_to_bucket_boundary"), flag(no_padding, "no_padding"),
            flag(drop_remainder, "drop_remainder")))


def _is_shape(value: Any) -> bool:
    return value is None or isinstance(value, (int, TensorShape)) or (
        isinstance(value, (list, tuple)) and all(x is None or isinstance(x, (int, np.integer)) for x in value))


def _is_value(value: Any) -> bool:
    return not isinstance(value, (tuple, Mapping))


def _of_components(spec: Any, given: Any, is_one: Callable[[Any], bool], argument: str) -> list[tuple[Any, Any]]:
    """The spec of each component with the value that is given for it; a single value is repeated for all."""
    if is_one(given):
        return [(one, given) for one in flatten(spec)]
    out = list(parts_along(spec, given, argument, "the elements",
                           lambda value: is_one(value) or not isinstance(value, (tuple, list, Mapping))))
    for one, value in out:
        if not is_one(value):
            raise TypeError(f"{argument} holds {value!r} for {one}")
    return out


def _fill(value: Any, dtype: dtypes.DType) -> _core.Tensor:
    """A padding value as a constant: Python's numbers get the dtype of the component, other values keep their own."""
    if isinstance(value, float) and dtype.is_integer:
        raise TypeError(f"padding_values: {value!r} is no {dtype.name}")
    if isinstance(value, (bool, int, float)):
        return _values.constant(value, dtype)
    return _values.constant(value)

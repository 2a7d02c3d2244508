"""Several elements as one, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core, dtypes
from .._values import integer
from .arguments import flag, order, parallel_calls
from .base import Described, missing

if TYPE_CHECKING:
    from .dataset import Dataset


class Batching(Described):
    """Methods that stack, group and take apart."""

    __slots__ = ()

    def batch(self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None,
              deterministic: bool | None = None, name: str | None = None) -> Dataset:
        """``batch_size`` elements stacked into one.

        num_parallel_calls, deterministic: accepted; a batch is made column by column, in its order.

        >>> list(Dataset.range(5).batch(2, drop_remainder=True))
        [array([0, 1]), array([2, 3])]
        """
        parallel_calls(num_parallel_calls)
        order(deterministic)
        return self._with(_core.batch(self._graph, integer(batch_size, "batch_size"),
                                      flag(drop_remainder, "drop_remainder")))

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of the elements along their first axis.

        >>> list(Dataset.range(3).batch(2).unbatch())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        return self._with(_core.unbatch(self._graph))

    def padded_batch(self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
                     drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """As ``batch``, after padding to one shape."""
        missing("Dataset.padded_batch")

    def ragged_batch(self, batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64,
                     name: str | None = None) -> Dataset:
        """As ``batch``, of rows of different lengths."""
        missing("Dataset.ragged_batch")

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset:
        """Batches of sparse tensors."""
        missing("Dataset.sparse_batch")

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """Batches of another size."""
        missing("Dataset.rebatch")

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False,
               name: str | None = None) -> Dataset:
        """Datasets of neighbouring elements."""
        missing("Dataset.window")

    def group_by_window(self, key_func: Any, reduce_func: Any, window_size: Any = None,
                        window_size_func: Any = None, name: str | None = None) -> Dataset:
        """Groups elements by key, and reduces each group."""
        missing("Dataset.group_by_window")

    def bucket_by_sequence_length(self, element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any,
                                  padded_shapes: Any = None, padding_values: Any = None,
                                  pad_to_bucket_boundary: bool = False, no_padding: bool = False,
                                  drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """Batches of elements of similar length."""
        missing("Dataset.bucket_by_sequence_length")

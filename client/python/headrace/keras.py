"""headrace for Keras 3: the extra ``headrace[keras]``.

>>> import headrace.keras, keras
>>> ds = hr.Dataset.range(8).map(lambda x: (hr.cast([x], hr.float32), hr.cast([2 * x], hr.float32))).batch(4)
>>> model = keras.Sequential([keras.layers.Dense(1)])
>>> model.compile(loss="mse")
>>> history = model.fit(hr.keras.DataAdapter(ds), epochs=2, verbose=0)
>>> len(history.history["loss"])
2
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

import keras
from keras.src.trainers.data_adapters.data_adapter import DataAdapter as _DataAdapter

from . import dtypes
from ._dataset import INFINITE_CARDINALITY, Dataset
from ._specs import TensorSpec, flatten, map_structure

#: Arguments of Keras that adapters do not have, with their replacements.
_OF_KERAS = {
    "y": "the targets are the second part of the elements",
    "sample_weight": "the weights are the third part of the elements: ds.map(lambda x, y: (x, y, weight_of(y)))",
    "class_weight": "the weights are the third part of the elements: "
                    "ds.map(lambda x, y: (x, y, headrace.gather(weights, y)))",
}


def _leaves(spec: Any) -> Iterator[Any]:
    """The leaves of a nest, of which each ragged tensor is one leaf, unlike in `flatten`."""
    if isinstance(spec, (tuple, dict)):
        for part in spec.values() if isinstance(spec, dict) else spec:
            yield from _leaves(part)
    else:
        yield spec


def _checked(dataset: Any) -> Dataset:
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset must be a headrace.Dataset, not {type(dataset).__name__}")
    spec = dataset.element_spec
    if isinstance(spec, tuple) and not 1 <= len(spec) <= 3:
        raise ValueError("Keras takes elements of inputs, or tuples of inputs, targets and weights; these are tuples of "
                         f"{len(spec)}")
    for leaf in _leaves(spec):
        if not isinstance(leaf, TensorSpec):
            raise TypeError(f"Keras takes tensors, and no {leaf}: use to_tensor, or padded_batch")
        if leaf.shape.rank == 0:
            raise ValueError(f"Keras takes batches, and one of these tensors is a scalar ({leaf}): use batch")
        if leaf.dtype == dtypes.string and keras.backend.backend() != "tensorflow":
            raise TypeError(f"Keras has no strings with {keras.backend.backend()}: headrace.lookup, "
                            "strings.to_hash_bucket_fast and others make numbers of them")
    return dataset


def _builds(frame: FrameType | None) -> bool:
    """True if Keras calls from ``_symbolic_build``: then it reads only one batch, from which it builds its model."""
    for _ in range(8):
        if frame is None:
            return False
        if frame.f_code.co_name == "_symbolic_build":
            return True
        frame = frame.f_back
    return False


class DataAdapter(_DataAdapter):
    """A dataset of batches for Keras' ``fit``, ``evaluate`` and ``predict``, with JAX, PyTorch or TensorFlow.

    dataset: its elements are batches of inputs (a tensor, or a dict or tuple in a tuple), or tuples ``(inputs, targets)``
    or ``(inputs, targets, weights)``. Each epoch is an iteration of its own, shuffled anew. If the number of batches
    is known, it is the number of steps of an epoch; otherwise the first epoch ends with the dataset. A dataset
    without end needs ``steps_per_epoch``. Keras builds a model from the first batch of the first epoch, which is also
    trained on.

    Arrays are read-only views of the elements' memory, as in every iteration; PyTorch's tensors are copies. Keras
    passes the arguments ``shuffle``, ``y``, ``sample_weight`` and ``class_weight`` to no adapter: shuffle the dataset
    itself; the other three raise ``ValueError``. Strings are accepted only if Keras runs on TensorFlow.

    Raises ``TypeError`` for a value that is not a dataset of tensors, ``ValueError`` for one without batches.

    >>> import headrace.keras
    >>> adapter = hr.keras.DataAdapter(hr.Dataset.range(10).batch(4))
    >>> adapter.num_batches, len(adapter)
    (3, 3)
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = _checked(dataset)
        self._begun: Iterator[Any] | None = None

    def _begin(self) -> Iterator[Any]:
        return self._dataset.as_numpy_iterator()

    def _pass(self, builds: bool) -> Iterator[Any]:
        """The batches of an epoch. If ``builds`` is true, only the first batch, which the next epoch returns again.

        Keras makes more of these iterators than it reads, so an iteration of the dataset begins only when the first
        batch is requested.
        """
        begun, self._begun = self._begun, None
        if begun is None:
            begun = self._begin()
        if builds:
            first = list(itertools.islice(begun, 1))
            self._begun = itertools.chain(first, begun)
            begun = iter(first)
        yield from begun

    def get_numpy_iterator(self) -> Iterator[Any]:
        """The batches of an epoch, as numpy's arrays.

        >>> import headrace.keras
        >>> [x.tolist() for x in hr.keras.DataAdapter(hr.Dataset.range(3).batch(2)).get_numpy_iterator()]
        [[0, 1], [2]]
        """
        return self._pass(_builds(sys._getframe(1)))

    def get_jax_iterator(self) -> Iterator[Any]:
        """The batches of an epoch, as numpy's arrays, which JAX accepts.

        >>> import headrace.keras
        >>> [x.tolist() for x in hr.keras.DataAdapter(hr.Dataset.range(3).batch(2)).get_jax_iterator()]
        [[0, 1], [2]]
        """
        return self._pass(_builds(sys._getframe(1)))

    def get_torch_dataloader(self) -> Any:
        """The batches of an epoch in a DataLoader of PyTorch."""
        import torch.utils.data

        from .torch import as_tensor

        batches = self._pass(_builds(sys._getframe(1)))

        class Batches(torch.utils.data.IterableDataset):
            def __iter__(self) -> Iterator[Any]:
                return (map_structure(as_tensor, batch) for batch in batches)

        return torch.utils.data.DataLoader(Batches(), batch_size=None)

    def get_tf_dataset(self) -> Any:
        """The batches as a dataset of TensorFlow. Each iteration over it begins an iteration over the headrace
        dataset.
        """
        import tensorflow as tf

        def spec(leaf: TensorSpec) -> Any:
            dims = leaf.shape.dims
            return tf.TensorSpec(None if dims is None else list(dims), leaf.dtype.name)

        made = tf.data.Dataset.from_generator(lambda: self._dataset.as_numpy_iterator(),
                                              output_signature=map_structure(spec, self._dataset.element_spec))
        length = self._dataset.cardinality()
        made = made.apply(tf.data.experimental.assert_cardinality(length)) if length >= INFINITE_CARDINALITY else made
        return made.prefetch(tf.data.AUTOTUNE)

    @property
    def num_batches(self) -> int | None:
        """The number of batches in an epoch; None if it is unknown, or if the dataset has no end.

        >>> import headrace.keras
        >>> hr.keras.DataAdapter(hr.Dataset.range(3).batch(2).repeat()).num_batches
        """
        caller = sys._getframe(1)
        if caller.f_globals.get("__name__", "").startswith("keras."):
            for name, instead in _OF_KERAS.items():
                if caller.f_locals.get(name) is not None:
                    raise ValueError(f"{name} goes with no headrace.keras.DataAdapter: {instead}")
        length = self._dataset.cardinality()
        return length if length >= 0 else None

    def __len__(self) -> int:
        return len(self._dataset)

    @property
    def batch_size(self) -> int | None:
        """The number of rows of a batch, if all batches are known to have the same number; else None.

        >>> import headrace.keras
        >>> hr.keras.DataAdapter(hr.Dataset.range(8).batch(4, drop_remainder=True)).batch_size
        4
        """
        sizes = {None if leaf.shape.dims is None else leaf.shape[0] for leaf in flatten(self._dataset.element_spec)}
        return sizes.pop() if len(sizes) == 1 else None

    @property
    def has_partial_batch(self) -> bool | None:
        """False if all batches are known to have the same number of rows; else None: the last one may be smaller.

        >>> import headrace.keras
        >>> hr.keras.DataAdapter(hr.Dataset.range(8).batch(4, drop_remainder=True)).has_partial_batch
        False
        """
        return None if self.batch_size is None else False

    @property
    def partial_batch_size(self) -> int | None:
        """Always None, because if the size of batches is known, the last batch has this size, too.

        >>> import headrace.keras
        >>> hr.keras.DataAdapter(hr.Dataset.range(8).batch(4)).partial_batch_size
        """
        return None


def _lacks(name: str) -> NoReturn:
    raise AttributeError(f"headrace.keras has no attribute '{name}': it only hands datasets to Keras, which is imported by "
                         "itself (import keras)")


__all__ = ["DataAdapter"]
__getattr__ = _lacks

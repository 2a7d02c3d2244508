"""Random numbers for traced functions. Named as in ``tf.random``.

Those named stateless depend on a seed alone: an integer vector of two, which may be computed for each element:
``headrace.stack([7, index])``. The same seed gives the same numbers on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core, _drawing, _seeds, dtypes
from ._epochs import mixed
from ._missing import names_of as _names_of
from ._tensor_shape import TensorShape
from ._values import constant, extents, integer, tensor

if not TYPE_CHECKING:
    __getattr__ = _names_of("random")

Tensor = _core.Tensor


def _dims(shape: Any) -> Any:
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ValueError(f"shape must be known when the function is traced, not {shape}")
        return shape.as_list()
    return extents(shape, "shape")


def set_seed(seed: int) -> None:
    """Sets the seed of the process: datasets that are made later draw the same in every run of the program.

    As in TensorFlow, ``shuffle``, ``Dataset.random``, ``list_files``, ``sample_from_datasets`` and other datasets
    without a ``seed`` each get a seed by their number since this call; the seed of those with one depends on both
    seeds. The same calls in the same order give the same elements, which are not those of TensorFlow.

    The seed also determines the numbers that functions of later datasets draw for each element
    (``headrace.random.uniform``, ``headrace.image.random_crop``): they differ between elements, passes and iterations.
    This includes the workers of a service (with other numbers than in this process) and datasets that are saved, but
    not workers that share the elements (``dynamic``), for which there is a ``RuntimeWarning``: ``stateless_uniform``
    and its like take seeds. The seed has no effect on datasets that were made before, other processes, or ``random`` of
    Python and numpy.

    Raises ``TypeError`` for a value that is not an integer.

    >>> def three():
    ...     hr.random.set_seed(7)
    ...     return list(Dataset.range(9).shuffle(9)), list(Dataset.range(9).shuffle(9))
    >>> three() == three()
    True
    """
    _seeds.set_seed(integer(seed, "seed"))


def stateless_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                      name: str | None = None, alg: str = "auto_select") -> Tensor:
    """Numbers in ``[minval, maxval)``: of floats in [0, 1) by default; of integers both bounds are needed.

    Here and below ``shape`` may be a tensor, or have tensors in it: each element has its own shape.

    Bit for bit those of TensorFlow's default algorithm on CPUs.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(1).map(lambda i: hr.random.stateless_uniform([], [1, 2]) < 1.0))
    [np.True_]
    >>> [x.shape for x in hr.Dataset.range(3).map(lambda i: hr.random.stateless_uniform([i, 2], [1, 2]))]
    [(0, 2), (1, 2), (2, 2)]
    """
    kind = dtypes.as_dtype(dtype)
    if maxval is None:
        if kind.is_integer:
            raise ValueError("maxval must be given for integers")
        maxval = 1
    return _core.stateless_uniform(_dims(shape), constant(seed), constant(minval, kind), constant(maxval, kind),
                                   kind.name)


def stateless_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                     name: str | None = None, alg: str = "auto_select") -> Tensor:
    """Normally distributed random numbers.

    >>> Dataset.from_tensors([1, 2]).map(lambda seed: hr.random.stateless_normal([2], seed)).get_single_element().shape
    (2,)
    """
    kind = dtypes.as_dtype(dtype)
    return _core.stateless_normal(_dims(shape), constant(seed), constant(mean, kind), constant(stddev, kind),
                                  kind.name)


def stateless_truncated_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0,
                               dtype: Any = dtypes.float32, name: str | None = None,
                               alg: str = "auto_select") -> Tensor:
    """Normally distributed random numbers, at most two standard deviations from the mean.

    >>> drawn = Dataset.from_tensors(hr.random.stateless_truncated_normal([99], [1, 2])).get_single_element()
    >>> bool((abs(drawn) < 2).all())
    True
    """
    kind = dtypes.as_dtype(dtype)
    return _core.stateless_truncated_normal(_dims(shape), constant(seed), constant(mean, kind),
                                            constant(stddev, kind), kind.name)


def stateless_categorical(logits: Any, num_samples: int, seed: Any, dtype: Any = dtypes.int64,
                          name: str | None = None) -> Tensor:
    """``num_samples`` draws for each row of unnormalised log-probabilities.

    [rows, num_samples] of ``dtype``.

    >>> Dataset.from_tensors(hr.random.stateless_categorical([[-1e9, 0.0]], 3, [1, 2])).get_single_element()
    array([[1, 1, 1]])
    """
    drawn = _core.stateless_categorical(tensor(logits, "logits"), integer(num_samples, "num_samples"), constant(seed))
    return _core.cast(drawn, dtypes.as_dtype(dtype).name)


def categorical(logits: Any, num_samples: int, dtype: Any = None, seed: Any = None,
                name: str | None = None) -> Tensor:
    """As ``stateless_categorical``, but drawn anew for each element and in each pass; in ``map``, ``filter``,
    ``take_while`` and ``scan`` only.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(1).map(lambda x: hr.random.categorical([[-1e9, 0.0]], 3)))
    [array([[1, 1, 1]])]
    """
    return stateless_categorical(logits, num_samples, _drawn_seed(seed), dtypes.int64 if dtype is None else dtype)


def fold_in(seed: Any, data: int) -> Tensor:
    """Another seed, for independent random numbers of the same element.

    >>> def two(seed):
    ...     other = hr.random.fold_in(seed, 1)
    ...     return hr.random.stateless_uniform([], seed) != hr.random.stateless_uniform([], other)
    >>> Dataset.from_tensors([1, 2]).map(two).get_single_element()
    np.True_
    """
    return _core.fold_in(constant(seed), integer(data, "data"))


def element_seed(salt: int) -> Tensor:
    """A seed for each element, for the functions above; it differs in each pass.

    Equal salts in one function give equal seeds. In functions of ``map``, ``filter``, ``take_while`` and ``scan`` only.

    An int64 vector of two.

    >>> drawn = Dataset.range(9).map(lambda x: hr.random.stateless_uniform([], hr.random.element_seed(1)))
    >>> len(set(map(float, drawn)))
    9
    """
    _drawing.note()
    return _core.element_seed(integer(salt, "salt"))


def _drawn_seed(seed: Any) -> Tensor:
    """A seed for each element, for one function that draws random numbers."""
    from ._tracing import next_salt

    _drawing.note()
    if seed is None:
        return _core.element_seed(next_salt())
    # Functions with a seed of their own do not depend on the number of others.
    given, of_process = integer(seed, "seed"), _seeds.of_process()
    return _core.element_seed(2**32 + given if of_process is None else mixed(3, of_process, given) >> 1, True)


def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None,
            name: str | None = None) -> Tensor:
    """As ``stateless_uniform``, but drawn anew for each element and in each pass; in ``map``, ``filter``,
    ``take_while`` and ``scan`` only.

    Two calls with the same ``seed`` in one function draw the same numbers. With a ``seed``, each iteration draws the
    same numbers, if no other call in the function draws without a seed.

    Raises ``ValueError`` for integers without ``maxval``.

    >>> all(0 <= x < 6 for x in Dataset.range(9).map(lambda x: hr.random.uniform([], 0, 6, hr.int32)))
    True
    """
    return stateless_uniform(shape, _drawn_seed(seed), minval, maxval, dtype)


def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None,
           name: str | None = None) -> Tensor:
    """As ``stateless_normal``, but drawn anew for each element and in each pass; in ``map``, ``filter``,
    ``take_while`` and ``scan`` only.

    >>> Dataset.range(1).map(lambda x: hr.random.normal([2, 3])).get_single_element().shape
    (2, 3)
    """
    return stateless_normal(shape, _drawn_seed(seed), mean, stddev, dtype)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None,
                     name: str | None = None) -> Tensor:
    """As ``stateless_truncated_normal``, but drawn anew for each element and in each pass.

    >>> all(-2 < x < 2 for x in Dataset.range(9).map(lambda x: hr.random.truncated_normal([])))
    True
    """
    return stateless_truncated_normal(shape, _drawn_seed(seed), mean, stddev, dtype)

"""Random numbers for traced functions. Named as in ``tf.random``.

The results of the functions named ``stateless_...`` depend on their arguments alone. ``seed`` is a vector of two
integers, which may be computed for each element: ``headrace.stack([7, index])``. The same seed gives the same numbers
on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core, dtypes
from ._epochs import mixed
from ._missing import names_of as _names_of
from ._random import drawing as _drawing, seeds as _seeds
from ._tensor_shape import TensorShape
from ._tensors.values import constant, extents, integer, tensor

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
    """Sets the seed of the process: datasets that are made later draw the same numbers in every run of the program.

    As in TensorFlow, ``shuffle``, ``Dataset.random``, ``list_files``, ``sample_from_datasets`` and other random
    datasets that are made without a ``seed`` get a seed that depends on the number of such datasets that were made
    since this call. For a dataset with a ``seed``, the numbers depend on that seed and on the seed of the process. The
    same calls in the same order give the same elements, but not the elements of TensorFlow.

    The seed also determines the numbers that functions of later datasets draw for each element
    (``headrace.random.uniform``, ``headrace.image.random_crop``): they differ between elements, passes and iterations.
    The seed has this effect also on the workers of a service (with other numbers than in this process) and in
    datasets that are saved, but not on workers that share the elements under ``dynamic``: for those a
    ``RuntimeWarning`` is issued, and the functions named ``stateless_...``, which take seeds, should be used. The seed
    has no effect on datasets that were made before, on other processes, or on the modules ``random`` of Python and
    numpy.

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
    """Random numbers in ``[minval, maxval)``: by default floats in [0, 1). For integers ``maxval`` must be given.

    In this function and the following ones, ``shape`` may be a tensor or contain tensors: then each element has its
    own shape. The numbers are bit for bit those of TensorFlow's default algorithm on CPUs.

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
    """``num_samples`` draws for each row of unnormalised log-probabilities: [rows, num_samples] of ``dtype``.

    >>> Dataset.from_tensors(hr.random.stateless_categorical([[-1e9, 0.0]], 3, [1, 2])).get_single_element()
    array([[1, 1, 1]])
    """
    drawn = _core.stateless_categorical(tensor(logits, "logits"), integer(num_samples, "num_samples"), constant(seed))
    return _core.cast(drawn, dtypes.as_dtype(dtype).name)


def categorical(logits: Any, num_samples: int, dtype: Any = None, seed: Any = None,
                name: str | None = None) -> Tensor:
    """Like ``stateless_categorical``, but the numbers are drawn anew for each element in each pass. Only functions of
    ``map``, ``filter``, ``take_while`` and ``scan`` may call this.

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
    """A seed for each element, for the functions named ``stateless_...``: a vector of two int64. It differs between the
    elements, and between passes.

    Equal salts in one function give equal seeds. May be called only in functions of ``map``, ``filter``,
    ``take_while`` and ``scan``.

    >>> drawn = Dataset.range(9).map(lambda x: hr.random.stateless_uniform([], hr.random.element_seed(1)))
    >>> len(set(map(float, drawn)))
    9
    """
    _drawing.note()
    return _core.element_seed(integer(salt, "salt"))


def _drawn_seed(seed: Any) -> Tensor:
    """A seed for each element, for one call of a function that draws random numbers."""
    from ._tracing.tracing import next_salt

    _drawing.note()
    if seed is None:
        return _core.element_seed(next_salt())
    # A call with a seed of its own takes no salt, so that its numbers do not depend on how many calls were before it.
    given, of_process = integer(seed, "seed"), _seeds.of_process()
    return _core.element_seed(2**32 + given if of_process is None else mixed(3, of_process, given) >> 1, True)


def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None,
            name: str | None = None) -> Tensor:
    """Like ``stateless_uniform``, but the numbers are drawn anew for each element in each pass. Only functions of
    ``map``, ``filter``, ``take_while`` and ``scan`` may call this.

    Two calls with the same ``seed`` in one function draw the same numbers. With a ``seed``, each iteration draws the
    same numbers, if no other call in the function draws without a seed.

    Raises ``ValueError`` for integers without ``maxval``.

    >>> all(0 <= x < 6 for x in Dataset.range(9).map(lambda x: hr.random.uniform([], 0, 6, hr.int32)))
    True
    """
    return stateless_uniform(shape, _drawn_seed(seed), minval, maxval, dtype)


def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None,
           name: str | None = None) -> Tensor:
    """Like ``stateless_normal``, but the numbers are drawn anew for each element in each pass. Only functions of
    ``map``, ``filter``, ``take_while`` and ``scan`` may call this.

    >>> Dataset.range(1).map(lambda x: hr.random.normal([2, 3])).get_single_element().shape
    (2, 3)
    """
    return stateless_normal(shape, _drawn_seed(seed), mean, stddev, dtype)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None,
                     name: str | None = None) -> Tensor:
    """Like ``stateless_truncated_normal``, but the numbers are drawn anew for each element in each pass.

    >>> all(-2 < x < 2 for x in Dataset.range(9).map(lambda x: hr.random.truncated_normal([])))
    True
    """
    return stateless_truncated_normal(shape, _drawn_seed(seed), mean, stddev, dtype)

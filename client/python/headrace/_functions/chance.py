"""Functions of images that draw random numbers: part of ``headrace.image``."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._tensors.values import constant, integers
from ..random import _drawn_seed
from .renaming import named

Tensor = _core.Tensor


# -- by a seed -----------------------------------------------------------------------------------------------------


def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """The image, mirrored or not, as drawn from ``seed``, a vector of two integers that may differ between elements.

    >>> flip = hr.image.stateless_random_flip_left_right
    >>> [int(x[0, 0, 0]) for x in Dataset.zip(images.repeat(4), Dataset.range(4)).map(lambda x, i: flip(x, [7, i]))]
    [0, 3, 3, 0]
    """
    return _core.stateless_random_flip_left_right(constant(image), constant(seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """The image, upside down or not, as drawn by the seed.

    >>> images.map(lambda x: hr.image.stateless_random_flip_up_down(x, [1, 2])).get_single_element().shape
    (2, 2, 3)
    """
    return _core.stateless_random_flip_up_down(constant(image), constant(seed))


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """A part with these extents, at a place that is drawn by the seed.

    >>> images.map(lambda x: hr.image.stateless_random_crop(x, [1, 2, 3], [1, 2])).get_single_element().shape
    (1, 2, 3)
    """
    with named("random_crop", "slice"):
        return _core.stateless_random_crop(constant(value), integers(size, "size"), constant(seed))


def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``adjust_brightness`` by a number between ``-max_delta`` and ``max_delta`` that is drawn from ``seed``.

    >>> out = images.map(lambda x: hr.image.stateless_random_brightness(x, 0.0, [1, 2])).get_single_element()
    >>> out[..., 0]
    array([[0, 3],
           [6, 9]], dtype=uint8)
    """
    return _core.stateless_random_brightness(constant(image), float(max_delta), constant(seed))


def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Tensor:
    """``adjust_contrast`` by a factor between ``lower`` and ``upper`` that is drawn from ``seed``.

    >>> images.map(lambda x: hr.image.stateless_random_contrast(x, 0.5, 1.5, [1, 2])).get_single_element().dtype
    dtype('uint8')
    """
    return _core.stateless_random_contrast(constant(image), float(lower), float(upper), constant(seed))


def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any | None = None) -> Tensor:
    """``adjust_saturation`` by a factor between ``lower`` and ``upper`` that is drawn from ``seed``.

    >>> images.map(lambda x: hr.image.stateless_random_saturation(x, 0.5, 1.5, [1, 2])).get_single_element().shape
    (2, 2, 3)
    """
    if seed is None:
        raise TypeError("seed must be given")
    return _core.stateless_random_saturation(constant(image), float(lower), float(upper), constant(seed))


def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``adjust_hue`` by a number up to ``max_delta``, positive or negative, that is drawn from ``seed``.
    ``max_delta`` is in [0, 0.5].

    >>> images.map(lambda x: hr.image.stateless_random_hue(x, 0.1, [1, 2])).get_single_element().shape
    (2, 2, 3)
    """
    return _core.stateless_random_hue(constant(image), float(max_delta), constant(seed))


# -- by chance, drawn for each element ---------------------------------------------------------------------------


def random_flip_left_right(image: Any, seed: Any = None) -> Tensor:
    """The image, mirrored or not, drawn anew for each element in each pass. Only functions of ``map``, ``filter``,
    ``take_while`` and ``scan`` may call this.

    Two calls with the same ``seed`` in one function draw the same numbers. In a batch, each image is mirrored or not
    by a draw of its own.

    >>> images.map(hr.image.random_flip_left_right).get_single_element().shape
    (2, 2, 3)
    """
    return stateless_random_flip_left_right(image, _drawn_seed(seed))


def random_flip_up_down(image: Any, seed: Any = None) -> Tensor:
    """The image, upside down or not, drawn as in ``random_flip_left_right``.

    >>> images.map(hr.image.random_flip_up_down).get_single_element().shape
    (2, 2, 3)
    """
    return stateless_random_flip_up_down(image, _drawn_seed(seed))


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """A part with these extents, at a place that is drawn for each element.

    >>> images.map(lambda x: hr.image.random_crop(x, [1, 2, 3])).get_single_element().shape
    (1, 2, 3)
    """
    return stateless_random_crop(value, size, _drawn_seed(seed))


def random_brightness(image: Any, max_delta: float, seed: Any = None) -> Tensor:
    """``adjust_brightness`` by a random number between ``-max_delta`` and ``max_delta``, drawn once for a batch.

    >>> images.map(lambda x: hr.image.random_brightness(x, 0.2)).get_single_element().dtype
    dtype('uint8')
    """
    return stateless_random_brightness(image, max_delta, _drawn_seed(seed))


def random_contrast(image: Any, lower: float, upper: float, seed: Any = None) -> Tensor:
    """``adjust_contrast`` by a factor between ``lower`` and ``upper`` that is drawn at random, once for a batch.

    >>> images.map(lambda x: hr.image.random_contrast(x, 0.8, 1.2)).get_single_element().dtype
    dtype('uint8')
    """
    return stateless_random_contrast(image, lower, upper, _drawn_seed(seed))


def random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Tensor:
    """``adjust_saturation`` by a factor between ``lower`` and ``upper`` that is drawn at random, once for a batch.

    >>> images.map(lambda x: hr.image.random_saturation(x, 0.8, 1.2)).get_single_element().dtype
    dtype('uint8')
    """
    return stateless_random_saturation(image, lower, upper, _drawn_seed(seed))


def random_hue(image: Any, max_delta: float, seed: Any = None) -> Tensor:
    """``adjust_hue`` by a random number up to ``max_delta``, positive or negative, drawn once for a batch.
    ``max_delta`` is in [0, 0.5].

    >>> images.map(lambda x: hr.image.random_hue(x, 0.1)).get_single_element().dtype
    dtype('uint8')
    """
    return stateless_random_hue(image, max_delta, _drawn_seed(seed))

"""Functions of the values of images: part of ``headrace.image``."""

from __future__ import annotations

from typing import Any

from . import _core, dtypes
from ._values import constant, integers

Tensor = _core.Tensor


# -- values ----------------------------------------------------------------------------------------------------


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """Between dtypes whose full ranges stand for the same: integers from 0 to their maximum, floats from 0 to 1.

    >>> images.map(lambda x: hr.image.convert_image_dtype(255 - x, hr.float32)).get_single_element()[0, 0, 0]
    np.float32(1.0)
    """
    return _core.convert_image_dtype(constant(image), dtypes.as_dtype(dtype).name, saturate)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """One channel.

    >>> images.map(hr.image.rgb_to_grayscale).get_single_element()[..., 0]
    array([[0, 3],
           [6, 9]], dtype=uint8)
    """
    return _core.rgb_to_grayscale(constant(images))


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The channel three times.

    >>> images.map(lambda x: hr.image.grayscale_to_rgb(x[..., :1])).get_single_element()[0, 1]
    array([3, 3, 3], dtype=uint8)
    """
    return _core.grayscale_to_rgb(constant(images))


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """float32 in [0, 1].

    Takes floats in [0, 1] with three channels.

    >>> Dataset.from_tensors([[[0.0, 0.0, 1.0]]]).map(hr.image.rgb_to_hsv).get_single_element()[0, 0].tolist()
    [0.6666666865348816, 1.0, 1.0]
    """
    return _core.rgb_to_hsv(constant(images))


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The way back.

    >>> Dataset.from_tensors([[[0.0, 1.0, 1.0]]]).map(hr.image.hsv_to_rgb).get_single_element()[0, 0].tolist()
    [1.0, 0.0, 0.0]
    """
    return _core.hsv_to_rgb(constant(images))


def per_image_standardization(image: Any) -> Tensor:
    """float32 with a mean of 0 and a deviation of 1.

    >>> out = images.map(hr.image.per_image_standardization).get_single_element()
    >>> round(float(out.std()), 3)
    1.0
    """
    return _core.per_image_standardization(constant(image))


def _amount(value: Any) -> Tensor:
    return constant(value, dtypes.float32)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """``delta`` is added, in the range [0, 1] of floats.

    >>> Dataset.from_tensors([[[0.25]]]).map(lambda x: hr.image.adjust_brightness(x, 0.5)).get_single_element().tolist()
    [[[0.75]]]
    """
    return _core.adjust_brightness(constant(image), _amount(delta))


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Each channel is scaled round its mean.

    >>> images.map(lambda x: hr.image.adjust_contrast(x, 2.0)).get_single_element()[..., 0]
    array([[ 0,  1],
           [ 7, 13]], dtype=uint8)
    """
    return _core.adjust_contrast(constant(images), _amount(contrast_factor))


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """The saturation is scaled.

    >>> images.map(lambda x: hr.image.adjust_saturation(x, 0.0)).get_single_element()[0, 0]
    array([2, 2, 2], dtype=uint8)
    """
    return _core.adjust_saturation(constant(image), _amount(saturation_factor))


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """``delta`` in turns: 1 is once round.

    >>> images.map(lambda x: hr.image.adjust_hue(x, 0.5)).get_single_element()[0, 0]
    array([2, 1, 0], dtype=uint8)
    """
    return _core.adjust_hue(constant(image), _amount(delta))


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """``gain * image ** gamma``.

    >>> Dataset.from_tensors([[[0.5]]]).map(lambda x: hr.image.adjust_gamma(x, 2)).get_single_element().tolist()
    [[[0.25]]]
    """
    return _core.adjust_gamma(constant(image), _amount(gamma), _amount(gain))


# -- by chance ---------------------------------------------------------------------------------------------------


def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """Mirrored or not, as the seed draws: an integer vector of two, which may differ from element to element.

    >>> flip = hr.image.stateless_random_flip_left_right
    >>> [int(x[0, 0, 0]) for x in Dataset.zip(images.repeat(4), Dataset.range(4)).map(lambda x, i: flip(x, [7, i]))]
    [0, 3, 3, 0]
    """
    return _core.stateless_random_flip_left_right(constant(image), constant(seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """Upside down or not, as the seed draws.

    >>> images.map(lambda x: hr.image.stateless_random_flip_up_down(x, [1, 2])).get_single_element().shape
    (2, 2, 3)
    """
    return _core.stateless_random_flip_up_down(constant(image), constant(seed))


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """A part of ``size`` (an extent an axis) at a place that the seed draws.

    >>> images.map(lambda x: hr.image.stateless_random_crop(x, [1, 2, 3], [1, 2])).get_single_element().shape
    (1, 2, 3)
    """
    return _core.stateless_random_crop(constant(value), integers(size, "size"), constant(seed))


def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``adjust_brightness`` by what the seed draws between ``-max_delta`` and ``max_delta``.

    >>> out = images.map(lambda x: hr.image.stateless_random_brightness(x, 0.0, [1, 2])).get_single_element()
    >>> out[..., 0]
    array([[0, 3],
           [6, 9]], dtype=uint8)
    """
    return _core.stateless_random_brightness(constant(image), float(max_delta), constant(seed))


def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Tensor:
    """``adjust_contrast`` by what the seed draws.

    >>> images.map(lambda x: hr.image.stateless_random_contrast(x, 0.5, 1.5, [1, 2])).get_single_element().dtype
    dtype('uint8')
    """
    return _core.stateless_random_contrast(constant(image), float(lower), float(upper), constant(seed))


def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any | None = None) -> Tensor:
    """``adjust_saturation`` by what the seed draws.

    >>> images.map(lambda x: hr.image.stateless_random_saturation(x, 0.5, 1.5, [1, 2])).get_single_element().shape
    (2, 2, 3)
    """
    if seed is None:
        raise TypeError("seed must be given")
    return _core.stateless_random_saturation(constant(image), float(lower), float(upper), constant(seed))


def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``adjust_hue`` by what the seed draws; ``max_delta`` in [0, 0.5].

    >>> images.map(lambda x: hr.image.stateless_random_hue(x, 0.1, [1, 2])).get_single_element().shape
    (2, 2, 3)
    """
    return _core.stateless_random_hue(constant(image), float(max_delta), constant(seed))

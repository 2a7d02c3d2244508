"""Functions of the values of images: part of ``headrace.image``."""

from __future__ import annotations

from typing import Any

from .. import _core, dtypes
from .._tensors.values import constant

Tensor = _core.Tensor


# -- values ----------------------------------------------------------------------------------------------------


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """The image as ``dtype``, with its values scaled from the range of the old dtype to that of ``dtype``. The range
    of integers is from 0 to their maximum, the range of floats from 0 to 1.

    >>> images.map(lambda x: hr.image.convert_image_dtype(255 - x, hr.float32)).get_single_element()[0, 0, 0]
    np.float32(1.0)
    """
    return _core.convert_image_dtype(constant(image), dtypes.as_dtype(dtype).name, saturate)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The brightness of RGB images, as one channel.

    >>> images.map(hr.image.rgb_to_grayscale).get_single_element()[..., 0]
    array([[0, 3],
           [6, 9]], dtype=uint8)
    """
    return _core.rgb_to_grayscale(constant(images))


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """RGB images, each of whose three channels is a copy of the only channel of ``images``.

    >>> images.map(lambda x: hr.image.grayscale_to_rgb(x[..., :1])).get_single_element()[0, 1]
    array([3, 3, 3], dtype=uint8)
    """
    return _core.grayscale_to_rgb(constant(images))


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Converts RGB to hue, saturation and value, as float32 in [0, 1].

    Takes floats in [0, 1] with three channels.

    >>> Dataset.from_tensors([[[0.0, 0.0, 1.0]]]).map(hr.image.rgb_to_hsv).get_single_element()[0, 0].tolist()
    [0.6666666865348816, 1.0, 1.0]
    """
    return _core.rgb_to_hsv(constant(images))


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Converts hue, saturation and value to RGB, as float32 in [0, 1].

    >>> Dataset.from_tensors([[[0.0, 1.0, 1.0]]]).map(hr.image.hsv_to_rgb).get_single_element()[0, 0].tolist()
    [1.0, 0.0, 0.0]
    """
    return _core.hsv_to_rgb(constant(images))


def per_image_standardization(image: Any) -> Tensor:
    """The image as float32, shifted and scaled to a mean of 0 and a deviation of 1.

    >>> out = images.map(hr.image.per_image_standardization).get_single_element()
    >>> round(float(out.std()), 3)
    1.0
    """
    return _core.per_image_standardization(constant(image))


def _amount(value: Any) -> Tensor:
    return constant(value, dtypes.float32)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """The image with ``delta`` added, on the scale of floats, [0, 1].

    >>> Dataset.from_tensors([[[0.25]]]).map(lambda x: hr.image.adjust_brightness(x, 0.5)).get_single_element().tolist()
    [[[0.75]]]
    """
    return _core.adjust_brightness(constant(image), _amount(delta))


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """The image with each channel scaled round its mean.

    >>> images.map(lambda x: hr.image.adjust_contrast(x, 2.0)).get_single_element()[..., 0]
    array([[ 0,  1],
           [ 7, 13]], dtype=uint8)
    """
    return _core.adjust_contrast(constant(images), _amount(contrast_factor))


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """The image with its saturation scaled.

    >>> images.map(lambda x: hr.image.adjust_saturation(x, 0.0)).get_single_element()[0, 0]
    array([2, 2, 2], dtype=uint8)
    """
    return _core.adjust_saturation(constant(image), _amount(saturation_factor))


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """The image with its hues rotated by ``delta`` turns: 1 is a full turn.

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

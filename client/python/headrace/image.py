"""Functions of images, for traced functions. Named as in ``tf.image``.

Images are tensors [height, width, channels], where not said otherwise also several as [images, height, width,
channels]. A file that is damaged or something else is an error of the element, with the reason.
"""

from __future__ import annotations

from typing import Any

from . import _core, dtypes
from ._values import constant, integer, integers, tensor
from .errors import UnimplementedError

Tensor = _core.Tensor


class ResizeMethod:
    """How ``resize`` fills pixels in."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"


def _method(method: Any) -> str:
    if method not in ("bilinear", "nearest", "bicubic", "area"):
        raise UnimplementedError(f"image.resize: this release has no method {method!r}, but bilinear, nearest, bicubic "
                                 "and area")
    return str(method)


def _size(size: Any, argument: str = "size") -> tuple[int, int]:
    extents = integers(size, argument)
    if len(extents) != 2:
        raise ValueError(f"{argument} must be (height, width), not {size!r}")
    return extents[0], extents[1]


# -- files -----------------------------------------------------------------------------------------------


def decode_jpeg(contents: Any, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
                try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = "",
                name: str | None = None) -> Tensor:
    """A JPEG as uint8 [height, width, channels], of 1 (grey), 3 (RGB) or 0 (as in the file) channels.

    ``ratio`` 2, 4 or 8 divides the extents while decoding, at a fraction of the cost. ``dct_method`` is always the
    exact one.
    """
    if try_recover_truncated or acceptable_fraction != 1 or not fancy_upscaling:
        raise UnimplementedError("image.decode_jpeg: this release decodes whole files, with fancy upscaling")
    return _core.decode_jpeg(tensor(contents, "contents"), integer(channels, "channels"), integer(ratio, "ratio"))


def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """A PNG as uint8 or uint16 [height, width, channels], of 1 to 4 channels, or 0 for as many as in the file."""
    return _core.decode_png(tensor(contents, "contents"), integer(channels, "channels"), dtypes.as_dtype(dtype).name)


def decode_image(contents: Any, channels: int | None = None, dtype: Any = dtypes.uint8, name: str | None = None,
                 expand_animations: bool = True) -> Tensor:
    """A JPEG or a PNG, as its first bytes say; of other dtypes as ``convert_image_dtype`` gives."""
    out = _core.decode_image(tensor(contents, "contents"), 0 if channels is None else integer(channels, "channels"))
    return out if dtypes.as_dtype(dtype) == dtypes.uint8 else convert_image_dtype(out, dtype)


def encode_jpeg(image: Any, format: str = "", quality: int = 95, name: str | None = None) -> Tensor:
    """A uint8 image with 1 or 3 channels as a JPEG; ``quality`` in [1, 100]."""
    return _core.encode_jpeg(constant(image), integer(quality, "quality"))


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """A uint8 or uint16 image with 1 to 4 channels as a PNG; ``compression`` in [0, 9], -1: zlib's default."""
    return _core.encode_png(constant(image), integer(compression, "compression"))


# -- extents -------------------------------------------------------------------------------------------------


def resize(images: Any, size: Any, method: Any = ResizeMethod.BILINEAR, preserve_aspect_ratio: bool = False,
           antialias: bool = False, name: str | None = None) -> Tensor:
    """To ``size`` = (height, width), as float32 (nearest keeps the dtype).

    >>> import headrace as hr
    >>> ds = hr.Dataset.from_tensors([[[0.0], [1.0]], [[2.0], [3.0]]]).map(lambda x: hr.image.resize(x, [1, 1]))
    >>> next(iter(ds)).tolist()
    [[[1.5]]]
    """
    height, width = _size(size)
    return _core.resize(constant(images), height, width, _method(method), preserve_aspect_ratio, antialias)


def resize_with_pad(image: Any, target_height: int, target_width: int, method: Any = ResizeMethod.BILINEAR,
                    antialias: bool = False) -> Tensor:
    """Within these extents and the same aspect ratio, then zeros round it."""
    return _core.resize_with_pad(constant(image), integer(target_height, "target_height"),
                                 integer(target_width, "target_width"), _method(method), antialias)


def resize_with_crop_or_pad(image: Any, target_height: int, target_width: int) -> Tensor:
    """Centred: what is too large is cut, what is too small gets zeros round it."""
    return _core.resize_with_crop_or_pad(constant(image), integer(target_height, "target_height"),
                                         integer(target_width, "target_width"))


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: int,
                         target_width: int) -> Tensor:
    """The part of these extents from (offset_height, offset_width) on, which may differ from element to element."""
    return _core.crop_to_bounding_box(constant(image), constant(offset_height), constant(offset_width),
                                      integer(target_height, "target_height"), integer(target_width, "target_width"))


def pad_to_bounding_box(image: Any, offset_height: int, offset_width: int, target_height: int,
                        target_width: int) -> Tensor:
    """Onto a canvas of zeros."""
    return _core.pad_to_bounding_box(constant(image), integer(offset_height, "offset_height"),
                                     integer(offset_width, "offset_width"), integer(target_height, "target_height"),
                                     integer(target_width, "target_width"))


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle part: a fraction in (0, 1] along both axes."""
    return _core.central_crop(constant(image), float(central_fraction))


def flip_left_right(image: Any) -> Tensor:
    """Mirrored."""
    return _core.flip_left_right(constant(image))


def flip_up_down(image: Any) -> Tensor:
    """Upside down."""
    return _core.flip_up_down(constant(image))


def transpose(image: Any, name: str | None = None) -> Tensor:
    """Height and width change places."""
    return _core.image_transpose(constant(image))


def rot90(image: Any, k: int = 1, name: str | None = None) -> Tensor:
    """By ``k`` quarters, counter-clockwise."""
    return _core.rot90(constant(image), integer(k, "k"))


# -- values ----------------------------------------------------------------------------------------------------


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """Between dtypes whose full ranges stand for the same: integers from 0 to their maximum, floats from 0 to 1."""
    return _core.convert_image_dtype(constant(image), dtypes.as_dtype(dtype).name, saturate)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """One channel."""
    return _core.rgb_to_grayscale(constant(images))


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The channel three times."""
    return _core.grayscale_to_rgb(constant(images))


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """float32 in [0, 1]."""
    return _core.rgb_to_hsv(constant(images))


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The way back."""
    return _core.hsv_to_rgb(constant(images))


def per_image_standardization(image: Any) -> Tensor:
    """float32 with a mean of 0 and a deviation of 1."""
    return _core.per_image_standardization(constant(image))


def _amount(value: Any) -> Tensor:
    return constant(value, dtypes.float32)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """``delta`` is added, in the range [0, 1] of floats."""
    return _core.adjust_brightness(constant(image), _amount(delta))


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Each channel is scaled round its mean."""
    return _core.adjust_contrast(constant(images), _amount(contrast_factor))


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """The saturation is scaled."""
    return _core.adjust_saturation(constant(image), _amount(saturation_factor))


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """``delta`` in turns: 1 is once round."""
    return _core.adjust_hue(constant(image), _amount(delta))


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """``gain * image ** gamma``."""
    return _core.adjust_gamma(constant(image), _amount(gamma), _amount(gain))


# -- by chance ---------------------------------------------------------------------------------------------------


def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """Mirrored or not, as the seed draws: an integer vector of two, which may differ from element to element."""
    return _core.stateless_random_flip_left_right(constant(image), constant(seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """Upside down or not, as the seed draws."""
    return _core.stateless_random_flip_up_down(constant(image), constant(seed))


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """A part of ``size`` (an extent an axis) at a place that the seed draws."""
    return _core.stateless_random_crop(constant(value), integers(size, "size"), constant(seed))


def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``adjust_brightness`` by what the seed draws between ``-max_delta`` and ``max_delta``."""
    return _core.stateless_random_brightness(constant(image), float(max_delta), constant(seed))


def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Tensor:
    """``adjust_contrast`` by what the seed draws."""
    return _core.stateless_random_contrast(constant(image), float(lower), float(upper), constant(seed))


def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any | None = None) -> Tensor:
    """``adjust_saturation`` by what the seed draws."""
    if seed is None:
        raise TypeError("seed must be given")
    return _core.stateless_random_saturation(constant(image), float(lower), float(upper), constant(seed))


def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Tensor:
    """``adjust_hue`` by what the seed draws; ``max_delta`` in [0, 0.5]."""
    return _core.stateless_random_hue(constant(image), float(max_delta), constant(seed))

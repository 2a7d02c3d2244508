"""Functions of images, for traced functions. Named as in ``tf.image``.

An image is a tensor [height, width, channels]; unless noted otherwise, functions also take several images as a tensor
[images, height, width, channels]. Results have the same form, and the same dtype unless noted otherwise. A shape or
dtype that is known not to fit raises ``InvalidArgumentError`` when the function is traced; otherwise it is an error of
the element, as is a file that is damaged or of another format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core, dtypes
from ._functions.chance import (
    random_brightness, random_contrast, random_crop, random_flip_left_right, random_flip_up_down, random_hue,
    random_saturation, stateless_random_brightness, stateless_random_contrast, stateless_random_crop,
    stateless_random_flip_left_right, stateless_random_flip_up_down, stateless_random_hue, stateless_random_saturation,
)
from ._functions.colours import (
    adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_saturation, convert_image_dtype,
    grayscale_to_rgb, hsv_to_rgb, per_image_standardization, rgb_to_grayscale, rgb_to_hsv,
)
from ._functions.renaming import named
from ._functions.shaping import shape, slice_
from ._missing import names_of as _names_of
from ._tensors.values import constant, depends, holds_tensors, integer, integers, tensor
from .errors import ArgumentError, UnimplementedError
from .strings import substr

if not TYPE_CHECKING:
    __getattr__ = _names_of("image")

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
    "central_crop", "convert_image_dtype", "crop_to_bounding_box", "decode_and_crop_jpeg", "decode_image", "decode_jpeg",
    "decode_png", "encode_jpeg", "encode_png", "extract_jpeg_shape", "flip_left_right", "flip_up_down", "grayscale_to_rgb",
    "hsv_to_rgb", "is_jpeg", "pad_to_bounding_box", "per_image_standardization", "random_brightness", "random_contrast", "random_crop",
    "random_flip_left_right", "random_flip_up_down", "random_hue", "random_saturation", "resize",
    "resize_with_crop_or_pad", "resize_with_pad", "rgb_to_grayscale", "rgb_to_hsv", "rot90",
    "stateless_random_brightness", "stateless_random_contrast", "stateless_random_crop",
    "stateless_random_flip_left_right", "stateless_random_flip_up_down", "stateless_random_hue",
    "stateless_random_saturation", "transpose",
]

Tensor = _core.Tensor


class ResizeMethod:
    """The algorithm by which ``resize`` computes pixels."""

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
                name: str | None = None, at_least: Any = None) -> Tensor:
    """Decodes a JPEG to uint8 [height, width, channels]. ``channels``: 1 (grey), 3 (RGB) or 0 (as in the file). A PNG
    is decoded, too, if neither ``ratio`` nor ``at_least`` is given.

    ``ratio`` 2, 4 or 8 divides the extents while decoding, at a fraction of the cost. ``at_least=(height, width)``
    chooses, for each image, the largest ratio with which the image still has at least these extents. It is meant for
    images that are made smaller afterwards, if the result may differ slightly from the result for the whole image.
    ``dct_method``: ``"INTEGER_FAST"`` (the default), or ``"INTEGER_ACCURATE"``, which is more exact. If a function
    uses only one slice of the image (a crop) and the extents of the image, only the slice is decoded, to the same
    pixels.

    >>> images.map(hr.image.encode_jpeg).map(hr.image.decode_jpeg).get_single_element().shape
    (2, 2, 3)
    """
    if try_recover_truncated or acceptable_fraction != 1 or not fancy_upscaling:
        raise UnimplementedError("image.decode_jpeg: this release decodes whole files, with fancy upscaling")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise ArgumentError(f"image.decode_jpeg: dct_method is {dct_method!r}; there are INTEGER_FAST (the default) and "
                            "INTEGER_ACCURATE")
    fast = dct_method != "INTEGER_ACCURATE"
    count, divided = integer(channels, "channels"), integer(ratio, "ratio")
    if at_least is None and divided == 1 and count in (0, 1, 3):
        return _core.decode_image("image.decode_jpeg", tensor(contents, "contents"), count, fast, "uint8")
    if at_least is None:
        return _core.decode_jpeg(tensor(contents, "contents"), count, divided, fast)
    if ratio != 1:
        raise ValueError(f"image.decode_jpeg: ratio is {ratio} and at_least is {at_least}; give one of them")
    height, width = _size(at_least, "at_least")
    return _core.decode_jpeg_at_least(tensor(contents, "contents"), height, width, count, fast)


def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
                         try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = "",
                         name: str | None = None) -> Tensor:
    """A part of a JPEG: ``crop_window`` is [top, left, height, width] in pixels of the image that ``decode_jpeg``
    returns.

    >>> images.map(hr.image.encode_jpeg).map(
    ...     lambda x: hr.image.decode_and_crop_jpeg(x, [1, 0, 1, 2])).get_single_element().shape
    (1, 2, 3)
    """
    with named("image.decode_and_crop_jpeg", "image.decode_jpeg"):
        whole = decode_jpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    window = _core.cast(constant(crop_window), "int64")
    if window.shape.as_list() != [4]:
        raise ValueError(f"image.decode_and_crop_jpeg: crop_window is of shape {window.shape}; [top, left, height, width] is "
                         "needed")
    top, left, height, width = (window[i] for i in range(4))
    if not isinstance(crop_window, Tensor) and not holds_tensors(crop_window):
        return crop_to_bounding_box(whole, *(int(x) for x in crop_window))
    return slice_(whole, [top, left, 0], [height, width, -1])


def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The vector [height, width, channels] of a JPEG. Only the header is read.

    >>> images.map(hr.image.encode_jpeg).map(hr.image.extract_jpeg_shape).get_single_element()
    array([2, 2, 3], dtype=int32)
    """
    with named("image.extract_jpeg_shape", "image.decode_jpeg"):
        return shape(_core.decode_jpeg(tensor(contents, "contents"), 0, 1, True), output_type)


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """True if the bytes begin as those of a JPEG.

    >>> images.map(hr.image.encode_png).map(hr.image.is_jpeg).get_single_element().item()
    False
    """
    return substr(contents, 0, 3) == b"\xff\xd8\xff"


def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """Decodes a PNG to uint8 or uint16 [height, width, channels]. ``channels``: from 1 to 4, or 0 for the number in
    the file. A JPEG is decoded, too.

    >>> images.map(hr.image.encode_png).map(hr.image.decode_png).get_single_element()[..., 0]
    array([[0, 3],
           [6, 9]], dtype=uint8)
    """
    wanted = dtypes.as_dtype(dtype)
    if wanted not in (dtypes.uint8, dtypes.uint16):
        raise ArgumentError(f"image.decode_png: dtype is {wanted.name}; there are uint8 and uint16")
    return _core.decode_image("image.decode_png", tensor(contents, "contents"), integer(channels, "channels"), True,
                              wanted.name)


def decode_image(contents: Any, channels: int | None = None, dtype: Any = dtypes.uint8, name: str | None = None,
                 expand_animations: bool = True) -> Tensor:
    """Decodes a JPEG or a PNG, which are distinguished by their first bytes. If ``dtype`` is not uint8, a PNG is read
    with 16 bits. If it is none of uint8, uint16 and float32, uint16 values are converted as by
    ``convert_image_dtype``.

    ``expand_animations`` is accepted without effect, because animated formats cannot be decoded.

    >>> images.map(hr.image.encode_png).map(hr.image.decode_image).get_single_element().shape
    (2, 2, 3)
    """
    wanted = dtypes.as_dtype(dtype)
    read = wanted if wanted in (dtypes.uint8, dtypes.uint16, dtypes.float32) else dtypes.uint16
    count = 0 if channels is None else integer(channels, "channels")
    out = _core.decode_image("image.decode_image", tensor(contents, "contents"), count, True, read.name)
    return out if wanted == read else convert_image_dtype(out, wanted)


def encode_jpeg(image: Any, format: str = "", quality: int = 95, name: str | None = None) -> Tensor:
    """A uint8 image with 1 or 3 channels as a JPEG; ``quality`` in [1, 100].

    The result is a string scalar.

    >>> images.map(lambda x: hr.image.encode_jpeg(x, quality=90)).get_single_element()[:3]
    b'\\xff\\xd8\\xff'
    """
    if format not in ("", "rgb", "grayscale"):
        raise ValueError(f"format must be \"\", \"rgb\" or \"grayscale\", not {format!r}")
    x = constant(image)
    channels = None if x.ndim is None else x.shape[-1]
    if format and channels is not None and channels != (3 if format == "rgb" else 1):
        raise ValueError(f"format is {format!r}; the image has {channels} channels")
    return _core.encode_jpeg(x, integer(quality, "quality"))


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """A uint8 or uint16 image with 1 to 4 channels as a PNG; ``compression`` in [0, 9], -1: zlib's default.

    The result is a string scalar.

    >>> images.map(hr.image.encode_png).get_single_element()[:4]
    b'\\x89PNG'
    """
    return _core.encode_png(constant(image), integer(compression, "compression"))


# -- extents -------------------------------------------------------------------------------------------------


def resize(images: Any, size: Any, method: Any = ResizeMethod.BILINEAR, preserve_aspect_ratio: bool = False,
           antialias: bool = False, name: str | None = None) -> Tensor:
    """The image with ``size`` = (height, width), as float32 (nearest keeps the dtype).

    >>> import headrace as hr
    >>> ds = hr.Dataset.from_tensors([[[0.0], [1.0]], [[2.0], [3.0]]]).map(lambda x: hr.image.resize(x, [1, 1]))
    >>> next(iter(ds)).tolist()
    [[[1.5]]]
    """
    height, width = _size(size)
    return _core.resize(constant(images), height, width, _method(method), preserve_aspect_ratio, antialias)


def resize_with_pad(image: Any, target_height: int, target_width: int, method: Any = ResizeMethod.BILINEAR,
                    antialias: bool = False) -> Tensor:
    """The image resized to fit into these extents, with the same aspect ratio and zeros around it.

    The result is float32; the method nearest keeps the dtype.

    >>> images.map(lambda x: hr.image.resize_with_pad(x, 2, 4)).get_single_element()[..., 0]
    array([[0., 0., 3., 0.],
           [0., 6., 9., 0.]], dtype=float32)
    """
    return _core.resize_with_pad(constant(image), integer(target_height, "target_height"),
                                 integer(target_width, "target_width"), _method(method), antialias)


def resize_with_crop_or_pad(image: Any, target_height: int, target_width: int) -> Tensor:
    """Crops or pads the image at its centre: an axis that is too long is cut, one that is too short is padded with
    zeros.

    >>> images.map(lambda x: hr.image.resize_with_crop_or_pad(x, 1, 4)).get_single_element()[..., 0]
    array([[0, 0, 3, 0]], dtype=uint8)
    """
    return _core.resize_with_crop_or_pad(constant(image), integer(target_height, "target_height"),
                                         integer(target_width, "target_width"))


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: int,
                         target_width: int) -> Tensor:
    """The part of the image with the target extents that begins at (offset_height, offset_width). The offsets may
    differ from element to element.

    A part that is not entirely inside the image is an error of the element; if the extents of the image and the
    offsets are known when the function is traced, it raises ``ArgumentError`` instead.

    >>> images.map(lambda x: hr.image.crop_to_bounding_box(x, 1, 0, 1, 2)).get_single_element()[..., 0]
    array([[6, 9]], dtype=uint8)
    """
    x, height, width = constant(image), integer(target_height, "target_height"), integer(target_width, "target_width")
    offsets = constant(offset_height), constant(offset_width)
    for axis, offset, size, name in ((-3, offsets[0], height, "height"), (-2, offsets[1], width, "width")):
        extent = (x.shape.dims or (None,) * 3)[axis] if (x.shape.rank or 3) >= 3 else None
        if extent is None or depends(offset):
            continue
        at = integer(offset, f"offset_{name}")
        if at < 0 or not 0 < size <= extent - at:
            raise ArgumentError(f"image.crop_to_bounding_box: {size} from offset_{name} {at} on are not in an image of {name} "
                                f"{extent}")
    with named("crop_to_bounding_box", "slice"):
        return _core.crop_to_bounding_box(x, *offsets, height, width)


def pad_to_bounding_box(image: Any, offset_height: int, offset_width: int, target_height: int,
                        target_width: int) -> Tensor:
    """The image at (offset_height, offset_width) on a canvas of zeros with the target extents.

    >>> images.map(lambda x: hr.image.pad_to_bounding_box(x, 0, 1, 2, 3)).get_single_element()[..., 0]
    array([[0, 0, 3],
           [0, 6, 9]], dtype=uint8)
    """
    return _core.pad_to_bounding_box(constant(image), integer(offset_height, "offset_height"),
                                     integer(offset_width, "offset_width"), integer(target_height, "target_height"),
                                     integer(target_width, "target_width"))


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle part of the image: a fraction in (0, 1] of both axes.

    Raises ``InvalidArgumentError`` for other fractions.

    >>> images.map(lambda x: hr.image.central_crop(hr.tile(x, [2, 2, 1]), 0.5)).get_single_element().shape
    (2, 2, 3)
    """
    return _core.central_crop(constant(image), float(central_fraction))


def flip_left_right(image: Any) -> Tensor:
    """The image, mirrored.

    >>> images.map(hr.image.flip_left_right).get_single_element()[..., 0]
    array([[3, 0],
           [9, 6]], dtype=uint8)
    """
    return _core.flip_left_right(constant(image))


def flip_up_down(image: Any) -> Tensor:
    """The image, upside down.

    >>> images.map(hr.image.flip_up_down).get_single_element()[..., 0]
    array([[6, 9],
           [0, 3]], dtype=uint8)
    """
    return _core.flip_up_down(constant(image))


def transpose(image: Any, name: str | None = None) -> Tensor:
    """The image with its height and width swapped.

    >>> images.map(hr.image.transpose).get_single_element()[..., 0]
    array([[0, 6],
           [3, 9]], dtype=uint8)
    """
    return _core.image_transpose(constant(image))


def rot90(image: Any, k: int = 1, name: str | None = None) -> Tensor:
    """The image, rotated by ``k`` quarter turns, counter-clockwise.

    >>> images.map(hr.image.rot90).get_single_element()[..., 0]
    array([[3, 9],
           [0, 6]], dtype=uint8)
    """
    return _core.rot90(constant(image), integer(k, "k"))

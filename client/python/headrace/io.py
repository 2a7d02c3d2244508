"""Functions that take serialised data apart, for traced functions. Named as in ``tf.io``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from . import _core, dtypes
from ._specs import TensorShape
from ._values import constant, tensor

Tensor = _core.Tensor


class FixedLenFeature(NamedTuple):
    """A feature with a tensor of a known shape in each example; ``default_value`` stands where it is missing."""

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values: a vector, where TensorFlow gives a sparse tensor."""

    dtype: Any


def _feature(name: str, how: Any) -> _core.FeatureSpec:
    if isinstance(how, FixedLenFeature):
        dims = TensorShape(how.shape).as_list()
        kind = dtypes.as_dtype(how.dtype).name
        if how.default_value is None:
            return _core.fixed_len_feature(name, dims, kind)
        return _core.fixed_len_feature_with_default(name, dims, kind, constant(how.default_value, how.dtype))
    if isinstance(how, VarLenFeature):
        return _core.var_len_feature(name, dtypes.as_dtype(how.dtype).name)
    raise TypeError(f"features['{name}'] must be FixedLenFeature or VarLenFeature, not {type(how).__name__}")


def parse_single_example(serialized: Any, features: Mapping[str, Any], example_names: Any = None,
                         name: str | None = None) -> dict[str, Tensor]:
    """One serialised ``tf.train.Example`` as a dict of tensors.

    A feature that is missing without a default, or has another number of values, is an error of the element.

    >>> import headrace as hr
    >>> features = {"label": hr.io.FixedLenFeature([], hr.int64, -1)}
    >>> ds = hr.Dataset.from_tensors(b"").map(lambda s: hr.io.parse_single_example(s, features))
    >>> next(iter(ds))
    {'label': np.int64(-1)}
    """
    if not isinstance(features, Mapping) or not features:
        raise ValueError("features must be a dict with one FixedLenFeature or VarLenFeature at least")
    parts = [_feature(key, how) for key, how in features.items()]
    out: Any = _core.parse_example(tensor(serialized, "serialized"), parts)
    return dict(out)


def decode_raw(input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None,
               name: str | None = None) -> Tensor:
    """The bytes of each string as values of ``out_type``: a new last axis."""
    from .errors import UnimplementedError

    if fixed_length is not None:
        raise UnimplementedError("io.decode_raw: this release has no fixed_length")
    return _core.decode_raw(tensor(input_bytes, "input_bytes"), dtypes.as_dtype(out_type).name, little_endian)


def decode_jpeg(contents: Any, channels: int = 0, ratio: int = 1, **more: Any) -> Tensor:
    """See ``headrace.image.decode_jpeg``."""
    from . import image

    return image.decode_jpeg(contents, channels, ratio, **more)


def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """See ``headrace.image.decode_png``."""
    from . import image

    return image.decode_png(contents, channels, dtype)

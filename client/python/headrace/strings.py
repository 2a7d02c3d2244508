"""Functions of strings, for traced functions. Named as in ``tf.strings``. Strings are bytes of any encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core, dtypes
from ._missing import names_of as _names_of
from ._functions.splitting import separator_of
from ._functions.splitting import split as split_
from ._tensors.text import refuse_text
from ._tensors.values import integer, integers, tensor
from .errors import ArgumentError, UnimplementedError

if not TYPE_CHECKING:
    __getattr__ = _names_of("strings")

Tensor = _core.Tensor


def _text(value: Any, argument: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")
    refuse_text(value)
    return value


def _utf8(unit: str) -> bool:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"unit must be 'BYTE' or 'UTF8_CHAR', not {unit!r}")
    return unit == "UTF8_CHAR"


def _is_utf8(encoding: str, function: str) -> bool:
    if _text(encoding, "encoding") not in ("", "utf-8"):
        raise ArgumentError(f"strings.{function}: encoding {encoding!r} is not known; there is '' (bytes) and 'utf-8'")
    return encoding == "utf-8"


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes (or of code points, with ``unit="UTF8_CHAR"``) of each string, as int32.

    >>> Dataset.from_tensors("é").map(lambda x: (length(x), length(x, "UTF8_CHAR"))).get_single_element()
    (np.int32(2), np.int32(1))
    """
    return _core.string_length(tensor(input, "input"), _utf8(unit))


def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Converts ASCII letters to upper case; with ``encoding="utf-8"`` all letters, by Unicode's full case mapping.

    >>> Dataset.from_tensors("ab").map(upper).get_single_element()
    b'AB'
    """
    return _core.string_upper(tensor(input, "input"), _is_utf8(encoding, "upper"))


def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Converts ASCII letters to lower case; with ``encoding="utf-8"`` all letters, by Unicode's full case mapping.

    >>> Dataset.from_tensors("AB").map(lower).get_single_element()
    b'ab'
    """
    return _core.string_lower(tensor(input, "input"), _is_utf8(encoding, "lower"))


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The part of each string that has ``len`` units and begins at ``pos``; a negative ``pos`` counts from the end.

    A position beyond either end is an error of the element.

    >>> Dataset.from_tensors("abcd").map(lambda x: substr(x, 1, 2)).get_single_element()
    b'bc'
    """
    return _core.substr(tensor(input, "input"), tensor(pos, "pos"), tensor(len, "len"), _utf8(unit))


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Tensor:
    """True if the RE2 ``pattern`` matches the whole string.

    >>> Dataset.from_tensors(["a1", "b"]).map(lambda x: regex_full_match(x, "[a-z][0-9]")).get_single_element()
    array([ True, False])
    """
    return _core.regex_full_match(tensor(input, "input"), _text(pattern, "pattern"))


def regex_replace(input: Any, pattern: str, rewrite: str, replace_global: bool = True,
                  name: str | None = None) -> Tensor:
    """Replaces matches of the RE2 ``pattern`` by ``rewrite``, in which ``\\1`` stands for the match of a group.

    >>> Dataset.from_tensors("a1b2").map(lambda x: regex_replace(x, "[0-9]", "-")).get_single_element()
    b'a-b-'
    """
    return _core.regex_replace(tensor(input, "input"), _text(pattern, "pattern"), _text(rewrite, "rewrite"),
                               replace_global)


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """An int64 in ``[0, num_buckets)`` that depends on the string alone, the same as TensorFlow's.

    >>> Dataset.from_tensors(["a", "b"]).map(lambda x: to_hash_bucket_fast(x, 10)).get_single_element()
    array([9, 2])
    """
    return _core.to_hash_bucket_fast(tensor(input, "input"), integer(num_buckets, "num_buckets"))


def ngrams(data: Any, ngram_width: Any, separator: str = " ", pad_values: Any = None, padding_width: int | None = None,
           preserve_short_sequences: bool = False, name: str | None = None) -> Tensor:
    """The sequences of ``ngram_width`` (one number or several) strings along the last axis, joined by ``separator``.

    >>> Dataset.from_tensors(["a", "b", "c"]).map(lambda x: ngrams(x, 2)).get_single_element()
    array([b'a b', b'b c'], dtype=object)
    """
    pads = (pad_values, pad_values) if isinstance(pad_values, str) else pad_values
    return _core.ngrams(tensor(data, "data"), integers(ngram_width, "ngram_width"), _text(separator, "separator"),
                        None if pads is None else tuple(pads),
                        -1 if padding_width is None else integer(padding_width, "padding_width"),
                        preserve_short_sequences)


def strip(input: Any, name: str | None = None) -> Tensor:
    """The string without white space at its ends.

    >>> Dataset.from_tensors(" a ").map(strip).get_single_element()
    b'a'
    """
    return _core.string_strip(tensor(input, "input"))


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts of strings between separators; without a separator, the parts between white space.

    The parts of a scalar are a vector, the parts of several strings a ``RaggedTensor`` with one axis more than
    ``input``. An ``input`` of unknown rank must be a vector. ``sep``: a string, or a tensor of one string that is the
    same for all elements. ``maxsplit``: the number of separators, from the left, at which a string is split (-1:
    all); the rest of the string is one part. Raises ``UnimplementedError`` for a ``maxsplit`` of more than 1,000.

    >>> Dataset.from_tensors("a,b").map(lambda x: split(x, ",")).get_single_element()
    array([b'a', b'b'], dtype=object)
    >>> Dataset.from_tensors(["a b", "c"]).map(split).get_single_element()
    RaggedTensor([[b'a', b'b'], [b'c']])
    >>> Dataset.from_tensors("a b c").map(lambda x: split(x, maxsplit=1)).get_single_element()
    array([b'a', b'b c'], dtype=object)
    """
    return split_(input, separator_of(sep), integer(maxsplit, "maxsplit"))


def split_padded(input: Any, count: int, sep: str | None = None, padding: str = "") -> Tensor:
    """The first ``count`` parts of each string, split as by ``split``, in a new last axis. ``padding`` stands for
    missing parts.

    The result is a tensor, whereas ``split`` of several strings gives a ragged tensor.

    >>> import headrace as hr
    >>> list(hr.Dataset.from_tensors(["a b c", "d"]).map(lambda x: hr.strings.split_padded(x, 2)))
    [array([[b'a', b'b'],
           [b'd', b'']], dtype=object)]
    """
    return _core.split_padded(tensor(input, "input"), integer(count, "count"), separator_of(sep),
                              _text(padding, "padding"))


def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Joins the strings of all ``inputs``, element by element, with ``separator`` between them.

    >>> Dataset.from_tensors(("a", "b")).map(lambda x, y: join([x, y], "-")).get_single_element()
    b'a-b'
    """
    return _core.string_join([tensor(x, "inputs") for x in inputs], _text(separator, "separator"))


def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "",
                name: str | None = None) -> Tensor:
    """Joins the strings along the last axis, with ``separator`` between them.

    >>> Dataset.from_tensors(["a", "b"]).map(lambda x: reduce_join(x, separator="-")).get_single_element()
    b'a-b'
    """
    from .errors import UnimplementedError

    x = tensor(inputs, "inputs")
    if keepdims or (axis not in (None, -1) and axis != (x.ndim or 0) - 1) or (axis is None and x.ndim != 1):
        raise UnimplementedError("strings.reduce_join: this release joins along the last axis only")
    return _core.string_reduce_join(x, _text(separator, "separator"))


def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The number that each string represents. A string with other text is an error of the element.

    >>> Dataset.from_tensors("2.5").map(to_number).get_single_element()
    np.float32(2.5)
    """
    return _core.string_to_number(tensor(input, "input"), dtypes.as_dtype(out_type).name)


def as_string(input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
              fill: str = "", name: str | None = None) -> Tensor:
    """Integers in decimal, floats with six digits after the point, bools as ``true`` and ``false``.

    Raises ``UnimplementedError`` for any other ``precision``, ``scientific``, ``shortest``, ``width`` and ``fill``.

    >>> Dataset.from_tensors([1, 2]).map(as_string).get_single_element()
    array([b'1', b'2'], dtype=object)
    """
    for argument, value, other in (("precision", precision, -1), ("scientific", scientific, False),
                                   ("shortest", shortest, False), ("width", width, -1), ("fill", fill, "")):
        if value != other:
            raise UnimplementedError(f"strings.as_string: this release has no {argument}: a py_function with Python's "
                                     "format writes numbers in any way")
    return _core.as_string(tensor(input, "input"))

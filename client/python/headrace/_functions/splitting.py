"""The implementation of ``strings.split``: for tensors of any number of axes, and with a bound of the number of
parts.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .._tensors import values as _values
from .._tensors.text import refuse_text
from ..errors import UnimplementedError
from .ragged import RaggedTensor

Tensor = _core.Tensor

#: The characters at which the engine splits without a separator: C's white space.
_WHITE = " \t\n\v\f\r"
#: The most repetitions of a group that RE2 accepts in a regular expression.
_MOST_SPLITS = 1000


def separator_of(sep: Any) -> str:
    """``sep`` as a str; empty for None, which means white space. A tensor must have the same value for all
    elements.
    """
    if sep is None:
        return ""
    if isinstance(sep, Tensor):
        sep = _values.known(sep, "sep", "a string")
        if not isinstance(sep, bytes):
            raise TypeError(f"sep must be one string: {sep!r}")
    if isinstance(sep, bytes):
        try:
            return sep.decode()
        except UnicodeDecodeError:
            raise ValueError(f"sep must be UTF-8: {sep!r}") from None
    if not isinstance(sep, str):
        raise TypeError(f"sep must be a str, not {type(sep).__name__}")
    refuse_text(sep)
    return sep


def split(value: Any, separator: str, most: int) -> Tensor | RaggedTensor:
    """The parts of a scalar string as a vector. For a tensor with axes, a ragged tensor with one axis more.

    ``most``: the number of separators at which a string is split, from the left; negative: all.
    """
    if isinstance(value, RaggedTensor):
        inner = split(_values.constant(value.flat_values), separator, most)
        assert isinstance(inner, RaggedTensor)
        return RaggedTensor((inner.flat_values, *value.nested_row_lengths(), *inner.nested_row_lengths()))
    given = _values.tensor(value, "input")
    if given.ndim is None:
        # As in TensorFlow, a tensor of unknown rank must be a vector.
        given = _core.ensure_shape(given, [None])
    if most > _MOST_SPLITS:
        raise UnimplementedError(f"strings.split: maxsplit is {most}; this release has {_MOST_SPLITS} at most, or -1 for "
                                 "all parts")
    axes = given.ndim or 0
    flat = _core.reshape(given, [-1]) if axes > 1 else given
    if most == 0:
        prepared, cut, restore = _whole(flat)
    elif most > 0:
        prepared, cut, restore = _bounded_by_white(flat, most) if not separator else _bounded(flat, separator, most)
    else:
        prepared, cut, restore = flat, separator, []
    if axes == 0:
        return _replaced(_core.string_split(prepared, cut), restore)
    values, lengths = _core.string_split_each(prepared, cut)
    return RaggedTensor((_replaced(values, restore), *_uniform_lengths(given), lengths))


def _uniform_lengths(x: Tensor) -> list[Tensor]:
    """The row lengths of all axes of a tensor except the first, as if the tensor were ragged."""
    out: list[Tensor] = []
    ones = _core.cast(_core.string_length(x, False), "int64") * 0 + 1
    for axis in range((x.ndim or 0) - 1, 0, -1):
        lengths = _core.reduce_sum(ones, [axis], False)
        out.insert(0, _core.reshape(lengths, [-1]) if axis > 1 else lengths)
        ones = lengths * 0 + 1
    return out


# -- a bounded number of parts ---------------------------------------------------------------------------------------
#
# The engine splits at all separators. Those that must not split are therefore replaced by pairs of bytes before, and
# put back in the parts afterwards. A pair consists of the lead byte and a byte that identifies the replaced text. The
# lead byte itself is replaced by a pair, too, so that strings may contain any bytes. \C matches one byte, also where it
# is no UTF-8.

_Restore = list[tuple[str, str]]
_Prepared = tuple[Tensor, str, _Restore]


def _replaced(x: Tensor, pairs: _Restore) -> Tensor:
    for pattern, text in pairs:
        x = _core.regex_replace(x, pattern, text, True)
    return x


def _first_replaced(x: Tensor, pattern: str, text: str) -> Tensor:
    return _core.regex_replace(x, pattern, text, False)


def _quoted(text: str) -> str:
    """A regular expression that matches this text alone."""
    return "".join(c if c.isalnum() or ord(c) >= 128 else f"\\x{{{ord(c):x}}}" for c in text)


def _as_rewrite(text: str) -> str:
    return text.replace("\\", "\\\\")


def _pairs(separator: str) -> tuple[str, list[str]]:
    """A byte with which all pairs begin (the lead byte), and the pairs of it and another byte, which replace texts in
    strings that are to be split. None of the bytes is white space or in the separator.
    """
    lead, *others = [chr(c) for c in range(1, 32) if chr(c) not in _WHITE + separator]
    return lead, [lead + c for c in others]


def _whole(x: Tensor) -> _Prepared:
    """Prepares strings that are not to be split at all."""
    lead, (itself, nothing, end, *_) = _pairs("")
    # The pair `end` is returned as the separator. The strings contain no such pair, because each lead byte in them is
    # replaced by the pair `itself`. So nothing is split.
    return _replaced(x, [(lead, itself)]), end, [(itself, lead)]


def _cut_after(x: Tensor, end: str, many: int, mark: str) -> tuple[Tensor, Tensor, Tensor]:
    """The text before the ``many``-th ``end``, the text after it, and true if there are so many ends.

    If there are fewer, the first two are the whole string. ``mark``: a pair of bytes that is not in ``x``.
    """
    head = rf"(?:\C*?{end}){{{many - 1}}}\C*?" if many > 1 else r"\C*?"
    marked = _first_replaced(x, rf"^({head}){end}(\C*)$", rf"\1{mark}\2")
    return (_first_replaced(marked, rf"{mark}\C*$", ""), _first_replaced(marked, rf"^\C*?{mark}", ""),
            _core.regex_full_match(marked, rf"\C*?{mark}\C*"))


def _bounded(x: Tensor, separator: str, most: int) -> _Prepared:
    lead, (itself, end, mark, kept, *_) = _pairs(separator)
    written = _replaced(x, [(lead, itself), (_quoted(separator), end)])
    before, rest, there = _cut_after(written, end, most, mark)
    rest = _core.where(there, _core.string_join([_core.literal(end), _replaced(rest, [(end, kept)])], ""), _core.literal(""))
    return _core.string_join([before, rest], ""), end, [(kept, _as_rewrite(separator)), (itself, lead)]


def _bounded_by_white(x: Tensor, most: int) -> _Prepared:
    lead, (itself, end, mark, rest_begins, *others) = _pairs("")
    white = "[" + "".join(rf"\x{{{ord(c):x}}}" for c in _WHITE) + "]"
    # White space at the beginning is removed, and ``end`` is inserted after the white space that follows each part; the
    # string ends with one ``end`` even if no white space follows its last part.
    written = _replaced(x, [(lead, itself), (rf"^{white}+", ""), (rf"({white}+)", rf"\1{end}"), (r"^(\C+)$", rf"\1{end}"),
                            (rf"{end}{end}$", end)])
    before, rest, there = _cut_after(written, end, most, mark)
    codes = list(zip(_WHITE, others))
    rest = _replaced(rest, [(end, ""), *((_quoted(c), pair) for c, pair in codes)])
    # The rest becomes one part, even if it is empty.
    rest = _core.where(there, _core.string_join([_core.literal(" " + rest_begins), rest], ""), _core.literal(""))
    restore = [(rest_begins, ""), *((pair, c) for c, pair in codes), (itself, lead)]
    return _core.string_join([_replaced(before, [(end, "")]), rest], ""), "", restore

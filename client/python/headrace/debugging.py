"""Assertions, for traced functions. Named as in ``tf.debugging``.

Each gives its first argument back, and is an error of the elements for which it does not hold. What is not used of the
result asserts nothing: ``x = headrace.debugging.assert_positive(x)``.
"""

from __future__ import annotations

from typing import Any

from . import _core
from ._values import constant, integer, tensor

Tensor = _core.Tensor


def _two(f: Any, x: Any, y: Any, message: str | None) -> Tensor:
    out: Tensor = f(constant(x), tensor(y, "y"), message or "")
    return out


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Tensor:
    """``data`` (one tensor) if all of the bools in ``condition`` hold."""
    return _core.assert_true(constant(data), constant(condition), name or "")


def assert_equal(x: Any, y: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x == y``."""
    return _two(_core.assert_equal, x, y, message)


def assert_none_equal(x: Any, y: Any, summarize: Any = None, message: str | None = None,
                      name: str | None = None) -> Tensor:
    """``x`` where ``x != y``."""
    return _two(_core.assert_none_equal, x, y, message)


def assert_less(x: Any, y: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x < y``.

    >>> import headrace as hr
    >>> ds = hr.Dataset.range(2).map(lambda x: hr.debugging.assert_less(x, 9))
    >>> list(ds.as_numpy_iterator())
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_less, x, y, message)


def assert_less_equal(x: Any, y: Any, message: str | None = None, summarize: Any = None,
                      name: str | None = None) -> Tensor:
    """``x`` where ``x <= y``."""
    return _two(_core.assert_less_equal, x, y, message)


def assert_greater(x: Any, y: Any, message: str | None = None, summarize: Any = None,
                   name: str | None = None) -> Tensor:
    """``x`` where ``x > y``."""
    return _two(_core.assert_greater, x, y, message)


def assert_greater_equal(x: Any, y: Any, message: str | None = None, summarize: Any = None,
                         name: str | None = None) -> Tensor:
    """``x`` where ``x >= y``."""
    return _two(_core.assert_greater_equal, x, y, message)


def assert_near(x: Any, y: Any, rtol: float | None = None, atol: float | None = None, message: str | None = None,
                summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``|x - y| <= atol + rtol * |y|``."""
    return _core.assert_near(constant(x), tensor(y, "y"), 1e-5 if rtol is None else rtol,
                             1e-5 if atol is None else atol, message or "")


def assert_positive(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x > 0``."""
    return _core.assert_positive(constant(x), message or "")


def assert_negative(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x < 0``."""
    return _core.assert_negative(constant(x), message or "")


def assert_non_negative(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x >= 0``."""
    return _core.assert_non_negative(constant(x), message or "")


def assert_non_positive(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x <= 0``."""
    return _core.assert_non_positive(constant(x), message or "")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """``x`` without NaN and infinities."""
    return _core.assert_all_finite(constant(x), message)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """``tensor`` without NaN and infinities; ``message`` says what was computed."""
    return _core.check_numerics(constant(tensor), message)


def assert_rank(x: Any, rank: int, message: str | None = None, name: str | None = None) -> Tensor:
    """``x`` if it has so many axes: raises at once if it is known to have another number."""
    return _core.assert_rank(constant(x), integer(rank, "rank"), message or "")

"""Python's control flow in functions that are given to datasets.

In a function that is traced, ``if``, ``while``, ``for``, ``break``, ``continue``, ``return``, conditional expressions,
``and``, ``or``, ``not`` and chains of comparisons may depend on tensors: the function is rewritten from its source, and so are the functions of the user's that it calls. Both
branches are traced, and each element takes the values of its own; it cannot fail because of the other one.

>>> import headrace as hr
>>> def clipped(x):
...     if x < 0:
...         return 0 * x
...     y = x
...     if 3 < x and x != 5:
...         y = x - 3
...     return y

(The source code must be in a file or a notebook. A function without it, such as one that is typed in ``python``, is
traced unchanged.)

A loop continues for each element as long as its condition holds for that element; ``for`` takes tensors and ``range``
of tensors:

>>> def digits(x):
...     n = 0
...     while x > 0:
...         x, n = x // 10, n + 1
...     return n

Limits, each an error that names the line: a branch or loop sets variables, and changes nothing in place; both branches
give tensors of one dtype and structure; a loop's variables keep theirs, and their shapes (``headrace.while_loop`` takes
``shape_invariants``); loops with ``else``, and loops that are left inside a ``with`` or ``try``, depend on no tensor.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._control_flow.rewriting import LEFT_ALONE
from ._missing import missing, names_of

__all__ = ["experimental"]


def _do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """A decorator: ``func`` is traced without being rewritten.

    >>> import headrace as hr
    >>> @hr.autograph.experimental.do_not_convert
    ... def f(x):
    ...     return x + 1
    >>> list(hr.Dataset.range(2).map(f))
    [np.int64(1), np.int64(2)]
    """
    if func is None:
        return _do_not_convert
    setattr(func, LEFT_ALONE, True)
    return func


class _Experimental(types.SimpleNamespace):
    """A namespace that raises, for documented names that it lacks, an error with the replacement."""

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            missing("autograph.experimental", name)


experimental = _Experimental(do_not_convert=_do_not_convert)

if not TYPE_CHECKING:
    __getattr__ = names_of("autograph")

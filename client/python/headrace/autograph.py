"""Python's control flow in functions that are given to datasets.

In a function that is traced, ``if``, ``while``, ``for``, ``break``, ``continue``, ``return``, conditional expressions,
``and``, ``or``, ``not`` and chains of comparisons may depend on tensors: the function is rewritten from its source,
and so are the user's other functions that it calls. Both branches of an ``if`` are traced. Each element gets the
values of the branch that its condition selects, and cannot fail because of the other branch.

>>> import headrace as hr
>>> def clipped(x):
...     if x < 0:
...         return 0 * x
...     y = x
...     if 3 < x and x != 5:
...         y = x - 3
...     return y

(The source code of the function must be in a file or a notebook. A function whose source code is not available, such
as one that is typed in ``python``, is traced unchanged.)

A loop continues for each element as long as the loop's condition holds for that element; ``for`` iterates over
tensors and over ``range`` of tensors:

>>> def digits(x):
...     n = 0
...     while x > 0:
...         x, n = x // 10, n + 1
...     return n

Limits (code that exceeds one raises an error that names the line): a branch or loop that depends on a tensor may set
variables, but must not change an object in place. Both branches must give tensors of the same dtype and structure.
The variables of a loop must keep their dtypes, structure and shapes (``headrace.while_loop`` takes
``shape_invariants``). A loop with ``else``, or one that is left inside a ``with`` or ``try``, must not depend on a
tensor.
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
    """A namespace. For a name that TensorFlow documents and headrace lacks, it raises an error with a replacement."""

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            missing("autograph.experimental", name)


experimental = _Experimental(do_not_convert=_do_not_convert)

if not TYPE_CHECKING:
    __getattr__ = names_of("autograph")

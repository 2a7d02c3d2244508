"""The functions that rewritten functions call in place of `if`, `and`, `or`, `not`, a conditional expression or a chain
of comparisons. A condition that is a Python value has the usual effect. For a tensor both branches are traced, and the
values that they set are combined: for each element the condition chooses one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from .. import _core
from .._refusals import refuse
from .._tensors import values as _values
from .._tensors.labels import rebuilt
from .._tracing import assertions as _assertions
from .rewriting import callee as callee  # rewritten functions call `callee` as a function of this module
from .source import OPS

Thunk = Callable[[], Any]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq,
    "NotEq": operator.ne, "Is": operator.is_, "IsNot": operator.is_not, "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
}


class Unset:
    """Stands for the value of a variable that has no value, for instance after an `if` over a tensor that set the
    variable in one branch only. Each use of this object raises an error with the reason.
    """

    def __init__(self, why: str) -> None:
        self._why = why

    def __repr__(self) -> str:
        return f"<{self._why}>"

    def _use(self, *_: Any) -> NoReturn:
        refuse(self._why, "Set it to tensors of one dtype and structure in both branches, or before the `if`")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self._use()


for _name in ("add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul and rand or "
              "ror xor rxor lshift rlshift rshift rrshift neg pos abs invert lt le gt ge eq ne getitem call bool iter "
              "len contains int float index array hash").split():
    setattr(Unset, f"__{_name}__", Unset._use)


def _condition(value: Any) -> _core.Tensor:
    if not value.dtype.is_bool:
        refuse(f"the condition is {value.dtype.name}, and not bool", "Compare it")
    if value.shape.dims not in ((), None):
        refuse(f"the condition has the shape {value.shape}, and is not one bool",
               "Use headrace.reduce_all or headrace.reduce_any")
    return value


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _core.Tensor)


# -- expressions -------------------------------------------------------------------------------------------


def and_(first: Any, second: Thunk) -> Any:
    """``first and second()``."""
    if not _is_tensor(first):
        return first and second()
    with _assertions.branch(first, True):
        other = _truth(second())
    return _core.cond(_condition(first), other, _values.constant(False))


def or_(first: Any, second: Thunk) -> Any:
    """``first or second()``."""
    if not _is_tensor(first):
        return first or second()
    with _assertions.branch(first, False):
        other = _truth(second())
    return _core.cond(_condition(first), _values.constant(True), other)


def _truth(value: Any) -> _core.Tensor:
    return _condition(value) if _is_tensor(value) else _values.constant(bool(value))


def not_(value: Any) -> Any:
    """``not value``."""
    return ~_condition(value) if _is_tensor(value) else not value


def chain(first: Any, others: tuple[tuple[str, Thunk], ...]) -> Any:
    """``first < second() <= third() ...``: each operand is evaluated at most once."""
    (name, thunk), *rest = others
    second = thunk()
    held = _COMPARISONS[name](first, second)
    return and_(held, lambda: chain(second, tuple(rest))) if rest else held


def choose(condition: Any, yes: Thunk, no: Thunk) -> Any:
    """``yes() if condition else no()``."""
    if not _is_tensor(condition):
        return yes() if condition else no()
    with _assertions.branch(_condition(condition), True):
        chosen = yes()
    with _assertions.branch(condition, False):
        other = no()
    return _one(condition, chosen, other, "a conditional expression")


# -- statements --------------------------------------------------------------------------------------------


def values(*names: Thunk) -> list[Any]:
    """The values of variables; ``Unset`` for those that have none."""
    out: list[Any] = []
    for get in names:
        try:
            out.append(get())
        except NameError as e:
            out.append(Unset(str(e)))
    return out


def branch(condition: Any, yes: Thunk, no: Thunk, get: Thunk, put: Callable[[list[Any]], None], names: tuple[str, ...],
           in_place: str) -> None:
    """Runs an `if` whose branches do not return. ``names``: the variables that the branches set. ``in_place``: the
    description of an effect of the branches other than setting variables, such as a change of an object; empty: there
    is no such effect.
    """
    if not _is_tensor(condition):
        (yes if condition else no)()
        return
    condition = _condition(condition)
    if in_place:
        _refuse_what_happens(in_place)
    before = get()
    with _assertions.branch(condition, True):
        yes()
    after_yes = get()
    put(before)
    with _assertions.branch(condition, False):
        no()
    after_no = get()
    put([_merged(condition, a, b, name) for a, b, name in zip(after_yes, after_no, names)])


def _refuse_what_happens(what: str) -> NoReturn:
    refuse(f"an `if` over a tensor {what}, which would happen for every element",
           "Set variables in the branches, and use them after the `if`")


def returned(condition: Any, yes: Thunk, no: Thunk, get: Thunk, put: Callable[[list[Any]], None], in_place: str) -> Any:
    """The result of a function that ends with an `if`, or in which an `if` returns: the branches contain the rest of
    the function.
    """
    if not _is_tensor(condition):
        return (yes if condition else no)()
    condition = _condition(condition)
    if in_place:
        _refuse_what_happens(in_place)
    before = get()
    with _assertions.branch(condition, True):
        result = yes()
    put(before)
    with _assertions.branch(condition, False):
        other = no()
    if (result is None) != (other is None):
        refuse("one branch of an `if` over a tensor returns a value, and the other one returns none",
               "Return tensors in both")
    return None if result is None else _one(condition, result, other, "what the branches of an `if` return")


def plain(condition: Any, why: str) -> Any:
    """The condition of a statement that only Python can run: it must not be a tensor."""
    if _is_tensor(condition):
        refuse(f"{why} depends on a tensor", "Use headrace.cond, headrace.where or headrace.while_loop")
    return condition


# -- two values become one ---------------------------------------------------------------------------------


def _merged(condition: _core.Tensor, yes: Any, no: Any, name: str) -> Any:
    if yes is no:
        return yes
    if isinstance(yes, Unset) or isinstance(no, Unset):
        if name.startswith(f"{OPS}_value_"):  # the value of a `return` in a loop, read only if the `return` was reached
            return no if isinstance(yes, Unset) else yes
        return Unset(f"`{name}` is set in only one branch of an `if` over a tensor")
    if _fits_no_tensor(yes) or _fits_no_tensor(no):
        return Unset(f"`{name}` is {_kind(yes)} or {_kind(no)}, as an `if` over a tensor says, and no tensor")
    return _one(condition, yes, no, f"`{name}` in the branches of an `if`")


def _fits_no_tensor(value: Any) -> bool:
    return value is None or callable(value) and not hasattr(value, "__array__")


def _kind(value: Any) -> str:
    return value.dtype.name if _is_tensor(value) else "None" if value is None else type(value).__name__


def _one(condition: _core.Tensor, yes: Any, no: Any, what: str) -> Any:
    from .._dataset import Dataset

    if yes is no:
        return yes
    if isinstance(yes, Mapping) and isinstance(no, Mapping) and yes.keys() == no.keys():
        return rebuilt(yes, [_one(condition, yes[key], no[key], f"{what}[{key!r}]") for key in yes])
    for kind in (tuple, list):
        if isinstance(yes, kind) and isinstance(no, kind) and len(yes) == len(no):
            parts = [_one(condition, a, b, f"{what}[{i}]") for i, (a, b) in enumerate(zip(yes, no))]
            return type(yes)(*parts) if hasattr(yes, "_fields") else kind(parts)
    if isinstance(yes, Dataset) and isinstance(no, Dataset):
        return one_dataset(condition, yes, no)
    if isinstance(yes, (Mapping, tuple, list)) or isinstance(no, (Mapping, tuple, list)):
        refuse(f"{what} has different structures: {yes!r} and {no!r}", "Give both the same")
    a, b = _beside_each_other(yes, no)
    if a.dtype != b.dtype:
        refuse(f"{what} is {a.dtype.name} in one and {b.dtype.name} in the other", "Use headrace.cast")
    return _core.cond(condition, a, b)


def one_dataset(condition: _core.Tensor, yes: Any, no: Any) -> Any:
    """The elements of ``yes`` if the condition is true, else those of ``no``."""
    every, none = _values.constant(np.int64(-1)), _values.constant(np.int64(0))
    return yes.take(_core.where(condition, every, none)).concatenate(no.take(_core.where(condition, none, every)))


def _beside_each_other(yes: Any, no: Any) -> tuple[_core.Tensor, _core.Tensor]:
    """Converts Python numbers to the dtype of the tensor in the other branch."""
    if _is_tensor(yes) == _is_tensor(no):
        return _values.constant(yes), _values.constant(no)
    if _is_tensor(yes):
        return yes, _values.beside(no, yes.dtype)
    return _values.beside(yes, no.dtype), no

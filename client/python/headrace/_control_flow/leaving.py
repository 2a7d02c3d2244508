"""Replaces `break`, `continue` and `return` in loops by variables that record that such a statement was reached. The
statements that follow it are put into an `if` that tests these variables, and the loop's condition tests them, too.
"""

from __future__ import annotations

import ast
from typing import Union

from .source import OPS, at

Loop = Union[ast.While, ast.For]
_Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Lowered:
    """A loop without `break`, `continue` and `return`. ``left``: the names of the variables that end the loop when
    one of them is true.

    ``possible`` is false if the loop has an `else`, or if one of these statements is in a `with` or `try`: only Python
    can run such a loop.
    """

    def __init__(self, loop: Loop, number: int, returns: str | None = None) -> None:
        self.loop = loop
        self.number = number
        self.possible = not loop.orelse
        self.returned = returns or f"{OPS}_returned_{number}"
        self.value = self.returned.replace("_returned_", "_value_")
        self._break, self._continue = f"{OPS}_break_{number}", f"{OPS}_continue_{number}"
        self._used: set[str] = set()
        self._inner = 0
        body = self._block(loop.body)
        if self._continue in self._used:
            body.insert(0, at(_set(self._continue, False), loop))
        loop.body = body
        self.left = [name for name in (self._break, self.returned) if name in self._used]
        #: True if the loop contains a `return`, and no loop around it does. Then ``result`` is inserted after it.
        self.returns = returns is None and self.returned in self._used
        #: The statements to insert before the loop: they set variables in ``left`` to False.
        self.first = [at(_set(name, False), loop) for name in self.left if name == self._break or returns is None]

    def result(self) -> ast.stmt:
        """The statement to insert after a loop that contains a `return`: it returns the value if the `return` was
        reached.
        """
        back = ast.Return(ast.Name(self.value, ast.Load()))
        return at(ast.If(ast.Name(self.returned, ast.Load()), [back], []), self.loop)

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for i, x in enumerate(body):
            made, flags = self._statement(x)
            out.extend(made)
            if not flags:
                continue
            rest = self._block(body[i + 1:])
            if rest and not isinstance(x, (ast.Break, ast.Continue, ast.Return)):
                out.append(at(ast.If(none_of(sorted(flags)), rest, []), rest[0]))
            break
        return out

    def _statement(self, x: ast.stmt) -> tuple[list[ast.stmt], set[str]]:
        if isinstance(x, ast.Break):
            return self._leave(self._break, x)
        if isinstance(x, ast.Continue):
            return self._leave(self._continue, x)
        if isinstance(x, ast.Return):
            made, flags = self._leave(self.returned, x)
            value = x.value or ast.Constant(None)
            return [at(ast.Assign([ast.Name(self.value, ast.Store())], value), x), *made], flags
        if isinstance(x, ast.If):
            before, self._used = self._used, set()
            x.body, x.orelse = self._block(x.body), self._block(x.orelse)
            flags, self._used = self._used, before | self._used
            return [x], flags
        if isinstance(x, (ast.While, ast.For)):
            self._inner += 1
            inner = Lowered(x, self.number * 100 + self._inner, self.returned)
            self.possible = self.possible and inner.possible
            x._lowered = inner  # type: ignore[union-attr]
            flags = {self.returned} & set(inner.left)
            self._used |= flags
            return [x], flags
        if _leaves(x):
            self.possible = False
        return [x], set()

    def _leave(self, name: str, x: ast.stmt) -> tuple[list[ast.stmt], set[str]]:
        self._used.add(name)
        return [at(_set(name, True), x)], {name}


def _set(name: str, to: bool) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(to))


def none_of(names: list[str]) -> ast.expr:
    """An expression that is true if none of these variables is."""
    parts: list[ast.expr] = [ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load())) for name in names]
    return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)


def _leaves(x: ast.AST) -> bool:
    if isinstance(x, _Scope):
        return False
    return isinstance(x, (ast.Break, ast.Continue, ast.Return)) or any(_leaves(c) for c in ast.iter_child_nodes(x))

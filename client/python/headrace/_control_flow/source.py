"""The syntax tree of a function object."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import types
from collections.abc import Sequence
from typing import Any, Union

Node = Union[ast.FunctionDef, ast.Lambda]

#: Rewritten functions call the functions of the modules `branches` and `loops` as attributes of a variable with this
#: name.
OPS = "__headrace"
_FUTURES = 0x1FF0000  # the flags of `from __future__ import ...` in co_flags


def tree_of(f: types.FunctionType) -> Node | None:
    """The tree of a Python function, with the line numbers of its file. None if the source is not available, or if
    the code of the function was not compiled from it.
    """
    code = f.__code__
    lines = linecache.getlines(code.co_filename, f.__globals__)
    module = _parsed("".join(lines)) if lines else None
    if module is None:
        return None
    for node in ast.walk(module):
        if (isinstance(node, (ast.FunctionDef, ast.Lambda)) and getattr(node, "name", "<lambda>") == code.co_name
                and _first_line(node) == code.co_firstlineno
                and _is(compiled(node, f, beside=_imports_of(module)), code)):
            return node
    return None


def function_node(name: str, args: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    """A function without decorators, defaults and annotations."""
    out = ast.FunctionDef(name=name, args=args, body=body, decorator_list=[])
    if sys.version_info >= (3, 12):
        out.type_params = []
    return out


def at(node: Any, place: ast.AST) -> Any:
    """Gives ``node`` and the nodes below it the line of ``place``, unless they have a line already. Returns
    ``node``.
    """
    for x in ast.walk(node):
        if "lineno" in x._attributes and not hasattr(x, "lineno"):
            ast.copy_location(x, place)
            # The new node is made to end where it begins. Otherwise it would end on the last line of `place`, and
            # Python would record that line for a call of a method: it records the line on which the method's name ends.
            x.end_lineno, x.end_col_offset = x.lineno, x.col_offset  # type: ignore[attr-defined]
    return node


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _imports_of(scope: ast.AST) -> list[ast.stmt]:
    """The import statements of a module. They must be compiled together with a function to give the same code as in the
    module, because Python compiles a call ``name.f()`` differently if ``name`` is imported in the same file.
    """
    out: list[ast.stmt] = []
    for x in ast.iter_child_nodes(scope):
        if isinstance(x, (ast.Import, ast.ImportFrom)):
            if not (isinstance(x, ast.ImportFrom) and x.module == "__future__"):
                out.append(x)
        elif not isinstance(x, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            out.extend(_imports_of(x))
    return out


def _first_line(node: Node) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _is(made: types.CodeType | None, code: types.CodeType) -> bool:
    """True if ``made`` and ``code`` are equal except for line numbers. They differ if the file has changed since it
    was imported, or if they come from different functions on one line.
    """
    return made is not None and _same_constants(made.co_consts, code.co_consts) and all(
        getattr(made, part) == getattr(code, part) for part in (
            "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_kwonlyargcount"))


def _same_constants(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, types.CodeType):
        return _is(a, b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same_constants, a, b))
    if isinstance(a, frozenset):
        return {(type(x), repr(x)) for x in a} == {(type(x), repr(x)) for x in b}
    if isinstance(a, str) and "<locals>" in a and "<locals>" in b:
        # These are qualified names of an inner function or class. They differ, because the tree is compiled inside of
        # another function.
        return True
    return repr(a) == repr(b)  # repr differs for 0.0 and -0.0, and is equal for NaNs


def compiled(node: Node, f: types.FunctionType, *, with_ops: bool = False,
             beside: Sequence[ast.stmt] = ()) -> types.CodeType | None:
    """The code object of the function ``node``. Its free variables are those of ``f``, and `OPS` with ``with_ops``.
    None if the tree cannot be compiled.

    ``beside``: statements that are compiled in the same module.
    """
    free = [*f.__code__.co_freevars, *([OPS] if with_ops else [])]
    bare = _bare(node)
    body: list[ast.stmt] = ([ast.Return(bare)] if isinstance(bare, ast.Lambda) else [bare])
    no_names = ast.arguments(posonlyargs=[], args=[ast.arg(name) for name in free], kwonlyargs=[], kw_defaults=[],
                             defaults=[])
    around = function_node("around", no_names, body)
    module = ast.fix_missing_locations(ast.Module(body=[ast.copy_location(around, node), *beside], type_ignores=[]))
    try:
        made = compile(module, f.__code__.co_filename, "exec", flags=f.__code__.co_flags & _FUTURES, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for outer in _codes_in(made):
        for inner in _codes_in(outer):
            return inner
    return None


def _codes_in(code: types.CodeType) -> list[types.CodeType]:
    return [x for x in code.co_consts if isinstance(x, types.CodeType)]


def _bare(node: Node) -> Node:
    """The function without the parts that are evaluated when it is defined: decorators, defaults and annotations."""
    args = ast.arguments(
        posonlyargs=[ast.arg(a.arg) for a in node.args.posonlyargs], args=[ast.arg(a.arg) for a in node.args.args],
        vararg=ast.arg(node.args.vararg.arg) if node.args.vararg else None,
        kwonlyargs=[ast.arg(a.arg) for a in node.args.kwonlyargs], kw_defaults=[None for _ in node.args.kwonlyargs],
        kwarg=ast.arg(node.args.kwarg.arg) if node.args.kwarg else None, defaults=[])
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Lambda(args=args, body=node.body), node)
    return ast.copy_location(function_node(node.name, args, node.body), node)

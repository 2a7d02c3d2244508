"""Functions whose control flow may depend on tensors. They are made from the source of the user's functions, and keep
its line numbers.

Each `if` becomes two functions, one for each branch, which set the variables of the function around them, and a call of
``branches.branch`` that runs one of them, or traces both. If a branch returns, the statements after the `if` are
appended to its branches. The body of a loop becomes a function in the same way. The idea is that of AutoGraph (Moldovan
et al., 2019).
"""

from __future__ import annotations

import ast
import copy
import functools
import types
import weakref
from collections.abc import Iterator
from typing import Any

from .._refusals import is_users
from .leaving import Lowered, none_of
from .python_functions import REPLACED
from .source import OPS, Node, at, compiled, function_node, tree_of

#: The attribute that marks functions that must not be rewritten.
LEFT_ALONE = "_headrace_do_not_convert"
#: An attribute of functions that wrap another function. Its value is a function without arguments that returns a
#: wrapper of the rewritten inner function, or None if the inner function cannot be rewritten.
REWRITTEN = "_headrace_rewritten"
_codes: weakref.WeakKeyDictionary[types.FunctionType, types.CodeType | None] = weakref.WeakKeyDictionary()
_Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def rewritten(f: Any) -> Any:
    """``f`` with control flow over tensors; None if its source is not available, or if it is not a function of the
    user.
    """
    if hasattr(f, REWRITTEN):
        return getattr(f, REWRITTEN)()
    if isinstance(f, functools.partial):
        inner = rewritten(f.func)
        return None if inner is None else functools.partial(inner, *f.args, **f.keywords)
    if isinstance(f, types.MethodType):
        inner = rewritten(f.__func__)
        return None if inner is None else types.MethodType(inner, f.__self__)
    if not isinstance(f, types.FunctionType):
        call = getattr(type(f), "__call__", None)
        inner = rewritten(call) if isinstance(call, types.FunctionType) else None
        return None if inner is None else types.MethodType(inner, f)
    if getattr(f, LEFT_ALONE, False) or not is_users(f.__code__.co_filename):
        return None
    if f not in _codes:
        _codes[f] = _code_of(f)
    code = _codes[f]
    return None if code is None else _with_code(f, code)


def callee(f: Any) -> Any:
    """The function that a rewritten function calls in place of ``f``; ``f`` itself if it is not replaced."""
    if isinstance(f, (type, types.BuiltinFunctionType)):
        return next((other for known, other in REPLACED if known is f), f)
    if not isinstance(f, (types.FunctionType, types.MethodType, functools.partial)):
        return f
    return rewritten(f) or f


def _code_of(f: types.FunctionType) -> types.CodeType | None:
    tree = tree_of(f)
    if tree is None or _yields(tree):
        return None
    return compiled(_Rewriter().function(copy.deepcopy(tree)), f, with_ops=True)


@functools.lru_cache(maxsize=None)
def _ops() -> types.SimpleNamespace:
    """The functions that rewritten functions call."""
    from . import branches, loops

    return types.SimpleNamespace(**vars(branches), loops=loops)


def _with_code(f: types.FunctionType, code: types.CodeType) -> types.FunctionType:
    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or ()))
    cells[OPS] = types.CellType(_ops())
    out = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__,
                             tuple(cells[name] for name in code.co_freevars))
    out.__kwdefaults__ = f.__kwdefaults__
    out.__qualname__ = f.__qualname__
    out.__dict__.update(f.__dict__)
    return out


def _own(node: ast.AST) -> list[ast.AST]:
    """The nodes below ``node``, without those in inner functions and classes."""
    out: list[ast.AST] = []
    todo = list(ast.iter_child_nodes(node))
    while todo:
        x = todo.pop()
        out.append(x)
        if not isinstance(x, _Scope):
            todo.extend(ast.iter_child_nodes(x))
    return out


def _has(nodes: list[Any], kinds: Any) -> bool:
    return any(isinstance(x, kinds) for node in nodes for x in (node, *_own(node)) if not isinstance(node, _Scope))


def _yields(node: Node) -> bool:
    return any(isinstance(x, (ast.Yield, ast.YieldFrom, ast.Await)) for x in _own(node))


def _leaves_loop(nodes: list[ast.stmt]) -> bool:
    """True if the statements contain a `break` or `continue` of a loop around them."""
    todo: list[ast.AST] = list(nodes)
    while todo:
        x = todo.pop()
        if isinstance(x, (ast.Break, ast.Continue)):
            return True
        if isinstance(x, (ast.For, ast.While)):
            todo.extend(x.orelse)
        elif not isinstance(x, _Scope):
            todo.extend(ast.iter_child_nodes(x))
    return False


def _always_returns(body: list[ast.stmt]) -> bool:
    return any(isinstance(x, (ast.Return, ast.Raise))
               or isinstance(x, ast.If) and _always_returns(x.body) and _always_returns(x.orelse) for x in body)


def _stored(nodes: list[ast.stmt]) -> list[str]:
    """The names of the function's variables that statements set, in order."""
    return list(dict.fromkeys(name for node in nodes for name in _sets(node)))


def _sets(x: ast.AST) -> Iterator[str]:
    if isinstance(x, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield x.name
    elif isinstance(x, ast.Name) and isinstance(x.ctx, (ast.Store, ast.Del)):
        yield x.id
    elif isinstance(x, ast.alias):
        yield (x.asname or x.name).split(".")[0]
    elif isinstance(x, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and x.name:
        yield x.name
    elif isinstance(x, ast.MatchMapping) and x.rest:
        yield x.rest
    if isinstance(x, _Scope):
        return
    for child in ast.iter_child_nodes(x):
        if not (isinstance(x, ast.comprehension) and child is x.target):  # the comprehension's own variable
            yield from _sets(child)


#: The assertions of ``headrace.debugging``. A call in a branch checks the elements that take the branch, even if the
#: result of the call is not used.
ASSERTIONS = frozenset((
    "Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer", "assert_less",
    "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative", "assert_non_positive", "assert_none_equal",
    "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least", "assert_rank_in",
    "assert_same_float_dtype", "assert_scalar", "assert_shapes", "assert_type", "check_numerics",
))


def _called(call: ast.Call) -> str:
    """The name of the called function or method; empty if the callee is another expression than a name or
    attribute.
    """
    f = call.func
    return f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""


def _asserts(call: ast.Call) -> bool:
    """True if the name of the called function is in ``ASSERTIONS``."""
    return _called(call) in ASSERTIONS


def _has_assertion(nodes: list[ast.stmt]) -> bool:
    return any(isinstance(x, ast.Expr) and isinstance(x.value, ast.Call) and _asserts(x.value)
               for node in nodes for x in (node, *([] if isinstance(node, _Scope) else _own(node))))


def _in_place(nodes: list[ast.stmt]) -> str:
    """The first effect of the statements that is neither setting a variable nor asserting; empty: there is none."""
    for node in nodes:
        for x in (node, *([] if isinstance(node, _Scope) else _own(node))):
            if isinstance(x, (ast.Subscript, ast.Attribute)) and isinstance(x.ctx, (ast.Store, ast.Del)):
                return f"changes `{ast.unparse(x)}` in place"
            if isinstance(x, ast.Expr) and isinstance(x.value, ast.Call) and not _asserts(x.value) \
                    and _called(x.value) != "set_loop_options":  # its call raises an error with advice
                return f"calls `{ast.unparse(x.value)}` and does not use the result"
            if isinstance(x, (ast.Delete, ast.Global, ast.Nonlocal)):
                return f"has `{ast.unparse(x)}`"
    return ""


class _Rewriter(ast.NodeTransformer):
    """Rewrites one function; functions inside it have rewriters of their own."""

    def __init__(self) -> None:
        self._count = 0
        self._set: set[str] = set()
        self._globals: set[str] = set()
        self._first: str | None = None

    def function(self, node: Node) -> Node:
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
            return node
        self._globals = {name for x in _own(node) if isinstance(x, ast.Global) for name in x.names}
        self._first = next((a.arg for a in (*node.args.posonlyargs, *node.args.args)), None)
        given = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        outer = {name for x in _own(node) if isinstance(x, ast.Nonlocal) for name in x.names}
        body = self._block(node.body, ends=True)
        # Variables that are set only in branches must be variables of this function, too, so that the functions of
        # the branches can declare them nonlocal. An assignment that never runs makes them so.
        own = sorted(self._set - given - outer - self._globals)
        first = [x for x in body if isinstance(x, (ast.Global, ast.Nonlocal))]
        rest = [x for x in body if not isinstance(x, (ast.Global, ast.Nonlocal))]
        if own:
            targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in own]
            never = ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], [])
            rest.insert(0, at(never, node))
        node.body = first + rest
        return node

    # -- statements ---------------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt], *, ends: bool) -> list[ast.stmt]:
        """Rewrites a block. ``ends``: no statement of the function follows the block, so that an `if` in the block
        may return from the function.
        """
        out: list[ast.stmt] = []
        for i, x in enumerate(body):
            if isinstance(x, (ast.While, ast.For)) and self._is_rewritten(x, ends=ends):
                out.extend(self._loop(x))
                if x._lowered.returns:  # type: ignore[union-attr]
                    return out + self._block([x._lowered.result(), *body[i + 1:]], ends=True)  # type: ignore[union-attr]
            elif not isinstance(x, ast.If):
                made = self.visit(x)
                out.extend(made if isinstance(made, list) else [made])
            elif not _has([x], (ast.Return,)):
                out.extend(self._if(x))
            elif not ends:
                out.append(self._plain(x, "a `return` inside a loop, `with` or `try`"))
            else:
                rest = body[i + 1:]
                yes = x.body + ([] if _always_returns(x.body) else copy.deepcopy(rest))
                no = x.orelse + ([] if _always_returns(x.orelse) else rest)
                return out + self._returning(x, yes, no)
        return out

    def _if(self, x: ast.If) -> list[ast.stmt]:
        both = x.body + x.orelse
        names = _stored(both)
        if _leaves_loop(both):
            return [self._plain(x, "a `break` or `continue`")]
        if self._globals & set(names):
            return [self._plain(x, "a global variable")]
        self._set.update(names)
        in_place = _in_place(both) or ("" if names or _has_assertion(both) else "sets no variable")
        arguments = [ast.Tuple([ast.Constant(name) for name in names], ast.Load()), ast.Constant(in_place)]
        made, call = self._branches(x, self._block(x.body, ends=False), self._block(x.orelse, ends=False), names,
                                    "branch", arguments)
        return [*made, at(ast.Expr(call), x)]

    def _returning(self, x: ast.If, yes: list[ast.stmt], no: list[ast.stmt]) -> list[ast.stmt]:
        names = [name for name in _stored(yes + no) if name not in self._globals]
        if self._globals & set(_stored(yes + no)):
            return [self._plain(x, "a global variable")]
        self._set.update(names)
        in_place = _in_place(yes + no)  # before `_block` changes the statements
        made, call = self._branches(x, self._block(yes, ends=True), self._block(no, ends=True), names, "returned",
                                    [ast.Constant(in_place)])
        return [*made, at(ast.Return(call), x)]

    def _branches(self, x: ast.If, yes: list[ast.stmt], no: list[ast.stmt], names: list[str], op: str,
                  more: list[ast.expr]) -> tuple[list[ast.stmt], ast.expr]:
        self._count += 1
        names_of = {what: f"{OPS}_{what}_{self._count}_{x.lineno}" for what in ("if", "else", "get", "put")}
        shared: list[ast.stmt] = [ast.Nonlocal(names)] if names else []
        read: list[ast.expr] = [_thunk(ast.Name(n, ast.Load())) for n in names]
        given = f"{OPS}_values"
        put: list[ast.stmt] = [ast.Pass()]
        if names:
            target = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
            put = [ast.Nonlocal(names), ast.Assign([target], ast.Name(given, ast.Load()))]
        made = [function_node(names_of["if"], _no_arguments([]), shared + yes),
                function_node(names_of["else"], _no_arguments([]), shared + (no or [ast.Pass()])),
                function_node(names_of["get"], _no_arguments([]), [ast.Return(_call("values", *read))]),
                function_node(names_of["put"], _no_arguments([given]), put)]
        thunks: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names_of.values()]
        return [at(m, x) for m in made], at(_call(op, self.visit(x.test), *thunks, *more), x)

    def _plain(self, x: ast.If, why: str) -> ast.If:
        x.test = at(_call("plain", self.visit(x.test), ast.Constant(why)), x.test)
        x.body = self._block(x.body, ends=False)
        x.orelse = self._block(x.orelse, ends=False)
        return x

    def _is_rewritten(self, x: ast.While | ast.For, *, ends: bool) -> bool:
        """True if the statement can become a loop over tensors. Then `break`, `continue` and `return` in it are
        replaced.
        """
        if hasattr(x, "_lowered"):
            return True
        tests = [x.test] if isinstance(x, ast.While) else [x.iter]
        if _has(tests, (ast.NamedExpr,)) or self._globals & set(_stored([x])) or _has([x], (ast.Return,)) and not ends:
            return False
        self._count += 1
        lowered = Lowered(copy.deepcopy(x), self._count)
        if not lowered.possible:
            return False
        lowered = Lowered(x, self._count)
        x._lowered = lowered  # type: ignore[union-attr]
        return True

    def _loop(self, x: ast.While | ast.For) -> list[ast.stmt]:
        lowered = x._lowered  # type: ignore[union-attr]
        names = [name for name in _stored([x]) if not name.startswith(f"{OPS}_continue_")]
        self._set.update(_stored([x, *lowered.first]))
        in_place = _in_place(x.body)
        goes_on: ast.expr = at(none_of(lowered.left) if lowered.left else ast.Constant(True), x)
        self._count += 1
        names_of = {what: f"{OPS}_{what}_{self._count}_{x.lineno}" for what in ("body", "get", "put")}
        shared: list[ast.stmt] = [ast.Nonlocal(names)] if names else []
        item, given = f"{OPS}_item", f"{OPS}_values"
        body = self._block(x.body, ends=False)
        if isinstance(x, ast.For):
            body.insert(0, ast.Assign([x.target], ast.Name(item, ast.Load())))
        put: list[ast.stmt] = [ast.Pass()]
        if names:
            target = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
            put = [ast.Nonlocal(names), ast.Assign([target], ast.Name(given, ast.Load()))]
        read: list[ast.expr] = [_thunk(ast.Name(n, ast.Load())) for n in names]
        arguments = [item] if isinstance(x, ast.For) else []
        made = [*lowered.first, function_node(names_of["body"], _no_arguments(arguments), shared + body),
                function_node(names_of["get"], _no_arguments([]), [ast.Return(_call("values", *read))]),
                function_node(names_of["put"], _no_arguments([given]), put)]
        if isinstance(x, ast.While):
            test = at(ast.BoolOp(ast.And(), [goes_on, x.test]), x) if lowered.left else x.test
            call = [_call("loops.while_", _thunk(self.visit(test)))]
        else:
            call = [_call("loops.for_", self._over(x.iter), _thunk(self.visit(goes_on)))]
        thunks: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names_of.values()]
        call[0].args += [*thunks, ast.Tuple([ast.Constant(n) for n in names], ast.Load()), ast.Constant(in_place)]
        return [at(m, x) for m in (*made, ast.Expr(call[0]))]

    def _over(self, x: ast.expr) -> ast.expr:
        """Rewrites the iterable of a `for`: a call becomes a call of ``loops.iterated``, because it may be a `range`
        with tensors as bounds.
        """
        if not isinstance(x, ast.Call) or x.keywords or _has([x], (ast.Starred,)) or (
                isinstance(x.func, ast.Name) and x.func.id in ("super", "locals", "vars", "eval", "exec")):
            return self.visit(x)
        return _call("loops.iterated", self.visit(x.func), *[self.visit(a) for a in x.args])

    def _inner(self, x: Any) -> Any:
        """Rewrites the blocks in a statement."""
        for field in ("body", "orelse", "finalbody"):
            if getattr(x, field, None):
                setattr(x, field, self._block(getattr(x, field), ends=False))
        for handler in getattr(x, "handlers", []):
            handler.body = self._block(handler.body, ends=False)
        return x

    def visit_While(self, x: ast.While) -> Any:
        x.test = at(_call("plain", self.visit(x.test), ast.Constant("a `while`")), x.test)
        return self._inner(x)

    def visit_For(self, x: ast.For) -> Any:
        x.iter = self.visit(x.iter)
        return self._inner(x)

    def visit_With(self, x: ast.With) -> Any:
        for item in x.items:
            item.context_expr = self.visit(item.context_expr)
        return self._inner(x)

    def visit_Try(self, x: ast.Try) -> Any:
        return self._inner(x)

    def visit_AnnAssign(self, x: ast.AnnAssign) -> Any:
        # Annotated names cannot be nonlocal, so the annotation is left out.
        if x.value is None:
            return at(ast.Pass(), x)
        return at(ast.Assign([x.target], self.visit(x.value)), x)

    def visit_FunctionDef(self, x: ast.FunctionDef) -> Any:
        return x if _yields(x) else _Rewriter().function(x)

    def visit_Lambda(self, x: ast.Lambda) -> Any:
        return x if _yields(x) else _Rewriter().function(x)

    def visit_AsyncFunctionDef(self, x: ast.AsyncFunctionDef) -> Any:
        return x

    def visit_ClassDef(self, x: ast.ClassDef) -> Any:
        return x

    # -- expressions --------------------------------------------------------------------------------------

    def visit_Call(self, x: ast.Call) -> Any:
        self.generic_visit(x)
        if isinstance(x.func, ast.Name) and x.func.id in ("super", "locals", "vars", "eval", "exec"):
            if x.func.id == "super" and not x.args and self._first:
                # Without arguments, `super` takes the first argument of the function that contains the call, and
                # after rewriting this may be the function of a branch.
                x.args = [at(ast.Name(name, ast.Load()), x) for name in ("__class__", self._first)]
            return x
        x.func = at(_call("callee", x.func), x)
        return x

    def visit_BoolOp(self, x: ast.BoolOp) -> Any:
        if _has(x.values, (ast.NamedExpr,)):
            return self.generic_visit(x)
        out = self.visit(x.values[-1])
        for value in reversed(x.values[:-1]):
            out = at(_call("and_" if isinstance(x.op, ast.And) else "or_", self.visit(value), _thunk(out)), x)
        return out

    def visit_UnaryOp(self, x: ast.UnaryOp) -> Any:
        self.generic_visit(x)
        return at(_call("not_", x.operand), x) if isinstance(x.op, ast.Not) else x

    def visit_IfExp(self, x: ast.IfExp) -> Any:
        if _has([x.body, x.orelse], (ast.NamedExpr,)):
            return self.generic_visit(x)
        return at(_call("choose", self.visit(x.test), _thunk(self.visit(x.body)), _thunk(self.visit(x.orelse))), x)

    def visit_Compare(self, x: ast.Compare) -> Any:
        named = _has([x], (ast.NamedExpr,))
        self.generic_visit(x)
        if len(x.ops) == 1 or named:
            return x
        others: list[ast.expr] = [ast.Tuple([ast.Constant(type(op).__name__), _thunk(value)], ast.Load())
                                  for op, value in zip(x.ops, x.comparators)]
        return at(_call("chain", x.left, ast.Tuple(others, ast.Load())), x)


def _call(op: str, *arguments: ast.expr) -> ast.Call:
    f: ast.expr = ast.Name(OPS, ast.Load())
    for name in op.split("."):
        f = ast.Attribute(f, name, ast.Load())
    return ast.Call(f, list(arguments), [])


def _no_arguments(names: list[str]) -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[ast.arg(n) for n in names], kwonlyargs=[], kw_defaults=[], defaults=[])


def _thunk(value: ast.expr) -> ast.expr:
    return ast.Lambda(_no_arguments([]), value)


"""Python functions that run as they are, in processes of their own, for each element."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._tensors import values as _values
from .._tensors.labels import rebuilt
from .._tracing import assertions as _assertions, tracing as _tracing
from . import origins as _origins, pool as _pool, shipping as _shipping, whole_generator as _whole_generator
from .._refusals import refuse
from .._specs import TensorSpec, map_structure, spec_of_leaf
from ..dtypes import as_dtype

if TYPE_CHECKING:
    from .._dataset import Dataset

def _spec(leaf: Any) -> TensorSpec:
    return leaf if isinstance(leaf, TensorSpec) else TensorSpec(None, as_dtype(leaf))


def _plain(spec: Any) -> list[Any]:
    if not isinstance(spec, TensorSpec):
        raise TypeError(f"a Python function takes and gives tensors, not {spec}: batch the datasets in a flat_map before")
    dims = spec.shape.dims
    return [spec.dtype.name, None if dims is None else list(dims)]


class _Around:
    """Calls ``f``. If ``f`` is a class, an object of the class is made at the first call, and is called instead."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self._f = f
        self._made = not isinstance(f, type)
        self.__qualname__ = getattr(f, "__qualname__", type(f).__qualname__)

    def _result(self, arguments: tuple[Any, ...]) -> Any:
        if not self._made:
            self._f, self._made = self._f(), True
        return self._f(*arguments)


class _Twice(_Around):
    """Returns the result twice, as a pair."""

    def __call__(self, *arguments: Any) -> Any:
        result = self._result(arguments)
        return result, result


class _Parts(_Around):
    """Returns the parts of the result as a tuple: the items of a list or tuple; any other result is the only part."""

    def __call__(self, *arguments: Any) -> Any:
        result = self._result(arguments)
        return tuple(result) if isinstance(result, (list, tuple)) else (result,)


class _OnePart(_Around):
    """Returns the tensor of a function that is declared to give one: its result, or the only item of a list or
    tuple.
    """

    def __call__(self, *arguments: Any) -> Any:
        result = self._result(arguments)
        if not isinstance(result, (list, tuple)):
            return result
        if len(result) != 1:
            raise TypeError(f"it gave {len(result)} parts, but Tout declares one: numpy.array makes one tensor of a list")
        return result[0]


class PyFunction:
    """The result of ``py_function``: for ``Dataset.map``, ``filter``, ``take_while``, ``scan`` and ``reduce``.

    >>> double = hr.py_function(lambda x: 2 * x, hr.TensorSpec([], hr.int64), deterministic=True)
    >>> isinstance(double, hr.PyFunction), double.deterministic
    (True, True)
    """

    def __init__(self, f: Callable[..., Any], Tout: Any, deterministic: bool, around: Callable[[Any], Any] | None = None,
                 function: str = "py_function") -> None:
        self._f = f
        self._around = around
        self._made_by = function
        self._declared = map_structure(_spec, Tout)
        self.deterministic = deterministic

    def _function(self, graph: _core.Graph) -> _core.Function:
        """The function for the elements of ``graph``."""
        argument = map_structure(_plain, graph.spec(spec_of_leaf))
        declared = map_structure(_plain, self._declared)
        around, made_by = self._around, self._made_by

        def packed(f: Any, **how: bool) -> bytes:
            return _shipping.pack("function", around(f) if around else f, argument, declared, made_by, **how)

        origin = _origins.Origin(self._f, packed, at_each_pass=False)
        return _core.python_function(graph, _shipping.label_of(self._f), origin.shipped, declared, self.deterministic, origin)

    def _twice(self) -> PyFunction:
        """The same function, with its result twice, as a pair."""
        return PyFunction(self._f, (self._declared, self._declared), self.deterministic, _Twice)

    def __call__(self, *_: Any) -> Any:
        raise TypeError("what py_function gives is itself the argument of map, filter, take_while or scan: "
                        "ds.map(headrace.py_function(f, Tout))")


def _yes_or_no(value: Any, where: str, argument: str = "deterministic") -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{where}: {argument} must be a bool, not {type(value).__name__}: {value!r}")
    return value


def py_function(func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None, name: str | None = None, *,
                deterministic: bool = False) -> Any:
    """Runs ``func`` in Python, without tracing it, for each element. Its arguments are numpy arrays and scalars, and
    strings that compare equal to ``bytes`` and to ``str``.

    With ``inp``, in a traced function: returns the results of ``func(*inp)``, where ``inp`` are tensors of the
    function. Without ``inp``: returns an object that is itself the argument of ``Dataset.map``, ``filter``,
    ``take_while``, ``scan`` or ``reduce``; this is faster.

    func: a function of ``inp``, or of an element (of the parts of an element, if elements are tuples); or a class, of
    which one object is made in each process, and called. ``func`` is shipped with cloudpickle to where the pipeline
    runs, and runs there in a pool of processes: here, or on workers started from Python (``WorkerServer``,
    ``headrace worker --python``).
    Tout: dtypes or ``TensorSpec``s in the structure of the result of ``func``. A dtype alone leaves the shape open:
    see ``ensure_shape``. With ``inp``, a list or a tuple that ``func`` returns contains its results: as many as there
    are in ``Tout``, or one if ``Tout`` is no list or tuple.
    deterministic: a promise that ``func`` returns the same result for the same element wherever it runs. The graph
    contains this promise.

    An exception becomes the error of the element, with the traceback in the process where ``func`` ran: an
    ``InvalidArgumentError`` for a ``ValueError`` or ``TypeError``, ``ResourceExhaustedError`` for a ``MemoryError``,
    ``UnimplementedError`` for a ``NotImplementedError``, ``UnknownError`` for others. Raises
    ``OperatorNotAllowedInGraphError`` in a branch or a loop over tensors, because ``func`` would run for every
    element.

    >>> import headrace as hr
    >>> def name_of(n):
    ...     return ["none", "one", "many"][min(int(n), 2)]
    >>> list(hr.Dataset.range(3).map(hr.py_function(name_of, Tout=hr.TensorSpec([], hr.string))))
    [b'none', b'one', b'many']
    >>> list(hr.Dataset.range(2).map(lambda n: (n, hr.py_function(name_of, [n], hr.string))))
    [(np.int64(0), b'none'), (np.int64(1), b'one')]
    """
    if not callable(func):
        raise TypeError(f"py_function: func must be callable, not {type(func).__name__}")
    if Tout is None and inp is not None and not _values.holds_tensors(inp):
        inp, Tout = None, inp  # called as py_function(func, Tout)
    if Tout is None:
        raise TypeError("py_function: Tout must say what func gives: dtypes or TensorSpecs")
    said = _yes_or_no(deterministic, "py_function")
    return PyFunction(func, Tout, said) if inp is None else _called(func, inp, Tout, said, "py_function")


def numpy_function(func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None, stateful: bool = True,
                   name: str | None = None) -> Any:
    """``py_function(func, inp, Tout)``, but strings are plain ``bytes``. ``stateful=False``: a promise that ``func``
    returns the same result for the same element wherever it runs.

    >>> list(hr.Dataset.range(3).map(lambda n: hr.numpy_function(np.square, [n], hr.int64)))
    [np.int64(0), np.int64(1), np.int64(4)]
    """
    if not callable(func):
        raise TypeError(f"numpy_function: func must be callable, not {type(func).__name__}")
    if Tout is None or inp is None:
        raise TypeError("numpy_function: it takes func, inp and Tout, in a function that is traced")
    return _called(func, inp, Tout, not _yes_or_no(stateful, "numpy_function", "stateful"), "numpy_function")


def _called(f: Callable[..., Any], inp: Any, Tout: Any, deterministic: bool, function: str,
            around: Callable[[Any], Any] | None = None) -> Any:
    """The results of ``f`` for ``inp``, which are tensors of the function that is being traced.

    function: the name of the caller, for messages.
    """
    from .._dataset import Dataset

    if not isinstance(inp, (list, tuple)):
        inp = [inp]
    if not _tracing.is_tracing():
        raise TypeError(f"{function}: inp is of tensors in a function that is traced; call {f!r} itself")
    if _assertions.is_conditional():
        refuse(f"{function} runs for every element, and so cannot stand in a branch or a loop over tensors",
               "Use a Python function that looks at the condition itself")
    if not inp or Tout in ([], ()):
        raise ValueError(f"{function}: {'Tout' if inp else 'inp'} is empty: a call is of one tensor of the element at least, and gives one")
    given = tuple(_values.constant(x) for x in inp)
    parts = isinstance(Tout, (list, tuple)) and not hasattr(Tout, "_fields")
    if around is None:
        of_structure = isinstance(Tout, (tuple, Mapping)) or hasattr(Tout, "_ragged_parts")
        around = _Parts if parts else None if of_structure else _OnePart
    called = PyFunction(f, tuple(Tout) if parts else Tout, deterministic, around, function)
    out = Dataset.from_tensors(given).map(called).get_single_element()
    return list(out) if isinstance(Tout, list) else out


class NamedFunction(PyFunction):
    """The result of ``named_function``: for ``Dataset.map``, ``filter`` and ``take_while``.

    >>> hr.named_function("tile", hr.TensorSpec([], hr.int64)).deterministic
    False
    """

    def __init__(self, name: str, Tout: Any, deterministic: bool) -> None:
        super().__init__(None, Tout, deterministic)  # type: ignore[arg-type]
        self._name = name

    def _function(self, graph: _core.Graph) -> _core.Function:
        return _core.named_function(graph, self._name, map_structure(_plain, self._declared), self.deterministic)

    def _twice(self) -> PyFunction:
        raise TypeError(f"reduce: reduce_func cannot be the C++ function '{self._name}'; scan with one that gives "
                        "(state, output)")


def named_function(name: str, Tout: Any, *, deterministic: bool = False) -> NamedFunction:
    """The C++ function that is registered as ``name`` where the pipeline runs, for ``Dataset.map``, ``filter`` and
    ``take_while``. It belongs to a plug-in that a worker (``headrace worker --plugin``) or this process
    (``load_plugin``) has loaded.

    Tout: dtypes or ``TensorSpec``s in the structure of the function's result.
    deterministic: as in ``py_function``.

    A pipeline that calls a function that is not registered raises ``NotFoundError``.

    >>> try:
    ...     list(hr.Dataset.range(1).map(hr.named_function("nobodys", hr.TensorSpec([], hr.int64))))
    ... except hr.errors.NotFoundError as e:
    ...     print("nobodys" in str(e))
    True
    """
    if not isinstance(name, str):
        raise TypeError(f"named_function: name must be a string, not {type(name).__name__}")
    if not name or name == _shipping.NAME:
        raise ValueError(f"named_function: name must be that of a C++ function, not {name!r}")
    return NamedFunction(name, Tout, _yes_or_no(deterministic, "named_function"))


def load_plugin(path: Any) -> None:
    """Adds the C++ functions of a plug-in, a shared library, to the functions that pipelines in this process may
    call: the pipelines of iterations, and of workers that the process starts. The plug-in stays loaded.

    Raises ``NotFoundError`` if there is no such file, ``FailedPreconditionError`` if it is no plug-in of this release,
    and ``AlreadyExistsError`` if a function with the name of one of its functions is registered already.

    >>> try:
    ...     hr.load_plugin("/nowhere/plugin.so")
    ... except hr.errors.NotFoundError:
    ...     print("there is no such file")
    there is no such file
    """
    _core.load_plugin(os.fspath(path))


def _find(label: str, shipped: bytes, pool: _pool.Pool | None, origin: _origins.Origin | None = None,
          reading: int = 0) -> tuple[Any, Any, Any, bool]:
    """For the extension: a callable that runs ``shipped``, a result of ``_shipping.pack``, over rows; the specs of its
    argument and of its result; and true if it is a generator, which may give fewer rows than requested.

    pool: the pool in which ``shipped`` runs. None: the pool of this process.
    origin: the function object of this program from which ``shipped`` was made. Without a ``pool`` the function is
    shipped again with the present values of the variables and objects that it uses. It keeps its state from pass to
    pass as long as these values do not change.
    reading: the number of the iteration. A generator is shipped again at each pass, but a function only once in an
    iteration, because a function may be requested with every element.

    Raises ``PermissionDeniedError`` if the pool does not accept the function, ``InvalidArgumentError`` if ``shipped``
    is damaged.
    """
    where = pool or _pool.shared()
    where.accepts(label, shipped)
    number = 0
    if origin is not None and pool is None:
        shipped, number = origin.current(reading), origin.number
    # The function itself is deserialized only in the processes of the pool.
    about = _shipping.unpack(shipped)
    digest = hashlib.sha256(shipped).digest()
    if about.kind == "generator":
        run = where.generator(shipped, (number, digest) if number else None).run
        return run, about.argument, about.declared, True
    identity = digest + number.to_bytes(8, "little")
    return (lambda rows: where.run(identity, shipped, rows)), about.argument, about.declared, False


def from_generator(generator: Any, output_types: Any, output_shapes: Any, args: Any, output_signature: Any,
                   deterministic: Any) -> Dataset:
    """See ``Dataset.from_generator``."""
    from .._dataset import Dataset

    if not callable(generator):
        raise TypeError("from_generator: generator must be callable and give an iterable")
    if (output_signature is None) == (output_types is None):
        raise TypeError("from_generator: output_signature must be given, or output_types, and not both")
    if output_signature is not None:
        if output_shapes is not None:
            raise TypeError("from_generator: output_shapes goes with output_types, not with output_signature")
        declared = map_structure(_spec, output_signature)
    elif output_shapes is None:
        declared = map_structure(_spec, output_types)
    else:
        declared = _with_shapes(output_types, output_shapes)
    if args is not None and not isinstance(args, (tuple, list)):
        raise TypeError(f"from_generator: args must be a tuple of what the generator is given, not {args!r:.60}")
    if _values.depends(args or ()):
        return _with_tensors(generator, declared, args)
    given = tuple(_argument(i, part) for i, part in enumerate(args or ()))
    result = map_structure(_plain, declared)
    said = _yes_or_no(deterministic, "from_generator")

    def packed(f: Any, **how: bool) -> bytes:
        return _shipping.pack("generator", (f, given), ["int64", []], result, "from_generator", **how)

    origin = _origins.Origin(generator, packed, at_each_pass=True)
    return Dataset(_core.generator(_shipping.label_of(generator), origin.shipped, result, said, origin))


def _with_tensors(generator: Any, declared: Any, args: Any) -> Dataset:
    """The dataset of ``from_generator``, in a traced function, for ``args`` that depend on the function's element."""
    columns = _whole_generator.columns_of(declared)
    return _whole_generator.elements_of(
        _called(generator, list(args), columns, False, "from_generator", _Whole(declared)), declared)


class _Whole:
    """Makes a ``WholeGenerator`` with these components from a generator function."""

    def __init__(self, declared: Any) -> None:
        self._declared = declared

    def __call__(self, generator: Any) -> Any:
        return _whole_generator.WholeGenerator(generator, self._declared)


def _argument(i: int, value: Any) -> Any:
    """One of ``args`` as the generator is given it: an array, a scalar of numpy, or bytes."""
    if _values.holds_tensors(value):
        value = _values.known(_values.constant(value), f"from_generator: args[{i}]", "a value")
    if isinstance(value, dict):
        raise ValueError(f"from_generator: args[{i}] is a dict; what the generator is given are tensors")
    try:
        array = _values.as_array(value)
    except (TypeError, ValueError) as e:
        raise ValueError(f"from_generator: args[{i}]: {e}") from None
    if array.dtype.kind in "OSU":
        as_bytes = np.empty(array.shape, np.object_)
        for at in np.ndindex(array.shape):
            text = array[at]
            as_bytes[at] = text.encode() if isinstance(text, str) else bytes(text)
        array = as_bytes
    return array[()]


def _with_shapes(types: Any, shapes: Any) -> Any:
    if isinstance(types, tuple) and isinstance(shapes, tuple) and len(types) == len(shapes):
        return rebuilt(types, [_with_shapes(t, s) for t, s in zip(types, shapes)])
    if isinstance(types, Mapping) and isinstance(shapes, Mapping) and types.keys() == shapes.keys():
        return rebuilt(types, [_with_shapes(t, shapes[key]) for key, t in types.items()])
    if isinstance(types, (tuple, Mapping)):
        raise TypeError("from_generator: output_shapes must be arranged as output_types")
    return TensorSpec(shapes, types)

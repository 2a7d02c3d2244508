"""Errors, by cause. The classes are named as in TensorFlow.

Every error's text names the operator or the part of the service, the fault, and a correct value.
An argument of a wrong type raises a ``TypeError``; an argument of a wrong value raises a ``ValueError`` or an
``InvalidArgumentError``, which is a ``ValueError`` too. A wrong operand, function or dataset raises an
``ArgumentError`` when a dataset is made. This class is a subclass of all three, because in such cases TensorFlow
raises sometimes one of them and sometimes another.

>>> import headrace as hr
>>> try:
...     hr.Dataset.range(3).batch(0)
... except hr.errors.InvalidArgumentError as e:
...     print(e)
batch: batch_size is 0; it must be at least 1
"""

from __future__ import annotations

_by_code: dict[int, type[OpError]] = {}


class OpError(Exception):
    """The base of all errors of operators and of the service."""

    #: The number that gRPC and TensorFlow use for the cause.
    error_code: int = 2

    def __init_subclass__(cls, code: int | None = None) -> None:
        if code is not None:
            cls.error_code = code
            _by_code[code] = cls

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self._message = message

    @property
    def message(self) -> str:
        """The message.

        >>> hr.errors.NotFoundError("no such file").message
        'no such file'
        """
        return self._message


class CancelledError(OpError, code=1):
    """The operation was cancelled."""


class UnknownError(OpError, code=2):
    """The error of foreign code, such as a Python function, for which no other class fits."""


class InvalidArgumentError(OpError, ValueError, code=3):
    """A value is wrong, whatever the state of the system."""


class ArgumentError(InvalidArgumentError, TypeError):
    """A dataset or a function cannot be made, because a value, a dtype, a shape or a structure is wrong. Errors of
    elements have other classes.

    >>> for kind in TypeError, ValueError, hr.errors.InvalidArgumentError:
    ...     try:
    ...         Dataset.range(3).map(lambda x: x * 0.5)
    ...     except kind as e:
    ...         print(type(e).__name__)
    ArgumentError
    ArgumentError
    ArgumentError
    """


class DeadlineExceededError(OpError, code=4):
    """A wait with a time limit ended."""


class NotFoundError(OpError, code=5):
    """There is no such file, dataset or job."""


class AlreadyExistsError(OpError, code=6):
    """The id, name or path is already used for something else."""


class PermissionDeniedError(OpError, code=7):
    """The request was understood, and is not allowed."""


class ResourceExhaustedError(OpError, code=8):
    """No memory, disk or descriptors are left."""


class FailedPreconditionError(OpError, code=9):
    """The call is valid, but not in the present state."""


class AbortedError(OpError, code=10):
    """Another event ended the operation; the call may be repeated."""


class OutOfRangeError(OpError, code=11):
    """``get_next`` of an iterator was called at the end of the dataset, or ``experimental.at`` with an index beyond
    the end. The error of an element is never of this class.
    """


class UnimplementedError(OpError, NotImplementedError, code=12):
    """This release does not implement the function."""


class InternalError(OpError, code=13):
    """A defect of headrace."""


class UnavailableError(OpError, code=14):
    """There is no answer at the moment; the call may be repeated."""


class DataLossError(OpError, code=15):
    """Stored or received bytes are damaged."""


class UnauthenticatedError(OpError, code=16):
    """There is no valid certificate."""


class OperatorNotAllowedInGraphError(TypeError, ValueError):
    """Python code in a traced function needed the value of a tensor, which is not known while the function is traced.
    The class is also a ``ValueError``, because TensorFlow raises that for control flow that cannot be part of the
    graph.
    """


def _make(code: int, message: str, made: bool = False) -> OpError:
    """The error with this code; called by the extension module. ``made``: false if the error occurred while an
    element was read, otherwise true. If it is true, the error is an ``ArgumentError`` in place of an
    ``InvalidArgumentError``.
    """
    kind = _by_code.get(code, UnknownError)
    return (ArgumentError if made and kind is InvalidArgumentError else kind)(message)

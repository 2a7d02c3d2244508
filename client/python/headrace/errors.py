"""What can go wrong, by cause. The classes are named as in TensorFlow.

Every error's text names the operator or the service's part, what is wrong and what would be right.
An argument of a wrong type is a ``TypeError``; one of a wrong value is a ``ValueError`` or an
``InvalidArgumentError``, which is a ``ValueError`` too.

>>> import headrace as hr
>>> try:
...     hr.Dataset.range(3).batch(0)
... except hr.errors.InvalidArgumentError as e:
...     print(e)
batch: batch_size is 0; it must be at least 1
"""

from __future__ import annotations

__all__ = [
    "OpError", "CancelledError", "UnknownError", "InvalidArgumentError", "DeadlineExceededError", "NotFoundError",
    "AlreadyExistsError", "PermissionDeniedError", "ResourceExhaustedError", "FailedPreconditionError",
    "AbortedError", "OutOfRangeError", "UnimplementedError", "InternalError", "UnavailableError", "DataLossError",
    "UnauthenticatedError", "OperatorNotAllowedInGraphError",
]


class OpError(Exception):
    """The base of all errors that an operator or the service gives."""

    #: The number that gRPC and TensorFlow use for the cause.
    error_code: int = 2

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self._message = message

    @property
    def message(self) -> str:
        """What is wrong."""
        return self._message


class CancelledError(OpError):
    """Somebody asked for it to stop."""

    error_code = 1


class UnknownError(OpError):
    """Foreign code gave no better reason."""

    error_code = 2


class InvalidArgumentError(OpError, ValueError):
    """A value is wrong, whatever the state of the system."""

    error_code = 3


class DeadlineExceededError(OpError):
    """A bounded wait ended."""

    error_code = 4


class NotFoundError(OpError):
    """There is no such file, dataset or job."""

    error_code = 5


class AlreadyExistsError(OpError):
    """The id is taken by something else."""

    error_code = 6


class PermissionDeniedError(OpError):
    """Known, and not allowed."""

    error_code = 7


class ResourceExhaustedError(OpError):
    """No memory, disk or descriptors are left."""

    error_code = 8


class FailedPreconditionError(OpError):
    """The right call in the wrong state."""

    error_code = 9


class AbortedError(OpError):
    """Overtaken by another change; may be tried again."""

    error_code = 10


class OutOfRangeError(OpError):
    """Past the end."""

    error_code = 11


class UnimplementedError(OpError, NotImplementedError):
    """This release cannot do it."""

    error_code = 12


class InternalError(OpError):
    """A defect of headrace."""

    error_code = 13


class UnavailableError(OpError):
    """Nobody answers at the moment; may be tried again."""

    error_code = 14


class DataLossError(OpError):
    """Stored or received bytes are damaged."""

    error_code = 15


class UnauthenticatedError(OpError):
    """No valid certificate."""

    error_code = 16


class OperatorNotAllowedInGraphError(TypeError):
    """A traced function used a tensor's value in Python, which it does not have."""


_BY_NAME: dict[str, type[OpError]] = {
    "cancelled": CancelledError,
    "unknown": UnknownError,
    "invalid_argument": InvalidArgumentError,
    "deadline_exceeded": DeadlineExceededError,
    "not_found": NotFoundError,
    "already_exists": AlreadyExistsError,
    "permission_denied": PermissionDeniedError,
    "resource_exhausted": ResourceExhaustedError,
    "failed_precondition": FailedPreconditionError,
    "aborted": AbortedError,
    "out_of_range": OutOfRangeError,
    "unimplemented": UnimplementedError,
    "internal": InternalError,
    "unavailable": UnavailableError,
    "data_loss": DataLossError,
    "unauthenticated": UnauthenticatedError,
}


def _make(code: str, message: str) -> OpError:
    return _BY_NAME.get(code, UnknownError)(message)

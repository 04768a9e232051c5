"""The exceptions of `tf.errors`: each class's docstring says what causes it and what to write.

Classes take TensorFlow's three arguments `(node_def, op, message)` or the message alone.
"""

from __future__ import annotations

from typing import Any, ClassVar

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An op failed. The base class of all errors that carry one of the seventeen status codes.

    Catch this class to handle every failure of an op alike; catch a subclass to handle one cause.

    Args:
        node_def: the failed op's name in TensorFlow's registry. Alone, it is the message.
        op: the op that failed.
        message: the text.
        *args: an integer status code and a dict of payloads, both optional.

    Example:
        >>> import tapejax as tf
        >>> error = tf.errors.NotFoundError("no such file")
        >>> error.message, error.error_code
        ('no such file', 5)
    """

    _code: ClassVar[int] = UNKNOWN

    def __init__(
        self, node_def: Any = None, op: Any = None, message: Any = None, *args: Any
    ) -> None:
        if message is None:
            node_def, message = None, "" if node_def is None else node_def
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        codes = [item for item in args if isinstance(item, int)]
        self._error_code = codes[0] if codes else self._code
        payloads = [item for item in args if isinstance(item, dict)]
        self.experimental_payloads: dict[Any, Any] = payloads[0] if payloads else {}

    @property
    def message(self) -> str:
        """The text of the error."""
        return self._message

    @property
    def op(self) -> Any:
        """The op that failed, where it is known."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The name of the failed op in TensorFlow's registry, where it is known."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The integer status code."""
        return self._error_code

    def __str__(self) -> str:
        return str(self._message)


class CancelledError(OpError):
    """Work was stopped before it finished.

    Cause: a queue, an iterator or a coordinator was closed while something still waited for it.
    Cure: let the consumer finish first, or treat the error as the normal end of the loop.
    """

    _code = CANCELLED


class UnknownError(OpError):
    """Something failed that fits no other class.

    Cause: usually a Python function called from inside a program raised an error of its own.
    Cure: read the chained exception below the message, it is the real one.
    """

    _code = UNKNOWN


class InvalidArgumentError(OpError):
    """An op got an argument it cannot work with.

    Causes: shapes that do not broadcast, two tensors of different dtypes (tensors are never
    promoted), a dtype the op does not take, an axis or index out of range, a singular matrix,
    integer division by zero, a failed `tf.debugging` assertion.
    Cure: compare `x.shape` and `x.dtype` of the operands named in the message; use
    `tf.cast(x, y.dtype)`, `tf.reshape` or `tf.expand_dims` to make them agree.
    """

    _code = INVALID_ARGUMENT


class DeadlineExceededError(OpError):
    """An operation took longer than the time it was given.

    Cause: a peer is slow, overloaded or gone. Cure: look at the peer first, then raise the limit.
    """

    _code = DEADLINE_EXCEEDED


class NotFoundError(OpError):
    """A file, checkpoint key, device or registered name does not exist.

    Cause: a wrong path or a name saved by another version of the program.
    Cure: list what is there (`tf.train.list_variables(path)`) and compare with the message.
    """

    _code = NOT_FOUND


class AlreadyExistsError(OpError):
    """Something was to be created that exists already.

    Cause: the same path or name is made twice. Cure: delete the old one or choose a new name.
    """

    _code = ALREADY_EXISTS


class PermissionDeniedError(OpError):
    """The process may not do what was asked.

    Cause: a file or folder that the user of the process cannot read or write.
    Cure: change the path or its permissions.
    """

    _code = PERMISSION_DENIED


class UnauthenticatedError(OpError):
    """The request carries no valid identity.

    Cause: a remote service refused the caller. Cure: sign in to the service before the run.
    """

    _code = UNAUTHENTICATED


class ResourceExhaustedError(OpError):
    """Memory, disk or another limited resource ran out.

    Cause: most often a batch or an intermediate value too large for the device's memory.
    Cure: a smaller batch, `tf.recompute_grad` around the large block, a narrower dtype, and no
    persistent tape kept alive longer than needed.
    """

    _code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    """The system is not in a state in which this can be done.

    Cause: a variable or table is read before it has a value, or a folder to delete is not empty.
    Cure: do the step that the message names first.
    """

    _code = FAILED_PRECONDITION


class AbortedError(OpError):
    """Work was stopped because it clashed with other work.

    Cause: two users of one resource, or a worker that restarted. Cure: try again.
    """

    _code = ABORTED


class OutOfRangeError(OpError):
    """Reading went past the end.

    Cause: an iterator or a file has no more elements.
    Cure: iterate with `for`, which ends by itself, or `.repeat()` the dataset.
    """

    _code = OUT_OF_RANGE


class UnimplementedError(OpError):
    """The op exists, but not for this dtype, option or device.

    Cure: cast to a dtype that is supported (the message lists them) or use the alternative named.
    """

    _code = UNIMPLEMENTED


class InternalError(OpError):
    """An invariant of the library is broken.

    Cause: a fault of the library or of the compiler below it, not of your program.
    Cure: report it with the smallest program that shows it.
    """

    _code = INTERNAL


class UnavailableError(OpError):
    """A service cannot be reached right now.

    Cause: a peer of a multi-process program is down or restarting. Cure: try again later.
    """

    _code = UNAVAILABLE


class DataLossError(OpError):
    """Stored data is damaged.

    Cause: a truncated or overwritten checkpoint or record file.
    Cure: restore an older checkpoint, or write the file again.
    """

    _code = DATA_LOSS


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor that has no value yet was used where Python needs one.

    Cause: inside `tf.function` (or a staged branch or loop body) a tensor was used as a Python
    `bool`, iterated over, or unpacked.
    Cure: write `if`, `while` and `for` directly in the decorated function, so that they are
    staged; else use `tf.cond`, `tf.while_loop`, `tf.unstack` or `x[0]`, or leave the function
    undecorated.
    """


class InaccessibleTensorError(ValueError):
    """A tensor was used outside the function, branch or loop body that made it.

    Cause: a value was stored in a list, an attribute or a global while a function was traced.
    Cure: return the value from the function; collect values of a loop in a `tf.TensorArray`.
    """


_BY_CODE: dict[int, type[OpError]] = {
    cls._code: cls  # pyright: ignore[reportPrivateUsage]
    for cls in OpError.__subclasses__()
}


def exception_type_from_error_code(code: int) -> type[OpError]:
    """Return the class of an integer status code.

    Args:
        code: 1 to 16.

    Returns:
        The subclass of `OpError`.

    Raises:
        KeyError: no error has this code.

    Example:
        >>> import tapejax as tf
        >>> tf.errors.exception_type_from_error_code(3).__name__
        'InvalidArgumentError'
    """
    return _BY_CODE[code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """Return the integer status code of a class.

    Args:
        cls: a subclass of `OpError`.

    Returns:
        1 to 16.

    Raises:
        KeyError: the class has no code of its own.
    """
    return {known: code for code, known in _BY_CODE.items()}[cls]

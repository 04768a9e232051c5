"""What an op does that is given a composite tensor (`tf.RaggedTensor`, `tf.SparseTensor`).

Ops take plain tensors. A composite is noticed where converting it to one fails, so plain tensors
pay nothing; what the call means then is the affair of the handler of its class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from tapejax._src.core.dtypes import DType
from tapejax._src.engine.definitions import OpDef


class CompositeGivenError(ValueError):
    """A composite tensor stands where a tensor is needed.

    Attributes:
        value: The composite tensor.
    """

    def __init__(self, value: Any, message: str) -> None:
        super().__init__(message)
        self.value = value


class Handler(Protocol):
    """Answers a call with a composite among its arguments, or returns NotImplemented."""

    def __call__(
        self, name: str, call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """The answer.

        Args:
            name: The first public path of the op.
            call: The op itself, for calls with plain tensors.
            args: The arguments of the call.
            kwargs: Its keyword arguments.
        """


HANDLERS: dict[type, Handler] = {}
"""The handler of each class of composite tensors."""


def refuse(describe: Callable[[Any], str]) -> Callable[[Any, DType | None], NoReturn]:
    """The conversion of a composite tensor to a tensor: an error that ops can answer."""

    def convert(value: Any, dtype: DType | None) -> NoReturn:
        del dtype
        raise CompositeGivenError(value, describe(value))

    return convert


def answer(
    name: str,
    call: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    error: CompositeGivenError,
) -> Any:
    """What a function does that was given a composite tensor; raises the error if nothing."""
    handler = HANDLERS.get(type(error.value))
    result = NotImplemented if handler is None else handler(name, call, args, kwargs)
    if result is NotImplemented:
        raise error
    return result


def answer_op(
    definition: OpDef,
    call: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    error: CompositeGivenError,
) -> Any:
    """The same for an op of the registry."""

    def plain(*args: Any, **kwargs: Any) -> Any:
        return call(definition, args, kwargs)

    return answer(definition.name, plain, args, kwargs, error)

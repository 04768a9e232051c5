"""What an op does that is given a composite tensor (`tf.RaggedTensor`, `tf.SparseTensor`).

Ops take plain tensors. A composite is noticed where converting it to one fails, so plain tensors
pay nothing; what the call means then is the affair of the handler of its class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, ParamSpec, Protocol

from tapejax._src.core.dtypes import DType
from tapejax._src.engine.definitions import OpDef

P = ParamSpec("P")


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
    try:
        result = NotImplemented if handler is None else handler(name, call, args, kwargs)
    except Exception as raised:
        if raised.__context__ is error:  # how the composite was noticed explains nothing
            raised.__context__ = None
        raise
    if result is NotImplemented:
        raise error
    return result


def takes_composites(name: str) -> Callable[[Callable[P, Any]], Callable[P, Any]]:
    """Let composite tensors be answered by their handlers, in a function that calls several ops.

    Args:
        name: What the handlers know the function by: its public path.

    Returns:
        A decorator.
    """

    def decorate(fn: Callable[P, Any]) -> Callable[P, Any]:
        @functools.wraps(fn)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            try:
                return fn(*args, **kwargs)
            except CompositeGivenError as error:
                return answer(name, fn, args, kwargs, error)

        return call

    return decorate


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

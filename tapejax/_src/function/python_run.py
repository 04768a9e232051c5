"""The call of a `tf.function` as eager code, where nothing can be compiled as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapejax._src.core.errors import OutOfRangeError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.function.returned import Returned
from tapejax._src.function.trace_key import ARRAYS, with_leaves


def run_as_python(
    body: Callable[..., Any], user: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Run a body as it stands, with what a traced function makes of arguments and results.

    Args:
        body: The function to run.
        user: The function as the user wrote it, for messages.
        args: The positional arguments, bound to the signature.
        kwargs: The others.

    Returns:
        What it returns: arrays and numbers as tensors.

    Raises:
        OutOfRangeError: If an iterator ends.
    """

    def fill(leaf: Any) -> Any:
        return as_tensor(leaf) if isinstance(leaf, ARRAYS) else leaf

    given = [with_leaves(value, fill) for value in args]
    named = {name: with_leaves(value, fill) for name, value in kwargs.items()}
    try:
        value = body(*given, **named)
    except StopIteration as error:
        raise OutOfRangeError(None, None, "End of sequence") from error
    returned = Returned(value, user)
    return returned.pack(returned.tensors)

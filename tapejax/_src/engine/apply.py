"""Recording a pure function that is not a registered op: many tensors in, many out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record

_kernels: dict[tuple[str, Any], Kernel] = {}


def multi_op(
    name: str, fn: Callable[..., Any], static_key: Any
) -> Callable[[Sequence[Any]], list[Tensor]]:
    """A function that records `fn` as one op.

    Args:
        name: The op's name in programs and messages.
        fn: Pure function of arrays (positional), returning a tuple or list of arrays.
        static_key: Hashable; calls with equal name and key share one kernel, so it must determine
            `fn`.

    Returns:
        Function of a list of tensors, variables and Python numbers, returning a list of tensors.
    """
    key = (name, static_key)
    kernel = _kernels.get(key)
    if kernel is None:
        kernel = _kernels[key] = Kernel(name, lambda *arrays: list(fn(*arrays)))
    found = kernel
    return lambda inputs: record(found, inputs)

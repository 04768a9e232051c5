"""`tf.nondifferentiable_batch_function`: calls of several threads in one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapejax._src.core import nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public
from tapejax._src.tape.custom_gradient import stop_gradient


@public("nondifferentiable_batch_function")
def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
    enable_large_batch_splitting: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that may run concurrent calls of a function as one; each call runs at once here.

    Args:
        num_batch_threads: Ignored.
        max_batch_size: The largest size of the first axis of an argument.
        batch_timeout_micros: Ignored.
        allowed_batch_sizes: Sizes that a batch may have, ascending; the last is `max_batch_size`.
        max_enqueued_batches: Ignored.
        autograph: Ignored.
        enable_large_batch_splitting: Whether larger arguments are accepted.

    Returns:
        A decorator. The function takes and gives tensors that have one first axis; no gradient
        passes through it.

    Raises:
        ValueError: If `allowed_batch_sizes` does not end with `max_batch_size`, or at a call, if an
            argument is too large.

    Example:
        >>> import tapejax as tf
        >>> @tf.nondifferentiable_batch_function(1, 10, 100)
        ... def double(x):
        ...     return x * 2.0
        >>> double(tf.constant([1.0])).numpy().tolist()
        [2.0]

    *Differs from TensorFlow*: a call never waits for others to share a batch with.
    """
    del num_batch_threads, batch_timeout_micros, max_enqueued_batches, autograph
    sizes = list(allowed_batch_sizes or [max_batch_size])
    if sizes != sorted(sizes) or sizes[-1] != max_batch_size:
        raise ValueError(
            "allowed_batch_sizes must ascend and end with max_batch_size. Received: "
            f"allowed_batch_sizes={allowed_batch_sizes}, max_batch_size={max_batch_size}"
        )

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def decorated(*args: Any) -> Any:
            tensors = [as_tensor(arg) for arg in nest.flatten(args)]
            for tensor in tensors:
                _check(tensor, max_batch_size, enable_large_batch_splitting)
            result = fn(*nest.pack_sequence_as(args, tensors))
            return nest.map_structure(lambda x: stop_gradient(as_tensor(x)), result)

        return decorated

    return decorator


def _check(tensor: Tensor, most: int, may_split: bool) -> None:
    shape = tensor.aval.shape
    if not shape:
        raise ValueError("Batching input tensors must have at least one dimension")
    if shape[0] > most and not may_split:
        raise ValueError(
            f"The first axis of an argument has size {shape[0]}, more than max_batch_size={most}"
        )

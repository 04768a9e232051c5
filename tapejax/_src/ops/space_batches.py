"""`tf.nn.with_space_to_batch`: an op on every n-th element, by an op on neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.engine.registry import public
from tapejax._src.ops.blocks import batch_to_space, space_to_batch_nd
from tapejax._src.ops.shape_queries import required_space_to_batch_paddings


def _axes(
    rank: int, rates: Sequence[int], spatial_dims: Any, data_format: str | None
) -> tuple[list[int], int]:
    """The spatial axes, of which the leading `last` are covered by blocks."""
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    given = range(first, first + len(rates)) if spatial_dims is None else spatial_dims
    axes = [int(axis) for axis in given]
    if axes != sorted(set(axes)) or any(axis < 1 for axis in axes):
        raise ValueError(
            f"`spatial_dims` must be a monotonically increasing sequence of positive integers. "
            f"Received: spatial_dims={axes}"
        )
    last = axes[-1] if axes else 0
    needed = last + (0 if first == 2 or spatial_dims is not None else 1)
    if rank <= last or rank < needed:
        raise ValueError(
            f"input tensor must have rank {last + 1} at least. Received: a rank of {rank}"
        )
    return axes, last


def _base_paddings(
    padding: Any, rates: Sequence[int], filter_shape: Any, axes: Sequence[int]
) -> np.ndarray[Any, Any]:
    if padding == "VALID":
        return np.zeros((len(axes), 2), np.int64)
    if padding != "SAME":
        raise ValueError(f'`padding` must be "SAME" or "VALID". Received: padding={padding!r}')
    if filter_shape is None:
        raise ValueError("`filter_shape` must be specified for `SAME` padding. Received: None")
    shape = np.asarray(static_ints(filter_shape))[: len(axes)]
    total = (shape - 1) * np.asarray(rates)
    return np.stack([total // 2, total - total // 2], axis=1)


@public("nn.with_space_to_batch")
def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Callable[[Any, int, str], Any],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Any:
    """Run an op on a batch of the images that every n-th element makes, and put them together.

    Args:
        input: `[batch, *spatial, channels]`, or channels first if `data_format` starts with "NC".
        dilation_rate: The distance between elements along each spatial axis.
        padding: "VALID", or "SAME" (zeros before and after, as a dilated filter needs).
        op: Called as `op(input, num_spatial_dims, padding)`; it must keep the batch.
        filter_shape: The spatial sizes of the filter, for "SAME".
        spatial_dims: The spatial axes; by default those after the batch (and the channels).
        data_format: A string that starts with "NC" if channels come first.

    Returns:
        What `op` gives, as if it met every n-th element only.

    Raises:
        ValueError: If an argument does not fit the input.

    Example:
        >>> import tapejax as tf
        >>> x = tf.reshape(tf.range(6.0), [1, 6, 1])
        >>> op = lambda x, n, padding: tf.nn.max_pool(x, 2, 1, padding)
        >>> tf.nn.with_space_to_batch(x, [2], "VALID", op).numpy().ravel().tolist()
        [2.0, 3.0, 4.0, 5.0]
    """
    tensor = as_tensor(input)
    rates = [int(rate) for rate in np.atleast_1d(np.asarray(static_ints(dilation_rate)))]
    if any(rate < 1 for rate in rates):
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={rates}")
    shape = tensor.aval.shape
    axes, last = _axes(len(shape), rates, spatial_dims, data_format)
    if len(axes) != len(rates):
        raise ValueError(
            "`spatial_dims` and `dilation_rate` must have the same length. "
            f"Received: {axes}, {rates}"
        )
    if all(rate == 1 for rate in rates):
        return op(tensor, len(rates), padding)
    base = _base_paddings(padding, rates, filter_shape, axes)
    sizes = [shape[axis] for axis in axes]
    paddings, crops = required_space_to_batch_paddings(sizes, rates, base)
    blocks = np.ones(last, np.int64)
    before, after = np.zeros((last, 2), np.int64), np.zeros((last, 2), np.int64)
    places = np.asarray(axes) - 1
    blocks[places] = rates
    before[places], after[places] = np.asarray(paddings), np.asarray(crops)
    result = op(space_to_batch_nd(tensor, blocks, before), len(rates), "VALID")
    return batch_to_space(result, blocks, after)

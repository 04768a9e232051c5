"""The geometry that convolution and pooling share: sizes, strides, padding, and window slices.

Everything here works on the spatial axes of `[batch, *spatial, channels]` (channels last).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError, UnimplementedError
from tapejax._src.engine.registry import Array

Pads = tuple[tuple[int, int], ...]


class Geometry(NamedTuple):
    """A window that slides over spatial axes; each field has one entry per spatial axis."""

    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Pads

    def output(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The number of window positions along each axis; below 1 where none fits."""
        return tuple(
            (size + sum(pad) - (window - 1) * dilation - 1) // stride + 1
            for size, window, stride, dilation, pad in zip(sizes, *self, strict=True)
        )


def on_cpu() -> bool:
    """Whether the program being traced is for the CPU backend."""
    return jax.default_backend() == "cpu"


def channels_first(data_format: str, allowed: Sequence[str], node: str) -> bool:
    """Whether `data_format` puts channels before the spatial axes; it must be in `allowed`."""
    if data_format not in allowed:
        names = ", ".join(f'"{name}"' for name in allowed)
        raise InvalidArgumentError(
            f"Value for attr 'data_format' of \"{data_format}\" is not in the list of allowed "
            f"values: {names} [Op:{node}]"
        )
    return data_format.startswith("NC") or data_format == "CHANNELS_FIRST"


def spatial(value: Any, rank: int, first: bool, name: str, node: str) -> tuple[int, ...]:
    """The spatial entries of a `strides`, `ksize` or `dilations` argument.

    Args:
        value: None (all ones), one number, or 1, `rank` or `rank + 2` numbers.
        rank: The number of spatial axes.
        first: Whether channels come first.
        name: The argument's name, for errors.
        node: The op's name, for errors.

    Returns:
        `rank` numbers.

    Raises:
        ValueError: The length is wrong.
        UnimplementedError: A batch or channel entry is not 1.
    """
    values = (1,) if value is None else (value,) if isinstance(value, int) else tuple(value)
    if len(values) not in (1, rank, rank + 2):
        raise ValueError(
            f"{name} should be of length 1, {rank} or {rank + 2}. "
            f"Received: {name}={list(values)} of length {len(values)}"
        )
    if len(values) == 1:
        return values * rank
    if len(values) == rank:
        return values
    inner = values[2:] if first else values[1:-1]
    batch, channel = values[0], values[1] if first else values[-1]
    if (batch, channel) != (1, 1):
        raise UnimplementedError(
            f"{name} must be 1 for the batch and the channel axis. Received: "
            f"{name}={list(values)} [Op:{node}]"
        )
    return inner


def _same_pads(sizes: Sequence[int], geometry: Geometry) -> Pads:
    pads: list[tuple[int, int]] = []
    for size, window, stride, dilation in zip(sizes, *geometry[:3], strict=True):
        span = (window - 1) * dilation + 1
        total = max((-(-size // stride) - 1) * stride + span - size, 0)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def _explicit_pads(padding: Any, rank: int, first: bool, node: str) -> Pads:
    for index, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(
                "When `padding` is a list, each element of `padding` must be a list/tuple of size "
                f"2. Received: padding={padding} with element at index {index} of type {type(pair)}"
            )
    pairs = tuple((int(low), int(high)) for low, high in padding)
    if len(pairs) != rank + 2:
        raise ValueError(
            f"When `padding` is a list, it must be of size {rank + 2}, one pair for each axis of "
            f"the input. Received: padding={padding} of size {len(pairs)}"
        )
    inner = pairs[2:] if first else pairs[1:-1]
    outer = pairs[:2] if first else (pairs[0], pairs[-1])
    if any(pad != (0, 0) for pad in outer):
        raise InvalidArgumentError(
            "Nonzero explicit padding in the batch or depth dimensions is not supported "
            f"[Op:{node}]"
        )
    if any(value < 0 for pad in inner for value in pad):
        raise InvalidArgumentError(
            f"All elements of explicit_paddings must be nonnegative [Op:{node}]"
        )
    return inner


def padded(
    sizes: Sequence[int],
    geometry: Geometry,
    padding: Any,
    first: bool,
    node: str,
    explicit: bool = True,
) -> Geometry:
    """`geometry` with the pads that a `padding` argument stands for.

    Args:
        sizes: The spatial sizes of the input.
        geometry: Window, strides and dilations.
        padding: "SAME", "VALID", or one (before, after) pair for each axis of the input.
        first: Whether channels come first.
        node: The op's name, for errors.
        explicit: Whether the op accepts pairs.

    Raises:
        InvalidArgumentError: An unknown string, or a pad that the op cannot apply.
        ValueError: Pairs of the wrong form.
        TypeError: Pairs for an op that accepts none.
    """
    rank = len(sizes)
    if not isinstance(padding, str):
        if not explicit:
            raise TypeError(f"Expected string for argument 'padding' not {padding}.")
        return geometry._replace(pads=_explicit_pads(padding, rank, first, node))
    if padding not in ("SAME", "VALID"):
        allowed = '"SAME", "VALID", "EXPLICIT"' if explicit else '"SAME", "VALID"'
        raise InvalidArgumentError(
            f"Value for attr 'padding' of \"{padding}\" is not in the list of allowed values: "
            f"{allowed} [Op:{node}]"
        )
    if padding == "SAME":
        return geometry._replace(pads=_same_pads(sizes, geometry))
    return geometry._replace(pads=((0, 0),) * rank)


def slices(x: Array, geometry: Geometry, fill: Any = 0) -> list[Array]:
    """For each tap of the window, in row-major order, the elements that it meets.

    Args:
        x: `[batch, *spatial, channels]`.
        geometry: The window; at least one position must fit.
        fill: The value outside of `x`.

    Returns:
        One `[batch, *output, channels]` array for each tap.
    """
    if any(pad != (0, 0) for pad in geometry.pads):
        config = ((0, 0, 0), *((low, high, 0) for low, high in geometry.pads), (0, 0, 0))
        x = lax.pad(x, jnp.asarray(fill, x.dtype), config)
    inner = geometry._replace(pads=((0, 0),) * len(geometry.window)).output(x.shape[1:-1])
    spans = [
        (count - 1) * stride + 1 for count, stride in zip(inner, geometry.strides, strict=True)
    ]
    taps: list[Array] = []
    for tap in itertools.product(*map(range, geometry.window)):
        starts = [index * step for index, step in zip(tap, geometry.dilations, strict=True)]
        limits = [start + span for start, span in zip(starts, spans, strict=True)]
        taps.append(
            lax.slice(
                x,
                (0, *starts, 0),
                (x.shape[0], *limits, x.shape[-1]),
                (1, *geometry.strides, 1),
            )
        )
    return taps

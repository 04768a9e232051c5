"""What the image ops check about shapes: rank, sizes, channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, static_ints

PIXELS = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 bfloat16 half float double complex64 "
    "complex128"
)
"""The dtypes of ops that only move pixels."""


def _text(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def check_image(shape: Sequence[int], name: str = "image") -> None:
    """An image `[h, w, c]` or a batch of them `[n, h, w, c]`, with pixels.

    Raises:
        ValueError: For another rank, or a size of zero among the last three.
    """
    if len(shape) < 3:
        raise ValueError(
            f"'{name}' (shape {_text(shape)}) must be at least three-dimensional: [height, width, "
            "channels] or [batch, height, width, channels]. Add the axis with image[..., "
            "tf.newaxis]."
        )
    check_rank(shape, name)
    check_pixels(shape, name)


def check_rank(shape: Sequence[int], name: str = "image") -> None:
    """An image `[h, w, c]` or a batch of them `[n, h, w, c]`.

    Raises:
        ValueError: For another rank.
    """
    if len(shape) not in (3, 4):
        raise ValueError(
            f"'{name}' (shape {_text(shape)}) must have either 3 or 4 dimensions: [height, width, "
            "channels] or [batch, height, width, channels]."
        )


def check_pixels(shape: Sequence[int], name: str = "image") -> None:
    """At least three dimensions, none of the last three empty.

    Raises:
        ValueError: Otherwise.
    """
    if len(shape) < 3:
        raise ValueError(
            f"'{name}' (shape {_text(shape)}) must be at least three-dimensional: [..., height, "
            "width, channels]."
        )
    if 0 in shape[-3:]:
        raise ValueError(f"inner 3 dims of '{name}.shape' must be > 0: {_text(shape)}")


def require(condition: bool, message: str, got: str) -> None:
    """Raise a ValueError unless a condition holds.

    Raises:
        ValueError: `message` and what was `got`.
    """
    if not condition:
        raise ValueError(f"{message} Got {got}.")


def is_symbolic(value: Any) -> bool:
    """Whether this is a tensor or variable, as opposed to a Python number."""
    return isinstance(value, (Tensor, Variable))


def static_int(value: Any) -> int:
    """A size as a Python int; a tensor is read.

    Raises:
        TypeError: If it is not one integer.
    """
    found = static_ints(value)
    if not isinstance(found, int):
        raise TypeError(f"Expected one int for a size, got {value!r}.")
    return found


def image_tensor(image: Any, name: str = "image") -> Tensor:
    """`image` as a tensor of rank 3 or 4.

    Raises:
        ValueError: For another rank.
    """
    tensor = as_tensor(image)
    check_rank(tensor.aval.shape, name)
    return tensor

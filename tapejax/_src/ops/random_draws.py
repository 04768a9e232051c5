"""What the random ops share: the recorded draws, each under its caller's name, and arguments.

TensorFlow has every distribution several times over, as an op that takes from the global streams
and as one that takes a state. Both are the same pure function of a `uint32[6]` here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.engine.registry import (
    Array,
    DTypeLike,
    Same,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
)
from tapejax._src.ops import philox

FLOATS = ("float16", "bfloat16", "float32", "float64")
SIGNED = ("int32", "int64")
UNSIGNED = ("uint32", "uint64")

BLOCKS_PER_ELEMENT = 256
"""TensorFlow reserves this many blocks for each element, whatever the distribution needs."""


# ---------------------------------------------------------------------- the recorded draws
def uniform_op(path: str, node: str) -> Any:
    """Record uniform floats in [0, 1) as the op `node`."""

    @op(
        path,
        node=node,
        gradient="none",
        cases=tuple(f"u32[6] in (0, 99), (2, 5), tf.{dtype}" for dtype in FLOATS),
    )
    def uniform(state: TensorLike, shape: StaticInts, dtype: DTypeLike) -> Array:
        """Uniform floats in [0, 1)."""
        return philox.uniform(state, shape, np.dtype(dtype))

    return uniform


def _empty_range(state: Array, minval: Array, maxval: Array, shape: Any) -> tuple[Any, ...]:
    return minval >= maxval, minval, maxval


def uniform_int_op(path: str, node: str) -> Any:
    """Record uniform integers in [minval, maxval) as the op `node`."""

    @op(
        path,
        node=node,
        gradient="none",
        check=ValueCheck(_empty_range, "Need minval < maxval, got {} >= {}".format),
        cases=(
            "u32[6] in (0, 99), i32[] in (-5, 0), i32[] in (1, 9), (2, 5)",
            "u32[6] in (0, 99), i64[] in (-5, 0), i64[] in (1, 9), (7,)",
        ),
    )
    def uniform_int(state: TensorLike, minval: Same, maxval: Same, shape: StaticInts) -> Array:
        """Uniform integers in [minval, maxval)."""
        return philox.uniform_int(state, shape, minval, maxval)

    return uniform_int


def normal_op(path: str, node: str, truncate: bool = False) -> Any:
    """Record standard normals, or those of magnitude below 2, as the op `node`."""
    draw = philox.truncated_normal if truncate else philox.normal

    @op(
        path,
        node=node,
        gradient="none",
        cases=tuple(f"u32[6] in (0, 99), (2, 5), tf.{dtype}" for dtype in FLOATS),
    )
    def normal(state: TensorLike, shape: StaticInts, dtype: DTypeLike) -> Array:
        """Standard normals."""
        return draw(state, shape, np.dtype(dtype))

    return normal


def categorical_op(path: str, node: str) -> Any:
    """Record classes drawn with probabilities proportional to `exp(logits)` as the op `node`."""

    @op(
        path,
        node=node,
        gradient="none",
        dtypes="bfloat16 half float double",
        cases=(
            "f32[2,3], u32[6] in (0, 99), 4, tf.int64",
            "f64[1,3], u32[6] in (0, 99), 5, tf.int32",
            "f16[2,3], u32[6] in (0, 99), 0, tf.int32",
        ),
    )
    def categorical(
        logits: Same, state: TensorLike, num_samples: StaticInts, dtype: DTypeLike
    ) -> Array:
        """Classes drawn with probabilities proportional to `exp(logits)`."""
        return philox.categorical(state, logits, num_samples, np.dtype(dtype))

    return categorical


def shuffle_op(path: str, node: str, gradient: str) -> Any:
    """Record the rows of a tensor in another order as the op `node`."""

    @op(
        path,
        node=node,
        gradient=gradient,
        cases=(
            "f32[5,2], u32[6] in (0, 99)",
            "i32[7], u32[6] in (0, 99)",
            "f32[], u32[6] in (0, 99)",
        ),
    )
    def shuffle(value: TensorLike, state: TensorLike) -> Array:
        """The rows of `value` in another order."""
        if value.ndim == 0:
            return value
        return value[philox.permutation(state, value.shape[0])]

    return shuffle


# ---------------------------------------------------------------------- bounds and moments
@op(
    "_random_between",
    node="AddV2",
    dtypes="bfloat16 half float double",
    cases=("f32[3], f32[], f32[]", "f64[2,3], f64[3], f64[2,1]", "f16[3], f16[], f16[]"),
)
def between(x: Same, minval: Same, maxval: Same) -> Array:
    """`x` in [0, 1) moved to [minval, maxval)."""
    return philox.multiply_add(x, maxval - minval, minval)


@op(
    "_random_scaled",
    node="AddV2",
    dtypes="bfloat16 half float double",
    cases=("f32[3], f32[], f32[]", "f64[2,3], f64[3], f64[2,1]", "f16[3], f16[], f16[]"),
)
def scaled(x: Same, mean: Same, stddev: Same) -> Array:
    """`x` with another mean and standard deviation."""
    return philox.multiply_add(x, stddev, mean)


# ---------------------------------------------------------------------- samples
def sampled(draw: Callable[..., Array], samples: tuple[int, ...], *parameters: Array) -> Array:
    """Draw `samples` numbers of each distribution.

    Their runs of blocks follow each other distribution by distribution, although the samples come
    first in the result.

    Args:
        draw: Draws a number for each element of vectors of parameters.
        samples: Leading sizes of the result.
        *parameters: The parameters, all of one shape.

    Returns:
        `[*samples, ...]` with the shape of the parameters at the end.
    """
    shape = parameters[0].shape
    count, size = math.prod(samples), math.prod(shape)
    each = [jnp.repeat(x.reshape(-1), count, total_repeat_length=count * size) for x in parameters]
    return draw(*each).reshape(size, count).T.reshape(samples + shape)


def leading_sizes(sizes: tuple[int, ...], shape: tuple[int, ...], node: str) -> tuple[int, ...]:
    """The leading sizes of a shape that ends with the shape of the parameters.

    Raises:
        InvalidArgumentError: If it does not.
    """
    lead = len(sizes) - len(shape)
    if lead < 0 or sizes[lead:] != shape:
        raise InvalidArgumentError(
            f"Shape passed in must end with broadcasted shape. [Op:{node}]: the parameters have "
            f"shape {list(shape)} together, and shape is {list(sizes)}"
        )
    return sizes[:lead]


# ---------------------------------------------------------------------- arguments
def int_bounds(minval: Any, maxval: Any, kind: dtypes.DType, node: str) -> tuple[Tensor, Tensor]:
    """The bounds of integers as tensors.

    Raises:
        InvalidArgumentError: If one is not a scalar.
    """
    low, high = as_tensor(minval, kind), as_tensor(maxval, kind)
    for name, bound in (("minval", low), ("maxval", high)):
        if bound.aval.shape:
            raise InvalidArgumentError(
                f"{name} must be 0-D, got shape {list(bound.aval.shape)} [Op:{node}]: one range "
                "serves all elements; add a tensor of offsets afterwards instead"
            )
    return low, high


def shape_of(shape: Any, node: str) -> tuple[int, ...]:
    """The sizes a user gives as a shape.

    Raises:
        InvalidArgumentError: If it is a number or has a negative size.
    """
    sizes = static_ints(shape)
    if not isinstance(sizes, tuple):
        raise InvalidArgumentError(
            f"shape must be a vector of {{int32,int64}}, got shape [] [Op:{node}] name: ; write "
            f"[{sizes}] for a vector of {sizes} elements"
        )
    if any(size < 0 for size in sizes):
        raise InvalidArgumentError(
            f"Dimension {min(sizes)} must be >= 0 [Op:{node}]: got shape {list(sizes)}"
        )
    return sizes


def float_dtype(dtype: Any, function: str) -> str:
    """The name of a floating dtype.

    Raises:
        TypeError: If it is another one.
    """
    name = dtypes.as_dtype(dtype).name
    if name not in FLOATS:
        raise TypeError(
            f"tf.random.{function} makes floating tensors ({', '.join(FLOATS)}), got dtype "
            f"{name}: draw a float tensor and use tf.cast"
        )
    return name


def is_number(value: Any, number: float) -> bool:
    """Whether `value` is this Python number, so that the arithmetic with it can be left out."""
    return type(value) in (int, float) and value == number


def sample_count(num_samples: Any, node: str) -> int:
    """How many classes to draw.

    Raises:
        InvalidArgumentError: If it is not a scalar or negative.
    """
    count = static_ints(num_samples)
    if not isinstance(count, int) or count < 0:
        raise InvalidArgumentError(
            f"num_samples should be a non-negative scalar, got {count} [Op:{node}]"
        )
    return count


def check_logits(shape: tuple[int, ...], node: str) -> None:
    """Check that logits are a matrix.

    Raises:
        InvalidArgumentError: If they are not, or have no class.
    """
    if len(shape) != 2 or shape[1] == 0:
        raise InvalidArgumentError(
            f"logits should be a matrix [batch, classes] with at least one class, got shape "
            f"{list(shape)} [Op:{node}]; for one distribution write logits[tf.newaxis]"
        )


def class_dtype(dtype: Any) -> dtypes.DType:
    """The dtype of class numbers; int64 unless given.

    Raises:
        ValueError: If it is neither int32 nor int64.
    """
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    if kind.name not in SIGNED:
        raise ValueError(
            f"Argument `dtype` got invalid value {kind}. Accepted dtypes are int32 and int64."
        )
    return kind

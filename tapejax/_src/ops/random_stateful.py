"""Random tensors from the global streams: `tf.random.uniform`, `normal`, `shuffle`, ...

Each call draws a generator state on the host (`random_seed.seed_tensor`) and records an op that is
a pure function of it, so a program that is run again with other states is the same program.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

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
    public,
)
from tapejax._src.ops import philox
from tapejax._src.ops.random_seed import seed_tensor

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_INTEGERS = ("int32", "int64")
# TensorFlow reserves this many blocks for each element, whatever the op needs.
_BLOCKS_PER_ELEMENT = 256


# ---------------------------------------------------------------------- the recorded ops
@op(
    "_random_uniform",
    node="RandomUniform",
    gradient="none",
    cases=tuple(f"u32[6] in (0, 99), (2, 5), tf.{dtype}" for dtype in _FLOATS),
)
def _uniform(state: TensorLike, shape: StaticInts, dtype: DTypeLike) -> Array:
    """Uniform floats in [0, 1)."""
    return philox.uniform(state, shape, np.dtype(dtype))


def _empty_range(state: Array, minval: Array, maxval: Array, shape: Any) -> tuple[Any, ...]:
    return minval >= maxval, minval, maxval


@op(
    "_random_uniform_int",
    node="RandomUniformInt",
    gradient="none",
    check=ValueCheck(_empty_range, "Need minval < maxval, got {} >= {}".format),
    cases=(
        "u32[6] in (0, 99), i32[] in (-5, 0), i32[] in (1, 9), (2, 5)",
        "u32[6] in (0, 99), i64[] in (-5, 0), i64[] in (1, 9), (7,)",
    ),
)
def _uniform_int(state: TensorLike, minval: Same, maxval: Same, shape: StaticInts) -> Array:
    """Uniform integers in [minval, maxval)."""
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if bound.ndim:
            raise InvalidArgumentError(
                f"{name} must be 0-D, got shape {list(bound.shape)} [Op:RandomUniformInt]: one "
                "range serves all elements; add a tensor of offsets afterwards instead"
            )
    return philox.uniform_int(state, shape, minval, maxval)


@op(
    "_random_normal",
    node="RandomStandardNormal",
    gradient="none",
    cases=tuple(f"u32[6] in (0, 99), (2, 5), tf.{dtype}" for dtype in _FLOATS),
)
def _normal(state: TensorLike, shape: StaticInts, dtype: DTypeLike) -> Array:
    """Standard normals."""
    return philox.normal(state, shape, np.dtype(dtype))


@op(
    "_random_truncated_normal",
    node="TruncatedNormal",
    gradient="none",
    cases=tuple(f"u32[6] in (0, 99), (2, 5), tf.{dtype}" for dtype in _FLOATS),
)
def _truncated_normal(state: TensorLike, shape: StaticInts, dtype: DTypeLike) -> Array:
    """Standard normals of magnitude below 2."""
    return philox.truncated_normal(state, shape, np.dtype(dtype))


@op(
    "_random_shuffle",
    node="RandomShuffle",
    gradient="none",
    cases=("f32[5,2], u32[6] in (0, 99)", "i32[7], u32[6] in (0, 99)", "f32[], u32[6] in (0, 99)"),
)
def _shuffle(value: TensorLike, state: TensorLike) -> Array:
    """The rows of `value` in another order."""
    if value.ndim == 0:
        return value
    return value[philox.permutation(state, value.shape[0])]


@op(
    "_random_categorical",
    node="Multinomial",
    gradient="none",
    dtypes="bfloat16 half float double",
    cases=(
        "f32[2,3], u32[6] in (0, 99), 4, tf.int64",
        "f64[1,3], u32[6] in (0, 99), 5, tf.int32",
        "f16[2,3], u32[6] in (0, 99), 0, tf.int32",
    ),
)
def _categorical(
    logits: Same, state: TensorLike, num_samples: StaticInts, dtype: DTypeLike
) -> Array:
    """Classes drawn with probabilities proportional to `exp(logits)`."""
    return philox.categorical(state, logits, num_samples, np.dtype(dtype))


@jax.custom_jvp
def _multiply_add(x: Array, scale: Array, shift: Array) -> Array:
    """`x * scale + shift` with the product rounded on its own, as by two ops.

    Compilers contract the two into one instruction that rounds once, and then the last bit differs
    from TensorFlow's. They cannot look through an exclusive or with a word that is zero unless
    `shift` is NaN.
    """
    word = np.dtype(f"uint{8 * x.dtype.itemsize}")
    product = lax.bitcast_convert_type(x * scale, word)
    rounded = lax.bitcast_convert_type(product ^ jnp.isnan(shift).astype(word), x.dtype)
    return rounded + shift


@_multiply_add.defjvp
def _multiply_add_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    x, scale, shift = primals
    dx, dscale, dshift = tangents
    return _multiply_add(x, scale, shift), dx * scale + x * dscale + dshift


@op(
    "_random_between",
    node="AddV2",
    dtypes="bfloat16 half float double",
    cases=("f32[3], f32[], f32[]", "f64[2,3], f64[3], f64[2,1]", "f16[3], f16[], f16[]"),
)
def _between(x: Same, minval: Same, maxval: Same) -> Array:
    """`x` in [0, 1) moved to [minval, maxval)."""
    return _multiply_add(x, maxval - minval, minval)


@op(
    "_random_scaled",
    node="AddV2",
    dtypes="bfloat16 half float double",
    cases=("f32[3], f32[], f32[]", "f64[2,3], f64[3], f64[2,1]", "f16[3], f16[], f16[]"),
)
def _scaled(x: Same, mean: Same, stddev: Same) -> Array:
    """`x` with another mean and standard deviation."""
    return _multiply_add(x, stddev, mean)


# ---------------------------------------------------------------------- arguments
def _shape_of(shape: Any, node: str) -> tuple[int, ...]:
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


def _float_dtype(dtype: Any, function: str) -> str:
    name = dtypes.as_dtype(dtype).name
    if name not in _FLOATS:
        raise TypeError(
            f"tf.random.{function} makes floating tensors ({', '.join(_FLOATS)}), got dtype "
            f"{name}: draw a float tensor and use tf.cast"
        )
    return name


def _drawn(seed: Any, node: str, dtype: str, shape: tuple[int, ...]) -> Tensor:
    return seed_tensor(seed, node, dtype, math.prod(shape) * _BLOCKS_PER_ELEMENT)


def _is(value: Any, number: float) -> bool:
    """Whether `value` is this Python number, so that the arithmetic with it can be left out."""
    return type(value) in (int, float) and value == number


# ---------------------------------------------------------------------- public functions
@public("random.uniform")
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Uniform random numbers in [minval, maxval).

    Equal to TensorFlow's bit for bit, for the same seeds and order of calls.

    Args:
        shape: Shape of the result.
        minval: Lower bound, included; a scalar for integers, else it broadcasts with `shape`.
        maxval: Upper bound, excluded. Default: 1 for floats; integers need one.
        dtype: float16, bfloat16, float32, float64, int32 or int64.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        A tensor of `shape` and `dtype`, with gradients to float bounds.

    Raises:
        ValueError: For another dtype, or integers without `maxval`.
        InvalidArgumentError: If `minval >= maxval` for integers.

    Example:
        >>> import tapejax as tf
        >>> tf.random.set_seed(1)
        >>> tf.random.uniform([3], maxval=10, dtype=tf.int32).shape
        TensorShape([3])
    """
    kind = dtypes.as_dtype(dtype)
    if kind.name not in _FLOATS + _INTEGERS:
        raise ValueError(
            f"Argument `dtype` got invalid value {kind}. Accepted dtypes are "
            f"{', '.join(_FLOATS + _INTEGERS)}: draw one of those and use tf.cast."
        )
    if kind.is_integer:
        return _integers(shape, minval, maxval, kind, seed)
    sizes = _shape_of(shape, "RandomUniform")
    drawn = _uniform(_drawn(seed, "RandomUniform", kind.name, sizes), sizes, kind)
    maxval = 1 if maxval is None else maxval
    return drawn if _is(minval, 0) and _is(maxval, 1) else _between(drawn, minval, maxval)


def _integers(shape: Any, minval: Any, maxval: Any, kind: dtypes.DType, seed: Any) -> Any:
    if maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
    sizes = _shape_of(shape, "RandomUniformInt")
    low, high = as_tensor(minval, kind), as_tensor(maxval, kind)
    return _uniform_int(_drawn(seed, "RandomUniformInt", kind.name, sizes), low, high, sizes)


@public("random.normal")
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Normal random numbers.

    Equal to TensorFlow's for the same seeds and order of calls, to two units in the last place.

    Args:
        shape: Shape of the result.
        mean: Mean; broadcasts with `shape`.
        stddev: Standard deviation; broadcasts with `shape`.
        dtype: float16, bfloat16, float32 or float64.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        A tensor of `shape` and `dtype`, with gradients to `mean` and `stddev`.

    Raises:
        TypeError: For another dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.random.set_seed(42)
        >>> [round(x, 4) for x in tf.random.normal([2]).numpy().tolist()]
        [0.3275, -0.8426]
    """
    kind = _float_dtype(dtype, "normal")
    sizes = _shape_of(shape, "RandomStandardNormal")
    drawn = _normal(_drawn(seed, "RandomStandardNormal", kind, sizes), sizes, dtype)
    return drawn if _is(mean, 0) and _is(stddev, 1) else _scaled(drawn, mean, stddev)


@public("random.truncated_normal")
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Normal random numbers within two standard deviations of the mean; others are drawn again.

    Equal to TensorFlow's for the same seeds and order of calls, to two units in the last place.

    Args:
        shape: Shape of the result.
        mean: Mean; broadcasts with `shape`.
        stddev: Standard deviation before truncation; broadcasts with `shape`.
        dtype: float16, bfloat16, float32 or float64.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        A tensor of `shape` and `dtype`, with gradients to `mean` and `stddev`.

    Raises:
        TypeError: For another dtype.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.reduce_all(tf.abs(tf.random.truncated_normal([1000])) < 2.0))
        True
    """
    kind = _float_dtype(dtype, "truncated_normal")
    sizes = _shape_of(shape, "TruncatedNormal")
    drawn = _truncated_normal(_drawn(seed, "TruncatedNormal", kind, sizes), sizes, dtype)
    return drawn if _is(mean, 0) and _is(stddev, 1) else _scaled(drawn, mean, stddev)


@public("random.shuffle")
def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """The slices of a tensor along axis 0 in random order.

    Args:
        value: A tensor `[n, ...]`.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        A tensor of the same shape and dtype; no gradient flows to `value`, as in TensorFlow
        (`tf.gather` with a shuffled `tf.range` has one).

    Example:
        >>> import tapejax as tf
        >>> sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist())
        [1, 2, 3]
    """
    tensor = as_tensor(value)
    rows = tensor.aval.shape[0] if tensor.aval.shape else 0
    few = rows < 2 or 0 in tensor.aval.shape
    blocks = 0 if few else (rows + 2) // 4  # rows - 1 words
    return _shuffle(tensor, seed_tensor(seed, "RandomShuffle", tensor.dtype.name, blocks))


@public("random.categorical")
def categorical(
    logits: Any,
    num_samples: StaticInts,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Classes drawn from categorical distributions.

    Args:
        logits: Unnormalised log-probabilities, `[batch, classes]`.
        num_samples: Draws for each row.
        dtype: int32 or int64. Default: int64.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        Class numbers, `[batch, num_samples]`, without gradient.

    Raises:
        ValueError: For another dtype.
        InvalidArgumentError: If `logits` is not a matrix with at least one class, or `num_samples`
            is not a scalar or negative.

    Differs from TensorFlow: large batches. There TensorFlow gives each of its threads a stream of
    its own, so its numbers depend on the machine; these never do.

    Example:
        >>> import tapejax as tf
        >>> tf.random.categorical([[0.0, -100.0]], 3).numpy().tolist()
        [[0, 0, 0]]
    """
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    if kind.name not in _INTEGERS:
        raise ValueError(
            f"Argument `dtype` got invalid value {kind}. Accepted dtypes are int32 and int64."
        )
    tensor = as_tensor(logits)
    shape = tensor.aval.shape
    count = static_ints(num_samples)
    if not isinstance(count, int) or count < 0:
        raise InvalidArgumentError(
            f"num_samples should be a non-negative scalar, got {count} [Op:Multinomial]"
        )
    if len(shape) != 2 or shape[1] == 0:
        raise InvalidArgumentError(
            f"logits should be a matrix [batch, classes] with at least one class, got shape "
            f"{list(shape)} [Op:Multinomial]; for one distribution write logits[tf.newaxis]"
        )
    words = shape[0] * (-(-count // 4) * 4) * 2
    both = f"{tensor.dtype.name} {kind.name}"
    state = seed_tensor(seed, "Multinomial", both, words * _BLOCKS_PER_ELEMENT)
    return _categorical(tensor, state, count, kind)

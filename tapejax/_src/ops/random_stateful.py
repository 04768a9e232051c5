"""Random tensors from the global streams: `tf.random.uniform`, `normal`, `shuffle`, ...

Each call draws a generator state on the host (`random_seed.seed_tensor`) and records an op that is
a pure function of it, so a program that is run again with other states is the same program.
"""

from __future__ import annotations

import math
from typing import Any

from tapejax._src.core import dtypes
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import DTypeLike, StaticInts, public
from tapejax._src.ops.random_draws import (
    BLOCKS_PER_ELEMENT,
    FLOATS,
    SIGNED,
    between,
    categorical_op,
    check_logits,
    class_dtype,
    float_dtype,
    int_bounds,
    is_number,
    normal_op,
    sample_count,
    scaled,
    shape_of,
    shuffle_op,
    uniform_int_op,
    uniform_op,
)
from tapejax._src.ops.random_seed import seed_tensor

# ---------------------------------------------------------------------- the recorded ops
_uniform = uniform_op("_random_uniform", "RandomUniform")
_uniform_int = uniform_int_op("_random_uniform_int", "RandomUniformInt")
_normal = normal_op("_random_normal", "RandomStandardNormal")
_truncated_normal = normal_op("_random_truncated_normal", "TruncatedNormal", truncate=True)
_shuffle = shuffle_op("_random_shuffle", "RandomShuffle", gradient="none")
_categorical = categorical_op("_random_categorical", "Multinomial")


def _drawn(seed: Any, node: str, dtype: str, shape: tuple[int, ...]) -> Tensor:
    return seed_tensor(seed, node, dtype, math.prod(shape) * BLOCKS_PER_ELEMENT)


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
    if kind.name not in FLOATS + SIGNED:
        raise ValueError(
            f"Argument `dtype` got invalid value {kind}. Accepted dtypes are "
            f"{', '.join(FLOATS + SIGNED)}: draw one of those and use tf.cast."
        )
    if kind.is_integer:
        return _integers(shape, minval, maxval, kind, seed)
    sizes = shape_of(shape, "RandomUniform")
    drawn = _uniform(_drawn(seed, "RandomUniform", kind.name, sizes), sizes, kind)
    maxval = 1 if maxval is None else maxval
    return (
        drawn if is_number(minval, 0) and is_number(maxval, 1) else between(drawn, minval, maxval)
    )


def _integers(shape: Any, minval: Any, maxval: Any, kind: dtypes.DType, seed: Any) -> Any:
    if maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
    sizes = shape_of(shape, "RandomUniformInt")
    low, high = int_bounds(minval, maxval, kind, "RandomUniformInt")
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
    kind = float_dtype(dtype, "normal")
    sizes = shape_of(shape, "RandomStandardNormal")
    drawn = _normal(_drawn(seed, "RandomStandardNormal", kind, sizes), sizes, dtype)
    return drawn if is_number(mean, 0) and is_number(stddev, 1) else scaled(drawn, mean, stddev)


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
    kind = float_dtype(dtype, "truncated_normal")
    sizes = shape_of(shape, "TruncatedNormal")
    drawn = _truncated_normal(_drawn(seed, "TruncatedNormal", kind, sizes), sizes, dtype)
    return drawn if is_number(mean, 0) and is_number(stddev, 1) else scaled(drawn, mean, stddev)


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
    kind = class_dtype(dtype)
    tensor = as_tensor(logits)
    shape = tensor.aval.shape
    count = sample_count(num_samples, "Multinomial")
    check_logits(shape, "Multinomial")
    words = shape[0] * (-(-count // 4) * 4) * 2
    both = f"{tensor.dtype.name} {kind.name}"
    state = seed_tensor(seed, "Multinomial", both, words * BLOCKS_PER_ELEMENT)
    return _categorical(tensor, state, count, kind)

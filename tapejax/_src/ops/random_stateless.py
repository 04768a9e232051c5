"""Random tensors that are functions of a given seed: `tf.random.stateless_uniform`, `split`, ...

A seed of two integers is scrambled into a generator state in the program itself, so it may be a
tensor that a function takes or a loop makes. `tf.random.Generator` draws with the same ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor, holds_tensor
from tapejax._src.engine.registry import Array, DTypeLike, StaticInts, TensorLike, op, public
from tapejax._src.ops import philox
from tapejax._src.ops.joining import stack
from tapejax._src.ops.random_algorithm import philox_number
from tapejax._src.ops.random_draws import (
    FLOATS,
    SIGNED,
    UNSIGNED,
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

_UNIFORM = FLOATS + SIGNED + UNSIGNED

Source = Callable[[tuple[int, ...]], Tensor]
"""Gives the `uint32[6]` state from which a tensor of this shape is drawn."""


# ---------------------------------------------------------------------- the recorded ops
@op(
    "_stateless_key_counter",
    node="StatelessRandomGetKeyCounter",
    gradient="none",
    cases=("i32[2]", "i64[2]"),
)
def _key_counter(seed: TensorLike) -> Array:
    """The generator state of a seed."""
    return philox.scrambled(seed)


@op(
    "_stateless_uniform_full_int",
    node="StatelessRandomUniformFullIntV2",
    gradient="none",
    cases=tuple(f"u32[6] in (0, 99), (2, 5), tf.{dtype}" for dtype in SIGNED + UNSIGNED),
)
def _uniform_full_int(state: TensorLike, shape: StaticInts, dtype: DTypeLike) -> Array:
    """Uniform integers of the whole range of a dtype."""
    return philox.uniform_full_int(state, shape, np.dtype(dtype))


_uniform = uniform_op("_stateless_uniform", "StatelessRandomUniformV2")
_uniform_int = uniform_int_op("_stateless_uniform_int", "StatelessRandomUniformIntV2")
_normal = normal_op("_stateless_normal", "StatelessRandomNormalV2")
_truncated_normal = normal_op(
    "_stateless_truncated_normal", "StatelessTruncatedNormalV2", truncate=True
)
_shuffle = shuffle_op("_stateless_shuffle", "StatelessShuffle", gradient="lookup")
_categorical = categorical_op("_stateless_categorical", "StatelessMultinomial")


# ---------------------------------------------------------------------- drawing from a source
def draw_uniform(source: Source, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    """Uniform numbers from a source, which is asked only when the arguments are fit.

    Raises:
        ValueError: For another dtype, integers with one bound or unsigned integers with bounds.
    """
    kind = dtypes.as_dtype(dtype)
    if kind.name not in _UNIFORM:
        raise ValueError(
            f"Argument `dtype` got invalid value {kind}. Accepted dtypes are "
            f"{', '.join(_UNIFORM)}: draw one of those and use tf.cast."
        )
    if not kind.is_integer:
        sizes = shape_of(shape, "StatelessRandomUniformV2")
        maxval = 1 if maxval is None else maxval
        if is_number(minval, 0) and is_number(maxval, 1):
            return _uniform(source(sizes), sizes, kind)
        low, high = as_tensor(minval, kind), as_tensor(maxval, kind)
        return between(_uniform(source(sizes), sizes, kind), low, high)
    if (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {kind!r}, argument `minval` and `maxval` must be both "
            f"None or not None. Got `minval`={minval} and `maxval`={maxval}."
        )
    if minval is None:
        sizes = shape_of(shape, "StatelessRandomUniformFullIntV2")
        return _uniform_full_int(source(sizes), sizes, kind)
    if kind.name not in SIGNED:
        raise ValueError(
            f"Argument `dtype` got invalid value {kind} when argument `minval` is not None. "
            "Please don't use unsigned integers in this case."
        )
    sizes = shape_of(shape, "StatelessRandomUniformIntV2")
    low, high = int_bounds(minval, maxval, kind, "StatelessRandomUniformIntV2")
    return _uniform_int(source(sizes), low, high, sizes)


def draw_normal(
    source: Source, shape: Any, mean: Any, stddev: Any, dtype: Any, truncate: bool = False
) -> Any:
    """Normal numbers from a source, truncated or not.

    Raises:
        TypeError: If `dtype` is not a floating one.
    """
    make: Any = _truncated_normal if truncate else _normal
    kind = dtypes.as_dtype(float_dtype(dtype, "truncated_normal" if truncate else "normal"))
    sizes = shape_of(shape, make.op.node)
    if is_number(mean, 0) and is_number(stddev, 1):
        return make(source(sizes), sizes, kind)
    mean, stddev = as_tensor(mean, kind), as_tensor(stddev, kind)
    return scaled(make(source(sizes), sizes, kind), mean, stddev)


# ---------------------------------------------------------------------- seeds
def seed_state(seed: Any, node: str = "StatelessRandomGetKeyCounter") -> Tensor:
    """The `uint32[6]` state of a seed.

    Raises:
        InvalidArgumentError: If the seed is not two integers.
    """
    if isinstance(seed, (Tensor, Variable)) or holds_tensor(seed):
        tensor = as_tensor(seed)
    else:  # numbers of any size: they are extended to 64 bits in any case
        array = np.asarray(seed)
        tensor = constant_tensor(array.astype(np.int64) if array.dtype.kind in "iu" else array)
    if tensor.dtype.name not in SIGNED:
        raise InvalidArgumentError(
            f"Value for attr 'Tseed' of {tensor.dtype.name} is not in the list of allowed values: "
            f"int32, int64 [Op:{node}]: a seed is two integers, such as [1, 2]"
        )
    if tensor.aval.shape != (2,):
        raise InvalidArgumentError(
            f"seed must have shape [2], not {list(tensor.aval.shape)} [Op:{node}]: a seed is two "
            "integers, such as [1, 2]"
        )
    return _key_counter(tensor)


def _source(seed: Any, alg: Any) -> Source:
    """The state of a seed, for every shape."""
    philox_number("auto_select" if alg is None else alg, InvalidArgumentError)
    state = seed_state(seed)
    return lambda sizes: state


# ---------------------------------------------------------------------- public functions
@public("random.stateless_uniform")
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Any:
    """Uniform random numbers in [minval, maxval) as a function of a seed.

    Equal to TensorFlow's bit for bit.

    Args:
        shape: Shape of the result.
        seed: Two integers, `[2]` int32 or int64.
        minval: Lower bound, included; a scalar for integers, else it broadcasts with `shape`. None
            for integers of the whole range.
        maxval: Upper bound, excluded. Default: 1 for floats; None for integers of the whole range.
        dtype: float16, bfloat16, float32, float64, int32 or int64; uint32 or uint64 for the whole
            range.
        name: Ignored.
        alg: `"philox"` or `"auto_select"` (the same), or a `tf.random.Algorithm`.

    Returns:
        A tensor of `shape` and `dtype`, with gradients to float bounds.

    Raises:
        ValueError: For another dtype or algorithm, or integers with one bound.
        InvalidArgumentError: If the seed is not two integers, or `minval >= maxval` for integers.

    Example:
        >>> import tapejax as tf
        >>> [round(x, 4) for x in tf.random.stateless_uniform([2], seed=[1, 2]).numpy().tolist()]
        [0.8441, 0.192]
    """
    return draw_uniform(_source(seed, alg), shape, minval, maxval, dtype)


@public("random.stateless_normal")
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Any:
    """Normal random numbers as a function of a seed.

    Equal to TensorFlow's to two units in the last place.

    Args:
        shape: Shape of the result.
        seed: Two integers, `[2]` int32 or int64.
        mean: Mean; broadcasts with `shape`.
        stddev: Standard deviation; broadcasts with `shape`.
        dtype: float16, bfloat16, float32 or float64.
        name: Ignored.
        alg: `"philox"` or `"auto_select"` (the same), or a `tf.random.Algorithm`.

    Returns:
        A tensor of `shape` and `dtype`, with gradients to `mean` and `stddev`.

    Raises:
        TypeError: For another dtype.
        InvalidArgumentError: If the seed is not two integers.

    Example:
        >>> import tapejax as tf
        >>> [round(x, 4) for x in tf.random.stateless_normal([2], seed=[1, 2]).numpy().tolist()]
        [0.5441, 0.2074]
    """
    return draw_normal(_source(seed, alg), shape, mean, stddev, dtype)


@public("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Any:
    """Normal random numbers within two standard deviations, as a function of a seed.

    Equal to TensorFlow's to two units in the last place.

    Args:
        shape: Shape of the result.
        seed: Two integers, `[2]` int32 or int64.
        mean: Mean; broadcasts with `shape`.
        stddev: Standard deviation before truncation; broadcasts with `shape`.
        dtype: float16, bfloat16, float32 or float64.
        name: Ignored.
        alg: `"philox"` or `"auto_select"` (the same), or a `tf.random.Algorithm`.

    Returns:
        A tensor of `shape` and `dtype`, with gradients to `mean` and `stddev`.

    Raises:
        TypeError: For another dtype.
        InvalidArgumentError: If the seed is not two integers.

    Example:
        >>> import tapejax as tf
        >>> drawn = tf.random.stateless_truncated_normal([1000], seed=[1, 2])
        >>> bool(tf.reduce_all(tf.abs(drawn) < 2.0))
        True
    """
    return draw_normal(_source(seed, alg), shape, mean, stddev, dtype, truncate=True)


@public("random.stateless_categorical")
def stateless_categorical(
    logits: Any,
    num_samples: StaticInts,
    seed: Any,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Any:
    """Classes drawn from categorical distributions as a function of a seed.

    Args:
        logits: Unnormalised log-probabilities, `[batch, classes]`.
        num_samples: Draws for each row.
        seed: Two integers, `[2]` int32 or int64.
        dtype: int32 or int64.
        name: Ignored.

    Returns:
        Class numbers, `[batch, num_samples]`, without gradient.

    Raises:
        ValueError: For another dtype.
        InvalidArgumentError: If `logits` is not a matrix with at least one class, `num_samples` is
            not a scalar or negative, or the seed is not two integers.

    Differs from TensorFlow: large batches. There TensorFlow gives each of its threads a stream of
    its own, so its numbers depend on the machine; these never do.

    Example:
        >>> import tapejax as tf
        >>> tf.random.stateless_categorical([[0.0, -100.0]], 3, seed=[1, 2]).numpy().tolist()
        [[0, 0, 0]]
    """
    kind = class_dtype(dtype or None)
    tensor = as_tensor(logits)
    count = sample_count(num_samples, "StatelessMultinomial")
    check_logits(tensor.aval.shape, "StatelessMultinomial")
    return _categorical(tensor, seed_state(seed, "StatelessMultinomial"), count, kind)


@public("random.experimental.stateless_shuffle")
def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Any:
    """The slices of a tensor along axis 0 in an order that is a function of a seed.

    Equal to TensorFlow's.

    Args:
        value: A tensor `[n, ...]`.
        seed: Two integers, `[2]` int32 or int64.
        alg: `"philox"` or `"auto_select"` (the same), or a `tf.random.Algorithm`.
        name: Ignored.

    Returns:
        A tensor of the same shape and dtype; to ask for a gradient is an error, as in TensorFlow
        (`tf.gather` with a shuffled `tf.range` has one).

    Raises:
        InvalidArgumentError: If the seed is not two integers.

    Example:
        >>> import tapejax as tf
        >>> tf.random.experimental.stateless_shuffle([1, 2, 3], [1, 2]).numpy().tolist()
        [2, 3, 1]
    """
    tensor = as_tensor(value)
    return _shuffle(tensor, _source(seed, alg)(tensor.aval.shape))


@public("random.split", "random.experimental.stateless_split")
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Any:
    """New seeds, which are functions of one.

    Args:
        seed: Two integers, `[2]` int32 or int64.
        num: How many.
        alg: `"philox"` or `"auto_select"` (the same), or a `tf.random.Algorithm`.

    Returns:
        `[num, 2]` of the dtype of `seed`.

    Raises:
        InvalidArgumentError: If the seed is not two integers.

    Example:
        >>> import tapejax as tf
        >>> tf.random.split([1, 2]).numpy().tolist()
        [[1105988140, 1738052849], [-335576002, 370444179]]
    """
    tensor = as_tensor(seed)
    return draw_uniform(_source(tensor, alg), [num, 2], None, None, tensor.dtype)


@public("random.fold_in", "random.experimental.stateless_fold_in")
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Any:
    """A new seed, which is a function of one and of a number.

    Args:
        seed: Two integers, `[2]` int32 or int64.
        data: An int32 or int64 scalar, such as the number of a step.
        alg: `"philox"` or `"auto_select"` (the same), or a `tf.random.Algorithm`.

    Returns:
        `[2]` of the dtype of `data`.

    Raises:
        InvalidArgumentError: If the seed is not two integers.

    Example:
        >>> import tapejax as tf
        >>> tf.random.fold_in([1, 2], 3).numpy().tolist()
        [1105988140, 3]
    """
    number = as_tensor(data)
    return stack([draw_uniform(_source(seed, alg), (), None, None, number.dtype), number])

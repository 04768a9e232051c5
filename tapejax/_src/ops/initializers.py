"""Initializers: objects that make the first value of a variable of a given shape."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.ops.constants import constant
from tapejax._src.ops.creation import ones, zeros
from tapejax._src.ops.random_stateful import normal, uniform
from tapejax._src.ops.random_stateless import stateless_normal, stateless_uniform

_PARTITION = ("partition_shape", "partition_offset")


class Initializer:
    """What all initializers can do."""

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """An initializer with the arguments that `get_config` gave."""
        config.pop("dtype", None)
        return cls(**config)


def _check(kwargs: dict[str, Any]) -> None:
    for name in kwargs:
        if name not in _PARTITION:
            raise TypeError(
                f"Keyword argument should be one of {list(_PARTITION)}. Received: {name}"
            )


def _numeric(dtype: Any) -> dtypes.DType:
    kind = dtypes.as_dtype(dtype)
    if kind.name in ("string", "resource", "variant"):
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {kind}.")
    return kind


@public("zeros_initializer")
class Zeros(Initializer):
    """Makes tensors of zeros.

    Example:
        >>> import tapejax as tf
        >>> tf.zeros_initializer()(shape=[2], dtype=tf.int32).numpy().tolist()
        [0, 0]
    """

    def __call__(self, shape: Any, dtype: DTypeLike = dtypes.float32, **kwargs: Any) -> Any:
        """Make a tensor.

        Args:
            shape: Its shape.
            dtype: A numeric dtype or bool.
            **kwargs: `partition_shape` is a shape in the place of `shape`.

        Raises:
            ValueError: For another dtype.
            TypeError: For another keyword.
        """
        _check(kwargs)
        return zeros(kwargs.get(_PARTITION[0], shape), _numeric(dtype))


@public("ones_initializer")
class Ones(Initializer):
    """Makes tensors of ones.

    Example:
        >>> import tapejax as tf
        >>> tf.Variable(tf.ones_initializer()([2])).numpy().tolist()
        [1.0, 1.0]
    """

    def __call__(self, shape: Any, dtype: DTypeLike = dtypes.float32, **kwargs: Any) -> Any:
        """Make a tensor; the arguments are those of `tf.zeros_initializer`."""
        _check(kwargs)
        return ones(kwargs.get(_PARTITION[0], shape), _numeric(dtype))


@public("constant_initializer")
class Constant(Initializer):
    """Makes tensors of given values.

    Args:
        value: A Python number, a list or tuple of them, or an `ndarray`: one value, or as many as
            the tensor has elements.
        support_partition: Whether a call may have `partition_shape` and `partition_offset`, which
            change nothing.

    Raises:
        TypeError: If `value` is something else.

    Example:
        >>> import tapejax as tf
        >>> tf.constant_initializer([1, 2, 3, 4])([2, 2], tf.float32).numpy().tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, "
                "list or tuple of values, or numpy.ndarray."
            )
        self.value: Any = value
        self.support_partition = support_partition

    def __call__(self, shape: Any, dtype: DTypeLike | None = None, **kwargs: Any) -> Any:
        """Make a tensor.

        Args:
            shape: Its shape.
            dtype: Its dtype. Default: that of the value.
            **kwargs: See `support_partition`.

        Raises:
            TypeError: If the number of values does not fit the shape, or for another keyword.
            ValueError: If partitions are not supported.
        """
        _check(kwargs)
        if kwargs and not self.support_partition:
            raise ValueError("Constant initializer doesn't support partition-related arguments")
        return constant(self.value, dtype, shape)

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {"value": self.value}


@public("random_uniform_initializer")
class RandomUniform(Initializer):
    """Makes uniform random tensors.

    The numbers are TensorFlow's own.

    Args:
        minval: Lower bound, included.
        maxval: Upper bound, excluded.
        seed: An integer. With one, each call makes the same numbers.

    Example:
        >>> import tapejax as tf
        >>> make = tf.random_uniform_initializer(-1.0, 1.0, seed=1)
        >>> bool(tf.reduce_all(make([2, 3]) == make([2, 3])))
        True
    """

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed

    def __call__(self, shape: Any, dtype: DTypeLike = dtypes.float32, **kwargs: Any) -> Any:
        """Make a tensor.

        Args:
            shape: Its shape.
            dtype: A floating dtype, or an integer one for which the bounds are integers.
            **kwargs: `partition_shape` is a shape in the place of `shape`.

        Raises:
            ValueError: For another dtype.
            TypeError: For another keyword.
        """
        _check(kwargs)
        kind = dtypes.as_dtype(dtype)
        if not (kind.is_floating or kind.is_integer):
            raise ValueError(
                f"Argument `dtype` expected to be numeric or boolean. Received {kind}."
            )
        shape = kwargs.get(_PARTITION[0], shape)
        if self.seed is None:
            return uniform(shape, self.minval, self.maxval, kind)
        return stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, kind)

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


@public("random_normal_initializer")
class RandomNormal(Initializer):
    """Makes normal random tensors.

    The numbers are TensorFlow's own, to two units in the last place.

    Args:
        mean: Mean.
        stddev: Standard deviation.
        seed: An integer. With one, each call makes the same numbers.

    Example:
        >>> import tapejax as tf
        >>> kernel = tf.Variable(tf.random_normal_initializer(stddev=0.1)([3, 3, 1, 8]))
        >>> kernel.shape
        TensorShape([3, 3, 1, 8])
    """

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape: Any, dtype: DTypeLike = dtypes.float32, **kwargs: Any) -> Any:
        """Make a tensor.

        Args:
            shape: Its shape.
            dtype: A floating dtype.
            **kwargs: `partition_shape` is a shape in the place of `shape`.

        Raises:
            ValueError: For another dtype.
            TypeError: For another keyword.
        """
        _check(kwargs)
        kind = dtypes.as_dtype(dtype)
        if not kind.is_floating:
            raise ValueError(
                f"Argument `dtype` is expected to be floating point. Received: {kind}."
            )
        shape = kwargs.get(_PARTITION[0], shape)
        if self.seed is None:
            return normal(shape, self.mean, self.stddev, kind)
        return stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, kind)

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}

"""Brightness, contrast, hue and saturation of images changed at random."""

from __future__ import annotations

from typing import Any

from tapejax._src.engine.registry import public
from tapejax._src.ops.image_adjusting import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
)
from tapejax._src.ops.random_stateful import uniform
from tapejax._src.ops.random_stateless import stateless_uniform


def _check_spread(max_delta: Any, limit: float | None = None) -> None:
    if limit is not None and max_delta > limit:
        raise ValueError(f"max_delta must be <= {limit}, got {max_delta}.")
    if max_delta < 0:
        raise ValueError(f"max_delta must be non-negative, got {max_delta}.")


def _check_range(lower: Any, upper: Any) -> None:
    if upper <= lower:
        raise ValueError(f"upper must be > lower, got lower={lower}, upper={upper}.")
    if lower < 0:
        raise ValueError(f"lower must be non-negative, got {lower}.")


@public("image.random_brightness")
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """Add a random number to all channels: `tf.image.adjust_brightness`.

    Args:
        image: A tensor of floats or integers `[...]`.
        max_delta: The number lies in `[-max_delta, max_delta)`; not negative.
        seed: Seed of this op beside that of `tf.random.set_seed`.

    Returns:
        A tensor of the same shape and dtype, TensorFlow's for the same seeds.

    Raises:
        ValueError: If `max_delta` is negative.

    Example:
        >>> import tapejax as tf
        >>> tf.image.random_brightness(tf.zeros([2, 2, 3]), 0.2, seed=1).shape
        TensorShape([2, 2, 3])
    """
    _check_spread(max_delta)
    return adjust_brightness(image, uniform([], -max_delta, max_delta, seed=seed))


@public("image.stateless_random_brightness")
def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Any:
    """Add a number that a seed decides to all channels: `tf.image.adjust_brightness`.

    Args:
        image: A tensor of floats or integers `[...]`.
        max_delta: The number lies in `[-max_delta, max_delta)`; not negative.
        seed: `[2]` integers.

    Returns:
        A tensor of the same shape and dtype, TensorFlow's for the same seed.

    Raises:
        ValueError: If `max_delta` is negative.

    Example:
        >>> import tapejax as tf
        >>> image = tf.image.stateless_random_brightness([[[0.5]]], 0.2, (1, 2))
        >>> print(image.numpy().round(4).ravel())
        [0.6376]
    """
    _check_spread(max_delta)
    return adjust_brightness(image, stateless_uniform([], seed, -max_delta, max_delta))


@public("image.random_contrast")
def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """Change the contrast by a random factor: `tf.image.adjust_contrast`.

    Args:
        image: `[..., height, width, channels]`, floats or integers.
        lower: The least factor, not negative.
        upper: The largest factor, excluded.
        seed: Seed of this op beside that of `tf.random.set_seed`.

    Returns:
        A tensor of the same shape and dtype, TensorFlow's for the same seeds.

    Raises:
        ValueError: If `lower` is negative or not below `upper`.

    Example:
        >>> import tapejax as tf
        >>> tf.image.random_contrast(tf.zeros([2, 2, 3]), 0.2, 0.5, seed=1).shape
        TensorShape([2, 2, 3])
    """
    _check_range(lower, upper)
    return adjust_contrast(image, uniform([], lower, upper, seed=seed))


@public("image.stateless_random_contrast")
def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Any:
    """Change the contrast by a factor that a seed decides: `tf.image.adjust_contrast`.

    Args:
        image: `[..., height, width, channels]`, floats or integers.
        lower: The least factor, not negative.
        upper: The largest factor, excluded.
        seed: `[2]` integers.

    Returns:
        A tensor of the same shape and dtype, TensorFlow's for the same seed.

    Raises:
        ValueError: If `lower` is negative or not below `upper`.

    Example:
        >>> import tapejax as tf
        >>> tf.image.stateless_random_contrast(tf.zeros([2, 2, 3]), 0.2, 0.5, (1, 2)).shape
        TensorShape([2, 2, 3])
    """
    _check_range(lower, upper)
    return adjust_contrast(image, stateless_uniform([], seed, lower, upper))


@public("image.random_hue")
def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """Turn the hue by a random share of the circle: `tf.image.adjust_hue`.

    Args:
        image: `[..., height, width, 3]`, floats or integers.
        max_delta: The share lies in `[-max_delta, max_delta)`; in [0, 0.5].
        seed: Seed of this op beside that of `tf.random.set_seed`.

    Returns:
        A tensor of the same shape and dtype, TensorFlow's for the same seeds.

    Raises:
        ValueError: If `max_delta` is outside [0, 0.5].

    Example:
        >>> import tapejax as tf
        >>> tf.image.random_hue(tf.zeros([2, 2, 3]), 0.2, seed=1).shape
        TensorShape([2, 2, 3])
    """
    _check_spread(max_delta, 0.5)
    return adjust_hue(image, uniform([], -max_delta, max_delta, seed=seed))


@public("image.stateless_random_hue")
def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Any:
    """Turn the hue by a share of the circle that a seed decides: `tf.image.adjust_hue`.

    Args:
        image: `[..., height, width, 3]`, floats or integers.
        max_delta: The share lies in `[-max_delta, max_delta)`; in [0, 0.5].
        seed: `[2]` integers.

    Returns:
        A tensor of the same shape and dtype, TensorFlow's for the same seed.

    Raises:
        ValueError: If `max_delta` is outside [0, 0.5].

    Example:
        >>> import tapejax as tf
        >>> tf.image.stateless_random_hue(tf.zeros([2, 2, 3]), 0.2, (1, 2)).shape
        TensorShape([2, 2, 3])
    """
    _check_spread(max_delta, 0.5)
    return adjust_hue(image, stateless_uniform([], seed, -max_delta, max_delta))


@public("image.random_saturation")
def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """Change the saturation by a random factor: `tf.image.adjust_saturation`.

    Args:
        image: `[..., height, width, 3]`, floats or integers.
        lower: The least factor, not negative.
        upper: The largest factor, excluded.
        seed: Seed of this op beside that of `tf.random.set_seed`.

    Returns:
        A tensor of the same shape and dtype, TensorFlow's for the same seeds.

    Raises:
        ValueError: If `lower` is negative or not below `upper`.

    Example:
        >>> import tapejax as tf
        >>> tf.image.random_saturation(tf.zeros([2, 2, 3]), 0.2, 0.5, seed=1).shape
        TensorShape([2, 2, 3])
    """
    _check_range(lower, upper)
    return adjust_saturation(image, uniform([], lower, upper, seed=seed))


@public("image.stateless_random_saturation")
def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """Change the saturation by a factor that a seed decides: `tf.image.adjust_saturation`.

    Args:
        image: `[..., height, width, 3]`, floats or integers.
        lower: The least factor, not negative.
        upper: The largest factor, excluded.
        seed: `[2]` integers.

    Returns:
        A tensor of the same shape and dtype, TensorFlow's for the same seed.

    Raises:
        ValueError: If `lower` is negative or not below `upper`.

    Example:
        >>> import tapejax as tf
        >>> tf.image.stateless_random_saturation(tf.zeros([2, 2, 3]), 0.2, 0.5, (1, 2)).shape
        TensorShape([2, 2, 3])
    """
    _check_range(lower, upper)
    return adjust_saturation(image, stateless_uniform([], seed, lower, upper))

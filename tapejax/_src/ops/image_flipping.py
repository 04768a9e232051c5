"""Images mirrored, turned and transposed, by choice or at random."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from tapejax._src.core.dtypes import int32
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import Array, Index, Same, StaticInts, TensorLike, op, public
from tapejax._src.ops.image_checks import PIXELS, check_image
from tapejax._src.ops.random_stateful import uniform
from tapejax._src.ops.random_stateless import stateless_uniform

_IMAGES = ("f32[3,4,2]", "f64[2,3,2,1]", "u8[2,2,3]", "bool[1,2,3,1]")


def _mirrored(image: Array, axis: int) -> Array:
    check_image(image.shape)
    return jnp.flip(image, axis)


@op("image.flip_left_right", node="ReverseV2", dtypes=PIXELS, cases=_IMAGES)
def flip_left_right(image: Same) -> Array:
    """Mirror images so that left and right change places.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: For another rank or an image without pixels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.flip_left_right([[[1], [2]]]).numpy().tolist()
        [[[2], [1]]]
    """
    return _mirrored(image, -2)


@op("image.flip_up_down", node="ReverseV2", dtypes=PIXELS, cases=_IMAGES)
def flip_up_down(image: Same) -> Array:
    """Mirror images so that top and bottom change places.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: For another rank or an image without pixels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.flip_up_down([[[1]], [[2]]]).numpy().tolist()
        [[[2]], [[1]]]
    """
    return _mirrored(image, -3)


@op("image.transpose", node="Transpose", dtypes=PIXELS, cases=_IMAGES)
def transpose(image: Same, name: str | None = None) -> Array:
    """Exchange the height and width of images.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        name: Ignored.

    Returns:
        `[width, height, channels]`, or a batch of such, of the same dtype.

    Raises:
        ValueError: For another rank or an image without pixels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.transpose(tf.zeros([2, 5, 3])).shape
        TensorShape([5, 2, 3])
    """
    check_image(image.shape)
    return jnp.swapaxes(image, -3, -2)


# ---------------------------------------------------------------------- quarter turns
def _turned(image: Array, turns: int) -> Array:
    return jnp.rot90(image, turns, axes=(-3, -2))


@op("_image.rot90", node="Transpose", cases=("f32[3,4,2]", "f64[2,3,2,1], 2", "u8[2,2,3], 3"))
def _rot90(image: TensorLike, turns: StaticInts = 1) -> Array:
    """A known number of quarter turns."""
    return _turned(image, turns)


@op("_image.rot90:tensor", node="Transpose", cases=("f64[2,2,3], i32[] in (0, 4)",))
def _rot90_square(image: TensorLike, turns: Index) -> Array:
    """As many quarter turns of square images as a tensor says."""
    branches = [lambda x, n=n: _turned(x, n) for n in range(4)]
    return lax.switch(jnp.mod(turns, 4), branches, image)


@public("image.rot90")
def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """Turn images counter-clockwise by quarter turns.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        k: How many quarter turns, any integer; a tensor is read, unless a function is being traced.
        name: Ignored.

    Returns:
        The turned images; height and width change places if `k` is odd.

    Raises:
        ValueError: For another rank or an image without pixels, or if `k` is not one integer.
        NotImplementedError: If `k` is only known when a traced function runs and the images are
            not square, so that their shape would depend on it.

    Example:
        >>> import tapejax as tf
        >>> tf.image.rot90([[[1], [2]]]).numpy().tolist()
        [[[2]], [[1]]]
    """
    image = as_tensor(image)
    check_image(image.aval.shape)
    turns = k if isinstance(k, (Tensor, Variable)) else as_tensor(k, int32)
    if turns.shape.rank:
        raise ValueError(f"`k` must be one integer, got a tensor of shape {turns.shape}.")
    known = turns.array if isinstance(turns, Tensor) else None
    if known is None and LOCAL.recorder.symbolic is not None:
        height, width = image.aval.shape[-3:-1]
        if height != width:
            raise NotCompilableError(
                f"rot90 of images of {height} x {width} pixels by a number of turns that is not "
                "known while the function is traced: the shape would depend on it. Pass a Python "
                "int, or make the images square first."
            )
        return _rot90_square(image, turns)
    return _rot90(image, int(turns) % 4)


# ---------------------------------------------------------------------- at random
@op(
    "_image.flip_drawn",
    node="Select",
    no_gradient=("drawn",),
    cases=("f64[2,3,1], f32[] in (0, 1), -2", "f32[3,2,2,1], f32[3] in (0, 1), -3"),
)
def _flip_drawn(image: TensorLike, drawn: TensorLike, axis: StaticInts) -> Array:
    """Mirrored where the number drawn for an image says so."""
    mirrored = jnp.flip(image, axis)
    # One image is mirrored below one half, those of a batch above.
    chosen = drawn > 0.5 if drawn.ndim else drawn < 0.5
    return jnp.where(
        chosen.reshape(chosen.shape + (1,) * (image.ndim - chosen.ndim)), mirrored, image
    )


def _draws(image: Any) -> tuple[Tensor, list[int]]:
    """The image as a tensor, and the shape of the numbers to draw for it."""
    image = as_tensor(image)
    check_image(image.aval.shape)
    return image, list(image.aval.shape[:-3])


@public("image.random_flip_left_right")
def random_flip_left_right(image: Any, seed: int | None = None) -> Any:
    """Mirror left and right with a chance of one half, each image of a batch on its own.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        seed: Seed of this op beside that of `tf.random.set_seed`.

    Returns:
        A tensor of the same shape and dtype, with TensorFlow's choices for the same seeds.

    Raises:
        ValueError: For another rank or an image without pixels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.random_flip_left_right(tf.zeros([4, 4, 3]), seed=1).shape
        TensorShape([4, 4, 3])
    """
    image, shape = _draws(image)
    return _flip_drawn(image, uniform(shape, 0, 1.0, seed=seed), -2)


@public("image.random_flip_up_down")
def random_flip_up_down(image: Any, seed: int | None = None) -> Any:
    """Mirror top and bottom with a chance of one half, each image of a batch on its own.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        seed: Seed of this op beside that of `tf.random.set_seed`.

    Returns:
        A tensor of the same shape and dtype, with TensorFlow's choices for the same seeds.

    Raises:
        ValueError: For another rank or an image without pixels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.random_flip_up_down(tf.zeros([4, 4, 3]), seed=1).shape
        TensorShape([4, 4, 3])
    """
    image, shape = _draws(image)
    return _flip_drawn(image, uniform(shape, 0, 1.0, seed=seed), -3)


@public("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """Mirror left and right with a chance of one half that a seed decides.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        seed: `[2]` integers.

    Returns:
        A tensor of the same shape and dtype, with TensorFlow's choices for the same seed.

    Raises:
        ValueError: For another rank or an image without pixels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.stateless_random_flip_left_right([[[1], [2]]], (2, 3)).numpy().tolist()
        [[[2], [1]]]
    """
    image, shape = _draws(image)
    return _flip_drawn(image, stateless_uniform(shape, seed, 0, 1.0), -2)


@public("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """Mirror top and bottom with a chance of one half that a seed decides.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        seed: `[2]` integers.

    Returns:
        A tensor of the same shape and dtype, with TensorFlow's choices for the same seed.

    Raises:
        ValueError: For another rank or an image without pixels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.stateless_random_flip_up_down([[[1]], [[2]]], (2, 3)).numpy().tolist()
        [[[2]], [[1]]]
    """
    image, shape = _draws(image)
    return _flip_drawn(image, stateless_uniform(shape, seed, 0, 1.0), -3)

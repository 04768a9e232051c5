"""Products of matrices and vectors: matmul, matvec, tensordot, cross, trace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import FailedPreconditionError, InvalidArgumentError
from tapejax._src.engine.registry import Array, DTypeLike, Same, op
from tapejax._src.ops.diagonals import diagonal

_MATMUL = (
    "bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, "
    "complex128"
)
_BATCHED = _MATMUL.replace("int32", "int16, int32", 1)
_TF_NAMES = {"float16": "half", "float32": "float", "float64": "double"}
_ORDERED = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
_NUMBERS = (
    "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 "
    "quint16 uint16 complex128 half uint32 uint64"
)


def _shape(x: Array | Sequence[int]) -> str:
    return "[" + ",".join(map(str, getattr(x, "shape", x))) + "]"


def _check_dtype(dtype: np.dtype[Any], allowed: str) -> None:
    name = _TF_NAMES.get(dtype.name, dtype.name)
    if name not in allowed.split(", "):
        msg = f"Value for attr 'T' of {name} is not in the list of allowed values: {allowed}"
        raise InvalidArgumentError(msg)


def _check_flags(which: str, transpose: bool, adjoint: bool) -> None:
    if transpose and adjoint:
        msg = (
            f"Only one of `transpose_{which}` and `adjoint_{which}` can be True. Received "
            f"`transpose_{which}`={transpose}, `adjoint_{which}`={adjoint}."
        )
        raise ValueError(msg)


def _check_shapes(a: Array, b: Array, inner: tuple[int, int]) -> None:
    for place, x in enumerate((a, b)):
        if x.ndim < 2:
            msg = (
                f"In[{place}] ndims must be >= 2. Received shape {_shape(x)}. Add an axis, or "
                "use tf.linalg.matvec or tf.tensordot."
            )
            raise InvalidArgumentError(msg)
    if inner[0] != inner[1]:
        msg = f"Matrix size-incompatible: In[0]: {_shape(a)}, In[1]: {_shape(b)}"
        raise InvalidArgumentError(msg)
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError as error:
        msg = f"In[0] and In[1] must have compatible batch dimensions: {_shape(a)} vs. {_shape(b)}"
        raise InvalidArgumentError(msg) from error


def flipped(x: Array, transpose: bool, adjoint: bool) -> Array:
    """`x` with its last two axes exchanged if asked for, conjugated for `adjoint`."""
    if not (transpose or adjoint):
        return x
    x = jnp.swapaxes(x, -1, -2)
    return jnp.conj(x) if adjoint and jnp.iscomplexobj(x) else x


def _contracted(x: Array, last: bool, flip: bool) -> int:
    """Size of the contracted axis of an operand that may be flipped."""
    return x.shape[-1 if last != flip else -2]


@op(
    "matmul",
    "linalg.matmul",
    node="MatMul",
    cases=(
        "f32[2,3], f32[3,4]",
        "f64[2,3], f64[3,1]",
        "f32[3,2], f32[4,3], True, True",
        "c64[2,3], c64[2,4], adjoint_a=True",
        "f32[4,1,2,3], f32[5,3,2]",
        "f32[2,2,3], f32[2,4,3], transpose_b=True",
        "i32[2,3], i32[3,2]",
        "f32[0,3], f32[3,2]",
        "f32[2,0], f32[0,2]",
        "i8[2,3], i8[3,2], output_type=tf.int32",
    ),
)
def matmul(
    a: Same,
    b: Same,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Array:
    """Matrix product of `a` and `b`, with broadcasting over leading axes.

    Args:
        a: Numbers `[..., m, k]`, or `[..., k, m]` if flipped.
        b: Numbers `[..., k, n]`, or `[..., n, k]` if flipped, of the dtype of `a`.
        transpose_a: Whether to exchange the last two axes of `a` first.
        transpose_b: Whether to exchange the last two axes of `b` first.
        adjoint_a: The same with complex conjugation.
        adjoint_b: The same with complex conjugation.
        a_is_sparse: Ignored.
        b_is_sparse: Ignored.
        output_type: DType of the result and of the sums, if not that of `a`.
        grad_a: Ignored.
        grad_b: Ignored.
        name: Ignored.

    Returns:
        The products `[..., m, n]`.

    Raises:
        ValueError: An operand is both transposed and adjoint.
        tf.errors.InvalidArgumentError: A rank below 2, sizes that do not match, a dtype that
            TensorFlow does not multiply.

    Example:
        >>> import tapejax as tf
        >>> print(tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy())
        [[11.]]

    *Differs from TensorFlow*: every `output_type` is supported.
    """
    _check_flags("a", transpose_a, adjoint_a)
    _check_flags("b", transpose_b, adjoint_b)
    if output_type is None:
        batched = a.ndim > 2 or b.ndim > 2
        _check_dtype(a.dtype, _BATCHED if batched else _MATMUL)
    flip_a, flip_b = transpose_a or adjoint_a, transpose_b or adjoint_b
    if a.ndim >= 2 and b.ndim >= 2:
        inner = (_contracted(a, True, flip_a), _contracted(b, False, flip_b))
    else:
        inner = (0, 0)
    _check_shapes(a, b, inner)
    dtype = a.dtype if output_type is None else output_type
    a, b = flipped(a, transpose_a, adjoint_a), flipped(b, transpose_b, adjoint_b)
    return jnp.matmul(a, b, preferred_element_type=dtype)


@op(
    "linalg.matvec",
    node="MatMul",
    cases=(
        "f32[2,3], f32[3]",
        "f64[4,2,3], f64[3]",
        "f32[3,2], f32[3], transpose_a=True",
        "c64[3,2], c64[3], adjoint_a=True",
        "i32[2,3], i32[3]",
    ),
)
def matvec(
    a: Same,
    b: Same,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Array:
    """Product of matrices and vectors, with broadcasting over leading axes.

    Args:
        a: Numbers `[..., m, k]`, or `[..., k, m]` if flipped.
        b: Numbers `[..., k]`, of the dtype of `a`.
        transpose_a: Whether to exchange the last two axes of `a` first.
        adjoint_a: The same with complex conjugation.
        a_is_sparse: Ignored.
        b_is_sparse: Ignored.
        name: Ignored.

    Returns:
        The products `[..., m]`.

    Raises:
        ValueError: `a` is both transposed and adjoint.
        tf.errors.InvalidArgumentError: Ranks or sizes that do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]).numpy())
        [17. 39.]
    """
    _check_flags("a", transpose_a, adjoint_a)
    if b.ndim < 1:
        raise InvalidArgumentError("In[1] ndims must be >= 2. Received a scalar as the vector.")
    column = b[..., None]
    _check_dtype(a.dtype, _BATCHED if a.ndim > 2 or b.ndim > 1 else _MATMUL)
    flip = transpose_a or adjoint_a
    inner = (_contracted(a, True, flip) if a.ndim >= 2 else 0, b.shape[-1])
    _check_shapes(a, column, inner)
    return jnp.matmul(flipped(a, transpose_a, adjoint_a), column)[..., 0]


def _contraction(a: Array, b: Array, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The contracted axes of both operands, as `tf.tensordot` reads its argument `axes`."""
    if isinstance(axes, int | np.integer):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        for x in (a, b):
            if axes > x.ndim:
                msg = (
                    f"`axes` must not be larger than the number of dimensions of tensor "
                    f"{_shape(x)}.  Received {axes}, vs tensor dimensions {x.ndim}."
                )
                raise ValueError(msg)
        return tuple(range(a.ndim - int(axes), a.ndim)), tuple(range(int(axes)))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    first, second = (tuple(np.atleast_1d(np.asarray(part, int)).tolist()) for part in axes)
    if len(first) != len(second):
        msg = f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}."
        raise ValueError(msg)
    for x, part in ((a, first), (b, second)):
        for axis in part:
            if not -x.ndim <= axis < x.ndim:
                msg = f"list index out of range: axis {axis} of a tensor of shape {_shape(x)}"
                raise IndexError(msg)
    return first, second


@op(
    "tensordot",
    "linalg.tensordot",
    node="MatMul",
    cases=(
        "f32[2,3], f32[3,4], 1",
        "f64[2], f64[3], 0",
        "f32[2,3,4], f32[4,3,5], [[1, -1], [1, 0]]",
        "f32[2,3], f32[3,4], [1, 0]",
        "i32[3], i32[3], 1",
        "c64[2,3], c64[3], 1",
    ),
)
def tensordot(a: Same, b: Same, axes: Any, name: str | None = None) -> Array:
    """Sum of products over chosen axes of two tensors.

    Args:
        a: Numbers `[...]`.
        b: Numbers `[...]`, of the dtype of `a`.
        axes: An integer n: contract the last n axes of `a` with the first n of `b`; or a pair of
            axes, or of equally long lists of axes, of `a` and of `b`.
        name: Ignored.

    Returns:
        The tensor of the axes of `a` that are left, followed by those of `b`.

    Raises:
        ValueError: `axes` has another form or asks for too many axes.
        tf.errors.InvalidArgumentError: Contracted axes of different sizes.

    Example:
        >>> import tapejax as tf
        >>> print(tf.tensordot([1.0, 2.0], [3.0, 4.0], 1).numpy())
        11.0
    """
    _check_dtype(a.dtype, _MATMUL)
    first, second = _contraction(a, b, axes)
    sizes = [tuple(x.shape[i] for i in part) for x, part in ((a, first), (b, second))]
    if sizes[0] != sizes[1]:
        left = math.prod(a.shape[i] for i in range(a.ndim) if i not in np.mod(first, a.ndim))
        msg = (
            f"Matrix size-incompatible: In[0]: {_shape(a)}, In[1]: {_shape(b)}: the contracted "
            f"axes have the sizes {list(sizes[0])} and {list(sizes[1])} ({left} rows)"
        )
        raise InvalidArgumentError(msg)
    return jnp.tensordot(a, b, axes=(first, second))


@op(
    "linalg.cross",
    node="Cross",
    dtypes=_ORDERED,
    cases=("f32[3], f32[3]", "f64[2,3], f64[2,3]", "i32[3], i32[3]"),
)
def cross(a: Same, b: Same, name: str | None = None) -> Array:
    """Vector product of the 3 elements of the last axes.

    Args:
        a: Real numbers `[..., 3]`.
        b: Real numbers of the shape and dtype of `a`.
        name: Ignored.

    Returns:
        The products `[..., 3]`.

    Raises:
        tf.errors.InvalidArgumentError: The shapes differ.
        tf.errors.FailedPreconditionError: The last axis does not have 3 elements.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).numpy())
        [0. 0. 1.]
    """
    if a.shape != b.shape:
        msg = f"Both inputs must be of same shape: {_shape(a)} vs. {_shape(b)}"
        raise InvalidArgumentError(msg)
    if a.ndim == 0:
        raise InvalidArgumentError("Input must be at least 1D[]")
    if a.shape[-1] != 3:
        msg = f"Cross-products are only defined for 3-element vectors. Received {_shape(a)}"
        raise FailedPreconditionError(msg)
    following, preceding = jnp.array([1, 2, 0]), jnp.array([2, 0, 1])
    return a[..., following] * b[..., preceding] - a[..., preceding] * b[..., following]


@op(
    "linalg.trace",
    node="Sum",
    dtypes=_NUMBERS,
    cases=("f32[3,3]", "f64[2,3,4]", "i32[2,2]", "c64[2,2]", "f32[0,0]"),
)
def trace(x: Same, name: str | None = None) -> Array:
    """Sum of the main diagonal of each matrix.

    Args:
        x: Numbers `[..., m, n]`.
        name: Ignored.

    Returns:
        The traces `[...]`, in the dtype of `x`.

    Raises:
        tf.errors.InvalidArgumentError: A rank below 2.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.trace([[1.0, 2.0], [3.0, 4.0]]).numpy())
        5.0
    """
    if x.ndim < 2:
        msg = f"input must be at least 2-dim, received shape: {_shape(x)}"
        raise InvalidArgumentError(msg)
    return jnp.sum(diagonal(x), axis=-1, dtype=x.dtype)

"""Tensors and batch shapes as operators use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, static_ints, static_tensor
from tapejax._src.ops.arithmetic import abs as magnitude
from tapejax._src.ops.assertions import assert_equal, assert_positive
from tapejax._src.ops.complex_parts import imag
from tapejax._src.ops.creation import zeros_like
from tapejax._src.ops.linalg import solve
from tapejax._src.ops.matrix_functions import adjoint
from tapejax._src.ops.shaping import broadcast_to


def kept(value: Any) -> Any:
    """What an operator keeps of an argument: a variable itself, anything else as a tensor."""
    return value if isinstance(value, Variable) else as_tensor(value)


def sizes(x: Any) -> tuple[int, ...]:
    """The shape of a tensor or a variable, as ints."""
    return as_tensor(x).aval.shape


def common_batch(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The batch shape that all broadcast to.

    Raises:
        ValueError: There is none.
    """
    try:
        return np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        listed = " and ".join(str(tuple(shape)) for shape in shapes)
        raise ValueError(f"Incompatible shapes for broadcasting: batch shapes {listed}") from None


def with_batch(x: Any, batch: Sequence[int], kept_axes: int = 2) -> Any:
    """`x` broadcast to a batch shape in front of its last axes."""
    shape = sizes(x)
    wanted = (*batch, *shape[len(shape) - kept_axes :])
    return x if shape == wanted else broadcast_to(x, wanted)


def broadcast_solve(matrix: Any, rhs: Any, use_adjoint: bool = False) -> Any:
    """The solution of systems of equations whose batch shapes are broadcast."""
    batch = common_batch(sizes(matrix)[:-2], sizes(rhs)[:-2])
    return solve(with_batch(matrix, batch), with_batch(rhs, batch), adjoint=use_adjoint)


def adjoint_if(x: Any, wanted: bool) -> Any:
    """The conjugate transpose of `x` if wanted, else `x`."""
    return adjoint(x) if wanted else x


def shape_tensor(shape: Sequence[int] | int) -> Tensor:
    """A static shape or size as an int32 tensor."""
    return static_tensor(np.asarray(shape, np.int32))


def scalar_int(name: str, value: Any) -> int:
    """A static size.

    Raises:
        TypeError: It is no integer.
        ValueError: It is no scalar, or negative.
    """
    try:
        found = static_ints(value)
    except TypeError:
        raise TypeError(f"Argument {name} must be integer type.  Found: {value!r}") from None
    if not isinstance(found, int):
        raise ValueError(f"Argument {name} must be a 0-D Tensor.  Found: {value!r}")
    if found < 0:
        raise ValueError(f"Argument {name} must be non-negative.  Found: {value!r}")
    return found


def batch_shape_of(value: Any) -> tuple[int, ...]:
    """A static batch shape.

    Raises:
        TypeError: It holds no integers.
        ValueError: It is no vector, or a size is negative.
    """
    if value is None:
        return ()
    found = static_ints(value)
    if isinstance(found, int) or any(not isinstance(size, int) for size in found):
        raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {value!r}")
    if any(size < 0 for size in found):
        raise ValueError(f"Argument batch_shape must be non-negative.  Found: {value!r}")
    return found


def square_of(shape: Sequence[int]) -> TensorShape:
    """The shape of the square matrices of a vector's shape."""
    return TensorShape([*shape, shape[-1]])


def assert_no_zero(x: Any, message: str) -> None:
    """Check that no element of `x` is 0."""
    assert_positive(magnitude(x), message=message)


def assert_real(x: Any, message: str) -> None:
    """Check that the imaginary parts of `x` are 0."""
    if as_tensor(x).dtype.is_complex:
        part = imag(x)
        assert_equal(zeros_like(part), part, message=message)

"""`tf.linalg.experimental.conjugate_gradient`: systems solved by products only."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public
from tapejax._src.function.control_flow import while_loop
from tapejax._src.function.linear_operators.batches import common_batch, sizes, with_batch
from tapejax._src.ops.arithmetic import add, divide, multiply, subtract
from tapejax._src.ops.casting import cast
from tapejax._src.ops.comparison import greater, logical_and
from tapejax._src.ops.complex_parts import conj
from tapejax._src.ops.constants import constant
from tapejax._src.ops.creation import zeros
from tapejax._src.ops.norm import norm
from tapejax._src.ops.reduction import reduce_any, reduce_sum
from tapejax._src.ops.shaping import expand_dims


class CGState(NamedTuple):
    """Where the method stopped: what `conjugate_gradient` returns.

    Attributes:
        i: The number of iterations, int32.
        x: The solutions `[..., n]`.
        r: The residuals `rhs - A @ x`.
        p: The next directions.
        gamma: The inner products of the residuals with the preconditioned residuals `[...]`.
    """

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def _dot(left: Any, right: Any) -> Any:
    return reduce_sum(multiply(conj(left), right), axis=-1)


def _along(factor: Any, direction: Any) -> Any:
    return multiply(expand_dims(factor, -1), direction)


@public("linalg.experimental.conjugate_gradient")
def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """Solve `A @ x = rhs` with a self-adjoint positive definite operator by conjugate gradients.

    Args:
        operator: A `tf.linalg.LinearOperator` with the hints `is_self_adjoint` and
            `is_positive_definite`.
        rhs: The right-hand sides `[..., n]`.
        preconditioner: An operator that is near the inverse of `operator`, with the same hints.
        x: Where to start `[..., n]`; zeros if None.
        tol: Stop when the norm of each residual is at most `tol` times that of its `rhs`.
        max_iter: The most iterations.
        name: Ignored.

    Returns:
        A named tuple `(i, x, r, p, gamma)`: iterations, solutions, residuals, directions and the
        squared sizes of the residuals.

    Raises:
        ValueError: The operators lack the hints, or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> operator = tf.linalg.LinearOperatorDiag([4.0, 1.0], is_positive_definite=True)
        >>> state = tf.linalg.experimental.conjugate_gradient(operator, tf.constant([4.0, 2.0]))
        >>> print(state.x.numpy().round(4))
        [1. 2.]

    References: Hestenes and Stiefel, Methods of conjugate gradients, 1952.
    """
    _check_hints(operator, "operator")
    if preconditioner is not None:
        _check_hints(preconditioner, "preconditioner")
    rhs = as_tensor(rhs)
    r, x, p, limit = _start(operator, rhs, preconditioner, x, tol)

    def unfinished(i: Any, state: CGState) -> Any:
        large = reduce_any(greater(_size(norm(state.r, axis=-1)), _size(limit)))
        return logical_and(i < max_iter, large)

    def step(i: Any, state: CGState) -> tuple[Any, CGState]:
        image = operator.matvec(state.p)
        alpha = divide(state.gamma, _dot(state.p, image))
        moved = add(state.x, _along(alpha, state.p))
        left = subtract(state.r, _along(alpha, image))
        better = left if preconditioner is None else preconditioner.matvec(left)
        gamma = _dot(left, better)
        direction = add(better, _along(divide(gamma, state.gamma), state.p))
        return i + 1, CGState(i + 1, moved, left, direction, gamma)

    start = constant(0)
    return while_loop(unfinished, step, [start, CGState(start, x, r, p, _dot(r, p))])[1]


def _check_hints(operator: Any, what: str) -> None:
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError(f"Expected a self-adjoint, positive definite {what}.")


def _start(operator: Any, rhs: Any, preconditioner: Any, x: Any, tol: float) -> tuple[Any, ...]:
    """The first residual, solution and direction, and the norm at which to stop."""
    operators = [operator] if preconditioner is None else [operator, preconditioner]
    batch = common_batch(sizes(rhs)[:-1], *[o.batch_shape.as_list() for o in operators])
    r = with_batch(rhs, batch, 1)
    limit = multiply(norm(r, axis=-1), tol)
    if x is None:
        x = zeros(sizes(r), r.dtype)
    else:
        x = with_batch(x, batch, 1)
        r = subtract(rhs, operator.matvec(x))
    p = r if preconditioner is None else preconditioner.matvec(r)
    return r, x, p, limit


def _size(x: Any) -> Any:
    """A norm as a real number: that of complex vectors has their dtype."""
    return cast(x, x.dtype.real_dtype) if x.dtype.is_complex else x

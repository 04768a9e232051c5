"""`tf.linalg.LinearOperatorLowRankUpdate`: an operator plus a product of thin matrices."""

from __future__ import annotations

from typing import Any

from tapejax._src.core.shapes import TensorShape
from tapejax._src.function.linear_operators.base import LinearOperator
from tapejax._src.function.linear_operators.batches import (
    adjoint_if,
    broadcast_solve,
    common_batch,
    kept,
    sizes,
)
from tapejax._src.function.linear_operators.diagonal import LinearOperatorDiag
from tapejax._src.function.linear_operators.identity import LinearOperatorIdentity
from tapejax._src.ops.arithmetic import add, multiply, subtract
from tapejax._src.ops.complex_parts import conj
from tapejax._src.ops.elementwise import exp
from tapejax._src.ops.linalg import det, slogdet
from tapejax._src.ops.matmul import matmul
from tapejax._src.ops.reduction import reduce_sum
from tapejax._src.ops.shaping import expand_dims


class LinearOperatorLowRankUpdate(LinearOperator):
    """`L + U @ D @ adjoint(V)` of an operator `L`, thin matrices `U`, `V` and a diagonal `D`.

    Solving and determinants cost what they cost for `L`, and small systems of `r` equations.

    Args:
        base_operator: The operator `L`, `[..., m, n]`.
        u: Matrices `[..., m, r]`.
        diag_update: The diagonals of `D`, `[..., r]`; ones if None.
        v: Matrices `[..., n, r]`; `u` if None.
        is_diag_update_positive: Whether the diagonals are positive.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.

    Raises:
        ValueError: Shapes that do not fit, or a wrong hint.

    Example:
        >>> import tapejax as tf
        >>> base = tf.linalg.LinearOperatorIdentity(2)
        >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [2.0]])
        >>> print(operator.to_dense().numpy(), operator.determinant().numpy())
        [[2. 2.]
         [2. 5.]] 6.0

    References:
        Woodbury, Inverting modified matrices, 1950.
    """

    def __init__(
        self,
        base_operator: Any,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive.  However, user set "
                    "'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        symmetric = base_operator.is_self_adjoint and v is None
        if symmetric and not base_operator.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is "
                    "self-adjoint, this must be a self-adjoint operator."
                )
            is_self_adjoint = True
        if symmetric and base_operator.is_positive_definite and is_diag_update_positive:
            if False in (is_positive_definite, is_self_adjoint, is_non_singular):
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        self._base_operator = base_operator
        self._is_diag_update_positive = is_diag_update_positive
        self._u = kept(u)
        self._v = self._u if v is None else kept(v)
        self._set_diagonal(diag_update)
        self._check_shapes()
        super().__init__(
            base_operator.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            parameters,
        )

    def _set_diagonal(self, diag_update: Any) -> None:
        rank = sizes(self._u)[-1]
        self._diag_update = None if diag_update is None else kept(diag_update)
        if self._diag_update is None:
            dtype = self._base_operator.dtype
            self._diag_operator: Any = LinearOperatorIdentity(rank, dtype=dtype)
        else:
            positive = self._is_diag_update_positive
            self._diag_operator = LinearOperatorDiag(
                self._diag_update, is_positive_definite=positive
            )

    def _check_shapes(self) -> None:
        rows, columns = self._base_operator.shape.as_list()[-2:]
        left, right = sizes(self._u), sizes(self._v)
        wanted = {
            "u": (left[-2], rows),
            "v": (right[-2], columns),
            "v, for the columns of u": (right[-1], left[-1]),
            "diag_update": (self._diag_operator.shape.as_list()[-1], left[-1]),
        }
        for what, (found, needed) in wanted.items():
            if found != needed:
                raise ValueError(
                    f"Dimensions {found} and {needed} are not compatible: {what}, with a base "
                    f"operator of shape {self._base_operator.shape}, u {left} and v {right}"
                )

    @property
    def base_operator(self) -> Any:
        """The operator `L`."""
        return self._base_operator

    @property
    def u(self) -> Any:
        """The matrices `U`."""
        return self._u

    @property
    def v(self) -> Any:
        """The matrices `V`."""
        return self._v

    @property
    def diag_update(self) -> Any:
        """The diagonals of `D`, or None for ones."""
        return self._diag_update

    @property
    def diag_operator(self) -> Any:
        """The operator `D`."""
        return self._diag_operator

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether the diagonals of `D` are positive."""
        return self._is_diag_update_positive

    def _shape(self) -> TensorShape:
        shapes = [o.shape.as_list() for o in (self._base_operator, self._diag_operator)]
        parts = [*shapes, sizes(self._u), sizes(self._v)]
        return TensorShape([*common_batch(*[s[:-2] for s in parts]), *shapes[0][-2:]])

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_if(x, adjoint_arg)
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = self._diag_operator.matmul(matmul(right, x, adjoint_a=True), adjoint=adjoint)
        return add(self._base_operator.matmul(x, adjoint=adjoint), matmul(left, inner))

    def _capacitance(self) -> Any:
        """`inv(D) + adjoint(V) @ inv(L) @ U`."""
        inner = matmul(self._v, self._base_operator.solve(self._u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        # inv(A) = inv(L) - inv(L) @ U @ inv(C) @ adjoint(V) @ inv(L)
        rhs = adjoint_if(rhs, adjoint_arg)
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        solved = self._base_operator.solve(rhs, adjoint=adjoint)
        inner = matmul(right, solved, adjoint_a=True)
        small = broadcast_solve(self._capacitance(), inner, adjoint)
        change = self._base_operator.solve(matmul(left, small), adjoint=adjoint)
        return subtract(solved, change)

    def _determinant(self) -> Any:
        if self.is_positive_definite and self.is_self_adjoint:
            return exp(self.log_abs_determinant())
        outer = multiply(self._diag_operator.determinant(), self._base_operator.determinant())
        return multiply(det(self._capacitance()), outer)

    def _log_abs_determinant(self) -> Any:
        parts = self._diag_operator, self._base_operator
        outer = add(*[part.log_abs_determinant() for part in parts])
        return add(slogdet(self._capacitance())[1], outer)

    def _diag_part(self) -> Any:
        rows = min(self._sizes[-2:])
        product = multiply(self._u[..., :rows, :], conj(self._v[..., :rows, :]))
        if self._diag_update is not None:
            product = multiply(product, expand_dims(self._diag_update, -2))
        return add(reduce_sum(product, axis=-1), self._base_operator.diag_part())

    def _assert_self_adjoint(self) -> Any:
        if self._u is self._v and self._diag_update is None:
            return self._base_operator.assert_self_adjoint()
        return super()._assert_self_adjoint()

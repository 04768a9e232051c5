"""Operators of stored matrices: `LinearOperatorFullMatrix`, `LinearOperatorLowerTriangular`."""

from __future__ import annotations

from typing import Any

from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.convert import as_tensor
from tapejax._src.function.linear_operators import hints
from tapejax._src.function.linear_operators.base import RELATED, LinearOperator
from tapejax._src.function.linear_operators.batches import adjoint_if, assert_no_zero, kept, sizes
from tapejax._src.ops.arithmetic import abs as magnitude
from tapejax._src.ops.diagonals import band_part, diag_part
from tapejax._src.ops.elementwise import log
from tapejax._src.ops.linalg import triangular_solve
from tapejax._src.ops.matmul import matmul
from tapejax._src.ops.reduction import reduce_prod, reduce_sum


class LinearOperatorFullMatrix(LinearOperator):
    """Matrices that are stored as such.

    Args:
        matrix: The matrices `[..., m, n]`.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.

    Raises:
        ValueError: The rank is below 2, or the hints contradict each other.

    Example:
        >>> import tapejax as tf
        >>> operator = tf.linalg.LinearOperatorFullMatrix([[0.0, 2.0], [1.0, 0.0]])
        >>> print(operator.solvevec([4.0, 3.0]).numpy())
        [3. 2.]
    """

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._matrix = _matrices("matrix", matrix)
        super().__init__(
            self._matrix.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            parameters,
        )

    @property
    def matrix(self) -> Any:
        """The matrices `[..., m, n]`."""
        return self._matrix

    def _shape(self) -> TensorShape:
        return TensorShape(sizes(self._matrix))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return as_tensor(self._matrix)


def _matrices(name: str, value: Any) -> Any:
    found = kept(value)
    if len(sizes(found)) < 2:
        raise ValueError(f"Argument {name} must have at least 2 dimensions.  Found: {value}")
    return found


class LinearOperatorLowerTriangular(LinearOperator):
    """Lower triangular matrices.

    Args:
        tril: The matrices `[..., n, n]`, of which nothing above the diagonal is read.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: True or None.
        name: The name.

    Raises:
        ValueError: The rank is below 2, or a wrong hint.

    Example:
        >>> import tapejax as tf
        >>> operator = tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]])
        >>> print(operator.solvevec([2.0, 9.0]).numpy(), operator.determinant().numpy())
        [1. 2.] 8.0
    """

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._tril = _matrices("tril", tril)
        super().__init__(
            self._tril.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def tril(self) -> Any:
        """The matrices as they were given."""
        return self._tril

    def _lower(self) -> Any:
        return band_part(self._tril, -1, 0)

    def _shape(self) -> TensorShape:
        return TensorShape(sizes(self._tril))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._lower(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_if(rhs, adjoint_arg)
        return triangular_solve(self._lower(), rhs, lower=True, adjoint=adjoint)

    def _determinant(self) -> Any:
        return reduce_prod(self._diag_part(), axis=-1)

    def _log_abs_determinant(self) -> Any:
        return reduce_sum(log(magnitude(self._diag_part())), axis=-1)

    def _diag_part(self) -> Any:
        return diag_part(self._tril)

    def _to_dense(self) -> Any:
        return self._lower()

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _assert_non_singular(self) -> Any:
        message = "Singular operator:  Diagonal contained zero values."
        return assert_no_zero(self._diag_part(), message)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        if not isinstance(right_operator, LinearOperatorLowerTriangular):
            return super()._linop_matmul(left_operator, right_operator)
        known = hints.of_product(left_operator, right_operator)
        product = matmul(left_operator.to_dense(), right_operator.to_dense())
        return LinearOperatorLowerTriangular(product, **known)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        if not isinstance(right_operator, LinearOperatorLowerTriangular):
            return super()._linop_solve(left_operator, right_operator)
        known = hints.of_product(left_operator, right_operator)
        return LinearOperatorLowerTriangular(
            left_operator.solve(right_operator.to_dense()), **known
        )


RELATED.lower_triangular = LinearOperatorLowerTriangular

"""Diagonal operators: `LinearOperatorDiag` and `LinearOperatorScaledIdentity`."""

from __future__ import annotations

from typing import Any

from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.convert import as_tensor
from tapejax._src.function.linear_operators import hints
from tapejax._src.function.linear_operators.base import RELATED, LinearOperator
from tapejax._src.function.linear_operators.batches import (
    adjoint_if,
    assert_no_zero,
    assert_real,
    common_batch,
    kept,
    scalar_int,
    sizes,
    square_of,
    with_batch,
)
from tapejax._src.ops.arithmetic import abs as magnitude
from tapejax._src.ops.arithmetic import add, divide, multiply
from tapejax._src.ops.assertions import assert_positive
from tapejax._src.ops.casting import cast
from tapejax._src.ops.complex_parts import conj, real
from tapejax._src.ops.creation import ones
from tapejax._src.ops.diagonals import diag, diag_part, set_diag
from tapejax._src.ops.elementwise import log
from tapejax._src.ops.powers import pow as power
from tapejax._src.ops.powers import sqrt
from tapejax._src.ops.reduction import reduce_max, reduce_min, reduce_prod, reduce_sum
from tapejax._src.ops.selecting import where
from tapejax._src.ops.shaping import expand_dims


class LinearOperatorDiag(LinearOperator):
    """Diagonal matrices, given by their diagonals.

    Args:
        diag: The diagonals `[..., n]`.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint; always True for real numbers.
        is_positive_definite: A hint.
        is_square: True or None.
        name: The name.

    Raises:
        ValueError: A scalar, or a wrong hint.

    Example:
        >>> import tapejax as tf
        >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        >>> print(operator.solvevec([3.0, 4.0]).numpy(), operator.determinant().numpy())
        [3. 2.] 2.0
    """

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._diag = kept(diag)
        if len(sizes(self._diag)) < 1:
            raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {diag}")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def diag(self) -> Any:
        """The diagonals `[..., n]`."""
        return self._diag

    def _shape(self) -> TensorShape:
        return square_of(sizes(self._diag))

    def _turned(self, use_adjoint: bool) -> Any:
        return conj(self._diag) if use_adjoint else as_tensor(self._diag)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return multiply(expand_dims(self._turned(adjoint), -1), adjoint_if(x, adjoint_arg))

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return multiply(self._turned(adjoint), x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return divide(adjoint_if(rhs, adjoint_arg), expand_dims(self._turned(adjoint), -1))

    def _determinant(self) -> Any:
        return reduce_prod(self._diag, axis=-1)

    def _log_abs_determinant(self) -> Any:
        return cast(reduce_sum(log(magnitude(self._diag)), axis=-1), self.dtype)

    def _to_dense(self) -> Any:
        return diag(as_tensor(self._diag))

    def _diag_part(self) -> Any:
        return as_tensor(self._diag)

    def _add_to_tensor(self, x: Any) -> Any:
        x = with_batch(x, common_batch(sizes(x)[:-2], self._sizes[:-2]))
        return set_diag(x, add(self._diag, diag_part(x)))

    def _eigvals(self) -> Any:
        return as_tensor(self._diag)

    def _cond(self) -> Any:
        size = magnitude(self._diag)
        return divide(reduce_max(size, axis=-1), reduce_min(size, axis=-1))

    def _assert_non_singular(self) -> Any:
        message = "Singular operator:  Diagonal contained zero values."
        return assert_no_zero(self._diag, message)

    def _assert_positive_definite(self) -> Any:
        complex_ = "Diagonal operator had diagonal entries with non-positive real part, "
        real_ = "Real diagonal operator had non-positive diagonal entries, "
        message = (complex_ if self.dtype.is_complex else real_) + "thus was not positive definite."
        return assert_positive(real(self._diag), message=message)

    def _assert_self_adjoint(self) -> Any:
        message = "This diagonal operator contained non-zero imaginary values.  Thus it was not "
        return assert_real(self._diag, message + "self-adjoint.")

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(self._turned(True), **self._hints)

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorDiag(divide(1.0, self._diag), **self._hints)

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(sqrt(self._diag), True, True, True, True)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        factor = _diagonal_of(right_operator)
        if factor is not None:
            known = hints.of_commuting(left_operator, right_operator)
            return LinearOperatorDiag(multiply(left_operator.diag, factor), **known)
        triangular: Any = RELATED.lower_triangular
        if isinstance(right_operator, triangular):
            known = {**hints.of_commuting(left_operator, right_operator)}
            known["is_positive_definite"] = known["is_self_adjoint"] = None
            scaled = multiply(expand_dims(left_operator.diag, -1), right_operator.to_dense())
            return triangular(scaled, **known)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        factor = _diagonal_of(right_operator)
        if factor is not None:
            known = hints.of_commuting(left_operator, right_operator)
            return LinearOperatorDiag(divide(factor, left_operator.diag), **known)
        return super()._linop_solve(left_operator, right_operator)


def _diagonal_of(operator: LinearOperator) -> Any:
    """What a diagonal of the same size is multiplied with, or None."""
    if isinstance(operator, LinearOperatorDiag):
        return operator.diag
    if isinstance(operator, LinearOperatorScaledIdentity):
        return expand_dims(operator.multiplier, -1)
    return None


class LinearOperatorScaledIdentity(LinearOperator):
    """Identity matrices times numbers.

    Args:
        num_rows: The number of rows, an int.
        multiplier: The numbers `[...]`.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint; always True for real numbers.
        is_positive_definite: A hint.
        is_square: True.
        assert_proper_shapes: Ignored: shapes are always checked.
        name: The name.

    Raises:
        ValueError: A wrong size or hint.
        TypeError: A size is no integer.

    Example:
        >>> import tapejax as tf
        >>> operator = tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0)
        >>> print(operator.matvec([1.0, 2.0]).numpy(), operator.trace().numpy())
        [3. 6.] 6.0
    """

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._multiplier = kept(multiplier)
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._num_rows = scalar_int("num_rows", num_rows)
        super().__init__(
            self._multiplier.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def multiplier(self) -> Any:
        """The numbers `[...]`."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        return TensorShape([*sizes(self._multiplier), self._num_rows, self._num_rows])

    def _like(self, multiplier: Any, known: dict[str, Any]) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._num_rows, multiplier, **known)

    def _factor(self, use_adjoint: bool) -> Any:
        factor = conj(self._multiplier) if use_adjoint else self._multiplier
        return expand_dims(expand_dims(factor, -1), -1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return multiply(adjoint_if(x, adjoint_arg), self._factor(adjoint))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return divide(adjoint_if(rhs, adjoint_arg), self._factor(adjoint))

    def _determinant(self) -> Any:
        return power(self._multiplier, cast(self._num_rows, self.dtype))

    def _log_abs_determinant(self) -> Any:
        size = log(magnitude(self._multiplier))
        return multiply(size, cast(self._num_rows, size.dtype))

    def _trace(self) -> Any:
        return multiply(self._multiplier, cast(self._num_rows, self.dtype))

    def _diag_part(self) -> Any:
        return multiply(ones(self._sizes[:-1], self.dtype), expand_dims(self._multiplier, -1))

    def _to_dense(self) -> Any:
        return diag(self._diag_part())

    # TensorFlow gives the parameter another name here.
    def add_to_tensor(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, mat: Any, name: str = "add_to_tensor"
    ) -> Any:
        """The matrices plus a tensor `mat`, `[..., n, n]`."""
        mat = as_tensor(mat)
        mat = with_batch(mat, common_batch(sizes(mat)[:-2], self._sizes[:-2]))
        return set_diag(mat, add(expand_dims(self._multiplier, -1), diag_part(mat)))

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _cond(self) -> Any:
        zero = magnitude(self._multiplier) == 0
        return where(zero, cast(float("nan"), self.dtype), cast(1.0, self.dtype))

    def _assert_non_singular(self) -> Any:
        return assert_no_zero(self._multiplier, "LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        message = "LinearOperator was not positive definite."
        return assert_positive(real(self._multiplier), message=message)

    def _assert_self_adjoint(self) -> Any:
        return assert_real(self._multiplier, "LinearOperator was not self-adjoint")

    def _linop_adjoint(self) -> LinearOperator:
        return self._like(conj(self._multiplier), self._hints)

    def _linop_inverse(self) -> LinearOperator:
        return self._like(divide(1.0, self._multiplier), self._hints)

    def _linop_cholesky(self) -> LinearOperator:
        return self._like(sqrt(self._multiplier), dict.fromkeys(hints.HINTS, True))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        known = hints.of_commuting(left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return self._like(multiply(left_operator.multiplier, right_operator.multiplier), known)
        if isinstance(right_operator, LinearOperatorDiag):
            factor = expand_dims(left_operator.multiplier, -1)
            return LinearOperatorDiag(multiply(right_operator.diag, factor), **known)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        known = hints.of_commuting(left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return self._like(divide(right_operator.multiplier, left_operator.multiplier), known)
        if isinstance(right_operator, LinearOperatorDiag):
            factor = expand_dims(left_operator.multiplier, -1)
            return LinearOperatorDiag(divide(right_operator.diag, factor), **known)
        return super()._linop_solve(left_operator, right_operator)

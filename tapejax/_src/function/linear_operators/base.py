"""`tf.linalg.LinearOperator`: a matrix that is known by what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import DType
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import CONVERTERS, as_tensor
from tapejax._src.function.linear_operators import hints
from tapejax._src.function.linear_operators.batches import (
    adjoint_if,
    broadcast_solve,
    sizes,
    with_batch,
)
from tapejax._src.function.linear_operators.described import Described
from tapejax._src.ops.arithmetic import abs as magnitude
from tapejax._src.ops.arithmetic import add, divide
from tapejax._src.ops.assertions import assert_equal, assert_less, assert_positive
from tapejax._src.ops.casting import cast
from tapejax._src.ops.complex_parts import real
from tapejax._src.ops.creation import eye
from tapejax._src.ops.diagonals import diag_part
from tapejax._src.ops.elementwise import exp, log
from tapejax._src.ops.factorization import cholesky
from tapejax._src.ops.linalg import det, slogdet, triangular_solve
from tapejax._src.ops.matrix_functions import adjoint as adjoint_of
from tapejax._src.ops.reduction import reduce_max, reduce_min, reduce_sum
from tapejax._src.ops.shaping import expand_dims, squeeze
from tapejax._src.ops.spectral import eigvalsh, svd

__all__ = ["RELATED", "LinearOperator", "require_square"]


class Related:
    """The operators that methods of the base class return; their modules set them."""

    adjoint: Callable[..., LinearOperator]
    inversion: Callable[..., LinearOperator]
    composition: Callable[..., LinearOperator]
    lower_triangular: Callable[..., LinearOperator]


RELATED = Related()


class LinearOperator(Described):
    """A matrix, or a batch of matrices `[..., m, n]`, that need not be stored as one.

    A subclass says what `A @ x` is, and where it can more cheaply than a dense matrix would: how
    to solve, what the determinant is, and so on. All methods are made of recorded operations, so
    gradients flow to the tensors and variables that an operator was made from. Hints, such as
    `is_positive_definite`, are promises of the user that choose faster ways; they are checked by
    the `assert_` methods only. An operator passed to a function of tensors (`tf.linalg.det`,
    `tf.matmul`) counts as its dense matrix.

    A subclass of one's own overrides `_shape()` and `_matmul(x, adjoint, adjoint_arg)`, and
    `_solve`, `_to_dense`, `_diag_part`, `_trace`, `_determinant`, `_log_abs_determinant`,
    `_eigvals` and `_cond` as it likes.

    Args:
        dtype: The dtype of what it multiplies.
        graph_parents: Ignored.
        is_non_singular: Whether all matrices have inverses; None if unknown.
        is_self_adjoint: Whether they equal their conjugate transposes.
        is_positive_definite: Whether `x^H A x` has a positive real part for all `x` but 0.
        is_square: Whether they are square.
        name: The name.
        parameters: The arguments of the constructor.

    Raises:
        ValueError: The hints contradict each other.

    Example:
        >>> import tapejax as tf
        >>> class Shift(tf.linalg.LinearOperator):
        ...     def _shape(self):
        ...         return tf.TensorShape([3, 3])
        ...     def _matmul(self, x, adjoint=False, adjoint_arg=False):
        ...         x = tf.linalg.adjoint(x) if adjoint_arg else x
        ...         return tf.roll(x, -1 if adjoint else 1, -2)
        >>> print(Shift(tf.float32).to_dense().numpy())
        [[0. 0. 1.]
         [1. 0. 0.]
         [0. 1. 0.]]

    *Differs from TensorFlow*: an operator passed to a `tf.function` counts as a Python object, and
    `tf.linalg.adjoint`, `cholesky` and `inv` of an operator are dense.
    """

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Check that all matrices have inverses.

        Raises:
            InvalidArgumentError: One has none.
        """
        return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = svd(self.to_dense(), compute_uv=False)
        condition = divide(reduce_max(values, axis=-1), reduce_min(values, axis=-1))
        eps = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
        limit = cast(1 / (max(100, *self._sizes[-2:]) * eps), condition.dtype)
        return assert_less(condition, limit, message="Singular matrix up to precision epsilon.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Check that all matrices are positive definite.

        Raises:
            InvalidArgumentError: One is not.
            NotImplementedError: It is not known how to check that.
        """
        return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError(
                "assert_positive_definite is not implemented. Set is_self_adjoint=True if the "
                "operator is."
            )
        diagonal = diag_part(cholesky(self.to_dense()))
        return assert_positive(real(diagonal), message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Check that all matrices equal their conjugate transposes.

        Raises:
            InvalidArgumentError: One does not.
        """
        return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        message = "Matrix was not equal to its adjoint."
        return assert_equal(dense, adjoint_of(dense), message=message)

    def _checked_input(self, x: Any, dimension: int, axis: int) -> Tensor:
        """An argument as a tensor of the operator's dtype, and of a size that fits.

        Raises:
            TypeError: Another dtype.
            ValueError: Another size.
        """
        tensor = as_tensor(x)
        if tensor.dtype != self.dtype:
            raise TypeError(
                f"Expected argument to have dtype {self.dtype!r}.  Found: {tensor.dtype!r} in "
                f"tensor {tensor!r}"
            )
        rank = len(sizes(tensor))
        if rank < -axis:
            raise ValueError(f"Shape {tensor.shape} must have rank at least {-axis}")
        if sizes(tensor)[axis] != dimension:
            raise ValueError(
                f"Dimensions {dimension} and {sizes(tensor)[axis]} are not compatible: the "
                f"operator has shape {self.shape}, the argument {tensor.shape}"
            )
        return tensor

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product with matrices `x`, `[..., n, r]`, or with another operator.

        Args:
            x: Matrices of the operator's dtype, or an operator.
            adjoint: Whether to multiply with the conjugate transpose of the operator.
            adjoint_arg: Whether to multiply with the conjugate transpose of `x`.
            name: Ignored.

        Returns:
            The products `[..., m, r]`, or an operator.

        Raises:
            TypeError: Another dtype.
            ValueError: The shapes do not multiply.
        """
        if isinstance(x, LinearOperator):
            left, right = self._pair(x, adjoint, adjoint_arg, "x")
            return left._linop_matmul(left, right)
        x = self._checked_input(x, self._sizes[-2 if adjoint else -1], -1 if adjoint_arg else -2)
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _pair(
        self, other: LinearOperator, adjoint: bool, adjoint_arg: bool, argument: str
    ) -> tuple[LinearOperator, LinearOperator]:
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        if right.range_dimension != left.domain_dimension:
            raise ValueError(
                f"Operators are incompatible. Expected `{argument}` to have dimension "
                f"{left.domain_dimension} but got {right.range_dimension}."
            )
        return left, right

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        """The product of two operators, as an operator."""
        if right_operator.is_identity:
            return left_operator
        if right_operator.is_zero:
            require_square(left_operator, right_operator)
            return right_operator
        known = hints.of_product(left_operator, right_operator)
        return RELATED.composition([left_operator, right_operator], **known)

    is_identity = False
    """Whether the operator is the identity, as its class says."""
    is_zero = False
    """Whether the operator is zero, as its class says."""

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product with vectors `x`, `[..., n]`.

        Args:
            x: Vectors of the operator's dtype.
            adjoint: Whether to multiply with the conjugate transpose of the operator.
            name: Ignored.

        Returns:
            The products `[..., m]`.

        Raises:
            TypeError: Another dtype.
            ValueError: The shapes do not multiply.
        """
        x = self._checked_input(x, self._sizes[-2 if adjoint else -1], -1)
        return self._matvec(x, adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return squeeze(self.matmul(expand_dims(x, -1), adjoint=adjoint), -1)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The solution `x` of `A @ x = rhs` for matrices `rhs`, `[..., m, r]`, or an operator.

        Args:
            rhs: Matrices of the operator's dtype, or an operator.
            adjoint: Whether to solve with the conjugate transpose of the operator.
            adjoint_arg: Whether to take the conjugate transpose of `rhs`.
            name: Ignored.

        Returns:
            The solutions `[..., n, r]`, or an operator.

        Raises:
            NotImplementedError: The operator is singular or not square by its hints.
            TypeError: Another dtype.
            ValueError: The shapes do not fit.
        """
        self._require_solvable()
        if isinstance(rhs, LinearOperator):
            left, right = self._pair(rhs, adjoint, adjoint_arg, "rhs")
            return left._linop_solve(left, right)
        dimension = self._sizes[-1 if adjoint else -2]
        rhs = self._checked_input(rhs, dimension, -1 if adjoint_arg else -2)
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _require_solvable(self) -> None:
        for hint, what in (
            (self.is_non_singular, "be singular"),
            (self.is_square, "not be square"),
        ):
            if hint is False:
                raise NotImplementedError(
                    f"Exact solve not implemented for an operator that is expected to {what}."
                )

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_if(rhs, adjoint_arg)
        dense = self.to_dense()
        if self._can_use_cholesky():
            factor = cholesky(dense)
            half = triangular_solve(factor, rhs)
            return triangular_solve(factor, half, adjoint=True)
        return broadcast_solve(dense, rhs, adjoint)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        """The operator that solves with the first one what the second one gives."""
        if right_operator.is_identity:
            return left_operator.inverse()
        known = hints.of_product(left_operator, right_operator)
        return RELATED.composition([RELATED.inversion(left_operator), right_operator], **known)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The solution `x` of `A @ x = rhs` for vectors `rhs`, `[..., m]`.

        Args:
            rhs: Vectors of the operator's dtype.
            adjoint: Whether to solve with the conjugate transpose of the operator.
            name: Ignored.

        Returns:
            The solutions `[..., n]`.

        Raises:
            NotImplementedError: The operator is singular or not square by its hints.
            TypeError: Another dtype.
            ValueError: The shapes do not fit.
        """
        rhs = self._checked_input(rhs, self._sizes[-1 if adjoint else -2], -1)
        return self._solvevec(rhs, adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return squeeze(self.solve(expand_dims(rhs, -1), adjoint=adjoint), -1)

    def _require_square_for_determinant(self) -> None:
        if self.is_square is False:
            raise NotImplementedError(
                "Determinant not implemented for an operator that is expected to not be square."
            )

    def determinant(self, name: str = "det") -> Any:
        """The determinants `[...]`.

        Raises:
            NotImplementedError: The operator is not square.
        """
        self._require_square_for_determinant()
        return self._determinant()

    def _determinant(self) -> Any:
        if self._can_use_cholesky():
            return exp(self.log_abs_determinant())
        return det(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithms of the absolute values of the determinants `[...]`.

        Raises:
            NotImplementedError: The operator is not square.
        """
        self._require_square_for_determinant()
        return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        if self._can_use_cholesky():
            diagonal = diag_part(cholesky(self.to_dense()))
            return 2 * reduce_sum(log(diagonal), axis=-1)
        return slogdet(self.to_dense())[1]

    def trace(self, name: str = "trace") -> Any:
        """The sums of the diagonals `[...]`."""
        return self._trace()

    def _trace(self) -> Any:
        return reduce_sum(self.diag_part(), axis=-1)

    def diag_part(self, name: str = "diag_part") -> Any:
        """The main diagonals `[..., min(m, n)]`."""
        return self._diag_part()

    def _diag_part(self) -> Any:
        return diag_part(self.to_dense())

    def to_dense(self, name: str = "to_dense") -> Any:
        """The matrices `[..., m, n]` as a tensor."""
        return self._to_dense()

    def _to_dense(self) -> Any:
        *batch, _, columns = self._sizes
        identity = eye(columns, batch_shape=batch or None, dtype=self.dtype)
        return self.matmul(identity)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """The matrices plus a tensor `x`, `[..., m, n]`.

        Raises:
            TypeError: `x` has another dtype.
        """
        x = as_tensor(x)
        if x.dtype != self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype!r}.  Found: {x.dtype!r}")
        return self._add_to_tensor(x)

    def _add_to_tensor(self, x: Any) -> Any:
        return add(self.to_dense(), x)

    def eigvals(self, name: str = "eigvals") -> Any:
        """The eigenvalues `[..., n]` of a self-adjoint operator.

        Raises:
            NotImplementedError: `is_self_adjoint` is not True.
        """
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self) -> Any:
        return eigvalsh(self.to_dense())

    def cond(self, name: str = "cond") -> Any:
        """The condition numbers `[...]`: the largest singular value over the smallest one."""
        return self._cond()

    def _cond(self) -> Any:
        if self.is_self_adjoint:
            values = magnitude(self._eigvals())
        else:
            values = svd(self.to_dense(), compute_uv=False)
        return divide(reduce_max(values, axis=-1), reduce_min(values, axis=-1))

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the conjugate transposes; the operator itself if it is self-adjoint."""
        return self if self.is_self_adjoint is True else self._linop_adjoint()

    H = property(adjoint, doc="The same as `adjoint()`.")

    @property
    def _hints(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in hints.HINTS}

    def _linop_adjoint(self) -> LinearOperator:
        return RELATED.adjoint(self, **self._hints)

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator of the inverse matrices.

        Raises:
            ValueError: The operator is singular or not square by its hints.
        """
        for hint, what in ((self.is_square, "non square"), (self.is_non_singular, "singular")):
            if hint is False:
                raise ValueError(
                    f"Cannot take the Inverse: This operator represents a {what} matrix."
                )
        return self._linop_inverse()

    def _linop_inverse(self) -> LinearOperator:
        return RELATED.inversion(self, **self._hints)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The operator of the lower Cholesky factors.

        Raises:
            ValueError: It is not known to be self-adjoint and positive definite.
        """
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix."
            )
        return self._linop_cholesky()

    def _linop_cholesky(self) -> LinearOperator:
        return RELATED.lower_triangular(
            cholesky(self.to_dense()), is_non_singular=True, is_self_adjoint=False, is_square=True
        )

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    def _with_batch(self, x: Any, kept_axes: int = 2) -> Any:
        return with_batch(x, self._sizes[:-2], kept_axes)


def require_square(*operators: LinearOperator) -> None:
    """Raise TensorFlow's error unless all operators are square.

    Raises:
        ValueError: One is not.
    """
    if not all(operator.is_square for operator in operators):
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not "
            "supported at this time."
        )


def _as_dense(operator: LinearOperator, dtype: DType | None) -> Tensor:
    return as_tensor(operator.to_dense(), dtype)


CONVERTERS.append((LinearOperator, _as_dense))

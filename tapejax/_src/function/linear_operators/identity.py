"""Operators without numbers of their own: `LinearOperatorIdentity` and `LinearOperatorZeros`."""

from __future__ import annotations

from typing import Any

from tapejax._src.core.dtypes import as_dtype, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.convert import as_tensor
from tapejax._src.function.linear_operators.base import LinearOperator, require_square
from tapejax._src.function.linear_operators.batches import (
    adjoint_if,
    batch_shape_of,
    common_batch,
    scalar_int,
    sizes,
    with_batch,
)
from tapejax._src.ops.arithmetic import add
from tapejax._src.ops.creation import ones, zeros
from tapejax._src.ops.diagonals import diag, diag_part, set_diag


class LinearOperatorIdentity(LinearOperator):
    """Identity matrices.

    Args:
        num_rows: The number of rows, an int.
        batch_shape: The shape of the batch, a list of ints; None for one matrix.
        dtype: The dtype; float32 if None.
        is_non_singular: True.
        is_self_adjoint: True.
        is_positive_definite: True.
        is_square: True.
        assert_proper_shapes: Ignored: shapes are always checked.
        name: The name.

    Raises:
        ValueError: A wrong size or hint.
        TypeError: A size is no integer.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.LinearOperatorIdentity(2).matvec([3.0, 4.0]).numpy())
        [3. 4.]
    """

    is_identity = True

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        for hint, what in (
            (is_self_adjoint, "self adjoint"),
            (is_non_singular, "non-singular"),
            (is_positive_definite, "positive-definite"),
            (is_square, "square"),
        ):
            if not hint:
                raise ValueError(f"An identity operator is always {what}.")
        rows = scalar_int("num_rows", num_rows)
        self._static_shape = (*batch_shape_of(batch_shape), rows, rows)
        super().__init__(dtype or float32, None, True, True, True, True, name, parameters)

    def _shape(self) -> TensorShape:
        return TensorShape(self._static_shape)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_if(x, adjoint_arg)
        return with_batch(x, common_batch(sizes(x)[:-2], self._sizes[:-2]))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return ones(self._sizes[:-2], self.dtype)

    def _log_abs_determinant(self) -> Any:
        return zeros(self._sizes[:-2], self.dtype)

    def _diag_part(self) -> Any:
        return ones(self._sizes[:-1], self.dtype)

    def _to_dense(self) -> Any:
        return diag(self._diag_part())

    # TensorFlow gives the parameter another name here.
    def add_to_tensor(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, mat: Any, name: str = "add_to_tensor"
    ) -> Any:
        """The matrices plus a tensor `mat`, `[..., n, n]`."""
        mat = as_tensor(mat)
        mat = with_batch(mat, common_batch(sizes(mat)[:-2], self._sizes[:-2]))
        return set_diag(mat, add(diag_part(mat), 1))

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _cond(self) -> Any:
        return self._determinant()

    def _assert_non_singular(self) -> Any:
        return None

    def _assert_positive_definite(self) -> Any:
        return None

    def _assert_self_adjoint(self) -> Any:
        return None

    def _linop_inverse(self) -> LinearOperator:
        return self

    def _linop_cholesky(self) -> LinearOperator:
        return self

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        return right_operator

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        return right_operator


class LinearOperatorZeros(LinearOperator):
    """Zero matrices.

    Args:
        num_rows: The number of rows, an int.
        num_columns: The number of columns; `num_rows` if None.
        batch_shape: The shape of the batch, a list of ints; None for one matrix.
        dtype: The dtype; float32 if None.
        is_non_singular: False.
        is_self_adjoint: Whether they are; True if they are square.
        is_positive_definite: False.
        is_square: Whether they are square.
        assert_proper_shapes: Ignored: shapes are always checked.
        name: The name.

    Raises:
        ValueError: A wrong size or hint.
        TypeError: A size is no integer.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.LinearOperatorZeros(2).add_to_tensor([[1.0, 2.0], [3.0, 4.0]]).numpy())
        [[1. 2.]
         [3. 4.]]
    """

    is_zero = True

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        rows = scalar_int("num_rows", num_rows)
        columns = rows if num_columns is None else scalar_int("num_columns", num_columns)
        if is_square and rows != columns:
            raise ValueError(
                "LinearOperatorZeros initialized as is_square=True, but got num_rows"
                f"({rows}) != num_columns({columns})"
            )
        self._static_shape = (*batch_shape_of(batch_shape), rows, columns)
        super().__init__(
            as_dtype(dtype or float32),
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            parameters,
        )

    def _shape(self) -> TensorShape:
        return TensorShape(self._static_shape)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        batch = common_batch(sizes(x)[:-2], self._sizes[:-2])
        rows = self._sizes[-1 if adjoint else -2]
        return zeros((*batch, rows, sizes(x)[-2 if adjoint_arg else -1]), self.dtype)

    def _determinant(self) -> Any:
        return zeros(self._sizes[:-2], self.dtype)

    def _trace(self) -> Any:
        return zeros(self._sizes[:-2], self.dtype)

    def _diag_part(self) -> Any:
        return zeros((*self._sizes[:-2], min(self._sizes[-2:])), self.dtype)

    def _to_dense(self) -> Any:
        return zeros(self._sizes, self.dtype)

    # TensorFlow gives the parameter another name here.
    def add_to_tensor(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, mat: Any, name: str = "add_to_tensor"
    ) -> Any:
        """The tensor `mat` itself, `[..., m, n]`."""
        mat = as_tensor(mat)
        return with_batch(mat, common_batch(sizes(mat)[:-2], self._sizes[:-2]))

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _assert_non_singular(self) -> Any:
        raise InvalidArgumentError("Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return None

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        require_square(left_operator, right_operator)
        return left_operator

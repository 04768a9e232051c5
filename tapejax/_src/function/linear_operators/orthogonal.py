"""Operators that keep lengths: `LinearOperatorHouseholder` and `LinearOperatorPermutation`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.dtypes import float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.convert import as_tensor
from tapejax._src.function.linear_operators.base import LinearOperator
from tapejax._src.function.linear_operators.batches import (
    adjoint_if,
    common_batch,
    kept,
    sizes,
    square_of,
    with_batch,
)
from tapejax._src.ops.arithmetic import multiply, negative, subtract
from tapejax._src.ops.casting import cast
from tapejax._src.ops.comparison import equal
from tapejax._src.ops.complex_parts import conj
from tapejax._src.ops.constants import get_static_value
from tapejax._src.ops.creation import ones, zeros
from tapejax._src.ops.creation import range as numbers
from tapejax._src.ops.diagonals import diag
from tapejax._src.ops.joining import concat
from tapejax._src.ops.matmul import matmul
from tapejax._src.ops.norm import l2_normalize
from tapejax._src.ops.shaping import expand_dims
from tapejax._src.ops.sorting import argsort
from tapejax._src.ops.structured import permuted_rows


class LinearOperatorHouseholder(LinearOperator):
    """Reflections `I - 2 * v @ adjoint(v)` at the hyperplanes that are orthogonal to `v`.

    Args:
        reflection_axis: The vectors `[..., n]`; they are scaled to length 1.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: True or None.
        is_positive_definite: False or None.
        is_square: True or None.
        name: The name.

    Raises:
        ValueError: A scalar, or a wrong hint.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.LinearOperatorHouseholder([0.0, 2.0]).matvec([3.0, 4.0]).numpy())
        [ 3. -4.]
    """

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._reflection_axis = kept(reflection_axis)
        if len(sizes(self._reflection_axis)) < 1:
            raise ValueError(
                "Argument reflection_axis must have at least 1 dimension.  Found: "
                f"{reflection_axis}"
            )
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_positive_definite is True:
            raise ValueError("A Householder operator is always non-positive definite.")
        if is_square is False:
            raise ValueError("A Householder operator is always square.")
        dtype = self._reflection_axis.dtype
        super().__init__(dtype, None, is_non_singular, True, False, True, name, parameters)

    @property
    def reflection_axis(self) -> Any:
        """The vectors as they were given."""
        return self._reflection_axis

    def _shape(self) -> TensorShape:
        return square_of(sizes(self._reflection_axis))

    def _unit(self) -> Any:
        return l2_normalize(self._reflection_axis, axis=-1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x, column = adjoint_if(x, adjoint_arg), expand_dims(self._unit(), -1)
        along = matmul(column, x, adjoint_a=True)
        return subtract(x, multiply(multiply(column, 2), along))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _trace(self) -> Any:
        return multiply(ones(self._sizes[:-2], self.dtype), self._sizes[-1] - 2)

    def _determinant(self) -> Any:
        return negative(ones(self._sizes[:-2], self.dtype))

    def _log_abs_determinant(self) -> Any:
        return zeros(self._sizes[:-2], self.dtype)

    def _diag_part(self) -> Any:
        unit = self._unit()
        return subtract(ones(self._sizes[:-1], self.dtype), 2 * multiply(unit, conj(unit)))

    def _to_dense(self) -> Any:
        column = expand_dims(self._unit(), -1)
        outside = multiply(matmul(column, column, adjoint_b=True), 2)
        return subtract(diag(ones(self._sizes[:-1], self.dtype)), outside)

    def _eigvals(self) -> Any:
        *batch, size = self._sizes[:-1]
        minus = negative(ones((*batch, 1), self.dtype))
        return concat([minus, ones((*batch, size - 1), self.dtype)], -1)

    def _cond(self) -> Any:
        return ones(self._sizes[:-2], self.dtype)

    def _assert_non_singular(self) -> Any:
        return None

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError("Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return None

    def _linop_inverse(self) -> LinearOperator:
        return self


class LinearOperatorPermutation(LinearOperator):
    """Permutation matrices: row `i` of the product is row `perm[i]` of the argument.

    Args:
        perm: Integers `[..., n]`, each row a permutation of `0, ..., n - 1`.
        dtype: The dtype of the operator.
        is_non_singular: True or None.
        is_self_adjoint: A hint, see `tf.linalg.LinearOperator`.
        is_positive_definite: A hint.
        is_square: True or None.
        name: The name.

    Raises:
        ValueError: No permutation, or a wrong hint.
        TypeError: `perm` holds no integers.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.LinearOperatorPermutation([2, 0, 1]).matvec([5.0, 6.0, 7.0]).numpy())
        [7. 5. 6.]
    """

    def __init__(
        self,
        perm: Any,
        dtype: Any = float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        for hint, word in ((is_non_singular, "non-singular"), (is_square, "square")):
            if hint is False:
                raise ValueError(f"A Permutation operator is always {word}.")
        self._perm = kept(perm)
        self._check_perm()
        given = is_non_singular, is_self_adjoint, is_positive_definite, True
        super().__init__(dtype, None, *given, name, parameters)

    def _check_perm(self) -> None:
        shape = sizes(self._perm)
        if len(shape) < 1:
            raise ValueError(
                f"Argument `perm` must have at least 1 dimension. Received: {self._perm}."
            )
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {self._perm}.")
        known = get_static_value(self._perm)
        if known is not None and np.any(np.sort(known, axis=-1) != np.arange(shape[-1])):
            raise ValueError(
                "Argument `perm` must be a vector of unique integers from 0 to "
                f"{shape[-1] - 1}. Received: {known}"
            )

    @property
    def perm(self) -> Any:
        """The permutations `[..., n]`."""
        return self._perm

    def _shape(self) -> TensorShape:
        return square_of(sizes(self._perm))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x, perm = adjoint_if(x, adjoint_arg), as_tensor(self._perm)
        if adjoint and not self.is_self_adjoint:
            perm = argsort(perm, axis=-1)
        batch = common_batch(sizes(x)[:-2], sizes(perm)[:-1])
        x, perm = with_batch(x, batch), with_batch(perm, batch, 1)
        return permuted_rows(x, perm)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _log_abs_determinant(self) -> Any:
        return zeros(self._sizes[:-2], self.dtype)

    def _to_dense(self) -> Any:
        perm = as_tensor(self._perm)
        columns = cast(numbers(self._sizes[-1]), perm.dtype)
        return cast(equal(columns, expand_dims(perm, -1)), self.dtype)

    def _diag_part(self) -> Any:
        perm = as_tensor(self._perm)
        return cast(equal(cast(numbers(self._sizes[-1]), perm.dtype), perm), self.dtype)

    def _cond(self) -> Any:
        return ones(self._sizes[:-2], self.dtype)

    def _assert_non_singular(self) -> Any:
        return None

"""`tf.linalg.LinearOperatorTridiag`: matrices with three diagonals."""

from __future__ import annotations

from typing import Any

from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.convert import as_tensor
from tapejax._src.function.linear_operators.base import LinearOperator
from tapejax._src.function.linear_operators.batches import (
    adjoint_if,
    assert_real,
    common_batch,
    kept,
    sizes,
    square_of,
    with_batch,
)
from tapejax._src.ops.assertions import assert_equal
from tapejax._src.ops.complex_parts import conj
from tapejax._src.ops.diagonals import diag, diag_part
from tapejax._src.ops.joining import stack
from tapejax._src.ops.matrix_functions import adjoint as adjoint_of
from tapejax._src.ops.permuting import roll
from tapejax._src.ops.tridiagonal import tridiagonal_matmul, tridiagonal_solve

_FORMATS = ("compact", "matrix", "sequence")


class LinearOperatorTridiag(LinearOperator):
    """Tridiagonal matrices.

    Args:
        diagonals: For 'compact' `[..., 3, n]`: the diagonals above, on and below the main one,
            where `[..., 0, n - 1]` and `[..., 2, 0]` are not read; for 'sequence' a list of these
            three; for 'matrix' `[..., n, n]`.
        diagonals_format: 'compact', 'sequence' or 'matrix'.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name.

    Raises:
        ValueError: An unknown format, or hints that contradict each other.

    Example:
        >>> import tapejax as tf
        >>> operator = tf.linalg.LinearOperatorTridiag([[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]])
        >>> print(operator.to_dense().numpy())
        [[2. 1.]
         [4. 3.]]
    """

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        if diagonals_format not in _FORMATS:
            raise ValueError(
                "Argument `diagonals_format` must be one of compact, matrix, or sequence. "
                f"Received : {diagonals_format}."
            )
        if diagonals_format == "sequence":
            self._diagonals: Any = [kept(d) for d in diagonals]
            dtype = self._diagonals[0].dtype
        else:
            self._diagonals = kept(diagonals)
            dtype = self._diagonals.dtype
        self._diagonals_format = diagonals_format
        super().__init__(
            dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            parameters,
        )

    @property
    def diagonals(self) -> Any:
        """The diagonals as they were given."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        """'compact', 'sequence' or 'matrix'."""
        return self._diagonals_format

    def _shape(self) -> TensorShape:
        if self._diagonals_format == "matrix":
            return TensorShape(sizes(self._diagonals))
        if self._diagonals_format == "compact":
            shape = sizes(self._diagonals)
            return square_of((*shape[:-2], shape[-1]))
        batch = common_batch(*[sizes(d)[:-1] for d in self._diagonals])
        return square_of((*batch, sizes(self._diagonals[1])[-1]))

    def _bands(self) -> tuple[Any, Any, Any]:
        """The diagonals above, on and below the main one, all of its length."""
        if self._diagonals_format == "sequence":
            above, main, below = (with_batch(d, self._sizes[:-2], 1) for d in self._diagonals)
            return above, main, below
        bands = as_tensor(self._diagonals)
        if self._diagonals_format == "matrix":
            bands = diag_part(bands, k=(-1, 1), align="LEFT_RIGHT")
        return bands[..., 0, :], bands[..., 1, :], bands[..., 2, :]

    def _compact(self, use_adjoint: bool) -> Any:
        above, main, below = self._bands()
        if use_adjoint:
            # What is below moves above: its first element is the unused one there, too.
            above, below = roll(conj(below), -1, -1), roll(conj(above), 1, -1)
            main = conj(main)
        return stack([above, main, below], axis=-2)

    def _both(self, x: Any, use_adjoint: bool) -> tuple[Any, Any]:
        bands = self._compact(use_adjoint)
        batch = common_batch(sizes(bands)[:-2], sizes(x)[:-2])
        return with_batch(bands, batch), with_batch(x, batch)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return tridiagonal_matmul(*self._both(adjoint_if(x, adjoint_arg), adjoint))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return tridiagonal_solve(*self._both(adjoint_if(rhs, adjoint_arg), adjoint))

    def _diag_part(self) -> Any:
        return as_tensor(self._bands()[1])

    def _to_dense(self) -> Any:
        if self._diagonals_format == "matrix":
            return as_tensor(self._diagonals)
        return diag(self._compact(False), k=(-1, 1), align="LEFT_RIGHT")

    def _assert_self_adjoint(self) -> Any:
        if self._diagonals_format == "matrix":
            dense, message = self._diagonals, "Matrix was not equal to its adjoint."
            return assert_equal(dense, adjoint_of(dense), message=message)
        above, main, below = self._bands()
        what = "This tridiagonal operator "
        assert_real(main, what + "contained non-zero imaginary values on the diagonal.")
        message = what + "has non-conjugate subdiagonal and superdiagonal."
        return assert_equal(conj(below[..., 1:]), above[..., :-1], message=message)

"""Operators that convolve: `LinearOperatorCirculant`, its block forms, `LinearOperatorToeplitz`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import as_dtype, complex64, complex128
from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.convert import as_tensor
from tapejax._src.function.linear_operators import hints
from tapejax._src.function.linear_operators.base import LinearOperator
from tapejax._src.function.linear_operators.batches import (
    adjoint_if,
    assert_no_zero,
    assert_real,
    common_batch,
    kept,
    shape_tensor,
    sizes,
    square_of,
    with_batch,
)
from tapejax._src.ops.arithmetic import abs as magnitude
from tapejax._src.ops.arithmetic import divide, multiply
from tapejax._src.ops.assertions import assert_equal, assert_less, assert_positive
from tapejax._src.ops.casting import cast
from tapejax._src.ops.complex_parts import conj, imag, real
from tapejax._src.ops.creation import ones, zeros_like
from tapejax._src.ops.elementwise import log
from tapejax._src.ops.fourier import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from tapejax._src.ops.joining import concat
from tapejax._src.ops.matrix_functions import matrix_transpose
from tapejax._src.ops.permuting import reverse
from tapejax._src.ops.reduction import reduce_max, reduce_min, reduce_prod, reduce_sum
from tapejax._src.ops.shaping import expand_dims, reshape
from tapejax._src.ops.structured import toeplitz

_FORWARD = {1: fft, 2: fft2d, 3: fft3d}
_INVERSE = {1: ifft, 2: ifft2d, 3: ifft3d}


def _to_complex(x: Any) -> Any:
    if x.dtype.is_complex:
        return as_tensor(x)
    return _cast(x, complex128 if x.dtype.name == "float64" else complex64)


def _cast(x: Any, dtype: Any) -> Any:
    """`x` in a dtype; complex numbers lose their imaginary parts on the way to real ones."""
    if x.dtype.is_complex and not dtype.is_complex:
        x = real(x)
    return cast(x, dtype)


class CirculantOperator(LinearOperator):
    """What the circulant operators of one, two and three levels share."""

    block_depth = 1

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any,
        given: tuple[bool | None, bool | None, bool | None, bool | None],
        name: str,
        parameters: dict[str, Any],
    ) -> None:
        is_non_singular, is_self_adjoint, is_positive_definite, is_square = given
        self._spectrum = kept(spectrum)
        if len(sizes(self._spectrum)) < self.block_depth:
            raise ValueError(
                f"Argument `spectrum` must have at least {self.block_depth} dimensions. "
                f"Received: {spectrum}."
            )
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A real spectrum always corresponds to a self-adjoint operator. Received "
                    "is_self_adjoint=False."
                )
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("A [[nested] block] circulant operator is always square.")
        super().__init__(
            as_dtype(input_output_dtype),
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            {k: v for k, v in parameters.items() if k not in ("self", "__class__")},
        )

    @property
    def spectrum(self) -> Any:
        """The eigenvalues, as they were given."""
        return self._spectrum

    @property
    def block_shape(self) -> TensorShape:
        """The sizes of the levels."""
        return TensorShape(self._block)

    @property
    def _block(self) -> tuple[int, ...]:
        return sizes(self._spectrum)[-self.block_depth :]

    def block_shape_tensor(self) -> Any:
        """The sizes of the levels as int32."""
        return shape_tensor(self._block)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """The first columns of the matrices, shaped like the spectrum."""
        return _cast(_INVERSE[self.block_depth](_to_complex(self._spectrum)), self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Check that the matrices are real.

        Raises:
            InvalidArgumentError: One is not.
        """
        kernel = _INVERSE[self.block_depth](_to_complex(self._spectrum))
        part = magnitude(imag(kernel))
        eps = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
        limit = cast(float(eps) * self._sizes[-1], part.dtype)
        return assert_less(part, limit, message="Spectrum was not Hermitian")

    def _shape(self) -> TensorShape:
        batch = sizes(self._spectrum)[: -self.block_depth]
        return square_of((*batch, math.prod(self._block)))

    def _flat(self) -> Any:
        batch = sizes(self._spectrum)[: -self.block_depth]
        return reshape(as_tensor(self._spectrum), (*batch, math.prod(self._block)))

    def _applied(self, x: Any, factor: Any, apply: Any) -> Any:
        """`x` with its spectrum changed: forward, `apply(x, factor)`, back."""
        x = _cast(x, factor.dtype)
        batch = common_batch(sizes(x)[:-2], sizes(factor)[: -self.block_depth])
        rows = matrix_transpose(with_batch(x, batch))
        shape = sizes(rows)
        blocks = reshape(rows, (*shape[:-1], *self._block))
        factor = expand_dims(with_batch(factor, batch, self.block_depth), -self.block_depth - 1)
        changed = apply(_FORWARD[self.block_depth](blocks), factor)
        result = reshape(_INVERSE[self.block_depth](changed), shape)
        return _cast(matrix_transpose(result), self.dtype)

    def _turned(self, use_adjoint: bool) -> Any:
        spectrum = _to_complex(self._spectrum)
        return conj(spectrum) if use_adjoint else spectrum

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._applied(adjoint_if(x, adjoint_arg), self._turned(adjoint), multiply)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._applied(adjoint_if(rhs, adjoint_arg), self._turned(adjoint), divide)

    def _determinant(self) -> Any:
        return _cast(reduce_prod(self._flat(), axis=-1), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return _cast(reduce_sum(log(magnitude(self._flat())), axis=-1), self.dtype)

    def _trace(self) -> Any:
        return _cast(reduce_sum(self._flat(), axis=-1), self.dtype)

    def _diag_part(self) -> Any:
        mean = divide(self.trace(), cast(self._sizes[-1], self.dtype))
        return multiply(expand_dims(mean, -1), ones(self._sizes[:-1], self.dtype))

    def _eigvals(self) -> Any:
        return self._flat()

    def _cond(self) -> Any:
        size = magnitude(self._flat())
        return divide(reduce_max(size, axis=-1), reduce_min(size, axis=-1))

    def _assert_non_singular(self) -> Any:
        message = "Singular operator:  Spectrum contained zero values."
        return assert_no_zero(self._spectrum, message)

    def _assert_positive_definite(self) -> Any:
        message = "Not positive definite:  Real part of spectrum was not all positive."
        return assert_positive(real(self._spectrum), message=message)

    def _assert_self_adjoint(self) -> Any:
        message = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        return assert_real(self._spectrum, message)

    def _like(self, spectrum: Any, known: dict[str, Any]) -> LinearOperator:
        kind: Any = type(self)
        return kind(spectrum, self.dtype, **known)

    def _linop_adjoint(self) -> LinearOperator:
        return self._like(conj(self._spectrum), self._hints)

    def _linop_inverse(self) -> LinearOperator:
        return self._like(divide(1.0, self._spectrum), self._hints)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        if not isinstance(right_operator, type(left_operator)):
            return super()._linop_matmul(left_operator, right_operator)
        known = hints.of_commuting(left_operator, right_operator)
        return self._like(multiply(left_operator.spectrum, right_operator.spectrum), known)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        if not isinstance(right_operator, type(left_operator)):
            return super()._linop_solve(left_operator, right_operator)
        known = hints.of_commuting(left_operator, right_operator)
        return self._like(divide(right_operator.spectrum, left_operator.spectrum), known)


class LinearOperatorCirculant(CirculantOperator):
    """Circulant matrices: each column is the one before, moved down by one.

    Args:
        spectrum: The eigenvalues `[..., n]`: the Fourier transforms of the first columns.
        input_output_dtype: The dtype of what the operator multiplies.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint; always True for a real spectrum.
        is_positive_definite: A hint.
        is_square: True.
        name: The name.

    Raises:
        ValueError: A scalar spectrum, or a wrong hint.

    Example:
        >>> import tapejax as tf
        >>> spectrum = tf.signal.fft(tf.constant([1 + 0j, 2, 0]))
        >>> operator = tf.linalg.LinearOperatorCirculant(spectrum, tf.float32)
        >>> print(operator.to_dense().numpy().round())
        [[1. 0. 2.]
         [2. 1. 0.]
         [0. 2. 1.]]
    """

    block_depth = 1

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        given = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(spectrum, input_output_dtype, given, name, _arguments(locals()))


def _arguments(names: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in names.items() if k != "given"}


class LinearOperatorCirculant2D(CirculantOperator):
    """Block circulant matrices with circulant blocks: cyclic convolutions in two dimensions.

    Args:
        spectrum: The eigenvalues `[..., n0, n1]`: the transforms of the convolution kernels.
        input_output_dtype: The dtype of what the operator multiplies.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint; always True for a real spectrum.
        is_positive_definite: A hint.
        is_square: True.
        name: The name.

    Raises:
        ValueError: The rank of the spectrum is below 2, or a wrong hint.

    Example:
        >>> import tapejax as tf
        >>> operator = tf.linalg.LinearOperatorCirculant2D(tf.ones([2, 3]))
        >>> operator.shape, operator.block_shape
        (TensorShape([6, 6]), TensorShape([2, 3]))
    """

    block_depth = 2

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:
        given = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(spectrum, input_output_dtype, given, name, _arguments(locals()))


class LinearOperatorCirculant3D(CirculantOperator):
    """Nested block circulant matrices: cyclic convolutions in three dimensions.

    Args:
        spectrum: The eigenvalues `[..., n0, n1, n2]`: the transforms of the convolution kernels.
        input_output_dtype: The dtype of what the operator multiplies.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint; always True for a real spectrum.
        is_positive_definite: A hint.
        is_square: True.
        name: The name.

    Raises:
        ValueError: The rank of the spectrum is below 3, or a wrong hint.

    Example:
        >>> import tapejax as tf
        >>> tf.linalg.LinearOperatorCirculant3D(tf.ones([2, 3, 2])).shape
        TensorShape([12, 12])
    """

    block_depth = 3

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:
        given = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(spectrum, input_output_dtype, given, name, _arguments(locals()))


class LinearOperatorToeplitz(LinearOperator):
    """Toeplitz matrices: the same number along each diagonal.

    Args:
        col: The first columns `[..., n]`.
        row: The first rows `[..., n]`; their first element is not read.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: True or None.
        name: The name.

    Raises:
        ValueError: A scalar, different lengths, or a wrong hint.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]).to_dense().numpy())
        [[1. 3.]
         [2. 1.]]
    """

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._col, self._row = kept(col), kept(row)
        for which, tensor in (("row", self._row), ("col", self._col)):
            if len(sizes(tensor)) < 1:
                raise ValueError(
                    f"Argument {which} must have at least 1 dimension.  Found: {tensor}"
                )
        if sizes(self._row)[-1] != sizes(self._col)[-1]:
            raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        super().__init__(
            self._row.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def col(self) -> Any:
        """The first columns."""
        return self._col

    @property
    def row(self) -> Any:
        """The first rows."""
        return self._row

    def _shape(self) -> TensorShape:
        batch = common_batch(sizes(self._row)[:-1], sizes(self._col)[:-1])
        return square_of((*batch, sizes(self._row)[-1]))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        # The corner of a circulant matrix of twice the size.
        x = adjoint_if(x, adjoint_arg)
        col, row = (self._with_batch(part, 1) for part in (self._col, self._row))
        size = self._sizes[-1]
        column = concat([col, zeros_like(col[..., :1]), reverse(row[..., 1:], [-1])], -1)
        whole = LinearOperatorCirculant(fft(_to_complex(column)), self.dtype)
        product = whole.matmul(concat([x, zeros_like(x)], -2), adjoint=adjoint)
        return product[..., :size, :]

    def _trace(self) -> Any:
        first = self._with_batch(self._col, 1)[..., 0]
        return multiply(first, cast(self._sizes[-1], self.dtype))

    def _diag_part(self) -> Any:
        first = self._with_batch(self._col, 1)[..., :1]
        return multiply(first, ones(self._sizes[:-1], self.dtype))

    def _to_dense(self) -> Any:
        col, row = (self._with_batch(part, 1) for part in (self._col, self._row))
        return toeplitz(col, row)

    def _assert_self_adjoint(self) -> Any:
        message = "row and col are not the same, and so this operator is not self-adjoint."
        return assert_equal(conj(self._row), self._col, message=message)

"""`tf.linalg.LinearOperatorKronecker`: Kronecker products of operators."""

from __future__ import annotations

import functools
import math
from typing import Any

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.shapes import TensorShape
from tapejax._src.function.linear_operators import hints
from tapejax._src.function.linear_operators.base import LinearOperator
from tapejax._src.function.linear_operators.batches import adjoint_if, common_batch, sizes
from tapejax._src.function.linear_operators.wrapped import group, same_dtype
from tapejax._src.ops.arithmetic import add, multiply
from tapejax._src.ops.casting import cast
from tapejax._src.ops.permuting import transpose
from tapejax._src.ops.powers import pow as power
from tapejax._src.ops.shaping import expand_dims, reshape

_INHERITED = ("is_non_singular", "is_self_adjoint", "is_positive_definite")


class LinearOperatorKronecker(LinearOperator):
    """Kronecker products: each element of the first matrix times the whole of the next one.

    Args:
        operators: The operators, of one dtype.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name; those of the operators, joined by `_x_`, if None.

    Raises:
        ValueError: No operators, or a wrong hint.
        TypeError: The dtypes differ.

    Example:
        >>> import tapejax as tf
        >>> diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        >>> matrix = tf.linalg.LinearOperatorFullMatrix([[1.0, 3.0]])
        >>> print(tf.linalg.LinearOperatorKronecker([diagonal, matrix]).to_dense().numpy())
        [[1. 3. 0. 0.]
         [0. 0. 2. 6.]]
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._operators = same_dtype(operators)
        given = {hint: parameters[hint] for hint in hints.HINTS}
        known = hints.of_all(self._operators, given, _INHERITED, "Kronecker product")
        name = "_x_".join(o.name for o in self._operators) if name is None else name
        dtype = self._operators[0].dtype
        super().__init__(dtype, name=name, parameters=parameters, **known)

    @property
    def operators(self) -> list[Any]:
        """The operators."""
        return self._operators

    def _shape(self) -> TensorShape:
        shapes = [operator.shape.as_list() for operator in self._operators]
        batch = common_batch(*[shape[:-2] for shape in shapes])
        rows, columns = (math.prod(shape[axis] for shape in shapes) for axis in (-2, -1))
        return TensorShape([*batch, rows, columns])

    def _each(self, x: Any, adjoint: bool, apply: str) -> Any:
        """Apply each operator along its own axis of the rows of `x`.

        The first axis is multiplied and moved behind the others, which brings the next one to the
        front; after all of them their order is the original one.
        """
        width = sizes(x)[-1]
        for operator in self._operators:
            *batch, rows, _ = sizes(x)
            first = operator.shape.as_list()[-2 if adjoint == (apply == "matmul") else -1]
            rest = rows // max(first, 1)
            folded = reshape(x, (*batch, first, rest * width))
            folded = getattr(operator, apply)(folded, adjoint=adjoint)
            *batch, now, _ = sizes(folded)
            axes = len(batch)
            parts = reshape(folded, (*batch, now, rest, width))
            turned = transpose(parts, [*range(axes), axes + 1, axes, axes + 2])
            x = reshape(turned, (*batch, rest * now, width))
        return x

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each(adjoint_if(x, adjoint_arg), adjoint, "matmul")

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._each(adjoint_if(rhs, adjoint_arg), adjoint, "solve")

    @property
    def _all_square(self) -> bool:
        return all(operator.is_square for operator in self._operators)

    def _repeats(self, operator: Any) -> Any:
        return cast(self._sizes[-1] // operator.shape.as_list()[-1], self.dtype)

    def _determinant(self) -> Any:
        if not self._all_square:
            return super()._determinant()
        parts = [power(o.determinant(), self._repeats(o)) for o in self._operators]
        return functools.reduce(multiply, parts)

    def _log_abs_determinant(self) -> Any:
        if not self._all_square:
            return super()._log_abs_determinant()
        sizes_ = [o.log_abs_determinant() for o in self._operators]
        parts = [
            multiply(size, cast(self._repeats(o), size.dtype))
            for o, size in zip(self._operators, sizes_, strict=True)
        ]
        return functools.reduce(add, parts)

    def _trace(self) -> Any:
        if not self._all_square:
            return super()._trace()
        return functools.reduce(multiply, [o.trace() for o in self._operators])

    def _diag_part(self) -> Any:
        if not self._all_square:
            return super()._diag_part()
        return functools.reduce(_outer, [o.diag_part() for o in self._operators])

    def _to_dense(self) -> Any:
        return functools.reduce(_kronecker, [o.to_dense() for o in self._operators])

    def _eigvals(self) -> Any:
        if not all(operator.is_self_adjoint for operator in self._operators):
            return super()._eigvals()
        return functools.reduce(_outer, [o.eigvals() for o in self._operators])

    def _cond(self) -> Any:
        return functools.reduce(multiply, [o.cond() for o in self._operators])

    def _grouped(self, check: str) -> Any:
        if not self._all_square:
            raise InvalidArgumentError(
                "All Kronecker factors must be square for the product to be invertible. Expected "
                "hint `is_square` to be True for every operator in argument `operators`."
            )
        return group([getattr(operator, check)() for operator in self._operators])

    def _assert_non_singular(self) -> Any:
        return self._grouped("assert_non_singular")

    def _assert_self_adjoint(self) -> Any:
        return self._grouped("assert_self_adjoint")

    def _linop_adjoint(self) -> LinearOperator:
        known = {**self._hints, "is_square": None}
        return LinearOperatorKronecker([o.adjoint() for o in self._operators], **known)

    def _linop_inverse(self) -> LinearOperator:
        if not self._all_square:
            return super()._linop_inverse()
        return LinearOperatorKronecker([o.inverse() for o in self._operators], **self._hints)

    def _linop_cholesky(self) -> LinearOperator:
        if not all(o.is_self_adjoint and o.is_positive_definite for o in self._operators):
            return super()._linop_cholesky()
        factors = [operator.cholesky() for operator in self._operators]
        return LinearOperatorKronecker(factors, is_non_singular=True, is_square=True)


def _outer(left: Any, right: Any) -> Any:
    """All products of elements of two vectors."""
    product = multiply(expand_dims(left, -1), expand_dims(right, -2))
    *batch, rows, columns = sizes(product)
    return reshape(product, (*batch, rows * columns))


def _kronecker(left: Any, right: Any) -> Any:
    wide = expand_dims(expand_dims(left, -1), -3)
    deep = expand_dims(expand_dims(right, -2), -4)
    product = multiply(wide, deep)
    *batch, rows, more_rows, columns, more_columns = sizes(product)
    return reshape(product, (*batch, rows * more_rows, columns * more_columns))

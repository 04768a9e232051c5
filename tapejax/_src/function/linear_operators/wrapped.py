"""Operators made of operators: `LinearOperatorAdjoint`, `Inversion` and `Composition`."""

from __future__ import annotations

import itertools
from typing import Any

from tapejax._src.core.shapes import TensorShape
from tapejax._src.function.linear_operators import hints
from tapejax._src.function.linear_operators.base import RELATED, LinearOperator
from tapejax._src.function.linear_operators.batches import common_batch
from tapejax._src.ops.arithmetic import add, divide, multiply, negative, sign
from tapejax._src.ops.complex_parts import conj
from tapejax._src.ops.matrix_functions import adjoint as adjoint_of
from tapejax._src.ops.shaping import expand_dims


def same_dtype(operators: Any) -> list[Any]:
    """The operators as a list.

    Raises:
        TypeError: `operators` cannot be iterated, or the dtypes differ.
        ValueError: There are none.
    """
    if isinstance(operators, (str, LinearOperator)) or not hasattr(operators, "__iter__"):
        raise TypeError(f"Expected argument `operators` to be iterable. Received: {operators}")
    found = list(operators)
    if not found:
        raise ValueError(f"Expected a non-empty list of operators. Found: {found}")
    if any(operator.dtype != found[0].dtype for operator in found):
        listed = "   ".join(str((operator.name, operator.dtype)) for operator in found)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {listed}")
    return found


def group(checks: list[Any]) -> None:
    """What several assertions give; inside a function they are all part of the program."""
    del checks


class LinearOperatorAdjoint(LinearOperator):
    """The conjugate transposes of the matrices of an operator.

    Args:
        operator: The operator.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`; None takes the operator's.
        is_self_adjoint: A hint; None takes the operator's.
        is_positive_definite: A hint; None takes the operator's.
        is_square: A hint; None takes the operator's.
        name: The name; that of the operator and `_adjoint` if None.

    Raises:
        ValueError: A hint contradicts that of the operator.

    Example:
        >>> import tapejax as tf
        >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> print(tf.linalg.LinearOperatorAdjoint(operator).matvec([1.0, 0.0]).numpy())
        [1. 2.]
    """

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        known = hints.inherited(operator, parameters, "adjoint")
        self._operator = operator
        name = f"{operator.name}_adjoint" if name is None else name
        super().__init__(operator.dtype, name=name, parameters=parameters, **known)

    @property
    def operator(self) -> Any:
        """The operator itself."""
        return self._operator

    def _shape(self) -> TensorShape:
        *batch, rows, columns = self._operator.shape.as_list()
        return TensorShape([*batch, columns, rows])

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self._operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self) -> Any:
        return conj(self._operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()

    def _trace(self) -> Any:
        return conj(self._operator.trace())

    def _diag_part(self) -> Any:
        return conj(self._operator.diag_part())

    def _to_dense(self) -> Any:
        return adjoint_of(self._operator.to_dense())

    def _eigvals(self) -> Any:
        return self._operator.eigvals()

    def _cond(self) -> Any:
        return self._operator.cond()

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self._operator.assert_self_adjoint()

    def _linop_adjoint(self) -> LinearOperator:
        return self._operator


class LinearOperatorInversion(LinearOperator):
    """The inverses of the matrices of an operator.

    Args:
        operator: The operator.
        is_non_singular: True or None.
        is_self_adjoint: A hint, see `tf.linalg.LinearOperator`; None takes the operator's.
        is_positive_definite: A hint; None takes the operator's.
        is_square: True or None.
        name: The name; that of the operator and `_inv` if None.

    Raises:
        ValueError: The operator is singular or not square by its hints, or a hint contradicts one
            of the operator.

    Example:
        >>> import tapejax as tf
        >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
        >>> print(tf.linalg.LinearOperatorInversion(operator).matvec([2.0, 2.0]).numpy())
        [1.  0.5]
    """

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        for hint in ("is_non_singular", "is_square"):
            if getattr(operator, hint) is False or parameters[hint] is False:
                raise ValueError(
                    f"Argument `{hint}` or argument `operator` must have supplied hint `{hint}` "
                    f"equal to `True` or `None`. Found `operator.{hint}`: "
                    f"{getattr(operator, hint)}, `{hint}`: {parameters[hint]}."
                )
        known = hints.inherited(operator, parameters, "inverse")
        self._operator = operator
        name = f"{operator.name}_inv" if name is None else name
        super().__init__(operator.dtype, name=name, parameters=parameters, **known)

    @property
    def operator(self) -> Any:
        """The operator that is inverted."""
        return self._operator

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return divide(1.0, self._operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return negative(self._operator.log_abs_determinant())

    def _eigvals(self) -> Any:
        return divide(1.0, self._operator.eigvals())

    def _cond(self) -> Any:
        return self._operator.cond()

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self._operator.assert_self_adjoint()

    def _linop_inverse(self) -> LinearOperator:
        return self._operator

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        return left_operator.operator.matmul(right_operator)


def _is_square_form(operators: list[Any]) -> bool:
    """Whether the second half of the operators is the adjoint of the first half."""
    half, odd = divmod(len(operators), 2)
    if odd or not half:
        return False
    pairs = zip(operators[:half], reversed(operators[half:]), strict=True)
    return all(_are_adjoint(left, right) for left, right in pairs)


def _are_adjoint(left: Any, right: Any) -> bool:
    if left is right:
        return bool(left.is_self_adjoint)
    of_right = isinstance(right, LinearOperatorAdjoint) and right.operator is left
    return of_right or (isinstance(left, LinearOperatorAdjoint) and left.operator is right)


class LinearOperatorComposition(LinearOperator):
    """The product of several operators, the last one applied first.

    Args:
        operators: The operators, of one dtype, whose shapes multiply.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name; those of the operators, joined by `_o_`, if None.

    Raises:
        ValueError: No operators, shapes that do not multiply, or a wrong hint.
        TypeError: The dtypes differ.

    Example:
        >>> import tapejax as tf
        >>> shift = tf.linalg.LinearOperatorPermutation([1, 0])
        >>> scale = tf.linalg.LinearOperatorDiag([2.0, 3.0])
        >>> print(tf.linalg.LinearOperatorComposition([shift, scale]).matvec([1.0, 1.0]).numpy())
        [3. 2.]
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
        known = hints.of_all(self._operators, given, ("is_non_singular",), "composition")
        form = _is_square_form(self._operators)
        alone = len(self._operators) == 1 and self._operators[0].is_self_adjoint
        must = {
            "is_self_adjoint": form or alone,
            "is_square": form,
            "is_positive_definite": form and known["is_non_singular"],
        }
        for hint, holds in must.items():
            if holds and known[hint] is False:
                word = hint.removeprefix("is_").replace("_", "-")
                raise ValueError(
                    f"The composition was determined to be {word} but user provided incorrect "
                    "`False` hint."
                )
            known[hint] = True if holds else known[hint]
        self._checked_shape()
        name = "_o_".join(o.name for o in self._operators) if name is None else name
        dtype = self._operators[0].dtype
        super().__init__(dtype, name=name, parameters=parameters, **known)

    @property
    def operators(self) -> list[Any]:
        """The operators."""
        return self._operators

    def _checked_shape(self) -> TensorShape:
        shapes = [operator.shape.as_list() for operator in self._operators]
        for left, right in itertools.pairwise(shapes):
            if left[-1] != right[-2]:
                raise ValueError(
                    f"Dimensions {left[-1]} and {right[-2]} are not compatible: operators of "
                    f"shapes {left} and {right} do not multiply"
                )
        batch = common_batch(*[shape[:-2] for shape in shapes])
        return TensorShape([*batch, shapes[0][-2], shapes[-1][-1]])

    def _shape(self) -> TensorShape:
        return self._checked_shape()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        order = self._operators if adjoint else self._operators[::-1]
        result = order[0].matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        order = self._operators[::-1] if adjoint else self._operators
        result = order[0].solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            result = operator.solve(result, adjoint=adjoint)
        return result

    @property
    def _all_square(self) -> bool:
        return all(operator.is_square for operator in self._operators)

    def _determinant(self) -> Any:
        if not self._all_square:
            return super()._determinant()
        result = self._operators[0].determinant()
        for operator in self._operators[1:]:
            result = multiply(result, operator.determinant())
        return result

    def _log_abs_determinant(self) -> Any:
        if not self._all_square:
            return super()._log_abs_determinant()
        result = self._operators[0].log_abs_determinant()
        for operator in self._operators[1:]:
            result = add(result, operator.log_abs_determinant())
        return result

    def _assert_non_singular(self) -> Any:
        if not self._all_square:
            return super()._assert_non_singular()
        return group([operator.assert_non_singular() for operator in self._operators])

    def _linop_cholesky(self) -> LinearOperator:
        left = self._operators[0]
        triangular: Any = RELATED.lower_triangular
        if len(self._operators) != 2 or not isinstance(left, triangular):
            return super()._linop_cholesky()
        if not _is_square_form(self._operators):
            return super()._linop_cholesky()
        signs = expand_dims(sign(left.diag_part()), -2)
        return triangular(divide(left.to_dense(), signs), is_non_singular=left.is_non_singular)


RELATED.adjoint = LinearOperatorAdjoint
RELATED.inversion = LinearOperatorInversion
RELATED.composition = LinearOperatorComposition

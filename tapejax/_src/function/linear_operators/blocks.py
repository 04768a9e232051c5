"""Operators of blocks: `LinearOperatorBlockDiag` and `LinearOperatorBlockLowerTriangular`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.function.linear_operators import hints
from tapejax._src.function.linear_operators.base import LinearOperator
from tapejax._src.function.linear_operators.batches import (
    adjoint_if,
    common_batch,
    sizes,
    with_batch,
)
from tapejax._src.function.linear_operators.dense import LinearOperatorFullMatrix
from tapejax._src.function.linear_operators.diagonal import LinearOperatorScaledIdentity
from tapejax._src.function.linear_operators.wrapped import group, same_dtype
from tapejax._src.ops.arithmetic import add, multiply, subtract
from tapejax._src.ops.casting import cast
from tapejax._src.ops.creation import zeros
from tapejax._src.ops.joining import concat
from tapejax._src.ops.shaping import expand_dims, squeeze

_INHERITED = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def _joined(parts: Sequence[Any], axis: int, kept_axes: int = 2) -> Any:
    """Blocks side by side along a matrix axis, their batch shapes broadcast."""
    batch = common_batch(*[sizes(part)[: len(sizes(part)) - kept_axes] for part in parts])
    return concat([with_batch(part, batch, kept_axes) for part in parts], axis)


def _pieces(x: Any, lengths: Sequence[int]) -> list[Any]:
    """The rows of `x`, cut into blocks."""
    ends = np.cumsum(lengths).tolist()
    return [x[..., end - size : end, :] for end, size in zip(ends, lengths, strict=True)]


class BlockOperator(LinearOperator):
    """What the operators of blocks share: arguments that are lists of blocks."""

    _grid: list[list[Any]]
    """The rows of blocks up to the diagonal; None where there is nothing."""

    @property
    def _diagonal_operators(self) -> list[Any]:
        return [row[-1] for row in self._grid]

    def _lengths(self, axis: int) -> list[int]:
        return [operator.shape.as_list()[axis] for operator in self._diagonal_operators]

    def _shape(self) -> TensorShape:
        every = [block for row in self._grid for block in row if block is not None]
        batch = common_batch(*[block.shape.as_list()[:-2] for block in every])
        return TensorShape([*batch, sum(self._lengths(-2)), sum(self._lengths(-1))])

    def _is_blockwise(self, x: Any, lengths: list[int], axis: int) -> bool:
        """Whether an argument is a list with one tensor for each block."""
        if not isinstance(x, (list, tuple)) or len(x) != len(lengths):  # pyright: ignore[reportUnknownArgumentType]  a list of anything
            return False
        blocks: list[Any] = list(x)  # pyright: ignore[reportUnknownArgumentType]
        tensors = (Tensor, Variable, np.ndarray)
        if not all(isinstance(block, tensors) and len(block.shape) >= -axis for block in blocks):
            return False
        found = [sizes(block)[axis] for block in blocks]
        if found != lengths:
            raise ValueError(
                f"Dimensions {found} and {lengths} are not compatible: the sizes of a list of "
                "blocks and those of the operator"
            )
        return True

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product with matrices, with a list of one matrix for each block, or an operator.

        Args:
            x: Matrices of the operator's dtype, a list of blocks of rows, or an operator.
            adjoint: Whether to multiply with the conjugate transpose of the operator.
            adjoint_arg: Whether to multiply with the conjugate transpose of `x`.
            name: Ignored.

        Returns:
            The products, a list of them, or an operator.

        Raises:
            TypeError: Another dtype.
            ValueError: The shapes do not multiply.
        """
        lengths, axis = self._lengths(-2 if adjoint else -1), -1 if adjoint_arg else -2
        if not self._is_blockwise(x, lengths, axis):
            return super().matmul(x, adjoint, adjoint_arg)
        blocks = [self._checked_input(b, n, axis) for b, n in zip(x, lengths, strict=True)]
        return self._products([adjoint_if(block, adjoint_arg) for block in blocks], adjoint)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        lengths = self._lengths(-2 if adjoint else -1)
        blocks = _pieces(adjoint_if(x, adjoint_arg), lengths)
        return _joined(self._products(blocks, adjoint), -2)

    def _column(self, index: int) -> list[tuple[int, Any]]:
        """The blocks of a column and their rows."""
        rows = enumerate(self._grid)
        return [(n, row[index]) for n, row in rows if n >= index and row[index] is not None]

    def _row(self, index: int) -> list[tuple[int, Any]]:
        return [(n, block) for n, block in enumerate(self._grid[index]) if block is not None]

    def _products(self, x: list[Any], adjoint: bool) -> list[Any]:
        found: list[Any] = []
        for index in range(len(self._grid)):
            line = self._column(index) if adjoint else self._row(index)
            parts = [block.matmul(x[place], adjoint=adjoint) for place, block in line]
            found.append(functools.reduce(add, parts))
        return found

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The solution of `A @ x = rhs` for matrices, for a list of blocks, or an operator.

        Args:
            rhs: Matrices of the operator's dtype, a list of blocks of rows, or an operator.
            adjoint: Whether to solve with the conjugate transpose of the operator.
            adjoint_arg: Whether to take the conjugate transpose of `rhs`.
            name: Ignored.

        Returns:
            The solutions, a list of them, or an operator.

        Raises:
            NotImplementedError: The operator is singular or not square by its hints.
            TypeError: Another dtype.
            ValueError: The shapes do not fit.
        """
        lengths, axis = self._lengths(-1 if adjoint else -2), -1 if adjoint_arg else -2
        if not self._is_blockwise(rhs, lengths, axis):
            return super().solve(rhs, adjoint, adjoint_arg)
        self._require_solvable()
        blocks = [self._checked_input(b, n, axis) for b, n in zip(rhs, lengths, strict=True)]
        return self._solutions([adjoint_if(block, adjoint_arg) for block in blocks], adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        blocks = _pieces(adjoint_if(rhs, adjoint_arg), self._lengths(-1 if adjoint else -2))
        return _joined(self._solutions(blocks, adjoint), -2)

    def _solutions(self, rhs: list[Any], adjoint: bool) -> list[Any]:
        """Substitution, forward or (for the adjoint) backward."""
        found: dict[int, Any] = {}
        places = range(len(self._grid))
        for index in reversed(places) if adjoint else places:
            line = self._column(index) if adjoint else self._row(index)
            left = rhs[index]
            for place, block in line:
                if place != index:
                    left = subtract(left, block.matmul(found[place], adjoint=adjoint))
            found[index] = self._grid[index][-1].solve(left, adjoint=adjoint)
        return [found[index] for index in places]

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product with vectors, or with a list of one vector for each block."""
        if not self._is_blockwise(x, self._lengths(-2 if adjoint else -1), -1):
            return super().matvec(x, adjoint)
        products = self.matmul([expand_dims(block, -1) for block in x], adjoint)
        return [squeeze(product, -1) for product in products]

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The solution for vectors, or for a list of one vector for each block."""
        if not self._is_blockwise(rhs, self._lengths(-1 if adjoint else -2), -1):
            return super().solvevec(rhs, adjoint)
        solutions = self.solve([expand_dims(block, -1) for block in rhs], adjoint)
        return [squeeze(solution, -1) for solution in solutions]

    @property
    def _all_square(self) -> bool:
        return all(operator.is_square for operator in self._diagonal_operators)

    def _determinant(self) -> Any:
        if not self._all_square:
            return super()._determinant()
        return functools.reduce(multiply, [o.determinant() for o in self._diagonal_operators])

    def _log_abs_determinant(self) -> Any:
        if not self._all_square:
            return super()._log_abs_determinant()
        return functools.reduce(add, [o.log_abs_determinant() for o in self._diagonal_operators])

    def _trace(self) -> Any:
        if not self._all_square:
            return super()._trace()
        return functools.reduce(add, [o.trace() for o in self._diagonal_operators])

    def _diag_part(self) -> Any:
        if not self._all_square:
            return super()._diag_part()
        return _joined([o.diag_part() for o in self._diagonal_operators], -1, 1)

    def _eigvals(self) -> Any:
        return _joined([o.eigvals() for o in self._diagonal_operators], -1, 1)

    def _to_dense(self) -> Any:
        rows, widths = self._lengths(-2), self._lengths(-1)
        lines: list[Any] = []
        for index, row in enumerate(self._grid):
            blocks = [None if block is None else block.to_dense() for block in row]
            blocks += [None] * (len(self._grid) - len(row))
            shapes = [(rows[index], width) for width in widths]
            filled = [
                zeros(shape, self.dtype) if block is None else block
                for block, shape in zip(blocks, shapes, strict=True)
            ]
            lines.append(_joined(filled, -1))
        return self._with_batch(_joined(lines, -2))

    def _assert_non_singular(self) -> Any:
        return group([o.assert_non_singular() for o in self._diagonal_operators])


class LinearOperatorBlockDiag(BlockOperator):
    """Block diagonal matrices; what they multiply may be a list of one tensor for each block.

    Args:
        operators: The operators on the diagonal, of one dtype.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: A hint.
        name: The name; those of the operators, joined by `_ds_`, if None.

    Raises:
        ValueError: No operators, or a wrong hint.
        TypeError: The dtypes differ.

    Example:
        >>> import tapejax as tf
        >>> first = tf.linalg.LinearOperatorIdentity(1)
        >>> second = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> print(tf.linalg.LinearOperatorBlockDiag([first, second]).to_dense().numpy())
        [[1. 0. 0.]
         [0. 1. 2.]
         [0. 3. 4.]]
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._operators = same_dtype(operators)
        given = {hint: parameters[hint] for hint in hints.HINTS}
        if not all(operator.is_square for operator in self._operators):
            given["is_square"] = None if is_square is True else is_square
        known = hints.of_all(self._operators, given, _INHERITED, "direct sum")
        self._grid = [[None] * index + [operator] for index, operator in enumerate(self._operators)]
        name = "_ds_".join(o.name for o in self._operators) if name is None else name
        dtype = self._operators[0].dtype
        super().__init__(dtype, name=name, parameters=parameters, **known)

    @property
    def operators(self) -> list[Any]:
        """The operators on the diagonal."""
        return self._operators

    def _each(self, method: str, known: dict[str, Any]) -> LinearOperator:
        parts = [getattr(operator, method)() for operator in self._operators]
        return LinearOperatorBlockDiag(parts, **known)

    def _linop_adjoint(self) -> LinearOperator:
        return self._each("adjoint", self._hints)

    def _linop_inverse(self) -> LinearOperator:
        return self._each("inverse", self._hints)

    def _linop_cholesky(self) -> LinearOperator:
        if not all(o.is_self_adjoint and o.is_positive_definite for o in self._operators):
            return super()._linop_cholesky()
        return self._each("cholesky", {"is_non_singular": True, "is_square": True})

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        if isinstance(right_operator, LinearOperatorBlockDiag):
            pairs = list(zip(left_operator.operators, right_operator.operators, strict=False))
            same = len(left_operator.operators) == len(right_operator.operators)
            if same and all(a.domain_dimension == b.range_dimension for a, b in pairs):
                known = hints.of_product(left_operator, right_operator)
                return LinearOperatorBlockDiag([a.matmul(b) for a, b in pairs], **known)
        return super()._linop_matmul(left_operator, right_operator)

    def _assert_positive_definite(self) -> Any:
        return group([o.assert_positive_definite() for o in self._operators])

    def _assert_self_adjoint(self) -> Any:
        return group([o.assert_self_adjoint() for o in self._operators])


class LinearOperatorBlockLowerTriangular(BlockOperator):
    """Block lower triangular matrices; what they multiply may be a list of blocks.

    Args:
        operators: Rows of operators of one dtype: row `i` has `i + 1` of them, and those on the
            diagonal are square.
        is_non_singular: A hint, see `tf.linalg.LinearOperator`.
        is_self_adjoint: A hint.
        is_positive_definite: A hint.
        is_square: True or None.
        name: The name.

    Raises:
        ValueError: Rows or shapes that make no such matrix, or a wrong hint.
        TypeError: The dtypes differ.

    Example:
        >>> import tapejax as tf
        >>> one = tf.linalg.LinearOperatorIdentity(1)
        >>> below = tf.linalg.LinearOperatorFullMatrix([[5.0]])
        >>> operator = tf.linalg.LinearOperatorBlockLowerTriangular([[one], [below, one]])
        >>> print(operator.to_dense().numpy())
        [[1. 0.]
         [5. 1.]]
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._grid = [list(row) for row in operators]
        self._check_blocks()
        given = {hint: parameters[hint] for hint in hints.HINTS}
        if is_square is False:
            raise ValueError("A block lower triangular operator is always square.")
        given["is_square"] = True
        names = ("is_non_singular",)
        known = hints.of_all(self._diagonal_operators, given, names, "block triangle")
        if any(operator.is_non_singular is False for operator in self._diagonal_operators):
            if is_non_singular:
                raise ValueError(
                    "A blockwise lower-triangular operator with a singular operator on the "
                    "diagonal is always singular."
                )
            known["is_non_singular"] = False
        dtype = self._grid[0][0].dtype
        super().__init__(dtype, name=name, parameters=parameters, **known)

    def _check_blocks(self) -> None:
        if not self._grid:
            raise ValueError("Expected a non-empty list of operators. Found: []")
        same_dtype([block for row in self._grid for block in row])
        for index, row in enumerate(self._grid):
            if len(row) != index + 1:
                raise ValueError(
                    f"Argument `operators` must be a list of lists of lower-triangular operators: "
                    f"row {index} has {len(row)} of them, not {index + 1}."
                )
            if row[-1].is_square is False:
                raise ValueError("Expected every operator on the diagonal to be square.")
            rows = row[-1].shape.as_list()[-2]
            for place, block in enumerate(row):
                wanted = [rows, self._grid[place][-1].shape.as_list()[-1]]
                if block.shape.as_list()[-2:] != wanted:
                    raise ValueError(
                        f"Argument `operators[{index}][{place}]` must have shape {wanted} to fit "
                        f"its row and column. Received: {block.shape.as_list()}"
                    )

    @property
    def operators(self) -> list[list[Any]]:
        """The rows of operators."""
        return self._grid

    def _linop_inverse(self) -> LinearOperator:
        # Row i of the inverse: -inv(D_i) @ (row i of A) @ (the rows of the inverse above).
        grid: list[list[Any]] = []
        for index, row in enumerate(self._grid):
            inverse = row[-1].inverse()
            line: list[Any] = []
            for place in range(index):
                total = row[place].matmul(grid[place][place])
                for between in range(place + 1, index):
                    total = _sum(total, row[between].matmul(grid[between][place]))
                line.append(_negated(inverse.matmul(total)))
            grid.append([*line, inverse])
        return LinearOperatorBlockLowerTriangular(grid, is_non_singular=self.is_non_singular)


def _sum(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    dense = add(left.to_dense(), right.to_dense())
    return LinearOperatorFullMatrix(dense)


def _negated(operator: LinearOperator) -> LinearOperator:
    rows = operator.shape.as_list()[-2]
    minus = LinearOperatorScaledIdentity(rows, cast(-1.0, operator.dtype))
    return minus.matmul(operator)

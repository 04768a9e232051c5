"""What every operator says of itself: dtype, shape, hints, parameters."""

from __future__ import annotations

import abc
from typing import Any

from tapejax._src.core.dimension import Dimension
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.naming import name_scope
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.function.linear_operators import hints
from tapejax._src.function.linear_operators.batches import shape_tensor
from tapejax._src.function.module import Module


class Described(Module, abc.ABC):
    """The dtype, the shape, the hints and the name of an operator; see `LinearOperator`."""

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        given = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        is_non_singular, is_square = hints.implied(*given)
        self._is_square_hint = is_square
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._dtype = as_dtype(dtype) if dtype else dtype
        self._graph_parents = graph_parents or []
        self._parameters = dict(parameters or {})
        self._name = name or type(self).__name__
        self._name_scope = name_scope(self._name)

    def __repr__(self) -> str:
        return (
            f"<tf.linalg.{type(self).__name__} {self.name!r}: shape={self.shape}, "
            f"dtype={self.dtype.name}>"
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return dict(self._parameters)

    @property
    def dtype(self) -> DType:
        """The dtype of what the operator multiplies."""
        return self._dtype

    @property
    def graph_parents(self) -> list[Any]:
        """What was given as `graph_parents`."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether all matrices have inverses; None if unknown."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether they equal their conjugate transposes; None if unknown."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether they are positive definite; None if unknown."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether they are square.

        Raises:
            ValueError: The hint says no, but they are.
        """
        square = self.domain_dimension == self.range_dimension
        if self._is_square_hint is False and square:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return square if self._is_square_hint is None else self._is_square_hint

    @abc.abstractmethod
    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    @abc.abstractmethod
    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        raise NotImplementedError("_matmul is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The shape `[..., m, n]`."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The rank of the dense tensor."""
        return self.shape.rank

    @property
    def domain_dimension(self) -> Dimension:
        """The number of columns."""
        return Dimension(self.shape[-1])

    @property
    def range_dimension(self) -> Dimension:
        """The number of rows."""
        return Dimension(self.shape[-2])

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple([size or 0 for size in self.shape.as_list()])

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape `[..., m, n]` as int32."""
        return shape_tensor(self._sizes)

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as int32."""
        return shape_tensor(self._sizes[:-2])

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The rank of the dense tensor as int32."""
        return shape_tensor(len(self._sizes))

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns as int32."""
        return shape_tensor(self._sizes[-1])

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The number of rows as int32."""
        return shape_tensor(self._sizes[-2])

"""`tf.TensorShape` and the dimensions it is made of."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, SupportsIndex, cast, overload

from tapejax._src.core.dimension import Dimension, dimension_value

Dims = tuple[int | None, ...]

_NOT_ITERABLE_HINT = (
    "A shape should either be single dimension (e.g. 10), "
    "or an iterable of dimensions (e.g. [1, 10, None])."
)


def _parse(dims: Any) -> Dims | None:
    """Read whatever describes a shape."""
    if dims is None:
        return None
    if isinstance(dims, TensorShape):
        return dims.known_dims
    if isinstance(dims, (tuple, list)):
        return tuple(dimension_value(d) for d in cast("Sequence[Any]", dims))
    if isinstance(dims, str):
        raise TypeError(
            f"Failed to convert '{dims!r}' to a shape: '{dims[:1]!r}'could not be converted to a "
            f"dimension. {_NOT_ITERABLE_HINT}"
        )
    try:
        items = list(cast("Iterable[Any]", dims))
    except TypeError:
        return (dimension_value(dims),)
    return tuple(dimension_value(d) for d in items)


class TensorShape:
    """The static shape of a tensor: sizes, some of which (or whose number) may be unknown.

    It compares equal to lists and tuples of the same sizes, hashes like the tuple, iterates over
    Python integers (`None` where a size is unknown) and is accepted wherever NumPy or JAX take a
    shape.

    Args:
        dims: sizes (integers or `None`), one integer, another shape, or `None` for a shape of which
            not even the rank is known.

    Raises:
        TypeError: a size is not an integer.
        ValueError: a size is negative.

    Example:
        >>> import tapejax as tf
        >>> shape = tf.TensorShape([2, None])
        >>> shape.rank, shape.as_list(), shape.is_compatible_with([2, 7])
        (2, [2, None], True)
    """

    __slots__ = ("_dims",)
    _interned: ClassVar[dict[tuple[int, ...], TensorShape]] = {}
    _dims: Dims | None

    def __init__(self, dims: Any) -> None:
        self._dims = _parse(dims)

    @classmethod
    def of(cls, dims: tuple[int, ...]) -> TensorShape:
        """Return the one shared shape of a tuple of known sizes: a single dict look-up."""
        shape = cls._interned.get(dims)
        if shape is None:
            if len(cls._interned) >= 8192:  # structures that never repeat must not pile up
                cls._interned.clear()
            shape = cls.__new__(cls)
            shape._dims = dims
            cls._interned[dims] = shape
        return shape

    @classmethod
    def _make(cls, dims: Dims | None) -> TensorShape:
        """Wrap sizes that were checked already."""
        shape = cls.__new__(cls)
        shape._dims = dims
        return shape

    @property
    def known_dims(self) -> Dims | None:
        """The sizes as a tuple, `None` when the rank is unknown."""
        return self._dims

    @property
    def rank(self) -> int | None:
        """The number of dimensions, `None` when it is unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The number of dimensions, `None` when it is unknown."""
        return self.rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as `Dimension` objects, `None` when the rank is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self) -> list[int | None]:
        """Return the sizes as a list, `None` where one is unknown.

        Raises:
            ValueError: the rank is unknown.
        """
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """Return the number of elements, `None` when a size is unknown."""
        if self._dims is None or None in self._dims:
            return None
        return math.prod(cast("tuple[int, ...]", self._dims))

    def is_fully_defined(self) -> bool:
        """Say whether every size is known."""
        return self._dims is not None and None not in self._dims

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    @overload
    def __getitem__(self, key: SupportsIndex) -> int | None: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...

    def __getitem__(self, key: Any) -> Any:
        """Return one size, or the shape of a slice of the sizes."""
        if self._dims is None:
            return _slice_of_unknown_rank(key) if isinstance(key, slice) else None
        if isinstance(key, slice):
            return TensorShape._make(self._dims[key])
        return self._dims[key]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        if isinstance(other, tuple):
            return self._dims == other
        try:
            return self._dims == _parse(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self._dims,)

    def __copy__(self) -> TensorShape:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorShape:
        return self

    def concatenate(self, other: Any) -> TensorShape:
        """Return the sizes of this shape followed by those of `other`.

        Args:
            other: a shape, or anything that describes one.

        Returns:
            The joined shape; of unknown rank when either is.
        """
        tail = _parse(other)
        if self._dims is None or tail is None:
            return TensorShape._make(None)
        return TensorShape._make(self._dims + tail)

    def is_compatible_with(self, other: Any) -> bool:
        """Say whether one tensor could have both shapes.

        Args:
            other: a shape, or anything that describes one.

        Returns:
            `False` when the ranks, or two known sizes of the same axis, differ.
        """
        mine, theirs = self._dims, _parse(other)
        if mine is None or theirs is None:
            return True
        if len(mine) != len(theirs):
            return False
        return all(a is None or b is None or a == b for a, b in zip(mine, theirs, strict=True))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless one tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def merge_with(self, other: Any) -> TensorShape:
        """Return the shape that knows what either of the two shapes knows.

        Args:
            other: a shape, or anything that describes one.

        Returns:
            The merged shape.

        Raises:
            ValueError: the ranks, or two known sizes of the same axis, differ.
        """
        right = as_shape(other)
        mine, theirs = self._dims, right._dims
        if mine is None:
            return right
        if theirs is None:
            return self
        if not self.is_compatible_with(right):
            raise ValueError(f"Shapes {self} and {right} are not compatible")
        pairs = zip(mine, theirs, strict=True)
        return TensorShape._make(tuple(b if a is None else a for a, b in pairs))

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Return the narrowest shape that covers both shapes.

        Args:
            other: a shape, or anything that describes one.

        Returns:
            The sizes on which both agree, `None` elsewhere; unknown rank when the ranks differ.
        """
        mine, theirs = self._dims, _parse(other)
        if mine is None or theirs is None or len(mine) != len(theirs):
            return TensorShape._make(None)
        pairs = zip(mine, theirs, strict=True)
        return TensorShape._make(tuple(a if a == b else None for a, b in pairs))

    def is_subtype_of(self, other: object) -> bool:
        """Say whether every tensor of this shape also has the shape `other`."""
        if not isinstance(other, TensorShape):
            return False
        mine, theirs = self._dims, other._dims
        if theirs is None:
            return True
        if mine is None or len(mine) != len(theirs):
            return False
        return all(b is None or a == b for a, b in zip(mine, theirs, strict=True))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """Return the narrowest shape that covers this one and all `others`.

        Args:
            others: shapes.

        Returns:
            The covering shape; `None` when an item is not a `TensorShape`.
        """
        result = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            result = result.most_specific_compatible_shape(other)
        return result

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape, known to have `rank` dimensions.

        Raises:
            ValueError: it has another number of dimensions.
        """
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return this shape, or raise ValueError when it has fewer than `rank` dimensions."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return this shape, or raise ValueError when it has more than `rank` dimensions."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError when the shape cannot have `rank` dimensions."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError when the ranks of both shapes are known and differ."""
        right = as_shape(other)
        if self.rank is not None and right.rank is not None and self.rank != right.rank:
            raise ValueError(f"Shapes {self} and {right} must have the same rank")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError when a size is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")


def _slice_of_unknown_rank(key: slice) -> TensorShape:
    """Return what is known of a slice of sizes whose number is unknown."""
    if key.step is not None:
        raise ValueError("Steps are not yet handled")
    start = 0 if key.start is None else operator.index(key.start)
    if key.stop is None or start < 0 or operator.index(key.stop) < 0:
        return TensorShape(None)
    return unknown_shape(max(0, operator.index(key.stop) - start))


def unknown_shape(rank: int | None = None) -> TensorShape:
    """Return a shape of `rank` unknown sizes, or of unknown rank."""
    return TensorShape(None if rank is None else (None,) * rank)


def as_shape(shape: Any) -> TensorShape:
    """Return `shape` as a `TensorShape`, itself when it is one already."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)

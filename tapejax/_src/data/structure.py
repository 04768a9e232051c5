"""The structure of a dataset's elements.

Tuples, named tuples, dicts and attrs classes are containers. Lists are not: they become tensors.
The leaves of an element are NumPy arrays (strings: object arrays of bytes), None, datasets, and
composite tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.dtypes import string as string_dtype
from tapejax._src.core.specs import TensorSpec, TypeSpec
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.function.host_run import RunOnHost

Array = np.ndarray[Any, Any]
Leaves = tuple[Any, ...]
"""One element, without its structure."""


class NoneTensorSpec(TypeSpec):
    """The type of `None` as a part of an element."""

    __slots__ = ()

    def __init__(self) -> None:
        """There is nothing to say about it."""

    def _serialize(self) -> tuple[Any, ...]:
        return ()


class Wrapping:
    """How the dataset inside an element becomes what users hold; set by `dataset.py`."""

    wrap: Callable[[Any], Any]
    """From a node to a dataset."""
    unwrap: Callable[[Any], Any]
    """From a dataset to its node; None for anything else."""
    spec: Callable[[Any], TypeSpec]
    """From a node to the spec of its dataset."""


WRAPPING = Wrapping()


def is_container(value: Any) -> bool:
    """Whether a value is part of the structure, and not a leaf."""
    if isinstance(value, (tuple, Mapping)):
        return True
    return hasattr(type(value), "__attrs_attrs__")


def _children(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, Mapping):
        mapping = cast("Mapping[Any, Any]", value)
        return [mapping[key] for key in sorted(mapping)]
    return [getattr(value, field.name) for field in type(value).__attrs_attrs__]


def flatten(structure: Any) -> list[Any]:
    """The leaves, depth first; dicts in the order of their sorted keys."""
    if not is_container(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


def _pack(like: Any, leaves: Any) -> Any:
    if not is_container(like):
        return next(leaves)
    children = [_pack(child, leaves) for child in _children(like)]
    cls: Any = type(like)
    if cls is tuple:
        return tuple(children)
    if isinstance(like, Mapping):
        mapping = cast("Mapping[Any, Any]", like)
        made = dict(zip(sorted(mapping), children, strict=True))
        ordered = {key: made[key] for key in mapping}
        return ordered if cls is dict else nest.pack_sequence_as(like, nest.flatten(ordered))
    return cls(*children)


def pack(like: Any, leaves: Sequence[Any]) -> Any:
    """Leaves in the form of `like`."""
    return _pack(like, iter(leaves))


def map_structure(fn: Callable[[Any], Any], structure: Any) -> Any:
    """The same structure with `fn` of each leaf."""
    return pack(structure, [fn(leaf) for leaf in flatten(structure)])


def packer(like: Any) -> Callable[[Sequence[Any]], Any]:
    """The function that gives leaves the form of `like`."""
    if not is_container(like):
        return lambda leaves: leaves[0]
    if type(like) is tuple and not any(is_container(child) for child in like):  # pyright: ignore[reportUnknownVariableType]
        return tuple
    return lambda leaves: _pack(like, iter(leaves))


# ---------------------------------------------------------------------- leaves
def leaf_of(value: Any, dtype: DType | None = None) -> Any:
    """What a user gives as one component, as a leaf."""
    if value is None:
        return None
    node = WRAPPING.unwrap(value)
    if node is not None:
        return node
    if is_composite(value):
        return value
    tensor = as_tensor(value, dtype)
    if tensor.symbolic_name() is not None:
        raise RunOnHost("it gives a tensor of its own to a dataset")
    return np.asarray(tensor.view())


def is_composite(value: Any) -> bool:
    """Whether it is a ragged or sparse tensor, or slices: tensors inside an object."""
    if isinstance(value, (Tensor, np.ndarray)):
        return False
    return not nest.is_nested(value) and nest.flatten(value, expand_composites=True)[0] is not value


def leaves_of(structure: Any) -> tuple[Any, Leaves]:
    """The structure of a value given by the user, as specs, and its leaves."""
    leaves = tuple([leaf_of(leaf) for leaf in flatten(structure)])
    return pack(structure, [spec_of(leaf) for leaf in leaves]), leaves


def dtype_of(array: Array) -> DType:
    """The `tf.DType` of an array."""
    return string_dtype if array.dtype.kind == "O" else as_dtype(array.dtype)


def spec_of(leaf: Any) -> TypeSpec:
    """The spec of a leaf."""
    if isinstance(leaf, np.ndarray):
        array: Array = leaf
        return TensorSpec(array.shape, dtype_of(array))
    if leaf is None:
        return NoneTensorSpec()
    if is_composite(leaf):
        spec = getattr(leaf, "_type_spec", None)
        return _CompositeSpec(type(leaf).__name__) if spec is None else spec
    return WRAPPING.spec(leaf)


class _CompositeSpec(TypeSpec):
    """The type of a composite tensor that has no spec class of its own."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        """Names the class."""
        self._name = name

    def _serialize(self) -> tuple[Any, ...]:
        return (self._name,)


def value_of(leaf: Any) -> Any:
    """A leaf as the user sees it: a tensor, a dataset, None."""
    if type(leaf) is np.ndarray:
        return constant_tensor(leaf)
    if leaf is None or is_composite(leaf):
        return leaf
    return WRAPPING.wrap(leaf)


def shape_of(spec: Any) -> tuple[int | None, ...] | None:
    """The shape in a spec; None when its rank is unknown."""
    shape = spec.shape
    return None if shape.rank is None else tuple(shape.as_list())


def is_static(spec: Any) -> bool:
    """Whether a spec is that of numbers of one known shape, which a program can take."""
    return (
        type(spec) is TensorSpec
        and spec.dtype is not string_dtype
        and spec.shape.is_fully_defined()
    )


def common_spec(first: Any, second: Any) -> Any:
    """The narrowest spec of both leaves.

    Raises:
        TypeError: If there is none.
    """
    if isinstance(first, TensorSpec) and isinstance(second, TensorSpec):
        if first.dtype is second.dtype:
            shape = first.shape.most_specific_compatible_shape(second.shape)
            return TensorSpec(shape, first.dtype)
    elif first == second:
        return first
    else:
        found = first.most_specific_common_supertype([second])
        if found is not None:
            return found
    raise TypeError(f"No common supertype of {first} and {second}.")


def common_structure(first: Any, second: Any) -> Any:
    """The narrowest specs of two elements of one form.

    Raises:
        TypeError: If the structures differ or there is none.
    """
    one, other = flatten(first), flatten(second)
    if len(one) != len(other) or pack(first, one) != pack(second, one):
        raise TypeError(f"No common structure of {first} and {second}.")
    return pack(first, [common_spec(a, b) for a, b in zip(one, other, strict=True)])


def nbytes(leaves: Leaves) -> int:
    """The size of the arrays of an element."""
    return sum([leaf.nbytes for leaf in leaves if isinstance(leaf, np.ndarray)])

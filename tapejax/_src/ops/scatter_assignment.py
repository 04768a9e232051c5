"""Assigning some rows or elements of a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.definitions import ValueCheck
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record, record1
from tapejax._src.ops import gathering, joining, scattering, shaping
from tapejax._src.ops.assignment import ASSIGN, note_access, rebind, value_for
from tapejax._src.ops.index_checks import element_failure, element_text


def _set(variable: Variable, tensor: Tensor) -> Variable:
    note_access(variable)
    rebind(variable, record1(ASSIGN[variable.trainable], tensor))
    return variable


def _slices(delta: Any) -> IndexedSlices:
    if not isinstance(delta, IndexedSlices):
        raise TypeError(
            f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {delta!r}. "
            "Write tf.IndexedSlices(values, indices)."
        )
    return delta


def _by_slices(scatter: Callable[..., Any], summary: str) -> Callable[..., Variable]:
    def method(
        self: Variable,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Variable:
        del use_locking, name
        delta = _slices(sparse_delta)
        values = value_for(self, delta.values)
        return _set(self, scatter(self, as_tensor(delta.indices), values))

    method.__doc__ = f"""{summary}

    Args:
        self: The variable.
        sparse_delta: A `tf.IndexedSlices`: values `[k, ...]` for the rows at its indices `[k]`.
        use_locking: Accepted for compatibility.
        name: Accepted for compatibility.

    Returns:
        The variable.

    Raises:
        TypeError: If `sparse_delta` is not an `IndexedSlices`.
        InvalidArgumentError: If an index is out of range or the shapes do not fit.
    """
    return method


def _by_indices(scatter: Callable[..., Any], summary: str) -> Callable[..., Variable]:
    def method(self: Variable, indices: Any, updates: Any, name: str | None = None) -> Variable:
        del name
        return _set(self, scatter(self, indices, value_for(self, updates)))

    method.__doc__ = f"""{summary}

    Args:
        self: The variable.
        indices: int32 or int64, `[..., depth]`: each row names one element or slice.
        updates: `indices.shape[:-1] + variable.shape[depth:]`.
        name: Accepted for compatibility.

    Returns:
        The variable.

    Raises:
        InvalidArgumentError: If an index is out of range or the shapes do not fit.
    """
    return method


def _of_rows(scatter: Callable[..., Any]) -> Callable[..., Any]:
    """A scatter by row numbers, made of one by index vectors."""
    return lambda tensor, rows, values: scatter(tensor, shaping.expand_dims(rows, -1), values)


def _scaled(how: str, node: str) -> Callable[..., Any]:
    """A scatter in which a repeated row is scaled by each of its values."""

    def scatter(tensor: Any, rows: Any, values: Any) -> Any:
        return getattr(tensor.at[rows], how)(values)

    def fails(tensor: Any, rows: Any, values: Any) -> tuple[Any, ...]:
        del values
        return element_failure(rows, tensor.shape[0])

    check = ValueCheck(fails, element_text)
    kernel = Kernel(node, scatter, groups=(0, -1, 0), node=node, check=check)
    return lambda tensor, rows, values: record(kernel, [tensor, rows, values])


def _batch_rows(indices: Tensor) -> Any:
    """Index vectors `[..., k, rank]` of the row numbers `[..., k]` of each batch element."""
    batch = np.indices(indices.aval.shape)[:-1].astype(indices.dtype.as_numpy_dtype)
    return joining.stack([*batch, indices], axis=-1)


def _batch_update(tensor: Any, rows: Tensor, values: Any) -> Any:
    return scattering.tensor_scatter_nd_update(tensor, _batch_rows(rows), values)


def sparse_read(self: Variable, indices: Any, name: str | None = None) -> Tensor:
    """The rows at `indices`, as a tensor."""
    del name
    return gathering.gather(self, indices)


def gather_nd(self: Variable, indices: Any, name: str | None = None) -> Tensor:
    """The elements at `indices` `[..., depth]`, as a tensor."""
    del name
    return gathering.gather_nd(self, indices)


METHODS: dict[str, Callable[..., Any]] = {
    "scatter_add": _by_slices(
        _of_rows(scattering.tensor_scatter_nd_add), "Add to some rows; repeated rows add up."
    ),
    "scatter_sub": _by_slices(
        _of_rows(scattering.tensor_scatter_nd_sub), "Subtract from some rows; repeats add up."
    ),
    "scatter_update": _by_slices(
        _of_rows(scattering.tensor_scatter_nd_update), "Replace some rows."
    ),
    "scatter_max": _by_slices(
        _of_rows(scattering.tensor_scatter_nd_max), "Raise some rows to at least the given ones."
    ),
    "scatter_min": _by_slices(
        _of_rows(scattering.tensor_scatter_nd_min), "Lower some rows to at most the given ones."
    ),
    "scatter_mul": _by_slices(
        _scaled("multiply", "ResourceScatterMul"), "Multiply some rows by the given ones."
    ),
    "scatter_div": _by_slices(
        _scaled("divide", "ResourceScatterDiv"), "Divide some rows by the given ones."
    ),
    "batch_scatter_update": _by_slices(
        _batch_update, "Replace rows of each batch element: the indices are `[batch..., k]`."
    ),
    "scatter_nd_add": _by_indices(scattering.tensor_scatter_nd_add, "Add to some elements."),
    "scatter_nd_sub": _by_indices(scattering.tensor_scatter_nd_sub, "Subtract from some elements."),
    "scatter_nd_update": _by_indices(scattering.tensor_scatter_nd_update, "Replace some elements."),
    "scatter_nd_max": _by_indices(
        scattering.tensor_scatter_nd_max, "Raise some elements to at least the given ones."
    ),
    "scatter_nd_min": _by_indices(
        scattering.tensor_scatter_nd_min, "Lower some elements to at most the given ones."
    ),
    "sparse_read": sparse_read,
    "gather_nd": gather_nd,
}

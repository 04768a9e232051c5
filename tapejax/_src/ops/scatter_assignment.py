"""Assigning some rows or elements of a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.recorder import record1
from tapejax._src.ops import gathering, scattering, shaping
from tapejax._src.ops.assignment import ASSIGN, note_access, rebind, value_for


def _set(variable: Variable, tensor: Tensor) -> Variable:
    note_access(variable)
    rebind(variable, record1(ASSIGN[variable.trainable], tensor))
    return variable


def _by_slices(scatter: Callable[..., Any]) -> Callable[..., Variable]:
    def method(
        self: Variable,
        sparse_delta: IndexedSlices,
        use_locking: bool = False,
        name: str | None = None,
    ) -> Variable:
        """Combine rows of the variable with those of an `IndexedSlices`.

        Raises:
            TypeError: If `sparse_delta` is not an `IndexedSlices`.
        """
        del use_locking, name
        if not isinstance(sparse_delta, IndexedSlices):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta!r}")
        rows = shaping.expand_dims(sparse_delta.indices, -1)
        return _set(self, scatter(self, rows, sparse_delta.values))

    return method


def _by_indices(scatter: Callable[..., Any]) -> Callable[..., Variable]:
    def method(self: Variable, indices: Any, updates: Any, name: str | None = None) -> Variable:
        """Combine the elements at `indices` `[..., depth]` with `updates`."""
        del name
        return _set(self, scatter(self, indices, value_for(self, updates)))

    return method


def _scaled(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A scatter that combines element by element what gather gives (repeated rows: in turn)."""

    def scatter(tensor: Any, indices: Any, updates: Any) -> Any:
        old = gathering.gather_nd(tensor, indices)
        return scattering.tensor_scatter_nd_update(tensor, indices, combine(old, updates))

    return scatter


def sparse_read(self: Variable, indices: Any, name: str | None = None) -> Tensor:
    """The rows at `indices`, as a tensor."""
    del name
    return gathering.gather(self, indices)


def gather_nd(self: Variable, indices: Any, name: str | None = None) -> Tensor:
    """The elements at `indices` `[..., depth]`, as a tensor."""
    del name
    return gathering.gather_nd(self, indices)


METHODS: dict[str, Callable[..., Any]] = {
    "scatter_add": _by_slices(scattering.tensor_scatter_nd_add),
    "scatter_sub": _by_slices(scattering.tensor_scatter_nd_sub),
    "scatter_update": _by_slices(scattering.tensor_scatter_nd_update),
    "scatter_max": _by_slices(scattering.tensor_scatter_nd_max),
    "scatter_min": _by_slices(scattering.tensor_scatter_nd_min),
    "scatter_mul": _by_slices(_scaled(lambda old, new: old * new)),
    "scatter_div": _by_slices(_scaled(lambda old, new: old / new)),
    "scatter_nd_add": _by_indices(scattering.tensor_scatter_nd_add),
    "scatter_nd_sub": _by_indices(scattering.tensor_scatter_nd_sub),
    "scatter_nd_update": _by_indices(scattering.tensor_scatter_nd_update),
    "scatter_nd_max": _by_indices(scattering.tensor_scatter_nd_max),
    "scatter_nd_min": _by_indices(scattering.tensor_scatter_nd_min),
    "sparse_read": sparse_read,
    "gather_nd": gather_nd,
}

"""Drawn arguments of one call: pick out the differentiable ones and put others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tapejax._src.engine.cases import DTYPES, Aval, DTypeName, is_inexact

_WIDER = {"float32": "float64", "complex64": "complex128"}


def map_leaves(function: Callable[[Any], Any], structure: Any) -> Any:
    """Apply a function to everything that is not a list, tuple or dict, keeping the containers."""
    if isinstance(structure, dict):
        return {name: map_leaves(function, item) for name, item in structure.items()}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(map_leaves(function, item) for item in structure))
    if isinstance(structure, (list, tuple)):
        return type(structure)(map_leaves(function, item) for item in structure)
    return function(structure)


def leaves(structure: Any) -> list[Any]:
    """The leaves in the order `map_leaves` meets them."""
    found: list[Any] = []
    map_leaves(found.append, structure)
    return found


@dataclass(frozen=True)
class Call:
    """Arguments with an ndarray for each tensor; `avals` says what each was drawn from."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    avals: tuple[Aval, ...]

    @property
    def arrays(self) -> list[np.ndarray]:
        """All tensor arguments."""
        return [leaf for leaf in leaves((self.args, self.kwargs)) if isinstance(leaf, np.ndarray)]

    @property
    def primals(self) -> list[np.ndarray]:
        """The floating and complex tensor arguments: those a gradient can be taken of."""
        return [array for array in self.arrays if is_inexact(array.dtype)]

    def map(self, function: Callable[[Any], Any]) -> Call:
        """Apply a function to each leaf, tensors and literals alike."""
        return replace(
            self, args=map_leaves(function, self.args), kwargs=map_leaves(function, self.kwargs)
        )

    def map_arrays(self, function: Callable[[np.ndarray], Any]) -> Call:
        """Apply a function to each tensor argument."""
        return self.map(lambda leaf: function(leaf) if isinstance(leaf, np.ndarray) else leaf)

    def with_primals(self, primals: Sequence[Any]) -> Call:
        """The same call at other values of its differentiable arguments."""
        values: Iterator[Any] = iter(primals)
        return self.map_arrays(lambda array: next(values) if is_inexact(array.dtype) else array)

    def widened(self) -> Call:
        """The same call in double precision."""
        return self.map(widen)

    def tangents(self, rng: np.random.Generator) -> list[np.ndarray]:
        """A random direction for each primal; symmetric where the primal must stay symmetric."""
        avals = [aval for aval in self.avals if aval.differentiable]
        pairs = zip(avals, self.primals, strict=True)
        return [_direction(aval, primal, rng) for aval, primal in pairs]


def widen(leaf: Any) -> Any:
    """A float32 or complex64 ndarray, or such a dtype, in double precision; others unchanged."""
    if isinstance(leaf, np.ndarray) and leaf.dtype.name in _WIDER:
        return leaf.astype(_WIDER[leaf.dtype.name])
    if isinstance(leaf, DTypeName):
        return DTypeName(_WIDER.get(leaf.name, leaf.name))
    return leaf


def random_like(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers in (-1, 1), or in the unit square of the complex plane, of the array's dtype."""
    values = rng.uniform(-1, 1, array.shape)
    if array.dtype.kind == "c":
        values = values + 1j * rng.uniform(-1, 1, array.shape)
    return np.asarray(values).astype(array.dtype)


def _direction(aval: Aval, primal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    direction = random_like(primal, rng)
    if "psd" in aval.modifiers:
        direction = direction + np.conj(np.swapaxes(direction, -1, -2))
    return direction


def cotangents(outputs: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """A random cotangent for each floating output."""
    return [random_like(leaf, rng) for leaf in leaves(outputs) if is_inexact(leaf.dtype)]


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype that a TensorFlow dtype name stands for."""
    return DTYPES["bf16"] if name == "bfloat16" else np.dtype(name)

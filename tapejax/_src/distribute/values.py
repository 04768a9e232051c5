"""Values that every replica has one of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.dtypes import DType
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import CONVERTERS, as_tensor, constant_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.ops.joining import stack
from tapejax._src.ops.slicing import slice as slice_of

BATCH = "batch"
"""One tensor holds the values of all replicas, one behind the other on its first axis."""
STACK = "stack"
"""One tensor holds the values of all replicas, its first axis being the replicas."""


class DistributedValues:
    """A value of which each replica has its own; see `strategy.experimental_local_results`."""


class PerReplica(DistributedValues):
    """One value for each replica.

    Args:
        values: The values, one for each replica; or, with a `layout`, one tensor that holds all.
        layout: How it holds them.
        count: The number of replicas.
    """

    def __init__(self, values: Any, layout: str | None = None, count: int = 0) -> None:
        self.layout = layout
        self._whole: Any = values if layout else None
        self._values: tuple[Any, ...] | None = None if layout else tuple(values)
        self.count = count if layout else len(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, one for each replica of this process."""
        if self._values is None:
            self._values = self._own_parts() or tuple(map(self._part, range(self.count)))
        return self._values

    def _own_parts(self) -> tuple[Tensor, ...]:
        """The values of this process, if others have some."""
        array = self._whole.array
        if not isinstance(array, jax.Array) or array.is_fully_addressable:
            return ()
        shards = sorted(array.addressable_shards, key=lambda shard: shard.index[0].start or 0)
        parts = [np.asarray(shard.data) for shard in shards]
        return tuple([constant_tensor(x[0] if self.layout == STACK else x) for x in parts])

    def _part(self, place: int) -> Tensor:
        whole: Tensor = self._whole
        shape = whole.aval.shape
        rows = shape[0] // self.count
        if whole.symbolic_name() is None:
            array = whole.view()
            found = array[place] if self.layout == STACK else array[place * rows :][:rows]
            return constant_tensor(np.asarray(found))
        if self.layout == STACK:
            return whole[place]  # type: ignore[index]  attached by ops/operators.py
        return slice_of(whole, [place * rows, *[0] * (len(shape) - 1)], [rows, *shape[1:]])

    @property
    def is_uneven(self) -> bool:
        """Whether the replicas have tensors of different shapes or dtypes."""
        return self._values is not None and len({_form(v) for v in self._values}) > 1

    def spread(self) -> tuple[Tensor, str]:
        """All values in one tensor, and how it holds them."""
        if self.layout is not None:
            return self._whole, self.layout
        return stack([as_tensor(value) for value in self.values]), STACK

    def parts(self) -> Sequence[Any]:
        """The tensors that a traced function takes for it."""
        return (self._whole,) if self.layout else self.values

    def with_parts(self, parts: Sequence[Any]) -> PerReplica:
        """The same of other tensors."""
        return PerReplica(parts[0] if self.layout else parts, self.layout, self.count)

    def __repr__(self) -> str:
        if LOCAL.recorder.symbolic is not None:
            return f"PerReplica of {self.count} values in a function being traced"
        return (
            "PerReplica:{\n" + ",\n".join(f"  {n}: {v}" for n, v in enumerate(self.values)) + "\n}"
        )

    def _refuse(self, other: Any = None) -> NoReturn:
        del other
        raise TypeError(
            f"A PerReplica of {self.count} values is no tensor: each replica has a value of its "
            "own. Combine them with strategy.reduce('SUM', value, axis=None), or take them apart "
            "with strategy.experimental_local_results(value)."
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _refuse
    __rtruediv__ = __pow__ = __matmul__ = __neg__ = __float__ = __int__ = __bool__ = _refuse


def _form(value: Any) -> Any:
    found: Any = value.tensor if isinstance(value, Variable) else value
    return found.aval if isinstance(found, Tensor) else type(value)


def _converted(value: Any, dtype: DType | None) -> Tensor:
    del dtype
    value._refuse()
    raise AssertionError


def _fixed(value: PerReplica) -> nest.Fixed:
    return nest.Fixed((), (value.layout, value.count))


nest.register_composite(PerReplica, PerReplica.parts, PerReplica.with_parts, _fixed)
CONVERTERS.append((PerReplica, _converted))


class InReplicas(DistributedValues):
    """What each replica of a program has, where the program runs once for all of them.

    Args:
        tensor: The replicas' value.
        replica: The replica that it is recorded for.
    """

    def __init__(self, tensor: Tensor, replica: Any) -> None:
        self.tensor = tensor
        self.replica = replica


def of_replica(structure: Any, place: int) -> Any:
    """What one replica gets of arguments."""

    def chosen(leaf: Any) -> Any:
        return leaf.values[place] if isinstance(leaf, PerReplica) else leaf

    return nest.map_structure(chosen, structure)


def is_distributed(value: Any) -> bool:
    """Whether each replica has a value of its own."""
    return isinstance(value, DistributedValues)


def regrouped(results: Sequence[Any], wrap: Callable[[Sequence[Any]], Any] = PerReplica) -> Any:
    """The structure that each replica returned, of values for each replica.

    What is the same for all and no tensor stays as it is.

    Raises:
        ValueError: If the structures differ.
    """
    if len(results) == 1:
        return results[0]
    for other in results[1:]:
        nest.assert_same_structure(results[0], other)
    columns = zip(*[nest.flatten(result) for result in results], strict=True)
    return nest.pack_sequence_as(results[0], [_grouped(list(c), wrap) for c in columns])


def _grouped(values: list[Any], wrap: Callable[[Sequence[Any]], Any]) -> Any:
    first = values[0]
    tensors = (Tensor, Variable, np.ndarray, jax.Array)
    if all(value is first for value in values):
        return first
    if not any(isinstance(value, tensors) for value in values) and all(
        type(value) is type(first) and value == first for value in values
    ):
        return first
    return wrap(values)

"""`tf.distribute.experimental.ShardedStrategy`: variables divided over devices."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from tapejax._src.core.variable import Variable
from tapejax._src.distribute.strategies import all_devices, named_device
from tapejax._src.distribute.strategy import Strategy
from tapejax._src.distribute.variables import spread
from tapejax._src.engine.flush import arrays_are_spread

Rule = tuple[str, Sequence[Any]]


class ShardedStrategy(Strategy):
    """Variables and the optimizer's slots divided over the devices (FSDP, ZeRO, tensor parallel).

    There are no replicas: a program is written as for one device, with whole batches, and
    `num_replicas_in_sync` is 1. Call the training step, a `tf.function`, directly; its batch is
    divided over the first axis of the mesh, and XLA adds what is needed between the devices.

    Args:
        mesh_shape: Name of each axis of the mesh -> its size, such as `{"data": 4, "model": 2}`.
            The first axis is that of batches.
        rules: Pairs of a regular expression and, for each dimension of a variable whose name
            contains a match, the name of a mesh axis (or a tuple of several) or None. The first
            that matches wins. A variable that no rule matches has the layout of one of its shape
            that a rule did match, as slots of optimizers have, else it is whole on each device.
            Default: each variable is divided over the first axis on its largest dimension that
            can be.
        devices: Names of the devices. Default: the first ones.

    Raises:
        ValueError: If there are too few devices, or a rule names an unknown axis, has too many
            dimensions, or a dimension that its axis does not divide; the latter when the variable
            is created.

    Example:
        >>> import tapejax as tf
        >>> strategy = tf.distribute.experimental.ShardedStrategy({"data": 1})
        >>> with strategy.scope():
        ...     w = tf.Variable([[1.0, 2.0]])
        >>> w.numpy().tolist()
        [[1.0, 2.0]]

    Differs from TensorFlow:
        TensorFlow has no such strategy; its nearest is `tf.experimental.dtensor`.
    """

    def __init__(
        self,
        mesh_shape: Mapping[str, int],
        rules: Sequence[Rule] | None = None,
        devices: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(None)
        sizes = tuple([int(size) for size in mesh_shape.values()])
        if not sizes or min(sizes) < 1:
            raise ValueError(f"mesh_shape needs axes of at least one device, got {mesh_shape}.")
        known = all_devices() if devices is None else [named_device(name) for name in devices]
        count = math.prod(sizes)
        if len(known) < count or (devices is not None and len(known) != count):
            raise ValueError(
                f"A mesh of {dict(mesh_shape)} has {count} devices, and there are {len(known)}."
            )
        self._axes = dict(zip(mesh_shape, sizes, strict=True))
        self._rules = None if rules is None else [(re.compile(p), tuple(s)) for p, s in rules]
        self._names = [name for _, name in known[:count]]
        chosen = np.array([device for device, _ in known[:count]]).reshape(sizes)
        self.mesh = jax.sharding.Mesh(chosen, tuple(self._axes))
        self._by_shape: dict[tuple[int, ...], Any] = {}
        self._layouts: dict[int, Any] = {}

    @property
    def num_replicas_in_sync(self) -> int:
        """1: a program computes with whole batches."""
        return 1

    @property
    def uses_whole_batches(self) -> bool:
        """Whether functions that use its variables are spread over devices."""
        return True

    @property
    def batch_axis(self) -> tuple[str, int]:
        """The axis of the mesh that batches are divided over, and its size."""
        return next(iter(self._axes.items()))

    def adopt(self, variable: Variable) -> None:
        """Divide a variable that was created in the scope."""
        super().adopt(variable)
        layout = self._layout_for(variable)
        self._layouts[id(variable)] = layout
        arrays_are_spread()
        spread(variable.tensor, variable, layout)

    def layout_of(self, variable: Variable) -> jax.sharding.NamedSharding:
        """How a variable is divided."""
        found = self._layouts.get(id(variable)) if self.owns(variable) else None
        return self._sharding(()) if found is None else found

    def _layout_for(self, variable: Variable) -> jax.sharding.NamedSharding:
        shape = variable.tensor.aval.shape
        if self._rules is None:
            return self._sharding(self._largest(shape))
        for pattern, spec in self._rules:
            if pattern.search(variable.name):
                self._check(variable, spec)
                found = self._by_shape[shape] = self._sharding(spec)
                return found
        return self._by_shape.get(shape, self._sharding(()))

    def _largest(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        axis, size = self.batch_axis
        fitting = [n for n, length in enumerate(shape) if length and length % size == 0]
        if not fitting:
            return ()
        chosen = max(fitting, key=lambda n: shape[n])
        return tuple([axis if n == chosen else None for n in range(len(shape))])

    def _check(self, variable: Variable, spec: Sequence[Any]) -> None:
        shape = variable.tensor.aval.shape
        if len(spec) > len(shape):
            raise ValueError(
                f"The rule {tuple(spec)} has more dimensions than the variable {variable.name!r} "
                f"of shape {list(shape)} that it matches."
            )
        for length, axes in zip(shape, spec, strict=False):
            names = () if axes is None else (axes,) if isinstance(axes, str) else tuple(axes)
            unknown = [name for name in names if name not in self._axes]
            if unknown:
                raise ValueError(
                    f"The rule {tuple(spec)} names {unknown}, and the axes of the mesh are "
                    f"{list(self._axes)}."
                )
            parts = math.prod(self._axes[name] for name in names)
            if length % parts != 0:
                raise ValueError(
                    f"The rule {tuple(spec)} divides a dimension of {length} of the variable "
                    f"{variable.name!r} by {parts} devices, which leaves a remainder. Name "
                    "another dimension, or None."
                )

    def _sharding(self, spec: Sequence[Any]) -> jax.sharding.NamedSharding:
        return jax.sharding.NamedSharding(self.mesh, jax.sharding.PartitionSpec(*spec))

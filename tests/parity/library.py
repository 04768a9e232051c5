"""Run a call on a library with TensorFlow's tape API: on TensorFlow itself, and on tapejax."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from parity.calls import Call, leaves, map_leaves
from parity.rows import Row
from tapejax._src.engine import registry
from tapejax._src.engine.cases import DTypeName, is_inexact

NO_GRADIENT_ENTRY = "LookupError"


def lookup(tf: ModuleType, path: str) -> Any:
    """The object at a dotted path below `tf.`; AttributeError when there is none."""
    found: Any = tf
    for name in path.split("."):
        found = getattr(found, name)
    return found


def as_numpy(value: Any) -> np.ndarray | None:
    """A tensor, IndexedSlices or None as a dense ndarray or None."""
    if value is None:
        return None
    if hasattr(value, "values") and hasattr(value, "indices"):
        return _dense(value)
    return np.asarray(value.numpy())


def _dense(slices: Any) -> np.ndarray:
    values = slices.values.numpy()
    dense = np.zeros((int(slices.dense_shape.numpy()[0]), *values.shape[1:]), values.dtype)
    np.add.at(dense, slices.indices.numpy(), values)
    return dense


class Library:
    """The calls the runner makes, on `tf` = tensorflow or tapejax."""

    def __init__(self, tf: ModuleType) -> None:
        """Use this module as `tf`."""
        self.tf = tf

    def function(self, path: str) -> Any:
        """The public function at a path."""
        return lookup(self.tf, path)

    def invoke(self, row: Row, call: Call) -> Any:
        """Call the op with arguments as they are, apart from dtypes given by name."""
        function = self.function(row.path)
        call = call.map(
            lambda leaf: getattr(self.tf, leaf.name) if isinstance(leaf, DTypeName) else leaf
        )
        return function(*call.args, **call.kwargs)

    def tensor(self, array: np.ndarray) -> Any:
        """The tensor that is passed for an ndarray."""
        return self.tf.constant(array)

    def read(self, value: Any) -> Any:
        """What is returned for a tensor, IndexedSlices or None."""
        return as_numpy(value)

    def tensors(self, call: Call) -> Call:
        """The call with a tensor for each ndarray."""
        return call.map_arrays(self.tensor)

    def value(self, row: Row, call: Call) -> Any:
        """The outputs as ndarrays, in the container the op returned."""
        return map_leaves(self.read, self.invoke(row, self.tensors(call)))

    def gradients(self, row: Row, call: Call, seeds: Sequence[np.ndarray]) -> Any:
        """First gradients: None, an ndarray, or `NO_GRADIENT_ENTRY` in place of the list."""
        primals = [self.tensor(array) for array in call.primals]
        try:
            with self.tf.GradientTape() as tape:
                targets = self._targets(row, call, primals, tape)
            return [self.read(g) for g in self._gradient(tape, targets, primals, seeds)]
        except LookupError as error:
            if type(error) is not LookupError:  # a KeyError is a defect
                raise
            return NO_GRADIENT_ENTRY

    def second_gradients(
        self,
        row: Row,
        call: Call,
        seeds: Sequence[np.ndarray],
        second_seeds: Sequence[np.ndarray],
    ) -> Any:
        """Gradients of the first gradients, contracted with `second_seeds`."""
        primals = [self.tensor(array) for array in call.primals]
        try:
            with self.tf.GradientTape() as outer:
                outer.watch(primals)
                with self.tf.GradientTape() as inner:
                    targets = self._targets(row, call, primals, inner)
                first = self._gradient(inner, targets, primals, seeds)
                pairs = [(g, s) for g, s in zip(first, second_seeds, strict=True) if g is not None]
                first = [self.tf.convert_to_tensor(g) for g, _ in pairs]
            if not first:
                return [None] * len(primals)
            second = outer.gradient(
                first, primals, output_gradients=[self.tf.constant(seed) for _, seed in pairs]
            )
            return [self.read(g) for g in second]
        except LookupError as error:
            if type(error) is not LookupError:  # a KeyError is a defect
                raise
            return NO_GRADIENT_ENTRY

    def pushforward(self, row: Row, call: Call, tangents: Sequence[np.ndarray]) -> list[Any]:
        """Forward-mode derivative of each floating output along the tangents."""
        primals = [self.tensor(array) for array in call.primals]
        directions = [self.tf.constant(array) for array in tangents]
        with self.tf.autodiff.ForwardAccumulator(primals, directions) as accumulator:
            outputs = leaves(self.invoke(row, self.tensors(call.with_primals(primals))))
        floating = [y for y in outputs if is_inexact(np.dtype(y.dtype.as_numpy_dtype))]
        return [self.read(accumulator.jvp(y)) for y in floating]

    def _targets(self, row: Row, call: Call, primals: list[Any], tape: Any) -> list[Any]:
        tape.watch(primals)
        outputs = leaves(self.invoke(row, self.tensors(call.with_primals(primals))))
        floating = [y for y in outputs if y.dtype.is_floating or y.dtype.is_complex]
        # a functional needs floats; through a cast of integers and booleans nothing is connected
        return floating or [self.tf.cast(y, self.tf.float32) for y in outputs]

    def _gradient(
        self, tape: Any, targets: list[Any], primals: list[Any], seeds: Sequence[np.ndarray]
    ) -> list[Any]:
        given = [self.tf.constant(seed) for seed in seeds] or None
        return tape.gradient(targets, primals, output_gradients=given)


class Tapejax(Library):
    """tapejax; also calls the private ops, which have no public path."""

    def function(self, path: str) -> Any:
        """The function registered at a path; `test_surface.py` finds it at its public path."""
        return registry.PUBLIC[path]

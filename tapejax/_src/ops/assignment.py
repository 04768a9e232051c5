"""Assignment: a variable's new value is a recorded op, so an update is part of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.core import errors
from tapejax._src.core.avals import aval_of
from tapejax._src.core.conversion import convert_for_partner
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_partner, as_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record1, record2
from tapejax._src.ops import slicing
from tapejax._src.tape.gradient_tape import GradientTape

Pair = tuple[Kernel, Kernel]
"""A kernel for variables that are not trainable, and one for those that are."""


def _pair(name: str, fn: Callable[..., Any], groups: tuple[int, ...], node: str) -> Pair:
    def make(trainable: bool) -> Kernel:
        return Kernel(name, fn, groups=groups, node=node, assigns=trainable)

    return make(False), make(True)


ASSIGN = _pair("assign", lambda x: x, (0,), "AssignVariableOp")
ASSIGN_ADD = _pair("assign_add", jnp.add, (0, 0), "AssignAddVariableOp")
ASSIGN_SUB = _pair("assign_sub", jnp.subtract, (0, 0), "AssignSubVariableOp")


@jax.custom_jvp
def _kept(new: jax.Array, before: jax.Array) -> jax.Array:
    """A variable's new value, with the derivative of the value before.

    Assignments are not differentiated, and every read of a variable counts towards it: where JAX
    differentiates a whole branch or loop, later reads must too.
    """
    del before
    return new


@_kept.defjvp
def _kept_derivative(primals: Any, tangents: Any) -> Any:
    return _kept(*primals), tangents[1]


def _kept_in_block(new: jax.Array, before: jax.Array) -> jax.Array:
    """The same for loops: `lax.scan`, differentiated twice, forgets the rules of functions."""
    if not jnp.issubdtype(new.dtype, jnp.inexact):
        return new
    nothing = jnp.where(jnp.isfinite(before), before - lax.stop_gradient(before), 0)
    return lax.stop_gradient(new) + nothing


_KEPT = _pair("assign", _kept, (0, 0), "AssignVariableOp")
_KEPT_IN_BLOCK = _pair("assign", _kept_in_block, (0, 0), "AssignVariableOp")


def note_access(variable: Variable) -> None:
    """Tell the recording tapes that a variable's value was read without an op."""
    for listener in LOCAL.active if variable.trainable else ():
        if isinstance(listener, GradientTape):
            listener.accessed(variable)


def rebind(variable: Variable, tensor: Tensor) -> None:
    """Make a freshly recorded result, which nobody else holds, the value of a variable."""
    rebind_all((variable,), (tensor,))


def rebind_all(variables: Sequence[Variable], tensors: Sequence[Tensor]) -> None:
    """Make freshly recorded results the values of variables."""
    recorder = LOCAL.recorder
    if LOCAL.writes is not None:
        LOCAL.note_writes(variables)
    assigned, cells = recorder.assigned, recorder.cells
    symbolic = recorder.symbolic is not None
    for variable, tensor in zip(variables, tensors, strict=True):
        old = variable.tensor
        reference = variable.reference
        if symbolic and tensor.aval is old.aval:
            kept = _KEPT_IN_BLOCK if recorder.is_block else _KEPT
            tensor = record2(kept[variable.trainable], tensor, old)
        if tensor.recorder is recorder:
            leaf, undo = -1, True
            if old.recorder is recorder:  # pending here, or a leaf
                leaf, undo = (-1, False) if old.array is None else (old.index, symbolic)
            elif recorder.entered is not None and (number := recorder.number(old)) is not None:
                leaf, undo = number, symbolic
            assigned.append((variable, leaf, tensor.index, old if undo else None))
            cells[tensor.index] = reference
        if tensor.aval is old.aval and tensor.array is None:
            tensor.cell = reference
            tensor.key = old.key
            variable.tensor = tensor
        else:
            variable.hold(tensor)
    for listener in LOCAL.active:
        if isinstance(listener, GradientTape):
            listener.assigned(variables)


def assign_results(variables: Sequence[Variable], results: Sequence[Tensor]) -> None:
    """Assign what a branch, loop or function made of variables: no gradient passes."""
    tensors = [record1(ASSIGN[v.trainable], r) for v, r in zip(variables, results, strict=True)]
    rebind_all(variables, tensors)


def value_for(variable: Variable, value: Any) -> Tensor:
    """Convert a value that is to be assigned to a variable.

    Raises:
        ValueError: If it is None or a tensor of another dtype.
        TypeError: If a Python number does not fit the dtype.
    """
    if isinstance(value, (Tensor, Variable)):
        return as_tensor(value, variable.dtype)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        array = convert_for_partner(value, variable.dtype)
        aval = aval_of(array)
        return Tensor.concrete(array, aval, aval)
    return as_partner(value, variable.dtype)


def assign(
    self: Variable,
    value: Any,
    use_locking: bool = False,
    name: str | None = None,
    read_value: bool = True,
) -> Variable | None:
    """Replace the value.

    Args:
        self: The variable.
        value: Tensor or array-like of the variable's shape and dtype; there is no broadcasting.
        use_locking: Accepted for compatibility.
        name: Accepted for compatibility.
        read_value: Whether to return the variable.

    Returns:
        The variable, or None without `read_value`.

    Raises:
        ValueError: If the shape differs.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign([5.0, 6.0]).assign_add([1.0, 1.0]).numpy().tolist()
        [6.0, 7.0]
    """
    del use_locking, name
    if self.replication is not None:
        value = self.replication.given(value, "assign")
    tensor = value_for(self, value)
    if not self.shape.is_compatible_with(tensor.shape):
        raise ValueError(
            f"Cannot assign value to variable ' {self.name}': Shape mismatch."
            f"The variable shape {self.shape}, and the assigned value shape {tensor.shape} are "
            "incompatible. Assignment never broadcasts: use tf.broadcast_to or tf.fill first."
        )
    note_access(self)
    rebind(self, record1(ASSIGN[self.trainable], tensor))
    return self if read_value else None


def _update(pair: Pair, self: Variable, delta: Any, read_value: bool) -> Variable | None:
    if self.replication is not None:
        delta = self.replication.given(delta, pair[0].name)
    if isinstance(delta, IndexedSlices):
        delta = as_tensor(delta)
    kind = type(delta)
    if kind is not Tensor:
        delta = value_for(self, delta)
    if delta.aval.shape != self.tensor.aval.shape:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Cannot update variable with shape {list(self.tensor.aval.shape)} using a Tensor with "
            f"shape {list(delta.aval.shape)}, shapes must be equal. [Op:{pair[0].node}] name: ; "
            f"variable {self.name!r}. Updates never broadcast: use tf.broadcast_to first.",
        )
    rebind(self, record2(pair[self.trainable], self, delta))
    return self if read_value else None


def assign_add(
    self: Variable,
    delta: Any,
    use_locking: bool = False,
    name: str | None = None,
    read_value: bool = True,
) -> Variable | None:
    """Add `delta`, which must have the variable's shape.

    Args:
        self: The variable.
        delta: Tensor or array-like of the variable's shape and dtype, or a `tf.IndexedSlices`.
        use_locking: Accepted for compatibility.
        name: Accepted for compatibility.
        read_value: Whether to return the variable.

    Returns:
        The variable, or None without `read_value`.

    Raises:
        InvalidArgumentError: If the shape differs.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable([2.0, 3.0])
        >>> v.assign_add([1.0, 1.0]).numpy().tolist()
        [3.0, 4.0]
    """
    del use_locking, name
    return _update(ASSIGN_ADD, self, delta, read_value)


def assign_sub(
    self: Variable,
    delta: Any,
    use_locking: bool = False,
    name: str | None = None,
    read_value: bool = True,
) -> Variable | None:
    """Subtract `delta`, which must have the variable's shape.

    Args:
        self: The variable.
        delta: Tensor or array-like of the variable's shape and dtype, or a `tf.IndexedSlices`.
        use_locking: Accepted for compatibility.
        name: Accepted for compatibility.
        read_value: Whether to return the variable.

    Returns:
        The variable, or None without `read_value`.

    Raises:
        InvalidArgumentError: If the shape differs.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable([2.0, 3.0])
        >>> v.assign_sub([1.0, 1.0]).numpy().tolist()
        [1.0, 2.0]
    """
    del use_locking, name
    return _update(ASSIGN_SUB, self, delta, read_value)


def assign_part(variable: Variable, spec: Any, value: Any) -> Variable:
    """Replace `variable[spec]` by `value`, which may broadcast."""
    note_access(variable)
    rebind(variable, record1(ASSIGN[variable.trainable], slicing.updated(variable, spec, value)))
    return variable


READ = Kernel("read_value", lambda x: x, groups=(0,), node="ReadVariableOp")


def read_value(self: Variable) -> Tensor:
    """The current value as a tensor of its own: later assignments do not change it."""
    return record1(READ, self)


def value(self: Variable) -> Tensor:
    """The current value as a tensor of its own (same as `read_value`)."""
    return record1(READ, self)


METHODS: dict[str, Callable[..., Any]] = {
    "note_access": note_access,
    "assign": assign,
    "assign_add": assign_add,
    "assign_sub": assign_sub,
    "read_value": read_value,
    "value": value,
}

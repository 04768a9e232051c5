"""Keras' variables as tapejax's: each one a tape program touches gets a `tf.Variable`, its cell.

From then on the cell holds the value, so that an update by the optimizer or by batch normalization
is part of the recorded program. Keras' own code goes on reading arrays: `_value` of
`keras.Variable` becomes a property that looks into the cell. A variable no tape program ever
touches has no cell and is as before.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.recorder import LOCAL

_CELL = "_tapejax_cell"
_RAW = "_value"
_SUBSTITUTE = "_tapejax_substitute"


class Guests:
    """The classes of Keras that are asked for often; set once Keras is loaded."""

    variable: type = type("NoVariable", (), {})
    """`keras.Variable`."""
    symbolic: type = type("NoKerasTensor", (), {})
    """`keras.KerasTensor`."""
    layer: type = type("NoLayer", (), {})
    """`keras.Layer`."""
    scope: Any
    """`keras.StatelessScope`."""
    get_mask: Callable[[Any], Any]
    """The mask Keras attached to a tensor, or None."""
    set_mask: Callable[[Any, Any], None]
    """Attach a mask to a tensor, as Keras does."""
    masks: Callable[[], Any]
    """The masks of tensors by their `id`, or None before there is one."""
    standardize_dtype: Callable[[Any], str]
    """The name Keras gives a dtype."""
    output_spec: Callable[..., Any]
    """What a function returns for symbolic arguments."""
    call_context: Callable[[], Any]
    """The context of the outermost layer being called, or None."""
    global_seed: Callable[[], Any]
    """The seed generator of functions called without one."""
    seed_generator: Any
    """`keras.random.SeedGenerator`."""
    scope_now: Callable[[], Any]
    """The `keras.StatelessScope` around, or None."""
    in_scope: Callable[[], bool]
    """Whether Keras' code runs on values it is given, in a `keras.StatelessScope`."""


GUESTS = Guests()


def cell_of(variable: Any) -> Variable:
    """The `tf.Variable` behind a `keras.Variable`; made at the first call.

    Raises:
        ValueError: If the variable has no value yet, because its layer was not built.
    """
    state = variable.__dict__
    cell = state.get(_CELL)
    if cell is None:
        raw = state.get(_RAW)
        if raw is None:
            raise ValueError(
                f"The Keras variable {variable.path!r} of shape {variable.shape} has no value yet. "
                "Build its layer first: call the model once, or model.build(input_shape)."
            )
        cell = state[_CELL] = Variable.around(raw, variable.path, variable.trainable)
        cell.guest = weakref.ref(variable)
        state[_RAW] = None
    if cell.trainable is not variable.trainable:
        _retrain(cell, variable.trainable)
    return cell


def _retrain(cell: Variable, trainable: bool) -> None:
    """Tapes watch the variable, or no longer: `layer.trainable = ...` was set."""
    cell._trainable = trainable  # pyright: ignore[reportPrivateUsage]  Keras changes it, TensorFlow cannot
    cell.hold(constant_tensor(cell.tensor.value_array()))


def has_cell(variable: Any) -> bool:
    """Whether a tape program has touched this Keras variable."""
    return _CELL in variable.__dict__


def share(variable: Any, cell: Variable) -> None:
    """Make an existing `tf.Variable` the cell of a Keras variable."""
    variable.__dict__[_CELL] = cell
    variable.__dict__[_RAW] = None


def substitute(variable: Any, value: Tensor | None) -> None:
    """From now on layers compute with `value` in the place of the variable's own, None ends it."""
    variable.__dict__[_SUBSTITUTE] = value


def value_of(variable: Any) -> Tensor | Variable:
    """What a recorded call computes with for a Keras variable: its cell, or a substitute."""
    given = variable.__dict__.get(_SUBSTITUTE)
    return cell_of(variable) if given is None else given


def read(variable: Any) -> Tensor:
    """The current value of a Keras variable as a tensor, cast as Keras' autocast scope says."""
    if GUESTS.in_scope():
        return as_tensor(variable.value)
    return variable._maybe_autocast(as_tensor(value_of(variable)))


def as_variable(value: Any) -> Any:
    """The cell of a Keras variable; anything else as it is."""
    return cell_of(value) if isinstance(value, GUESTS.variable) else value


def get_raw(variable: Any) -> Any:
    """`keras.Variable._value`: the array, or None before there is one."""
    state = variable.__dict__
    cell = state.get(_CELL)
    if cell is None:
        return state[_RAW]
    if state.get(_PURGED):
        return None
    array = cell.tensor.value_array()
    return jax.numpy.asarray(array) if isinstance(array, np.ndarray) else array


_PURGED = "_tapejax_purged"


def set_raw(variable: Any, value: Any) -> None:
    """`keras.Variable._value = value`: an array, a tensor, or None to forget it."""
    state = variable.__dict__
    cell = state.get(_CELL)
    if _SUBSTITUTE in state:
        del state[_SUBSTITUTE]
    if isinstance(value, Tensor):
        if cell is None:
            state[_CELL] = cell = _first_cell(variable, value)
            state[_RAW] = None
            return
        cell_of(variable).assign(value)
    elif cell is None:
        state[_RAW] = value
        return
    elif value is not None:
        cell.assign(constant_tensor(value))
    state[_PURGED] = value is None


def _first_cell(variable: Any, value: Tensor) -> Variable:
    """The cell of a variable whose very first value is a tensor."""
    raw = variable.__dict__.get(_RAW)
    if raw is not None:
        cell = Variable.around(raw, variable.path, variable.trainable)
        cell.assign(value)
        return cell
    return Variable.around(value.value_array("initial value"), variable.path, variable.trainable)


def reads_as_tensor() -> bool:
    """Whether a variable read outside Keras' stateless code must be seen by a tape or trace."""
    return bool(LOCAL.active) or LOCAL.recorder.symbolic is not None

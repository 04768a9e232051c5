"""Optimizers as Keras 2 made and asked them: `lr`, `decay`, slots, variables met later."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.keras import legacy
from tapejax._src.keras.old_spellings.replacing import renamed
from tapejax._src.keras.old_spellings.tables import OPTIMIZER, SLOTS
from tapejax._src.keras.old_spellings.uses import note, note_direct
from tapejax._src.keras.optimizer import Optimizer
from tapejax._src.tape.gradient_tape import GradientTape

DECAY = "_decay"
_APPLIES = "_tapejax_applies"
_HOOKED = "_tapejax_old_spellings"


def hooked_init(original: Callable[..., Any], keeps_decay: bool = False) -> Callable[..., Any]:
    """The constructor of an optimizer.

    Args:
        original: Its own.
        keeps_decay: Whether it takes `decay` itself.
    """

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs = renamed(type(self).__name__, OPTIMIZER, kwargs)
        decay = None
        if "decay" in kwargs:
            note(f"{type(self).__name__}(decay=...)", "schedules.InverseTimeDecay(lr, 1, decay)")
            decay = kwargs["decay"] if keeps_decay else kwargs.pop("decay")
        if "epsilon" in kwargs and kwargs["epsilon"] is None:
            kwargs.pop("epsilon")
        args = tuple([float(x) if type(x) is int else x for x in args])
        original(self, *args, **kwargs)
        if decay and not keeps_decay:
            self.__dict__[DECAY] = float(decay)

    setattr(__init__, _HOOKED, True)
    return __init__


def _all_below(base: Any) -> list[type[Any]]:
    found: list[type[Any]] = [base]
    for cls in base.__subclasses__():
        found += _all_below(cls)
    return found


def let_in(base: type[Any], package: str) -> None:
    """Let the optimizers of a package take what they took.

    Args:
        base: Their base class.
        package: The package; classes from elsewhere are the user's.
    """
    for cls in _all_below(base):
        init = cls.__dict__.get("__init__")
        if init is None or hasattr(init, _HOOKED) or not cls.__module__.startswith(package):
            continue
        cls.__init__ = hooked_init(init, issubclass(cls, legacy.Legacy))


def let_ours_in() -> None:
    """The optimizers of `tf.keras.optimizers`."""
    let_in(Optimizer, "tapejax.")
    Optimizer.accept_new_variables(_noted_new_variables)
    for name, method in (("get_slot", get_slot), ("get_slot_names", get_slot_names)):
        setattr(Optimizer, name, method)
    Optimizer.lr = property(_read_rate, _write_rate)


def _noted_new_variables(optimizer: Any) -> None:
    if not isinstance(optimizer, legacy.Legacy):
        note(f"{type(optimizer).__name__} applied to new variables", "an optimizer for each model")


def _read_rate(self: Any) -> Any:
    note_direct(f"{type(self).__name__}.lr", "learning_rate")
    return self.learning_rate


def _write_rate(self: Any, value: Any) -> None:
    note_direct(f"{type(self).__name__}.lr = ...", "learning_rate = ...")
    self.learning_rate = value


def get_slot(self: Any, var: Any, slot_name: str) -> Any:
    """The slot of a variable, by its name of now or by that of TensorFlow up to 2.10."""
    note_direct(f"{type(self).__name__}.get_slot", "optimizer.variables")
    for name in (slot_name, *SLOTS.get(slot_name, ())):
        held = self._by_slot.get(name)
        if held is not None:
            return held[self._get_variable_index(var)]
    return None


def get_slot_names(self: Any) -> list[str]:
    """The names of the slots."""
    return list(self._by_slot)


# ------------------------------------------------------------------------- Keras' own optimizers
def let_keras_in(keras: Any) -> None:
    """The optimizers of a program that says `import keras`, and those that `compile` makes."""
    base = keras.optimizers.Optimizer
    let_in(base, "keras.")
    original, apply = base._get_current_learning_rate, base.apply

    @functools.wraps(original)
    def _get_current_learning_rate(self: Any) -> Any:
        rate = original(self)
        decay = self.__dict__.get(DECAY)
        if not decay or not self.__dict__.get(_APPLIES):  # decay does not show in `learning_rate`
            return rate
        return keras.ops.divide(rate, 1.0 + decay * keras.ops.cast(self._iterations, "float32"))

    @functools.wraps(apply)
    def applied(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.__dict__[_APPLIES] = True
        try:
            return apply(self, *args, **kwargs)
        finally:
            self.__dict__[_APPLIES] = False

    base._get_current_learning_rate = _get_current_learning_rate
    base.apply = applied
    base.lr = property(_read_rate, _write_rate)
    base.minimize = minimize
    base.get_weights = get_weights
    base.set_weights = set_weights


def minimize(self: Any, loss: Any, var_list: Any, name: Any = None, tape: Any = None) -> Any:
    """Take the gradients of a loss, a function or with its tape a tensor, and apply them."""
    del name
    note_direct(f"{type(self).__name__}.minimize", "tape.gradient and apply_gradients")
    tape = tape or GradientTape()
    if callable(loss):
        with tape:
            loss = loss()
    variables: Any = var_list() if callable(var_list) else var_list
    gradients: Any = tape.gradient(loss, list(variables))
    self.apply_gradients(zip(gradients, variables, strict=True))
    return self.iterations


def get_weights(self: Any) -> list[Any]:
    """The values of its variables."""
    note_direct(f"{type(self).__name__}.get_weights", "optimizer.variables")
    return [np.asarray(v) for v in self.variables]


def set_weights(self: Any, weights: Any) -> None:
    """Assign the values of its variables."""
    note_direct(f"{type(self).__name__}.set_weights", "assign to optimizer.variables")
    for variable, value in zip(self.variables, weights, strict=True):
        variable.assign(value)

"""`tf.keras.optimizers.legacy`: the classes as they were called up to TensorFlow 2.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public
from tapejax._src.keras import adaptive_optimizers, optimizer, optimizers, schedules
from tapejax._src.ops.casting import cast

_IGNORED = ("gradient_aggregator", "gradient_transformers", "jit_compile", "is_legacy_optimizer")


class Legacy(optimizer.Optimizer):
    """What all these classes share: `lr`, `decay`, integers as numbers, variables met later.

    Each takes the arguments of the class in `tf.keras.optimizers`, by keyword after its own, and
    `lr` for `learning_rate`; with `decay` the learning rate is divided by `1 + decay * iterations`.

    Differs from TensorFlow:
        The arithmetic is that of Keras 3; up to TensorFlow 2.10 Adagrad, RMSprop and Adadelta put
        epsilon elsewhere, which changes the last digits.
    """

    _numbers: ClassVar[tuple[str, ...]] = ("learning_rate", "momentum")
    _takes_new_variables = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name in _IGNORED:
            kwargs.pop(name, None)
        if "lr" in kwargs:
            kwargs.setdefault("learning_rate", kwargs.pop("lr"))
        decay = kwargs.pop("decay", None) or 0.0
        if decay < 0:
            raise ValueError(f"`decay` cannot be less than 0. Received: decay={decay}")
        if kwargs.get("weight_decay") == 0:
            kwargs["weight_decay"] = None
        names = [a for a in args if isinstance(a, str)]  # their own arguments end in the name
        kwargs |= {"name": names[0]} if names else {}
        args = tuple([a for a in args if not isinstance(a, str)])
        args = tuple([float(a) if type(a) is int else a for a in args])
        for name in self._numbers:
            if type(kwargs.get(name)) is int:
                kwargs[name] = float(kwargs[name])
        kwargs.setdefault("name", type(self).__name__)
        super().__init__(*args, **kwargs)
        self._decay = float(decay)

    @property
    def decay(self) -> float:
        """The learning rate is divided by `1 + decay * iterations`."""
        return self._decay

    @property
    def weights(self) -> list[Variable]:
        """The same as `variables`."""
        return self.variables

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer, without its state."""
        config = super().get_config()
        return config | {"decay": self._decay} if self._decay else config

    def get_slot_names(self) -> list[str]:
        """The names of the slots."""
        return list(self._by_slot)

    def get_slot(self, var: Any, slot_name: str) -> Variable | None:
        """The slot of a variable, or None if it is not there."""
        held = self._by_slot.get(slot_name)
        return None if held is None else held[self._get_variable_index(var)]


class Optimizer(Legacy):
    """Base of optimizers written for TensorFlow up to 2.15.

    A class of your own overrides either `build` and `update_step(self, gradient, variable)`, as
    from TensorFlow 2.11, or `_create_slots(self, var_list)` and
    `_resource_apply_dense(self, grad, var, apply_state)`, as before that. Gradients of
    `tf.gather` come to `_resource_apply_dense` as whole tensors.

    Args:
        name: Its name.
        **kwargs: `learning_rate`, `lr`, `decay`, `clipnorm`, `clipvalue`, `global_clipnorm` and the
            other options of `tf.keras.optimizers.Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> class Descent(tf.keras.optimizers.legacy.Optimizer):
        ...     def __init__(self, learning_rate=0.5, name="Descent", **kwargs):
        ...         super().__init__(name, **kwargs)
        ...         self._set_hyper("learning_rate", learning_rate)
        ...     def _resource_apply_dense(self, grad, var, apply_state=None):
        ...         return var.assign_sub(self._decayed_lr(var.dtype) * grad)
        >>> v = tf.Variable(1.0)
        >>> _ = Descent().apply_gradients([(tf.constant(1.0), v)])
        >>> float(v)
        0.5
    """

    _use_locking = False

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        del args  # gradient_aggregator, gradient_transformers
        kwargs.setdefault("learning_rate", kwargs.pop("lr", 0.001))
        self._hyper: dict[str, Any] = {}
        super().__init__(name=name, **kwargs)

    def build(self, variables: Sequence[Any]) -> None:
        """Create the slots."""
        if not self.built:
            super().build(variables)
            self._create_slots(list(variables))

    def _build_learning_rate(self, learning_rate: Any) -> Any:
        """The learning rate as it is held: assign the result to `self._learning_rate`."""
        if type(learning_rate) is int:
            learning_rate = float(learning_rate)
        held = self._learning_rate
        if isinstance(held, Variable) and not callable(learning_rate):
            held.assign(learning_rate)
            return held
        if isinstance(held, Variable):
            self._variables = [v for v in self._variables if v is not held]
        return learning_rate

    # ------------------------------------------------------------------ hyperparameters
    def _set_hyper(self, name: str, value: Any) -> None:
        if name == "learning_rate":
            self._learning_rate = self._build_learning_rate(value)
        elif name == "decay":
            self._decay = float(value)
        else:
            self._hyper[name] = value
            self._steps = {}

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        if name in ("learning_rate", "decay"):
            value = getattr(self, name)
        else:
            value = self._hyper[name]
            is_schedule = isinstance(value, schedules.LearningRateSchedule)
            value = value() if callable(value) and not is_schedule else value
        return value if dtype is None else cast(value, dtype)

    def __getattr__(self, name: str) -> Any:
        hyper = self.__dict__.get("_hyper", {})
        if name in hyper:
            return self._get_hyper(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _decayed_lr(self, var_dtype: Any) -> Any:
        return cast(self._current_rate(), var_dtype)

    def _serialize_hyperparameter(self, name: str) -> Any:
        if name == "learning_rate":
            return super().get_config()["learning_rate"]
        value = self._get_hyper(name)
        return float(value) if isinstance(value, (Tensor, Variable)) else value

    def get_config(self) -> dict[str, Any]:
        """The name and the options that are set; a class of your own adds its hyperparameters."""
        config = {"name": self.name}
        clips = {name: getattr(self, name) for name in ("clipnorm", "clipvalue", "global_clipnorm")}
        return config | {name: value for name, value in clips.items() if value is not None}

    # ------------------------------------------------------------------ the update, up to 2.10
    def _create_slots(self, var_list: list[Any]) -> None:
        del var_list

    def add_slot(
        self, var: Any, slot_name: str, initializer: Any = "zeros", shape: Any = None
    ) -> Variable:
        """Add a slot to a variable, or return the one it has.

        Args:
            var: The variable.
            slot_name: Name of the slot.
            initializer: "zeros", "ones", a function of shape and dtype, or a tensor.
            shape: Its shape. Default: the variable's.

        Returns:
            The slot.
        """
        held = self._by_slot.setdefault(slot_name, [None] * len(self._trainable_variables))
        n = self._get_variable_index(var)
        held.extend([None] * (n + 1 - len(held)))
        slot = held[n]
        if slot is None:
            value = initializer if isinstance(initializer, (Tensor, Variable)) else None
            slot = held[n] = self.add_variable_from_reference(
                var, slot_name, initializer, shape=shape, initial_value=value
            )
        return slot

    def add_weight(
        self, name: str, shape: Any, dtype: Any = None, initializer: Any = "zeros", **kwargs: Any
    ) -> Variable:
        """Add a variable that belongs to no model variable."""
        del kwargs
        return self.add_variable(shape, initializer, dtype, name=name)

    def _prepare(self, var_list: Sequence[Any]) -> dict[Any, dict[str, Any]]:
        state: dict[Any, dict[str, Any]] = {}
        for device, dtype in {(v.device, v.dtype.base_dtype) for v in var_list}:
            state[device, dtype] = {}
            self._prepare_local(device, dtype, state)
        return state

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        rate = self._decayed_lr(var_dtype)
        apply_state[var_device, var_dtype]["lr_t"] = rate

    def _fallback_apply_state(self, var_device: Any, var_dtype: Any) -> dict[str, Any]:
        state: dict[Any, dict[str, Any]] = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, state)
        return state[var_device, var_dtype]

    def _updates_itself(self) -> bool:
        return True

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update one variable by `_resource_apply_dense`."""
        del learning_rate
        dense: Any = getattr(self, "_resource_apply_dense", None)
        if dense is None:
            raise NotImplementedError(
                f"{type(self).__name__} must override `update_step(self, gradient, variable)` or "
                "`_resource_apply_dense(self, grad, var, apply_state)`."
            )
        if isinstance(gradient, IndexedSlices):
            gradient = as_tensor(gradient)
        if "apply_state" in dense.__code__.co_varnames:
            dense(gradient, variable, apply_state=self._prepare([variable]))
        else:
            dense(gradient, variable)


def _older(cls: type[Any]) -> type[Any]:
    """The class with the arguments and defaults it had."""
    text = f"`tf.keras.optimizers.{cls.__name__}` with `lr`, `decay` and variables met later."
    made = type(cls.__name__, (Legacy, cls), {"__doc__": text, "__module__": __name__})
    public(
        f"keras.optimizers.legacy.{cls.__name__}", f"keras.optimizers.experimental.{cls.__name__}"
    )(made)
    return made


SGD = _older(optimizers.SGD)
RMSprop = _older(optimizers.RMSprop)
Adam = _older(optimizers.Adam)
AdamW = _older(optimizers.AdamW)
Adamax = _older(adaptive_optimizers.Adamax)
Nadam = _older(adaptive_optimizers.Nadam)
Adagrad = _older(adaptive_optimizers.Adagrad)
Adadelta = _older(adaptive_optimizers.Adadelta)
Ftrl = _older(adaptive_optimizers.Ftrl)
public("keras.optimizers.legacy.Optimizer", "keras.optimizers.experimental.Optimizer")(Optimizer)

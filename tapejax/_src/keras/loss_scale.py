"""`LossScaleOptimizer`: keeps float16 gradients away from underflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.apply import multi_op
from tapejax._src.engine.convert import as_tensor, variable_behind
from tapejax._src.keras import serialization
from tapejax._src.keras.guard import Guard, GuardPlan, all_finite, next_scale
from tapejax._src.keras.optimizer import Optimizer
from tapejax._src.keras.options import DEFAULTS
from tapejax._src.keras.update import Array
from tapejax._src.ops.arithmetic import divide, multiply
from tapejax._src.ops.assignment import rebind_all
from tapejax._src.ops.casting import cast
from tapejax._src.ops.selecting import where
from tapejax._src.tape.gradient_tape import GradientTape

_INITIAL = 2.0**15
_GROWTH = 2000


class LossScaleOptimizer(Optimizer):
    """Wraps an optimizer so that small float16 gradients do not vanish.

    The loss is multiplied by a large scale before gradients are taken, and gradients are divided by
    it. A step with a gradient that is not finite is left out and halves the scale; it doubles after
    `dynamic_growth_steps` finite steps. One step is one recorded op, eager and in `tf.function`.

    Write either, with `apply_gradients` after it::

        loss = optimizer.scale_loss(loss)                # Keras 3: apply unscales
        grads = tape.gradient(loss, variables)

        loss = optimizer.get_scaled_loss(loss)           # TensorFlow up to 2.15: you unscale
        grads = optimizer.get_unscaled_gradients(tape.gradient(loss, variables))

    `apply_gradients` divides by the scale unless `get_unscaled_gradients` was called since the last
    `scale_loss`.

    Args:
        inner_optimizer: The optimizer to wrap.
        initial_scale: The scale at the start. Default: 2^15.
        dynamic_growth_steps: After how many finite steps it doubles.
        name: A name.
        **kwargs: `dynamic`, which is True by default; False keeps the scale at `initial_scale`.
            The options of every optimizer, if they have their default value.

    Raises:
        TypeError: If `inner_optimizer` is no optimizer, or is a LossScaleOptimizer.
        ValueError: If `initial_scale` or `dynamic_growth_steps` is not positive, if there is no
            `initial_scale` without `dynamic`, or for another argument.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.25))
        >>> with tf.GradientTape() as tape:
        ...     loss = optimizer.scale_loss(v * v)
        >>> _ = optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        >>> float(v), float(optimizer.loss_scale)
        (0.5, 32768.0)

    Differs from TensorFlow:
        Keras 3 has only a dynamic scale, and neither `get_scaled_loss`, `get_unscaled_gradients`
        nor `loss_scale`. The scale does not grow beyond the largest power of two in float32.

    References:
        Micikevicius et al., "Mixed precision training", ICLR 2018.
    """

    def __init__(
        self,
        inner_optimizer: Optimizer,
        initial_scale: float | None = _INITIAL,
        dynamic_growth_steps: int | None = _GROWTH,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if isinstance(initial_scale, bool):  # TensorFlow up to 2.15 had `dynamic` here
            kwargs.setdefault("dynamic", initial_scale)
            initial_scale, dynamic_growth_steps = dynamic_growth_steps, None
            initial_scale = None if initial_scale == _GROWTH else initial_scale
        dynamic = bool(kwargs.pop("dynamic", True))
        _check_arguments(inner_optimizer, initial_scale, dynamic_growth_steps, dynamic, kwargs)
        super().__init__(learning_rate=0.0, name=name)
        self.inner_optimizer = inner_optimizer
        self.initial_scale = _INITIAL if initial_scale is None else initial_scale
        self.dynamic_growth_steps = (
            _GROWTH if dynamic_growth_steps is None else dynamic_growth_steps
        )
        self.dynamic = dynamic
        # Otherwise gradients would be unscaled twice.
        inner_optimizer.loss_scale_factor = None
        self.step_counter = self._add_variable("step_counter", np.zeros((), np.int64))
        self.dynamic_scale = self._add_variable("dynamic_scale", np.float32(self.initial_scale))
        self._unscaled_outside = False

    # ------------------------------------------------------------------ applying gradients
    def build(self, variables: Sequence[Any]) -> None:
        """Create the inner optimizer's slots.

        Args:
            variables: The model variables.
        """
        if not self.built:
            self.inner_optimizer.build(variables)
            super().build(variables)

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """Update variables by their gradients, if those are all finite.

        Args:
            grads: One gradient (or None) for each variable.
            trainable_variables: The variables. Default: those the optimizer was built with.
        """
        if len(grads) == 0:
            return
        if trainable_variables is None:
            variables = self._built_variables(len(grads))
        else:
            variables = [variable_behind(v) for v in trainable_variables]
            self._prepare_for(variables)
        inner = self.inner_optimizer
        scaled = not self._unscaled_outside
        if not inner._is_one_op():
            self._apply_by_parts(grads, variables, scaled)
            return
        inner._prepare_for(variables)
        given = inner._given(grads, variables)
        inner._apply_guarded(given, Guard(self._guard_plan(scaled), self._scale_state()))

    def _guard_plan(self, scaled: bool) -> GuardPlan:
        return GuardPlan(self.dynamic_growth_steps if self.dynamic else None, scaled)

    def _scale_state(self) -> tuple[Variable, Variable]:
        return self.step_counter, self.dynamic_scale

    def _apply_by_parts(self, grads: Sequence[Any], variables: list[Any], scaled: bool) -> None:
        """The step of an optimizer that is not one op is made, and undone if it must not be."""
        dense = [as_tensor(g) for g in grads if g is not None]
        plan, state = self._guard_plan(scaled), self._scale_state()

        def check(counter: Array, scale: Array, *gradients: Array) -> tuple[Array, ...]:
            finite = all_finite(list(gradients))
            return finite, *next_scale(plan, finite, counter, scale)

        finite, *after = multi_op("check_gradients", check, plan)([*state, *dense])
        if scaled:
            grads = [None if g is None else _divided(g, self.dynamic_scale) for g in grads]
        touched = [*variables, *self.inner_optimizer.variables]
        before = [v.value() for v in touched]
        self.inner_optimizer.apply(grads, variables)
        for variable, old in zip(touched if self.dynamic else (), before, strict=self.dynamic):
            variable.assign(where(finite, variable, old))
        rebind_all(state, after)

    def scale_loss(self, loss: Any) -> Any:
        """The loss times the scale; `apply_gradients` will divide.

        Args:
            loss: A tensor, or a function without arguments that returns one.

        Returns:
            A tensor of the loss's dtype, or such a function.
        """
        self._unscaled_outside = False
        return self._scaled(loss)

    def _scaled(self, loss: Any) -> Any:
        if callable(loss):
            return lambda: self._scaled(loss())
        loss = as_tensor(loss)
        return multiply(loss, cast(self.dynamic_scale, loss.dtype))

    def get_scaled_loss(self, loss: Any) -> Any:
        """The loss times the scale.

        Args:
            loss: A tensor, or a function without arguments that returns one.

        Returns:
            A tensor of the loss's dtype, or such a function.
        """
        return self._scaled(loss)

    def get_unscaled_gradients(self, grads: Sequence[Any]) -> list[Any]:
        """Gradients divided by the scale; `apply_gradients` will not divide again.

        Args:
            grads: Gradients of a scaled loss, None among them.

        Returns:
            A list of as many.
        """
        self._unscaled_outside = True
        return [None if g is None else _divided(g, self.dynamic_scale) for g in grads]

    def minimize(self, loss: Any, var_list: Any, tape: GradientTape | None = None) -> Variable:
        """Scale a loss, take its gradients and apply them; see `Optimizer.minimize`."""
        if not callable(loss):
            raise ValueError(
                "LossScaleOptimizer.minimize takes a callable loss, which it can scale. With a "
                "tensor, write scale_loss, tape.gradient and apply_gradients."
            )
        self._unscaled_outside = False
        return super().minimize(self._scaled(loss), var_list, tape)

    # ------------------------------------------------------------------ what the inner one has
    @property
    def loss_scale(self) -> Tensor:
        """The current scale, a float32 scalar."""
        return self.dynamic_scale.value()

    @property
    def dynamic_counter(self) -> Variable:
        """The number of finite steps since the scale changed."""
        return self.step_counter

    @property
    def variables(self) -> list[Variable]:
        """Its own variables, then those of the inner optimizer."""
        return type(super().variables)([*self._variables, *self.inner_optimizer.variables])

    @property
    def iterations(self) -> Any:
        """How many updates the inner optimizer made."""
        return self.inner_optimizer.iterations

    @property
    def learning_rate(self) -> Any:
        """The inner optimizer's learning rate."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        self.inner_optimizer.learning_rate = learning_rate

    def finalize_variable_values(self, var_list: Sequence[Any]) -> None:
        """Give the variables the value of their moving averages, if those are kept."""
        self.inner_optimizer.finalize_variable_values(var_list)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer, without its state."""
        config = {
            "name": self.name,
            "inner_optimizer": serialization.serialize(self.inner_optimizer),
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
        }
        return config if self.dynamic else config | {"dynamic": False}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """The optimizer of a `get_config()`."""
        config = dict(config)
        inner = serialization.deserialize(config.pop("inner_optimizer"), custom_objects)
        return cls(inner, **config)


def _divided(gradient: Any, scale: Variable) -> Any:
    if isinstance(gradient, IndexedSlices):
        values = divide(gradient.values, cast(scale, gradient.values.dtype))
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    gradient = as_tensor(gradient)
    return divide(gradient, cast(scale, gradient.dtype))


def _check_arguments(
    inner: Any, scale: float | None, growth: int | None, dynamic: bool, kwargs: dict[str, Any]
) -> None:
    if not isinstance(inner, Optimizer) or isinstance(inner, LossScaleOptimizer):
        raise TypeError(
            "`inner_optimizer` must be a tf.keras.optimizers.Optimizer that is not itself a "
            f"LossScaleOptimizer. Received: {inner!r}"
        )
    if not dynamic and scale is None:
        raise ValueError('"initial_scale" must be specified if "dynamic" is False.')
    for name, value in (("initial_scale", scale), ("dynamic_growth_steps", growth)):
        if value is not None and value <= 0:
            raise ValueError(f"`{name}` must be positive. Received: {name}={value}")
    for name, value in kwargs.items():
        if name not in DEFAULTS:
            raise ValueError(f"LossScaleOptimizer does not support arguments: `{name}`.")
        if value != DEFAULTS[name]:
            raise ValueError(
                f"LossScaleOptimizer does not support `{name}`. Instead, set `{name}` on the "
                "`inner_optimizer`."
            )


serialization.export(LossScaleOptimizer, "keras.mixed_precision.LossScaleOptimizer")

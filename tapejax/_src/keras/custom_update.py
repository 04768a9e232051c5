"""Steps that a class of the user's defines, variable by variable, and steps on given values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.apply import multi_op
from tapejax._src.engine.convert import as_tensor
from tapejax._src.keras import transformations
from tapejax._src.keras.later_variables import LaterVariables
from tapejax._src.keras.update import ACCUMULATOR, AVERAGE, Array, Plan, Rule, step_function
from tapejax._src.ops.arithmetic import add, divide, floordiv, floormod, multiply, subtract
from tapejax._src.ops.assignment import rebind_all
from tapejax._src.ops.casting import cast
from tapejax._src.ops.comparison import equal
from tapejax._src.ops.creation import zeros_like
from tapejax._src.ops.selecting import where


class CustomUpdate(LaterVariables):
    """The part of `Optimizer` that runs a class's own `update_step`, variable by variable."""

    def _rule(self) -> Rule:
        """The transformation of this class and its hyperparameters."""
        raise NotImplementedError(
            f"{type(self).__name__} has no update rule: override `update_step(self, gradient, "
            "variable, learning_rate)`, or derive from an optimizer that has one."
        )

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update one variable; a class of your own overrides this.

        Clipping, weight decay, moving averages and accumulation are done around it. Here it is
        the update of the class it is called on, so that an override may call it.

        Args:
            gradient: The gradient, a tensor of the variable's shape.
            variable: The variable to assign.
            learning_rate: The learning rate of this step.

        Example:
            >>> import tapejax as tf
            >>> class SignSGD(tf.keras.optimizers.Optimizer):
            ...     def update_step(self, gradient, variable, learning_rate):
            ...         self.assign_sub(variable, learning_rate * tf.sign(gradient))
            >>> v = tf.Variable([1.0, 1.0])
            >>> _ = SignSGD(0.25).apply_gradients([(tf.constant([3.0, -5.0]), v)])
            >>> v.numpy().tolist()
            [0.75, 1.25]
        """
        self._update_one(self._rule(), gradient, variable, learning_rate)

    def assign(self, variable: Any, value: Any) -> None:
        """Assign a value, cast to the variable's dtype."""
        variable.assign(cast(value, variable.dtype))

    def assign_add(self, variable: Any, value: Any) -> None:
        """Add a value, cast to the variable's dtype."""
        variable.assign_add(cast(value, variable.dtype))

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtract a value, cast to the variable's dtype."""
        variable.assign_sub(cast(value, variable.dtype))

    def _apply_custom(self, given: dict[int, Tensor]) -> None:
        """One step by the optimizer's own `update_step`.

        Args:
            given: Position of a variable -> its gradient.
        """
        variables: list[Variable] = self._trainable_variables
        # State that belongs to no variable moves once a step, however many updates read it.
        self._shared_before = [v.value() for v in self._shared.values()]
        chosen = {n: variables[n] for n in given}
        gradients = dict(given)
        if self.loss_scale_factor is not None:
            gradients = {n: divide(g, self.loss_scale_factor) for n, g in gradients.items()}
        steps = self.gradient_accumulation_steps
        if steps:
            self._accumulated(steps, gradients, chosen)
        else:
            self._applied(gradients, chosen)
        if self.use_ema:
            self._averaged(variables)
        self._iterations.assign_add(1)

    def _applied(self, gradients: dict[int, Tensor], variables: dict[int, Variable]) -> None:
        clip = (self.clipnorm, self.clipvalue, self.global_clipnorm)
        order = list(gradients)
        clipped = [gradients[n] for n in order]
        if any(clip):
            clipped = multi_op("clip_gradients", _clipper(clip), clip)(clipped)
        rate = self._current_rate()
        for n in order:
            decay = self._decay_of(n)
            if decay is not None:
                variable = variables[n]
                shrink = multiply(decay, cast(rate, variable.dtype))
                variable.assign_sub(multiply(variable, shrink))
        takes_rate = _takes_rate(type(self))
        step: Any = self.update_step
        for n, gradient in zip(order, clipped, strict=True):
            step(gradient, variables[n], *((rate,) if takes_rate else ()))

    def _accumulated(
        self,
        steps: int,
        gradients: dict[int, Tensor],
        variables: dict[int, Variable],
    ) -> None:
        """Update by means in each `steps`-th call: the update is made and undone in the others."""
        due = equal(floormod(add(self._iterations, 1), steps), 0)
        sums: list[Variable] = [v for v in self._by_slot[ACCUMULATOR] if v is not None]
        for n, gradient in gradients.items():
            sums[n].assign_add(cast(gradient, sums[n].dtype))
        means = {n: divide(sums[n], steps) for n in gradients}
        skipped = {id(v) for v in (*sums, self._iterations)}
        touched = [*variables.values(), *self.variables]
        touched = [v for v in touched if id(v) not in skipped]
        before = [v.value() for v in touched]
        self._applied(means, variables)
        for variable, old in zip(touched, before, strict=True):
            variable.assign(where(due, variable, old))
        for total in sums:
            total.assign(where(due, zeros_like(total), total))

    def _averaged(self, variables: list[Variable]) -> None:
        steps, every = self.gradient_accumulation_steps, self.ema_overwrite_frequency
        count = floordiv(self._iterations, steps) if steps else self._iterations
        for variable, average in zip(variables, self._by_slot[AVERAGE], strict=True):
            if average is None:
                continue
            later = subtract(1, cast(equal(count, 0), variable.dtype))
            momentum = multiply(later, self.ema_momentum)
            rest = multiply(subtract(1.0, momentum), variable)
            average.assign(add(multiply(momentum, average), rest))
            if every:
                due = equal(floormod(add(count, 1), every), 0)
                variable.assign(where(due, average, variable))

    def _update_one(self, rule: Rule, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """The update of a built-in class on one variable, as one recorded op."""
        n = self._get_variable_index(variable)
        slots = {
            name: held[n]
            for name, held in self._by_slot.items()
            if name not in (AVERAGE, ACCUMULATOR)
        }
        plan = Plan(
            rule=rule,
            slots=tuple([(name, (slot is not None,)) for name, slot in slots.items()]),
            shared=tuple(self._shared),
            present=(True,),
            decay=(None,),
            clip=(None, None, None),
            loss_scale=None,
            ema=None,
            ema_every=None,
            accumulate=None,
        )
        state = [slot for slot in slots.values() if slot is not None]
        inputs = [*state, *self._shared_before]
        state += self._shared.values()
        step = multi_op(f"{type(self).__name__}.update_step", step_function(plan), plan)
        count = as_tensor(self.iterations)
        results = step([as_tensor(learning_rate), count, *inputs, as_tensor(gradient), variable])
        rebind_all((*state, variable), results[1:])


@functools.cache
def _takes_rate(cls: type[Any]) -> bool:
    """Whether `update_step` takes the learning rate: from TensorFlow 2.11 to 2.15 it did not."""
    kinds = [p.kind for p in inspect.signature(cls.update_step).parameters.values()]
    return len(kinds) > 3 or inspect.Parameter.VAR_POSITIONAL in kinds


def _clipper(clip: tuple[float | None, float | None, float | None]) -> Any:
    def clipped(*gradients: Array) -> tuple[Array, ...]:
        rule = transformations.clipping(*clip)
        found: Any = rule.update(gradients, rule.init(gradients))[0]
        return found

    return clipped


def stateless(
    apply: Callable[[list[Any]], None],
    state: Sequence[Variable],
    variables: Sequence[Variable],
    optimizer_variables: Sequence[Any],
    grads: Sequence[Any],
    trainable_variables: Sequence[Any],
) -> tuple[list[Any], list[Any]]:
    """`apply` on given values: they are put in the place of the variables' own for its duration."""
    for what, values, held in (
        ("optimizer_variables", optimizer_variables, state),
        ("trainable_variables", trainable_variables, variables),
        ("grads", grads, variables),
    ):
        if len(values) != len(held):
            raise ValueError(
                f"`{what}` needs one value for each of {len(held)} variables. Received: "
                f"{len(values)}."
            )
    everything = [*variables, *state]
    before = [v.tensor for v in everything]
    try:
        for variable, value in zip(
            everything, (*trainable_variables, *optimizer_variables), strict=True
        ):
            variable.hold(_fresh(as_tensor(value)))
        apply(list(grads))
        new = [v.tensor.value_array("stateless_apply") for v in everything]
    finally:
        for variable, tensor in zip(everything, before, strict=True):
            variable.hold(tensor)
    return new[: len(variables)], new[len(variables) :]


def _fresh(tensor: Tensor) -> Tensor:
    """A handle of the value that nobody else has."""
    return Tensor.concrete(tensor.array, tensor.aval, tensor.aval)

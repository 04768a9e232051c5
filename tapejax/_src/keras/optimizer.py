"""`tf.keras.optimizers.Optimizer`: gradients applied to variables as one recorded op."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.distribute.gradients import summed_over_replicas, unaggregated
from tapejax._src.engine.apply import multi_op
from tapejax._src.engine.convert import as_tensor, variable_behind
from tapejax._src.keras.custom_update import CustomUpdate, stateless
from tapejax._src.keras.functional import FunctionalUpdates
from tapejax._src.keras.guard import Guard, guarded
from tapejax._src.keras.update import AVERAGE, Plan, Rule, step_function
from tapejax._src.ops.arithmetic import divide, multiply
from tapejax._src.ops.assignment import rebind_all
from tapejax._src.tape.explanation import reasons_of_none
from tapejax._src.tape.gradient_tape import GradientTape


class Prepared(NamedTuple):
    """A step, ready to be recorded.

    Attributes:
        step: Function of [learning rate, *state, *gradients, *variables].
        order: Positions of the gradients.
        state: The iterations and the slots.
        variables: The variables it updates.
        constrained: Those of them whose constraint is applied afterwards.
    """

    step: Callable[[Sequence[Any]], list[Tensor]]
    order: list[int]
    state: list[Variable]
    variables: list[Variable]
    constrained: list[Variable]


class Optimizer(FunctionalUpdates, CustomUpdate):
    """Base of the optimizers.

    Args:
        learning_rate: A float, a `LearningRateSchedule`, or a callable without arguments.
        weight_decay: Each step first shrinks variables by `weight_decay * learning_rate`.
        clipnorm: Largest L2 norm of each gradient.
        clipvalue: Largest magnitude of each element of a gradient.
        global_clipnorm: Largest L2 norm of all gradients together.
        use_ema: Keep a moving average of the variables.
        ema_momentum: Momentum of that average, in [0, 1].
        ema_overwrite_frequency: After how many updates the variables take its value, or None.
        loss_scale_factor: What `scale_loss` multiplies by and gradients are divided by, or None.
        gradient_accumulation_steps: Over how many calls gradients are averaged, or None.
        name: A name. Default: from the class.
        **kwargs: Nothing else is accepted.

    Raises:
        ValueError: If an argument is out of its range or more than one way of clipping is given.
    """

    # ------------------------------------------------------------------ applying gradients
    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
        experimental_aggregate_gradients: bool = True,
    ) -> Variable:
        """Update variables by their gradients.

        Args:
            grads_and_vars: Pairs (gradient or None, variable).
            name: Accepted for compatibility, as the arguments after it.
            skip_gradients_aggregation: Inside of `strategy.run`: leave out summing the gradients of
                all replicas, which have been summed already.
            experimental_aggregate_gradients: The opposite, as TensorFlow called it up to 2.10.

        Returns:
            The iterations variable.

        Raises:
            ValueError: If there is no pair or no gradient at all, or a variable this optimizer was
                not built with.

        Example:
            >>> import tapejax as tf
            >>> v = tf.Variable(1.0)
            >>> optimizer = tf.keras.optimizers.SGD(0.5)
            >>> _ = optimizer.apply_gradients([(tf.constant(1.0), v)])
            >>> float(v)
            0.5
        """
        del name
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError(
                "apply_gradients got no (gradient, variable) pairs. `zip` objects can be read only "
                "once, and `model.trainable_variables` is empty before the model is built."
            )
        grads, variables = [g for g, _ in pairs], [v for _, v in pairs]
        if skip_gradients_aggregation or not experimental_aggregate_gradients:
            with unaggregated():
                self.apply(grads, variables)
        else:
            self.apply(grads, variables)
        return self._iterations

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """Update variables by their gradients.

        Args:
            grads: One gradient (or None) for each variable.
            trainable_variables: The variables. Default: those the optimizer was built with.

        Raises:
            ValueError: As `apply_gradients`, or if the numbers do not fit.
            InvalidArgumentError: If a gradient has another shape than its variable.
        """
        if len(grads) == 0:
            return
        if trainable_variables is None:
            variables = self._built_variables(len(grads))
        else:
            variables = [variable_behind(v) for v in trainable_variables]
            if not self.built or self._takes_new_variables:
                self._prepare_for(variables)
        given = self._given(grads, variables)
        prepared = self._steps.get(tuple(given))
        if prepared is not None:
            self._record_step(prepared, given)
        elif self._is_one_op():
            self._record_step(self._prepared_step(given), given)
        else:
            self._apply_custom(given)
            for n in given:
                _constrain(self._trainable_variables[n])

    def _is_one_op(self) -> bool:
        """Whether a step is one recorded op."""
        return not self._updates_itself()

    def _built_variables(self, count: int) -> list[Variable]:
        if not self.built:
            raise ValueError(
                "When passing `grads` without `variables`, the optimizer must already be built on "
                "a list of variables. Call `optimizer.build(trainable_variables)` first. "
            )
        if count != len(self._trainable_variables):
            raise ValueError(
                "When passing `grads` as a list of gradient tensors, the gradients must match "
                f"`optimizer.variables` one-to-one. Received a list of {count} gradients, but the "
                f"optimizer is tracking {len(self._trainable_variables)} trainable variables."
            )
        return self._trainable_variables

    def _given(self, grads: Sequence[Any], variables: Sequence[Any]) -> dict[int, Tensor]:
        """Position of a variable -> its gradient as a tensor, where there is one."""
        given: dict[int, Tensor] = {}
        missing: list[str] = []
        for gradient, variable in zip(grads, variables, strict=True):
            n = self._positions.get(id(variable))
            if n is None:
                raise ValueError(
                    f"Unknown variable: {variable}. This optimizer can only be called for the "
                    "variables it was originally built with. When working with a new set of "
                    "variables, you should recreate a new optimizer instance."
                )
            if gradient is None:
                missing.append(getattr(variable, "path", None) or variable.name)
            elif n in given:
                raise ValueError(
                    f"Variable {variable.name} is in the list of gradients and variables twice: "
                    "add its gradients up first."
                )
            else:
                fits = (
                    type(gradient) is Tensor and gradient.aval.shape == variable.tensor.aval.shape
                )
                given[n] = gradient if fits else _dense(gradient, variable)
        if not given:
            reasons = reasons_of_none(missing)
            because = f"\n{reasons}" if reasons else ""
            raise ValueError(f"No gradients provided for any variable.{because}")
        if missing:
            warnings.warn(
                f"Gradients do not exist for variables {missing} when minimizing the loss. If you "
                "expect them, check that the loss depends on these variables inside the tape.",
                stacklevel=4,
            )
        return summed_over_replicas(given)

    def _record_step(
        self, prepared: Prepared, given: dict[int, Tensor], guard: Sequence[Variable] = ()
    ) -> None:
        """Record the whole step as one op and let its results be the variables' values.

        This is the only place that touches the engine.
        """
        step, order, state, variables, constrained = prepared
        rate = self._learning_rate
        if type(rate) is not Variable or self._decay:
            rate = self._current_rate()
            rate = rate if isinstance(rate, (Tensor, Variable, float)) else as_tensor(rate)
        results = step([*guard, rate, *state, *[given[n] for n in order], *variables])
        rebind_all((*guard, *state, *variables), results)
        for variable in constrained:
            _constrain(variable)

    def _apply_guarded(self, given: dict[int, Tensor], guard: Guard) -> None:
        """A step that is one op and is undone if a gradient is not finite."""
        key = tuple(given), guard.plan
        prepared = self._steps.get(key)
        if prepared is None:
            prepared = self._steps[key] = self._prepared(given, guard)
        self._record_step(prepared, given, guard.state)

    def _prepared_step(self, given: dict[int, Tensor]) -> Prepared:
        """`_prepared`, remembered until a hyperparameter changes."""
        key = tuple(given)
        prepared = self._steps.get(key)
        if prepared is None:
            prepared = self._steps[key] = self._prepared(given)
        return prepared

    def _prepared(self, given: Iterable[int], guard: Guard | None = None) -> Prepared:
        """What a step on these variables needs, worked out once; see `__setattr__`."""
        present = set(given)
        rule = self._rule()
        whole = rule.whole or self.use_ema or bool(self.gradient_accumulation_steps)
        chosen = range(len(self._trainable_variables)) if whole else sorted(present)
        slots = {name: [held[n] for n in chosen] for name, held in self._by_slot.items()}
        plan = self._plan(rule, tuple([n in present for n in chosen]), chosen)
        name, made, static = f"{type(self).__name__}.apply", _step_of(plan), (plan, None)
        if guard is not None:
            made, static = guarded(made, plan, guard.plan), (plan, guard.plan)
        return Prepared(
            multi_op(name, made, static),
            [n for n in chosen if n in present],
            [self._iterations]
            + [slot for name, _ in plan.slots for slot in slots[name] if slot is not None]
            + list(self._shared.values()),
            variables := [self._trainable_variables[n] for n in chosen],
            [
                v
                for n, v in zip(chosen, variables, strict=True)
                if n in present and v.constraint is not None
            ],
        )

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; steps prepared with the old hyperparameters are forgotten.

        A variable becomes part of the optimizer's own variables.
        """
        if not name.startswith("_"):
            self._check_super_called()
            if name not in ("learning_rate", "lr"):
                object.__setattr__(self, "_steps", {})
        object.__setattr__(self, name, value)
        if isinstance(value, Variable) and all(value is not v for v in self._variables):
            self._variables.append(value)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles hold: all but what is worked out again."""
        return {**vars(self), "_steps": {}, "_positions": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._positions = {id(v): n for n, v in enumerate(self._trainable_variables)}

    def _check_super_called(self) -> None:
        if "_variables" not in self.__dict__:
            raise RuntimeError(
                f"In optimizer '{type(self).__name__}', you forgot to call `super().__init__()` as "
                "the first statement in the `__init__()` method."
            )

    def _plan(self, rule: Rule, present: tuple[bool, ...], chosen: Sequence[int]) -> Plan:
        return Plan(
            rule=rule,
            slots=tuple(
                [
                    (name, tuple([held[n] is not None for n in chosen]))
                    for name, held in self._by_slot.items()
                ]
            ),
            shared=tuple(self._shared),
            present=present,
            decay=tuple([self._decay_of(n) for n in chosen]),
            clip=(self.clipnorm, self.clipvalue, self.global_clipnorm),
            loss_scale=self.loss_scale_factor,
            ema=self.ema_momentum if self.use_ema else None,
            ema_every=self.ema_overwrite_frequency if self.use_ema else None,
            accumulate=self.gradient_accumulation_steps,
        )

    def _own_rule(self) -> Rule | None:
        return self._rule() if type(self)._rule is not Optimizer._rule else None

    def _updates_itself(self) -> bool:
        """Whether a class of the user's says how a variable is updated."""
        cls = type(self)
        own = cls.update_step is not Optimizer.update_step
        if not own and hasattr(cls, "_resource_apply_dense") and cls._rule is Optimizer._rule:
            raise NotImplementedError(
                f"{cls.__name__} defines `_resource_apply_dense`, which optimizers had up to "
                "TensorFlow 2.10. Derive it from tf.keras.optimizers.legacy.Optimizer, or override "
                "`build` and `update_step` instead."
            )
        return own

    def minimize(self, loss: Any, var_list: Any, tape: GradientTape | None = None) -> Variable:
        """Take the gradients of a loss and apply them.

        Args:
            loss: A callable returning the loss, or with `tape` the loss tensor itself.
            var_list: The variables, or a callable returning them.
            tape: The tape that recorded `loss`.

        Returns:
            The iterations variable.

        Raises:
            ValueError: If `loss` is a tensor and there is no tape.

        Differs from TensorFlow: Keras 3 has no such method; this is that of TensorFlow up to 2.15.

        Example:
            >>> import tapejax as tf
            >>> v = tf.Variable(2.0)
            >>> _ = tf.keras.optimizers.SGD(0.25).minimize(lambda: v * v, [v])
            >>> float(v)
            1.0
        """
        if not callable(loss) and tape is None:
            raise ValueError(
                "`tape` is required when a tensor loss is passed: write minimize(loss, var_list, "
                "tape=tape) with the tape that recorded it, or pass a callable."
            )
        tape = GradientTape() if tape is None else tape
        if callable(loss):
            with tape:
                loss = loss()
        variables = var_list() if callable(var_list) else var_list
        variables = variables if isinstance(variables, (list, tuple)) else [variables]
        gradients: Any = tape.gradient(loss, list(variables))
        return self.apply_gradients(zip(gradients, variables, strict=True))

    def scale_loss(self, loss: Any) -> Any:
        """The loss times `loss_scale_factor`, if there is one."""
        factor = self.loss_scale_factor
        return loss if factor is None else multiply(loss, factor)

    def get_unscaled_gradients(self, grads: Sequence[Any]) -> list[Any]:
        """Gradients divided by `loss_scale_factor`, if there is one."""
        factor = self.loss_scale_factor
        if factor is None:
            return list(grads)
        return [None if g is None else divide(g, factor) for g in grads]

    # ------------------------------------------------------------------ weight decay, averages
    def exclude_from_weight_decay(
        self, var_list: Iterable[Any] | None = None, var_names: Iterable[str] | None = None
    ) -> None:
        """Leave variables out of weight decay.

        Args:
            var_list: The variables.
            var_names: Regular expressions; variables whose name contains a match are left out.

        Raises:
            ValueError: If the optimizer has been built already.
        """
        if self.built:
            raise ValueError(
                "`exclude_from_weight_decay()` can only be configured before the optimizer is "
                "built."
            )
        self._undecayed = list(var_list or ())
        names = tuple(var_names or ())
        self._undecayed_names = re.compile("|".join(names)) if names else None

    def finalize_variable_values(self, var_list: Sequence[Any]) -> None:
        """Give the variables the value of their moving averages, if those are kept."""
        if self.use_ema:
            averages = self._by_slot[AVERAGE]
            if len(var_list) != len(averages):
                raise ValueError(
                    f"The optimizer keeps averages of {len(averages)} variables. Received: "
                    f"{len(var_list)} variables."
                )
            for variable, average in zip(var_list, averages, strict=True):
                if average is not None:
                    variable.assign(average.value())

    def stateless_apply(
        self,
        optimizer_variables: Sequence[Any],
        grads: Sequence[Any],
        trainable_variables: Sequence[Any],
    ) -> tuple[list[Any], list[Any]]:
        """`apply` as a pure function of arrays, for `jax.jit`.

        Args:
            optimizer_variables: Values of `variables`.
            grads: Gradients, one for each variable the optimizer was built with.
            trainable_variables: Values of those variables.

        Returns:
            The new values of the trainable variables, and those of the optimizer.

        Raises:
            ValueError: If the optimizer has not been built, or the numbers do not fit.

        Example:
            >>> import jax, jax.numpy as jnp
            >>> import tapejax as tf
            >>> v = tf.Variable(1.0)
            >>> optimizer = tf.keras.optimizers.SGD(0.5)
            >>> optimizer.build([v])
            >>> state = [w.numpy() for w in optimizer.variables]
            >>> [new], state = jax.jit(optimizer.stateless_apply)(state, [1.0], [1.0])
            >>> float(new), int(state[0]), float(v)
            (0.5, 1, 1.0)
        """
        if not self.built:
            raise ValueError(
                f"To call `stateless_apply`, {type(self).__name__} must be built (i.e. its "
                "variables must have been created). You can build it via "
                "`optimizer.build(trainable_variables)`."
            )
        return stateless(
            self.apply,
            self.variables,
            self._trainable_variables,
            optimizer_variables,
            grads,
            trainable_variables,
        )


def _constrain(variable: Variable) -> None:
    if variable.constraint is not None:
        variable.assign(variable.constraint(variable))


_STEPS: dict[Plan, Callable[..., list[jax.Array]]] = {}


def _step_of(plan: Plan) -> Callable[..., list[jax.Array]]:
    step = _STEPS.get(plan)
    if step is None:
        step = _STEPS[plan] = step_function(plan)
    return step


def _dense(gradient: Any, variable: Variable) -> Tensor:
    """The gradient as a tensor of the variable's shape; repeated rows of slices are added up."""
    shape = variable.tensor.aval.shape
    if isinstance(gradient, IndexedSlices):
        densify = multi_op("indexed_slices_to_dense", _densifier(shape), shape)
        return densify([gradient.values, gradient.indices])[0]
    tensor = as_tensor(gradient)
    if tensor.aval.shape != shape:
        raise InvalidArgumentError(
            f"Cannot update variable {variable.name} with shape {list(shape)} using a gradient "
            f"with shape {list(tensor.aval.shape)}, shapes must be equal."
        )
    return tensor


def _densifier(shape: tuple[int, ...]) -> Callable[..., tuple[jax.Array]]:
    def densify(values: jax.Array, indices: jax.Array) -> tuple[jax.Array]:
        return (jnp.zeros(shape, values.dtype).at[indices].add(values),)

    return densify

"""Models and optimizer steps as functions of values, so that gradients flow through the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, variable_behind
from tapejax._src.engine.registry import public


@public("experimental.functional_call")
def functional_call(model: Any, values: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a model with other values in the place of its variables.

    The values may be results of anything a tape records, such as an optimizer step; the model's
    variables are what they were when the call is over. Not for a model that another thread uses.

    Args:
        model: A Keras model or layer, a `tf.Module`, or anything that can be called and has
            `trainable_variables`.
        values: A tensor for each of `model.trainable_variables`, in their order; or a dict of
            variable names (of Keras variables: paths), in which variables may be left out.
        *args: The arguments of the call.
        **kwargs: The arguments of the call.

    Returns:
        What the model returns.

    Raises:
        ValueError: If number, name, shape or dtype does not fit.

    Example:
        >>> import tapejax as tf
        >>> class Line(tf.Module):
        ...     def __init__(self):
        ...         self.slope = tf.Variable(2.0)
        ...
        ...     def __call__(self, x):
        ...         return self.slope * x
        >>> line, x = Line(), tf.constant(3.0)
        >>> with tf.GradientTape() as outer:
        ...     with tf.GradientTape() as inner:
        ...         loss = line(x) ** 2
        ...     adapted = line.slope - 0.1 * inner.gradient(loss, line.slope)
        ...     after = tf.experimental.functional_call(line, [adapted], x)
        >>> round(float(outer.gradient(after, line.slope)), 4)  # 3 (1 - 0.1 * 2 * 9)
        -2.4

    Differs from TensorFlow:
        TensorFlow has nothing like it: a value of a variable has no history there.
    """
    pairs = _pairs(model, values)
    before = [variable.tensor for variable, _ in pairs]
    try:
        for variable, value in pairs:
            variable.tensor = value
        return model(*args, **kwargs)
    finally:
        for (variable, _), tensor in zip(pairs, before, strict=True):
            variable.tensor = tensor


def _pairs(model: Any, values: Any) -> list[tuple[Variable, Tensor]]:
    variables = list(model.trainable_variables)
    if isinstance(values, Mapping):
        named: dict[str, Any] = {_name(variable): variable for variable in variables}
        unknown = sorted(set(map(str, values)) - set(named))  # pyright: ignore[reportUnknownArgumentType]
        if unknown:
            raise ValueError(
                f"The model has no trainable variables of the names {unknown}. It has "
                f"{sorted(named)}."
            )
        chosen = [(named[name], value) for name, value in values.items()]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    else:
        given = list(values)
        if len(given) != len(variables):
            raise ValueError(
                f"{len(given)} values were given for {len(variables)} trainable variables; build "
                "the model first, and give one for each, or a dict of names."
            )
        chosen = list(zip(variables, given, strict=True))
    return [_fitting(variable, value) for variable, value in chosen]


def _name(variable: Any) -> str:
    return getattr(variable, "path", None) or variable.name.removesuffix(":0")


def _fitting(variable: Any, value: Any) -> tuple[Variable, Tensor]:
    cell: Any = variable_behind(variable)
    tensor = as_tensor(value, cell.dtype)
    if tensor.aval.shape != cell.tensor.aval.shape:
        raise ValueError(
            f"A value of shape {list(tensor.aval.shape)} was given for the variable "
            f"{_name(variable)!r} of shape {list(cell.tensor.aval.shape)}."
        )
    return cell, tensor


class FunctionalUpdates:
    """An optimizer's step on values."""

    def update(self, grads: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """One step on values instead of variables, through which gradients flow.

        Args:
            grads: A gradient, or None, for each variable the optimizer was built for.
            values: What to update: a tensor for each.

        Returns:
            The new values. Variables, slots and iterations stay as they are.

        Raises:
            ValueError: If the optimizer is not built, or numbers or shapes do not fit.
            NotImplementedError: If the optimizer has an `update_step` of its own.

        Example:
            >>> import tapejax as tf
            >>> v = tf.Variable(1.0)
            >>> optimizer = tf.keras.optimizers.SGD(0.5)
            >>> optimizer.build([v])
            >>> [float(x) for x in optimizer.update([tf.constant(1.0)], [v])], float(v)
            ([0.5], 1.0)
        """
        optimizer: Any = self
        variables: Sequence[Variable] = optimizer._trainable_variables
        if not optimizer.built or not len(grads) == len(values) == len(variables):
            raise ValueError(
                f"{len(grads)} gradients and {len(values)} values were given to an optimizer that "
                f"was built for {len(variables)} variables. Call optimizer.build(variables) first, "
                "and give one of each for each variable."
            )
        found = [_fitting(v, x)[1] for v, x in zip(variables, values, strict=True)]
        pairs = [(n, g) for n, g in enumerate(grads) if g is not None]
        given = {n: _fitting(variables[n], g)[1] for n, g in pairs}
        if not given:
            raise ValueError("No gradients provided for any variable.")
        for n, value in zip(*optimizer.step_on(given, found), strict=True):
            found[n] = value
        return found

    def step_on(
        self, given: dict[int, Tensor], values: Sequence[Tensor]
    ) -> tuple[list[int], list[Tensor]]:
        """Which values a step changes, and to what; records it without assigning anything."""
        optimizer: Any = self
        if not optimizer._is_one_op():
            raise NotImplementedError(
                f"{type(self).__name__} updates variables by its own code, which assigns them; "
                "`update` needs an optimizer of tf.keras.optimizers."
            )
        step, order, state, variables, _ = optimizer._prepared_step(given)
        places = [optimizer._positions[id(v)] for v in variables]
        rate = as_tensor(optimizer._current_rate())
        gradients = [given[n] for n in order]
        results = step([rate, *state, *gradients, *[values[n] for n in places]])
        return places, results[-len(places) :]

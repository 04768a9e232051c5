"""Gradients given by Python functions: `tf.custom_gradient` and what is built on it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from tapejax._src.core import nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.composites import CompositeGivenError, answer
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL, aside
from tapejax._src.engine.recording import boundary, record, record1
from tapejax._src.engine.registry import public
from tapejax._src.tape.barrier import BARRIER
from tapejax._src.tape.block_rule import record_rule_in_block
from tapejax._src.tape.gradient_tape import GradientTape
from tapejax._src.tape.recorded import STOP_GRADIENT

Rule = Callable[..., Any]

_kernels: dict[tuple[int, int], Kernel] = {}


def _custom_kernel(inputs: int, outputs: int) -> Kernel:
    """The identity on its last `outputs` arguments, differentiated by a rule for the others."""
    found = _kernels.get((inputs, outputs))
    if found is None:
        found = _kernels[(inputs, outputs)] = Kernel(
            "custom_gradient",
            lambda *arrays: list(arrays[inputs:]),
            node="IdentityN",
            custom=inputs,
        )
    return found


def _record_rule(inputs: Sequence[Any], outputs: Sequence[Any], rule: Rule) -> list[Tensor]:
    """Record outputs that depend on the inputs by a rule only."""
    recorder = LOCAL.recorder
    if recorder.symbolic is not None:
        return record_rule_in_block(inputs, outputs, rule)
    limit = recorder.limit
    recorder.limit = 1 << 60  # the rule must be known before the program may be cut
    try:
        results = record(_custom_kernel(len(inputs), len(outputs)), [*inputs, *outputs])
        recorder.callbacks[results[0].index] = rule
    finally:
        recorder.limit = limit
    if recorder.node.depth > limit:
        boundary(recorder)
    return results


@public("custom_gradient")
def custom_gradient(f: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Decorator: a function with its own gradient.

    Args:
        f: Function that returns `(result, grad_fn)`. `grad_fn` takes one cotangent for each result
            tensor and returns one gradient for each argument (None: not connected). If `f` reads
            trainable variables that are not arguments, `grad_fn` must accept `variables=` and
            return `(argument_gradients, variable_gradients)`.

    Returns:
        The function of the result alone.

    Raises:
        TypeError: When called, if variables are read and `grad_fn` does not accept `variables`.
        ValueError: When differentiated, if the number of gradients is wrong.

    Example:
        >>> import tapejax as tf
        >>> @tf.custom_gradient
        ... def clipped(x):
        ...     return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)
        >>> x = tf.constant(2.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = 100.0 * clipped(x)
        >>> float(tape.gradient(y, x))
        1.0

    References:
        https://www.tensorflow.org/api_docs/python/tf/custom_gradient
    """
    return custom_gradient if f is None else CustomGradient(f)


class CustomGradient:
    """A function with its own gradient: what `tf.custom_gradient` returns."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function, updated=())

    def __get__(self, instance: Any, owner: Any = None) -> CustomGradient:
        """Bind a method: the object is not an argument that gets a gradient."""
        return CustomGradient(self._function.__get__(instance, owner))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function and record its rule.

        Raises:
            TypeError: If variables are read and the gradient function does not accept them.
        """
        if _is_traced_by_jax(args):
            return self._call_inline(args, kwargs)
        watcher = GradientTape()
        try:
            with watcher:
                returned = self._function(*args, **kwargs)
            read = watcher.watched_variables()
        finally:
            watcher.discard()
        result, grad_fn = _unpacked(returned, self._function)
        flat_args = nest.flatten(args)
        given = [*flat_args, *kwargs.values()]
        variables = [v for v in read if all(v is not a for a in given)]
        if variables:
            _check_accepts_variables(grad_fn, variables)
        inputs = [_input(x) for x in [*flat_args, *variables]]
        outputs = [as_tensor(x) for x in nest.flatten(result)]
        rule = _rule(grad_fn, result, len(flat_args), variables)
        return nest.pack_sequence_as(result, _record_rule(inputs, outputs, rule))

    def _call_inline(self, args: Any, kwargs: Any) -> Any:
        """Under the user's own `jax.grad`: the rule becomes JAX's, as this tape is not asked.

        The backward rule runs the function again for its `grad_fn`, which may hold on to values
        of the forward pass only through JAX.
        """
        flat = nest.flatten(args)
        packed: list[Any] = []

        def run(arrays: Sequence[Any]) -> tuple[Any, Rule, list[Any]]:
            with aside():
                given = nest.pack_sequence_as(args, [as_tensor(x) for x in arrays])
                result, grad_fn = _unpacked(self._function(*given, **kwargs), self._function)
                packed[:] = [result]
                return result, grad_fn, [as_tensor(x).value_array() for x in nest.flatten(result)]

        @jax.custom_vjp
        def call(*arrays: Any) -> Any:
            return run(arrays)[2]

        def backward(arrays: Any, cotangents: Any) -> Any:
            result, grad_fn, _ = run(arrays)
            rule = _rule(grad_fn, result, len(flat), ())
            with aside():
                gradients = rule(*[as_tensor(c) for c in cotangents])
            return tuple([_cotangent(g, x) for g, x in zip(gradients, arrays, strict=True)])

        call.defvjp(lambda *arrays: (call(*arrays), arrays), backward)
        kernel = Kernel("custom_gradient", lambda *arrays: list(call(*arrays)))
        outs = nest.flatten(record(kernel, [as_tensor(x) for x in flat]))
        return nest.pack_sequence_as(packed[0], outs)


def _is_traced_by_jax(args: Any) -> bool:
    """Whether an argument is a value of a JAX transformation of the user's own."""
    for x in nest.flatten(args):
        value = x.tensor if isinstance(x, Variable) else x
        array = value.array if isinstance(value, Tensor) else value
        if isinstance(array, Tracer):
            return True
    return False


def _cotangent(gradient: Any, primal: Any) -> Any:
    if gradient is not None:
        return gradient.value_array()
    if jnp.issubdtype(primal.dtype, jnp.inexact):
        return jnp.zeros_like(primal)
    return np.zeros(primal.shape, jax.dtypes.float0)


def _unpacked(returned: Any, function: Callable[..., Any]) -> tuple[Any, Rule]:
    if isinstance(returned, (tuple, list)) and len(returned) == 2 and callable(returned[1]):  # pyright: ignore[reportUnknownArgumentType]
        return returned[0], returned[1]
    raise TypeError(
        f"A function decorated with tf.custom_gradient must return (result, grad_fn), but "
        f"{getattr(function, '__name__', function)!r} returned {type(returned).__name__}. Cannot "
        "iterate over a scalar tensor, and there is no gradient function to call."
    )


def _input(x: Any) -> Any:
    return x if isinstance(x, (Tensor, Variable)) else as_tensor(x)


def _check_accepts_variables(grad_fn: Rule, variables: Sequence[Variable]) -> None:
    parameters = inspect.signature(grad_fn).parameters.values()
    if any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters):
        return
    raise TypeError(
        "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
        f"variables: {variables}. Write `def grad(dy, variables=None): return argument_gradients, "
        "variable_gradients`, or pass the variables as arguments."
    )


def _rule(
    grad_fn: Rule, result: Any, count: int, variables: Sequence[Variable]
) -> Callable[..., list[Any]]:
    """The user's function as one from flat cotangents to flat tensors or None."""

    def rule(*cotangents: Any) -> list[Any]:
        packed = nest.flatten(nest.pack_sequence_as(result, list(cotangents)))
        if variables:
            gradients, of_variables = grad_fn(*packed, variables=list(variables))
            flat_variables = nest.flatten(of_variables)
            if len(flat_variables) != len(variables):
                raise ValueError(
                    f"Must return gradient for each variable from @custom_gradient grad_fn: got "
                    f"{len(flat_variables)} for {len(variables)} variables."
                )
        else:
            gradients, flat_variables = grad_fn(*packed), []
        flat = nest.flatten(gradients)
        if len(flat) != count:
            raise ValueError(
                f"custom_gradient function expected to return {count} gradients, but returned "
                f"{len(flat)} instead."
            )
        return [None if g is None else as_tensor(g) for g in [*flat, *flat_variables]]

    return rule


@public("stop_gradient")
def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The same values, taken as a constant by every tape.

    Args:
        input: Tensor of any shape and dtype.
        name: Ignored.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> import tapejax as tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * tf.stop_gradient(x)
        >>> float(tape.gradient(y, x))
        3.0
    """
    del name
    if not isinstance(input, (Tensor, Variable)):
        try:
            input = as_tensor(input)
        except CompositeGivenError as error:
            return answer("stop_gradient", stop_gradient, (input,), {}, error)
    return record1(STOP_GRADIENT, input)


@public("recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose inner values are computed again for the gradient instead of being kept.

    Args:
        f: Function of tensors, returning a structure of tensors. Variables it reads get gradients.

    Returns:
        The function, for use under a tape; differentiable to any order.

    Example:
        >>> import tapejax as tf
        >>> cube = tf.recompute_grad(lambda x: x * x * x)
        >>> x = tf.constant(2.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = cube(x)
        >>> float(tape.gradient(y, x))
        12.0

    Differs from TensorFlow:
        Second and higher derivatives are right.
    """

    @custom_gradient
    def of_inputs(*args: Any, **kwargs: Any) -> Any:
        result = f(*args, **kwargs)

        def grad(*cotangents: Any, variables: Sequence[Variable] | None = None) -> Any:
            flat = [as_tensor(a) for a in nest.flatten(args)]
            fenced = record(BARRIER, [*flat, *cotangents])
            inputs, seeds = fenced[: len(flat)], fenced[len(flat) :]
            with GradientTape() as tape:
                tape.watch([x for x in inputs if x.aval.inexact])
                again = f(*nest.pack_sequence_as(args, inputs), **kwargs)
            sources = [*inputs, *(variables or ())]
            gradients = tape.gradient(
                again, sources, output_gradients=seeds, unconnected_gradients="zero"
            )
            if variables is None:
                return gradients
            return gradients[: len(flat)], gradients[len(flat) :]

        return result, grad

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return of_inputs(*args, **kwargs)

    return decorated


@public("grad_pass_through")
def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose gradient is that of the identity: cotangents pass to its arguments.

    Args:
        f: Function with as many result tensors as arguments.

    Returns:
        The function with a straight-through gradient.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant(1.7)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = tf.grad_pass_through(tf.round)(x)
        >>> float(y), float(tape.gradient(y, x))
        (2.0, 1.0)
    """

    @custom_gradient
    def passing(*args: Any, **kwargs: Any) -> Any:
        def grad(*cotangents: Any, variables: Sequence[Variable] | None = None) -> Any:
            if variables is not None:
                return cotangents, [None] * len(variables)
            return cotangents

        return f(*args, **kwargs), grad

    return functools.wraps(f)(lambda *args, **kwargs: passing(*args, **kwargs))

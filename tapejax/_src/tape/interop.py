"""Between tapejax and raw JAX: explicit calls that are recorded, and conversions that are not."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core.avals import Aval, aval_of
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import constant_tensor, run_before_tracing
from tapejax._src.engine.extension import user_line
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record
from tapejax._src.engine.registry import public
from tapejax._src.tape.gradient_tape import GradientTape

_kernels: weakref.WeakKeyDictionary[Any, dict[Any, Kernel]] = weakref.WeakKeyDictionary()


@public("jax_call")
def jax_call(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a JAX function on tensors as one recorded op: tapes differentiate through it.

    Args:
        fn: Function of `jax.Array`s (in any pytree), traceable by `jax.jit`. Calls with the same
            function object share one compiled op, so define it once, outside the loop.
        *args: Tensors, variables and arrays become `jax.Array`s; other values are passed as they
            are and must be hashable.
        **kwargs: The same, by keyword.

    Returns:
        What `fn` returns, its arrays as tensors.

    Raises:
        TypeError: If an argument is neither an array nor hashable.

    Example:
        >>> import jax.numpy as jnp
        >>> import tapejax as tf
        >>> x = tf.constant([0.0, 1.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = tf.jax_call(jnp.square, x)
        >>> tape.gradient(y, x).numpy().tolist()
        [0.0, 2.0]
    """
    flat, tree = jax.tree.flatten((args, kwargs), is_leaf=_is_tensor)
    inputs = [_as_input(x) for x in flat if _is_array(x)]
    statics = tuple([None if _is_array(x) else static_key(x) for x in flat])
    try:
        key = (tree, statics)
        kernels = _kernels.setdefault(fn, {})
        kernel = kernels.get(key)
    except TypeError:
        raise TypeError(
            f"jax_call: every argument of {fn!r} that is not a tensor or array must be hashable, "
            f"and the function weakly referable; got {[x for x in flat if not _is_array(x)]!r}"
        ) from None
    if kernel is None:
        kernel = kernels[key] = _kernel(fn, flat, tree)
    return record(kernel, inputs)


def _kernel(fn: Callable[..., Any], flat: Sequence[Any], tree: Any) -> Kernel:
    template = [None if _is_array(x) else x for x in flat]
    dynamic = [_is_array(x) for x in flat]

    def call(*arrays: Any) -> Any:
        values = iter(arrays)
        filled = [
            next(values) if is_array else x for x, is_array in zip(template, dynamic, strict=True)
        ]
        args, kwargs = jax.tree.unflatten(tree, filled)
        return fn(*args, **kwargs)

    return Kernel(getattr(fn, "__name__", "jax_call"), call, node="JaxCall")


def static_key(x: Any) -> Any:
    """A key in which 1, 1.0 and True differ, and 0.0 and -0.0; a NaN equals itself."""
    return (float, x.hex()) if type(x) is float else (type(x), x)


def _is_tensor(x: Any) -> bool:
    return isinstance(x, (Tensor, Variable))


def _is_array(x: Any) -> bool:
    return isinstance(x, (Tensor, Variable, np.ndarray, np.generic, jax.Array))


def _as_input(x: Any) -> Any:
    if isinstance(x, (Tensor, Variable)):
        return x
    return constant_tensor(x if isinstance(x, jax.Array) else np.array(x))


# ---------------------------------------------------------------------- implicit conversions
def check_not_lost(value: Tensor | Variable, how: str) -> None:
    """Refuse a conversion that would silently cut a recording tape's path.

    Raises:
        TypeError: If a tape that is recording follows the value.
    """
    for tape in LOCAL.active:
        if isinstance(tape, GradientTape) and tape.sees(value):
            line = user_line()
            at = "" if line is None else f" at {line[0]}:{line[1]}"
            raise TypeError(
                f"A tensor of shape {value.shape} and dtype {value.dtype.name} that a recording "
                f"GradientTape follows was passed to {how}{at}: its gradient would be lost. Write "
                "tapejax.jax_call(fn, x), which records the JAX function as one op, or "
                "tf.stop_gradient(x) if no gradient is wanted."
            )


def _is_operand() -> bool:
    """Whether an operator of `jax.Array`, a method of `(self, other)`, asks the other side."""
    code = sys._getframe(2).f_code  # pyright: ignore[reportPrivateUsage]  inspect is slow
    return code.co_varnames[:2] == ("self", "other")


def _tensor_jax_array(self: Tensor) -> Any:
    if _is_operand():
        return self  # JAX does not know the class, and Python asks the tensor's own operator
    check_not_lost(self, "a JAX function")
    return _array_of(self)


def _array_of(tensor: Tensor) -> jax.Array:
    array = tensor.value_array()
    return jax.numpy.asarray(array) if isinstance(array, np.ndarray) else array


def _variable_jax_array(self: Variable) -> Any:
    if _is_operand():
        return self
    check_not_lost(self, "a JAX function")
    return _array_of(self.tensor)


def _flatten(tensor: Tensor) -> tuple[tuple[Any], None]:
    check_not_lost(tensor, "a JAX transformation")
    return (tensor.value_array(),), None


def _unflatten(_: None, children: Sequence[Any]) -> Tensor:
    (array,) = children
    if isinstance(array, Tracer):
        run_before_tracing()
    aval: Any = aval_of(array) if hasattr(array, "dtype") else _NOTHING
    return Tensor.concrete(array, aval, aval)


_NOTHING = Aval((), np.dtype(np.float32))
"""Stands for the aval of the placeholders JAX puts into pytrees it takes apart."""

jax.tree_util.register_pytree_node(Tensor, _flatten, _unflatten)
Tensor.__jax_array__ = _tensor_jax_array  # type: ignore[attr-defined]
Variable.__jax_array__ = _variable_jax_array  # type: ignore[attr-defined]

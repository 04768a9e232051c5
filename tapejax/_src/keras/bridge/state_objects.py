"""Metrics, losses and Keras' own optimizers: each update is one recorded op."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.keras.bridge.backend_functions import sees_tensor
from tapejax._src.keras.bridge.cells import GUESTS
from tapejax._src.keras.bridge.recorded_calls import INSIDE, call_as_op, is_leaf

_WRAPPED = "_tapejax_wrapped"


def is_plain() -> bool:
    """Whether Keras' own stateless code is running."""
    return bool(INSIDE.depth) or GUESTS.in_scope()


def subclasses(base: type) -> Iterator[type]:
    """The class and all below it that are Keras' own."""
    yield base
    for cls in base.__subclasses__():
        if cls.__module__.startswith("keras."):
            yield from subclasses(cls)


def hook_metrics(base: type) -> None:
    """Metrics take tensors, and their results are tensors."""
    for cls in subclasses(base):
        for name, hook in (("update_state", _updating), ("result", _reading)):
            method = cls.__dict__.get(name)
            if method is not None and not hasattr(method, _WRAPPED):
                setattr(cls, name, hook(method))


def wrap_user_metric(cls: type) -> None:
    """A user's metric: its `result` is a tensor, however it was computed."""
    method = cls.__dict__.get("result")
    if method is not None and not hasattr(method, _WRAPPED):
        cls.result = _tensor_result(method)


def _updating(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def update_state(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_plain() or not _is_one_op(self):
            return original(self, *args, **kwargs)
        args, kwargs = jax.tree.map(_number, (args, kwargs), is_leaf=is_leaf)
        name = f"keras.{type(self).__name__}.update_state"
        if not self.variables:
            original(self, *args, **kwargs)
            return None
        return call_as_op(self, name, original, args, kwargs, self.variables)[0]

    setattr(update_state, _WRAPPED, True)
    return update_state


def _is_one_op(metric: Any) -> bool:
    """Whether a metric's state is its own variables, all there already."""
    return type(metric).__name__ not in ("CompileMetrics", "MetricsList")


def _number(x: Any) -> Any:
    """Numbers that change from step to step must be inputs of the op."""
    if isinstance(x, (bool, str)) or x is None:
        return x
    return as_tensor(np.asarray(x, np.float32)) if isinstance(x, (int, float)) else x


def _reading(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def result(self: Any) -> Any:
        if is_plain() or not _is_one_op(self) or not self.variables:
            return original(self)
        name = f"keras.{type(self).__name__}.result"
        return call_as_op(self, name, original, (), {}, self.variables)[0]

    setattr(result, _WRAPPED, True)
    return result


def _tensor_result(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def result(self: Any) -> Any:
        value = original(self)
        return value if is_plain() else jax.tree.map(_tensor, value, is_leaf=is_leaf)

    setattr(result, _WRAPPED, True)
    return result


def _tensor(x: Any) -> Any:
    return as_tensor(x) if isinstance(x, (jax.Array, Variable, GUESTS.variable)) else x


def hooked_loss(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Loss.__call__`: one op for a loss of Keras' own."""

    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_plain() or not type(self).__module__.startswith("keras.src.losses."):
            return original(self, *args, **kwargs)
        flat = jax.tree.leaves((args, kwargs), is_leaf=is_leaf)
        if not sees_tensor(flat, None):
            return original(self, *args, **kwargs)
        if any(GUESTS.get_mask(x) is not None for x in flat if isinstance(x, Tensor)):
            return original(self, *args, **kwargs)
        args, kwargs = jax.tree.map(_number, (args, kwargs), is_leaf=is_leaf)
        return call_as_op(self, f"keras.{type(self).__name__}", original, args, kwargs)[0]

    return __call__


def hooked_apply(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Optimizer.apply` of Keras' own optimizers: one op a step."""

    @functools.wraps(original)
    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        if is_plain() or not sees_tensor(grads, None) or _has_own_code(self):
            return original(self, grads, trainable_variables)
        built_with = trainable_variables is None
        variables = list(self._trainable_variables if built_with else trainable_variables)
        if not self.built:
            self.build(variables)
        dense = [_dense(g) for g in grads]
        state = _unique([*variables, *self.variables])
        places = tuple([next(n for n, s in enumerate(state) if s is v) for v in variables])
        name = f"keras.{type(self).__name__}.apply"
        pure = _applied(original, places, state)
        call_as_op(self, name, pure, (dense,), {}, state, places)
        return None

    return apply


def _applied(original: Callable[..., Any], places: tuple[int, ...], state: Any) -> Any:
    references = [weakref.ref(state[n]) for n in places]

    def pure(optimizer: Any, grads: Any) -> None:
        original(optimizer, grads, [reference() for reference in references])

    return pure


def _has_own_code(optimizer: Any) -> bool:
    return not type(optimizer).__module__.startswith("keras.")


def _dense(gradient: Any) -> Any:
    return as_tensor(gradient) if isinstance(gradient, IndexedSlices) else gradient


def _unique(values: list[Any]) -> list[Any]:
    found: dict[int, Any] = {}
    for value in values:
        found.setdefault(id(value), value)
    return list(found.values())

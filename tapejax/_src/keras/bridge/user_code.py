"""Code that users write into Keras classes gets tensors, whoever calls it.

Keras calls a user's `call` with JAX arrays when it traces a model for `fit` or finds out shapes.
The code says `x.shape.as_list()` or `tf.reduce_sum(x)`, so it is given `tf.Tensor`s, and what it
returns becomes arrays again.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax

from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.function.autograph.callees import callee
from tapejax._src.keras.bridge.cells import GUESTS
from tapejax._src.keras.bridge.recorded_calls import INSIDE, is_leaf, unwrapped

_WRAPPED = "_tapejax_wrapped"


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function that is given tensors, and gives back what its caller works with."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = jax.tree.map(_tensor, (args, kwargs), is_leaf=is_leaf)
        if LOCAL.recorder.symbolic is not None:
            outs = callee(function)(*args, **kwargs)
        else:
            outs = function(*args, **kwargs)
        if INSIDE.depth or GUESTS.in_scope():
            return jax.tree.map(unwrapped, outs, is_leaf=is_leaf)
        return outs

    setattr(call, _WRAPPED, True)
    return call


def _tensor(x: Any) -> Any:
    return constant_tensor(x) if isinstance(x, jax.Array) else x


def hooked_function(original: Callable[..., Any]) -> Callable[..., Any]:
    """The constructor of a loss or metric around a function, which may be the user's."""

    @functools.wraps(original)
    def __init__(self: Any, fn: Any, *args: Any, **kwargs: Any) -> None:
        original(self, _users(fn), *args, **kwargs)

    return __init__


def _users(fn: Any) -> Any:
    """A function of the user's on tensors; anything else as it is."""
    if not inspect.isfunction(fn) or fn.__module__.startswith("keras.") or hasattr(fn, _WRAPPED):
        return fn
    return on_tensors(fn)


def hooked_get(original: Callable[..., Any]) -> Callable[..., Any]:
    """`keras.activations.get` and its like, for functions of the user's."""

    @functools.wraps(original)
    def get(identifier: Any) -> Any:
        return _users(original(identifier))

    return get


METHODS = ("call",)


def wrap_methods(cls: type) -> None:
    """Wrap the methods that a class outside Keras defines."""
    if cls.__module__.startswith("keras."):
        return
    for name in METHODS:
        method = cls.__dict__.get(name)
        if inspect.isfunction(method) and not hasattr(method, _WRAPPED):
            setattr(cls, name, on_tensors(method))

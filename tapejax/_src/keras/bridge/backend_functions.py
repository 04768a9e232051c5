"""Keras' backend functions take tensors: each call that sees one is a recorded op.

Keras computes through some 400 functions (`keras.src.backend.numpy.matmul`, ...). Code of Keras
that runs as ordinary Python in an eager program, such as a loss, a user's layer that calls
`super().call(x)` or `keras.ops.mean(x)`, reaches them with tensors. Each is replaced by one that
looks at its arguments and, where there is a tensor, records the original as an op. Without a tensor
among them the original runs: plain Keras code is unchanged.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import jax
import numpy as np

from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.keras.bridge.cells import GUESTS, read, reads_as_tensor
from tapejax._src.keras.bridge.output_spec import hooked_output_spec
from tapejax._src.keras.bridge.recorded_calls import INSIDE, call_as_op, is_leaf
from tapejax._src.ops.casting import cast as tensor_cast
from tapejax._src.tape.custom_gradient import custom_gradient as tensor_custom_gradient
from tapejax._src.tape.custom_gradient import stop_gradient as tensor_stop_gradient

SUBMODULES = ("core", "image", "linalg", "math", "nn", "numpy", "random", "rnn")
PYTHONS = frozenset(
    [
        "associative_scan", "compute_output_spec", "cond", "device_scope", "fori_loop", "map",
        "name_scope", "random_seed_dtype", "remat", "rnn", "scan", "switch", "vectorized_map",
        "while_loop", "cudnn_ok", "should_shard_at_init",
    ]
)  # fmt: skip
"""Functions of functions, and those that take no arrays."""


def sees_tensor(args: Any, kwargs: Any) -> bool:
    """Whether a tensor is among the arguments, or a variable where a tape must see it read."""
    for x in args:
        kind = type(x)
        if kind is Tensor or kind is Variable or _may_hold(x, kind):
            return True
    return bool(kwargs) and any(
        type(x) is Tensor or type(x) is Variable or _may_hold(x, type(x)) for x in kwargs.values()
    )


def _may_hold(x: Any, kind: type) -> bool:
    if kind in _PLAIN:
        return False
    if isinstance(x, (Tensor, Variable)):
        return True
    if isinstance(x, GUESTS.variable):
        return reads_tensor(x)
    if kind is list or kind is tuple:
        return sees_tensor(x, None)
    if kind is dict:
        return sees_tensor(x.values(), None)
    return False


_PLAIN = {int, float, str, bool, type(None), complex}


def program_is_recorded() -> bool:
    """Whether what is computed here must be seen by a tape or trace: not Keras' stateless code."""
    return not INSIDE.depth and not GUESTS.in_scope() and reads_as_tensor()


def reads_tensor(variable: Any) -> bool:
    """Whether reading a variable gives a tensor: by a program, or a scope that maps it to one."""
    if INSIDE.depth:
        return False
    scope = GUESTS.scope_now()
    if scope is not None:
        return isinstance(scope.get_current_value(variable), Tensor)
    return reads_as_tensor()


def recorded(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """The function that records `original` where it is called with tensors."""

    @functools.wraps(original)
    def polymorphic(*args: Any, **kwargs: Any) -> Any:
        if not sees_tensor(args, kwargs):
            return original(*args, **kwargs)
        return call_as_op(original, f"keras.{name}", _call, args, kwargs)[0]

    return polymorphic


def _call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def _call_seeded(function: Callable[..., Any], state: Any, *args: Any, **kwargs: Any) -> Any:
    return function(*args, seed=_GivenSeed.of(state), **kwargs)


# ------------------------------------------------------------- functions that convert and describe
def _convert(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def convert_to_tensor(x: Any, dtype: Any = None, sparse: Any = None, ragged: Any = None) -> Any:
        tensor = _as_tensor_if(x)
        if tensor is None:
            return original(x, dtype=dtype, sparse=sparse, ragged=ragged)
        return tensor if dtype is None else _cast(tensor, dtype)

    return convert_to_tensor


def _as_tensor_if(x: Any) -> Tensor | None:
    """The tensor that `x` is or holds; None where it is plain."""
    if isinstance(x, (Tensor, Variable)):
        return as_tensor(x)
    if isinstance(x, GUESTS.variable):
        return read(x) if reads_tensor(x) else None
    if isinstance(x, (np.ndarray, np.generic)) and program_is_recorded():
        return as_tensor(x)
    if isinstance(x, (list, tuple)) and sees_tensor(x, None):
        flat = jax.tree.map(lambda v: read(v) if isinstance(v, GUESTS.variable) else v, x)
        return as_tensor(flat)
    return None


def _cast(tensor: Tensor, dtype: Any) -> Tensor:
    return tensor_cast(tensor, as_dtype(GUESTS.standardize_dtype(dtype)))


def _casting(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def cast(x: Any, dtype: Any) -> Any:
        tensor = _as_tensor_if(x)
        return original(x, dtype) if tensor is None else _cast(tensor, dtype)

    return cast


def _is_tensor(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def is_tensor(x: Any) -> bool:
        return isinstance(x, Tensor) or original(x)

    return is_tensor


def _shape(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def shape(x: Any) -> Any:
        return tuple(x.shape) if isinstance(x, (Tensor, Variable)) else original(x)

    return shape


def _to_numpy(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def convert_to_numpy(x: Any) -> Any:
        return x.numpy() if isinstance(x, (Tensor, Variable)) else original(x)

    return convert_to_numpy


def _stop_gradient(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def stop_gradient(variable: Any) -> Any:
        tensor = _as_tensor_if(variable)
        return original(variable) if tensor is None else tensor_stop_gradient(tensor)

    return stop_gradient


def _custom_gradient(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            on_tensors = sees_tensor(args, kwargs)
            return (tensor_custom_gradient if on_tensors else original)(fun)(*args, **kwargs)

        return call

    return custom_gradient


_OWN = {
    "custom_gradient": _custom_gradient,
    "convert_to_tensor": _convert,
    "cast": _casting,
    "is_tensor": _is_tensor,
    "shape": _shape,
    "convert_to_numpy": _to_numpy,
    "stop_gradient": _stop_gradient,
}


# ------------------------------------------------------------------------------ random numbers
def drawn(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """A random function: the seed generator advances where the program can see it."""

    @functools.wraps(original)
    def draw(*args: Any, **kwargs: Any) -> Any:
        if INSIDE.depth or GUESTS.in_scope():
            return original(*args, **kwargs)
        if not reads_as_tensor() and not sees_tensor(args, kwargs):
            return original(*args, **kwargs)
        seed = kwargs.get("seed")
        if isinstance(seed, int):
            return call_as_op(original, f"keras.{name}", _call, args, kwargs)[0]
        state = (GUESTS.global_seed() if seed is None else seed).next(ordered=seed is not None)
        rest = {key: value for key, value in kwargs.items() if key != "seed"}

        return call_as_op(original, f"keras.{name}", _call_seeded, (state, *args), rest)[0]

    return draw


class _GivenSeed:
    """Makes a seed generator that gives one state, for functions that insist on a generator."""

    @staticmethod
    def of(state: Any) -> Any:
        made = GUESTS.seed_generator.__new__(GUESTS.seed_generator)
        made.next = lambda ordered=True: state
        return made


# ---------------------------------------------------------------------------------- installation
def replacement(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """What takes the place of a function of Keras' backend, or None to leave it."""
    original = getattr(module, name)
    if not isinstance(original, FunctionType) or name.startswith("_") or name in PYTHONS:
        return None
    if not original.__module__.startswith("keras.src.backend.jax."):
        return None
    if name in _OWN:
        return _OWN[name](original)
    if module.__name__.endswith(".random"):
        return drawn(name, original)
    return recorded(name, original)


def install(backend: ModuleType, is_users: Callable[[Any], bool]) -> None:
    """Replace the functions wherever a module of Keras refers to them."""
    replaced: dict[int, Any] = {}
    original = backend.compute_output_spec
    replaced[id(original)] = hooked_output_spec(original, is_users)
    for name in SUBMODULES:
        module = sys.modules[f"{backend.__name__}.{name}"]
        for function in list(vars(module)):
            new = replacement(module, function)
            if new is not None:
                replaced.setdefault(id(getattr(module, function)), new)
    for module in list(sys.modules.values()):
        if not getattr(module, "__name__", "").startswith("keras."):
            continue
        for name, value in list(vars(module).items()):
            if type(value) is FunctionType and id(value) in replaced:
                setattr(module, name, replaced[id(value)])


__all__ = ["install", "is_leaf", "program_is_recorded", "recorded", "sees_tensor"]

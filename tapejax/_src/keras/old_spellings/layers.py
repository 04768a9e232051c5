"""Layers as Keras 2 made and called them: shapes of inputs, weights by position, `training`."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from tapejax._src.core.dtypes import DType
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.keras.bridge.cells import GUESTS
from tapejax._src.keras.old_spellings.replacing import as_constructor
from tapejax._src.keras.old_spellings.uses import note

_BATCH_SHAPE = "_tapejax_batch_shape"
_WEIGHTS = "_tapejax_first_weights"
PENDING = "_tapejax_pending_weights"
_POSITIONS = ("trainable", "name", "dtype", "dynamic")


def shape_of(given: Any) -> tuple[int | None, ...]:
    """A shape however it was written: a number, a list, a `tf.TensorShape`."""
    if given is None or isinstance(given, numbers.Integral):
        return (None if given is None else int(given),)
    if isinstance(given, TensorShape):
        given = given.as_list()
    return tuple([None if size is None else int(size) for size in given])


# -------------------------------------------------------------------------------- constructors
def hooked_init(original: Callable[..., Any], model: type[Any]) -> Callable[..., Any]:
    """`Layer.__init__`, where the arguments that all layers took arrive.

    Args:
        original: Keras' own.
        model: `keras.Model`.
    """

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        _let_phase_be_missing(type(self))
        if args:
            note(f"{name}: super().__init__ by position", "super().__init__(name=...)")
            if not isinstance(self, model):
                kwargs = dict(zip(_POSITIONS, args, strict=False)) | kwargs
        if kwargs.get("trainable", True) is None:
            kwargs["trainable"] = True
        if "dynamic" in kwargs:
            kwargs.pop("dynamic")
            note(f"{name}(dynamic=...)", "leave it out, or compile(run_eagerly=True)")
        weights = kwargs.pop("weights", None)
        shape = _taken_shape(name, kwargs)
        original(self, **kwargs)
        if shape is not None:
            self.__dict__[_BATCH_SHAPE] = shape
        if weights is not None:
            note(f"{name}(weights=...)", "layer.set_weights(...) after it is built")
            self.__dict__[_WEIGHTS] = weights

    return as_constructor(__init__, original)


_PHASES = ("training", "mask")


def _let_phase_be_missing(cls: type[Any]) -> None:
    """`call(self, x, training)` of a user's class may be called without `training`."""
    owner = next((c for c in cls.__mro__ if "call" in c.__dict__), None)
    if owner is None or owner.__module__.startswith("keras."):
        return
    call = owner.__dict__["call"]
    parameters = inspect.signature(call).parameters.values()
    missing = [p.name for p in parameters if p.name in _PHASES and p.default is p.empty]
    if not missing:
        return
    places = {p.name: n for n, p in enumerate(parameters)}
    note(f"{owner.__name__}.call(self, ..., {missing[0]})", f"{missing[0]}=None")

    @functools.wraps(call)
    def with_phase(self: Any, *args: Any, **kwargs: Any) -> Any:
        for name in missing:
            if len(args) + 1 <= places[name]:
                kwargs.setdefault(name, None)
        return call(self, *args, **kwargs)

    given = [p.replace(default=None) if p.name in missing else p for p in parameters]
    kept: Any = with_phase
    kept.__signature__ = inspect.Signature(given)
    owner.call = with_phase


def _taken_shape(name: str, kwargs: dict[str, Any]) -> tuple[int | None, ...] | None:
    """The batch's shape from the arguments by which layers said it; they are taken out."""
    batch = kwargs.pop("batch_size", None)
    length = kwargs.pop("input_length", None)
    whole = kwargs.pop("batch_input_shape", None)
    if whole is not None:
        note(f"{name}(batch_input_shape=...)", "Input(batch_shape=...) as the first layer")
        kwargs.pop("input_shape", None)
        return shape_of(whole)
    if "input_dim" in kwargs:
        note(f"{name}(input_dim=...)", "Input(shape=(...,)) as the first layer")
        size = int(kwargs.pop("input_dim"))
        kwargs.pop("input_shape", None)
        return (batch, size) if length is None else (batch, int(length), size)
    if kwargs.get("input_shape") is not None:
        note(f"{name}(input_shape=...)", "Input(shape=...) as the first layer")
        return (batch, *shape_of(kwargs.pop("input_shape")))
    kwargs.pop("input_shape", None)
    if length is not None:
        note(f"{name}(input_length=...)", "Input(shape=(length,)) as the first layer")
        lengths = length if isinstance(length, (list, tuple)) else [length]
        return (batch, *lengths)
    return None


def hooked_embedding(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Embedding.__init__`: Keras 2 passes `input_length` on, to the shape of the inputs."""

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        length = kwargs.pop("input_length", None)
        weights = kwargs.pop("weights", None)
        batch, whole = kwargs.pop("batch_size", None), kwargs.pop("batch_input_shape", None)
        for name in ("input_dim", "output_dim"):
            if isinstance(kwargs.get(name), np.integer):
                kwargs[name] = int(kwargs[name])
        args = tuple([int(x) if isinstance(x, np.integer) else x for x in args])
        original(self, *args, **kwargs)
        given = {"input_length": length, "batch_input_shape": whole, "batch_size": batch}
        shape = _taken_shape("Embedding", {k: v for k, v in given.items() if v is not None})
        if shape is not None:
            self.__dict__[_BATCH_SHAPE] = shape
        if weights is not None:
            self.__dict__[_WEIGHTS] = weights if isinstance(weights, (list, tuple)) else [weights]

    return as_constructor(__init__, original)


def hooked_add(original: Callable[..., Any], keras: Any) -> Callable[..., Any]:
    """`Sequential.add`: a first layer that said the shape of its inputs gets an input layer."""

    @functools.wraps(original)
    def add(self: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
        shape = getattr(layer, "__dict__", {}).get(_BATCH_SHAPE)
        if not self._layers and shape is not None:
            dtype = "int32" if isinstance(layer, keras.layers.Embedding) else None
            original(self, keras.layers.InputLayer(batch_shape=shape, dtype=dtype), rebuild=False)
        return original(self, layer, *args, **kwargs)

    return add


def hooked_post_build(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Layer._post_build`: the weights a layer was constructed with."""

    @functools.wraps(original)
    def _post_build(self: Any) -> None:
        original(self)
        weights = self.__dict__.pop(_WEIGHTS, None)
        if weights is not None:
            for variable, value in zip(self.weights, weights, strict=True):
                variable.assign(value)

    return _post_build


def hooked_input(original: Callable[..., Any]) -> Callable[..., Any]:
    """`keras.Input`: a shape that is a number."""

    @functools.wraps(original)
    def Input(*args: Any, **kwargs: Any) -> Any:
        if args:
            kwargs = {"shape": args[0], **dict(zip(_INPUT, args[1:], strict=False)), **kwargs}
        for old, new in (("batch_input_shape", "batch_shape"), ("input_shape", "shape")):
            if old in kwargs:
                note(f"Input({old}=...)", f"Input({new}=...)")
                kwargs[new] = kwargs.pop(old)
        if isinstance(kwargs.get("shape"), numbers.Integral):
            note(f"Input({kwargs['shape']})", f"Input(shape=({kwargs['shape']},))")
        for name in ("shape", "batch_shape"):
            if kwargs.get(name) is not None:
                kwargs[name] = shape_of(kwargs[name])
        return original(**kwargs)

    return Input


_INPUT = ("batch_size", "dtype", "sparse", "batch_shape", "name", "tensor", "optional")


# ------------------------------------------------------------------------------------ weights
_WEIGHT = ("name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint")
_UNUSED = ("use_resource", "synchronization", "partitioner", "getter", "collections")


def hooked_add_weight(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Layer.add_weight(name, shape, dtype, initializer, ...)`."""

    @functools.wraps(original)
    def add_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and (args[0] is None or isinstance(args[0], str)):
            note("add_weight(name, ...) by position", "add_weight(name=..., shape=...)")
            kwargs = dict(zip(_WEIGHT, args, strict=False)) | kwargs
            args = ()
        for name in _UNUSED:
            if name in kwargs:
                note(f"add_weight({name}=...)", "leave it out: it has no effect")
                kwargs.pop(name)
        if "experimental_autocast" in kwargs:
            note("add_weight(experimental_autocast=...)", "autocast=...")
            kwargs["autocast"] = kwargs.pop("experimental_autocast")
        if kwargs.get("trainable", True) is None:
            kwargs["trainable"] = True
        if not isinstance(kwargs.get("aggregation", "none"), str):
            kwargs["aggregation"] = "none"
        if isinstance(kwargs.get("dtype"), DType):
            kwargs["dtype"] = kwargs["dtype"].name
        if kwargs.get("shape") is not None:
            if isinstance(kwargs["shape"], numbers.Integral):
                note("add_weight(shape=n)", "add_weight(shape=(n,))")
            kwargs["shape"] = shape_of(kwargs["shape"])
        return original(self, *args, **kwargs)

    return add_weight


def hooked_metric_weight(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Metric.add_weight(name, shape, aggregation, synchronization, initializer, dtype)`."""
    names = ("name", "shape", "aggregation", "synchronization", "initializer", "dtype")
    known = ("name", "shape", "initializer", "dtype")

    @functools.wraps(original)
    def add_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], str):
            note("add_weight(name, ...) by position", "add_weight(name=..., shape=...)")
            kwargs = dict(zip(names, args, strict=False)) | kwargs
            args = ()
        kwargs = {key: value for key, value in kwargs.items() if key in known}
        if isinstance(kwargs.get("dtype"), DType):
            kwargs["dtype"] = kwargs["dtype"].name
        if kwargs.get("shape") is not None:
            kwargs["shape"] = shape_of(kwargs["shape"])
        return original(self, *args, **kwargs)

    return add_weight


def hooked_add_variable(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Layer.add_variable(name, shape, ...)`, the former name of `add_weight`."""

    @functools.wraps(original)
    def add_variable(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and not isinstance(args[0], str):
            return original(self, *args, **kwargs)
        note(f"{type(self).__name__}.add_variable", "add_weight(name=..., shape=...)")
        return self.add_weight(*args, **kwargs)

    return add_variable


# ------------------------------------------------------------------------------------- calling
def hooked_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """`layer(x, True)`, and a `call(self, x, training)` that is called without it."""

    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        signature = getattr(self, "_call_signature", None)
        if signature is not None:
            args, kwargs = _by_name(self, signature, args, kwargs)
        load = self.__dict__.get(PENDING)
        if load is not None and not load.done:
            load.done = True
            original(self, *args, **kwargs)  # creates the variables
            load()
        return original(self, *args, **kwargs)

    return __call__


def _by_name(
    layer: Any, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    parameters = list(signature.parameters.values())
    named = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    for n, value in enumerate(args[1:], 1):
        if n < len(named) and not _is_input(value):
            note(f"{type(layer).__name__}(x, {value!r})", f"{named[n]}={value!r}")
            kwargs = dict(zip(named[n:], args[n:], strict=False)) | kwargs
            args = args[:n]
            break
    return args, kwargs


def _is_input(value: Any) -> bool:
    kinds = (Tensor, Variable, np.ndarray, jax.Array, GUESTS.variable, GUESTS.symbolic)
    return value is None or all(isinstance(x, kinds) for x in jax.tree.leaves(value, is_leaf=_end))


def _end(x: Any) -> bool:
    return isinstance(x, (Tensor, Variable, GUESTS.variable, GUESTS.symbolic))


# ----------------------------------------------------------------------------- recurrent layers
def hooked_initial_state(original: Callable[..., Any]) -> Callable[..., Any]:
    """`cell.get_initial_state(inputs=None, batch_size=None, dtype=None)`."""

    @functools.wraps(original)
    def get_initial_state(
        self: Any, batch_size: Any = None, inputs: Any = None, dtype: Any = None
    ) -> Any:
        if inputs is None and hasattr(batch_size, "shape") and len(batch_size.shape) > 1:
            inputs, batch_size = batch_size, None
        if inputs is not None:
            note("get_initial_state(inputs=...)", "get_initial_state(batch_size)")
            batch_size = inputs.shape[0]
        if isinstance(batch_size, Tensor):
            batch_size = int(batch_size)
        if dtype is not None:
            note("get_initial_state(dtype=...)", "get_initial_state(batch_size)")
        return original(self, batch_size=batch_size)

    return get_initial_state


_TIME_MAJOR = "_tapejax_time_major"


def hooked_rnn_init(original: Callable[..., Any]) -> Callable[..., Any]:
    """`RNN.__init__(time_major=...)`."""

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        swapped = kwargs.pop("time_major", False)
        original(self, *args, **kwargs)
        if swapped:
            note(f"{type(self).__name__}(time_major=True)", "transpose the inputs")
            self.__dict__[_TIME_MAJOR] = True

    return as_constructor(__init__, original)


def hooked_rnn_call(original: Callable[..., Any], keras: Any) -> Callable[..., Any]:
    """`RNN.call` on sequences whose first axis is time."""
    swap = keras.ops.swapaxes

    @functools.wraps(original)
    def call(self: Any, sequences: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.__dict__.get(_TIME_MAJOR):
            return original(self, sequences, *args, **kwargs)
        self.__dict__[_TIME_MAJOR] = False  # an LSTM's `call` goes on to that of RNN
        try:
            out = original(self, swap(sequences, 0, 1), *args, **kwargs)
        finally:
            self.__dict__[_TIME_MAJOR] = True
        if not self.return_sequences:
            return out
        if self.return_state:
            return (swap(out[0], 0, 1), *out[1:])
        return swap(out, 0, 1)

    return call


def hooked_rnn_shape(original: Callable[..., Any]) -> Callable[..., Any]:
    """`RNN.compute_output_shape` for sequences whose first axis is time."""

    @functools.wraps(original)
    def compute_output_shape(self: Any, sequences_shape: Any, *args: Any) -> Any:
        if not self.__dict__.get(_TIME_MAJOR):
            return original(self, sequences_shape, *args)
        time, batch, *rest = sequences_shape
        found = original(self, (batch, time, *rest), *args)
        if not self.return_sequences:
            return found
        first, *states = found if self.return_state else (found,)
        first = (first[1], first[0], *first[2:])
        return (first, *states) if self.return_state else first

    return compute_output_shape


def reset_states(self: Any, states: Any = None) -> None:
    """Set the states of stateful recurrent layers to zero, or to values."""
    if states is not None:
        given = states if isinstance(states, (list, tuple)) else [states]
        for variable, value in zip(self.states, given, strict=True):
            variable.assign(value)
        return
    if hasattr(self, "states"):
        self.reset_state()
    for layer in self._flatten_layers(include_self=False):
        if hasattr(layer, "reset_state"):
            layer.reset_state()

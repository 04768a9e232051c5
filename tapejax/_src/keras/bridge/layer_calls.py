"""Calling layers and models: one recorded op for built-in ones, ordinary Python for users' own.

A call whose whole tree of layers is Keras' own is one op, compiled with everything around it. A
layer or model with a `call` written by the user runs in Keras' own way, on tensors: its `call` is
ordinary Python, so that `tf.*` ops, prints and inner tapes work, and the built-in layers it calls
are one op each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.tracking import LISTENERS, attached
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.keras.bridge.cells import GUESTS, reads_as_tensor, share, substitute
from tapejax._src.keras.bridge.recorded_calls import (
    INSIDE,
    call_as_op,
    is_leaf,
    plain_keras,
    unwrapped,
)

_TREE = "_tapejax_tree"
_VERSION = "_tapejax_version"
_HELD = "_tapejax_held"
_BOOKKEEPING = frozenset(
    ["_called", "_loss_ids", "_losses", "_losses_override", "built", "trainable"]
)
"""Attributes whose change is no change of what a layer computes."""


class Tree:
    """The layers below a layer, and what they were like when last looked at."""

    __slots__ = ("is_built_in", "is_one_op", "layers", "state", "variables")

    def __init__(self, layer: Any) -> None:
        self.layers = list(layer._flatten_layers())
        self.is_built_in = all(map(is_built_in, self.layers))
        self.is_one_op = self.is_built_in and not has_nested_outputs(layer)
        self.variables: list[Any] = list(layer.variables)
        self.state = self.state_now()

    def state_now(self) -> tuple[Any, ...]:
        """What the compiled op of the layer depends on besides arrays."""
        return tuple([(x.__dict__.get(_VERSION, 0), x._trainable, x.built) for x in self.layers])


_WRITTEN_IN_TF = frozenset(
    ["HashedCrossing", "Hashing", "IntegerLookup", "Lambda", "StringLookup", "TextVectorization"]
)
"""Keras' classes whose `call` is the user's, or made of `tf.strings` and `tf.lookup`."""


def is_built_in(layer: Any) -> bool:
    """Whether a layer's code is Keras' own and made of its backend's functions."""
    kind = type(layer)
    return kind.__module__.startswith("keras.") and kind.__name__ not in _WRITTEN_IN_TF


def _stands_for_weight(layer: Any, name: str, value: Tensor) -> bool:
    """`layer.kernel = tensor`, as fast weights are set: calls compute with it from now on."""
    try:
        weight = getattr(layer, name)
    except AttributeError:
        return False
    if not isinstance(weight, GUESTS.variable):
        return False
    if tuple(value.shape) != tuple(weight.shape):
        raise ValueError(
            f"{layer.name}.{name} has shape {tuple(weight.shape)}, and a tensor of shape "
            f"{tuple(value.shape)} was given to stand in its place."
        )
    substitute(weight, value)
    return True


def _track(layer: Any, variable: Variable) -> None:
    """A `tf.Variable` held by a layer is one of its weights, as in TensorFlow's own Keras."""
    weights = [*layer._trainable_variables, *layer._non_trainable_variables]
    if any(getattr(weight, _HELD, None) is variable for weight in weights):
        return
    name = variable.name.removesuffix(":0").replace("/", "_")
    with plain_keras():
        weight = GUESTS.variable(
            variable.tensor.value_array(), trainable=variable.trainable, name=name
        )
    share(weight, variable)
    setattr(weight, _HELD, variable)
    layer._track_variable(weight)


def runs_user_code(function: Any) -> bool:
    """Whether a function that Keras finds out the shapes of is a user's `call`."""
    layer: Any = getattr(function, "__self__", None)
    return isinstance(layer, GUESTS.layer) and not all(map(is_built_in, layer._flatten_layers()))


def tree_of(layer: Any) -> Tree:
    """The layers below a layer; looked at again after an attribute of one of them was set."""
    tree = layer.__dict__.get(_TREE)
    if tree is None or tree.state != tree.state_now():
        tree = layer.__dict__[_TREE] = Tree(layer)
    return tree


def has_nested_outputs(layer: Any) -> bool:
    """Whether one output of a functional model is computed from another.

    Programs that ask how a prediction depends on a feature map are written so, and one op would
    hide the path between the two.
    """
    outputs = getattr(layer, "outputs", None)
    if not isinstance(outputs, (list, tuple)) or len(outputs) < 2:
        return False
    ends = {id(x) for x in outputs}
    seen: set[int] = set()
    waiting = [x for output in outputs for x in _sources(output)]
    while waiting:
        tensor = waiting.pop()
        if id(tensor) in ends:
            return True
        if id(tensor) not in seen:
            seen.add(id(tensor))
            waiting += _sources(tensor)
    return False


def _sources(tensor: Any) -> list[Any]:
    """The symbolic tensors that one is computed from."""
    history = tensor._keras_history
    nodes = history.operation._inbound_nodes
    return list(nodes[history.node_index].input_tensors) if nodes else []


def hooked_setattr(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Layer.__setattr__` that notes changes of built-in layers, which ops were compiled for."""

    @functools.wraps(original)
    def __setattr__(self: Any, name: str, value: Any) -> None:
        if isinstance(value, Tensor) and _stands_for_weight(self, name, value):
            return
        original(self, name, value)
        if type(value) is Variable:
            _track(self, value)
        if LISTENERS:  # a restored checkpoint has values for weights to come
            attached(self)
        if name not in _BOOKKEEPING and is_built_in(self) and not INSIDE.depth:
            state = self.__dict__
            state[_VERSION] = state.get(_VERSION, 0) + 1

    return __setattr__


def hooked_add_loss(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Layer.add_loss` that gives Keras' stateless code arrays."""

    @functools.wraps(original)
    def add_loss(self: Any, loss: Any) -> None:
        if INSIDE.depth or GUESTS.in_scope():
            loss = jax.tree.map(unwrapped, loss, is_leaf=is_leaf)
        original(self, loss)

    return add_loss


def with_states(original: Callable[..., Any]) -> Callable[..., Any]:
    """`RNN.variables`, which Keras leaves the states of stateful layers out of.

    As the seeds of dropout layers they are variables, but no weights.
    """

    def variables(self: Any) -> list[Any]:
        """All variables of the layer."""
        found = original(self)
        if not self.stateful or self.states is None:
            return found
        seen = {id(v) for v in found}
        return [*found, *[v for v in jax.tree.leaves(self.states) if id(v) not in seen]]

    return variables


def concerns_tapes(args: Any, kwargs: Any) -> bool:
    """Whether a call of a layer is part of a tape program, not of Keras' own stateless code."""
    if INSIDE.depth or GUESTS.in_scope():
        return False
    flat = jax.tree.leaves((args, kwargs), is_leaf=_is_end)
    if any(isinstance(x, GUESTS.symbolic) for x in flat):
        return False
    return any(isinstance(x, (Tensor, Variable, np.ndarray)) for x in flat) or reads_as_tensor()


def _is_end(x: Any) -> bool:
    return isinstance(x, (Tensor, Variable, GUESTS.variable, GUESTS.symbolic))


def hooked_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Layer.__call__` that records."""

    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not concerns_tapes(args, kwargs):
            return original(self, *args, **kwargs)
        args, kwargs = jax.tree.map(_tensors, (args, kwargs), is_leaf=_is_end)
        if not all(layer.built for layer in self._flatten_layers()):
            if not tree_of(self).is_built_in:
                return original(self, *args, **kwargs)
            _build(self, original, args, kwargs)
        if LISTENERS:
            attached(self)
        tree = tree_of(self)
        if not tree.is_one_op:
            return original(self, *args, **kwargs)
        return _recorded(self, original, tree, args, kwargs)

    return __call__


def _tensors(x: Any) -> Any:
    """Arrays are tensors where a program is recorded; token ids stay integers."""
    return as_tensor(x) if isinstance(x, (np.ndarray, Variable, jax.Array)) else x


def _build(layer: Any, original: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Let Keras create the variables, from shapes alone."""
    if getattr(layer, "stateful", False) and not kwargs and len(args) == 1:
        with plain_keras():  # its states are made of values, which needs a place outside of scopes
            layer.build(tuple(args[0].shape))
        layer.__dict__.pop(_TREE, None)
        return

    def shape_of(x: Any) -> Any:
        return GUESTS.symbolic(tuple(x.shape), x.dtype.name) if isinstance(x, Tensor) else x

    args, kwargs = jax.tree.map(shape_of, (args, kwargs), is_leaf=is_leaf)
    with plain_keras():
        GUESTS.output_spec(lambda *a, **k: original(layer, *a, **k), *args, **kwargs)
    layer.__dict__.pop(_TREE, None)


def _recorded(layer: Any, original: Callable[..., Any], tree: Tree, args: Any, kwargs: Any) -> Any:
    phase = _phase(layer, kwargs)
    if phase is not None:
        kwargs = {**kwargs, "training": phase}
    outs, losses = call_as_op(
        layer, f"keras.{type(layer).__name__}", original, args, kwargs, tree.variables, tree.state
    )
    _note_losses(layer, tree.layers, losses)
    return outs


def _phase(layer: Any, kwargs: Any) -> Any:
    """The `training` argument of the call around, where this one does not say."""
    if kwargs.get("training") is not None or not layer._call_has_training_arg:
        return None
    context = GUESTS.call_context()
    return None if context is None else context.get_value("training")


def _note_losses(layer: Any, layers: Sequence[Any], losses: Sequence[Any]) -> None:
    """Keras keeps losses on the layers, until the outermost layer is called again."""
    if GUESTS.call_context() is None:
        for sub in layers:
            sub._losses.clear()
            sub._loss_ids.clear()
    for loss in losses:
        layer._losses.append(loss)

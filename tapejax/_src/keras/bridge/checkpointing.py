"""Keras' layers, models, metrics and optimizers in `tf.train.Checkpoint`.

A layer holds its weights under their names, other layers under the attributes they are kept in, and
under their number where there is no attribute. The variables of an optimizer and of a metric are
numbered: their names count the layers that the process has made.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from tapejax._src.checkpoint.object_graph import Children, register
from tapejax._src.core.tracking import LISTENERS, attached
from tapejax._src.keras.bridge.cells import GUESTS, cell_of, get_raw, has_cell

_NOT_HELD = frozenset(["_functional", "_layers", "_metrics", "_tracker"])
"""Attributes with which Keras keeps a second account of what a layer holds."""


def install(keras: Any) -> None:
    """Make Keras' classes known to checkpoints."""
    register(keras.Metric, numbered)
    register(keras.optimizers.Optimizer, numbered)
    register(keras.Layer, of_layer)
    for cls in {keras.optimizers.Optimizer, *_below(keras.optimizers.Optimizer)}:
        if "build" in vars(cls):
            cls.build = hooked_build(cls.build)


def _below(base: type) -> Iterable[type]:
    for cls in base.__subclasses__():
        yield cls
        yield from _below(cls)


def _with_values(variables: Iterable[Any]) -> list[Any]:
    """The Keras variables that have a value: those of a layer that was not built have none."""
    return [v for v in variables if has_cell(v) or get_raw(v) is not None]


def numbered(owner: Any) -> Children:
    """The variables of an optimizer or a metric."""
    return {str(n): cell_of(v) for n, v in enumerate(owner.variables) if _with_values([v])}


def of_layer(layer: Any) -> Children:
    """What a layer holds."""
    found: Children = {}
    for name, value in vars(layer).items():
        hidden = name.startswith("_")
        if name not in _NOT_HELD and (not hidden or isinstance(value, GUESTS.layer)):
            found[name] = value
    inside = {id(x) for value in found.values() for x in _layers_in(value)}
    for n, sub in enumerate(layer._layers):
        if id(sub) not in inside:
            found[f"layer-{n}"] = sub
    for n, generator in enumerate(layer._seed_generators):
        if _with_values([generator.state]):
            found[f"seed_generator-{n}"] = cell_of(generator.state)
    for weight in _with_values([*layer._trainable_variables, *layer._non_trainable_variables]):
        name, count = weight.name, 1
        while name in found and found[name] is not cell_of(weight):
            name, count = f"{weight.name}_{count}", count + 1
        found[name] = cell_of(weight)
    return found


def _layers_in(value: Any) -> Iterable[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _layers_in(item)
    elif isinstance(value, dict):
        for item in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _layers_in(item)
    else:
        yield value


def hooked_build(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Optimizer.build`, after which a restored checkpoint may have values for its variables."""

    @functools.wraps(original)
    def build(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if LISTENERS:
            attached(self)
        return result

    return build

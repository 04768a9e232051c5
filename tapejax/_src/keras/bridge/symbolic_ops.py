"""`tf.*` ops on Keras' symbolic tensors, as programs for Keras 2 wrote: each becomes a layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import SymbolicArgument
from tapejax._src.engine.registry import PUBLIC
from tapejax._src.keras.bridge.cells import GUESTS
from tapejax._src.keras.bridge.recorded_calls import is_leaf

_PLACE = "tensor"
_DTYPE = "dtype"


def make_layer(keras: Any) -> type:
    """The class of layers that call one op.

    Args:
        keras: The Keras module.
    """

    @keras.saving.register_keras_serializable(package="tapejax")
    class TensorFlowOp(keras.layers.Layer):
        """Calls a `tf.*` op on the tensors of a functional model."""

        def __init__(self, op: str, template: Any, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.op = op
            self.template = template

        def call(self, inputs: Any) -> Any:
            """Run the op.

            Args:
                inputs: The tensors among its arguments, in order.
            """
            values = iter(inputs if isinstance(inputs, (list, tuple)) else [inputs])
            args, kwargs = _filled(self.template, values)
            return PUBLIC[self.op](*args, **kwargs)

        def get_config(self) -> dict[str, Any]:
            """The arguments to make an equal layer."""
            return {**super().get_config(), "op": self.op, "template": self.template}

    return TensorFlowOp


def _filled(template: Any, values: Any) -> Any:
    if isinstance(template, dict) and set(template) == {_PLACE}:
        return next(values)
    if isinstance(template, dict) and set(template) == {_DTYPE}:
        return as_dtype(template[_DTYPE])
    if isinstance(template, dict):
        return {key: _filled(value, values) for key, value in template.items()}
    if isinstance(template, (list, tuple)):
        return [_filled(value, values) for value in template]
    return template


def _template(x: Any, tensors: list[Any]) -> Any:
    if isinstance(x, GUESTS.symbolic):
        tensors.append(x)
        return {_PLACE: True}
    if isinstance(x, DType):
        return {_DTYPE: x.name}
    if isinstance(x, dict):
        return {key: _template(value, tensors) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_template(value, tensors) for value in x]
    return x


def converter(keras: Any) -> Callable[[Any, Any], Tensor]:
    """What `tf` ops do with a symbolic tensor of Keras."""
    layer = make_layer(keras)

    def apply(op: str, args: Any, kwargs: Any) -> Any:
        tensors: list[Any] = []
        template = _template([list(args), dict(kwargs)], tensors)
        held = jax.tree.leaves((args, kwargs), is_leaf=is_leaf)
        if any(isinstance(x, Variable) for x in held):
            raise TypeError(
                f"tf.{op} of a symbolic Keras tensor and a tf.Variable: a functional model does "
                "not know the variable. Write a layer that has it, with the op in its `call`."
            )
        name = op.rpartition(".")[2].strip("_")
        return layer(op, template, name=keras.src.utils.naming.auto_name(f"tf_{name}"))(
            tensors if len(tensors) > 1 else tensors[0]
        )

    def convert(value: Any, dtype: Any) -> Tensor:
        del dtype
        raise SymbolicArgument(value, apply)

    return convert

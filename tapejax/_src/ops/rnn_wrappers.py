"""Names of `tf.nn` that wrap recurrent cells, which belong to Keras."""

from __future__ import annotations

from typing import Any

from tapejax._src.engine.registry import public


class _Wrapper:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs
        raise NotImplementedError(
            f"tf.nn.{type(self).__name__} is not supported: it wraps the cells of TensorFlow 1. "
            "Use a layer of tf.keras.layers, such as tf.keras.layers.RNN with cells of your own, "
            "whose `call` may drop, add or place what it likes."
        )


@public("nn.RNNCellDropoutWrapper")
class RNNCellDropoutWrapper(_Wrapper):
    """Refused; see `tf.keras.layers.RNN` and the `dropout` of its cells.

    Raises:
        NotImplementedError: Always.
    """


@public("nn.RNNCellResidualWrapper")
class RNNCellResidualWrapper(_Wrapper):
    """Refused; add the input to the output in a cell of `tf.keras.layers.RNN`.

    Raises:
        NotImplementedError: Always.
    """


@public("nn.RNNCellDeviceWrapper")
class RNNCellDeviceWrapper(_Wrapper):
    """Refused; one program runs on one device or mesh.

    Raises:
        NotImplementedError: Always.
    """

"""Keras' TensorBoard callback writes by tapejax's `tf.summary`, without TensorFlow."""

from __future__ import annotations

import warnings
from typing import Any


def install(keras: Any, library: Any) -> None:
    """Let the callback use another library than TensorFlow.

    Args:
        keras: The Keras module.
        library: What has TensorFlow's names.
    """

    def model_summary(name: str, data: Any, step: Any = None) -> Any:
        return write_model(library, name, data, step)

    module = keras.src.callbacks.tensorboard
    module.TensorBoard.summary = property(lambda self: library.summary)
    module.keras_model_summary = model_summary


def write_model(library: Any, name: str, data: Any, step: Any = None) -> Any:
    """Write a Keras model's configuration, of which TensorBoard draws its layers.

    Args:
        library: What has TensorFlow's names.
        name: The name of the summary.
        data: The model; one without a configuration is passed over with a warning.
        step: The step.

    Returns:
        Whether it was recorded.
    """
    metadata = library.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "graph_keras_model"
    metadata.plugin_data.content = b"1"  # the version of the format
    try:
        configuration = data.to_json()
    except Exception as error:  # noqa: BLE001  any error of the user's get_config
        warnings.warn(f"The model is not shown in TensorBoard: {error}", stacklevel=2)
        return False
    with library.summary.experimental.summary_scope(name, "graph_keras_model") as (tag, _):
        return library.summary.write(tag, configuration, step, metadata)

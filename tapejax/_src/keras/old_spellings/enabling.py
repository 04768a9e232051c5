"""Switching the old spellings on: for this process, Keras loaded or not."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from tapejax._src.keras.backend.settings import Phase
from tapejax._src.keras.bridge import guest
from tapejax._src.keras.bridge.cells import GUESTS
from tapejax._src.keras.old_spellings import layers, models, optimizers, tables, weight_files
from tapejax._src.keras.old_spellings.replacing import (
    add_attributes,
    let_arguments_in,
    let_function_arguments_in,
    replace_everywhere,
)
from tapejax._src.keras.old_spellings.uses import USES

_DONE = "_tapejax_old_spellings"


def enable_legacy_keras(report: bool = True) -> None:
    """Let this process spell Keras as Keras 2 did, as `tapejax run` does.

    Arguments, methods and names that Keras 3 no longer takes work again: `Adam(lr=...)`,
    `Dense(input_dim=...)`, `model.predict_classes`, `add_weight("kernel", shape)`, weight files of
    any name and so on. Keras is changed for all code of the process, and cannot be changed back.

    Args:
        report: Whether to list each use on stderr when the process ends, one a line: file and line,
            what was written, and what is written now.

    Example, not run here because it cannot be undone:

        tf.compat.enable_legacy_keras()
        optimizer = tf.keras.optimizers.Adam(lr=0.5)
    """
    if report:
        USES.show_at_exit()
    if USES.enabled:
        return
    USES.enabled = True
    optimizers.let_ours_in()
    guest.ON_LOAD.append(install_if_enabled)
    if guest.is_loaded():
        guest.load()


def install_if_enabled(keras: Any) -> None:
    """Let Keras take old spellings, if they are switched on; once."""
    if not USES.enabled or hasattr(keras, _DONE):
        return
    setattr(keras, _DONE, True)
    _hook_layers(keras)
    _hook_recurrent(keras)
    _hook_models(keras)
    _hook_files(keras)
    _hook_others(keras)
    optimizers.let_keras_in(keras)


def _below(base: Any) -> list[type[Any]]:
    found: list[type[Any]] = [base]
    for cls in base.__subclasses__():
        found += _below(cls)
    return found


def _hook_layers(keras: Any) -> None:
    layer = keras.Layer
    embedding = keras.layers.Embedding
    embedding.__init__ = layers.hooked_embedding(embedding.__init__)
    layer.__init__ = layers.hooked_init(layer.__init__, keras.Model)
    for cls in _below(layer)[1:]:
        if cls.__module__.startswith("keras.") and not issubclass(cls, (keras.Model, embedding)):
            rows = [row for base in cls.__mro__ for row in tables.LAYERS.get(base.__name__, ())]
            let_arguments_in(cls, rows)
    layer.__call__ = layers.hooked_call(layer.__call__)
    layer.add_weight = layers.hooked_add_weight(layer.add_weight)
    layer.add_variable = layers.hooked_add_variable(layer.add_variable)
    layer._post_build = layers.hooked_post_build(layer._post_build)
    add_attributes(layer, models.LAYER)
    keras.Sequential.add = layers.hooked_add(keras.Sequential.add, keras)
    replace_everywhere(keras.Input, layers.hooked_input(keras.Input))


def _hook_recurrent(keras: Any) -> None:
    names = keras.layers
    for cell in (names.LSTMCell, names.GRUCell, names.SimpleRNNCell, names.StackedRNNCells):
        cell.get_initial_state = layers.hooked_initial_state(cell.get_initial_state)
    rnn = names.RNN
    rnn.get_initial_state = layers.hooked_initial_state(rnn.get_initial_state)
    rnn.reset_states = layers.reset_states
    for cls in _below(rnn):
        if not cls.__module__.startswith("keras."):
            continue
        if "__init__" in cls.__dict__ and cls is not rnn:
            cls.__init__ = layers.hooked_rnn_init(cls.__init__)
        if "call" in cls.__dict__:
            cls.call = layers.hooked_rnn_call(cls.call, keras)
    rnn.__init__ = layers.hooked_rnn_init(rnn.__init__)
    rnn.compute_output_shape = layers.hooked_rnn_shape(rnn.compute_output_shape)


def _hook_models(keras: Any) -> None:
    model = keras.Model
    functional = keras.src.models.functional.Functional
    models.MEAN[:] = [keras.metrics.Mean]
    models.MEAN_OF[:] = [keras.ops.mean]
    add_attributes(model, models.MODEL)
    add_attributes(keras.Sequential, models.SEQUENTIAL)
    let_function_arguments_in(model, "fit", tables.FIT)
    let_function_arguments_in(model, "evaluate", tables.EVALUATE)
    let_function_arguments_in(model, "predict", tables.EVALUATE)
    let_function_arguments_in(model, "compile", tables.COMPILE)
    keras.src.trainers.trainer.Trainer.compile = model.compile  # Keras asks whether it is its own
    for name in ("train_on_batch", "test_on_batch"):
        setattr(model, name, models.hooked_on_batch(getattr(model, name), name))
    layer = keras.Layer
    layer.add_loss = functional.add_loss = models.hooked_add_loss(layer.add_loss, keras)
    functional.call = models.hooked_functional_call(functional.call)
    model.metrics_names = property(models.metrics_names)
    models.let_reset_states_in(keras.Metric)
    keras.Metric.add_weight = layers.hooked_metric_weight(keras.Metric.add_weight)


def _hook_files(keras: Any) -> None:
    model = keras.Model
    model.save_weights = weight_files.hooked_save_weights(model.save_weights)
    model.load_weights = weight_files.hooked_load_weights(model.load_weights)
    model.save = weight_files.hooked_save(model.save)
    saving = keras.src.saving.saving_api
    replace_everywhere(saving.save_model, weight_files.hooked_save(saving.save_model))
    functions = inspect.getmembers(keras.losses, inspect.isfunction)
    short = {"mse", "mae", "mape", "msle", "mean_squared_error", "mean_absolute_error"}
    given = {name: function for name, function in functions if name in short}
    given |= {"mse": keras.losses.mean_squared_error, "mae": keras.losses.mean_absolute_error}
    replace_everywhere(saving.load_model, weight_files.hooked_load(saving.load_model, given))
    checkpoint = keras.callbacks.ModelCheckpoint
    checkpoint.__init__ = weight_files.hooked_model_checkpoint(checkpoint.__init__)
    checkpoint.on_epoch_end = weight_files.hooked_epoch_end(checkpoint.on_epoch_end)


def _hook_others(keras: Any) -> None:
    for table, module in (
        (tables.REGULARIZERS, keras.regularizers),
        (tables.CALLBACKS, keras.callbacks),
    ):
        for name, rows in table.items():
            let_arguments_in(getattr(module, name), rows)
    for cls in _below(keras.Loss):
        if cls.__module__.startswith("keras."):
            let_arguments_in(cls, tables.LOSSES)
    sequence = keras.utils.PyDataset
    sequence._warn_if_super_not_called = _complete_sequence
    phase_hook(keras.Layer)


def _complete_sequence(self: Any) -> None:
    """A `Sequence` of Keras 2 calls no constructor of its base."""
    for name, value in (("_workers", 1), ("_use_multiprocessing", False), ("_max_queue_size", 10)):
        self.__dict__.setdefault(name, value)


def phase_hook(layer: Any) -> None:
    """`set_learning_phase`: the outermost call that does not say `training` takes it."""
    original = layer.__call__

    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        outermost = Phase.value is not None and GUESTS.call_context() is None
        if outermost and self._call_has_training_arg and kwargs.get("training") is None:
            kwargs["training"] = bool(Phase.value)
        return original(self, *args, **kwargs)

    layer.__call__ = __call__

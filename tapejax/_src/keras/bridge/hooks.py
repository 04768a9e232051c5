"""Everything tapejax changes in Keras, in one place, with reasons.

`keras.Variable`
    `_value` becomes a property: the value may be pending in a recorded program (`cells.py`).
    `value` and the operators give a tensor under a tape or in a `tf.function`.
    `__array__` takes NumPy's `copy`.
    `_initialize_with_initializer` computes a first value at once, outside tapes and traces.
the functions of `keras.src.backend`
    take tensors (`backend_functions.py`), and find out shapes without symbolic sizes in users' code
    (`output_spec.py`).
`keras.Layer`
    `__call__`: a call of built-in layers is one op (`layer_calls.py`).
    `__setattr__`: what was compiled for a layer is not used after it changed.
    `add_loss`: a loss from a user's `call` is an array where Keras traces a model.
    `__init_subclass__`: a user's `call` gets tensors (`user_code.py`).
`keras.layers.RNN`
    `variables`: with the states of stateful layers, which Keras' JAX trainer forgets otherwise.
`keras.activations.get`, `keras.regularizers.get`, `keras.constraints.get`
    Functions of the user's get tensors (`user_code.py`).
`tf.Tensor`
    `_keras_mask`, which programs delete from a result: Keras keeps masks of tensors that take no
    attributes in a table, where this looks.
`keras.optimizers.Optimizer`
    `build` of each class: a restored checkpoint may have values for the variables
    (`checkpointing.py`); so may it after `Layer.__setattr__` and the first `Layer.__call__`.
metrics, losses, optimizers
    `Metric.update_state` and `result`, `Loss.__call__`, `Optimizer.apply`: one op each
    (`state_objects.py`). Losses and metrics that are the user's functions get tensors.
`keras.Model`
    `train_step` and its like, `make_train_function` and its like, `compile`, `_get_jax_state`,
    `_symbolic_build`: steps written as for TensorFlow (`training.py`).
    `fit`, `evaluate`, `predict` and the methods for one batch take datasets and tensors
    (`feeding.py`).

Old spellings, only where `tapejax run` or `tapejax.compat.enable_legacy_keras()` switched them on
(`../old_spellings/enabling.py`):
`keras.Layer`
    `__init__` of all layers: arguments by their former names, shapes of inputs, NumPy's integers.
    `__call__`: `layer(x, True)`; a `training` without default. `add_weight`: `name` by position.
    `_post_build`: the weights a layer was given. `add_loss`: symbolic tensors, functions.
    Added: `add_variable`, `add_update`, `add_metric`, `output_shape` and their like.
`keras.Sequential.add`, `keras.Input`
    Input layers for shapes that layers were given; shapes that are numbers.
recurrent layers and cells
    `time_major`, `get_initial_state(inputs=...)`, `reset_states`.
`keras.Model`
    `fit`, `evaluate`, `predict`, `compile`, `train_on_batch`: arguments without effect.
    `save`, `save_weights`, `load_weights`, `load_model`, `ModelCheckpoint`: files of any name.
    `Functional.call`: losses that are symbolic tensors. `metrics_names`: as Keras 2 lists them.
    Added: `predict_classes`, `fit_generator`, `reset_states` and their like.
metrics, losses, regularizers, callbacks, optimizers, `PyDataset`
    `reset_states`, `reduction="auto"`, `l=`, `epsilon=`, `period=`, `lr`, `decay`, `minimize`; a
    `Sequence` that does not call its base.
`_get_current_learning_rate`, `_post_build`, `_metrics` and `_tracker` are private: Keras has no
public place where a rate decays, a layer has just been built, or a metric comes after building.
`keras.src.utils`
    `module_utils.tensorflow`, what preprocessing layers and dataset utilities are written in, is
    tapejax unless TensorFlow itself is loaded, and its backend is the JAX one.
    `backend_utils.in_tf_graph` knows that a `tf.function` of ours is no graph of TensorFlow's.

Each replacement looks whether a tensor, a tape or a `tf.function` is involved and otherwise does
what Keras does, so that plain Keras code in the same process is unchanged. Keras has no public hook
for variables and backend functions, so these are reached through `keras.src`.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine import convert
from tapejax._src.keras.bridge import (
    backend_functions,
    checkpointing,
    feeding,
    layer_calls,
    state_objects,
    symbolic_ops,
    tensorboard,
    training,
    user_code,
)
from tapejax._src.keras.bridge.cells import (
    GUESTS,
    cell_of,
    get_raw,
    has_cell,
    read,
    reads_as_tensor,
    set_raw,
)
from tapejax._src.keras.bridge.recorded_calls import INSIDE, plain_keras

_LOCK = threading.Lock()
DONE = "_tapejax_hooks"
"""The attribute that marks a Keras with hooks."""
_MASK = "_keras_mask"


def install(keras: Any) -> None:
    """Put the hooks into the Keras module, once."""
    with _LOCK:
        if hasattr(keras, DONE):
            return
        _name_guests(keras)
        _hook_variables(keras.Variable)
        backend_functions.install(keras.src.backend.jax, layer_calls.runs_user_code)
        layer = keras.Layer
        layer.__call__ = layer_calls.hooked_call(layer.__call__)
        layer.add_loss = layer_calls.hooked_add_loss(layer.add_loss)
        layer.__setattr__ = layer_calls.hooked_setattr(layer.__setattr__)
        layer.__init_subclass__ = classmethod(_subclass(layer, user_code.wrap_methods))
        keras.layers.RNN.variables = property(layer_calls.with_states(layer.variables.fget))
        _hook_training(keras)
        checkpointing.install(keras)
        _stand_in(keras)
        setattr(Tensor, _MASK, property(_mask_of, fdel=_delete_mask))
        for cls in _below(layer):
            user_code.wrap_methods(cls)
        for cls in _below(keras.Metric):
            state_objects.wrap_user_metric(cls)
        for module in (keras.activations, keras.regularizers, keras.constraints):
            _take_user_functions(keras, module)
        convert.CONVERTERS.append((keras.KerasTensor, symbolic_ops.converter(keras)))
        setattr(keras, DONE, True)


def _take_user_functions(keras: Any, module: Any) -> None:
    """`activation=tf.nn.relu` and its like: the function gets tensors."""
    get = user_code.hooked_get(module.get)
    name = module.__name__.rpartition(".")[2]
    for place in (module, getattr(keras.src, name)):
        place.get = get


def _stand_in(keras: Any) -> None:
    utils, backend = keras.src.utils, keras.src.backend
    ours = importlib.import_module("tapejax")
    if sys.modules.get("tensorflow", ours) is not ours:
        return
    lazy = utils.module_utils.tensorflow
    lazy.module, lazy._available = ours, True
    tensorboard.install(keras, ours)
    sys.modules["keras.src.backend.tensorflow"] = backend.jax
    backend.tensorflow = backend.jax
    state = utils.backend_utils.global_state
    utils.backend_utils.in_tf_graph = lambda: bool(
        state.get_global_attribute("in_tf_graph_scope", False)
    )


def _mask_of(tensor: Tensor) -> Any:
    table = GUESTS.masks()
    if table is None or id(tensor) not in table:
        raise AttributeError(f"'Tensor' object has no attribute '{_MASK}'")
    return table[id(tensor)]


def _delete_mask(tensor: Tensor) -> None:
    _mask_of(tensor)
    del GUESTS.masks()[id(tensor)]


def _below(base: type) -> list[type]:
    """The classes a program derived before the hooks came."""
    found: list[type] = []
    for cls in base.__subclasses__():
        found += _below(cls)
        if not cls.__module__.startswith("keras."):
            found.append(cls)
    return found


def _hook_training(keras: Any) -> None:
    state_objects.hook_metrics(keras.Metric)
    keras.Metric.__init_subclass__ = classmethod(
        _subclass(keras.Metric, state_objects.wrap_user_metric)
    )
    keras.Loss.__init_subclass__ = classmethod(_subclass(keras.Loss, user_code.wrap_methods))
    for cls in (
        keras.src.losses.losses.LossFunctionWrapper,
        keras.src.metrics.reduction_metrics.MeanMetricWrapper,
    ):
        cls.__init__ = user_code.hooked_function(cls.__init__)
    keras.Loss.__call__ = state_objects.hooked_loss(keras.Loss.__call__)
    optimizer = keras.optimizers.Optimizer
    optimizer.apply = state_objects.hooked_apply(optimizer.apply)
    model = keras.Model
    for name in training.STEPS:
        setattr(model, name, training.hooked_step(getattr(model, name), name))
        maker = f"make_{name.replace('_step', '_function')}"
        setattr(model, maker, training.hooked_make_function(getattr(model, maker), name))
    adapter = feeding.adapter_class(keras)
    for name in feeding.METHODS:
        setattr(model, name, feeding.hooked_feeding(getattr(model, name), adapter))
    model._get_jax_state = training.hooked_state(model._get_jax_state)
    model.compile = training.hooked_compile(model.compile, keras)
    keras.src.trainers.trainer.Trainer.compile = model.compile  # Keras asks whether it is its own
    model._symbolic_build = training.hooked_build(model._symbolic_build)


def _name_guests(keras: Any) -> None:
    backend = keras.src.backend
    state = backend.common.global_state
    GUESTS.variable = keras.Variable
    GUESTS.layer = keras.Layer
    GUESTS.symbolic = keras.KerasTensor
    GUESTS.scope = keras.StatelessScope
    GUESTS.get_mask = backend.get_keras_mask
    GUESTS.set_mask = backend.set_keras_mask
    GUESTS.masks = lambda: state.get_global_attribute(f"{_MASK}_dict")
    GUESTS.in_scope = backend.in_stateless_scope
    GUESTS.standardize_dtype = backend.standardize_dtype
    GUESTS.output_spec = backend.compute_output_spec  # Keras' own: sizes are known there
    GUESTS.scope_now = backend.common.stateless_scope.get_stateless_scope
    GUESTS.call_context = lambda: state.get_global_attribute("current_call_ctx")
    GUESTS.global_seed = keras.src.random.seed_generator.global_seed_generator
    GUESTS.seed_generator = keras.random.SeedGenerator


def _hook_variables(variable: Any) -> None:
    original = variable.value.fget

    def value(self: Any) -> Any:
        if backend_functions.program_is_recorded():
            return read(self)
        return original(self)

    initialize = variable._initialize_with_initializer

    def _initialize_with_initializer(self: Any, initializer: Any) -> None:
        with plain_keras():
            initialize(self, initializer)

    variable._initialize_with_initializer = _initialize_with_initializer
    variable._value = property(get_raw, set_raw)
    variable.value = property(value, doc=variable.value.__doc__)

    variable.__array__ = _array
    for name in OPERATORS:
        if name in variable.__dict__ or hasattr(variable, name):
            setattr(variable, name, _operator(name, getattr(variable, name)))

    def converted(self: Any, dtype: Any) -> Any:
        return convert.as_tensor(self.value if INSIDE.depth else read(self), dtype)

    convert.CONVERTERS.append((variable, converted))
    convert.CELLS.append((variable, cell_of))


def _array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """`keras.Variable.__array__`, with the `copy` that NumPy asks for."""
    array = np.asarray(read(self) if has_cell(self) else self.value, dtype)
    return array.copy() if copy else array


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_OTHERS = ("getitem", "neg", "abs", "lt", "le", "gt", "ge")
OPERATORS = (
    *[f"__{side}{name}__" for name in _BINARY for side in ("", "r")],
    *[f"__{name}__" for name in _OTHERS],
)


def _operator(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of a variable that has a cell gives a tensor; in Keras' own code an array."""

    @functools.wraps(original)
    def operate(self: Any, *others: Any) -> Any:
        if state_objects.is_plain() or not (has_cell(self) or reads_as_tensor()):
            return original(self, *others)
        return getattr(read(self), name)(*map(as_tensor_operand, others))

    return operate


def as_tensor_operand(other: Any) -> Any:
    """The other side of an operator: a Keras variable as the tensor it holds."""
    return read(other) if isinstance(other, GUESTS.variable) else other


def _subclass(base: Any, wrap: Callable[[type], None]) -> Any:
    inherited = base.__dict__.get("__init_subclass__")

    def __init_subclass__(cls: type, **kwargs: Any) -> None:
        if inherited is None:
            super(base, cls).__init_subclass__(**kwargs)
        else:
            inherited.__func__(cls, **kwargs)
        wrap(cls)

    return __init_subclass__

"""`fit`, `evaluate` and `predict` of models with code of the user's, by TensorFlow's rules.

Keras' JAX trainer passes all state through `train_step(self, state, data)`. TensorFlow programs
write `train_step(self, data)` with a tape in it. Such a step is a `tf.function` here that reads and
assigns the variables, so the trainer has no state to carry and is given none. A model of built-in
layers with Keras' own step is trained by Keras natively.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.function.autograph.callees import callee
from tapejax._src.function.function import function
from tapejax._src.keras.bridge.layer_calls import tree_of
from tapejax._src.keras.bridge.recorded_calls import is_leaf
from tapejax._src.keras.optimizer import Optimizer
from tapejax._src.keras.schedules import LearningRateSchedule
from tapejax._src.tape.gradient_tape import GradientTape

STEPS = ("train_step", "test_step", "predict_step")


def takes_data_only(model: Any, name: str) -> bool:
    """Whether a step is written as in TensorFlow: `train_step(self, data)`."""
    method = getattr(type(model), name)
    if hasattr(method, _OURS):
        return False
    return len(inspect.signature(method).parameters) == 2


def runs_on_tensors(model: Any, name: str) -> bool:
    """Whether a model's step runs as a program of tensors, not in Keras' stateless way."""
    method = getattr(type(model), name)
    if not hasattr(method, _OURS):
        return takes_data_only(model, name)
    return not tree_of(model).is_built_in or _loss_is_own(model)


def _loss_is_own(model: Any) -> bool:
    for name in ("compute_loss", "compute_metrics"):
        if not getattr(type(model), name).__module__.startswith("keras."):
            return True
    return False


_OURS = "_tapejax_step"


# ------------------------------------------------------------------------------ TensorFlow's steps
def _train(model: Any, data: Any) -> Any:
    """TensorFlow's `Model.train_step`."""
    x, y, sample_weight = unpacked(data)
    with GradientTape() as tape:
        y_pred = _called(model, x, True)
        loss = model.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight)
        model._loss_tracker.update_state(loss, sample_weight=_batch_size(x))
        scaled = loss if model.optimizer is None else model.optimizer.scale_loss(loss)
    variables = model.trainable_variables
    if variables:
        optimizer: Any = model.optimizer
        gradients = tape.gradient(scaled, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return model.compute_metrics(x, y, y_pred, sample_weight=sample_weight)


def _test(model: Any, data: Any) -> Any:
    """TensorFlow's `Model.test_step`."""
    x, y, sample_weight = unpacked(data)
    y_pred = _called(model, x, False)
    loss = model.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=False)
    model._loss_tracker.update_state(loss, sample_weight=_batch_size(x))
    return model.compute_metrics(x, y, y_pred, sample_weight=sample_weight)


def _predict(model: Any, data: Any) -> Any:
    """TensorFlow's `Model.predict_step`."""
    return _called(model, unpacked(data)[0], False)


_DEFAULTS = {"train_step": _train, "test_step": _test, "predict_step": _predict}


def _called(model: Any, x: Any, training: bool) -> Any:
    return model(x, training=training) if model._call_has_training_arg else model(x)


def unpacked(data: Any) -> tuple[Any, Any, Any]:
    """`(x, y, sample_weight)` of what a dataset yields."""
    if not isinstance(data, (tuple, list)):
        return data, None, None
    x, y, weight = (*data, None, None, None)[:3]
    return x, y, weight


def _batch_size(x: Any) -> Tensor:
    first = next(leaf for leaf in jax.tree.leaves(x, is_leaf=is_leaf) if leaf is not None)
    return as_tensor(np.float32(first.shape[0]))


def hooked_step(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Keras' step, which also takes data alone: `super().train_step(data)`."""

    @functools.wraps(original)
    def step(self: Any, *args: Any) -> Any:
        return original(self, *args) if len(args) == 2 else _DEFAULTS[name](self, *args)

    setattr(step, _OURS, True)
    return step


# ------------------------------------------------------------------------------ the trainer's hooks
def hooked_make_function(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`Model.make_train_function` and its like."""
    attribute = name.replace("_step", "_function")
    count = {"train_step": 4, "test_step": 3, "predict_step": 2}[name]

    @functools.wraps(original)
    def make(self: Any, force: bool = False) -> Any:
        if not runs_on_tensors(self, name):
            return original(self, force)
        if getattr(self, attribute) is None or force:
            setattr(self, attribute, _stepper(self, name, count))
        return getattr(self, attribute)

    return make


def _stepper(model: Any, name: str, count: int) -> Callable[..., Any]:
    run = functools.partial(_run_step, weakref.ref(model), name)
    compiled = run if model.run_eagerly else function(run)
    repeats = model.steps_per_execution

    def step(state: Any, iterator: Any) -> Any:
        del state
        outputs: list[Any] = []
        for n in range(repeats):
            data = next(iterator, None) if n else next(iterator)
            if data is None:
                break
            outputs.append(compiled(jax.tree.map(_fed, data, is_leaf=is_leaf)))
        result = outputs[-1]
        if name == "predict_step":
            result = jax.tree.map(_joined, *outputs, is_leaf=is_leaf)
        return result, tuple([[] for _ in range(count)])

    return step


def _run_step(reference: Any, name: str, data: Any) -> Any:
    step = getattr(reference(), name)
    return step(data) if LOCAL.recorder.symbolic is None else callee(step)(data)


def _fed(x: Any) -> Any:
    """What the data adapter gives, as a tensor; 64-bit numbers as Keras feeds them, in 32 bits."""
    if isinstance(x, (Tensor, Variable)) or not hasattr(x, "dtype"):
        return x
    narrow = {"float64": np.float32, "int64": np.int32}.get(x.dtype.name)
    if narrow is None or isinstance(x, jax.Array):
        return as_tensor(x)
    return as_tensor(x.astype(narrow))


def _joined(*outputs: Any) -> Any:
    return np.concatenate([np.asarray(x) for x in outputs])


def hooked_state(original: Callable[..., Any]) -> Callable[..., Any]:
    """The trainer's state: none for a step that assigns the variables itself."""

    @functools.wraps(original)
    def _get_jax_state(self: Any, **kwargs: Any) -> Any:
        if kwargs.get("optimizer_variables"):
            name, count = "train_step", 4
        elif kwargs.get("metrics_variables"):
            name, count = "test_step", 3
        else:
            name, count = "predict_step", 2
        if not runs_on_tensors(self, name):
            return original(self, **kwargs)
        return tuple([[] for _ in range(count)])

    return _get_jax_state


def hooked_build(original: Callable[..., Any]) -> Callable[..., Any]:
    """Keras' symbolic first step: not for a user's step, which may never use `call`."""

    @functools.wraps(original)
    def _symbolic_build(self: Any, iterator: Any = None, data_batch: Any = None) -> None:
        if takes_data_only(self, "train_step"):
            return
        original(self, iterator=iterator, data_batch=data_batch)

    return _symbolic_build


def hooked_compile(original: Callable[..., Any], keras: Any) -> Callable[..., Any]:
    """`Model.compile`, which takes tapejax's optimizers too."""

    @functools.wraps(original)
    def compile(self: Any, optimizer: Any = "rmsprop", *args: Any, **kwargs: Any) -> None:
        original(self, keras_optimizer(optimizer, keras), *args, **kwargs)

    return compile


def keras_optimizer(optimizer: Any, keras: Any) -> Any:
    """Keras' optimizer of the same class and settings, for its trainer; others as they are."""
    if not isinstance(optimizer, Optimizer):
        return optimizer
    cls = getattr(keras.optimizers, type(optimizer).__name__, None)
    if cls is None or not type(optimizer).__module__.startswith("tapejax."):
        raise TypeError(
            f"Model.compile cannot use the optimizer {type(optimizer).__name__!r}: Keras trains "
            "with classes it knows. Use one of tf.keras.optimizers, derive yours from "
            "keras.optimizers.Optimizer, or apply it in a `train_step` of your own."
        )
    settings = {key: value for key, value in optimizer.settings().items() if key != "decay"}
    if isinstance(settings["learning_rate"], LearningRateSchedule):
        settings["learning_rate"] = _keras_schedule(settings["learning_rate"], keras)
    made = cls(**settings)
    made.__dict__["_decay"] = vars(optimizer).get("_decay", 0.0)
    return made


def _keras_schedule(schedule: Any, keras: Any) -> Any:
    """A schedule as Keras' own: called with the step, a value of JAX while Keras traces."""

    class Schedule(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step: Any) -> Any:
            return as_tensor(schedule(as_tensor(step))).value_array("use")

        def get_config(self) -> dict[str, Any]:
            return schedule.get_config()

    Schedule.__name__ = type(schedule).__name__
    return Schedule()

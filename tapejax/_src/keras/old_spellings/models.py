"""Methods that models, layers and metrics had in Keras 2."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.keras.bridge.cells import GUESTS
from tapejax._src.keras.old_spellings import layers
from tapejax._src.keras.old_spellings.uses import note

_LOSSES = "_tapejax_symbolic_losses"


# ------------------------------------------------------------------------------ methods of models
def predict_proba(self: Any, x: Any, batch_size: Any = None, verbose: Any = 0) -> Any:
    """The probabilities that a model predicts."""
    return self.predict(x, batch_size=batch_size, verbose=verbose)


def predict_classes(self: Any, x: Any, batch_size: Any = 32, verbose: Any = 0) -> Any:
    """The classes that a model predicts."""
    found = self.predict(x, batch_size=batch_size, verbose=verbose)
    return np.argmax(found, -1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")


def fit_generator(
    self: Any, generator: Any, steps_per_epoch: Any = None, epochs: int = 1, **kwargs: Any
) -> Any:
    """Train on what a generator yields."""
    return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, **_silent(kwargs))


def evaluate_generator(self: Any, generator: Any, steps: Any = None, **kwargs: Any) -> Any:
    """Evaluate on what a generator yields."""
    return self.evaluate(generator, steps=steps, **_silent(kwargs))


def predict_generator(self: Any, generator: Any, steps: Any = None, **kwargs: Any) -> Any:
    """Predict from what a generator yields."""
    return self.predict(generator, steps=steps, **_silent(kwargs))


def _silent(kwargs: dict[str, Any]) -> dict[str, Any]:
    unused = ("max_queue_size", "workers", "use_multiprocessing", "pickle_safe", "max_q_size")
    return {key: value for key, value in kwargs.items() if key not in unused}


def nothing(self: Any, *args: Any) -> None:
    """What graphs needed."""
    del self, args


MODEL: dict[str, tuple[Any, str]] = {
    "predict_classes": (predict_classes, "np.argmax(model.predict(x), axis=-1)"),
    "predict_proba": (predict_proba, "model.predict"),
    "fit_generator": (fit_generator, "model.fit"),
    "evaluate_generator": (evaluate_generator, "model.evaluate"),
    "predict_generator": (predict_generator, "model.predict"),
    "_make_predict_function": (nothing, "leave it out"),
    "_make_train_function": (nothing, "leave it out"),
    "_make_test_function": (nothing, "leave it out"),
    "reset_states": (layers.reset_states, "layer.reset_state() of each recurrent layer"),
}


SEQUENTIAL: dict[str, tuple[Any, str]] = {
    "input": (property(lambda self: _single(self.inputs)), "model.inputs[0]"),
    "output": (property(lambda self: _single(self.outputs)), "model.outputs[0]"),
}


def _single(tensors: Any) -> Any:
    if not tensors:
        raise AttributeError("The model has not been built: its first layer says no input shape.")
    return tensors[0] if len(tensors) == 1 else tensors


# ------------------------------------------------------------------------------ methods of layers
def add_update(self: Any, updates: Any, inputs: Any = None) -> None:
    """Run updates that are functions; others have happened."""
    del self, inputs
    for update in updates if isinstance(updates, (list, tuple)) else [updates]:
        if callable(update):
            update()


def add_metric(self: Any, value: Any, name: str | None = None, aggregation: Any = "mean") -> None:
    """Follow the mean of a value from the `call` of a layer."""
    del aggregation
    if isinstance(value, GUESTS.symbolic) and not _is_called(self):
        raise NotImplementedError(
            "add_metric of a symbolic tensor: pass a metric to model.compile, or call "
            "self.add_metric(value, name=...) in the `call` of a layer."
        )
    name = name or "metric"
    metric = next((m for m in self._metrics if m.name == name), None)
    if metric is None:
        metric = _mean_class()(name=name)
        self._tracker.unlock()
        self._metrics.append(metric)
        self._tracker.lock()
    if not isinstance(value, GUESTS.symbolic):
        metric.update_state(value)


def _is_called(layer: Any) -> bool:
    context = GUESTS.call_context()
    return context is not None and layer is not None


def _mean_class() -> Any:
    return MEAN[0]


MEAN: list[Any] = []
"""`keras.metrics.Mean`, once Keras is loaded."""


def _shape(tensors: Any) -> Any:
    if isinstance(tensors, (list, tuple)):
        return [tuple(x.shape) for x in tensors]
    return tuple(tensors.shape)


def _node(self: Any, n: int, side: str) -> Any:
    found = getattr(self._inbound_nodes[n], side)
    return found[0] if len(found) == 1 else list(found)


LAYER: dict[str, tuple[Any, str]] = {
    "add_update": (add_update, "assign in `call`"),
    "add_metric": (add_metric, "a keras.metrics.Mean of the layer, updated in `call`"),
    "updates": (property(lambda self: []), "leave it out: updates happen in `call`"),
    "input_shape": (property(lambda self: _shape(self.input)), "layer.input.shape"),
    "output_shape": (property(lambda self: _shape(self.output)), "layer.output.shape"),
    "get_input_at": (lambda self, n: _node(self, n, "input_tensors"), "layer.input"),
    "get_output_at": (lambda self, n: _node(self, n, "output_tensors"), "layer.output"),
    "get_input_shape_at": (
        lambda self, n: _shape(_node(self, n, "input_tensors")),
        "layer.input.shape",
    ),
    "get_output_shape_at": (
        lambda self, n: _shape(_node(self, n, "output_tensors")),
        "layer.output.shape",
    ),
    "inbound_nodes": (property(lambda self: self._inbound_nodes), "layer._inbound_nodes"),
    "outbound_nodes": (property(lambda self: self._outbound_nodes), "layer._outbound_nodes"),
}


# ------------------------------------------------------------------------------------- metrics
def reset_states(self: Any) -> None:
    """The former name of `reset_state`."""
    note(f"{type(self).__name__}.reset_states", "reset_state")
    _RESET[0](self)


_RESET: list[Callable[[Any], None]] = []


def let_reset_states_in(metric: Any) -> None:
    """`Metric.reset_states`, called or overridden."""
    original = metric.reset_state
    _RESET[:] = [lambda self: self.reset_state()]

    @functools.wraps(original)
    def reset_state(self: Any) -> None:
        own = type(self).reset_states
        if own is reset_states or self.__dict__.get("_tapejax_resetting"):
            original(self)
            return
        note(f"{type(self).__name__}.reset_states", "reset_state")
        self.__dict__["_tapejax_resetting"] = True
        try:
            own(self)
        finally:
            self.__dict__["_tapejax_resetting"] = False

    metric.reset_state = reset_state
    metric.reset_states = reset_states


# ------------------------------------------------------- losses that are symbolic tensors, training
def hooked_add_loss(original: Callable[..., Any], keras: Any) -> Callable[..., Any]:
    """`model.add_loss(tensor)` of a functional model, and of a layer's function."""

    @functools.wraps(original)
    def add_loss(self: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs or args:  # inputs
            note("add_loss(loss, inputs)", "add_loss(loss)")
        outside = isinstance(self, keras.Model) and GUESTS.call_context() is None
        given = list(loss) if isinstance(loss, (list, tuple)) else [loss]
        if not (outside and any(isinstance(x, GUESTS.symbolic) for x in given)):
            return original(self, [x() if callable(x) else x for x in given])
        note("model.add_loss(symbolic tensor)", "self.add_loss(...) in the `call` of a layer")
        losses = [*self.__dict__.get(_LOSSES, ((), None))[0], *given]
        outputs = self.outputs if isinstance(self.outputs, (list, tuple)) else [self.outputs]
        with_losses = keras.Model(self.inputs, [*outputs, *losses])
        self.__dict__[_LOSSES] = (losses, with_losses)
        self._tracker.unlock()
        self._tapejax_with_losses = with_losses
        self._tracker.lock()
        return None

    return add_loss


def hooked_functional_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Functional.call`, which adds the losses that are symbolic tensors."""

    @functools.wraps(original)
    def call(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        found = self.__dict__.get(_LOSSES)
        if found is None:
            return original(self, inputs, *args, **kwargs)
        losses, with_losses = found
        values = original(with_losses, inputs, *args, **kwargs)
        self.add_loss([_mean(x) for x in values[-len(losses) :]])
        outs = values[: -len(losses)]
        return outs if isinstance(self._outputs_struct, (list, tuple)) else outs[0]

    return call


def _mean(x: Any) -> Any:
    return x.mean() if hasattr(x, "mean") else MEAN_OF[0](x)


MEAN_OF: list[Any] = []
"""`keras.ops.mean`, once Keras is loaded."""


def hooked_on_batch(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`train_on_batch` and `test_on_batch` with `reset_metrics`."""

    @functools.wraps(original)
    def method(self: Any, *args: Any, reset_metrics: bool = True, **kwargs: Any) -> Any:
        if reset_metrics:
            return original(self, *args, **kwargs)
        note(f"{name}(reset_metrics=False)", "update metrics of your own")
        self.reset_metrics = lambda: None
        try:
            return original(self, *args, **kwargs)
        finally:
            del self.reset_metrics

    return method


def metrics_names(self: Any) -> list[str]:
    """`"loss"`, then the names of the metrics that `compile` was given."""
    names = ["loss"]
    for metric in self.metrics:
        inner = getattr(metric, "metrics", None)
        if type(metric).__name__ == "CompileMetrics":
            names += [m.name for m in inner or ()]
        elif metric.name != "loss":
            names.append(metric.name)
    return names

"""`tf.compat.v1.train` and `tf.compat.v1.losses`, as eager programs use them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.keras.adaptive_optimizers import Adagrad
from tapejax._src.keras.optimizers import SGD, Adam
from tapejax._src.keras.version_1 import library
from tapejax._src.ops import event_messages
from tapejax._src.tape.gradient_tape import GradientTape


class TrainOptimizer:
    """Base of the optimizers of `tf.compat.v1.train`: a loss is a function without arguments.

    Args:
        made: The optimizer that computes the updates.
        name: Its name.
    """

    def __init__(self, made: Any, name: str) -> None:
        self._made = made
        self._name = name

    def get_name(self) -> str:
        """Its name."""
        return self._name

    def compute_gradients(
        self, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any
    ) -> list[tuple[Any, Variable]]:
        """Pairs of gradient and variable.

        Args:
            loss: A function without arguments that returns the loss.
            var_list: The variables; those that the loss reads if None.
            *args: Ignored.
            **kwargs: Ignored.

        Raises:
            RuntimeError: If the loss is a tensor.
        """
        del args, kwargs
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager "
                "execution is enabled."
            )
        with GradientTape() as tape:
            value = loss()
        variables = list(tape.watched_variables() if var_list is None else var_list)
        return list(zip(tape.gradient(value, variables), variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None
    ) -> None:
        """Update variables.

        Args:
            grads_and_vars: Pairs of gradient and variable.
            global_step: A variable that counts the updates, or None.
            name: Ignored.
        """
        del name
        self._made.apply_gradients(list(grads_and_vars))
        if global_step is not None:
            global_step.assign_add(1)

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """Take the gradients of a loss and apply them; see `compute_gradients`."""
        self.apply_gradients(self.compute_gradients(loss, var_list, *args, **kwargs), global_step)


def _rate(learning_rate: Any) -> Any:
    return learning_rate if callable(learning_rate) else float(learning_rate)


class GradientDescentOptimizer(TrainOptimizer):
    """`tf.keras.optimizers.SGD`."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        del use_locking
        super().__init__(SGD(_rate(learning_rate)), name)


class MomentumOptimizer(TrainOptimizer):
    """`tf.keras.optimizers.SGD` with momentum."""

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        del use_locking
        super().__init__(SGD(_rate(learning_rate), float(momentum), use_nesterov), name)


class AdamOptimizer(TrainOptimizer):
    """`tf.keras.optimizers.Adam` with an epsilon of 1e-8."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        del use_locking
        made = Adam(_rate(learning_rate), beta_1=beta1, beta_2=beta2, epsilon=epsilon)
        super().__init__(made, name)


class AdagradOptimizer(TrainOptimizer):
    """`tf.keras.optimizers.Adagrad` without epsilon."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        del use_locking
        made = Adagrad(
            _rate(learning_rate),
            initial_accumulator_value=initial_accumulator_value,
            epsilon=0.0,
        )
        super().__init__(made, name)


def rms_prop_optimizer(*args: Any, **kwargs: Any) -> NoReturn:
    """Refused: it starts from averages of one, and Keras' from zero."""
    del args, kwargs
    raise NotImplementedError(
        "tf.compat.v1.train.RMSPropOptimizer starts from averages of 1. Use "
        "tf.keras.optimizers.RMSprop, which starts from 0."
    )


class _Step:
    """The variable that `get_or_create_global_step` gives."""

    variable: Variable | None = None


def get_or_create_global_step(graph: Any = None) -> Variable:
    """The variable that counts steps, an int64 scalar."""
    del graph
    if _Step.variable is None:
        zero = library().constant(0, "int64")
        _Step.variable = Variable(zero, trainable=False, name="global_step")
    return _Step.variable


TRAIN: Mapping[str, Any] = {
    "AdagradOptimizer": AdagradOptimizer,
    "AdamOptimizer": AdamOptimizer,
    "GradientDescentOptimizer": GradientDescentOptimizer,
    "MomentumOptimizer": MomentumOptimizer,
    "Optimizer": TrainOptimizer,
    "RMSPropOptimizer": rms_prop_optimizer,
    "get_global_step": get_or_create_global_step,
    "get_or_create_global_step": get_or_create_global_step,
    "summary_iterator": event_messages.summary_iterator,
}


# ---------------------------------------------------------------------- losses
def compute_weighted_loss(losses: Any, weights: Any = 1.0, *args: Any, **kwargs: Any) -> Any:
    """The weighted sum over the number of elements whose weight is not zero."""
    if args or kwargs:
        raise NotImplementedError(
            "Losses of tf.compat.v1 have the default reduction here. For another one, call "
            "tf.keras.losses with reduction=... "
        )
    tf = library()
    losses = as_tensor(losses)
    weights = tf.cast(weights, losses.dtype)
    spread = tf.broadcast_to(weights, tf.shape(losses))
    return tf.math.divide_no_nan(
        tf.reduce_sum(losses * spread), tf.math.count_nonzero(spread, dtype=losses.dtype)
    )


def _elementwise(formula: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    def loss(labels: Any, predictions: Any, weights: Any = 1.0, *args: Any, **kwargs: Any) -> Any:
        tf = library()
        predictions = tf.cast(predictions, "float32")
        labels = tf.cast(labels, "float32")
        return compute_weighted_loss(formula(tf, labels, predictions), weights, *args, **kwargs)

    return loss


def _log_loss(tf: Any, labels: Any, predictions: Any) -> Any:
    small = 1e-7
    return -labels * tf.math.log(predictions + small) - (1 - labels) * tf.math.log(
        1 - predictions + small
    )


def _huber(tf: Any, labels: Any, predictions: Any) -> Any:
    error = tf.abs(predictions - labels)
    inside = tf.minimum(error, 1.0)
    return 0.5 * inside**2 + (error - inside)


def sigmoid_cross_entropy(
    multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0
) -> Any:
    """The mean of `tf.nn.sigmoid_cross_entropy_with_logits`."""
    tf = library()
    logits = as_tensor(logits)
    labels = tf.cast(multi_class_labels, logits.dtype)
    labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    return compute_weighted_loss(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), weights
    )


def softmax_cross_entropy(
    onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0
) -> Any:
    """The mean of `tf.nn.softmax_cross_entropy_with_logits`."""
    tf = library()
    logits = as_tensor(logits)
    labels = tf.cast(onehot_labels, logits.dtype)
    labels = labels * (1 - label_smoothing) + label_smoothing / labels.shape[1]
    return compute_weighted_loss(
        tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits), weights
    )


def sparse_softmax_cross_entropy(labels: Any, logits: Any, weights: Any = 1.0) -> Any:
    """The mean of `tf.nn.sparse_softmax_cross_entropy_with_logits`."""
    tf = library()
    found = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return compute_weighted_loss(found, weights)


LOSSES: Mapping[str, Any] = {
    "absolute_difference": _elementwise(lambda tf, y, p: tf.abs(p - y)),
    "compute_weighted_loss": compute_weighted_loss,
    "huber_loss": _elementwise(_huber),
    "log_loss": _elementwise(_log_loss),
    "mean_squared_error": _elementwise(lambda tf, y, p: tf.math.squared_difference(p, y)),
    "sigmoid_cross_entropy": sigmoid_cross_entropy,
    "softmax_cross_entropy": softmax_cross_entropy,
    "sparse_softmax_cross_entropy": sparse_softmax_cross_entropy,
}

"""`tf.keras.backend`: settings, sessions, phases, and what only graphs had."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any, NoReturn

from tapejax._src.core.tensor import Tensor
from tapejax._src.function.control_flow import cond
from tapejax._src.keras.bridge.cells import GUESTS
from tapejax._src.keras.bridge.guest import load
from tapejax._src.keras.bridge.recorded_calls import INSIDE
from tapejax._src.ops.host_print import print as print_op


def backend() -> str:
    """`"tensorflow"`: what programs that ask want to know is which functions there are."""
    return "tensorflow"


def epsilon() -> float:
    """The small number of Keras, 1e-7 if not set."""
    return load().config.epsilon()


def set_epsilon(value: float) -> None:
    """Set what `epsilon` returns."""
    load().config.set_epsilon(value)


def floatx() -> str:
    """The name of the default float type."""
    return load().config.floatx()


def set_floatx(value: str) -> None:
    """Set what `floatx` returns."""
    load().config.set_floatx(value)


def image_data_format() -> str:
    """`"channels_last"` or `"channels_first"`."""
    return load().config.image_data_format()


def set_image_data_format(data_format: str) -> None:
    """Set what `image_data_format` returns."""
    load().config.set_image_data_format(data_format)


def clear_session(free_memory: bool = True) -> None:
    """Forget names and global state of Keras."""
    load().utils.clear_session(free_memory)


def get_uid(prefix: str = "") -> int:
    """A number that counts the calls with this prefix."""
    return load().src.utils.naming.get_uid(prefix)


def reset_uids() -> None:
    """Start the numbers of `get_uid` and of layers' names anew."""
    state = load().src.backend.common.global_state
    for name in ("object_name_uids", "name_uids"):
        held = state.get_global_attribute(name)
        if held is not None:
            held.clear()


def is_keras_tensor(x: Any) -> bool:
    """Whether a value is the symbolic tensor of a functional model."""
    load()
    return isinstance(x, GUESTS.symbolic)


def manual_variable_initialization(value: bool) -> None:
    """Without effect: variables have their values when they are made."""
    del value


# ------------------------------------------------------------------------------- learning phase
class Phase:
    """The phase that `set_learning_phase` set, or None."""

    value: Any = None


def learning_phase() -> Any:
    """1 in training and 0 otherwise: of the layer being called, or as it was set."""
    load()
    if Phase.value is not None:
        return Phase.value
    context = GUESTS.call_context()
    return int(bool(context is not None and context.get_value("training")))


def set_learning_phase(value: int) -> None:
    """Set the phase for calls that do not say `training`.

    Args:
        value: 0 or 1.

    Raises:
        ValueError: If it is neither.
    """
    if value not in {0, 1}:
        raise ValueError(f"Expected learning phase to be 0 or 1. Received: {value!r}")
    load()
    Phase.value = int(value)


@contextlib.contextmanager
def learning_phase_scope(value: int) -> Generator[None]:
    """Set the phase for a block."""
    before = Phase.value
    set_learning_phase(value)
    try:
        yield
    finally:
        Phase.value = before


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` in training and `alt` otherwise; functions without arguments are called."""
    phase = learning_phase() if training is None else training
    if isinstance(phase, Tensor):
        return cond(phase, lambda: _called(x), lambda: _called(alt))
    return _called(x if phase else alt)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`alt` in training and `x` otherwise."""
    return in_train_phase(alt, x, training=training)


def _called(x: Any) -> Any:
    return x() if callable(x) and not isinstance(x, Tensor) else x


# --------------------------------------------------------------------------------------- graphs
def function(
    inputs: Any, outputs: Any, updates: Sequence[Any] = (), name: str | None = None, **kwargs: Any
) -> Callable[[Any], Any]:
    """A function from inputs of a functional model to values computed from them.

    Args:
        inputs: Symbolic tensors of a model: one, or a list.
        outputs: Symbolic tensors that depend on them: one, or a list.
        updates: Nothing: updates belong to graphs.
        name: A name.
        **kwargs: Nothing.

    Returns:
        A function of a list of values, which returns a list of arrays, or one array for one output.

    Raises:
        ValueError: If there are updates, or arguments for a session.
    """
    if updates or kwargs:
        raise ValueError(
            "`updates` and session arguments belong to graphs. Compute the gradients with "
            f"tf.GradientTape and apply them. Received: updates={updates!r}, {sorted(kwargs)}"
        )
    model = load().Model(inputs, outputs, name=name)

    def call(values: Any) -> Any:
        given = values if isinstance(inputs, (list, tuple)) else _single(values)
        found = model(list(given) if isinstance(given, tuple) else given)
        if isinstance(outputs, (list, tuple)):
            return [_array(x) for x in (found if isinstance(found, (list, tuple)) else [found])]
        return _array(found)

    return call


def _single(values: Any) -> Any:
    one = isinstance(values, (list, tuple)) and len(values) == 1
    return values[0] if one else values


def _array(x: Any) -> Any:
    return x.numpy() if isinstance(x, Tensor) else load().ops.convert_to_numpy(x)


def placeholder(
    shape: Any = None,
    ndim: int | None = None,
    dtype: Any = None,
    sparse: bool = False,
    name: str | None = None,
    ragged: bool = False,
) -> Any:
    """A symbolic input of a functional model, `tf.keras.Input`.

    Args:
        shape: Its shape with the batch size.
        ndim: Or the number of its dimensions.
        dtype: Its dtype.
        sparse: Whether it is sparse.
        name: A name.
        ragged: Whether its rows have different lengths.
    """
    if shape is None:
        shape = (None,) * (ndim or 0)
    options = {"ragged": ragged} if ragged else {}
    return load().Input(batch_shape=tuple(shape), dtype=dtype, sparse=sparse, name=name, **options)


def gradients(loss: Any, variables: Any) -> NoReturn:
    """Not for eager code, as in TensorFlow.

    Raises:
        RuntimeError: Always; it says what to write.
    """
    del loss, variables
    raise RuntimeError(
        "tf.gradients is not supported when eager execution is enabled, and K.gradients calls it. "
        "Use tf.GradientTape: with tf.GradientTape() as tape: compute the loss; then "
        "tape.gradient(loss, variables)."
    )


def print_tensor(x: Any, message: str = "", summarize: int = 3) -> Any:
    """Print a tensor with a message, and return it."""
    load()
    if not isinstance(x, GUESTS.symbolic) and not INSIDE.depth:
        print_op(message, x, summarize=summarize)
    return x

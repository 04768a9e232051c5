"""What a tape is asked with, checked: targets, sources, output gradients and options."""

from __future__ import annotations

import enum
import logging
from typing import Any

import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.dtypes import DType
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor, variable_behind
from tapejax._src.engine.recorder import RUN, Recorder
from tapejax._src.engine.registry import public


@public("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What a gradient is where the target does not depend on the source: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


class _Warned:
    """How often a warning of TensorFlow's was given in this process."""

    def __init__(self) -> None:
        self.dtype = 0
        self.persistent = 0


_WARNED = _Warned()
_LOGGER = logging.getLogger("tensorflow")


def warn_not_floating(dtype: DType) -> None:
    """Warn, five times, that a watched tensor cannot have a gradient."""
    if _WARNED.dtype < 5:
        _WARNED.dtype += 1
        _LOGGER.warning(
            "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", dtype
        )


def warn_persistent(what: str) -> None:
    """Warn, once, that a gradient's own ops are recorded by the tape that is asked for it."""
    if not _WARNED.persistent:
        _WARNED.persistent += 1
        _LOGGER.warning(
            "Calling GradientTape.%s on a persistent tape inside its context is significantly less "
            "efficient than calling it outside the context.",
            what,
        )


def flat_targets(target: Any) -> list[Any]:
    """The targets as a flat list.

    Raises:
        TypeError: If one is None or no tensor.
        AttributeError: If one is a number or an array.
    """
    if target is None:
        raise TypeError(
            "Argument `target` should be a list or nested structure of Tensors, Variables or "
            "CompositeTensors to be differentiated, but received None."
        )
    targets: list[Any] = []
    for value in map(variable_behind, nest.flatten_differentiable(target)):
        if not isinstance(value, (Tensor, Variable)):
            refuse(value, "target")
        targets.append(value)
    return targets


def zero_if_unconnected(option: UnconnectedGradients | str) -> bool:
    """Whether to return zeros for an unconnected source.

    Raises:
        ValueError: If the option is unknown.
    """
    if option is UnconnectedGradients.NONE:
        return False
    if isinstance(option, UnconnectedGradients):
        return option is UnconnectedGradients.ZERO
    for member in UnconnectedGradients:
        if option == member.value:
            return member is UnconnectedGradients.ZERO
    raise ValueError(
        f"Unknown value for unconnected_gradients: {option!r}. Use 'none' or 'zero', or "
        "tf.UnconnectedGradients."
    )


def refuse(value: Any, what: str) -> None:
    """Raise for a target or source that is not a tensor.

    Raises:
        AttributeError: For numbers and arrays.
        TypeError: For anything else.
    """
    if hasattr(value, "__array__") or isinstance(value, (int, float, complex)):
        raise AttributeError(
            f"{type(value).__name__!r} object has no attribute '_id': a gradient's {what} must be "
            f"a tf.Tensor or tf.Variable, got {value!r}. A value that went through NumPy or Python "
            "is no longer connected; keep it a tensor."
        )
    raise TypeError(
        f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType: a gradient's "
        f"{what} must be a tf.Tensor or tf.Variable, got {type(value).__name__}."
    )


def flat_sources(sources: Any) -> list[Any]:
    """The sources as a flat list; a flat list of tensors and variables is returned as it is."""
    if type(sources) is list:
        for source in sources:  # pyright: ignore[reportUnknownVariableType]
            if type(source) is not Variable and type(source) is not Tensor:  # pyright: ignore[reportUnknownArgumentType]
                break
        else:
            return sources  # pyright: ignore[reportUnknownVariableType]
    if type(sources) is Variable or type(sources) is Tensor:
        return [sources]
    flat = [variable_behind(source) for source in nest.flatten_differentiable(sources)]
    for source in flat:
        if not isinstance(source, (Tensor, Variable)):
            refuse(source, "source")
    return flat


def pack_gradients(sources: Any, gradients: list[Any]) -> Any:
    """Gradients in the structure of the sources."""
    if type(sources) is Variable or type(sources) is Tensor:
        return gradients[0]
    return nest.pack_gradients(sources, gradients)


def flat_seeds(output_gradients: Any, count: int) -> list[Any]:
    flat = nest.flatten_differentiable(output_gradients)
    seeds = [None if g is None else as_tensor(g) for g in flat]
    if None in [None if s is None else 0 for s in seeds]:
        raise ValueError(
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
            "Tensor: every target needs its entry in `output_gradients`; use tf.ones_like(target)."
        )
    if len(seeds) < count:
        raise ValueError(
            f"`output_gradients` has {len(seeds)} entries for {count} targets; give one for each."
        )
    return seeds[:count]


def value_of(value: Any) -> Tensor:
    return value.tensor if isinstance(value, Variable) else value


def one_tensor(target: Any, what: str) -> Tensor:
    if not isinstance(target, (Tensor, Variable)):
        raise AttributeError(
            f"{type(target).__name__!r} object has no attribute 'shape': {what} takes one tensor "
            "as target; call it for each, or tf.concat the targets."
        )
    return value_of(target)


def check_batches(target: Tensor, source: Tensor) -> None:
    if not isinstance(source, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
        refuse(source, "source")
    y, x = target.shape, source.shape
    if len(y) < 2 or len(x) < 2:
        raise ValueError(
            f"Target shape {y} and source shape {x} must have rank at least 2: [batch, ...]."
        )
    if y[0] != x[0]:
        raise ValueError(
            f"Need first dimension of target shape ({y}) and source shape ({x}) to match."
        )


def check_chunk(chunk_size: Any) -> None:
    """Raise for a number of rows that is no positive integer.

    Raises:
        ValueError: If it is none.
    """
    if chunk_size is not None and (type(chunk_size) is not int or chunk_size < 1):
        raise ValueError(f"chunk_size must be a positive integer or None, got {chunk_size!r}.")


def zeros(shape: Any, like: Any) -> Tensor:
    """Zeros of a shape, in a tensor's dtype, computed already."""
    return constant_tensor(np.zeros(tuple(shape), like.dtype.as_numpy_dtype))


def zeros_like_value(value: Tensor) -> Tensor:
    """Zeros of a tensor's shape and dtype, computed already."""
    return zeros(value.aval.shape, value)


def run_abandoned(recorder: Recorder, present: Recorder) -> None:
    """Run what a thread that has ended left unrun.

    Raises:
        NotImplementedError: If it is that of the code around a loop, branch or function.
        RuntimeError: If the thread is alive: its program is still growing.
    """
    if present.symbolic is not None and recorder.owner is present.owner:
        raise NotImplementedError(
            "This tape was recorded outside of the loop, branch or tf.function that now asks it "
            "for a gradient, and compiled control flow cannot look outside. Ask for the gradient "
            "before it and use the result inside, or open the tape inside."
        )
    if recorder.owner.is_alive():
        raise RuntimeError(
            f"This tape was recorded in the thread {recorder.owner.name!r}, which has not run its "
            "program yet. Ask for the gradient in that thread, or read a value there first."
        )
    RUN.flush(recorder)

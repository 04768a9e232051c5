"""`tf.gradients` and `tf.hessians`: derivatives without a tape, inside a traced function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapejax._src.core import nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import number_of
from tapejax._src.engine.registry import public
from tapejax._src.tape import differentiate
from tapejax._src.tape.arguments import UnconnectedGradients
from tapejax._src.tape.differentiate import Question
from tapejax._src.tape.recorded import WholeProgram


def _value(x: Any) -> Tensor:
    return x.tensor if isinstance(x, Variable) else as_tensor(x)


def _question(
    ys: Sequence[Any], xs: Sequence[Any], seeds: Sequence[Any], stops: Sequence[Any], zero: bool
) -> Question:
    return Question(
        WholeProgram(tuple([number_of(s) for s in stops])),
        tuple([number_of(y) for y in ys]),
        tuple([None if s is None else number_of(as_tensor(s)) for s in seeds]),
        tuple([(number_of(x),) for x in xs]),
        tuple([_value(x).aval if zero else None for x in xs]),
    )


def _check_in_function() -> None:
    if LOCAL.recorder.symbolic is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. "
            "Use tf.GradientTape instead."
        )


@public("gradients")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Any]:
    """The derivative of the sum of `ys` by each of `xs`, inside a `tf.function`.

    Args:
        ys: Tensor or list of tensors to differentiate.
        xs: Tensor or list of tensors.
        grad_ys: One tensor for each of `ys`. Default: ones.
        name: Ignored.
        gate_gradients: Ignored.
        aggregation_method: Ignored.
        stop_gradients: Tensors taken as constants.
        unconnected_gradients: What to return for a tensor `ys` do not depend on.

    Returns:
        A list with a tensor or None for each of `xs`.

    Raises:
        RuntimeError: In eager code.
    """
    del name, gate_gradients, aggregation_method
    _check_in_function()
    targets = [_value(y) for y in nest.flatten(ys)]
    seeds = [None] * len(targets) if grad_ys is None else nest.flatten(grad_ys)
    stops = [] if stop_gradients is None else nest.flatten(stop_gradients)
    zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    return differentiate.answer(_question(targets, nest.flatten(xs), seeds, stops, zero))


@public("hessians")
def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str = "hessians",
) -> list[Any]:
    """The second derivatives of the sum of `ys` by each of `xs`, inside a `tf.function`.

    Args:
        ys: Tensor or list of tensors.
        xs: Tensor or list of tensors.
        gate_gradients: Ignored.
        aggregation_method: Ignored.
        name: Ignored.

    Returns:
        A list with a tensor of shape `x.shape + x.shape` for each of `xs`.

    Raises:
        RuntimeError: In eager code.
    """
    del gate_gradients, aggregation_method, name
    _check_in_function()
    targets = [_value(y) for y in nest.flatten(ys)]
    found: list[Any] = []
    for source in nest.flatten(xs):
        question = _question(targets, [source], [None] * len(targets), [], zero=True)
        (gradient,) = differentiate.answer(question)
        rows = _question([gradient], [source], [None], [], zero=False)
        found += differentiate.jacobian(rows, gradient.aval, batched=False)
    return found

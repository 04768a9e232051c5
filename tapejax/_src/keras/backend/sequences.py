"""`tf.keras.backend`: recurrent loops, and labels that are shorter than their sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapejax._src.core import nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.function.accumulating import scan
from tapejax._src.keras.backend.arrays import reverse
from tapejax._src.keras.backend.settings import epsilon
from tapejax._src.keras.backend.values import ndim
from tapejax._src.ops import creation, elementwise, joining, permuting, selecting, shaping
from tapejax._src.ops.blocks import sequence_mask
from tapejax._src.ops.casting import cast
from tapejax._src.ops.ctc import ctc_loss
from tapejax._src.ops.ctc_decoding import ctc_beam_search_decoder, ctc_greedy_decoder
from tapejax._src.ops.gathering import gather_nd
from tapejax._src.ops.shape_queries import shape as tensor_shape
from tapejax._src.ops.sparse_dense import to_dense
from tapejax._src.ops.sparse_tensor import SparseTensor

Step = Callable[[Any, Any], tuple[Any, Any]]


def rnn(
    step_function: Step,
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
    return_all_outputs: bool = True,
) -> tuple[Any, Any, Any]:
    """Call a function for each step of sequences.

    Args:
        step_function: Function of (input of the step, states and constants), which returns the
            output and the new states.
        inputs: A tensor `[batch, time, ...]`, or a structure of them.
        initial_states: The states before the first step.
        go_backwards: Whether to begin at the end.
        mask: `[batch, time]`: where it is false, the states and the output stay.
        constants: Tensors that are given to each step after the states.
        unroll: Whether to record each step by itself, not one loop.
        input_length: Not needed: the mask tells.
        time_major: Whether time is the first axis of inputs, mask and outputs.
        zero_output_for_mask: Whether the output is zero where the mask is false.
        return_all_outputs: Whether to return the outputs of all steps, or that of the last alone.

    Returns:
        The last output, the outputs `[batch, time, ...]`, and the last states.
    """
    del input_length
    swap = _same if time_major else _swapped
    sequences = nest.map_structure(swap, inputs)
    valid = None if mask is None else swap(cast(mask, "bool"))
    if go_backwards:
        sequences = nest.map_structure(_backwards, sequences)
        valid = None if valid is None else _backwards(valid)
    steps = _Steps(step_function, tuple(constants or ()), zero_output_for_mask)
    run = _unrolled if unroll else _looped
    last, outputs, states = run(steps, sequences, valid, tuple(initial_states))
    if not return_all_outputs:
        outputs = nest.map_structure(lambda x: shaping.expand_dims(x, 0), last)
    return last, nest.map_structure(swap, outputs), states


def _same(x: Any) -> Any:
    return x


def _swapped(x: Any) -> Any:
    return permuting.transpose(x, [1, 0, *range(2, ndim(x))])


def _backwards(x: Any) -> Any:
    return reverse(x, 0)


class _Steps:
    """One step: what the mask leaves as it was stays."""

    def __init__(self, function: Step, constants: tuple[Any, ...], zero: bool) -> None:
        self.function = function
        self.constants = constants
        self.zero = zero

    def __call__(self, x: Any, valid: Any, held: Any, states: Any) -> tuple[Any, Any]:
        out, new = self.function(x, (*states, *self.constants))
        new = nest.pack_sequence_as(states, nest.flatten(new))
        if valid is None:
            return out, new
        if held is None or self.zero:
            held = nest.map_structure(creation.zeros_like, out)
        return _chosen(valid, out, held), _chosen(valid, new, states)


def _chosen(valid: Any, new: Any, old: Any) -> Any:
    def choose(one: Any, other: Any) -> Any:
        where = valid
        for _ in range(ndim(one) - ndim(where)):
            where = shaping.expand_dims(where, -1)
        return selecting.where(where, one, other)

    return nest.map_structure(choose, new, old)


def _unrolled(steps: _Steps, sequences: Any, valid: Any, states: Any) -> tuple[Any, Any, Any]:
    count = nest.flatten(sequences)[0].shape[0]
    if not count:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    out, outs = None, []
    for n in range(count):
        now = None if valid is None else valid[n]
        out, states = steps(nest.map_structure(lambda x, n=n: x[n], sequences), now, out, states)
        outs.append(out)
    return out, nest.map_structure(lambda *x: joining.stack(x), *outs), states


def _looped(steps: _Steps, sequences: Any, valid: Any, states: Any) -> tuple[Any, Any, Any]:
    first = nest.map_structure(lambda x: x[0], sequences)
    out, _ = steps(first, None, None, states)
    start = nest.map_structure(creation.zeros_like, out), states
    elements = (sequences,) if valid is None else (sequences, valid)

    def step(held: Any, now: Any) -> Any:
        return steps(now[0], now[1] if len(now) > 1 else None, held[0], held[1])

    outs, stages = scan(step, elements, initializer=start)
    last, final = nest.map_structure(lambda x: x[-1], (outs, stages))
    return last, outs, final


# ------------------------------------------------------------------------------------------ CTC
def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> SparseTensor:
    """Rows of labels as a sparse tensor.

    Args:
        labels: `[batch, most]`.
        label_lengths: `[batch]`: how many of each row count.
    """
    given = tensor_shape(labels)
    indices = selecting.where(sequence_mask(label_lengths, given[1]))
    return SparseTensor(indices, gather_nd(labels, indices), cast(given, "int64"))


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Tensor:
    """The CTC loss of each sample.

    Args:
        y_true: `[batch, most]` labels.
        y_pred: `[batch, time, classes]` probabilities; the last class is the blank.
        input_length: `[batch, 1]`: how many frames count.
        label_length: `[batch, 1]`: how many labels count.

    Returns:
        `[batch, 1]`.
    """
    logits = elementwise.log(permuting.transpose(y_pred, [1, 0, 2]) + epsilon())
    losses = ctc_loss(
        cast(y_true, "int32"),
        logits,
        cast(shaping.reshape(label_length, [-1]), "int32"),
        cast(shaping.reshape(input_length, [-1]), "int32"),
        blank_index=-1,
    )
    return shaping.expand_dims(losses, 1)


def ctc_decode(
    y_pred: Any,
    input_length: Any,
    greedy: bool = True,
    beam_width: int = 100,
    top_paths: int = 1,
) -> tuple[list[Any], Any]:
    """The most probable labels of each sample.

    Args:
        y_pred: `[batch, time, classes]` probabilities; the last class is the blank.
        input_length: `[batch]`: how many frames count.
        greedy: Whether to take the most probable class of each frame, not to search.
        beam_width: How many sequences the search keeps.
        top_paths: How many it returns.

    Returns:
        A list of `[batch, time]` labels with -1 behind them, and the log probabilities.
    """
    logits = elementwise.log(permuting.transpose(y_pred, [1, 0, 2]) + epsilon())
    lengths = cast(input_length, "int32")
    if greedy:
        decoded, scores = ctc_greedy_decoder(logits, lengths)
    else:
        decoded, scores = ctc_beam_search_decoder(logits, lengths, beam_width, top_paths)
    shape = [int(y_pred.shape[0]), int(y_pred.shape[1])]
    dense = [to_dense(SparseTensor(x.indices, x.values, shape), default_value=-1) for x in decoded]
    return dense, scores

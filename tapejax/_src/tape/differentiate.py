"""Taking a gradient: one edge of the trie, expanded into backward ops when first met."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.avals import Aval
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_tensor
from tapejax._src.engine.extension import user_line
from tapejax._src.engine.flush import Failed
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.program import Builder, Program, needed, run_ops
from tapejax._src.engine.recorder import LOCAL, Recorder
from tapejax._src.engine.recording import advance, boundary, number_of
from tapejax._src.tape.recorded import View, WholeProgram
from tapejax._src.tape.sweep import Cotangent, Slices, Suspension, Sweep


class Question(NamedTuple):
    """What is asked of a tape, in numbers of the program: the edge key of a gradient.

    Attributes:
        tape: The tape's number in the program.
        targets: Numbers of the (floating-point) targets.
        seeds: Number of the output gradient of each target; None means ones.
        sources: For each source the numbers of its values.
        inline: Whether the program runs on tracers of the user's own JAX transformation.
        unconnected: For each source the aval of the zeros to return when it is not connected, or
            None to return None.
    """

    tape: int | WholeProgram
    targets: tuple[int, ...]
    seeds: tuple[int | None, ...]
    sources: tuple[tuple[int, ...], ...]
    unconnected: tuple[Aval | None, ...]
    inline: bool = False


def answer(question: Question) -> list[Any]:
    """Record a gradient; returns a tensor, `IndexedSlices` or None for each source."""
    recorder = LOCAL.recorder
    node = recorder.node.edges.get(question)
    if node is None:
        node = _expand(recorder, question)
    advance(recorder, node)
    while isinstance(node.payload, Suspension):
        node = _call_rule(recorder, node.payload, question)
    recorder = LOCAL.recorder
    handles = [
        hand_out_entry(recorder, entry, avals)
        for entry, avals in zip(node.result, node.payload, strict=True)
    ]
    if node.depth > recorder.limit:
        boundary(recorder)
    return handles


def _expand(recorder: Recorder, question: Question) -> Program:
    table = list(recorder.avals())
    known = [n for s in question.sources for n in s] if _sees_all(question) else []
    view = View(recorder.node, question.tape, table, known)
    builder = Builder(recorder.node, table)
    sweep = Sweep(view.ops, question.sources, table, view.active, not question.inline)
    for target, seed in zip(question.targets, question.seeds, strict=True):
        if seed is None:
            seed = builder.fill(table[target], 1)
        sweep.add_seed(builder, target, _fitted(builder, seed, table[target]))
    builder.node.scalar_targets = tuple(
        t for t in question.targets if not table[t].shape and table[t].inexact
    )
    suspension = sweep.run(builder)
    return _finish(builder, question, question, sweep, suspension)


def _sees_all(question: Question) -> bool:
    return isinstance(question.tape, WholeProgram)


def _fitted(builder: Builder, seed: int, aval: Aval) -> int:
    """An output gradient broadcast to its target, as the backward ops of TensorFlow would.

    Raises:
        InvalidArgumentError: If dtype or shape do not fit.
    """
    given = builder.table[seed]
    if given is aval:
        return seed
    if given.dtype != aval.dtype or not _broadcasts(given.shape, aval.shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Incompatible shapes or dtypes: an output gradient of shape {list(given.shape)} and "
            f"dtype {given.tf_dtype.name} was given for a target of shape {list(aval.shape)} vs. "
            f"dtype {aval.tf_dtype.name} [Op:Mul] name: ; give one of the target's shape and dtype",
        )
    shape = aval.shape
    name = f"broadcast_to{list(shape)}"
    return builder.emit(Kernel(name, lambda x: jnp.broadcast_to(x, shape)), (seed,))[0]


def _broadcasts(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False


def _call_rule(recorder: Recorder, suspension: Suspension, question: Question) -> Program:
    """Call the user's gradient function with tensors, then go on with what it returned."""
    rule = recorder.callbacks[suspension.first]
    avals = recorder.avals()
    cotangents = [_tensor(recorder, n, avals[n]) for n in suspension.cotangents]
    limit = recorder.limit
    recorder.rules += 1
    recorder.limit = 1 << 60
    try:
        results = rule(*cotangents)
    finally:
        recorder.rules -= 1
        recorder.limit = limit
    numbers = tuple([None if r is None else number_of(r) for r in results])
    key = ("resume", suspension, numbers)
    node = recorder.node.edges.get(key)
    if node is None:
        builder = Builder(recorder.node, list(recorder.avals()))
        sweep = suspension.sweep.copy()
        node = _finish(builder, key, question, sweep, sweep.resume(builder, numbers))
    advance(recorder, node)
    return node


def _finish(
    builder: Builder,
    key: Any,
    question: Question,
    sweep: Sweep,
    suspension: Suspension | None,
) -> Program:
    if suspension is not None:
        builder.node.payload = Suspension(sweep.copy(), suspension.first, suspension.cotangents)
        return builder.attach(key, user_line())
    connected = sweep.connected(question.targets)
    results: list[Cotangent | None] = []
    for bit, source in enumerate(question.sources):
        gradient = sweep.result(builder, source)
        if gradient is None and connected >> bit & 1:
            gradient = builder.fill(builder.table[source[0]], 0)
        zeros = question.unconnected[bit]
        if gradient is None and zeros is not None:
            gradient = builder.fill(zeros, 0)
        results.append(gradient)
    builder.node.result = tuple(results)
    builder.node.payload = tuple([_avals_of(entry, builder.table) for entry in results])
    return builder.attach(key, user_line())


def _avals_of(entry: Cotangent | None, table: Sequence[Aval]) -> Any:
    """What is needed to hand out an entry: its aval, or those of values and indices."""
    if isinstance(entry, Slices):
        return table[entry.values], table[entry.indices]
    return None if entry is None else table[entry]


def _tensor(recorder: Recorder, number: int, aval: Aval) -> Tensor:
    tensor = Tensor(aval, recorder, number)
    recorder.results.append(weakref.ref(tensor))
    return tensor


def hand_out_entry(recorder: Recorder, entry: Cotangent | None, avals: Any) -> Any:
    """A gradient as the user sees it: tensor, `IndexedSlices` or None."""
    if entry is None:
        return None
    if isinstance(entry, Slices):
        return IndexedSlices(
            _tensor(recorder, entry.values, avals[0]),
            _tensor(recorder, entry.indices, avals[1]),
            static_tensor(np.array(entry.aval.shape, np.int32)),
        )
    return _tensor(recorder, entry, avals)


# ---------------------------------------------------------------------- jacobians
def jacobian(question: Question, aval: Aval, batched: bool, chunk: int | None = None) -> list[Any]:
    """Record the jacobian of one target: the sweep, vectorized over the unit cotangents.

    The sweep is recorded once with a placeholder for the cotangent; then it is the body of one op.
    """
    recorder = LOCAL.recorder
    limit = recorder.limit
    before = len(recorder.results)
    recorder.limit = 1 << 60  # the placeholder has no value: nothing may run meanwhile
    try:
        node = _record_jacobian(recorder, question, aval, batched, chunk)
    finally:
        recorder.limit = limit
    if recorder.callbacks:
        _retire(recorder, before, node)
    handles = [
        hand_out_entry(recorder, entry, avals)
        for entry, avals in zip(node.result, node.payload, strict=True)
    ]
    if node.depth > limit:
        boundary(recorder)
    return handles


def _retire(recorder: Recorder, before: int, node: Program) -> None:
    """Tensors that a gradient rule kept, and that depend on the placeholder, have no value."""
    dependent = (node.memo or {})["dependent"]
    error = RuntimeError(
        "A tensor kept by a custom gradient function during a jacobian has no value: it stood for "
        "every row at once."
    )
    results: list[weakref.ref[Tensor]] = []
    for ref in recorder.results[before:]:
        tensor = ref()
        if tensor is not None and tensor.index in dependent:
            tensor.recorder = Failed(error)
        else:
            results.append(ref)
    recorder.results[before:] = results


def _record_jacobian(
    recorder: Recorder, question: Question, aval: Aval, batched: bool, chunk: int | None
) -> Program:
    """Record the sweep from a placeholder, and make it the body of one op."""
    place = ("placeholder", aval)
    node = recorder.node.edges.get(place)
    if node is None:
        builder = Builder(recorder.node, list(recorder.avals()))
        builder.node.result = builder.absent(aval)
        node = builder.attach(place)
    advance(recorder, node)
    seed = node.result
    start = node
    gradients = answer(question._replace(seeds=(seed,)))
    entries = [None if g is None else _dense_number(g) for g in gradients]
    key = ("jacobian", start, seed, tuple(entries), batched, chunk)
    node = recorder.node.edges.get(key)
    if node is None:
        node = _vectorize(recorder, key, start, seed, entries, aval, batched, chunk)
    advance(recorder, node)
    return node


def _dense_number(gradient: Any) -> int:
    return number_of(as_tensor(gradient))


def _vectorize(
    recorder: Recorder,
    key: Any,
    start: Program,
    seed: int,
    entries: Sequence[int | None],
    aval: Aval,
    batched: bool,
    chunk: int | None,
) -> Program:
    """Make the ops recorded since `start` that depend on the placeholder the body of a vmap."""
    table = list(recorder.avals())
    path = recorder.node.path()
    ops = [op for node in path[start.depth :] for op in node.ops]
    dependent = {seed}
    for _, ins, outs in ops:
        if dependent.intersection(ins):
            dependent.update(outs)
    builder = Builder(recorder.node, table)
    results: list[int | None] = []
    for entry in entries:
        if entry is None:
            results.append(None)
            continue
        body, reads = needed([op for op in ops if dependent.intersection(op[1])], [entry])
        made = {out for op in body for out in op[2]} | {seed}
        captured = sorted(reads - made)
        kernel = _row_kernel(body, captured, seed, entry, aval, batched, table, chunk)
        results.append(builder.emit(kernel, captured)[0])
    builder.node.result = tuple(results)
    builder.node.payload = tuple([_avals_of(entry, builder.table) for entry in results])
    builder.node.memo = {"dependent": frozenset(dependent)}
    return builder.attach(key, user_line())


def _row_kernel(
    body: list[Any],
    captured: Sequence[int],
    seed: int,
    entry: int,
    aval: Aval,
    batched: bool,
    table: Sequence[Aval],
    chunk: int | None,
) -> Kernel:
    source = table[entry]
    rows = aval.shape[1:] if batched else aval.shape
    count = int(np.prod(rows))

    def of_captured(*values: Any) -> Any:
        def row(unit: Any) -> Any:
            env = dict(zip(captured, values, strict=True))
            env[seed] = jnp.broadcast_to(unit, aval.shape)
            run_ops(body, env)
            return env[entry]

        units = jnp.eye(count, dtype=aval.dtype).reshape((count, *rows))
        few = chunk is not None and chunk < count
        stacked = jax.lax.map(row, units, batch_size=chunk) if few else jax.vmap(row)(units)
        if not batched:
            return stacked.reshape(aval.shape + source.shape)
        by_example = jnp.moveaxis(stacked, 0, 1)
        return by_example.reshape((source.shape[0], *rows, *source.shape[1:]))

    return Kernel("batch_jacobian" if batched else "jacobian", of_captured)

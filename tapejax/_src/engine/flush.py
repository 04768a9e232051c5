"""The flush: values are needed, so the recorded program is run.

Results whose tensors are still alive become outputs, buffers that nobody can see any more are
donated, tapes that will still be asked get what their pullbacks need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core import errors
from tapejax._src.core.avals import Aval, aval_of, placed_key, static_key, variable_key
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.executable import (
    Check,
    Executable,
    Extra,
    Plan,
    Request,
    compile_program,
    interpret_program,
)
from tapejax._src.engine.numerics import FORGET
from tapejax._src.engine.program import NOWHERE, ROOT, Program
from tapejax._src.engine.recorder import LOCAL, RUN, Recorder, new_recorder
from tapejax._src.engine.statistics import COUNTERS
from tapejax._src.engine.tiers import TIERS


class Carried(Protocol):
    """What tapes that outlive a run need from it.

    Attributes:
        tags: Distinguishes runs that keep different things.
        extra: Ops to split.
        save: Numbers of the values to keep.
        extra_avals: Their avals.
    """

    tags: Any
    extra: Extra
    save: Sequence[int]
    extra_avals: dict[int, Aval]

    def finish(self, handles: list[tuple[int, Tensor]]) -> None:
        """Take the handles of every value of the program that still exists."""


class Hooks:
    """What the tape package adds to a run."""

    carry: Callable[[Recorder, list[Any]], Carried | None] | None = None


HOOKS = Hooks()


class Kept:
    """How many compiled programs the trie holds."""

    def __init__(self) -> None:
        self.count = 0


KEPT_RESIDUALS = 64
"""A program that must return the residuals of more ops than this for a tape is run op by op: XLA
repeats a chain of cheap ops for each value of it that is returned, and compiles for minutes."""
KEPT = Kept()
KEPT_LIMIT = 4096
"""Programs kept; with more, structure changes all the time, and old programs only hold memory."""


def forget_programs() -> None:
    """Drop all recorded structure and compiled programs; what is pending is not touched."""
    ROOT.edges.clear()
    ROOT.likely = NOWHERE
    KEPT.count = 0


FORGET.append(forget_programs)


class Failed:
    """Stands for the recorder of a value whose computation raised."""

    __slots__ = ("error",)
    done = True
    symbolic: str | None = None

    def __init__(self, error: Exception) -> None:
        self.error = error

    def materialize(self, tensor: Tensor, how: str = "use") -> Any:
        """Raise what the computation raised."""
        del tensor, how
        raise self.error

    def name_of(self, tensor: Tensor) -> str:
        """Such a value has no name."""
        del tensor
        return ""


def flush(recorder: Recorder) -> None:
    """Run everything the recorder has recorded, and start a new program.

    Raises:
        OperatorNotAllowedInGraphError: If a function is being traced: there is no value to read.
        OpError: If a recorded op fails.
    """
    if recorder.node.parent is None:
        return
    if recorder.symbolic is not None:
        raise errors.OperatorNotAllowedInGraphError(recorder.symbolic)
    with recorder.lock:
        for ref in recorder.listeners:
            listener = ref()
            if listener is not None and listener.wants_to_know:
                listener.before_run(recorder)
        own = LOCAL.recorder is recorder
        if own:
            new_recorder()
        try:
            _run(recorder)
        finally:
            for listener in LOCAL.active if own else ():
                listener.join(LOCAL.recorder)


def _run(recorder: Recorder) -> None:
    node = recorder.node
    live = [t for r in recorder.results if (t := r()) is not None]
    numbers = tuple([t.index for t in live])
    if node.checked or node.effects or recorder.inline or _asked(recorder):
        _run_watched(recorder, live, numbers)
        return
    if live:
        request = (numbers, _donatable(recorder), None)
        outs, _, executable = _execute(recorder, node, request, None)
        _deliver(recorder, live, outs, None, executable.owns_outputs)
    _forget(recorder)


def _asked(recorder: Recorder) -> bool:
    """Whether a tape that took part may still be asked."""
    for ref in recorder.listeners:
        listener = ref()
        if listener is not None and listener.is_open_to_questions:
            return True
    return False


def _run_watched(recorder: Recorder, live: list[Tensor], numbers: tuple[int, ...]) -> None:
    """Run a program with ops that can fail, or with tapes that will go on from it."""
    node = recorder.node
    carried = None
    if recorder.listeners and HOOKS.carry is not None:
        listening = dict.fromkeys(t for r in recorder.listeners if (t := r()) is not None)
        tapes = [t for t in listening if t.is_open_to_questions]
        carried = HOOKS.carry(recorder, tapes) if tapes else None
    handles: list[tuple[int, Tensor]] = []
    extra: Extra | None = None
    if carried is not None:
        extra = carried.extra
        handles = _handles(recorder, node, live)
        present = {number for number, _ in handles}
        for number in carried.save:
            if number not in present:
                kept = Tensor(carried.extra_avals[number], recorder, number)
                handles.append((number, kept))
                live.append(kept)
        request = Request(tuple([t.index for t in live]), (), carried.tags)
    else:
        tags = tuple(_chains(recorder).items()) if node.checked else None
        request = Request(numbers, _donatable(recorder), tags)
    error = None
    if live or node.checked or node.effects:
        execute = _execute_effects if node.effects else _execute
        outs, failures, executable = execute(recorder, node, request, extra)
        error = None if failures is None else _first_failure(executable.checks, failures)
        _deliver(recorder, live, outs, error, executable.owns_outputs)
    if carried is not None:
        carried.finish(handles)
    _forget(recorder)
    if error is not None:
        raise error[1]


RequestLike = tuple[tuple[int, ...], tuple[int, ...], Any]
"""A `Request`, or a plain tuple of its fields, which finds the same executables."""


def _handles(recorder: Recorder, node: Program, live: Sequence[Tensor]) -> list[tuple[int, Tensor]]:
    """Every leaf and every live result as (number, tensor)."""
    numbers = [number for n in node.path() for number, _ in n.leaves]
    handles: list[tuple[int, Tensor]] = []
    for position, (number, ref) in enumerate(zip(numbers, recorder.leaves, strict=True)):
        tensor = ref()
        if tensor is None:
            array = recorder.values[position]
            aval = aval_of(array)
            tensor = Tensor.concrete(array, aval, aval)
        handles.append((number, tensor))
    return handles + [(t.index, t) for t in live]


def _in_64_bits(call: Callable[..., Any]) -> Callable[..., Any]:
    """A call of interpreted ops, whose Python numbers may be 64-bit ones."""

    def run(*arguments: Any) -> Any:
        with jax.enable_x64(True):
            return call(*arguments)

    return run


def _donatable(recorder: Recorder) -> tuple[int, ...]:
    owned = recorder.owned
    return tuple([n for n, r in enumerate(recorder.leaves) if owned[n] and r() is None])


def _execute(
    recorder: Recorder, node: Program, wanted: RequestLike, extra: Extra | None
) -> tuple[Any, Any, Executable]:
    """Run the program; returns the values by request order, the failure record, and what ran."""
    if recorder.inline:
        request = Request(*wanted)
        COUNTERS.inline += 1
        executable = interpret_program(node, request, {}, extra)
        executable.call.checks = []  # a traced value cannot be looked at
        floats, ints = np.array(recorder.floats), _packed_ints(recorder)
        with jax.enable_x64(True):  # a kernel may need it inside, such as random numbers
            return executable.call(floats, ints, *recorder.values)[0], None, executable
    floats, ints = _scalars(recorder, node) if recorder.floats or recorder.ints else (None, None)
    executables = node.executables
    executable = None if executables is None else executables.get(wanted)
    if executable is None:
        arguments = (floats, ints, *recorder.values)
        executable = _find(node, Request(*wanted), _chains(recorder), arguments, extra)
    COUNTERS.flushes += 1
    outs, failures = executable.call(floats, ints, *recorder.values)
    if not executable.in_order:
        outs = [outs[n] for n in executable.order]
    return outs, failures, executable


def _execute_effects(
    recorder: Recorder, node: Program, wanted: RequestLike, extra: Extra | None
) -> tuple[Any, Any, Executable]:
    """Run the program and wait until what it does to the world is done."""
    recorder.is_busy = True
    try:
        found = _execute(recorder, node, wanted, extra)
        if not recorder.inline:
            jax.effects_barrier()
    finally:
        recorder.is_busy = False
    return found


def _chains(recorder: Recorder) -> dict[int, tuple[int, ...]]:
    """Final value of each assigned variable -> its leaf (or -1), then every value assigned."""
    by_variable: dict[int, list[int]] = {}
    for variable, leaf, number, _ in recorder.assigned:
        by_variable.setdefault(id(variable), [leaf]).append(number)
    return {numbers[-1]: tuple(numbers) for numbers in by_variable.values()}


def _scalars(recorder: Recorder, node: Program) -> tuple[Any, Any]:
    """The Python numbers as two packed arrays, kept on the device while they do not change."""
    packed = np.array(recorder.floats, np.float64)
    key = (packed.tobytes(), tuple(recorder.ints))
    cached = node.scalar_cache
    if cached is not None and cached[0] == key:
        return cached[1]
    floats, ints = _on_device(packed, recorder)
    if isinstance(floats, Tracer) or isinstance(ints, Tracer):
        with jax.ensure_compile_time_eval():  # the user's own jax.jit is tracing
            floats, ints = _on_device(packed, recorder)
    node.scalar_cache = (key, (floats, ints))
    return floats, ints


def _on_device(packed: np.ndarray[Any, Any], recorder: Recorder) -> tuple[Any, Any]:
    with jax.enable_x64(True):
        floats = jax.device_put(packed) if recorder.floats else None
        ints = jax.device_put(_packed_ints(recorder)) if recorder.ints else None
    return floats, ints


def _packed_ints(recorder: Recorder) -> np.ndarray[Any, Any]:
    return np.array([_wrapped(n) for n in recorder.ints], np.int64)


def _wrapped(number: int) -> int:
    """A Python int as 64 bits, as TensorFlow's conversion wraps it."""
    return (number + 2**63) % 2**64 - 2**63


def _find(
    node: Program,
    request: Request,
    chains: dict[int, tuple[int, ...]],
    arguments: tuple[Any, ...],
    extra: Extra | None,
) -> Executable:
    """An executable for a request met for the first time (or not yet worth compiling)."""
    if node.executables is None:
        node.executables = {}
    if request.tags is None:
        for other, executable in node.executables.items():
            if (
                other.tags is None
                and set(executable.live) >= set(request.live)
                and set(executable.donated) <= set(request.donated)
            ):
                node.executables[request] = served = executable.serving(request)
                return served
    if extra and len(extra) > KEPT_RESIDUALS:
        executable = interpret_program(node, request, chains, extra)
        executable.call = _in_64_bits(executable.call)
        return executable
    if not TIERS.worth_compiling(node, request):
        executable = interpret_program(node, request, chains, extra)
        executable.call = TIERS.rent(node, request, executable)
        return executable
    executable = compile_program(node, request, chains, arguments, extra)
    node.executables[request] = executable
    KEPT.count += 1
    if KEPT.count > KEPT_LIMIT:
        forget_programs()
    return executable


def _first_failure(checks: Sequence[Check], failures: Any) -> tuple[int, Exception] | None:
    """The first op that failed, as (its number, the error to raise)."""
    for check, row in zip(checks, np.asarray(failures), strict=True):
        if row[0] > 0:
            line = "" if check.line is None else f" (recorded at {check.line[0]}:{check.line[1]})"
            message = check.bound.message(*row[1 : 1 + check.bound.details].tolist())
            kind = getattr(message, "kind", errors.InvalidArgumentError)
            error = kind(None, None, f"{message} [Op:{check.kernel.node}]{line}")
            error.__cause__ = getattr(message, "cause", None)
            return check.first, error
    return None


def _deliver(
    recorder: Recorder,
    live: Sequence[Tensor],
    outs: Sequence[Any],
    error: tuple[int, Exception] | None,
    owned: bool,
) -> None:
    """Give every live tensor its array; after a failure, give later ones the error instead."""
    cells = recorder.cells
    if error is None and not recorder.inline:
        for tensor, array in zip(live, outs, strict=True):
            tensor.array = array
            tensor.recorder = None
            tensor.owned = owned
            if tensor.index not in cells or not hasattr(tensor, "cell"):
                tensor.cell = None
                tensor.key = tensor.aval
        if _SPREAD.possible:
            _place(live)
        return
    for tensor, array in zip(live, outs, strict=True):
        if not hasattr(tensor, "cell"):
            tensor.cell = None
        failed = error is not None and tensor.index >= error[0] and tensor.cell is None
        tensor.recorder = Failed(error[1]) if failed and error is not None else None
        if failed:
            continue
        fixed = _fixed(recorder, tensor) if recorder.inline else None
        if fixed is not None:  # such as `tf.shape(x)[0]`: a shape may depend on it
            tensor.array, tensor.key = fixed, static_key(fixed)
            continue
        tensor.array = array
        tensor.owned = owned and not recorder.inline
        tensor.aval = aval_of(array)
        if tensor.cell is None:
            tensor.key = tensor.aval
    if error is not None:
        _undo(recorder, error[0])


def _fixed(recorder: Recorder, tensor: Tensor) -> np.ndarray[Any, Any] | None:
    """The value of a tensor that only depends on shapes and Python numbers."""
    return recorder.node.known(tensor.index, (recorder.floats, recorder.ints))


def _undo(recorder: Recorder, failed: int) -> None:
    """Undo assignments after the failed op to variables the program had not read before."""
    seen: set[int] = set()
    for variable, _, number, before in recorder.assigned:
        if id(variable) not in seen and number > failed and before is not None:
            variable.hold(before)
        seen.add(id(variable))


class _Spread:
    """Whether arrays on several devices have been seen: only then results are asked for theirs."""

    def __init__(self) -> None:
        self.possible = False


_SPREAD = _Spread()


def arrays_are_spread() -> None:
    """From now on keep the placement of results in their keys."""
    _SPREAD.possible = True


def _place(live: Sequence[Tensor]) -> None:
    """Keep where results are.

    On CPUs several programs that wait for each other's devices may hold all threads there are, and
    none goes on: a program on several devices is awaited before the next.
    """
    if jax.default_backend() == "cpu":
        jax.block_until_ready([tensor.array for tensor in live])
    for tensor in live:
        placed = placed_key(tensor.aval, tensor.array)
        cell = None if tensor.cell is None else tensor.cell()
        tensor.key = placed if cell is None else variable_key(placed, cell.trainable)


_NOTHING: list[Any] = []
_NO_ENTRIES: dict[int, Any] = {}
"""What a recorder that has run holds; nothing is added to these."""


def _forget(recorder: Recorder) -> None:
    """Drop what belonged to the run: the recorder may be kept by leaf marks of its tensors."""
    recorder.done = True
    recorder.values = recorder.leaves = recorder.results = recorder.listeners = _NOTHING
    recorder.assigned = _NOTHING
    recorder.callbacks = recorder.cells = _NO_ENTRIES
    if recorder.table_node is not None:
        recorder.table_node, recorder.table = None, _NOTHING
    if recorder.kept is not None or recorder.entered is not None:
        recorder.kept = recorder.entered = None


def peek(recorder: Recorder, tensor: Tensor) -> Any:
    """Compute one pending value of another thread's recorder without disturbing it."""
    if recorder.symbolic is not None and LOCAL.recorder is recorder:
        raise errors.OperatorNotAllowedInGraphError(recorder.symbolic)
    if recorder.symbolic is not None:
        raise errors.InaccessibleTensorError(
            f"A tensor of shape {tensor.shape} and dtype {tensor.dtype.name} is out of scope: it "
            "belongs to a function that was being traced. Return it from the function instead."
        )
    node = recorder.node
    plan = Plan(node, (tensor.index,), None, {}, effects=False)
    plan.checks = []
    if plan.absent:
        raise RuntimeError(
            f"A tensor of shape {tensor.shape} and dtype {tensor.dtype.name} has no value here: it "
            "is part of a jacobian being recorded, or of a computation that is gone. Compute with "
            "tf ops instead of reading it."
        )
    floats = np.array(recorder.floats)
    ints = _packed_ints(recorder)
    values = recorder.values[: len(plan.leaf_numbers)]
    with jax.enable_x64(True):
        return plan(floats, ints, *values)[0][0]


RUN.flush = flush
RUN.peek = peek

"""`tf.autodiff.ForwardAccumulator`: tangents carried forward through the recorded ops."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from tapejax._src.core import nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.program import Builder, Program
from tapejax._src.engine.recorder import LOCAL, Recorder
from tapejax._src.engine.recording import advance, mark, number_of
from tapejax._src.engine.registry import public
from tapejax._src.tape.arguments import UnconnectedGradients, zeros_like_value


class Seeds(NamedTuple):
    """A mark: these values have these tangents (pairs of numbers)."""

    accumulator: int
    pairs: tuple[tuple[int, int], ...]


class Pushed(NamedTuple):
    """A mark: the tangents of everything before it have been emitted (they are its payload)."""

    accumulator: int


@public("autodiff.ForwardAccumulator")
class ForwardAccumulator:
    """Computes Jacobian-vector products as a program runs: forward-mode differentiation.

    Args:
        primals: Tensors or variables, in any structure.
        tangents: Tensors of the same structure, shapes and dtypes: the direction.

    Raises:
        ValueError: If structures, shapes or dtypes differ, or a primal is given twice.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant(3.0)
        >>> with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as accumulator:
        ...     y = x * x
        >>> float(accumulator.jvp(y))
        12.0

    Differs from TensorFlow:
        None. As there, a `tf.custom_gradient` function is differentiated through its body.

    References:
        https://www.tensorflow.org/api_docs/python/tf/autodiff/ForwardAccumulator
    """

    wants_to_know = True
    """It is told before a program runs, to hold on to the tangents of values that outlive it."""

    def __init__(self, primals: Any, tangents: Any) -> None:
        nest.assert_same_structure(primals, tangents)
        self._primals = nest.flatten(primals)
        seen: set[int] = set()
        for primal in self._primals:
            if id(primal) in seen:
                raise ValueError(
                    "Tensor {} was specified as a primal multiple times. This may indicate an "
                    "error. If it was intended, please sum the corresponding tangents."
                )
            seen.add(id(primal))
        self._tangents = [
            _fitting_tangent(p, t)
            for p, t in zip(self._primals, nest.flatten(tangents), strict=True)
        ]
        self._recording = False
        self._used = False
        self._carried: list[tuple[weakref.ref[Tensor], Tensor]] = []
        self.number = -1
        self.recorder: Recorder | None = None

    @property
    def is_open_to_questions(self) -> bool:
        """Never: it keeps tangents itself, a run owes it nothing more."""
        return False

    def __enter__(self) -> ForwardAccumulator:
        """Start recording."""
        if self._recording or self._used:
            raise ValueError(
                "Accumulator is already recording."
                if self._recording
                else "An accumulator cannot be entered a second time; make a new one."
            )
        self._recording = self._used = True
        LOCAL.active.append(self)
        self.join(LOCAL.recorder)
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stop recording; products can still be asked for."""
        if self.recorder is LOCAL.recorder:
            self._push()
            mark(("exit", self.number, None))
        self._recording = False
        LOCAL.active.remove(self)

    def join(self, recorder: Recorder) -> None:
        """Take part in a program: called on entering, and when a new program starts meanwhile."""
        self.recorder = recorder
        self.number = len(recorder.listeners)
        recorder.listeners.append(weakref.ref(self))
        mark(("enter", self.number, False))
        pairs: list[tuple[Any, Any]] = list(zip(self._primals, self._tangents, strict=True))
        pairs += [(t, tangent) for ref, tangent in self._carried if (t := ref()) is not None]
        numbers = tuple([(number_of(p), number_of(t)) for p, t in pairs])
        mark(Seeds(self.number, numbers))

    def before_run(self, recorder: Recorder) -> None:
        """Hold on to the tangents of every value that will outlive the run."""
        if self.recorder is not recorder:
            return
        tangents = self._push() if self._recording else _pushed(recorder.node, self.number)
        held = {id(t) for ref, _ in self._carried if (t := ref()) is not None}
        for tensor, number in _alive(recorder):
            if number in tangents and id(tensor) not in held:
                handle = _handle(recorder, tangents[number])
                self._carried.append((weakref.ref(tensor), handle))

    def jvp(
        self,
        primals: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """The directional derivatives of tensors computed in the block.

        Args:
            primals: Tensors, in any structure.
            unconnected_gradients: What to return for a tensor that does not depend on the primals
                of the accumulator.

        Returns:
            For each tensor its tangent, of the same shape and dtype, or None.

        Raises:
            ValueError: If `unconnected_gradients` is unknown.
        """
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO

        def one(value: Any) -> Any:
            tensor = value.tensor if isinstance(value, Variable) else value
            found = self._tangent(tensor)
            return zeros_like_value(tensor) if found is None and zero else found

        return nest.map_structure(one, primals)

    def _tangent(self, tensor: Tensor) -> Tensor | None:
        recorder = LOCAL.recorder
        if self.recorder is recorder:
            tangents = self._push() if self._recording else _pushed(recorder.node, self.number)
            number = tangents.get(number_of(tensor))
            if number is not None:
                return _handle(recorder, number)
        for primal, tangent in zip(self._primals, self._tangents, strict=True):
            if primal is tensor or (isinstance(primal, Variable) and primal.tensor is tensor):
                return tangent
        for ref, tangent in self._carried:
            if ref() is tensor:
                return tangent
        return None

    def _push(self) -> dict[int, int]:
        """Emit the tangents of everything recorded so far: number -> number of its tangent."""
        recorder = LOCAL.recorder
        event = Pushed(self.number)
        if recorder.node.event == event:
            return recorder.node.payload
        node = recorder.node.edges.get(event)
        if node is None:
            builder = Builder(recorder.node, list(recorder.avals()), event)
            builder.node.payload = _Pushing(builder, self.number).tangents
            node = builder.attach(event)
        advance(recorder, node)
        return node.payload


class _Pushing:
    """Emits the tangents of a program's ops, those emitted before taken from their mark."""

    def __init__(self, builder: Builder, accumulator: int) -> None:
        self.builder = builder
        self.tangents: dict[int, int] = {}
        self._seen: dict[int, tuple[Kernel, tuple[int, ...], tuple[int, ...]]] = {}
        assert builder.node.parent is not None
        path = builder.node.parent.path()
        done = max((n for n, x in enumerate(path) if x.event == Pushed(accumulator)), default=-1)
        on = False
        for place, node in enumerate(path):
            event = node.event
            if type(event) is tuple and event[1] == accumulator:
                on = event[0] == "enter"
            elif isinstance(event, Seeds) and event.accumulator == accumulator:
                self.tangents.update(event.pairs)
            if place == done:
                self.tangents.update(node.payload)
            if on:
                self._node(node, emit=place > done)

    def _node(self, node: Program, emit: bool) -> None:
        for first, (split, residuals) in node.splits.items():
            if first in self._seen:
                _, ins, outs = self._seen[first]
                self._seen[first] = (split.forward, ins, outs + residuals)
                if emit:
                    self._op(*self._seen[first])
        for op in node.ops:
            self._seen[op[2][0]] = op
            if emit:
                self._op(*op)

    def _op(self, kernel: Kernel, ins: tuple[int, ...], outs: tuple[int, ...]) -> None:
        if kernel.gradient == "none" or kernel.assigns is not None:
            return
        table = self.builder.table
        wanted = tuple(n for n, i in enumerate(ins) if i in self.tangents and table[i].inexact)
        if not wanted:
            return
        push = kernel.push(wanted, tuple([table[i] for i in ins]))
        if push.kernel is None:
            return
        given = [self.tangents[ins[n]] for n in wanted]
        results = self.builder.emit(push.kernel, (*ins, *given))
        for position, result in zip(push.positions, results, strict=True):
            if outs[position] not in self.tangents:
                self.tangents[outs[position]] = result


def _pushed(node: Program, accumulator: int) -> dict[int, int]:
    """The tangents as they were when the accumulator last emitted any."""
    event = Pushed(accumulator)
    walk: Program | None = node
    while walk is not None:
        if walk.event == event:
            return walk.payload
        walk = walk.parent
    return {}


def _alive(recorder: Recorder) -> Iterator[tuple[Tensor, int]]:
    for ref in recorder.results:
        tensor = ref()
        if tensor is not None:
            yield tensor, tensor.index
    numbers = [number for node in recorder.node.path() for number, _ in node.leaves]
    for number, ref in zip(numbers, recorder.leaves, strict=True):
        tensor = ref()
        if tensor is not None:
            yield tensor, number


def _handle(recorder: Recorder, number: int) -> Tensor:
    tensor = Tensor(recorder.avals()[number], recorder, number)
    recorder.results.append(weakref.ref(tensor))
    return tensor


def _fitting_tangent(primal: Any, tangent: Any) -> Tensor:
    if not isinstance(primal, (Tensor, Variable)):
        raise ValueError(
            f"A primal must be a tf.Tensor or tf.Variable, got {primal!r} of type "
            f"{type(primal).__name__}"
        )
    value = as_tensor(tangent, primal.dtype)
    if tuple(value.shape) != tuple(primal.shape):
        raise ValueError(
            f"Dimensions must be equal: a primal of shape {primal.shape} was given a tangent of "
            f"shape {value.shape}"
        )
    return value

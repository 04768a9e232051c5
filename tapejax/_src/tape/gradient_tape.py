"""`tf.GradientTape`: marks in the recorded program, and questions asked of it."""

from __future__ import annotations

import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from tapejax._src.core import nest
from tapejax._src.core.arrivals import ARRIVALS
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine import flush as running
from tapejax._src.engine.block import is_around, recording_around
from tapejax._src.engine.convert import variable_behind
from tapejax._src.engine.recorder import AFTER_TAPE, LOCAL, SOFT_LIMIT, TAPED_LIMIT, Recorder
from tapejax._src.engine.recording import mark, number_of
from tapejax._src.tape import differentiate
from tapejax._src.tape.arguments import (
    UnconnectedGradients,
    check_batches,
    check_chunk,
    flat_seeds,
    flat_sources,
    flat_targets,
    one_tensor,
    pack_gradients,
    run_abandoned,
    value_of,
    warn_not_floating,
    warn_persistent,
    zero_if_unconnected,
    zeros,
)
from tapejax._src.tape.carry import Entry
from tapejax._src.tape.derivatives import USED, Derivatives
from tapejax._src.tape.explanation import Explains, check_connected, note_unconnected
from tapejax._src.tape.past import NO_PAST, Past
from tapejax._src.tape.questions import question_of
from tapejax._src.tape.recorded import Access, View, accessed_variables
from tapejax._src.tape.shortcut import follow_shortcut, keep_shortcut, shortcut_key

NONE = UnconnectedGradients.NONE


class GradientTape(Derivatives, Explains):
    """Records operations for automatic differentiation.

    Ops on trainable variables, and on tensors passed to `watch`, are differentiable inside the
    `with` block. Recording costs nothing extra: the tape is two marks in the recorded program.

    Args:
        persistent: Whether more than one gradient can be asked for.
        watch_accessed_variables: Whether trainable variables are watched when they are read.
        strict: Whether `gradient` raises ValueError instead of returning None, with the reasons.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> float(tape.gradient(y, x))
        6.0
    """

    wants_to_know = False  # of programs about to run: `tape/carry.py` sees to it
    is_open_to_questions = False
    # Until it is entered, watches or is asked:
    number = -1
    recorder: Recorder | None = None
    past = NO_PAST
    _recording = False
    _paused = False
    _watched: tuple[Any, ...] = ()
    _accesses: tuple[Access, ...] = ()

    def __init__(
        self,
        persistent: bool = False,
        watch_accessed_variables: bool = True,
        *,
        strict: bool = False,
    ) -> None:
        self._persistent = self.keeps_inputs = persistent  # it may differentiate its own gradients
        self._auto = watch_accessed_variables
        self._strict = strict
        ARRIVALS.look()

    def _clear(self) -> None:
        """Forget everything recorded."""
        self.number = -1
        self.recorder = None
        self.past = NO_PAST
        self._watched = ()
        self._accesses = ()

    def __enter__(self) -> GradientTape:
        """Start recording; a tape that was left and not used goes on with what it has."""
        if self._recording:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an "
                "already-active tape."
            )
        recorder, active = LOCAL.recorder, LOCAL.active
        long = recorder.assigned or recorder.node.depth > SOFT_LIMIT
        if long and not active and recorder.symbolic is None:
            running.flush(recorder)  # a step ends here
            recorder = LOCAL.recorder
        if not self.is_open_to_questions:
            if self.recorder is not None:
                self._clear()
            self.is_open_to_questions = True
        self._recording = True
        if self.recorder is recorder:
            mark(("resume", self.number, None))
        else:
            self.join(recorder)
        active.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stop recording; an exception from the block propagates."""
        if self._recording:
            self._leave()

    def _leave(self) -> None:
        recorder, active = LOCAL.recorder, LOCAL.active
        self._recording = False
        active.remove(self)
        if self.recorder is recorder:
            mark(("exit", self.number, None))
        if not active and recorder.limit >= 0:
            recorder.limit = recorder.node.depth + AFTER_TAPE

    def join(self, recorder: Recorder) -> None:
        """Take part in a program: called on entering, and when a new program starts meanwhile."""
        self.recorder = recorder
        listeners = recorder.listeners
        self.number = len(listeners)
        listeners.append(weakref.ref(self))
        if self.past.entries:
            recorder.keep_leaves()
        mark(("enter", self.number, self._auto))
        if recorder.limit >= SOFT_LIMIT:
            recorder.limit = TAPED_LIMIT
        for value in self._watched:
            mark(("watch", self.number, number_of(value)))
        if self._paused:
            mark(("stop", self.number, None))

    # ------------------------------------------------------------------ watching
    def watch(self, tensor: Any) -> None:
        """Have the tape follow a tensor or variable, or a structure of them.

        Args:
            tensor: Tensor, variable, or nested structure of them.

        Raises:
            ValueError: If something else is passed.
            AttributeError: If the tape was never entered.
        """
        if not self.is_open_to_questions:
            raise AttributeError(
                "'NoneType' object has no attribute 'watch': the tape is not recording. "
                "Enter it first: `with tape: tape.watch(x)`."
            )
        plain = type(tensor) is Tensor or type(tensor) is Variable
        for value in (tensor,) if plain else nest.flatten_differentiable(tensor):
            value = value if plain else variable_behind(value)
            if not isinstance(value, (Tensor, Variable)):
                raise ValueError(
                    f"Passed in object {value} of type {type(value).__name__!r}, not tf.Tensor or "
                    "tf.Variable or ExtensionType."
                )
            self._watch_one(value)

    def _watch_one(self, value: Any) -> None:
        if not value_of(value).aval.inexact:
            warn_not_floating(value.dtype)
            if value.dtype.name == "string":
                return
        self._watched += (value,)
        if self.recorder is LOCAL.recorder:
            mark(("watch", self.number, number_of(value)))

    def assigned(self, variables: Sequence[Variable]) -> None:
        """Variables got new values in the block: follow those of the watched ones too."""
        for variable in variables if self._watched else ():
            if any(value is variable for value in self._watched):
                mark(("watch", self.number, number_of(variable)))

    def accessed(self, variable: Variable) -> None:
        """A variable's value was read without an op (printing, `numpy()`)."""
        mark(("access", self.number, number_of(variable)))

    def sees(self, value: Any) -> bool:
        """Whether the tape is recording and follows this value."""
        if not self._recording or self._paused or self.recorder is not LOCAL.recorder:
            return False
        if isinstance(value, Variable):
            return self.follows(value)
        recorder = LOCAL.recorder
        number = recorder.number(value)
        if number is None:
            return self.past.knows(value) or any(w is value for w in self._watched)
        view = View(recorder.node, self.number, recorder.avals())
        return number in view.active

    @contextmanager
    def stop_recording(self) -> Generator[None]:
        """Record nothing in this tape inside the `with` block; other tapes go on.

        Raises:
            RuntimeError: If the tape was never entered.
            ValueError: If it is not recording now.

        Example:
            >>> import tapejax as tf
            >>> x = tf.Variable(3.0)
            >>> with tf.GradientTape() as tape:
            ...     with tape.stop_recording():
            ...         scale = x * x
            ...     y = scale * x
            >>> float(tape.gradient(y, x))
            9.0
        """
        if not self.is_open_to_questions:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        if not self._recording or self._paused:
            raise ValueError("Tape is not recording.")
        if self.recorder is not LOCAL.recorder:  # in a loop or branch: it sees nothing there
            return (yield)
        self._paused = True
        mark(("stop", self.number, None))
        try:
            yield
        finally:
            self._paused = False
            if self._recording and self.recorder is LOCAL.recorder:
                mark(("resume", self.number, None))
            elif self._recording:
                self.join(LOCAL.recorder)

    def reset(self) -> None:
        """Forget everything recorded and watched; usable only inside the block.

        Raises:
            ValueError: If the tape is not recording.
        """
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._leave()
        self._clear()
        self.is_open_to_questions = True
        self._recording = True
        self.join(LOCAL.recorder)
        LOCAL.active.append(self)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables read or watched while recording, in order of their creation."""
        recorder = self.recorder
        views = self._accesses
        if self.is_open_to_questions and recorder is not None and recorder is LOCAL.recorder:
            views += ((recorder.node, self.number, recorder.cells),)
        return accessed_variables(views)

    def take(self, entry: Entry, recorder: Recorder) -> None:
        """Keep what is needed of a program that has been run."""
        if self.past is NO_PAST:
            self.past = Past()
        self.past.take(entry)
        self._accesses += ((recorder.node, self.number, entry.cells),)

    def _import(self) -> None:
        """Tell the program being recorded what this tape knows from earlier ones."""
        recorder = LOCAL.recorder
        if self.recorder is not recorder:
            if self.recorder is not None and self.recorder.values:
                run_abandoned(self.recorder, recorder)
            self.join(recorder)
            mark(("exit", self.number, None))
        self.past.enter(recorder, self.number)

    def discard(self) -> None:
        """Forget everything: nothing will be asked."""
        self.is_open_to_questions = False
        self._clear()

    # ------------------------------------------------------------------ questions
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """The derivative of the sum of the targets by each source.

        Args:
            target: Tensor or nested structure of tensors to differentiate.
            sources: Tensors or variables, in any nested structure.
            output_gradients: One tensor for each target, to weight its elements. Default: ones.
            unconnected_gradients: What to return for a source the target does not depend on.

        Returns:
            For each source a tensor of its shape and dtype, an `IndexedSlices`, or None, in the
            structure of `sources`.

        Raises:
            RuntimeError: If the tape is used up, or was never entered.
            TypeError: If a target or source is not a tensor or variable.
            ValueError: If `unconnected_gradients` is unknown.
            LookupError: If an op on the way has no gradient.

        Example:
            >>> import tapejax as tf
            >>> w = tf.Variable([1.0, 2.0])
            >>> with tf.GradientTape() as tape:
            ...     loss = tf.reduce_sum(w ** 3)
            >>> tape.gradient(loss, w).numpy().tolist()
            [3.0, 12.0]
        """
        if not self.is_open_to_questions:
            raise RuntimeError(USED)
        zero = unconnected_gradients is not NONE and zero_if_unconnected(unconnected_gradients)
        targets = [target] if type(target) is Tensor else flat_targets(target)
        flat = flat_sources(sources)
        seeds: Sequence[Any] = (None,) * len(targets)
        if output_gradients is not None:
            seeds = flat_seeds(output_gradients, len(targets))
        gradients = self._ask("gradient", targets, seeds, flat, zero)
        if gradients and gradients[0] is None:
            note_unconnected(self, targets, flat, gradients)
        if self._strict:
            check_connected(self, targets, flat, gradients)
        return gradients if flat is sources else pack_gradients(sources, gradients)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
        *,
        chunk_size: int | None = None,
    ) -> Any:
        """The derivative of every element of the target by every element of each source.

        Args:
            target: One tensor.
            sources: Tensors or variables, in any nested structure.
            unconnected_gradients: What to return for a source the target does not depend on.
            parallel_iterations: Accepted for compatibility.
            experimental_use_pfor: False needs a persistent tape in eager code, as in TensorFlow.
            chunk_size: How many rows to compute at once, which bounds memory. Default: all.

        Returns:
            For each source a tensor of shape `target.shape + source.shape`, or None.

        Raises:
            RuntimeError: If the tape is used up, or was never entered.

        Example:
            >>> import tapejax as tf
            >>> x = tf.constant([1.0, 2.0])
            >>> with tf.GradientTape() as tape:
            ...     tape.watch(x)
            ...     y = x * x
            >>> tape.jacobian(y, x).numpy().tolist()
            [[2.0, 0.0], [0.0, 4.0]]
        """
        del parallel_iterations
        self._check_rows("jacobian", experimental_use_pfor)
        zero = zero_if_unconnected(unconnected_gradients)
        flat = flat_sources(sources)
        targets = [one_tensor(target, "jacobian")]
        if not targets[0].aval.inexact:
            self._start_question("jacobian")
            self._end_question()
            return nest.pack_sequence_as(sources, [None] * len(flat))
        check_chunk(chunk_size)
        rows = self._ask("jacobian", targets, [None], flat, chunk=chunk_size)
        if zero:
            rows = [
                zeros(targets[0].aval.shape + s.shape, s) if r is None else r
                for r, s in zip(rows, [value_of(s) for s in flat], strict=True)
            ]
        return rows if flat is sources else pack_gradients(sources, rows)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The jacobian of each example of a batch by itself.

        Args:
            target: Tensor `[batch, ...]`; each example should depend on that of `source` only.
            source: Tensor `[batch, ...]`.
            unconnected_gradients: Accepted for compatibility: unconnected means zeros here.
            parallel_iterations: Accepted for compatibility.
            experimental_use_pfor: As for `jacobian`.

        Returns:
            Tensor of shape `[batch] + target.shape[1:] + source.shape[1:]`.

        Raises:
            RuntimeError: If the tape is used up, or was never entered.
            ValueError: If ranks are below 2 or the batches differ.

        Example:
            >>> import tapejax as tf
            >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
            >>> with tf.GradientTape() as tape:
            ...     tape.watch(x)
            ...     y = x * x
            >>> tape.batch_jacobian(y, x).numpy().tolist()
            [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        del parallel_iterations
        self._check_rows("batch_jacobian", experimental_use_pfor)
        zero_if_unconnected(unconnected_gradients)
        y, x = one_tensor(target, "batch_jacobian"), value_of(source)
        check_batches(y, x)
        (rows,) = self._ask("batch_jacobian", [y], [None], [source])
        return zeros(y.aval.shape + x.aval.shape[1:], x) if rows is None else rows

    def _check_rows(self, what: str, together: bool) -> None:
        if not self.is_open_to_questions:
            raise RuntimeError(USED)
        if not together and not self._persistent and LOCAL.recorder.symbolic is None:
            raise RuntimeError(
                f"GradientTape must be created with persistent=True to compute the {what} with "
                "eager execution enabled and with experimental_use_pfor set to False."
            )

    def _ask(
        self,
        kind: str,
        targets: Sequence[Any],
        seeds: Sequence[Any],
        sources: Sequence[Any],
        zero: bool = False,
        chunk: int | None = None,
    ) -> list[Any]:
        """Record a question, by the short way if it was asked before; the tape is then used up."""
        recorder = LOCAL.recorder
        if self.recorder is not recorder and is_around(self.recorder, recorder):
            with recording_around(self.recorder, [*targets, *seeds, *sources]):
                return self._ask(kind, targets, seeds, sources, zero, chunk)
        if self._recording or self.recorder is not recorder or self.past is not NO_PAST:
            self._start_question(kind)
            recorder = LOCAL.recorder
        start = recorder.node
        key = found = None
        if len(targets) == 1 and seeds[0] is None and not zero and self.past is NO_PAST:
            key = None if chunk else shortcut_key(kind, recorder, self.number, targets[0], sources)
            if key is not None:
                found = follow_shortcut(recorder, key)
        if found is None:
            question = question_of(self, targets, seeds, sources, zero)
            if kind == "gradient":
                found = differentiate.answer(question)
            else:
                aval = value_of(targets[0]).aval
                found = differentiate.jacobian(question, aval, kind == "batch_jacobian", chunk)
            if key is not None:
                keep_shortcut(recorder, start, key)
        self._end_question()
        return found

    def _start_question(self, what: str) -> None:
        if self._recording:
            if not self._persistent:
                self._leave()
            elif not self._kept_open:
                warn_persistent(what)
        if self.recorder is not LOCAL.recorder or self.past.entries:
            self._import()

    def follows(self, variable: Variable) -> bool:
        """Whether a variable is watched."""
        return (variable.trainable and self._auto) or any(v is variable for v in self._watched)

    def _end_question(self) -> None:
        if not self._persistent:
            recorder = LOCAL.recorder
            if self.recorder is recorder:
                self._accesses += ((recorder.node, self.number, recorder.cells),)
            self.is_open_to_questions = False
            self._watched = ()
            self.past = NO_PAST

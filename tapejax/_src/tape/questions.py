"""What a tape is asked for, in numbers of values of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import number_of
from tapejax._src.tape.arguments import value_of
from tapejax._src.tape.differentiate import Question
from tapejax._src.tape.past import NO_PAST, Past


class Asked(Protocol):
    """What is needed of the tape.

    Attributes:
        number: Its number in the program.
        past: What it keeps of earlier programs.
    """

    number: int
    past: Past

    def follows(self, variable: Variable) -> bool:
        """Whether a variable is watched."""
        ...


def question_of(
    tape: Asked, targets: Sequence[Any], seeds: Sequence[Any], sources: Sequence[Any], zero: bool
) -> Question:
    """The question for the derivative of the targets, weighted by the seeds, by the sources.

    Args:
        tape: The tape asked.
        targets: Tensors and variables.
        seeds: Output gradients, or None.
        sources: Tensors and variables.
        zero: Whether unconnected sources get zeros.
    """
    kept = [(t, s) for t, s in zip(targets, seeds, strict=True) if value_of(t).aval.inexact]
    numbers = tuple([number_of(t) for t, _ in kept])
    seed_numbers = tuple([None if s is None else number_of(s) for _, s in kept])
    source_numbers = tuple([_numbers_of(tape, s) for s in sources])
    fallback = tuple([value_of(s).aval if zero else None for s in sources])
    inline = LOCAL.recorder.inline
    return Question(tape.number, numbers, seed_numbers, source_numbers, fallback, inline)


def _numbers_of(tape: Asked, source: Any) -> tuple[int, ...]:
    """The numbers of a source: one of a tensor, those of all its values of a variable."""
    if isinstance(source, Tensor):
        return (number_of(source),)
    now = number_of(source)
    if not tape.follows(source):
        return (now,)
    recorder = LOCAL.recorder
    if not recorder.assigned and tape.past is NO_PAST:
        return (now,)
    found: dict[int, None] = {now: None}
    ref = source.reference
    for number, cell in recorder.cells.items():
        if cell is ref:
            found[number] = None
    for number in tape.past.numbers_of(ref):
        found[number] = None
    return tuple(found)

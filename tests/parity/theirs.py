"""What TensorFlow gives for a row, each call of it made once."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import tensorflow

from parity.library import NO_GRADIENT_ENTRY, Library
from parity.ours import answers
from parity.together import Question

TENSORFLOW = Library(tensorflow)

# what TensorFlow raises, besides LookupError, where it cannot differentiate
NO_SECOND = (
    tensorflow.errors.OpError,
    AttributeError,
    NotImplementedError,
    TypeError,
    ValueError,
)


@lru_cache(maxsize=32)
def their_answers(row_id: str, pure: bool = False) -> Theirs:
    """Those to the question that tapejax is asked about a row."""
    return Theirs(answers(row_id, pure).single.question)


class Theirs:
    """The answers of TensorFlow to a question."""

    def __init__(self, question: Question) -> None:
        """Nothing is run until it is looked at."""
        self.question = question

    @cached_property
    def value(self) -> Any:
        """The outputs."""
        return TENSORFLOW.value(self.question.row, self.question.call)

    @cached_property
    def first(self) -> Any:
        """The first gradients, or `NO_GRADIENT_ENTRY`."""
        asked = self.question
        return TENSORFLOW.gradients(asked.row, asked.call, asked.seeds)

    @cached_property
    def second(self) -> Any:
        """The second gradients, or `NO_GRADIENT_ENTRY` where TensorFlow raises any error."""
        asked = self.question
        try:
            return TENSORFLOW.second_gradients(
                asked.row, asked.call, asked.seeds, asked.second_seeds
            )
        except NO_SECOND:
            return NO_GRADIENT_ENTRY

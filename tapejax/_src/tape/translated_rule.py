"""Gradient rules made while a function was traced, called where the function is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapejax._src.engine.recorder import LOCAL, Recorder

Scope = tuple[Recorder, Mapping[int, int]]
"""The recorder of a trace, and the numbers its values have in the program now recorded."""


class TranslatedRule:
    """A rule whose closure holds values of traced functions.

    Attributes:
        rule: The rule.
        scopes: Where those values are to be found.
    """

    __slots__ = ("rule", "scopes")

    def __init__(self, rule: Callable[..., Any], scopes: list[Scope]) -> None:
        self.rule = rule
        self.scopes = scopes

    def __call__(self, *cotangents: Any) -> Any:
        """Call the rule, its values found under their present numbers."""
        recorder = LOCAL.recorder
        before = recorder.aliases
        recorder.aliases = (*before, *self.scopes)
        try:
            return self.rule(*cotangents)
        finally:
            recorder.aliases = before

    def numbers(self) -> set[int]:
        """The numbers the rule may ask for."""
        return {number for _, mapping in self.scopes for number in mapping.values()}


def translated(
    rule: Callable[..., Any], mapping: Mapping[int, int], recorder: Recorder | None = None
) -> Callable[..., Any]:
    """The rule in another program.

    Args:
        rule: The rule.
        mapping: Number in the program it was in -> number in the other.
        recorder: The recorder of the trace it was in, if it was a trace.
    """
    scopes: list[Scope] = []
    if isinstance(rule, TranslatedRule):
        scopes = [
            (traced, {k: mapping[v] for k, v in inner.items() if v in mapping})
            for traced, inner in rule.scopes
        ]
        rule = rule.rule
    if recorder is not None:
        scopes.append((recorder, mapping))
    return TranslatedRule(rule, scopes) if scopes else rule

"""Counters of what the engine did: asked for by tests, benchmarks and reports, never guessed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """How often the engine did each of its expensive things, in this process."""

    programs: int = 0
    """Program nodes made: a structure was met for the first time."""
    flushes: int = 0
    """Times a recorded program was run."""
    compiles: int = 0
    """Programs compiled by XLA."""
    compile_seconds: float = 0.0
    """Seconds spent tracing and compiling them."""
    interpreted: int = 0
    """Programs run op by op because they had not earned a compilation."""
    inline: int = 0
    """Programs run on the tracers of the user's own JAX transformation."""


COUNTERS = Counters()

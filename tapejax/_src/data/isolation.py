"""A room of its own for the user's functions in a pipeline.

Elements are computed when somebody asks for them: within a step that is being recorded, under a
tape, or while a function is traced. What a pipeline does must not become part of that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator

import jax

from tapejax._src.engine.recorder import LOCAL, new_recorder


@contextlib.contextmanager
def isolated() -> Generator[None]:
    """A block with a recorder of its own and no tapes; what it records must be read inside."""
    outer, active = LOCAL.recorder, LOCAL.active
    eager = jax.ensure_compile_time_eval() if outer.inline else contextlib.nullcontext()
    new_recorder()
    LOCAL.active = []
    try:
        with eager:
            yield
    finally:
        LOCAL.recorder, LOCAL.active = outer, active

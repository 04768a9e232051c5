"""The recorder: one walk along the trie of programs, per thread.

Recording an op is one dictionary look-up. Nothing of the recorder changes before the look-up, or
the extension of the trie, succeeded: an op that raises leaves everything as it was.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from tapejax._src.core.avals import Aval
from tapejax._src.core.config import SETTINGS
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.program import ROOT, Program

FLOAT = "float"
INT = "int"

SOFT_LIMIT = 64
"""Nodes outside a tape after which a program is cut where one was cut before, or at twice this."""
TAPED_LIMIT = 3000
"""The same inside a tape."""
AFTER_TAPE = 256
"""How many more nodes the update after a tape may take."""


class Assigned(NamedTuple):
    """A value a variable was given in one program.

    Attributes:
        variable: The variable.
        leaf: Number of the leaf with its value before, or -1 when the program had not read it.
        number: Number of the value assigned.
        before: The value before, where undoing the assignment needs it; else None.
    """

    variable: Variable
    leaf: int
    number: int
    before: Tensor | None


class Recorder:
    """One run along the trie: where it stands, and the values this run supplies.

    Attributes:
        node: The program recorded so far.
        leaves: Weak references to the tensors that entered, by order of `Program.leaves`.
        entered: `id` of such a tensor -> (weak reference, number), for when another thread has
            taken the mark `Tensor.leaf` over.
        values: Their arrays.
        owned: Whether each buffer may be donated once its tensor is gone.
        floats, ints: The Python numbers of this run.
        results: Weak references to the tensors handed out.
        listeners: Weak references to the tapes that took part, and how many there were.
        cells: Value number -> weak reference to the variable whose value it is.
        callbacks: First output of a custom op -> the user's gradient function of this run.
        assigned: What was assigned to variables in this program, in order.
        aliases: While a rule of a traced function runs: that function's recorder, and the numbers
            its values have here.
        limit: Depth from which a cut is looked for.
        owner: The thread it records for.
        rules: How many gradient rules of the user are running: a value read meanwhile is computed
            on the side, so that the gradient being recorded goes on.
        symbolic: Why values cannot be read (a function is being traced), or None.
        captures: While a function is traced: the outside tensors it uses. Else None.
        held: When a tape goes on from an earlier program: the tensors that entered, kept alive
            because they link the two. Else None.
        hidden: While a function is traced: what it draws anew at each call. Else None.
        inline: Whether some leaf is a tracer of the user's own JAX transformation.
        lock: Held while the program runs, so that another thread may read a pending value.
    """

    __slots__ = (
        "__weakref__",
        "aliases",
        "assigned",
        "callbacks",
        "captures",
        "cells",
        "entered",
        "floats",
        "held",
        "hidden",
        "inline",
        "ints",
        "leaves",
        "limit",
        "listeners",
        "lock",
        "node",
        "owned",
        "owner",
        "results",
        "rules",
        "symbolic",
        "table",
        "table_node",
        "values",
    )

    def __init__(self, symbolic: str | None = None, lock: Any = None, owner: Any = None) -> None:
        self.node: Program = ROOT
        self.leaves: list[weakref.ref[Tensor]] = []
        self.entered: dict[int, tuple[weakref.ref[Tensor], int]] = {}
        self.values: list[Any] = []
        self.owned: list[bool] = []
        self.held: list[Tensor] | None = None
        self.floats: list[float] = []
        self.ints: list[int] = []
        self.results: list[weakref.ref[Tensor]] = []
        self.listeners: list[weakref.ref[Any]] = []
        self.cells: dict[int, weakref.ref[Variable]] = {}
        self.callbacks: dict[int, Callable[..., Any]] = {}
        self.assigned: list[Assigned] = []
        self.limit: int = SOFT_LIMIT
        self.aliases: list[tuple[Recorder, dict[int, int]]] = []
        self.symbolic = symbolic
        self.owner: threading.Thread = owner or threading.current_thread()
        self.rules = 0
        self.captures: list[Tensor] | None = None if symbolic is None else []
        self.hidden: list[tuple[Tensor, Callable[[], Any]]] | None = (
            None if symbolic is None else []
        )
        self.inline = False
        self.lock = lock or threading.RLock()
        self.table_node: Program | None = None
        self.table: list[Aval] = []

    def avals(self) -> list[Aval]:
        """The aval of every value recorded so far (a list the next extension may append to)."""
        if self.table_node is not self.node:
            self.table = self.node.table()
            self.table_node = self.node
        return self.table

    def materialize(self, tensor: Tensor) -> Any:
        """Compute a pending tensor, from this thread or another."""
        if LOCAL.recorder is self and not self.rules:
            RUN.flush(self)
        else:
            with self.lock:
                self._compute_aside(tensor)
        array = tensor.array
        if array is None:
            raise RuntimeError(
                f"A value of shape {tensor.shape} and dtype {tensor.dtype.name} is no longer "
                "available: the computation it was part of failed or was abandoned."
            )
        return array

    def _compute_aside(self, tensor: Tensor) -> None:
        """Compute a pending tensor that stays pending here."""
        if tensor.array is not None:
            return
        tensor.array = RUN.peek(self, tensor)
        tensor.owned = False
        tensor.leaf = None
        if not hasattr(tensor, "cell"):
            tensor.cell = None
            tensor.key = tensor.aval


class Local(threading.local):
    """What belongs to one thread: its recorder and the tapes that are recording."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.owner = threading.current_thread()
        self.recorder = Recorder(None, self.lock, self.owner)
        self.active: list[Any] = []
        """Tapes and accumulators whose block is open."""


LOCAL = Local()


class Runner:
    """How programs are run; set by `engine/flush.py`, which knows executables."""

    flush: Callable[[Recorder], None]
    """Run everything recorded."""
    peek: Callable[[Recorder, Tensor], Any]
    """Compute one value without disturbing the recorder."""


RUN = Runner()


def new_recorder(symbolic: str | None = None) -> Recorder:
    """Give the thread a fresh recorder."""
    recorder = Recorder(symbolic, LOCAL.lock, LOCAL.owner)
    if SETTINGS.immediate:
        recorder.limit = -1
    LOCAL.recorder = recorder
    return recorder


def flush() -> None:
    """Run everything this thread has recorded."""
    RUN.flush(LOCAL.recorder)

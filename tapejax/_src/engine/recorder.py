"""The recorder: one walk along the trie of programs, per thread.

Recording an op is one dictionary look-up. Nothing of the recorder changes before the look-up, or
the extension of the trie, succeeded: an op that raises leaves everything as it was.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from tapejax._src.core.avals import Aval
from tapejax._src.core.config import SETTINGS
from tapejax._src.core.symbolic import no_value, out_of_scope
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.names import symbolic_name
from tapejax._src.engine.program import ROOT, Program

FLOAT = "float"
INT = "int"

SOFT_LIMIT = 64
"""Nodes outside a tape after which a program is cut where one was cut before, or at twice this."""
TAPED_LIMIT = 3000
"""The same inside a tape."""
AFTER_TAPE = 256
"""How many more nodes the update after a tape may take."""


Assigned = tuple[Variable, int, int, Tensor | None]
"""A value a variable was given in one program: the variable; the number of the leaf with its value
before, or -1 when the program had not read it; the number of the value assigned; the value before,
where undoing the assignment needs it. (A plain tuple: one is made for each assignment.)"""


class Unusual:
    """What most recorders never change, so that a new one need not set it."""

    aliases: Sequence[tuple[Recorder, Mapping[int, int]]] = ()
    symbolic: str | None = None
    initial: Callable[[Tensor], Any] | None = None
    rules = 0
    inline = False
    is_block = False
    in_branch = False
    around: tuple[Recorder, list[Any]] | None = None
    hidden: list[tuple[Tensor, Any]] | None = None
    effects: list[Any] | None = None
    is_busy = False
    table: list[Aval] = []  # noqa: RUF012  replaced, never changed
    table_node: Program | None = None


class Recorder(Unusual):
    """One run along the trie: where it stands, and the values this run supplies.

    Attributes:
        node: The program recorded so far.
        leaves: Weak references to the tensors that entered, by order of `Program.leaves`.
        done: Whether it has run.
        entered: `id` of each tensor that entered while another recorder had marked it -> (weak
            reference, number). None as long as there is none.
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
        initial: While a function is traced: computes a value a variable is created with, from the
            arguments of the call that is being traced.
        symbolic: Why values cannot be read (a function is being traced), or None.
        kept: Where tensors that enter are kept alive: when a tape goes on from an earlier program,
            because they link the two; while a function is traced (`captures`). Else None.
        hidden: While a function is traced: what it draws anew at each call. Else None.
        effects: While a function is traced: the Python functions its program calls, which live as
            long as it. Else None.
        is_busy: Whether a program that calls Python functions is running, which cannot wait for it.
        is_block: Whether it records a branch or a loop's body.
        in_branch: Whether a tensor decides if what it records runs at all.
        around: Of a block: the recorder around it, and the tapes recording there.
        inline: Whether some leaf is a tracer of the user's own JAX transformation.
        lock: Held while the program runs, so that another thread may read a pending value.
    """

    __slots__ = (
        "assigned",
        "callbacks",
        "cells",
        "done",
        "entered",
        "floats",
        "ints",
        "kept",
        "leaves",
        "limit",
        "listeners",
        "lock",
        "node",
        "owned",
        "owner",
        "results",
        "values",
    )

    def __init__(self, lock: Any, owner: threading.Thread) -> None:
        self.node: Program = ROOT
        self.leaves: list[weakref.ref[Tensor]] = []
        self.values: list[Any] = []
        self.owned: list[bool] = []
        self.floats: list[float] = []
        self.ints: list[int] = []
        self.results: list[weakref.ref[Tensor]] = []
        self.listeners: list[weakref.ref[Any]] = []
        self.cells: dict[int, weakref.ref[Variable]] = {}
        self.callbacks: dict[int, Callable[..., Any]] = {}
        self.assigned: list[Assigned] = []
        self.limit: int = SOFT_LIMIT
        self.done = False
        self.kept: list[Tensor] | None = None
        self.entered: dict[int, tuple[weakref.ref[Tensor], int]] | None = None
        self.lock = lock
        self.owner = owner

    def avals(self) -> list[Aval]:
        """The aval of every value recorded so far (a list the next extension may append to)."""
        if self.table_node is not self.node:
            self.table = self.node.table()
            self.table_node = self.node
        return self.table

    def keep_leaves(self) -> None:
        """From now on keep the tensors that enter alive, in `kept`."""
        if self.kept is None:
            self.kept = []

    def enter_unmarked(self, tensor: Tensor, ref: weakref.ref[Tensor], number: int) -> None:
        """Note where a tensor entered that is marked by another recorder."""
        if self.entered is None:
            self.entered = {}
        self.entered[id(tensor)] = (ref, number)

    def number(self, tensor: Tensor) -> int | None:
        """The number of a tensor in this program, or None."""
        if tensor.recorder is self:
            return tensor.index
        entered = None if self.entered is None else self.entered.get(id(tensor))
        return entered[1] if entered is not None and entered[0]() is tensor else None

    def name_of(self, tensor: Tensor) -> str:
        """The name of a tensor of a function being traced."""
        return symbolic_name(self.node, tensor.index)

    def materialize(self, tensor: Tensor, how: str = "use") -> Any:
        """Compute a pending tensor, from this thread or another; `how` it is read words errors."""
        if self.symbolic is not None:
            if self.initial is not None and how == "initial value" and not self.done:
                return self.initial(tensor)
            if how == "use" or how == "initial value":
                raise out_of_scope(repr(tensor))
            raise no_value(how, self.name_of(tensor), self.symbolic)
        if self.is_busy:
            raise RuntimeError(
                f"A Python function called by a program reads a value of shape {tensor.shape} and "
                f"dtype {tensor.dtype.name} that this very program computes. Pass it to the "
                "function: tf.py_function(func, inp=[value], ...)."
            )
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
        if not hasattr(tensor, "cell"):
            tensor.cell = None
            tensor.key = tensor.aval


class Local(threading.local):
    """What belongs to one thread: its recorder and the tapes that are recording."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.owner = threading.current_thread()
        self.recorder = Recorder(self.lock, self.owner)
        self.active: list[Any] = []
        """Tapes and accumulators whose block is open."""
        self.writes: dict[int, tuple[Variable, Tensor]] | None = None
        """Where a replica that others wait for notes each variable it assigns, and the value
        before; else None."""
        self.context: Any = None
        """What besides arguments decides which trace of a function is used; else None."""

    def note_writes(self, variables: Sequence[Variable]) -> None:
        """Note that variables are about to be assigned."""
        for variable in variables:
            assert self.writes is not None
            self.writes.setdefault(id(variable), (variable, variable.tensor))


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
    local = LOCAL
    recorder = Recorder(local.lock, local.owner)
    if symbolic is not None:
        recorder.symbolic = symbolic
        recorder.node = Program(None)  # its own trie, gone with the function
        recorder.keep_leaves()
        recorder.hidden = []
        around = local.recorder.effects
        recorder.effects = [] if around is None else around
    if SETTINGS.immediate:
        recorder.limit = -1
    local.recorder = recorder
    return recorder


@contextlib.contextmanager
def aside() -> Generator[None]:
    """Code run for a block while JAX traces a kernel: it does not touch what is being recorded."""
    around, active = LOCAL.recorder, LOCAL.active
    LOCAL.recorder, LOCAL.active = Recorder(LOCAL.lock, LOCAL.owner), []
    try:
        yield
    finally:
        LOCAL.recorder, LOCAL.active = around, active


def flush() -> None:
    """Run everything this thread has recorded."""
    RUN.flush(LOCAL.recorder)

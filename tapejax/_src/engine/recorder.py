"""The recorder: one walk along the trie of programs, per thread.

Recording an op is one dictionary look-up. Nothing of the recorder changes before the look-up, or
the extension of the trie, succeeded: an op that raises leaves everything as it was.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core.avals import Aval, LeafKey
from tapejax._src.core.config import SETTINGS
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine import extension
from tapejax._src.engine.kernel import Kernel
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
        "results",
        "rules",
        "symbolic",
        "table",
        "table_node",
        "values",
    )

    def __init__(self, symbolic: str | None = None, lock: Any = None) -> None:
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
                if tensor.array is None:
                    tensor.array = RUN.peek(self, tensor)
                    tensor.key = tensor.aval
                    tensor.owned = False
        array = tensor.array
        if array is None:
            raise RuntimeError(
                f"A value of shape {tensor.shape} and dtype {tensor.dtype.name} is no longer "
                "available: the computation it was part of failed or was abandoned."
            )
        return array


class Local(threading.local):
    """What belongs to one thread: its recorder and the tapes that are recording."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.recorder = Recorder(lock=self.lock)
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


# ---------------------------------------------------------------------- leaves
def admit(recorder: Recorder, node: Program, tensors: Sequence[Tensor]) -> None:
    """Enter concrete tensors as the leaves `node` adds."""
    place = 0
    for tensor in tensors:
        if tensor.array is not None and type(tensor.key) is extension.StaticKey:
            tensor.leaf = None
            continue
        number = node.leaves[place][0]
        place += 1
        array = tensor.array
        if type(array) is np.ndarray:
            array = _upload(tensor, array)
        elif isinstance(array, Tracer):
            recorder.inline = True
            recorder.limit = -1
        if recorder.held is not None:
            recorder.held.append(tensor)
        ref = weakref.ref(tensor)
        recorder.leaves.append(ref)
        recorder.entered[id(tensor)] = (ref, number)
        recorder.values.append(array)
        recorder.owned.append(array is not None and tensor.owned)
        tensor.leaf = (recorder, number)
        if recorder.captures is not None:
            recorder.captures.append(tensor)
        if tensor.cell is not None:
            recorder.cells[number] = tensor.cell


def _upload(tensor: Tensor, array: np.ndarray[Any, Any]) -> Any:
    """Arrays go to the device once, but for small ones that may be used a single time."""
    again = tensor.leaf is not None
    if again or array.nbytes > 4096 or array.dtype.itemsize >= 8 or tensor.owned:
        # Even while the user's own jax.jit is tracing, this is a concrete array.
        with jax.ensure_compile_time_eval(), jax.enable_x64(True):
            array = tensor.array = jax.device_put(array)
    return array


def leaf_key(recorder: Recorder, tensor: Tensor) -> LeafKey | int:
    """The key of a tensor that is not marked as part of this thread's program; makes it concrete.

    A function being traced takes it as it is: its value is supplied when the function is called. A
    value of a traced function whose gradient rule is running has a number here already.
    """
    entered = recorder.entered.get(id(tensor))
    if entered is not None and entered[0]() is tensor:
        return entered[1]
    if tensor.array is None:
        for traced, mapping in recorder.aliases:
            if tensor.recorder is traced and tensor.index in mapping:
                return mapping[tensor.index]
        if recorder.symbolic is not None:
            return tensor.aval if tensor.cell is None else tensor.key
        assert tensor.recorder is not None
        tensor.recorder.materialize(tensor)
    return tensor.key


# ---------------------------------------------------------------------- recording
_LOW, _HIGH = -(2**63), 2**63 - 1


def _as_float(number: int) -> float:
    """A Python int beyond 64 bits as the nearest float, infinity at the end."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def record1(kernel: Kernel, x: Any) -> Tensor:
    """Record a kernel of one tensor with one result."""
    if type(x) is Variable:
        x = x.tensor
    recorder = LOCAL.recorder
    new = False
    if x.recorder is recorder:
        i = x.index
    else:
        leaf = x.leaf
        if leaf is not None and leaf[0] is recorder:
            i = leaf[1]
        else:
            i = leaf_key(recorder, x)
            new = type(i) is not int
    node = recorder.node
    following = node.edges.get((kernel, i))
    if following is None:
        following = extension.extend(recorder, kernel, (i,))
    if new:
        admit(recorder, following, (x,))
    recorder.node = following
    number = following.result
    if type(number) is not int:
        return hand_out(recorder, following)
    result = Tensor(following.payload, recorder, number)
    recorder.results.append(weakref.ref(result))
    if following.depth > recorder.limit:
        boundary(recorder)
    return result


def record2(kernel: Kernel, x: Any, y: Any) -> Tensor:  # noqa: C901, PLR0915  a call per operand would cost a tenth
    """Record a kernel of two tensors, or a tensor and a Python number, with one result."""
    recorder = LOCAL.recorder
    new_x = new_y = False
    kind = type(x)
    if kind is Variable:
        x = x.tensor
        kind = Tensor
    if kind is Tensor:
        if x.recorder is recorder:
            i = x.index
        else:
            leaf = x.leaf
            if leaf is not None and leaf[0] is recorder:
                i = leaf[1]
            else:
                i = leaf_key(recorder, x)
                new_x = type(i) is not int
    elif kind is float:
        i = FLOAT
    elif _LOW <= x <= _HIGH:
        i = INT
    else:  # beyond 64 bits: a float tensor takes it as a float, an integer tensor refuses
        i, kind, x = FLOAT, float, _as_float(x)
    kind_y = type(y)
    if kind_y is Variable:
        y = y.tensor
        kind_y = Tensor
    if kind_y is Tensor:
        if y.recorder is recorder:
            j = y.index
        else:
            leaf = y.leaf
            if leaf is not None and leaf[0] is recorder:
                j = leaf[1]
            elif new_x and x is y:
                j = -1
            else:
                j = leaf_key(recorder, y)
                new_y = type(j) is not int
    elif kind_y is float:
        j = FLOAT
    elif _LOW <= y <= _HIGH:
        j = INT
    else:
        j, kind_y, y = FLOAT, float, _as_float(y)
    node = recorder.node
    following = node.edges.get((kernel, i, j))
    if following is None:
        following = extension.extend(recorder, kernel, (i, j))
    if new_x or new_y:
        admit(recorder, following, ((x, y) if new_y else (x,)) if new_x else (y,))
    if kind is not Tensor:
        (recorder.floats if kind is float else recorder.ints).append(x)
    if kind_y is not Tensor:
        (recorder.floats if kind_y is float else recorder.ints).append(y)
    recorder.node = following
    number = following.result
    if type(number) is not int:
        return hand_out(recorder, following)
    result = Tensor(following.payload, recorder, number)
    recorder.results.append(weakref.ref(result))
    if following.depth > recorder.limit:
        boundary(recorder)
    return result


def record(kernel: Kernel, inputs: Sequence[Any]) -> Any:
    """Record a kernel of any number of tensors, variables and Python floats and ints.

    Returns:
        A tensor, or the kernel's container of tensors.
    """
    recorder = LOCAL.recorder
    key: list[Any] = [kernel]
    new: list[Tensor] = []
    floats: list[float] = []
    ints: list[int] = []
    for x in inputs:
        kind = type(x)
        if kind is Variable:
            x = x.tensor
            kind = Tensor
        if kind is Tensor:
            key.append(_number_or_key(recorder, x, new))
        elif kind is float or not _LOW <= x <= _HIGH:
            key.append(FLOAT)
            floats.append(x if kind is float else _as_float(x))
        else:
            key.append(INT)
            ints.append(x)
    edge = tuple(key)
    following = recorder.node.edges.get(edge)
    if following is None:
        following = extension.extend(recorder, kernel, edge[1:])
    advance(recorder, following, new, floats, ints)
    return hand_out(recorder, following)


def _number_or_key(recorder: Recorder, x: Tensor, new: list[Tensor]) -> Any:
    if x.recorder is recorder:
        return x.index
    leaf = x.leaf
    if leaf is not None and leaf[0] is recorder:
        return leaf[1]
    for n, other in enumerate(new):
        if other is x:
            return -1 - n
    key = leaf_key(recorder, x)
    if type(key) is not int:
        new.append(x)
    return key


def advance(
    recorder: Recorder,
    following: Program,
    new: Sequence[Tensor] = (),
    floats: Sequence[float] = (),
    ints: Sequence[int] = (),
) -> None:
    """Step to the next node with the values this run supplies to it."""
    if new:
        admit(recorder, following, new)
    if floats:
        recorder.floats += floats
    if ints:
        recorder.ints += ints
    recorder.node = following


def hand_out(recorder: Recorder, node: Program) -> Any:
    """Tensors for the results of the node just recorded, in their container."""
    numbers = node.result
    if type(numbers) is int:
        result = Tensor(node.payload, recorder, numbers)
        recorder.results.append(weakref.ref(result))
        if node.depth > recorder.limit:
            boundary(recorder)
        return result
    avals, tree = node.payload
    results = [Tensor(aval, recorder, n) for aval, n in zip(avals, numbers, strict=True)]
    recorder.results += [weakref.ref(t) for t in results]
    if node.depth > recorder.limit:
        boundary(recorder)
    return jax.tree.unflatten(tree, results)


def number_of(tensor: Any) -> int:
    """The number of a tensor or variable in this thread's program; it becomes a leaf if need be."""
    if isinstance(tensor, Variable):
        tensor = tensor.tensor
    recorder = LOCAL.recorder
    if tensor.recorder is recorder:
        return tensor.index
    leaf = tensor.leaf
    if leaf is not None and leaf[0] is recorder:
        return leaf[1]
    key = leaf_key(recorder, tensor)
    if isinstance(key, int):
        return key
    edge = ("leaf", key)
    following = recorder.node.edges.get(edge)
    if following is None:
        following = extension.extend_leaf(recorder, edge, key)
    advance(recorder, following, (tensor,))
    return following.result


def mark(event: Any) -> None:
    """Record a tape's mark."""
    recorder = LOCAL.recorder
    following = recorder.node.edges.get(event)
    if following is None:
        following = extension.extend_event(recorder, event)
    recorder.node = following


# ---------------------------------------------------------------------- where programs end
class CutSites:
    """Places in the user's code where a long program was cut; it is cut there again."""

    def __init__(self) -> None:
        self.sites: set[tuple[Any, int]] = set()


CUTS = CutSites()


def boundary(recorder: Recorder) -> None:
    """The program reached its limit: run it, or go on to a better place to cut."""
    if recorder.symbolic is not None:
        return
    if recorder.inline or SETTINGS.immediate:
        RUN.flush(recorder)
        return
    site = _user_site()
    if site in CUTS.sites:
        RUN.flush(recorder)
    elif recorder.node.depth > recorder.limit + SOFT_LIMIT:
        CUTS.sites.add(site)
        RUN.flush(recorder)


def _user_site() -> tuple[Any, int]:
    frame = extension.user_frame()
    return (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)


def new_recorder(symbolic: str | None = None) -> Recorder:
    """Give the thread a fresh recorder."""
    recorder = Recorder(symbolic, LOCAL.lock)
    if SETTINGS.immediate:
        recorder.limit = -1
    LOCAL.recorder = recorder
    return recorder


def flush() -> None:
    """Run everything this thread has recorded."""
    RUN.flush(LOCAL.recorder)

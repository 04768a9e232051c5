"""Recording: one dictionary look-up for an op seen before.

Nothing of the recorder changes before the look-up, or the extension of the trie, succeeded: an op
that raises leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref as weak

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core.avals import LeafKey, StaticKey
from tapejax._src.core.config import SETTINGS
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine import extension, names
from tapejax._src.engine.kernel import FLAT_LIST, Kernel
from tapejax._src.engine.program import Program
from tapejax._src.engine.recorder import LOCAL, RUN, SOFT_LIMIT, Recorder

FLOAT = "float"
INT = "int"
new = Tensor.__new__


class Texts:
    """How ops on strings are done, which are in no program; set by `engine/texts.py`."""

    run: Callable[[Kernel, Sequence[Any]], Any]


TEXTS = Texts()


def is_about_texts(kernel: Kernel, inputs: Sequence[Any]) -> bool:
    """Whether an op that was not found concerns strings."""
    if kernel.codes is not None:
        return True
    tensors = [x.tensor if type(x) is Variable else x for x in inputs]
    return any(type(x) is Tensor and x.aval.struct is None for x in tensors)


# ---------------------------------------------------------------------- leaves
def admit(recorder: Recorder, node: Program, tensors: Sequence[Tensor]) -> None:
    """Enter concrete tensors as the leaves `node` adds."""
    numbered = iter(node.leaves)
    plain = recorder.kept is None
    leaves, values, owned, cells = recorder.leaves, recorder.values, recorder.owned, recorder.cells
    for tensor in tensors:
        array = tensor.array
        if array is not None and type(tensor.key) is StaticKey:
            continue
        number = next(numbered)[0]
        usual = plain and type(array) in _CONCRETE
        before = tensor.recorder
        if usual and (before is None or before.done):  # what `enter` does in the common case
            tensor.recorder = recorder
            tensor.index = number
            leaves.append(weak(tensor))
            values.append(array)
            owned.append(tensor.owned)
            cell = tensor.cell
            if cell is not None:
                cells[number] = cell
        else:
            enter(recorder, number, tensor)


def enter(recorder: Recorder, number: int, tensor: Tensor) -> None:
    """Enter a concrete tensor as a leaf.

    A tensor is marked with the one program it is in. One that is in another program that has not
    run yet (of another thread, or around a function being traced) keeps that mark, and is found by
    `Recorder.entered` here.
    """
    array = tensor.array
    if array is None:
        cell = getattr(tensor, "cell", None)
        recorder.owned.append(False)
    else:
        cell = tensor.cell
        if type(array) not in _CONCRETE:
            array = _entering(recorder, tensor, array)
        recorder.owned.append(tensor.owned)
    ref = weak(tensor)
    recorder.leaves.append(ref)
    recorder.values.append(array)
    if cell is not None:
        recorder.cells[number] = cell
    if recorder.kept is not None:
        recorder.kept.append(tensor)
    # Nothing is called from here to the end of the marking, so no other thread comes in between.
    before = tensor.recorder
    if before is None or (before.done and array is not None):
        tensor.recorder = recorder
        tensor.index = number
    else:
        recorder.enter_unmarked(tensor, ref, number)


_CONCRETE: set[type] = set()
"""Classes of arrays that enter as they are (JAX's own)."""


def _entering(recorder: Recorder, tensor: Tensor, array: Any) -> Any:
    """An array as it enters a program, when it is not simply a `jax.Array`."""
    if type(array) is np.ndarray:
        return _upload(tensor, array)
    if isinstance(array, Tracer):
        recorder.inline = True
        recorder.limit = -1
    elif isinstance(array, jax.Array):
        _CONCRETE.add(type(array))
    return array


def _upload(tensor: Tensor, array: np.ndarray[Any, Any]) -> Any:
    """Arrays go to the device once, but for small ones that may be used a single time."""
    again = tensor.recorder is not None
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
    if recorder.entered is not None:
        entered = recorder.entered.get(id(tensor))
        if entered is not None and entered[0]() is tensor:
            return entered[1]
    if tensor.array is None:
        if tensor.aval.struct is None:
            return tensor.aval
        for traced, mapping in recorder.aliases:
            if tensor.recorder is traced and tensor.index in mapping:
                return mapping[tensor.index]
        if recorder.symbolic is not None and not names.is_out_of_scope(tensor):
            return tensor.aval if getattr(tensor, "cell", None) is None else tensor.key
        assert tensor.recorder is not None
        tensor.recorder.materialize(tensor)
    return tensor.key


# ---------------------------------------------------------------------- recording
_LOW, _HIGH = -(2**63), 2**63 - 1


def _integer(number: int) -> tuple[str, type, Any]:
    """The part of an edge for a Python int, with the type and value it enters by.

    Beyond 64 bits it enters as the nearest float, or infinity: a float tensor takes it so, an
    integer tensor refuses.
    """
    if _LOW <= number <= _HIGH:
        return INT, int, number
    try:
        return FLOAT, float, float(number)
    except OverflowError:
        return FLOAT, float, float("inf") if number > 0 else float("-inf")


# The ways an op is recorded are written out, with nothing called that need not be: each runs once
# for every op of every step. `Program.likely` is looked at first, as it lies in memory just read.
def record1(kernel: Kernel, x: Any) -> Tensor:
    """Record a kernel of one tensor with one result."""
    if type(x) is Variable:
        x = x.tensor
    recorder = LOCAL.recorder
    node = recorder.node
    i = x.index if x.recorder is recorder else leaf_key(recorder, x)
    following = node.likely
    if following.kernel is not kernel or (following.first is not i and following.first != i):
        following = node.edges.get((kernel, i))
        if following is None:
            if is_about_texts(kernel, (x,)):
                return TEXTS.run(kernel, (x,))
            following = extension.extend(recorder, kernel, (i,))
        node.likely = following
    if type(i) is not int and following.leaves:
        enter(recorder, following.leaves[0][0], x)
    recorder.node = following
    number = following.result
    if type(number) is not int:
        return hand_out(recorder, following)
    result = new(Tensor)
    result.aval = following.payload
    result.array = None
    result.recorder = recorder
    result.index = number
    recorder.results.append(weak(result))
    if following.depth > recorder.limit:
        boundary(recorder)
    return result


def record2(kernel: Kernel, x: Any, y: Any) -> Tensor:  # noqa: C901, PLR0915  calls cost
    """Record a kernel of two tensors, or a tensor and a Python number, with one result."""
    recorder = LOCAL.recorder
    node = recorder.node
    kind, kind_y = type(x), type(y)
    if kind is Variable:
        x, kind = x.tensor, Tensor
    if kind_y is Variable:
        y, kind_y = y.tensor, Tensor
    if kind is Tensor:
        i = x.index if x.recorder is recorder else leaf_key(recorder, x)
    elif kind is float:
        i = FLOAT
    else:
        i, kind, x = _integer(x)
    if kind_y is Tensor:
        if y is x and type(i) is not int:
            j = -1
        else:
            j = y.index if y.recorder is recorder else leaf_key(recorder, y)
    elif kind_y is float:
        j = FLOAT
    else:
        j, kind_y, y = _integer(y)
    following = node.likely
    if (
        following.kernel is not kernel
        or (following.first is not i and following.first != i)
        or (following.second is not j and following.second != j)
    ):
        following = node.edges.get((kernel, i, j))
        if following is None:
            if is_about_texts(kernel, (x, y)):
                return TEXTS.run(kernel, (x, y))
            following = extension.extend(recorder, kernel, (i, j))
        node.likely = following
    if kind is not Tensor:
        (recorder.floats if kind is float else recorder.ints).append(x)
    elif type(i) is not int and following.leaves:
        if kind_y is Tensor and type(j) is not int:
            admit(recorder, following, (x, y))
        else:
            enter(recorder, following.leaves[0][0], x)
    if kind_y is not Tensor:
        (recorder.floats if kind_y is float else recorder.ints).append(y)
    elif type(j) is not int and (kind is not Tensor or type(i) is int) and following.leaves:
        enter(recorder, following.leaves[0][0], y)
    recorder.node = following
    number = following.result
    if type(number) is not int:
        return hand_out(recorder, following)
    result = new(Tensor)
    result.aval = following.payload
    result.array = None
    result.recorder = recorder
    result.index = number
    recorder.results.append(weak(result))
    if following.depth > recorder.limit:
        boundary(recorder)
    return result


def record(kernel: Kernel, inputs: Sequence[Any]) -> Any:
    """Record a kernel of any number of tensors, variables and Python floats and ints.

    Returns:
        A tensor, or the kernel's container of tensors.
    """
    recorder = LOCAL.recorder
    node = recorder.node
    parts: list[Any] = []
    entering: list[Tensor] = []
    floats: list[float] = []
    ints: list[int] = []
    for x in inputs:
        kind = type(x)
        if kind is Variable:
            x = x.tensor
        elif kind is not Tensor:
            part, kind, number = (FLOAT, float, x) if kind is float else _integer(x)
            parts.append(part)
            (floats if kind is float else ints).append(number)
            continue
        if x.recorder is recorder:
            parts.append(x.index)
            continue
        usual = x.array is not None and recorder.entered is None
        part = x.key if usual else leaf_key(recorder, x)
        if type(part) is not int:
            entering.append(x)
        parts.append(part)
    if len(entering) > 1 and len({id(x) for x in entering}) < len(entering):
        entering = _without_repeats(parts, entering)
    edge = tuple(parts)
    following = node.likely
    if following.kernel is not kernel or following.first != edge:
        following = node.edges.get((kernel, *edge))
        if following is None:
            if is_about_texts(kernel, inputs):
                return TEXTS.run(kernel, inputs)
            following = extension.extend(recorder, kernel, edge)
        node.likely = following
    advance(recorder, following, entering, floats, ints)
    return hand_out(recorder, following)


def _without_repeats(parts: list[Any], entering: Sequence[Tensor]) -> list[Tensor]:
    """A tensor that enters twice is one leaf: mark its later places -1 - (number of the leaf)."""
    leaves: dict[int, int] = {}
    found: list[Tensor] = []
    tensors = iter(entering)
    for place, part in enumerate(parts):
        if type(part) is int or type(part) is str:
            continue
        tensor = next(tensors)
        leaf = leaves.setdefault(id(tensor), len(found))
        if leaf < len(found):
            parts[place] = -1 - leaf
        else:
            found.append(tensor)
    return found


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
        recorder.results.append(weak(result))
        if node.depth > recorder.limit:
            boundary(recorder)
        return result
    avals, tree = node.payload
    results = [Tensor(aval, recorder, n) for aval, n in zip(avals, numbers, strict=True)]
    recorder.results += map(weak, results)
    if node.depth > recorder.limit:
        boundary(recorder)
    return results if tree is FLAT_LIST else jax.tree.unflatten(tree, results)


def number_of(tensor: Any) -> int:
    """The number of a tensor or variable in this thread's program; it becomes a leaf if need be."""
    if isinstance(tensor, Variable):
        tensor = tensor.tensor
    recorder = LOCAL.recorder
    if tensor.recorder is recorder:
        return tensor.index
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

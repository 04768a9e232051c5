"""Branches on a tensor: all are recorded, one of them runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.avals import Aval, make_aval
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.block import (
    Block,
    failure_kernel,
    record_block,
    renumbered,
)
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record, record1
from tapejax._src.engine.texts import coded_tensor, known_texts
from tapejax._src.function.staging.inputs import Inputs
from tapejax._src.function.staging.raising import RaisedInBranch, record_raise
from tapejax._src.function.staging.values import (
    Output,
    Parts,
    TextOutput,
    Undefined,
    describe,
    fits,
    is_number,
    is_text_leaf,
    number_aval,
    same,
    same_structure,
    take_apart,
)
from tapejax._src.ops.assignment import assign_results


class Wording(NamedTuple):
    """How messages speak of the construct.

    Attributes:
        construct: Its name, such as `if`.
        branches: The name of each branch.
        internal: Says of a name whether it is one of the converter's own.
    """

    construct: str
    branches: Sequence[str]
    internal: Callable[[str], bool] = lambda name: False


class Branch(NamedTuple):
    """A branch, recorded: its block, and one value for each name (none if it raises)."""

    block: Block
    values: list[Parts] | None


def record_branch(run: Callable[[], Sequence[Any]]) -> Branch:
    """Record a branch that returns one value for each name."""
    found: list[list[Parts] | None] = [None]

    def body() -> list[Tensor]:
        outputs: list[Tensor] = []
        try:
            values = run()
        except RaisedInBranch as raised:
            record_raise(raised)
        else:
            found[0] = [take_apart(value, outputs) for value in values]
        return outputs

    return Branch(record_block(body, (), branch=True), found[0])


class Shifted(Output):
    """Codes that a block computes, whose strings stand behind those of other branches.

    Attributes:
        shift: How many stand before them.
    """

    __slots__ = ("shift",)

    def __init__(self, place: int, shape: tuple[int, ...], shift: int) -> None:
        super().__init__(place, shape)
        self.shift = shift


class Merged(NamedTuple):
    """What becomes of one leaf.

    Attributes:
        sources: For each branch an `Output` or a number, or None where zeros will do; () when the
            leaf is `value` on every way.
        aval: The aval of the result.
        value: The value of a leaf that is no tensor.
        texts: Of a leaf of strings, the strings that the branches choose from; `sources` are codes.
    """

    sources: tuple[Any, ...]
    aval: Aval | None
    value: Any = None
    texts: Sequence[bytes] | None = None

    def result(self, computed: Iterator[Tensor]) -> Any:
        """The leaf after the construct."""
        if not self.sources:
            return self.value
        tensor = next(computed)
        return tensor if self.texts is None else coded_tensor(tensor, self.texts)


def stage_branches(
    selector: Tensor, branches: Sequence[Branch], names: Sequence[str], wording: Wording
) -> list[Any]:
    """Record the choice between branches as one op; variables assigned get their values.

    Args:
        selector: Scalar: bool for two branches (the first is taken when it is True), else the
            number of the branch, in range.
        branches: The branches.
        names: What messages call the values.
        wording: What messages call the construct.

    Returns:
        One value for each name.

    Raises:
        TypeError: If a value has different dtypes or structures.
        ValueError: If a value has different shapes, or is missing in a branch.
    """
    ending = [branch for branch in branches if branch.values is not None]
    merged = [
        _merge_value(
            name,
            [b.values[n] if b.values is not None else None for b in branches],
            [b.block for b in branches],
            wording,
        )
        for n, name in enumerate(names if ending else ())
    ]
    written = _written(branches)
    computed_leaves = [leaf for _, leaves in merged for leaf in leaves if leaf.sources]
    results = _record(selector, branches, computed_leaves, written)
    assign_results([variable for variable, _ in written], results[len(computed_leaves) :])
    computed = iter(results)
    values: list[Any] = []
    for like, leaves in merged:
        values.append(like.rebuilt([leaf.result(computed) for leaf in leaves]))
    return values if ending else [Undefined(name) for name in names]


# ---------------------------------------------------------------------- merging
def _merge_value(
    name: str, parts: Sequence[Parts | None], blocks: Sequence[Block], wording: Wording
) -> tuple[Parts, list[Merged]]:
    """What becomes of one value: a structure and its leaves."""
    present = [p for p in parts if p is not None and not isinstance(p.like, Undefined)]
    if not present:
        return Parts(Undefined(name), [Undefined(name)]), [Merged((), None, Undefined(name))]
    missing = [n for n, p in enumerate(parts) if p is not None and isinstance(p.like, Undefined)]
    if missing and not wording.internal(name):
        _raise_missing(name, wording.branches[missing[0]])
    like = present[0]
    for other in present[1:]:
        difference = same_structure(like.like, other.like)
        if difference is not None and not _a_none(name, like, other, parts, wording):
            raise TypeError(
                f"'{name}' must have the same nested structure in the "
                f"{' and '.join(wording.branches[:2])} branches:\n\n{difference}"
            )
    defined = [None if p is None or isinstance(p.like, Undefined) else p for p in parts]
    leaves = [
        _merge_leaf(
            name,
            [None if p is None else p.leaves[n] for p in defined],
            blocks,
            wording,
            [p is None for p in defined],
        )
        for n in range(len(like.leaves))
    ]
    return like, leaves


def _raise_missing(name: str, branch: str) -> None:
    if name.startswith("ag__"):
        raise ValueError(f"the {branch} branch must also have a return statement.")
    raise ValueError(
        f"'{name}' must also be initialized in the {branch} branch: which branch runs depends on a "
        "tensor. Give it a value before, or in every branch."
    )


def _a_none(
    name: str, first: Parts, second: Parts, parts: Sequence[Parts | None], wording: Wording
) -> bool:
    """Raise when one side is None; False otherwise."""
    if first.like is not None and second.like is not None:
        return False
    place = next(n for n, p in enumerate(parts) if p is not None and p.like is None)
    raise ValueError(
        f"'{_shown(name)}' is None at the end of the {wording.branches[place]} branch, and not in "
        "another; a tensor decides between them, so both must have a value."
    )


def _shown(name: str) -> str:
    return "the return value" if name.startswith("ag__") else name


def _merge_leaf(
    name: str,
    leaves: Sequence[Any],
    blocks: Sequence[Block],
    wording: Wording,
    absent: Sequence[bool],
) -> Merged:
    """Merge one leaf; `absent` branches get zeros."""
    given = [leaf for leaf, gone in zip(leaves, absent, strict=True) if not gone]
    tensors = [
        blocks[n].avals[leaf.place]
        for n, (leaf, gone) in enumerate(zip(leaves, absent, strict=True))
        if not gone and isinstance(leaf, Output)
    ]
    constant = not tensors and all(same(given[0], leaf) for leaf in given[1:])
    if constant and (not any(absent) or not is_number(given[0])):
        return Merged((), None, given[0])
    if all(is_text_leaf(leaf) for leaf in given):
        return _merge_texts(name, leaves, absent, wording)
    tensors += [leaf.aval for leaf in given if isinstance(leaf, Tensor)]  # row splits that differ
    for place, leaf in enumerate(leaves):
        if not absent[place] and not isinstance(leaf, (Output, Tensor)) and not is_number(leaf):
            _raise_no_tensor(name, leaves, blocks, wording, place)
    aval = _common(name, given, tensors, wording)
    sources = [None if gone else leaf for leaf, gone in zip(leaves, absent, strict=True)]
    return Merged(tuple(sources), aval)


def _merge_texts(
    name: str, leaves: Sequence[Any], absent: Sequence[bool], wording: Wording
) -> Merged:
    """Merge strings: each branch gives codes into the strings of all branches together."""
    texts: list[bytes] = [b""]
    sources: list[Any] = []
    shapes: dict[tuple[int, ...], None] = {}
    for leaf, gone in zip(leaves, absent, strict=True):
        if gone:
            sources.append(None)
            continue
        if isinstance(leaf, TextOutput):
            sources.append(Shifted(leaf.place, leaf.shape, len(texts)))
            texts += leaf.table
            shapes[leaf.shape] = None
            continue
        values = known_texts(as_tensor(leaf))
        sources.append(np.arange(values.size, dtype=np.int32).reshape(values.shape) + len(texts))
        texts += values.ravel().tolist()
        shapes[values.shape] = None
    if len(shapes) > 1:
        raise NotCompilableError(
            f"'{_shown(name)}' must have the same shape in the "
            f"{' and '.join(wording.branches[:2])} branches, but is strings of shape "
            f"{' and '.join(str(list(shape)) for shape in shapes)} there."
        )
    (shape,) = shapes
    return Merged(tuple(sources), make_aval(shape, np.dtype(np.int32)), texts=texts)


def _raise_no_tensor(
    name: str, leaves: Sequence[Any], blocks: Sequence[Block], wording: Wording, place: int
) -> None:
    shown = _shown(name)
    if leaves[place] is None:
        raise ValueError(f"'{shown}' is None at the end of the {wording.branches[place]} branch.")
    sides = ", ".join(
        f"{describe(leaf, lambda p, n=n: blocks[n].avals[p])} in the {wording.branches[n]} branch"
        for n, leaf in enumerate(leaves)
    )
    raise TypeError(
        f"'{shown}' is {sides} of a `{wording.construct}` that depends on a tensor; it must be a "
        "tensor in each, or the same object."
    )


def _common(name: str, given: Sequence[Any], tensors: Sequence[Aval], wording: Wording) -> Aval:
    """The aval all branches agree on."""
    shown = _shown(name)
    avals = list(tensors) or [number_aval(given[0])]
    first = avals[0]
    numbers = [leaf for leaf in given if not isinstance(leaf, (Output, Tensor))]
    misfit = [
        n for n in numbers if not fits(n, first) or (not tensors and type(n) is not type(given[0]))
    ]
    dtypes = [a.tf_dtype.name for a in avals] + [number_aval(n).tf_dtype.name for n in misfit]
    if len(set(dtypes)) > 1 or misfit:
        raise TypeError(
            f"'{shown}' must have the same dtype in the {' and '.join(wording.branches[:2])} "
            f"branches, but has dtype {' and '.join(dict.fromkeys(dtypes))} there; use tf.cast."
        )
    shapes = [a.shape for a in avals] + [()] * bool(numbers)
    if len(set(shapes)) > 1:
        raise NotCompilableError(
            f"'{shown}' must have the same shape in the {' and '.join(wording.branches[:2])} "
            f"branches, but has shape {' and '.join(str(list(s)) for s in dict.fromkeys(shapes))} "
            f"there: a compiled `{wording.construct}` has results of one shape. Pad them, or "
            "decide by a Python value."
        )
    return first


# ---------------------------------------------------------------------- recording
def _written(branches: Sequence[Branch]) -> list[tuple[Variable, Tensor]]:
    """The variables assigned in some branch, with their values before."""
    found: dict[int, tuple[Variable, Tensor]] = {}
    for branch in branches:
        for entry in branch.block.written:
            found.setdefault(id(entry.variable), (entry.variable, entry.before))
    return list(found.values())


def _record(
    selector: Tensor,
    branches: Sequence[Branch],
    leaves: Sequence[Merged],
    written: Sequence[tuple[Variable, Tensor]],
) -> list[Tensor]:
    """Record the op: its results are the leaves, then the variables' values."""
    blocks = [branch.block for branch in branches]
    inputs = Inputs([before for _, before in written])
    places = [inputs.add(block.captures) for block in blocks]
    checks = [check for block in blocks for check in block.checks]
    starts = np.cumsum([0, *[len(block.checks) for block in blocks]]).tolist()
    effect = any(block.effect for block in blocks)
    if not leaves and not written and not checks and not effect:
        return []

    def side(n: int) -> Callable[..., list[Any]]:
        found = {id(w.variable): w.output for w in blocks[n].written}
        assigned = [found.get(id(variable)) for variable, _ in written]

        def run(captured: Sequence[Any]) -> list[Any]:
            outs, failure = blocks[n].run((), [captured[p] for p in places[n]])
            results = [_source(leaf, n, outs) for leaf in leaves]
            for place, output in enumerate(assigned):
                results.append(captured[place] if output is None else outs[output])
            return [*results, renumbered(failure, starts[n])] if checks else results

        return run

    sides = [side(n) for n in range(len(blocks))]

    def choose(which: Any, *captured: Any) -> list[Any]:
        if which.dtype == jnp.bool_:
            return lax.cond(which, sides[0], sides[1], captured)
        return lax.switch(which, sides, captured)

    kernel = Kernel("cond", choose, node="If", effect=effect)
    results = record(kernel, [selector, *inputs.tensors])
    for block in blocks:
        block.release()
    if checks:
        record1(failure_kernel(checks, "If"), results.pop())
    return results


def _source(leaf: Merged, branch: int, outs: Sequence[Any]) -> Any:
    """The array of a leaf in a branch."""
    source, aval = leaf.sources[branch], leaf.aval
    assert aval is not None
    if source is None:
        return jnp.zeros(aval.shape, aval.dtype)
    if isinstance(source, Shifted):
        return outs[source.place] + source.shift
    if isinstance(source, Output):
        return outs[source.place]
    return jnp.asarray(source.view() if isinstance(source, Tensor) else source, aval.dtype)

"""Extending the trie: what happens the first time a structure is recorded.

Here shapes and dtypes are checked, so errors are raised at the op call, at the user's line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.avals import Aval, LeafKey, StaticKey, make_aval
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.program import Builder, Program

if TYPE_CHECKING:
    from tapejax._src.engine.recorder import Recorder

__all__ = ["StaticKey", "extend", "extend_event", "extend_leaf", "user_frame"]

PART = "_getitem"
"""The name of the op behind `tensor[...]`."""
VARIED_LIMIT = 3
"""How many static indices may follow at one place before further ones are made dynamic."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


def user_frame() -> FrameType | None:
    """The innermost frame outside tapejax and JAX."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  inspect is slow
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_PACKAGE) and f"{os.sep}jax{os.sep}" not in name:
            return frame
        frame = frame.f_back
    return None


def user_line() -> tuple[str, int, str] | None:
    """(file, line, function) of the user's code now running."""
    frame = user_frame()
    if frame is None:
        return None
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name


def extend(recorder: Recorder, kernel: Kernel, parts: Sequence[Any]) -> Program:
    """Add the node of an op whose inputs are described by `parts` (an edge key without its kernel).

    Raises:
        InvalidArgumentError: If dtypes or shapes do not fit.
        TypeError: If a Python number cannot take its partner's dtype.
    """
    table = list(recorder.avals())
    builder = Builder(recorder.node, table)
    fixed = _aval_of_parts(table, parts)
    ins: list[int] = []
    new: list[int] = []
    for position, part in enumerate(parts):
        if isinstance(part, str):
            aval = _scalar_aval(kernel, fixed, position, part)
            fixed[position] = aval
            ins.append(builder.scalar(aval, part == "float"))
        elif isinstance(part, int):
            ins.append(part if part >= 0 else new[-1 - part])
        else:
            number = builder.leaf(part)
            new.append(number)
            ins.append(number)
    check_inputs(kernel, [builder.table[i] for i in ins])
    if kernel.expansion is not None:
        return _expanded(recorder, builder, kernel, parts, ins)
    recorded, avals = kernel, tuple([builder.table[i] for i in ins])
    if kernel.check is not None and not kernel.check.reads(avals):
        recorded = kernel.unchecked()
    outs = emit_checked(builder, recorded, ins)
    traced = recorded.traced(avals)
    node = builder.node
    if traced.tree is None:
        node.result, node.payload = outs[0], node.avals[outs[0] - node.parent.size]  # type: ignore[union-attr]
    else:
        node.result, node.payload = outs, (traced.outs, traced.tree)
    recorder.table = builder.table
    recorder.table_node = attached = builder.attach((kernel, *parts), user_line())
    if kernel.name == PART:
        _note_varied(recorder.node)
    return attached


def _note_varied(node: Program) -> None:
    """A loop over batches `x[i:i + n]` must not make a program for each `i`."""
    parts = sum(1 for key in node.edges if isinstance(key[0], Kernel) and key[0].name == PART)
    node.varied = parts > VARIED_LIMIT


def _expanded(
    recorder: Recorder, builder: Builder, kernel: Kernel, parts: Sequence[Any], ins: list[int]
) -> Program:
    """Record the ops of a traced function one by one, so that tapes see into it."""
    numbers = kernel.expansion.emit(builder, ins)
    avals = tuple([builder.table[n] for n in numbers])
    builder.node.result, builder.node.payload = numbers, (avals, kernel.expansion.tree)
    recorder.table = builder.table
    recorder.table_node = attached = builder.attach((kernel, *parts), user_line())
    return attached


def extend_leaf(recorder: Recorder, edge: Any, key: LeafKey) -> Program:
    """Add the node of a leaf that enters on its own."""
    builder = Builder(recorder.node, list(recorder.avals()))
    builder.node.result = builder.leaf(key)
    return builder.attach(edge)


def extend_event(recorder: Recorder, event: Any) -> Program:
    """Add the node of a tape's mark."""
    return Builder(recorder.node, recorder.avals(), event).attach(event)


def emit_checked(builder: Builder, kernel: Kernel, ins: Sequence[int]) -> tuple[int, ...]:
    """Emit an op; JAX's own complaints become TensorFlow's exception with our names."""
    try:
        return builder.emit(kernel, ins)
    except (errors.OpError, LookupError, NotImplementedError):
        raise
    except (TypeError, ValueError) as error:
        if _raised_by_us(error):
            raise
        received = ", ".join(repr(builder.table[i]) for i in ins)
        message = f"{kernel.name}: {error} Received: ({received}). [Op:{kernel.node}]"
        raise errors.InvalidArgumentError(None, None, message) from error


def _raised_by_us(error: BaseException) -> bool:
    """Whether the innermost frame of an exception is a `raise` in this package."""
    trace = error.__traceback__
    last = None
    while trace is not None:
        last = trace.tb_frame
        trace = trace.tb_next
    return last is not None and last.f_code.co_filename.startswith(_PACKAGE)


# ---------------------------------------------------------------------- dtype rules
def _aval_of_parts(table: Sequence[Aval], parts: Sequence[Any]) -> list[Aval | None]:
    avals: list[Aval | None] = []
    new: list[Aval] = []
    for part in parts:
        if isinstance(part, str):
            avals.append(None)
        elif isinstance(part, int):
            avals.append(table[part] if part >= 0 else new[-1 - part])
        else:
            new.append(part.aval)
            avals.append(part.aval)
    return avals


def _scalar_aval(kernel: Kernel, fixed: Sequence[Aval | None], position: int, part: str) -> Aval:
    """A Python number takes the dtype of a tensor of its group, else float32 or int32."""
    group = kernel.groups[position] if position < len(kernel.groups) else -1
    partner = None
    if group >= 0:
        for other, aval in enumerate(fixed):
            if aval is not None and kernel.groups[other] == group:
                partner = aval
                break
    if partner is None:
        return make_aval((), np.dtype(np.float32 if part == "float" else np.int32))
    if part == "float" and not partner.inexact:
        raise _float_beside(kernel, partner, position)
    return make_aval((), partner.dtype)


def _float_beside(kernel: Kernel, partner: Aval, position: int) -> Exception:
    """The error for a Python float beside a tensor that holds no floats."""
    dtype = partner.tf_dtype
    cure = (
        f"The tensor has shape {partner.tf_shape}; convert it with tf.cast(x, tf.float32) first, "
        "or pass a Python int."
    )
    if kernel.node == "AddV2":
        pair = [_spelled(partner), "float"]
        expected, actual = pair if position else pair[::-1]
        return errors.InvalidArgumentError(
            None,
            None,
            f"cannot compute AddV2 as input #1(zero-based) was expected to be a {expected} tensor "
            f"but is a {actual} tensor [Op:AddV2] name: ; {cure}",
        )
    if kernel.node == "RealDiv" and position:
        return TypeError(
            f"`x` and `y` must have the same dtype, got {dtype!r} != tf.float32. {cure}"
        )
    return TypeError(
        f"Cannot convert a Python float to EagerTensor of dtype {dtype.name} [Op:{kernel.node}]. "
        f"{cure}"
    )


def check_inputs(kernel: Kernel, avals: Sequence[Aval]) -> None:
    """Check that inputs of one dtype group agree, are allowed, and broadcast.

    Raises:
        InvalidArgumentError: If they do not.
    """
    first: dict[int, int] = {}
    for position, (group, aval) in enumerate(zip(kernel.groups, avals, strict=False)):
        if group < 0:
            continue
        before = first.setdefault(group, position)
        if avals[before].dtype != aval.dtype:
            raise _disagreement(kernel, avals, before, position)
    if kernel.allowed is not None and 0 in first:
        dtype = avals[first[0]].tf_dtype
        if _SPELLING.get(dtype.name, dtype.name) not in kernel.allowed:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Value for attr 'T' of {_SPELLING.get(dtype.name, dtype.name)} is not in the list "
                f"of allowed values: {', '.join(kernel.allowed)} [Op:{kernel.node}]; convert it "
                f"with {'tf.strings.to_number' if dtype.name == 'string' else 'tf.cast'} first",
            )
    if kernel.broadcast:
        _check_broadcast(kernel, [a for a, g in zip(avals, kernel.groups, strict=True) if g == 0])


def _disagreement(kernel: Kernel, avals: Sequence[Aval], first: int, second: int) -> Exception:
    """The exception for two inputs that should have had one dtype."""
    one, other = avals[first], avals[second]
    cure = (
        f"shapes {_shapes(avals)}. TensorFlow never promotes: convert one side with "
        f"tf.cast(x, tf.{one.tf_dtype.name})"
    )
    if kernel.mismatch is not None:
        return kernel.mismatch(
            f"`x` and `y` must have the same dtype, got {one.tf_dtype!r} != {other.tf_dtype!r}; "
            f"Tensor conversion requested dtype {one.tf_dtype.name} for Tensor with dtype "
            f"{other.tf_dtype.name} [Op:{kernel.node}]: {cure}"
        )
    message = (
        f"cannot compute {kernel.node} as input #{second}(zero-based) was expected to be a "
        f"{_spelled(one)} tensor but is a {_spelled(other)} tensor [Op:{kernel.node}] name: ; "
        f"{cure}"
    )
    return errors.InvalidArgumentError(None, None, message)


def _check_broadcast(kernel: Kernel, avals: Sequence[Aval]) -> None:
    try:
        np.broadcast_shapes(*[aval.shape for aval in avals])
    except ValueError:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Incompatible shapes: {_shapes(avals, ' vs. ')} [Op:{kernel.node}] name: ; "
            "dimensions must be equal or 1, counted from the last",
        ) from None


_SPELLING = {"float16": "half", "float32": "float", "float64": "double"}


def _spelled(aval: Aval) -> str:
    return _SPELLING.get(aval.tf_dtype.name, aval.tf_dtype.name)


def _shapes(avals: Sequence[Aval], separator: str = ", ") -> str:
    return separator.join("[" + ",".join(map(str, aval.shape)) + "]" for aval in avals)

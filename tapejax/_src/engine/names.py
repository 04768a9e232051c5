"""The names of tensors while a function is traced: `x:0` for an argument, `mul_1:0` for a result.

They are worked out when somebody asks, from the program recorded so far.
"""

from __future__ import annotations

from typing import Any

from tapejax._src.engine.program import Program

ARGUMENT = "argument name"
"""Where a node keeps the name of the argument it adds (`Program.memo`)."""

_OPERATORS = {
    "AddV2": "add",
    "Mul": "mul",
    "Sub": "sub",
    "RealDiv": "truediv",
    "FloorDiv": "floordiv",
    "FloorMod": "mod",
    "Pow": "pow",
    "StridedSlice": "strided_slice",
}
"""Ops that TensorFlow names by the Python operator; others by the name of the op."""


def symbolic_name(node: Program, number: int) -> str:
    """The name of a value of a program: that of the op it is a result of, and which result."""
    used: dict[str, int] = {}
    for step in node.path():
        if step.memo is not None and ARGUMENT in step.memo:
            name = step.memo[ARGUMENT]
            used[name.lower()] = used.get(name.lower(), 0) + 1
            if step.result == number:
                return f"{name}:0"
        for kernel, _, outs in step.ops:
            base = _OPERATORS.get(kernel.node, kernel.node)
            before = used.get(base.lower(), 0)
            used[base.lower()] = before + 1
            if number in outs:
                return (
                    f"{base}_{before}:{outs.index(number)}"
                    if before
                    else (f"{base}:{outs.index(number)}")
                )
    return f"Placeholder_{number}:0"


def is_out_of_scope(tensor: Any) -> bool:
    """Whether a pending tensor belongs to a function whose trace is over."""
    recorder = tensor.recorder
    return recorder is not None and recorder.symbolic is not None and recorder.done

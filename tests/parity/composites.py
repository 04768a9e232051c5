"""Cases of the public functions that are not ops: Python functions that call several ops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Composite:
    """A public function and its cases; `fields` are those of `@op` (`tol`, `differs`, ...)."""

    paths: tuple[str, ...]
    cases: tuple[str, ...]
    fields: Mapping[str, Any] = field(default_factory=dict)


_ENTRIES: tuple[Composite, ...] = (
    Composite(("meshgrid",), ("f32[2], f32[3]", "i32[2], i32[3], i32[1], indexing='ij'")),
    Composite(
        ("cast", "dtypes.cast"),
        (
            "f32[2,3], tf.float64",
            "f64[3], tf.float32",
            "f32[3], tf.float32",
            "f32[3], tf.bfloat16",
            "f32[3] in (-9, 9), tf.int32",
            "f32[3], tf.bool",
            "f32[3] in (0, 9), tf.uint8",
            "i32[3], tf.float32",
            "bool[3], tf.float32",
            "f32[3], tf.complex64",
            "c64[3], tf.float32",
            "c64[3], tf.complex128",
            "f32[0,3], dtype=tf.int64",
        ),
    ),
    Composite(
        ("clip_by_global_norm",),
        (
            "[f32[2,3], f32[2]], 1.0",
            "[f64[3], f64[]], f64[] in (0.5, 1)",
            "[f32[3]], 50.0",
            "(f32[3], f32[1]), 1.0, use_norm=f32[] in (2, 3)",
        ),
    ),
    Composite(
        ("clip_by_norm",),
        (
            "f32[2,3], 1.0",
            "f64[2,3], f64[] in (0.5, 1)",
            "f32[2,3], 0.5, axes=[1]",
            "f64[2,3], 0.5, axes=-1",
            "f32[2], 9.0",
        ),
    ),
    Composite(
        ("clip_by_value",),
        (
            "f32[2,3], -1.0, 1.0",
            "f64[2,3], f64[3] in (-2, 0), f64[] in (0, 2)",
            "f16[6], -1, 1",
            "i32[6], -2, 3",
            "f32[0,3], 0.0, 1.0",
        ),
    ),
    Composite(("linalg.global_norm",), ("[f32[2,3], f32[2]]", "(f64[3], f64[])", "[f16[4]]")),
    Composite(
        ("math.accumulate_n",),
        ("[f32[2,3], f32[2,3]]", "[i32[4]], shape=[4]", "[f64[], f64[]], tensor_dtype=tf.float64"),
    ),
    Composite(
        ("math.pow", "pow"),
        (
            "f32[2,3], 2",
            "f64[3], -1.0",
            "f32[3], 0",
            "f16[3], 3",
            "c64[3], 2",
            "i32[4], 3",
            "f64[3] in (0, 3), 1.5",
            "f32[2,3] in (0, 3), f32[3]",
            "f64[3] in (0, 3), f64[]",
            "2.0, f32[3]",
            "c64[3], c64[3]",
            "i32[4], i32[4] in (0, 4)",
        ),
    ),
    Composite(
        ("math.scalar_mul", "scalar_mul"),
        ("f32[], f32[2,3]", "2.0, f64[3]", "3, i32[4]", "c64[], c64[3]", "-2, f32[0,3]"),
    ),
)
COMPOSITES: Mapping[str, Composite] = {entry.paths[0]: entry for entry in _ENTRIES}

# public functions whose arguments the grammar of cases cannot express, and who tests them
TESTED_ELSEWHERE: Mapping[str, str] = {}

# our own additions, which have no counterpart to be compared with
NOT_TENSORFLOW = ("jax_call",)

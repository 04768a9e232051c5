"""Write `tapejax/_src/report/raw_ops.json`: which function computes which of `tf.raw_ops`.

    python tests/golden/regenerate_raw_ops.py

Run it with the TensorFlow version that tapejax follows, which decides: a raw op is matched with the
registered op of the same node name, its parameters by name and then by order, and the pair is kept
if TensorFlow's raw op and TensorFlow's public function give equal results for the rows of that op.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from parity.calls import map_leaves
from parity.library import lookup
from parity.rows import OP_ROWS, Row

from tapejax._src.engine.cases import DTypeName

LEFT_OUT = ("Conv", "LinSpace")
"""TensorFlow has no gradient of the raw op, though the public function has one."""
TABLE = Path(__file__).parents[2] / "tapejax" / "_src" / "report" / "raw_ops.json"


def parameters(function: Any) -> dict[str, Any]:
    """The parameters but `name`, each with its default or `inspect.Parameter.empty`."""
    found = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in found if p.name != "name"}


def matched(raw: dict[str, Any], ours: dict[str, Any]) -> dict[str, str]:
    """Raw parameter -> the one of ours that it is: by name, then by order."""
    pairs = {name: name for name in raw if name in ours}
    left = [name for name in ours if name not in pairs.values()]
    for name in raw:
        if name not in pairs and left and not name.startswith("T"):
            pairs[name] = left.pop(0)
    return pairs


def literal(value: Any) -> Any:
    """A default as JSON: a dtype as `tf.int32`."""
    return f"tf.{value.name}" if hasattr(value, "as_numpy_dtype") else value


def raw_arguments(tf: Any, function: Any, row: Row, pairs: dict[str, str]) -> dict[str, Any]:
    """The arguments of a row under the names of the raw op."""
    call = row.call
    bound = inspect.signature(function).bind(*call.args, **call.kwargs).arguments
    named = {name: map_leaves(lambda x: given(tf, x), value) for name, value in bound.items()}
    back = {ours: raw for raw, ours in pairs.items()}
    if not set(named) <= set(back):
        raise LookupError("an argument has no counterpart")
    return {back[name]: value for name, value in named.items()}


def given(tf: Any, leaf: Any) -> Any:
    """An argument of a row as TensorFlow takes it."""
    if isinstance(leaf, np.ndarray):
        return tf.constant(leaf)
    return getattr(tf, leaf.name) if isinstance(leaf, DTypeName) else leaf


def same(tf: Any, found: Any, expected: Any) -> bool:
    """Whether two results are equal in structure, dtype, shape and value."""
    one, other = tf.nest.flatten(found), tf.nest.flatten(expected)
    return len(one) == len(other) and all(
        a.dtype == b.dtype and np.array_equal(a.numpy(), b.numpy(), equal_nan=a.dtype.is_floating)
        for a, b in zip(one, other, strict=True)
    )


def agrees(tf: Any, raw: Any, function: Any, rows: list[Row], pairs: dict[str, str]) -> bool:
    """Whether raw op and public function agree in at least one row and in all that both take."""
    agreed = 0
    for row in rows:
        try:
            arguments = raw_arguments(tf, function, row, pairs)
            found = raw(**arguments)
            expected = function(
                *[map_leaves(lambda x: given(tf, x), a) for a in row.call.args],
                **map_leaves(lambda x: given(tf, x), row.call.kwargs),
            )
        except Exception:  # noqa: BLE001  the row is not one for this op
            continue
        if not same(tf, found, expected):
            return False
        agreed += 1
    return agreed > 0


def candidates(tf: Any) -> Iterator[tuple[str, str, Any, list[Row]]]:
    """(raw op, public path, TensorFlow's function there, rows)."""
    by_path: dict[str, list[Row]] = {}
    for row in OP_ROWS:
        if not row.private:
            by_path.setdefault(row.path, []).append(row)
    for path, rows in sorted(by_path.items()):
        function = lookup(tf, path)
        for name in dict.fromkeys([rows[0].op.node, path.rpartition(".")[2].title()]):
            if function is not None and hasattr(tf.raw_ops, name):
                yield name, path, function, rows


def table(tf: Any) -> dict[str, Any]:
    """Raw op -> public path, parameters, defaults."""
    found: dict[str, Any] = {}
    for name, path, function, rows in candidates(tf):
        raw = getattr(tf.raw_ops, name)
        wanted = parameters(raw)
        pairs = matched(wanted, parameters(function))
        if name in found or name in LEFT_OUT or not agrees(tf, raw, function, rows, pairs):
            continue
        empty = inspect.Parameter.empty
        defaults = {n: literal(v) for n, v in wanted.items() if v is not empty}
        found[name] = {"function": path, "parameters": pairs, "defaults": defaults}
        found[name]["required"] = [n for n, v in wanted.items() if v is empty]
    return dict(sorted(found.items()))


def main() -> None:
    """Write the table from the installed TensorFlow."""
    found = table(importlib.import_module("tensorflow"))
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

"""`tf.raw_ops`: every operation of the table against TensorFlow's, in value, dtype and gradient."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from golden import regenerate_raw_ops
from parity.library import lookup
from parity.rows import OP_ROWS, Row

import tapejax as tf
from tapejax._src.report.raw_ops import _table

ROWS: dict[str, list[Row]] = {}
for _row in OP_ROWS:
    ROWS.setdefault(_row.path, []).append(_row)
OTHER_VALUES = {
    "Qr": "signs of the factors",
    "Svd": "signs of the factors",
    "SelfAdjointEigV2": "signs of the vectors",
}


def calls(name: str) -> list[dict[str, Any]]:
    """The arguments of at most three rows, as arrays and literals, by the raw names."""
    tensorflow = importlib.import_module("tensorflow")
    entry = _table()[name]
    path = next(p for p in tf_paths(entry.function) if p in ROWS)
    function = lookup(tensorflow, path)
    found: list[dict[str, Any]] = []
    for row in ROWS[path]:
        if not all(array.size for array in row.call.arrays):
            continue  # TensorFlow's gradient of some raw ops fails without elements
        try:
            taken = regenerate_raw_ops.raw_arguments(tensorflow, function, row, entry.parameters)
            getattr(tensorflow.raw_ops, name)(**taken)
        except Exception:  # noqa: BLE001  the row is not one for this op
            continue
        found.append(taken)
    return found[:3]


def tf_paths(path: str) -> tuple[str, ...]:
    """Every public path of a function of ours."""
    return lookup(tf, path).paths


def to_ours(value: Any) -> Any:
    """An argument of TensorFlow's as ours."""
    if isinstance(value, (list, tuple)):
        return type(value)([to_ours(item) for item in value])
    if type(value).__name__ == "DType":
        return getattr(tf, value.name)
    return tf.constant(value.numpy()) if hasattr(value, "numpy") else value


def compared(library: Any, name: str, arguments: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Results, and the gradients of the sum of the floating ones."""
    tensors = [v for v in library.nest.flatten(list(arguments.values())) if hasattr(v, "numpy")]
    floats = [t for t in tensors if t.dtype.is_floating]
    with library.GradientTape() as tape:
        tape.watch(floats)
        outs = library.nest.flatten(getattr(library.raw_ops, name)(**arguments))
        real = [library.reduce_sum(out) for out in outs if out.dtype.is_floating]
        total = library.add_n(real) if len({r.dtype for r in real}) == 1 else None
    try:
        gradients = tape.gradient(total, floats) if total is not None and floats else []
    except LookupError:
        gradients = ["LookupError"]
    dense = [
        g if g is None or isinstance(g, str) else library.convert_to_tensor(g).numpy()
        for g in gradients
    ]
    return [out.numpy() for out in outs], dense


@pytest.mark.parametrize("name", sorted(_table()))
def test_operation(name: str) -> None:
    tensorflow = pytest.importorskip("tensorflow", reason="the values come from TensorFlow")
    taken = calls(name)
    assert taken, "no row of the table of ops fits"
    for arguments in taken:
        expected, expected_slopes = compared(tensorflow, name, arguments)
        ours = {key: to_ours(value) for key, value in arguments.items()}
        found, slopes = compared(tf, name, ours)
        assert [(a.dtype, a.shape) for a in found] == [(a.dtype, a.shape) for a in expected]
        if name in OTHER_VALUES:
            continue
        for mine, theirs in zip(found, expected, strict=True):
            if mine.dtype.kind in "fcV":
                narrow = mine.dtype.itemsize <= 2
                scale = 2e-2 if narrow else 1e-4
                np.testing.assert_allclose(
                    mine.astype(complex), theirs.astype(complex), rtol=scale, atol=scale
                )
            else:
                np.testing.assert_array_equal(mine, theirs)
        assert [g is None for g in slopes] == [g is None for g in expected_slopes]


def test_the_table_has_the_operations_users_know() -> None:
    known = "Add AddV2 MatMul Mean Sum Conv3D Relu Softmax GatherV2 OneHot Pack Transpose ArgMax"
    assert set(known.split()) <= set(_table())
    assert len(_table()) >= 200
    assert tf.raw_ops.Any(input=[True, False], axis=[0]).numpy()


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: tf.raw_ops.Add(1.0, 2.0), TypeError, r"takes 0 positional .*x=\.\.\., y="),
        (lambda: tf.raw_ops.Add(x=1.0), TypeError, "missing 1 required .* 'y'"),
        (lambda: tf.raw_ops.Add(x=1.0, y=2.0, z=1), TypeError, "unexpected keyword argument 'z'"),
        (lambda: tf.raw_ops.Abort(), NotImplementedError, "public function"),
        (lambda: tf.raw_ops.Addd(x=1.0), AttributeError, "Addd"),
    ],
)
def test_wrong_calls_are_refused(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_defaults_and_names_are_taken() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    total = tf.raw_ops.Sum(input=x, axis=[0], keep_dims=True, name="total")
    np.testing.assert_array_equal(total, [[4.0, 6.0]])
    product = tf.raw_ops.MatMul(a=x, b=x, transpose_b=True)
    np.testing.assert_array_equal(product, np.array(x) @ np.array(x).T)
    assert tf.raw_ops.ArgMax(input=x, dimension=1).dtype == tf.int64
    assert "tf.math.add" in tf.raw_ops.Add.__doc__

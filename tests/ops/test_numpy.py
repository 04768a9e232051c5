"""`tf.experimental.numpy` against TensorFlow's, which runs in a process of its own.

TensorFlow's functions of integers need `experimental_enable_numpy_behavior`, which stays in force.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tapejax as tf

from . import numpy_rows

tnp = tf.experimental.numpy
# Where TensorFlow is wrong or another error is raised: what ours gives, and why.
OTHER_ERRORS = {
    "x['a']": "TensorFlow's converts text to a tensor first",
    "x[[0.5]]": "TensorFlow's casts the index",
}


def run(library: str) -> Any:
    """What `numpy_rows` prints for a library."""
    environment = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"}
    done = subprocess.run(
        [sys.executable, numpy_rows.__file__, library],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def theirs() -> Any:
    pytest.importorskip("tensorflow", reason="the values come from TensorFlow")
    return run("tensorflow")


@pytest.fixture(scope="module")
def ours_changed() -> Any:
    return run("tapejax")["behavior"]


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return {"values": numpy_rows.values(tf), "gradients": numpy_rows.gradients(tf)}


def check(found: Any, expected: Any, tolerance: float) -> None:
    """Equal structures, dtypes and shapes; numbers within a relative tolerance."""
    if isinstance(expected, list):
        assert isinstance(found, list)
        assert len(found) == len(expected), (found, expected)
        for ours, theirs in zip(found, expected, strict=True):
            check(ours, theirs, tolerance)
    elif isinstance(expected, float) and isinstance(found, float):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    else:
        assert found == expected


@pytest.mark.parametrize("expression", numpy_rows.VALUES)
def test_values_dtypes_and_shapes(expression: str, ours: Any, theirs: Any) -> None:
    expected = theirs["values"][expression]
    assert expected[:1] != ["raises"] if isinstance(expected, list) else True
    check(ours["values"][expression], expected, 2e-6)


@pytest.mark.parametrize("expression", numpy_rows.GRADIENTS)
def test_gradients(expression: str, ours: Any, theirs: Any) -> None:
    check(ours["gradients"][expression], theirs["gradients"][expression], 1e-9)


@pytest.mark.parametrize(
    "expression", [*numpy_rows.BEHAVIOR, *[f"prefer {row}" for row in numpy_rows.PREFERENCE]]
)
def test_numpy_behavior(expression: str, ours_changed: Any, theirs: Any) -> None:
    expected, found = theirs["behavior"][expression], ours_changed[expression]
    if expression in OTHER_ERRORS:
        assert found[0] == "raises"
    else:
        check(found, expected, 2e-6)


def test_nothing_changes_before_it_is_enabled() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1, 2]) + 1.5
    with pytest.raises(AttributeError):
        tf.constant([1, 2]).reshape(2, 1)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [  # where TensorFlow fails or is not NumPy's: NumPy's values
        ("tnp.float_power([1, 2], -1)", np.float_power([1, 2], -1)),
        ("tnp.logaddexp2(np.float32(1), np.float32(1))", np.float32(2)),
        ("tnp.log2(np.float32(8))", np.float32(3)),
        ("tnp.log10(np.float32(1))", np.float32(0)),
        ("tnp.linspace(0, 1, 3, dtype=int)", np.linspace(0, 1, 3, dtype=int)),
        ("tnp.linspace([0, 1], 2, 3)", np.linspace([0, 1], 2, 3)),
        ("tnp.var([1.0, 2.0, 4.0], ddof=1)", np.var([1.0, 2.0, 4.0], ddof=1)),
        ("tnp.cumsum([True, True])", np.cumsum([True, True])),
        ("tnp.concatenate([[1], [2]], axis=None)", np.array([1, 2])),
        ("tnp.pad([1, 2], 1, 'edge')", np.pad([1, 2], 1, "edge")),
        ("tnp.pad([1], (1, 2), 'constant', constant_values=5)", np.array([5, 1, 5, 5])),
        ("tnp.flatten([[1, 2], [3, 4]], 'F')", np.array([1, 3, 2, 4])),
        ("tnp.around(1234, -2)", np.around(1234, -2)),
        ("tnp.sort([[3, 1], [2, 0]], axis=None)", np.array([0, 1, 2, 3])),
        ("tnp.repeat([[1, 2]], 2)", np.repeat([[1, 2]], 2)),
    ],
)
def test_numpys_values(expression: str, expected: Any) -> None:
    found = eval(expression).numpy()
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: tnp.asarray([[1, 2], [3]]), ValueError, "non-rectangular"),
        (lambda: tnp.asarray(None), ValueError, "None"),
        (lambda: tnp.take([1], 0, mode="raise"), ValueError, "'raise' mode"),
        (lambda: tnp.take([1], 0, out=1), ValueError, "out"),
        (lambda: tnp.size([1], axis=0), NotImplementedError, "axis"),
        (lambda: tnp.sort([1], kind="heapsort"), ValueError, "heapsort"),
        (lambda: tnp.sort([1], order="x"), ValueError, "order"),
        (lambda: tnp.gcd(1.5, 2), ValueError, "must be integers"),
        (lambda: tnp.lcm(1.5, 2), ValueError, "must be integers"),
        (lambda: tnp.clip([1], None, None), ValueError, "None"),
        (lambda: tnp.where([True], 1), ValueError, "both"),
        (lambda: tnp.split([1, 2, 3], 2), ValueError, "equal division"),
        (lambda: tnp.reshape([1], 1, order="Q"), ValueError, "order"),
        (lambda: tnp.flatten([1], order="Q"), ValueError, "order"),
        (lambda: tnp.sign([1], where=[True]), ValueError, "where"),
        (lambda: tnp.mean([1], out=1), ValueError, "out"),
        (lambda: tnp.meshgrid([1], sparse=True), ValueError, "sparse"),
        (lambda: tnp.broadcast_arrays([1], bad=1), ValueError, "bad"),
        (lambda: tnp.select([[True]], []), ValueError, "condlist"),
        (lambda: tnp.select([], []), ValueError, "non-empty"),
        (lambda: tnp.ix_([[1]]), ValueError, "1-d"),
        (lambda: tnp.diag_indices(-1), ValueError, "negative"),
        (lambda: tnp.vander([[1]]), ValueError, "one-dimensional"),
        (lambda: tnp.vander([1], -1), ValueError, "nonnegative"),
        (lambda: tnp.average([1], axis=(0,)), ValueError, "integer axis"),
        (lambda: tnp.arange(0, 1, 0), ValueError, "non-zero"),
        (lambda: tnp.linspace(0, 1, -1), ValueError, "non-negative"),
        (lambda: tnp.full_like([1], 1, order="C"), ValueError, "order"),
        (lambda: tnp.einsum("i", [1], bad=1), ValueError, "bad"),
        (lambda: tnp.pad([1], 1, lambda *_: None), ValueError, "function"),
        (lambda: tnp.random.randint(2, dtype=np.int8), ValueError, "int8"),
        (lambda: tnp.random.poisson([1.0, 2.0], [3]), ValueError, "shape"),
        (
            lambda: tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all"),
            NotImplementedError,
            "legacy",
        ),
    ],
)
def test_bad_arguments_are_refused(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_they_work_in_compiled_functions() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tnp.sum(tnp.where(x > 0, tnp.sin(x), tnp.cumsum(x) * 2), axis=-1)

    x = np.array([0.5, -1.0, 2.0])
    expected = np.sum(np.where(x > 0, np.sin(x), np.cumsum(x) * 2))
    np.testing.assert_allclose(f(tf.constant(x)).numpy(), expected, rtol=1e-12)


def test_random_numbers_follow_the_seed_and_their_distribution() -> None:
    draws = {
        "uniform": (lambda: tnp.random.uniform(2.0, 4.0, [20000]), 3.0, 2 / 12**0.5),
        "random": (lambda: tnp.random.random([20000]), 0.5, 1 / 12**0.5),
        "rand": (lambda: tnp.random.rand(200, 100), 0.5, 1 / 12**0.5),
        "randn": (lambda: tnp.random.randn(200, 100), 0.0, 1.0),
        "standard_normal": (lambda: tnp.random.standard_normal([20000]), 0.0, 1.0),
        "poisson": (lambda: tnp.random.poisson(4.0, [20000]), 4.0, 2.0),
        "randint": (lambda: tnp.random.randint(0, 5, [20000]), 2.0, 2**0.5),
    }
    for name, (draw, mean, deviation) in draws.items():
        tnp.random.seed(7)
        first = draw().numpy()
        tnp.random.seed(7)
        np.testing.assert_array_equal(draw().numpy(), first, err_msg=name)
        assert abs(first.mean() - mean) < 5 * deviation / first.size**0.5, name
        assert abs(first.std() / deviation - 1) < 0.03, name
        whole = name in ("poisson", "randint")
        assert first.dtype == (np.int64 if whole else np.float64)
    assert tnp.random.poisson([1.0, 200.0], [4, 2]).shape == [4, 2]


def test_dtypes_and_constants_are_numpys() -> None:
    assert tnp.float_ is np.float64
    assert tnp.int_ is np.int64
    assert tnp.complex_ is np.complex128
    assert (tnp.bool_, tnp.string_, tnp.unicode_, tnp.object_) == (
        np.bool_,
        np.bytes_,
        np.str_,
        np.object_,
    )
    assert (tnp.pi, tnp.e, tnp.inf, tnp.newaxis) == (np.pi, np.e, np.inf, None)
    assert tnp.ndarray is tf.Tensor
    assert tnp.issubdtype(tnp.float16, tnp.inexact)
    assert tnp.finfo(tnp.float32).eps == np.finfo(np.float32).eps
    assert tnp.iinfo(tnp.uint8).max == 255

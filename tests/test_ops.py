"""Every op times its cases, against TensorFlow and against finite differences.

    pytest tests/test_ops.py -k log1p              the public function `tf.math.log1p`
    pytest tests/test_ops.py -k "math.log1p["      exactly this op
    pytest tests/test_ops.py --pure -k log1p       its pure body by jax.vjp, without the engine

The rows come from the `cases=` of the `@op` decorators. `differs=` exempts a row from equality with
TensorFlow, never from finite differences, and the row must then really differ.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow
from parity import differences
from parity.calls import Call, cotangents, leaves, random_like
from parity.compare import assert_same_array, container, distance
from parity.composites import COMPOSITES
from parity.library import NO_GRADIENT_ENTRY, Library, Tapejax, lookup
from parity.pure import PureLibrary
from parity.rows import (
    BROKEN_MODULES,
    PUBLIC_ROWS,
    ROWS,
    Row,
    public_functions,
    untested_paths,
)

import tapejax
from tapejax._src.engine import registry

TENSORFLOW = Library(tensorflow)
GRADIENT_SLACK = 4  # a gradient sums and multiplies a few values, each with its own rounding


def each(rows: list[Row]) -> pytest.MarkDecorator:
    """Run a test on each of the rows."""
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.id)


def _pure(config: pytest.Config) -> bool:
    return bool(config.getoption("--pure", default=False))


@pytest.fixture
def ours(request: pytest.FixtureRequest, row: Row) -> Any:
    """The library under test."""
    if not _pure(request.config):
        return Tapejax(tapejax)
    if row.path in COMPOSITES:
        pytest.skip("a composite has no pure body")
    return PureLibrary()


def _seeds(row: Row, outputs: Any) -> list[np.ndarray]:
    return cotangents(outputs, row.rng("cotangents"))


def _second_seeds(row: Row) -> list[np.ndarray]:
    rng = row.rng("second cotangents")
    return [random_like(primal, rng) for primal in row.call.primals]


def test_module_imports() -> None:
    """Every module of ops can be imported."""
    assert not BROKEN_MODULES, "\n".join(f"{n}: {e!r}" for n, e in BROKEN_MODULES.items())


def test_every_public_function_has_a_case() -> None:
    """A function without a case would be tested by nothing."""
    assert untested_paths() == []


@pytest.mark.parametrize("path", public_functions())
def test_signature(path: str) -> None:
    """Parameter names, order, kinds and defaults are TensorFlow's."""
    actual = inspect.signature(registry.PUBLIC[path]).parameters.values()
    expected = inspect.signature(lookup(tensorflow, path)).parameters.values()
    assert [_spelled(p) for p in actual] == [_spelled(p) for p in expected]


def _spelled(parameter: inspect.Parameter) -> str:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return f"{parameter.kind.description} {parameter.name}"
    name = getattr(default, "name", None)  # DTypes and enum members are equal when named alike
    return f"{parameter.kind.description} {parameter.name}={name or repr(default)}"


@each(PUBLIC_ROWS)
def test_value(row: Row, ours: Any) -> None:
    """Values, dtypes, shapes and containers are TensorFlow's."""
    expected = TENSORFLOW.value(row, row.call)
    actual = ours.value(row, row.call)
    assert container(actual) == container(expected)
    pairs = zip(leaves(actual), leaves(expected), strict=True)
    for place, (mine, theirs) in enumerate(pairs):
        if row.field("differs"):
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        else:
            assert_same_array(row, f"output {place}", mine, theirs)


DIFFERENTIABLE = [row for row in ROWS if row.call.primals and row.field("test_grad", True)]
COMPARABLE = [row for row in DIFFERENTIABLE if not row.private]
IN_DOUBLE = [row for row in DIFFERENTIABLE if row.has_float64]


# what TensorFlow raises, besides LookupError, where it cannot differentiate
NO_SECOND = (
    tensorflow.errors.OpError,
    AttributeError,
    NotImplementedError,
    TypeError,
    ValueError,
)


@each(COMPARABLE)
def test_first_gradient(row: Row, ours: Any, request: pytest.FixtureRequest) -> None:
    """The gradient of a random functional, with None and LookupError where TensorFlow has them."""
    if row.field("differs"):
        return  # test_derivatives_equal_finite_differences is the oracle
    seeds = _seeds(row, TENSORFLOW.value(row, row.call))
    expected = TENSORFLOW.gradients(row, row.call, seeds)
    actual = ours.gradients(row, row.call, seeds)
    _assert_same_gradients(row, actual, expected, GRADIENT_SLACK, _pure(request.config))


@each(COMPARABLE)
def test_second_gradient(row: Row, ours: Any, request: pytest.FixtureRequest) -> None:
    """The gradient of the gradient; by finite differences where TensorFlow has none or differs."""
    if row.op.fields.get("gradient", "vjp") != "vjp":
        return  # there is no first gradient to differentiate; test_first_gradient checks that
    expected = NO_GRADIENT_ENTRY if row.field("differs") else _second_gradients_of_tensorflow(row)
    if expected == NO_GRADIENT_ENTRY:
        if row.has_float64:
            _assert_second_gradient_equals_differences(row, ours)
        return
    seeds = _seeds(row, TENSORFLOW.value(row, row.call))
    actual = ours.second_gradients(row, row.call, seeds, _second_seeds(row))
    _assert_same_gradients(row, actual, expected, 4 * GRADIENT_SLACK, _pure(request.config))


def _second_gradients_of_tensorflow(row: Row) -> Any:
    seeds = _seeds(row, TENSORFLOW.value(row, row.call))
    try:
        return TENSORFLOW.second_gradients(row, row.call, seeds, _second_seeds(row))
    except NO_SECOND:
        return NO_GRADIENT_ENTRY


def _assert_same_gradients(row: Row, actual: Any, expected: Any, slack: float, pure: bool) -> None:
    if NO_GRADIENT_ENTRY in (actual, expected):
        assert actual == expected
        return
    for place, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
        what = f"gradient of tensor argument {place}"
        if theirs is None or mine is None:
            # a pure body cannot know which zeros are unconnected
            if pure and theirs is None and not np.any(mine):
                continue
            assert mine is None, f"{what}: {mine!r}, but TensorFlow gives None"
            assert theirs is None, f"{what}: None, but TensorFlow gives {theirs!r}"
        else:
            assert_same_array(row, what, mine, theirs, slack)


@each(IN_DOUBLE)
def test_derivatives_equal_finite_differences(row: Row, ours: Any) -> None:
    """Reverse and forward mode in double precision against central differences."""
    call = row.call.widened()
    oracle = _oracle(row, call, ours)
    values = oracle.value(row, call)
    floating = [leaf for leaf in leaves(values) if leaf.dtype.kind in "fc"]
    seeds = differences.finite_only(_seeds(row, values), floating)
    gradients = ours.gradients(row, call, seeds)
    if gradients == NO_GRADIENT_ENTRY:
        return  # nothing to compare; test_first_gradient checks that TensorFlow has none either
    tangents = [
        np.zeros_like(t) if g is None else t  # None says: constant in this argument
        for t, g in zip(call.tangents(row.rng("tangents")), gradients, strict=True)
    ]

    def outputs(primals: list[np.ndarray]) -> list[np.ndarray]:
        values = leaves(oracle.value(row, call.with_primals(primals)))
        return [value for value in values if value.dtype.kind in "fc"]

    slopes = differences.along(outputs, call.primals, tangents)
    _assert_close(
        differences.inner(gradients, tangents),
        differences.inner(seeds, slopes),
        differences.scale(seeds, slopes),
        "reverse mode",
    )
    pushed = ours.pushforward(row, call, tangents)
    for place, (mine, slope) in enumerate(zip(pushed, slopes, strict=True)):
        mine = np.zeros_like(slope) if mine is None else np.where(np.isfinite(mine), mine, 0)
        error = float(np.max(np.abs(mine - slope), initial=0.0))
        size = float(np.max(np.abs(slope), initial=1e-3))
        _assert_close(error, 0.0, size, f"forward mode of output {place}")


def _oracle(row: Row, call: Call, ours: Any) -> Any:
    """Whose values to take differences of: TensorFlow's where it has the op in double."""
    if row.field("differs") or row.private:
        return ours
    try:
        TENSORFLOW.value(row, call)
    except tensorflow.errors.OpError:
        return ours
    return TENSORFLOW


def _assert_second_gradient_equals_differences(row: Row, ours: Any) -> None:
    call = row.call.widened()
    seeds = _seeds(row, ours.value(row, call))
    pairs = zip(_second_seeds(row), call.primals, strict=True)
    second_seeds = [seed.astype(primal.dtype) for seed, primal in pairs]
    tangents = call.tangents(row.rng("tangents"))
    second = ours.second_gradients(row, call, seeds, second_seeds)
    slopes = differences.along(
        lambda primals: ours.gradients(row, call.with_primals(primals), seeds),
        call.primals,
        tangents,
    )
    _assert_close(
        differences.inner(second, tangents),
        differences.inner(second_seeds, slopes),
        differences.scale(second_seeds, slopes),
        "second gradient",
    )


def _assert_close(actual: float, expected: float, size: float, what: str) -> None:
    error = abs(actual - expected) / size
    assert error <= differences.TOLERANCE, f"{what}: {actual!r}, differences give {expected!r}"


def _groups_that_differ() -> dict[str, list[Row]]:
    """The rows of which at least one must differ: all of an op, or each that it names."""
    groups: dict[str, list[Row]] = {}
    for row in PUBLIC_ROWS:
        if row.field("differs"):
            by_case = isinstance(row.op.fields["differs"], Mapping)
            groups.setdefault(row.id if by_case else row.path, []).append(row)
    return groups


DIFFERENT = _groups_that_differ()


@each([rows[0] for rows in DIFFERENT.values()])
def test_what_says_it_differs_does_differ(row: Row, ours: Any) -> None:
    """A stale `differs=` would hide regressions: some case must show the difference."""
    rows = DIFFERENT.get(row.id) or DIFFERENT[row.path]
    shown = any(_differs(other, ours) for other in rows)
    assert shown, f"no case differs from TensorFlow, but differs={row.field('differs')!r}"


def test_cases_said_to_differ_exist() -> None:
    """A misspelled case in `differs={case: reason}` would exempt nothing."""
    for path, entry in [*registry.OPS.items(), *COMPOSITES.items()]:
        named = entry.fields.get("differs")
        if isinstance(named, Mapping):
            assert set(named) <= set(entry.cases), path


def _differs(row: Row, ours: Any) -> bool:
    mine = ours.value(row, row.call)
    try:
        theirs = TENSORFLOW.value(row, row.call)
    except NO_SECOND:
        return True
    pairs = zip(leaves(mine), leaves(theirs), strict=True)
    if any(distance(left, right) > row.tolerance(right.dtype) for left, right in pairs):
        return True
    return row.field("test_grad", True) and bool(row.call.primals) and _gradients_differ(row, ours)


def _gradients_differ(row: Row, ours: Any) -> bool:
    seeds = _seeds(row, ours.value(row, row.call))
    try:
        first = TENSORFLOW.gradients(row, row.call, seeds)
        second = TENSORFLOW.second_gradients(row, row.call, seeds, _second_seeds(row))
    except NO_SECOND:
        return True
    pairs = [
        (ours.gradients(row, row.call, seeds), first),
        (ours.second_gradients(row, row.call, seeds, _second_seeds(row)), second),
    ]
    try:
        for actual, expected in pairs:
            _assert_same_gradients(row, actual, expected, 4 * GRADIENT_SLACK, pure=False)
    except AssertionError:
        return True
    return False

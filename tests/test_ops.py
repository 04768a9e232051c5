"""Every op times its cases, against TensorFlow and against finite differences.

    pytest tests/test_ops.py -k log1p              the public function `tf.math.log1p`
    pytest tests/test_ops.py -k "math.log1p["      exactly this op
    pytest tests/test_ops.py --pure -k log1p       its pure body by jax.vjp, without the engine

The rows come from the `cases=` of the `@op` decorators. `differs=` exempts a row from equality with
TensorFlow, never from finite differences, and the row must then really differ.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow
from parity import differences
from parity.calls import leaves
from parity.compare import assert_same_array, container, distance
from parity.composites import COMPOSITES
from parity.library import NO_GRADIENT_ENTRY, lookup
from parity.ours import Ours, answers
from parity.rows import (
    BROKEN_MODULES,
    PUBLIC_ROWS,
    ROWS,
    Row,
    public_functions,
    untested_paths,
)
from parity.theirs import NO_SECOND, TENSORFLOW, Theirs, their_answers
from parity.together import Answers

from tapejax._src.engine import registry

GRADIENT_SLACK = 4  # a gradient sums and multiplies a few values, each with its own rounding


def each(rows: list[Row]) -> pytest.MarkDecorator:
    """Run a test on each of the rows."""
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.id)


def _pure(config: pytest.Config) -> bool:
    return bool(config.getoption("--pure", default=False))


@pytest.fixture
def ours(request: pytest.FixtureRequest, row: Row) -> Ours:
    """The answers of the library under test."""
    pure = bool(request.config.getoption("--pure", default=False))
    if pure and row.path in COMPOSITES:
        pytest.skip("a composite has no pure body")
    return answers(row.id, pure)


@pytest.fixture
def theirs(ours: Ours) -> Theirs:
    """The answers of TensorFlow."""
    return their_answers(ours.row.id, ours.pure)


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
    if type(default) is object:  # a mark for "not given", another object in each library
        return f"{parameter.kind.description} {parameter.name}=unspecified"
    # DTypes and enum members are equal when named alike, and functions are
    name = getattr(default, "name", None) or getattr(default, "__name__", None)
    return f"{parameter.kind.description} {parameter.name}={name or repr(default)}"


@each(PUBLIC_ROWS)
def test_value(row: Row, ours: Ours) -> None:
    """Values, dtypes, shapes and containers are TensorFlow's."""
    expected = TENSORFLOW.value(row, row.call)
    actual = ours.plain
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


@each(COMPARABLE)
def test_first_gradient(row: Row, ours: Ours, theirs: Theirs) -> None:
    """The gradient of a random functional, with None and LookupError where TensorFlow has them."""
    if row.field("differs"):
        return  # test_derivatives_equal_finite_differences is the oracle
    _assert_same_gradients(row, ours.single.first, theirs.first, GRADIENT_SLACK, ours.pure)


@each(COMPARABLE)
def test_second_gradient(row: Row, ours: Ours, theirs: Theirs) -> None:
    """The gradient of the gradient; by finite differences where TensorFlow has none or differs."""
    if row.op.fields.get("gradient", "vjp") != "vjp":
        return  # there is no first gradient to differentiate; test_first_gradient checks that
    if not _has_second(row, theirs):
        if row.has_float64:
            _assert_second_gradient_equals_differences(ours)
        return
    slack = 4 * GRADIENT_SLACK
    _assert_same_gradients(row, ours.single.second, theirs.second, slack, ours.pure)


def _has_second(row: Row, theirs: Theirs) -> bool:
    """Whether TensorFlow's second gradients are what ours are compared with."""
    return not row.field("differs") and theirs.second != NO_GRADIENT_ENTRY


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
            # without elements there is nothing to connect: None and an empty array say the same
            if np.size(mine if theirs is None else theirs) == 0:
                continue
            assert mine is None, f"{what}: {mine!r}, but TensorFlow gives None"
            assert theirs is None, f"{what}: None, but TensorFlow gives {theirs!r}"
        else:
            assert_same_array(row, what, mine, theirs, slack)


@each(IN_DOUBLE)
def test_derivatives_equal_finite_differences(row: Row, ours: Ours) -> None:
    """Reverse and forward mode in double precision against central differences."""
    mine = ours.double(second=_second_by_differences(row, ours))
    if mine.first == NO_GRADIENT_ENTRY:
        return  # nothing to compare; test_first_gradient checks that TensorFlow has none either
    asked = mine.question
    tangents = asked.moving(mine.first)
    value = _oracle(row, ours, mine)

    def outputs(primals: list[np.ndarray]) -> list[np.ndarray]:
        return [leaf for leaf in leaves(value(primals)) if leaf.dtype.kind in "fc"]

    slopes = differences.along(outputs, asked.call.primals, tangents)
    _assert_close(
        differences.inner(mine.first, tangents),
        differences.inner(asked.seeds, slopes),
        differences.scale(asked.seeds, slopes),
        "reverse mode",
    )
    for place, (pushed, slope) in enumerate(zip(mine.pushed, slopes, strict=True)):
        known = np.zeros_like(slope) if pushed is None else np.where(np.isfinite(pushed), pushed, 0)
        error = float(np.max(np.abs(known - slope), initial=0.0))
        size = float(np.max(np.abs(slope), initial=1e-3))
        _assert_close(error, 0.0, size, f"forward mode of output {place}")


def _second_by_differences(row: Row, ours: Ours) -> bool:
    """Whether test_second_gradient takes differences, so that the program is shared with it."""
    if row.private or row.op.fields.get("gradient", "vjp") != "vjp":
        return False
    return not _has_second(row, their_answers(row.id, ours.pure))


def _oracle(row: Row, ours: Ours, mine: Answers) -> Callable[[list[np.ndarray]], Any]:
    """Whose values to take differences of: TensorFlow's where it has the op in double."""
    call = mine.question.call
    if not (row.field("differs") or row.private):
        try:
            TENSORFLOW.value(row, call)
        except tensorflow.errors.OpError:
            pass
        else:
            return lambda primals: TENSORFLOW.value(row, call.with_primals(primals))
    return lambda primals: ours.elsewhere(mine, primals).value


def _assert_second_gradient_equals_differences(ours: Ours) -> None:
    mine = ours.double(second=True)
    asked = mine.question
    slopes = differences.along(
        lambda primals: ours.elsewhere(mine, primals).first, asked.call.primals, asked.tangents
    )
    _assert_close(
        differences.inner(mine.second, asked.tangents),
        differences.inner(asked.second_seeds, slopes),
        differences.scale(asked.second_seeds, slopes),
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
def test_what_says_it_differs_does_differ(row: Row, ours: Ours) -> None:
    """A stale `differs=` would hide regressions: some case must show the difference."""
    rows = DIFFERENT.get(row.id) or DIFFERENT[row.path]
    shown = any(_differs(other, answers(other.id, ours.pure)) for other in rows)
    assert shown, f"no case differs from TensorFlow, but differs={row.field('differs')!r}"


def test_cases_said_to_differ_exist() -> None:
    """A misspelled case in `differs={case: reason}` would exempt nothing."""
    for path, entry in [*registry.OPS.items(), *COMPOSITES.items()]:
        named = entry.fields.get("differs")
        if isinstance(named, Mapping):
            assert set(named) <= set(entry.cases), path


def _differs(row: Row, ours: Ours) -> bool:
    try:
        expected = TENSORFLOW.value(row, row.call)
    except NO_SECOND:
        return True
    pairs = zip(leaves(ours.plain), leaves(expected), strict=True)
    if any(distance(left, right) > row.tolerance(right.dtype) for left, right in pairs):
        return True
    return row.field("test_grad", True) and bool(row.call.primals) and _gradients_differ(row, ours)


def _gradients_differ(row: Row, ours: Ours) -> bool:
    theirs, slack = their_answers(row.id, ours.pure), 4 * GRADIENT_SLACK
    try:
        _assert_same_gradients(row, ours.single.first, theirs.first, slack, pure=False)
        _assert_same_gradients(row, ours.single.second, theirs.second, slack, pure=False)
    except (AssertionError, *NO_SECOND):
        return True
    return False

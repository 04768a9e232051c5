"""The same op by other routes: other kinds of arguments, other ways to run.

Each route must give what the plain call on tensors gives, which `test_ops.py` compares with
TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from parity.calls import Call, leaves, map_leaves
from parity.compare import container, distance
from parity.library import Tapejax, as_numpy
from parity.ours import answers
from parity.rows import ROWS, Row
from parity.together import compiled_fast, op_by_op

import tapejax as tf
from tapejax._src.core.config import immediate
from tapejax._src.engine.registry import OPS

OURS = Tapejax(tf)
WITH_TENSORS = [row for row in ROWS if row.call.arrays]
each_row = pytest.mark.parametrize("row", WITH_TENSORS, ids=lambda row: row.id)


@pytest.fixture(autouse=True)
def engine_only(request: pytest.FixtureRequest) -> None:
    """The routes are the engine's."""
    if request.config.getoption("--pure"):
        pytest.skip("needs the engine")


def through(row: Row, convert: Callable[[np.ndarray], Any]) -> Any:
    """The outputs when each array argument is passed as `convert` makes it."""
    with op_by_op():
        return map_leaves(as_numpy, OURS.invoke(row, row.call.map_arrays(convert)))


def plain(row: Row) -> Any:
    """The outputs of a plain call on tensors."""
    return answers(row.id).plain


def assert_equal(row: Row, actual: Any, expected: Any) -> None:
    """Same containers, dtypes and shapes; values equal but for the rounding of a fused program."""
    assert container(actual) == container(expected)
    for mine, other in zip(leaves(actual), leaves(expected), strict=True):
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        assert distance(mine, other) <= row.tolerance(other.dtype)


def led_by_a_number(row: Row) -> bool:
    """Whether a Python float comes first: it makes an ndarray after it a float32, too."""
    first = row.call.args[:1]
    return row.path in OPS and any(isinstance(value, float) for value in first)


def keeps_dtype(row: Row) -> bool:
    """Whether an ndarray counts like a tensor; TensorFlow's `rfft` makes it a float32 first."""
    return not (led_by_a_number(row) or row.field("single_unless_tensor"))


@pytest.mark.parametrize(
    "row", [row for row in WITH_TENSORS if keeps_dtype(row)], ids=lambda row: row.id
)
def test_ndarrays_are_tensors(row: Row) -> None:
    """ndarrays keep their dtype."""
    assert_equal(row, through(row, lambda array: array), plain(row))


@each_row
def test_variables_are_tensors(row: Row) -> None:
    """Variables stand for their value."""
    assert_equal(row, through(row, tf.Variable), plain(row))


def listable(call: Call) -> bool:
    """Whether lists have the dtypes that the arrays have: float32 and int32 are inferred."""
    dtypes = {array.dtype.name for array in call.arrays}
    return dtypes <= {"float32", "int32", "bool"} and all(array.size for array in call.arrays)


@pytest.mark.parametrize(
    "row", [row for row in WITH_TENSORS if listable(row.call)], ids=lambda row: row.id
)
def test_nested_lists_are_tensors(row: Row) -> None:
    """Python lists of numbers are converted."""
    assert_equal(row, through(row, lambda array: array.tolist()), plain(row))


@each_row
def test_in_a_program_of_several_ops(row: Row) -> None:
    """The op fused with an op before and an op after it, and its inputs never read."""
    assert_equal(row, answers(row.id).single.value, plain(row))


@each_row
def test_in_immediate_mode(row: Row) -> None:
    """Every op run at once."""
    expected = plain(row)
    with immediate(), compiled_fast():
        assert_equal(row, OURS.value(row, row.call), expected)


DIFFERENTIABLE = [
    row
    for row in ROWS
    if row.call.primals and row.field("test_grad", True) and row.op.fields.get("gradient") is None
]


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.id)
def test_the_gradient_in_immediate_mode(row: Row) -> None:
    """A tape gives the same whether its ops are run at once or as one program."""
    deferred = answers(row.id).single
    with immediate(), compiled_fast():
        at_once = OURS.gradients(row, row.call, deferred.question.seeds)
    assert [g is None for g in at_once] == [g is None for g in deferred.first]
    for mine, other in zip(at_once, deferred.first, strict=True):
        if other is not None:
            assert distance(mine, other) <= 4 * row.tolerance(other.dtype)

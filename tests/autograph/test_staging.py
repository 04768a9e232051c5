"""Control flow that tensors decide: a traced function gives what Python gives for the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapejax as tf
from autograph.functions import CASES


def as_tensor(value: Any) -> tf.Tensor:
    """A float32 or int32 tensor of a Python number or an array."""
    array = np.asarray(value)
    return tf.constant(array.astype(np.float32 if array.dtype.kind == "f" else np.int32))


def leaves(structure: Any) -> list[np.ndarray]:
    """The numbers of a result, flat."""
    return [np.asarray(x, np.float64) for x in tf.nest.flatten(structure)]


MIXED_DTYPES = {"enumerates"}
"""Functions that add integers to floats, which tensors never do."""


def name_of(case: tuple[Callable[..., Any], tuple[Any, ...]]) -> str:
    function, arguments = case
    shown = ",".join(str(a) for a in arguments)
    return f"{getattr(function, '__name__', type(function).__name__)}({shown})"


@pytest.mark.parametrize(
    "case", [case for case in CASES if name_of(case).split("(")[0] not in MIXED_DTYPES], ids=name_of
)
def test_a_traced_function_gives_what_python_gives(case):
    function, arguments = case
    expected = leaves(function(*arguments))
    found = leaves(tf.function(function)(*[as_tensor(a) for a in arguments]))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "case", [case for case in CASES if name_of(case).split("(")[0] in MIXED_DTYPES], ids=name_of
)
def test_integers_and_floats_do_not_mix_in_a_traced_function(case):
    function, arguments = case
    with pytest.raises(TypeError, match=r"int32.*float|float.*int32"):
        tf.function(function)(*[as_tensor(a) for a in arguments])

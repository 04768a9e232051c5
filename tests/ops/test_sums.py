"""Sums of lists and products with a number: arguments that are refused, and slices."""

from __future__ import annotations

import numpy as np
import pytest

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.engine.convert import as_tensor
from tapejax._src.ops import sums


def test_add_n_of_nothing_is_a_value_error() -> None:
    """As in TensorFlow."""
    with pytest.raises(ValueError, match="at least one Tensor/IndexedSlices"):
        sums.add_n([])


def test_add_n_does_not_broadcast() -> None:
    """Unlike `tf.add`."""
    with pytest.raises(InvalidArgumentError, match=r"Input 0: \[1\] != input 1: \[2\]"):
        sums.add_n([as_tensor([1.0]), as_tensor([1.0, 2.0])])


def test_accumulate_n_checks_shape_and_dtype() -> None:
    """Before it adds."""
    a = as_tensor([1.0, 2.0])
    assert sums.accumulate_n(
        [a, a], shape=[None], tensor_dtype=dtypes.float32
    ).numpy().tolist() == [
        2.0,
        4.0,
    ]
    with pytest.raises(ValueError, match="not compatible"):
        sums.accumulate_n([a], shape=[3])
    with pytest.raises(TypeError, match="tensor_dtype"):
        sums.accumulate_n([a], tensor_dtype=dtypes.int32)
    for refused in ([], [a, as_tensor(np.ones(2))], [[1.0, 2.0], [1, 2]]):
        with pytest.raises(ValueError, match="list of at least one Tensor"):
            sums.accumulate_n(refused)


def test_add_n_of_booleans_is_an_invalid_argument() -> None:
    """Logical or is another op."""
    with pytest.raises(InvalidArgumentError, match="bool is not in the list of allowed values"):
        sums.add_n([as_tensor([True]), as_tensor([False])])


def test_scalar_mul_takes_the_dtype_of_what_it_multiplies() -> None:
    """A number follows an ndarray; a tensor of another dtype is a ValueError."""
    assert sums.scalar_mul(2.0, np.ones(2)).dtype == dtypes.float64
    with pytest.raises(ValueError, match="requested dtype float32 for Tensor with dtype float64"):
        sums.scalar_mul(as_tensor(np.float64(2)), as_tensor([1.0]))


def test_scalar_mul_takes_a_number_only() -> None:
    """A vector is a ValueError."""
    with pytest.raises(ValueError, match="0-D value"):
        sums.scalar_mul(as_tensor([1.0, 2.0]), as_tensor([1.0, 2.0]))


def test_scalar_mul_of_slices_multiplies_their_values() -> None:
    """They stay slices."""
    g = IndexedSlices(as_tensor([[1.5]]), as_tensor([2]), as_tensor([4, 1]))
    product = sums.scalar_mul(2.0, g)
    assert isinstance(product, IndexedSlices)
    np.testing.assert_array_equal(product.values.numpy(), [[3.0]])

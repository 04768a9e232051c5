"""`tensor[...]`, `tf.slice`, `tf.strided_slice` and slice updates, against NumPy and TensorFlow."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

import tapejax as tf
from tapejax._src.ops.index_keys import canonicalise_index
from tapejax._src.ops.slicing import getitem, take_index, updated

BLOCK = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
INDICES = [
    0,
    -1,
    (1, 2, 3),
    (slice(None), 1),
    (Ellipsis, 0),
    (0, Ellipsis, slice(1, 3)),
    (None, 1, None, slice(None, None, -1)),
    slice(5, None),
    slice(-9, 1),
    (slice(None), slice(2, 0, -1), slice(None, None, 2)),
    (slice(None), slice(-1, -9, -2)),
    (slice(1, 1), slice(None), slice(3, 1)),
    (),
    Ellipsis,
    (Ellipsis, None),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("dynamic_starts", [False, True])
def test_indexing_equals_numpy(index: Any, dynamic_starts: bool) -> None:
    actual = getitem(tf.constant(BLOCK), index, dynamic_starts).numpy()
    np.testing.assert_array_equal(actual, BLOCK[index])


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("dynamic_starts", [False, True])
def test_slice_update_equals_numpy(index: Any, dynamic_starts: bool) -> None:
    expected = BLOCK.copy()
    expected[index] = -1.0
    actual = updated(tf.constant(BLOCK), index, -1.0, dynamic_starts).numpy()
    np.testing.assert_array_equal(actual, expected)


def test_slice_update_puts_each_element_of_the_value_in_its_place() -> None:
    value = np.arange(100.0, 104.0, dtype=np.float32).reshape(2, 2)
    for index in [(slice(None), 1, slice(3, 1, -1)), (slice(None), 1, slice(0, 4, 3))]:
        expected = BLOCK.copy()
        expected[index] = value
        np.testing.assert_array_equal(updated(tf.constant(BLOCK), index, value).numpy(), expected)


def test_slice_update_with_a_tensor_index_equals_numpy() -> None:
    expected = BLOCK.copy()
    expected[1, 1:3] = 7.0
    index = (tf.constant(-1), slice(tf.constant(1), tf.constant(9)))
    np.testing.assert_array_equal(updated(tf.constant(BLOCK), index, 7.0).numpy(), expected)


def test_slice_update_of_the_wrong_shape_raises() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"input shape \[2\] into final shape"):
        updated(tf.constant([1.0, 2.0, 3.0, 4.0]), slice(1, None), [1.0, 2.0])


def test_the_key_does_not_depend_on_the_value_of_a_tensor_index() -> None:
    keys = {canonicalise_index(tf.constant(n), (5,))[0] for n in range(3)}
    assert keys == {(("take", True),)}


def test_with_dynamic_starts_the_key_of_a_window_does_not_depend_on_where_it_is() -> None:
    keys = {canonicalise_index(slice(n, n + 2), (9,), dynamic_starts=True)[0] for n in range(5)}
    assert keys == {(("window", 2),)}


def test_an_index_taken_from_a_shape_is_static() -> None:
    key, dynamic = canonicalise_index(tf.shape(tf.zeros([3, 2]))[1], (5,))
    assert (key, dynamic) == ((("at", 2),), [])


ERRORS = [
    (5, "slice index 5 of dimension 0 out of bounds."),
    (-4, "slice index -2 of dimension 0 out of bounds."),
    ((0, 7), "slice index 7 of dimension 1 out of bounds."),
    ((0, 0, 0, 0), "Index out of range using input dim 3; input has only 3 dims"),
    ((Ellipsis, Ellipsis), "Multiple ellipses in slice spec not allowed"),
    (slice(None, None, 0), "must be non-zero"),
]


@pytest.mark.parametrize(("index", "text"), ERRORS, ids=str)
def test_an_index_that_does_not_fit_raises_tensorflows_text(index: Any, text: str) -> None:
    with pytest.raises(tensorflow.errors.InvalidArgumentError) as theirs:
        tensorflow.constant(BLOCK)[index]
    with pytest.raises(tf.errors.InvalidArgumentError) as ours:
        getitem(tf.constant(BLOCK), index)
    assert text in theirs.value.message
    assert text in str(ours.value)


@pytest.mark.parametrize("index", [1.0, "a", np.array([0, 1]), (0, 1.5), np.bool_(True)], ids=str)
def test_an_index_of_another_type_raises_type_error(index: Any) -> None:
    with pytest.raises(TypeError, match="Only integers, slices"):
        tensorflow.constant(BLOCK)[index]
    with pytest.raises(TypeError, match="Only integers, slices"):
        getitem(tf.constant(BLOCK), index)


def test_a_tensor_index_out_of_range_raises_when_it_is_known() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 7 of dimension 0"):
        getitem(tf.constant(BLOCK), tf.constant(7)).numpy()


def test_a_pending_tensor_index_out_of_range_raises_at_the_flush() -> None:
    index = tf.constant(3) + tf.constant(4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 7 of dimension 0"):
        getitem(tf.constant(BLOCK), index).numpy()


def test_indexing_a_scalar_raises() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Attempting to slice scalar input"):
        getitem(tf.constant(5), 0)


@pytest.mark.parametrize("dynamic_starts", [False, True])
def test_the_derivative_of_indexing_is_one_at_the_taken_elements(dynamic_starts: bool) -> None:
    index = (1, slice(2, 0, -1), slice(1, 3))
    key, dynamic = canonicalise_index(index, BLOCK.shape, dynamic_starts)
    arrays = tuple(jnp.asarray(n) for n in dynamic)
    with jax.enable_x64(True):
        slope = jax.grad(lambda x: jnp.sum(take_index(x, key, arrays)))(jnp.asarray(BLOCK))
    expected = np.zeros_like(BLOCK)
    expected[index] = 1.0
    np.testing.assert_array_equal(slope, expected)


def test_a_boolean_mask_alone_selects() -> None:
    mask = BLOCK > 20
    np.testing.assert_array_equal(getitem(tf.constant(BLOCK), mask).numpy(), BLOCK[mask])


def test_slice_with_a_begin_tensor_checks_its_value() -> None:
    x = tf.constant([1, 2, 3])
    assert tf.slice(x, tf.constant([1]), [2]).numpy().tolist() == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected size\[0\] in \[0, 1\]"):
        tf.slice(x, tf.constant([2]), [2]).numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected begin\[0\] in \[0, 3\]"):
        tf.slice(x, tf.constant([-1]), [2]).numpy()


STRIDED = [
    {"begin": [1, 1, 0], "end": [2, 3, 4], "strides": [1, 1, 2]},
    {"begin": [1, 2], "end": [2, 0], "strides": [1, -1]},
    {"begin": [1, 1], "end": [2, 3], "begin_mask": 1, "end_mask": 2},
    {"begin": [1, 1], "end": [2, 3], "shrink_axis_mask": 3},
    {"begin": [1, 1], "end": [2, 3], "new_axis_mask": 1},
    {"begin": [1, 1], "end": [2, 3], "ellipsis_mask": 1},
]


@pytest.mark.parametrize("arguments", STRIDED, ids=str)
def test_strided_slice_equals_tensorflow(arguments: dict[str, Any]) -> None:
    expected = tensorflow.strided_slice(BLOCK, **arguments).numpy()
    np.testing.assert_array_equal(tf.strided_slice(BLOCK, **arguments).numpy(), expected)

"""Clipping: bounds, zero norms, slices and None."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow
from ops.pure import assert_same_gradients

from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import OPS
from tapejax._src.ops import clipping

NAN, INF = np.nan, np.inf
BY_VALUE, BY_NORM = OPS["_clip_by_value"].fn, OPS["_clip_by_norm"].fn


@pytest.mark.parametrize(
    ("x", "low", "high"),
    [
        ([-1.0, 0.0, 0.5, 1.0, 2.0], 0.0, 1.0),
        ([0.0, 9.0], 5.0, 1.0),
        ([1.0, NAN], 0.0, 0.5),
        ([-1.0, 5.0], [0.0, 0.0], [1.0, 1.0]),
    ],
    ids=["bounds", "crossed", "nan", "bounds as arrays"],
)
def test_clip_by_value_has_the_gradients_of_tensorflow(x, low, high) -> None:
    """1 at both bounds."""
    assert_same_gradients(BY_VALUE, tensorflow.clip_by_value, x, low, high)


@pytest.mark.parametrize("low", [[0.0, 0.0], [[0.0]]])
def test_bounds_that_would_broadcast_the_tensor_are_a_value_error(low) -> None:
    """As in TensorFlow."""
    with pytest.raises(ValueError, match="incompatible"):
        clipping.clip_by_value(1.0, low, 1.0)
    with pytest.raises(ValueError, match="incompatible"):
        clipping.clip_by_norm(1.0, low)


@pytest.mark.parametrize(
    ("x", "norm"),
    [
        ([3.0, 4.0], 1.0),
        ([3.0, 4.0], 5.0),
        ([3.0, 4.0], 9.0),
        ([0.0, 0.0], 1.0),
        ([3.0, 4.0], -1.0),
    ],
    ids=["outside", "at the limit", "inside", "zero", "negative limit"],
)
def test_clip_by_norm_has_the_gradients_of_tensorflow(x, norm) -> None:
    """Also with respect to the limit."""
    limit = np.array(norm)
    assert_same_gradients(
        lambda x: BY_NORM(x, limit), lambda x: tensorflow.clip_by_norm(x, limit), x, orders=(1,)
    )
    assert_same_gradients(BY_NORM, tensorflow.clip_by_norm, x, norm, orders=(1,))


def test_clip_by_norm_over_axes() -> None:
    """One norm for each row."""
    rows = np.array([[3.0, 4.0], [0.3, 0.4]])
    assert_same_gradients(
        functools.partial(BY_NORM, clip_norm=np.array(1.0), axes=1),
        lambda x: tensorflow.clip_by_norm(x, 1.0, axes=1),
        rows,
    )


def test_clip_by_norm_takes_a_limit_of_another_dtype() -> None:
    """A tensor is cast, a Python number keeps its precision."""
    limited = clipping.clip_by_norm(as_tensor([3.0, 4.0]), as_tensor(np.float64(1.0)))
    np.testing.assert_allclose(limited.numpy(), np.array([0.6, 0.8], np.float32), rtol=1e-6)
    precise = clipping.clip_by_norm(as_tensor(np.array([3.0, 4.0])), 0.1).numpy()
    np.testing.assert_allclose(precise, [0.06, 0.08], rtol=1e-15)


def _slices() -> IndexedSlices:
    return IndexedSlices(as_tensor([[3.0], [4.0]]), as_tensor([0, 2]), as_tensor([5, 1]))


@pytest.mark.parametrize(
    ("clip", "expected"),
    [
        (lambda g: clipping.clip_by_value(g, 0.0, 3.5), [[3.0], [3.5]]),
        (lambda g: clipping.clip_by_norm(g, 1.0), [[0.6], [0.8]]),
        (lambda g: clipping.clip_by_global_norm([g], 1.0)[0][0], [[0.6], [0.8]]),
    ],
    ids=["value", "norm", "global norm"],
)
def test_clipped_slices_stay_slices(clip, expected) -> None:
    """Only their values change."""
    g = _slices()
    clipped = clip(g)
    assert isinstance(clipped, IndexedSlices)
    np.testing.assert_allclose(clipped.values.numpy(), expected, rtol=1e-6)
    assert clipped.indices is g.indices
    assert clipped.dense_shape is g.dense_shape


def test_global_norm_leaves_out_none_and_counts_the_values_of_slices() -> None:
    """An empty list has norm 0."""
    assert clipping.global_norm([_slices(), None, as_tensor([12.0])]).numpy() == 13.0
    assert clipping.global_norm([None]).numpy() == 0.0
    assert clipping.global_norm([]).dtype.name == "float32"


def test_clip_by_global_norm_keeps_places_and_returns_the_norm() -> None:
    """None stays None."""
    clipped, norm = clipping.clip_by_global_norm([as_tensor(3.0), None, as_tensor([4.0])], 1.0)
    assert clipped[1] is None
    np.testing.assert_allclose([clipped[0].numpy(), clipped[2].numpy()[0]], [0.6, 0.8], rtol=1e-6)
    assert norm.numpy() == 5.0


@pytest.mark.parametrize("values", [[INF, 1.0], [NAN, 1.0], [0.0, 0.0], [1e-30, 0.0], [30.0, 40.0]])
def test_clip_by_global_norm_of_hard_values_is_that_of_tensorflow(values) -> None:
    """NaN everywhere if the norm is not finite."""
    actual, norm = clipping.clip_by_global_norm([as_tensor(v) for v in values], 1.0)
    expected, their_norm = tensorflow.clip_by_global_norm(
        list(map(tensorflow.constant, values)), 1.0
    )
    np.testing.assert_allclose([t.numpy() for t in actual], expected, rtol=1e-6)
    np.testing.assert_allclose(norm.numpy(), their_norm, rtol=1e-6)


def test_clip_by_global_norm_with_a_given_norm_takes_several_dtypes() -> None:
    """Each keeps its own."""
    tensors = [as_tensor(4.0), as_tensor(np.float64(8.0))]
    clipped, norm = clipping.clip_by_global_norm(tensors, 1.0, use_norm=as_tensor(2.0))
    assert [(t.dtype.name, t.numpy()) for t in clipped] == [("float32", 2.0), ("float64", 4.0)]
    assert norm.numpy() == 2.0


@pytest.mark.parametrize("bad", ["ab", {"a": 1.0}, as_tensor([1.0]), 1.0])
def test_what_is_no_sequence_is_a_type_error(bad) -> None:
    """As in TensorFlow."""
    for clip in (clipping.global_norm, lambda t: clipping.clip_by_global_norm(t, 1.0)):
        with pytest.raises(TypeError, match="should be a sequence of tensors"):
            clip(bad)

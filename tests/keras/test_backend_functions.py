"""`tf.keras.backend` against TensorFlow's own, whose legacy functions compute on its tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tensorflow_library

import tapejax as tf

K = tf.keras.backend
THEIRS: Any = tensorflow_library.keras.backend
_RANDOM = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray:
    """Random numbers of one fixed stream."""
    return _RANDOM.normal(size=shape).astype(np.float32)


def positive(*shape: int) -> np.ndarray:
    """Random numbers in (0.05, 0.95)."""
    return _RANDOM.uniform(0.05, 0.95, size=shape).astype(np.float32)


A, B = normal(3, 4), normal(3, 4)
CUBE = normal(2, 3, 4)
IMAGES = normal(2, 7, 6, 3)
VOLUMES = normal(2, 5, 5, 4, 2)
STEPS = normal(2, 8, 3)
TRUTH = A > 0
P, CLASSES = positive(3, 4), np.array([0, 3, 1])
ONE_HOT = np.eye(4, dtype=np.float32)[CLASSES]
PIXELS = np.array([[0, 2], [3, 1], [1, 1]])
Q = positive(3, 2, 4)

ONE = (
    "abs sign square exp sin cos round sigmoid tanh softplus softsign hard_sigmoid flatten "
    "transpose sum prod max min mean std var argmax argmin cumsum cumprod l2_normalize relu elu "
    "softmax "
    "sqrt expand_dims ones_like zeros_like int_shape ndim count_params dtype is_sparse shape"
)
TWO = "maximum minimum equal not_equal greater greater_equal less less_equal"
ROWS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *[(name, (A,), {}) for name in ONE.split()],
    *[(name, (A, B), {}) for name in TWO.split()],
    *[(name, (CUBE,), {"axis": 1, "keepdims": True}) for name in ("sum", "mean", "std", "max")],
    ("mean", (TRUTH,), {}),
    ("std", (TRUTH,), {}),
    ("var", (TRUTH,), {"axis": 0}),
    ("any", (TRUTH,), {"axis": 1}),
    ("all", (TRUTH,), {"axis": 0, "keepdims": True}),
    ("argmax", (CUBE,), {"axis": 0}),
    ("log", (P,), {}),
    ("pow", (P, 3.0), {}),
    ("clip", (A, -0.5, 0.5), {}),
    ("clip", (A, None, 0.5), {}),
    ("clip", (A, 1.0, 0.5), {}),
    ("relu", (A,), {"alpha": 0.2}),
    ("relu", (A,), {"alpha": 0.2, "max_value": 0.5, "threshold": 0.1}),
    ("relu", (A * 9,), {"max_value": 6}),
    ("relu", (A,), {"threshold": 0.4}),
    ("elu", (A, 0.3), {}),
    ("softmax", (CUBE,), {"axis": [1, 2]}),
    ("softmax", (CUBE,), {"axis": 1}),
    ("dot", (A, B.T.copy()), {}),
    ("dot", (CUBE, normal(4, 5)), {}),
    ("dot", (A, normal(2, 4, 5)), {}),
    ("dot", (CUBE, normal(3, 4, 2)), {}),
    ("batch_dot", (A, B), {}),
    ("batch_dot", (A, B), {"axes": 1}),
    ("batch_dot", (CUBE, normal(2, 4, 5)), {}),
    ("batch_dot", (CUBE, normal(2, 3)), {"axes": (1, 1)}),
    ("batch_dot", (CUBE, normal(2, 5, 4)), {"axes": (2, 2)}),
    ("batch_dot", (normal(2, 4), CUBE), {"axes": (1, 2)}),
    ("batch_dot", (normal(2, 3, 4, 5), normal(2, 5, 6, 3)), {"axes": (3, 1)}),
    ("batch_dot", (normal(2, 3, 4, 5), normal(2, 5, 6, 3)), {"axes": (1, 3)}),
    ("batch_flatten", (CUBE,), {}),
    ("reshape", (CUBE, (4, 6)), {}),
    ("expand_dims", (A, 1), {}),
    ("squeeze", (A[:, :1], 1), {}),
    ("permute_dimensions", (CUBE, (2, 0, 1)), {}),
    ("reverse", (CUBE, 1), {}),
    ("reverse", (CUBE, [0, 2]), {}),
    ("concatenate", ([A, B],), {}),
    ("concatenate", ([A, B],), {"axis": 0}),
    ("stack", ([A, B],), {"axis": 1}),
    ("tile", (A[0], 2), {}),
    ("tile", (A, [2, 1]), {}),
    ("repeat", (A, 3), {}),
    ("repeat_elements", (CUBE, 3, 1), {}),
    ("gather", (A, CLASSES[:2] % 3), {}),
    ("one_hot", (CLASSES, 5), {}),
    ("cast", (A, "int32"), {}),
    ("cast_to_floatx", (CLASSES,), {}),
    ("constant", (3,), {}),
    ("constant", ([1, 2], "int64"), {}),
    ("variable", ([1, 2],), {}),
    ("zeros", ((2, 3),), {}),
    ("ones", ((2, 3), "int32"), {}),
    ("eye", (3,), {}),
    ("arange", (5,), {}),
    ("arange", (-5,), {}),
    ("arange", (1, 7, 2, "float32"), {}),
    ("temporal_padding", (STEPS, (2, 1)), {}),
    ("spatial_2d_padding", (IMAGES,), {}),
    ("spatial_2d_padding", (IMAGES, ((1, 2), (0, 3)), "channels_first"), {}),
    ("spatial_3d_padding", (VOLUMES, ((1, 2), (0, 3), (1, 1))), {}),
    ("resize_images", (IMAGES, 2, 3, "channels_last"), {}),
    ("resize_images", (IMAGES, 2, 3, "channels_first", "bilinear"), {}),
    ("resize_volumes", (VOLUMES, 2, 1, 3, "channels_last"), {}),
    ("conv1d", (STEPS, normal(3, 3, 5), 1, "causal"), {"dilation_rate": 2}),
    ("conv1d", (STEPS, normal(3, 3, 5), 2, "same"), {}),
    ("conv2d", (IMAGES, normal(3, 2, 3, 5)), {}),
    ("conv2d", (IMAGES, normal(3, 3, 3, 5), (2, 1), "same"), {}),
    ("conv2d", (IMAGES, normal(3, 3, 3, 5)), {"dilation_rate": (2, 1)}),
    ("conv3d", (VOLUMES, normal(3, 3, 2, 2, 5), (1, 2, 1), "same"), {}),
    ("conv2d_transpose", (IMAGES, normal(3, 3, 5, 3), (2, 14, 12, 5), (2, 2), "same"), {}),
    ("conv2d_transpose", (IMAGES, normal(3, 3, 5, 3), (2, 13, 11, 5), (2, 2), "same"), {}),
    ("conv2d_transpose", (IMAGES, normal(3, 4, 5, 3), (None, 15, 14, 5), (2, 2), "valid"), {}),
    ("depthwise_conv2d", (IMAGES, normal(3, 3, 3, 2), (2, 2), "same"), {}),
    ("separable_conv2d", (IMAGES, normal(3, 3, 3, 2), normal(1, 1, 6, 4), (1, 1), "same"), {}),
    ("pool2d", (IMAGES, (2, 3), (2, 1), "same"), {}),
    ("pool2d", (IMAGES, (2, 2), (2, 2), "same"), {"pool_mode": "avg"}),
    ("pool3d", (VOLUMES, (2, 2, 2), (2, 2, 2)), {"pool_mode": "avg"}),
    ("bias_add", (IMAGES, normal(3)), {}),
    ("bias_add", (IMAGES, normal(7, 6, 3)), {}),
    ("bias_add", (A, normal(4)), {}),
    ("batch_normalization", (A, normal(4), positive(4), normal(4), normal(4)), {}),
    ("binary_crossentropy", (ONE_HOT, P), {}),
    ("binary_crossentropy", (ONE_HOT, A, True), {}),
    ("binary_focal_crossentropy", (ONE_HOT, P), {"apply_class_balancing": True}),
    ("binary_focal_crossentropy", (ONE_HOT, A), {"from_logits": True, "gamma": 1.5}),
    ("categorical_crossentropy", (ONE_HOT, P), {}),
    ("categorical_crossentropy", (ONE_HOT, A, True), {}),
    ("categorical_focal_crossentropy", (ONE_HOT, P), {}),
    ("categorical_focal_crossentropy", (ONE_HOT, A), {"from_logits": True}),
    ("sparse_categorical_crossentropy", (CLASSES, P), {}),
    ("sparse_categorical_crossentropy", (CLASSES, A, True), {}),
    ("sparse_categorical_crossentropy", (PIXELS, Q), {}),
    ("sparse_categorical_crossentropy", (PIXELS[..., None], Q), {}),
    ("sparse_categorical_crossentropy", (CLASSES, P), {"ignore_class": 3}),
    ("sparse_categorical_crossentropy", (CLASSES, P.T.copy()[:, :3]), {"axis": 0}),
    ("in_top_k", (A, CLASSES.astype(np.int32), 2), {}),
    ("switch", (TRUTH, A, B), {}),
    ("switch", (np.array(True), A, B), {}),
    ("switch", (TRUTH[:, :1], A, B), {}),
    ("stop_gradient", (A,), {}),
    ("to_dense", (A,), {}),
]  # fmt: skip


def tensors(library: Any, values: Any) -> Any:
    """Arrays as tensors of a library."""
    if isinstance(values, np.ndarray):
        return library.constant(values)
    if isinstance(values, list) and isinstance(values[0], np.ndarray):
        return [library.constant(x) for x in values]
    return values


def named(row: tuple[str, tuple[Any, ...], dict[str, Any]]) -> str:
    return row[0]


@pytest.mark.parametrize("call", ROWS, ids=named)
def test_a_function_gives_what_tensorflow_gives(call: Any) -> None:
    name, args, kwargs = call
    ours = getattr(K, name)(*[tensors(tf, x) for x in args], **kwargs)
    theirs = getattr(THEIRS, name)(*[tensors(tensorflow_library, x) for x in args], **kwargs)
    if not hasattr(theirs, "numpy"):
        np.testing.assert_array_equal(ours, theirs)
        return
    assert ours.dtype.name == theirs.dtype.name
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-5, atol=2e-5)


CONSTANT = (
    "sign round equal not_equal greater greater_equal less less_equal int_shape ndim dtype "
    "count_params is_sparse shape argmax argmin any all in_top_k gather one_hot cast constant "
    "zeros ones eye arange variable stop_gradient ones_like zeros_like cast_to_floatx"
)
DIFFERENTIABLE = [
    row
    for row in ROWS
    if row[0] not in CONSTANT.split() and getattr(row[1][0], "dtype", None) == np.float32
]


@pytest.mark.parametrize("call", DIFFERENTIABLE, ids=named)
def test_gradients_are_those_of_tensorflow(call: Any) -> None:
    name, args, kwargs = call

    def gradient(library: Any, function: Callable[..., Any]) -> Any:
        given = [tensors(library, x) for x in args]
        with library.GradientTape() as tape:
            tape.watch(given[0])
            value = library.reduce_sum(library.square(function(*given, **kwargs)))
        found = tape.gradient(value, given[0])
        return None if found is None else found.numpy()

    ours = gradient(tf, getattr(K, name))
    theirs = gradient(tensorflow_library, getattr(THEIRS, name))
    if theirs is None:
        assert ours is None
        return
    np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-4)

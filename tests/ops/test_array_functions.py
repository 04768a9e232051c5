"""Array functions whose results have sizes that depend on values, and errors of array ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow

import tapejax as tf

M = np.arange(12.0, dtype=np.float32).reshape(3, 4)
X = np.array([3, 1, 3, 2, 1])

SAME = [
    "tf.range(0., .3, .1)",
    "tf.range(0., .9, .3)",
    "tf.range(0., .3, .1, dtype=tf.float64)",
    "tf.range(0, .3, .1, dtype=tf.float16)",
    "tf.range(10, 0, -3)",
    "tf.range(0)",
    "tf.range(0, 2**40, 2**39)",
    "tf.range(np.int64(3))",
    "tf.range(tf.constant(3, tf.int64), 5.0)",
    "tf.range(tf.constant(3.0), dtype=tf.int32)",
    "tf.range([1])",
    "tf.linspace(0, 10, 3)",
    "tf.linspace(0.0, 1.0, 0)",
    "tf.linspace([0., 1.], 2., 3, axis=-1)",
    "tf.concat(tf.ones([2, 3]), 0)",
    "tf.stack([])",
    "tf.stack(tf.constant(M), axis=1)",
    "tf.pad([True], [[1, 1]])",
    "tf.pad(tf.constant(1.0), np.zeros([0, 2], np.int32))",
    "tf.pad([1, 2], [[1, 0]], constant_values=9)",
    "tf.reshape(tf.range(0), [0, -1])",
    "tf.reshape(tf.range(6), tf.constant([2, -1]))",
    "tf.zeros([tf.constant(2), 3])",
    "tf.where([[True, False], [True, True]])",
    "tf.where([0.0, 3.0, -1.0])",
    "tf.where(True, 1, 2)",
    "tf.where([True, False], 1.0, tf.constant(2.0, tf.float64))",
    "tf.boolean_mask(M, [True, False, True])",
    "tf.boolean_mask(M, [1, 0, 1, 0], axis=1)",
    "tf.boolean_mask(M, M > 5)",
    "tf.dynamic_partition(M, [0, 1, 0], 3)",
    "tf.dynamic_partition(1.0, 1, 2)",
    "tf.dynamic_stitch([[0, 2], [5]], [[1., 2.], [3.]])",
    "tf.dynamic_stitch([0, [1, 0]], [1., [2., 3.]])",
    "tf.unique(X)",
    "tf.unique([3., float('nan'), float('nan'), 0., -0.])",
    "tf.unique_with_counts(X, tf.int64)",
    "tf.math.bincount(X)",
    "tf.math.bincount(X, minlength=6)",
    "tf.math.bincount(X, maxlength=2)",
    "tf.math.bincount([[1, 1], [3, 0]], weights=[[1., 2.], [3., 4.]], axis=-1)",
    "tf.math.bincount([[1, 1], [3, 0]], axis=-1, binary_output=True)",
    "tf.math.bincount(np.zeros([0], np.int32), minlength=3)",
    "tf.histogram_fixed_width([-1., 0., 1.5, 2., 5., 15.], [0., 5.], nbins=5)",
    "tf.sequence_mask([1, 3])",
    "tf.sequence_mask([[1], [2]], 3, tf.float32)",
    "tf.shape(M)",
    "tf.shape(M, tf.int64)",
    "tf.shape_n([M, X])",
    "tf.size(M)",
    "tf.rank(M)",
    "tf.broadcast_dynamic_shape([1, 2], [3, 1])",
    "tf.broadcast_static_shape(tf.TensorShape([1, None]), tf.TensorShape([3, 1]))",
    "tf.required_space_to_batch_paddings([5, 4], [2, 3])",
    "tf.required_space_to_batch_paddings([5], [2], [[1, 1]])",
    "tf.one_hot([0, 1], 2, on_value=5)",
    "tf.one_hot([0, 1], 2, on_value=1, dtype=tf.float32)",
    "tf.meshgrid([[1, 2]], [3, 4], 5)",
    "tf.linalg.diag([[1, 2, 3], [4, 5, 0]], k=(-1, 0), num_rows=4)",
    "tf.linalg.diag([1., 2.], padding_value=9)",
    "tf.ensure_shape(M, [None, 4])",
]


def _evaluated(source: str, library: Any) -> Any:
    return eval(source, {"tf": library, "np": np, "M": M, "X": X})


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "numpy"):
        return str(value.dtype.name), np.asarray(value.numpy()).tolist()
    return value.as_list()


@pytest.mark.parametrize("source", SAME)
def test_value_equals_tensorflow(source: str) -> None:
    actual = _plain(_evaluated(source, tf))
    np.testing.assert_equal(actual, _plain(_evaluated(source, tensorflow)))


ERRORS = [
    ("tf.range(3, 1)", "Requires start <= limit when delta > 0: 3/1"),
    ("tf.range(1, 3, -1)", "Requires start >= limit when delta < 0: 1/3"),
    ("tf.range(1, 2, 0)", "Requires delta != 0"),
    ("tf.range(1.5, dtype=tf.int32)", "Cannot convert 1.5 to EagerTensor of dtype int32"),
    ("tf.reshape(tf.range(6), [4, 2])", "with 6 values, but the requested shape has 8"),
    ("tf.reshape(tf.range(6), [4, -1])", "requires a multiple of 4"),
    ("tf.reshape(tf.range(6), [-1, -1])", "Only one input size may be -1, not both 0 and 1"),
    ("tf.reshape(tf.range(6), None)", "Attempt to convert a value (None)"),
    ("tf.zeros([None])", "Attempt to convert a value (None)"),
    ("tf.zeros([-1])", "Dimension -1 must be >= 0"),
    ("tf.squeeze(tf.ones([1, 2]), [1])", "Can not squeeze dim[1]"),
    ("tf.expand_dims(tf.ones([2]), 3)", "Tried to expand dim index 3"),
    ("tf.transpose(M, [0, 0])", "1 is missing from {0,0}."),
    ("tf.broadcast_to(tf.ones([2]), [3])", "Incompatible shapes: [2] vs. [3]"),
    ("tf.repeat([1, 2], [1, 2, 3])", "Dimensions 2 and 3 are not compatible"),
    ("tf.concat([tf.ones([1, 2]), tf.ones([1, 3])], 0)", "Dimension 1 in both shapes must be"),
    ("tf.concat([1, 2], 0)", "Can't concatenate scalars (use tf.stack instead)"),
    ("tf.concat([tf.constant([1]), tf.constant([1.0])], 0)", "cannot compute ConcatV2"),
    ("tf.stack([tf.ones([1]), tf.ones([2])])", "Shapes of all inputs must match"),
    ("tf.stack([tf.ones([1])], axis=2)", "Argument `axis` = 2 not in range [-2, 2)"),
    ("tf.unstack(M, num=2)", "Input shape axis 0 must equal 2"),
    ("tf.split(tf.range(6), 4)", "Number of ways to split should evenly divide"),
    ("tf.split(tf.range(6), [-1, -1])", "There can only be one -1 in the input."),
    ("tf.split(tf.range(6), [7])", "If there is only one output"),
    ("tf.pad(M, [[1, 1]])", "The first dimension of paddings must be the rank of inputs"),
    ("tf.pad(X, [[5, 0]], 'REFLECT')", "paddings must be less than the dimension size"),
    ("tf.pad(X, [[1, 1]], 'WRAP')", "Value of argument `mode` expected to be one of"),
    ("tf.ensure_shape(tf.ones([2]), [None, 1])", "not compatible with expected shape [?,1]."),
    ("tf.where([True], [1])", "x and y must both be non-None or both be None."),
    ("tf.where(True)", "WhereOp : Unhandled input dimensions: 0"),
    ("tf.where([True, False], [1, 2, 3], 4)", "condition [2], then [3], and else [] must be"),
    ("tf.boolean_mask(M, True)", "mask cannot be scalar."),
    ("tf.boolean_mask(M, [True, False])", "Shapes (3,) and (2,) are incompatible"),
    ("tf.dynamic_partition([1., 2.], [0, 5], 2)", "partitions[1] = 5 is not in [0, 2)"),
    ("tf.unique(M)", "unique expects a 1D vector."),
    ("tf.searchsorted([1, 3], [1.0])", "cannot compute LowerBound as input #1"),
    ("tf.searchsorted([1.], [1.], side='foo')", "Argument `side` must be either"),
    ("tf.math.bincount([-1, 1])", "Input arr must be non-negative!"),
    ("tf.math.bincount(X, axis=1)", "Unsupported value for argument axis=1"),
    ("tf.histogram_fixed_width([1.], [5., 0.])", "value_range should satisfy"),
    ("tf.histogram_fixed_width([float('nan')], [0., 5.])", "must not contain NaN"),
    ("tf.math.invert_permutation([2, 2, 1])", "2 is duplicated in the input."),
    ("tf.math.invert_permutation([2, 5, 1])", "5 is not between 0 and 3"),
    ("tf.unravel_index([7], [2, 3])", "index is out of bound as with dims"),
    ("tf.reverse(X, [1])", "'axis'[0] = 1 is out of valid range [0, 0"),
    ("tf.reverse_sequence(M, [1, 5, 1], 1)", "seq_lens(1) > input.dims(1)"),
    ("tf.sequence_mask([1, 3], [2])", "Argument `maxlen` must be scalar for sequence_mask"),
    ("tf.one_hot([0, 1], -1)", "depth must be non-negative, got: -1"),
    ("tf.one_hot([0, 1], 2, axis=2)", "Expected axis to be -1 or between [0, 2)"),
    ("tf.one_hot([0], 2, on_value=1., dtype=tf.int32)", "of on_value does not match dtype param"),
    ("tf.linspace(0., 1., 2, axis=1)", "Tried to expand dim index 1"),
    ("tf.linalg.diag([1, 2], num_rows=1)", "The number of rows is too small"),
    ("tf.linalg.diag_part(M, k=5)", "lower_diag_index is out of bound: 5"),
    ("tf.linalg.band_part(M, 5, 0)", "num_lower must be negative or less or equal to number of"),
    ("tf.nn.space_to_depth(tf.ones([1, 3, 2, 1]), 2)", "Image width 2 and height 3 should be"),
    ("tf.batch_to_space(tf.ones([3, 1, 1]), [2], [[0, 0]])", "Input batch dimension (3) is not"),
    ("tf.meshgrid([1], [2], indexing='xx')", "`indexing` parameter must be either 'xy' or 'ij'"),
]


@pytest.mark.parametrize(("source", "text"), ERRORS)
def test_error_is_tensorflows(source: str, text: str) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011  (the class is compared below)
        _evaluated(source, tensorflow)
    assert text in str(theirs.value)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        _evaluated(source, tf)
    assert text in str(ours.value)
    assert type(ours.value).__name__ == type(theirs.value).__name__


GRADIENTS = [
    ("tf.boolean_mask(x, [True, False, True])", "dense"),
    ("tf.dynamic_partition(x, [0, 1, 0], 2)[0]", "dense"),
    ("tf.dynamic_stitch([[2, 0, 1]], [x])", "dense"),
    ("tf.where([True, False, True], x, 1.0)", "dense"),
    ("tf.pad(x, [[1, 1]], constant_values=x[0])", "dense"),
    ("tf.repeat(x, [1, 2, 0])", "dense"),
    ("tf.meshgrid(x, [1.0, 2.0])[0]", "dense"),
    ("tf.ensure_shape(x, [3])", "dense"),
    ("tf.concat([x, x], 0)", "dense"),
    ("tf.slice(x, [1], [-1])", "dense"),
    ("tf.linalg.diag([1.0], padding_value=x[0])", "None"),
    ("tf.zeros_like(x)", "None"),
    ("tf.ones_like(x)", "None"),
    ("tf.range(0.0, x[2])", "None"),
    ("tf.one_hot([0], 2, on_value=x[0])", "None"),
    ("tf.searchsorted(x, [2.0])", "None"),
    ("tf.cast(tf.shape(x), tf.float32)", "None"),
    ("tf.unique(x)[0]", "LookupError"),
    ("tf.unique_with_counts(x)[0]", "LookupError"),
    ("tf.math.bincount([1, 1, 3], weights=x)", "LookupError"),
]


@pytest.mark.parametrize(("source", "kind"), GRADIENTS)
def test_gradient_is_tensorflows(source: str, kind: str) -> None:
    actual, expected = (_gradient(source, library) for library in (tf, tensorflow))
    np.testing.assert_equal(actual, expected)
    assert kind == ("dense" if isinstance(expected, np.ndarray) else str(expected))


def _gradient(source: str, library: Any) -> Any:
    x = library.constant([1.0, 2.0, 4.0])
    with library.GradientTape() as tape:
        tape.watch(x)
        y = eval(source, {"tf": library, "x": x})
    try:
        found = tape.gradient(y, x)
    except LookupError:
        return "LookupError"
    return None if found is None else library.convert_to_tensor(found).numpy()


def test_a_replaced_row_of_dynamic_stitch_gets_the_gradient_zero() -> None:
    first, second = tf.constant([1.0, 2.0]), tf.constant([3.0])
    with tf.GradientTape() as tape:
        tape.watch([first, second])
        y = tf.dynamic_stitch([[0, 1], [0]], [first, second])
    assert [g.numpy().tolist() for g in tape.gradient(y, [first, second])] == [[0.0, 1.0], [1.0]]


def test_a_negative_axis_of_boolean_mask_counts_from_the_end() -> None:
    mask = [True, False, True, False]
    assert tf.boolean_mask(M, mask, axis=-1).numpy().tolist() == M[:, mask].tolist()


def test_searchsorted_and_one_hot_take_a_tensor_of_the_other_integer_dtype() -> None:
    found = tf.one_hot(tf.constant([1], tf.int64), tf.shape(M)[1])
    assert found.numpy().tolist() == [[0.0, 1.0, 0.0, 0.0]]
    assert tf.searchsorted([1, 3], [2], out_type=tf.int64).dtype == tf.int64

"""`tf.compat` and `tf.compat.v1` in eager programs, on TensorFlow and on tapejax."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow

import tapejax

X = np.array([[1.0, 2.0], [3.0, -4.0]], np.float32)
LABELS = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)

CALLS = {
    "reduce_sum": lambda v1: v1.reduce_sum(X, reduction_indices=[1], keep_dims=True),
    "reduce_mean": lambda v1: v1.reduce_mean(X),
    "math.reduce_max": lambda v1: v1.math.reduce_max(X, 0),
    "argmax": lambda v1: v1.argmax(X, dimension=1),
    "argmin": lambda v1: v1.argmin(X),
    "div ints": lambda v1: v1.div(np.array([7, -7], np.int32), 2),
    "div": lambda v1: v1.div(X, 2.0),
    "expand_dims": lambda v1: v1.expand_dims(X, dim=0),
    "squeeze": lambda v1: v1.squeeze(X[None], squeeze_dims=[0]),
    "to_float": lambda v1: v1.to_float(np.array([1, 2])),
    "to_int32": lambda v1: v1.to_int32(X),
    "log": lambda v1: v1.log(np.abs(X)),
    "mod": lambda v1: v1.mod(np.array([7, -7], np.int32), 3),
    "diag": lambda v1: v1.diag(X[0]),
    "matrix_inverse": lambda v1: v1.matrix_inverse(X),
    "rsqrt": lambda v1: v1.rsqrt(np.abs(X)),
    "nn": lambda v1: v1.nn.softmax_cross_entropy_with_logits_v2(labels=LABELS, logits=X),
    "nn.relu": lambda v1: v1.nn.relu(X),
    "sigmoid": lambda v1: v1.losses.sigmoid_cross_entropy(LABELS, X, label_smoothing=0.1),
    "softmax": lambda v1: v1.losses.softmax_cross_entropy(LABELS, X, label_smoothing=0.1),
    "sparse": lambda v1: v1.losses.sparse_softmax_cross_entropy(np.array([0, 1]), X),
    "mse": lambda v1: v1.losses.mean_squared_error(LABELS, X, weights=[[0.0], [2.0]]),
    "absolute": lambda v1: v1.losses.absolute_difference(LABELS, X),
    "huber": lambda v1: v1.losses.huber_loss(LABELS, X),
    "log_loss": lambda v1: v1.losses.log_loss(LABELS, np.full_like(X, 0.25)),
    "assign": lambda v1: v1.assign(v1.Variable(1.0), 3.0),
    "eager": lambda v1: v1.constant(v1.executing_eagerly_outside_functions()),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_what_tensorflow_gives(name: str) -> None:
    ours = CALLS[name](tapejax.compat.v1).numpy()
    theirs = CALLS[name](tensorflow.compat.v1).numpy()
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


OPTIMIZERS = {
    "descent": lambda v1: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda v1: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda v1: v1.train.AdamOptimizer(0.1),
    "adagrad": lambda v1: v1.train.AdagradOptimizer(0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_takes_tensorflows_steps(name: str) -> None:
    found = []
    for tf in (tapejax, tensorflow):
        w, step = tf.Variable([1.0, -2.0]), tf.Variable(0, dtype=tf.int64)
        optimizer = OPTIMIZERS[name](tf.compat.v1)
        for _ in range(4):
            optimizer.minimize(lambda w=w: w * w * [1.0, 3.0], step, var_list=[w])
        pairs = optimizer.compute_gradients(lambda w=w: w * w, [w])
        optimizer.apply_gradients(pairs)
        found.append([*w.numpy(), float(step)])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_the_usual_first_lines_of_a_script_run() -> None:
    v1: Any = tapejax.compat.v1
    v1.enable_eager_execution()
    v1.enable_v2_behavior()
    config = v1.ConfigProto()
    config.gpu_options.allow_growth = True
    with v1.Session(config=config) as session, pytest.raises(RuntimeError, match="graph is empty"):
        session.run(None)
    v1.set_random_seed(1)
    v1.logging.set_verbosity(v1.logging.ERROR)
    assert v1.logging.get_verbosity() == v1.logging.ERROR
    v1.logging.set_verbosity(v1.logging.INFO)
    assert v1.gfile.Exists("/")
    assert v1.keras is tapejax.keras
    assert v1.train.get_or_create_global_step() is v1.train.get_global_step()


@pytest.mark.parametrize(
    "name", ["placeholder", "get_variable", "disable_eager_execution", "variable_scope"]
)
def test_what_needs_graphs_says_what_to_write(name: str) -> None:
    with pytest.raises(NotImplementedError, match=r"Write|Leave"):
        getattr(tapejax.compat.v1, name)("x")
    with pytest.raises(NotImplementedError, match="RMSprop"):
        tapejax.compat.v1.train.RMSPropOptimizer(0.1)
    with pytest.raises(AttributeError, match=r"no `tf\.compat\.v1\.nothing_of_the_kind`"):
        _ = tapejax.compat.v1.nothing_of_the_kind


def test_a_dropout_has_one_rate(tf: Any) -> None:
    ones = tf.compat.v1.nn.dropout(tf.ones([4]), keep_prob=1.0)
    assert ones.numpy().tolist() == [1.0] * 4
    with pytest.raises(ValueError, match="rate"):
        tf.compat.v1.nn.dropout(tf.ones([4]))


def test_main_is_run(tf: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        tf.compat.v1.app.run(main=lambda argv: len(argv), argv=["a", "b"])
    assert ended.value.code in (2, 1)  # absl leaves out what it read as a flag's value


def test_texts_and_bytes(tf: Any) -> None:
    compat = tf.compat
    assert (compat.as_bytes("ä"), compat.as_text(b"\xc3\xa4"), compat.as_str("a")) == (
        b"\xc3\xa4",
        "ä",
        "a",
    )
    assert (compat.as_str_any(3), compat.path_to_str("a")) == ("3", "a")
    assert compat.dimension_value(tf.TensorShape([None, 2])[1]) == 2
    first = compat.dimension_at_index(tf.TensorShape([None, 2]), 0)
    assert compat.dimension_value(first) is None
    with tf.compat.forward_compatibility_horizon(2019, 1, 1):
        assert compat.forward_compatible(2018, 1, 1)
    with pytest.raises(TypeError, match="binary or unicode"):
        compat.as_text(3)

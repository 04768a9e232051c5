"""Gradients by tapes through Keras layers and models equal JAX's of their stateless calls."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from keras_models import (
    IMAGES,
    SEQUENCES,
    TOKENS,
    X,
    Y,
    assert_close,
    jax_squared_error,
    squared_error,
    taped,
    truth,
)

import tapejax as tf

keras: Any = tf.keras
layers: Any = tf.keras.layers


def functional() -> Any:
    """Two branches that meet."""
    entry = keras.Input((4,))
    left = layers.Dense(5, activation="relu")(entry)
    right = layers.Dense(5, activation="gelu")(entry)
    return keras.Model(entry, layers.Dense(1)(layers.add([left, right])))


def shared() -> Any:
    """A layer and a model that are used twice."""
    dense = layers.Dense(4, activation="tanh")
    inner = keras.Sequential([dense, layers.Dense(4)])
    entry = keras.Input((4,))
    return keras.Model(entry, layers.Dense(1)(inner(inner(dense(entry)))))


def attention() -> Any:
    """Self-attention with a residual connection."""
    entry = keras.Input((6, 4))
    seen = layers.MultiHeadAttention(2, 3)(entry, entry, use_causal_mask=True)
    seen = layers.LayerNormalization()(layers.add([seen, entry]))
    return keras.Model(entry, layers.Dense(1)(layers.GlobalAveragePooling1D()(seen)))


BUILT_IN = {
    "sequential": (lambda: keras.Sequential([layers.Dense(5, "tanh"), layers.Dense(1)]), X, {}),
    "functional": (functional, X, {}),
    "shared": (shared, X, {}),
    "attention": (attention, SEQUENCES, {}),
    "recurrent": (
        lambda: keras.Sequential(
            [
                layers.LSTM(5, return_sequences=True),
                layers.GRU(4, return_sequences=True),
                layers.SimpleRNN(3),
                layers.Dense(1),
            ]
        ),
        SEQUENCES,
        {},
    ),
    "masked": (
        lambda: keras.Sequential(
            [layers.Embedding(5, 3, mask_zero=True), layers.LSTM(4), layers.Dense(1)]
        ),
        TOKENS,
        {},
    ),
    "convolution": (
        lambda: keras.Sequential(
            [
                layers.Conv2D(4, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(1),
            ]
        ),
        IMAGES,
        {},
    ),
    "dropout": (
        lambda: keras.Sequential([layers.Dense(50), layers.Dropout(0.5, seed=3), layers.Dense(1)]),
        X,
        {"training": True},
    ),
    "normalization": (
        lambda: keras.Sequential(
            [layers.Dense(5, "tanh"), layers.BatchNormalization(), layers.Dense(1)]
        ),
        X,
        {"training": True},
    ),
}


EAGER = [(name, False) for name in BUILT_IN]
COMPILED = [(name, True) for name in ("sequential", "normalization", "dropout", "masked")]


@pytest.mark.parametrize(("name", "compiled"), EAGER + COMPILED)
def test_a_built_in_model(name: str, compiled: bool) -> None:
    make, inputs, kwargs = BUILT_IN[name]
    model = make()
    model.build(inputs.shape)
    expected = truth(model, jax_squared_error, inputs, **kwargs)

    def gradients(x: Any) -> Any:
        return taped(model, squared_error, x, **kwargs)

    run = tf.function(gradients) if compiled else gradients
    assert_close(run(tf.constant(inputs)), expected)


def test_a_model_is_built_by_its_first_call_under_the_tape() -> None:
    model = keras.Sequential([layers.Dense(5, "tanh"), layers.Dense(1)])
    got = taped(model, squared_error, tf.constant(X))
    assert_close(got, truth(model, jax_squared_error, X))


def test_numpy_inputs_are_recorded_too() -> None:
    model = functional()
    assert_close(taped(model, squared_error, X), truth(model, jax_squared_error, X))


def test_dropout_draws_anew_and_keeps_its_share() -> None:
    layer = layers.Dropout(0.5, seed=1)
    ones = tf.ones((4000,))
    first, second = layer(ones, training=True).numpy(), layer(ones, training=True).numpy()
    assert (first != second).any()
    assert 0.4 < (first == 0).mean() < 0.6
    assert set(np.unique(first)) == {0.0, 2.0}


def test_a_changed_rate_counts_at_once() -> None:
    layer = layers.Dropout(0.5)
    ones = tf.ones((4000,))
    layer(ones, training=True)
    layer.rate = 0.9
    assert 0.85 < (layer(ones, training=True).numpy() == 0).mean() < 0.95


def test_batch_statistics_move_under_the_tape() -> None:
    model = keras.Sequential([layers.Dense(5), layers.BatchNormalization(), layers.Dense(1)])
    taped(model, squared_error, tf.constant(X), training=True)
    dense, normalization = model.layers[:2]
    batch = X @ dense.kernel.numpy() + dense.bias.numpy()
    np.testing.assert_allclose(
        normalization.moving_mean.numpy(), 0.01 * batch.mean(0), rtol=1e-4, atol=1e-6
    )


def test_a_mask_goes_from_one_call_to_the_next() -> None:
    tokens = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])
    embedding, recurrent = layers.Embedding(5, 3, mask_zero=True), layers.LSTM(4)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(recurrent(embedding(tf.constant(tokens))))
    got = tape.gradient(total, embedding.trainable_variables)

    def of_table(table: Any) -> Any:
        rows, _ = embedding.stateless_call([table], [], jnp.asarray(tokens))
        weights = [v.numpy() for v in recurrent.trainable_variables]
        state = [v.numpy() for v in recurrent.non_trainable_variables]
        mask = jnp.asarray(tokens != 0)
        outputs, _ = recurrent.stateless_call(weights, state, rows, mask=mask)
        return outputs.sum()

    assert_close(got, [jax.grad(of_table)(jnp.asarray(embedding.embeddings.numpy()))])


def test_a_prediction_depends_on_a_feature_map_of_the_same_call() -> None:
    model = BUILT_IN["convolution"][0]()
    model.build(IMAGES.shape)
    both = keras.Model(model.inputs, [model.layers[0].output, model.outputs[0]])
    with tf.GradientTape() as tape:
        features, prediction = both(IMAGES)
        score = tf.reduce_sum(prediction)
    got = tape.gradient(score, features)
    rest = keras.Sequential(model.layers[1:])
    rest.build(features.shape)

    def of_features(values: Any) -> Any:
        weights = [jnp.asarray(v.numpy()) for v in rest.trainable_variables]
        return rest.stateless_call(weights, [], values)[0].sum()

    assert_close([got], [jax.grad(of_features)(jnp.asarray(features.numpy()))])


def test_regularizers_and_added_losses() -> None:
    class Penalty(layers.Layer):
        def call(self, x: Any) -> Any:
            self.add_loss(0.1 * tf.reduce_sum(tf.abs(x)))
            return x

    penalized = layers.Dense(
        4,
        kernel_regularizer=keras.regularizers.L2(0.3),
        activity_regularizer=keras.regularizers.L1(0.2),
    )
    model = keras.Sequential([penalized, Penalty(), layers.Dense(1)])
    model.build((8, 4))
    with tf.GradientTape() as tape:
        loss = squared_error(model(tf.constant(X))) + tf.add_n(model.losses)
    assert len(model.losses) == 3
    got = tape.gradient(loss, model.trainable_variables)
    expected = truth(model, lambda out, losses: jax_squared_error(out) + sum(losses), X)
    assert_close(got, expected)


def test_a_regularizer_alone() -> None:
    model = keras.Sequential([layers.Dense(4, kernel_regularizer="l2")])
    model.build((8, 4))
    with tf.GradientTape() as tape:
        loss = sum(model.losses)
    kernel, bias = tape.gradient(loss, model.trainable_variables)
    np.testing.assert_allclose(kernel.numpy(), 0.02 * model.layers[0].kernel.numpy(), rtol=1e-6)
    assert bias is None


def test_weights_read_under_the_tape() -> None:
    first, second = layers.Dense(4), layers.Dense(1)
    model = keras.Sequential([first, second])
    model.build((8, 4))
    with tf.GradientTape() as tape:
        loss = 0.1 * tf.reduce_sum(first.kernel**2) + tf.reduce_sum(
            tf.matmul(first.kernel, second.kernel)
        )
    got = tape.gradient(loss, [first.kernel, second.kernel])

    def total(a: Any, b: Any) -> Any:
        return 0.1 * jnp.sum(a**2) + jnp.sum(a @ b)

    values = [jnp.asarray(v.kernel.numpy()) for v in (first, second)]
    assert_close(got, jax.grad(total, (0, 1))(*values))


def test_the_gradient_by_the_input() -> None:
    model = functional()
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = squared_error(model(x))
    assert_close([tape.gradient(loss, x)], truth(model, jax_squared_error, X, by_input=True))


def test_a_gradient_penalty() -> None:
    model = keras.Sequential([layers.Dense(4, "tanh"), layers.Dense(1)])
    model.build((8, 4))
    x = tf.constant(X)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            score = model(x)
        slope = inner.gradient(score, x)
        penalty = tf.reduce_mean((tf.norm(slope, axis=1) - 1.0) ** 2)
    got = outer.gradient(penalty, model.trainable_variables)

    def of_weights(weights: Any) -> Any:
        slope = jax.grad(lambda x: model.stateless_call(weights, [], x)[0].sum())(jnp.asarray(X))
        return jnp.mean((jnp.sqrt(jnp.sum(slope**2, 1)) - 1.0) ** 2)

    expected = jax.grad(of_weights)([jnp.asarray(v.numpy()) for v in model.trainable_variables])
    assert_close(got[:3], expected[:3])
    assert got[3] is None or not got[3].numpy().any()  # the last bias drops out


def test_second_derivatives_of_a_physics_informed_model() -> None:
    model = keras.Sequential([layers.Dense(8, "tanh"), layers.Dense(1)])
    model.build((8, 2))
    points, times = tf.constant(X[:, :1]), tf.constant(X[:, 1:2])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as middle:
            middle.watch(points)
            with tf.GradientTape(persistent=True) as inner:
                inner.watch([points, times])
                u = model(tf.concat([points, times], axis=1))
            u_x, u_t = inner.gradient(u, points), inner.gradient(u, times)
        u_xx = middle.gradient(u_x, points)
        loss = tf.reduce_mean(tf.square(u_t - 0.1 * u_xx + u * u_x))
    got = outer.gradient(loss, model.trainable_variables)

    def of_weights(weights: Any) -> Any:
        def u(x: Any, t: Any) -> Any:
            return model.stateless_call(weights, [], jnp.stack([x, t])[None])[0][0, 0]

        def residual(x: Any, t: Any) -> Any:
            u_x = jax.grad(u)
            return jax.grad(u, 1)(x, t) - 0.1 * jax.grad(u_x)(x, t) + u(x, t) * u_x(x, t)

        return jnp.mean(jax.vmap(residual)(X[:, 0], X[:, 1]) ** 2)

    expected = jax.grad(of_weights)([jnp.asarray(v.numpy()) for v in model.trainable_variables])
    assert_close(got, expected)


def test_a_jacobian() -> None:
    model = keras.Sequential([layers.Dense(4, "tanh"), layers.Dense(2)])
    model.build((8, 4))
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = model(x)
    weights = [jnp.asarray(v.numpy()) for v in model.trainable_variables]
    expected = jax.jacrev(lambda x: model.stateless_call(weights, [], x)[0])(jnp.asarray(X))
    assert_close([tape.jacobian(outputs, x)], [expected])


def test_mixed_precision_gives_float32_gradients() -> None:
    policy = "mixed_bfloat16"
    model = keras.Sequential([layers.Dense(4, dtype=policy), layers.Dense(1, dtype=policy)])
    model.build((8, 4))
    outputs = model(tf.constant(X))
    assert outputs.dtype == tf.bfloat16
    got = taped(model, lambda out: squared_error(tf.cast(out, tf.float32)), tf.constant(X))
    assert {g.dtype for g in got} == {tf.float32}
    expected = truth(model, lambda out, _: jax_squared_error(out.astype(jnp.float32)), X)
    assert_close(got, expected)


def test_frozen_layers_have_no_gradient_and_can_be_watched() -> None:
    frozen, free = layers.Dense(4), layers.Dense(1)
    model = keras.Sequential([frozen, free])
    model.build((8, 4))
    by_all = truth(model, jax_squared_error, X)
    frozen.trainable = False
    with tf.GradientTape() as tape:
        loss = squared_error(model(tf.constant(X)))
    got = tape.gradient(loss, [*free.weights, *frozen.weights])
    assert_close(got[:2], by_all[2:])
    assert got[2:] == [None, None]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(frozen.kernel)
        loss = squared_error(model(tf.constant(X)))
    kernel, other = tape.gradient(loss, [frozen.kernel, free.kernel])
    assert_close([kernel], by_all[:1])
    assert other is None


def test_what_is_computed_while_recording_is_stopped_has_no_gradient() -> None:
    model = keras.Sequential([layers.Dense(1)])
    model.build((8, 4))
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            outputs = model(tf.constant(X))
        loss = squared_error(outputs)
    assert tape.gradient(loss, model.trainable_variables) == [None, None]


def test_losses_and_activations_of_keras() -> None:
    model = keras.Sequential([layers.Dense(3)])
    model.build((8, 4))
    labels = np.arange(8) % 3
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def expected(outputs: Any, _: Any) -> Any:
        rows = jax.nn.log_softmax(outputs)
        return -jnp.mean(jnp.take_along_axis(rows, jnp.asarray(labels)[:, None], 1))

    got = taped(model, lambda out: loss(labels, out), tf.constant(X))
    assert_close(got, truth(model, expected, X))
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(
            keras.activations.swish(x) + keras.activations.get("relu")(x) + keras.ops.square(x)
        )
    truth_of = jax.grad(lambda x: jnp.sum(jax.nn.silu(x) + jax.nn.relu(x) + x**2))
    assert_close([tape.gradient(total, x)], [truth_of(jnp.asarray(X))])


def test_a_functional_loss() -> None:
    model = functional()
    got = taped(
        model, lambda out: tf.reduce_mean(keras.losses.mean_squared_error(Y, out)), tf.constant(X)
    )
    assert_close(got, truth(model, jax_squared_error, X))


def test_a_model_is_freed_with_its_compiled_calls() -> None:
    model = functional()
    taped(model, squared_error, tf.constant(X))
    reference = weakref.ref(model)
    del model
    keras.backend.clear_session()
    gc.collect()
    tf.constant(1.0).numpy()
    assert reference() is None

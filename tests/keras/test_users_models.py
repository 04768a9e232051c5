"""Layers, models, metrics and training steps with code of the user's."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from keras.optimizers import SGD as NativeSGD
from keras_models import X, Y, assert_close, jax_squared_error, squared_error, taped, truth

import tapejax as tf

keras: Any = tf.keras
layers: Any = tf.keras.layers


class Mixed(keras.Model):
    """Built-in layers and `tf` ops in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.first = layers.Dense(5)
        self.second = layers.Dense(1)

    def call(self, x: Any) -> Any:
        hidden = self.first(x)
        hidden = tf.nn.relu(hidden) + 0.1 * tf.square(hidden)
        mean = tf.reduce_mean(hidden, axis=1, keepdims=True)
        return self.second(tf.concat([hidden, mean * tf.ones_like(hidden)], axis=1))


class Scaled(layers.Layer):
    """A layer with weights of its own."""

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight(shape=(input_shape[-1], 3), name="kernel")
        self.bias = self.add_weight(shape=(3,), initializer="zeros")

    def call(self, x: Any) -> Any:
        assert x.shape.as_list()[-1] == self.kernel.shape[0]
        return tf.matmul(x, self.kernel) + self.bias * tf.reduce_sum(self.kernel)


class Counting(keras.Model):
    """Ordinary Python in `call`: it is run once a call, and may look at values."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = layers.Dense(1)
        self.calls = 0

    def call(self, x: Any) -> Any:
        outputs = self.dense(x)
        self.calls += 1
        return outputs * 2.0 if float(tf.reduce_sum(outputs)) > 0 else outputs * 3.0


def test_tf_ops_between_built_in_layers() -> None:
    model = Mixed()
    model(X)
    assert_close(taped(model, squared_error, tf.constant(X)), truth(model, jax_squared_error, X))


def test_a_layer_with_weights_of_its_own() -> None:
    model = keras.Sequential([Scaled(), layers.Dense(1)])
    model(X)
    assert_close(taped(model, squared_error, tf.constant(X)), truth(model, jax_squared_error, X))


def test_call_runs_once_and_may_read_values() -> None:
    model = Counting()
    model.dense.build((8, 4))
    model.built = True
    kernel, bias = model.dense.kernel.numpy(), model.dense.bias.numpy()
    factor = 2.0 if (X @ kernel + bias).sum() > 0 else 3.0
    got = taped(model, squared_error, tf.constant(X))
    assert model.calls == 1

    def of_weights(kernel: Any, bias: Any) -> Any:
        return jnp.mean((factor * (X @ kernel + bias) - Y) ** 2)

    assert_close(got, jax.grad(of_weights, (0, 1))(kernel, bias))


def test_variables_and_tensors_from_around_the_model() -> None:
    scale, shift = tf.Variable(2.0), keras.Variable(np.float32(3.0))
    offset = tf.constant(0.5)

    class Around(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(1)

        def call(self, x: Any) -> Any:
            return self.dense(x) * scale + shift * offset

    model = Around()
    model(X)
    with tf.GradientTape() as tape:
        tape.watch(offset)
        loss = squared_error(model(tf.constant(X)))
    got = tape.gradient(loss, [scale, shift, offset])
    outputs = X @ model.dense.kernel.numpy() + model.dense.bias.numpy()

    def total(scale: Any, shift: Any, offset: Any) -> Any:
        return jnp.mean((outputs * scale + shift * offset - Y) ** 2)

    assert_close(got, jax.grad(total, (0, 1, 2))(2.0, 3.0, 0.5))


def test_a_variable_of_a_layer_is_one_of_its_weights() -> None:
    class Held(layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.weight = tf.Variable(np.ones((4, 1), np.float32))

        def call(self, x: Any) -> Any:
            return tf.matmul(x, self.weight)

    layer = Held()
    (got,) = taped(layer, squared_error, tf.constant(X))
    expected = jax.grad(lambda w: jnp.mean((X @ w - Y) ** 2))(jnp.ones((4, 1)))
    assert_close([got], [expected])


def test_fast_weights_stand_in_for_weights() -> None:
    layer = layers.Dense(1)
    layer.build((8, 4))
    kernel = tf.constant(np.full((4, 1), 0.5, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(kernel)
        layer.kernel = kernel * 2.0
        loss = squared_error(layer(tf.constant(X)))
    expected = jax.grad(lambda k: jnp.mean((X @ (2.0 * k) - Y) ** 2))(jnp.full((4, 1), 0.5))
    assert_close([tape.gradient(loss, kernel)], [expected])
    with pytest.raises(ValueError, match=r"shape \(4, 1\), and a tensor of shape \(2, 1\)"):
        layer.kernel = kernel[:2]


def test_a_stateless_call_with_tensors_keeps_their_path() -> None:
    model = keras.Sequential([layers.Dense(4, "tanh"), layers.Dense(1)])
    model.build((8, 4))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = squared_error(model(tf.constant(X)))
        slopes = inner.gradient(loss, model.trainable_variables)
        fast = [v - 0.1 * s for v, s in zip(model.trainable_variables, slopes, strict=True)]
        outputs, _ = model.stateless_call(fast, [], tf.constant(X))
        adapted = squared_error(outputs)
    got = outer.gradient(adapted, model.trainable_variables)

    def of_weights(weights: Any) -> Any:
        def loss(weights: Any) -> Any:
            return jax_squared_error(model.stateless_call(weights, [], jnp.asarray(X))[0])

        slopes = jax.grad(loss)(weights)
        return loss([w - 0.1 * s for w, s in zip(weights, slopes, strict=True)])

    expected = jax.grad(of_weights)([jnp.asarray(v.numpy()) for v in model.trainable_variables])
    assert_close(got, expected)


def test_tf_ops_on_symbolic_tensors_are_layers() -> None:
    entry = keras.Input((4,))
    hidden = layers.Dense(5)(entry)
    hidden = tf.nn.relu(hidden) * 2.0 + tf.square(hidden)
    model = keras.Model(entry, layers.Dense(1)(tf.concat([hidden, hidden], axis=-1)))
    dense, last = [x for x in model.layers if isinstance(x, layers.Dense)]
    hidden = X @ dense.kernel.numpy() + dense.bias.numpy()
    hidden = np.maximum(hidden, 0) * 2.0 + hidden**2
    expected = np.concatenate([hidden, hidden], -1) @ last.kernel.numpy() + last.bias.numpy()
    np.testing.assert_allclose(model(X).numpy(), expected, rtol=1e-4, atol=1e-4)
    twin = keras.Model.from_config(model.get_config())
    twin.set_weights(model.get_weights())
    np.testing.assert_allclose(twin(X).numpy(), expected, rtol=1e-4, atol=1e-4)


def test_control_flow_in_call_is_staged_in_a_function() -> None:
    class Branching(keras.Model):
        def call(self, x: Any) -> Any:
            if tf.reduce_sum(x) > 0:
                return x * 2.0
            return x * 3.0

    model = Branching()
    run = tf.function(lambda x: model(x))
    np.testing.assert_array_equal(run(tf.constant([1.0])).numpy(), [2.0])
    np.testing.assert_array_equal(run(tf.constant([-1.0])).numpy(), [-3.0])


def test_a_custom_gradient_holds_where_jax_differentiates() -> None:
    @tf.custom_gradient
    def tripled(x: Any) -> Any:
        return tf.identity(x), lambda dy: 3.0 * dy

    assert float(jax.grad(lambda x: jnp.asarray(tripled(x)))(2.0)) == 3.0
    second = jax.grad(jax.grad(lambda x: jnp.asarray(tripled(x * x))))(2.0)
    assert float(second) == 6.0


# ------------------------------------------------------------------------------- training
class TapedStep(keras.Model):
    """`train_step(self, data)` with a tape in it."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = layers.Dense(1, kernel_initializer="zeros")

    def call(self, x: Any, training: bool = False) -> Any:
        return self.dense(x)

    def train_step(self, data: Any) -> Any:
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return {"loss": loss, "twice": 2.0 * loss}


def descent(steps: int, rate: float) -> tuple[Any, list[float]]:
    """The kernel and the losses of gradient descent on the whole batch, by hand."""
    kernel, bias, losses = np.zeros((4, 1)), np.zeros(1), []
    for _ in range(steps):
        error = X @ kernel + bias - Y
        losses.append(float((error**2).mean()))
        kernel = kernel - rate * 2 * X.T @ error / len(X)
        bias = bias - rate * 2 * error.mean(0)
    return kernel, losses


@pytest.mark.parametrize("eagerly", [False, True])
def test_a_train_step_with_a_tape(eagerly: bool) -> None:
    model = TapedStep()
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", run_eagerly=eagerly)
    history = model.fit(X, Y, batch_size=8, epochs=5, verbose=0).history
    kernel, losses = descent(5, 0.1)
    np.testing.assert_allclose(history["loss"], losses, rtol=1e-5)
    np.testing.assert_allclose(history["twice"], np.multiply(losses, 2), rtol=1e-5)
    np.testing.assert_allclose(model.dense.kernel.numpy(), kernel, rtol=1e-4, atol=1e-6)


def test_super_train_step_and_evaluate() -> None:
    class More(TapedStep):
        def train_step(self, data: Any) -> Any:
            logs = keras.Model.train_step(self, data)
            return {**logs, "twice": 2.0 * logs["loss"]}

    model = More()
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    history = model.fit(X, Y, batch_size=8, epochs=5, verbose=0).history
    _, losses = descent(5, 0.1)
    np.testing.assert_allclose(history["twice"], np.multiply(losses, 2), rtol=1e-5)
    error = X @ model.dense.kernel.numpy() + model.dense.bias.numpy() - Y
    found = model.evaluate(X, Y, verbose=0, return_dict=True)
    np.testing.assert_allclose(found["loss"], (error**2).mean(), rtol=1e-5)
    np.testing.assert_allclose(found["mae"], np.abs(error).mean(), rtol=1e-5)
    np.testing.assert_allclose(model.predict(X, verbose=0), error + Y, rtol=1e-4, atol=1e-5)


def test_a_schedule_of_the_users_without_a_config_is_compiled() -> None:
    class Halving(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step: Any) -> Any:
            return 0.1 * 0.5 ** tf.cast(step, tf.float32)

    model = keras.Sequential([layers.Dense(1, kernel_initializer="zeros")])
    model.compile(tf.keras.optimizers.SGD(Halving()), "mse")
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0)
    kernel, bias = np.zeros((4, 1)), np.zeros(1)
    for rate in (0.1, 0.05):
        error = X @ kernel + bias - Y
        kernel, bias = kernel - rate * 2 * X.T @ error / len(X), bias - rate * 2 * error.mean(0)
    np.testing.assert_allclose(model.layers[0].kernel.numpy(), kernel, rtol=1e-4, atol=1e-6)


def test_a_mask_is_an_attribute_that_can_be_deleted() -> None:
    ids = tf.constant([[1, 2, 0]])
    found = layers.Embedding(4, 2, mask_zero=True)(ids)
    assert found._keras_mask.numpy().tolist() == [[True, True, False]]
    del found._keras_mask
    assert not hasattr(found, "_keras_mask")
    assert not hasattr(tf.constant(1.0), "_keras_mask")


def test_a_native_fit_and_a_tape_share_the_weights() -> None:
    model = keras.Sequential([layers.Dense(1, kernel_initializer="zeros")])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    model.fit(X, Y, batch_size=8, epochs=3, verbose=0)
    optimizer = tf.keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = squared_error(model(X))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    model.fit(X, Y, batch_size=8, epochs=1, verbose=0)
    np.testing.assert_allclose(model.layers[0].kernel.numpy(), descent(5, 0.1)[0], rtol=1e-4)


def test_random_numbers_in_a_layer_are_new_in_every_step() -> None:
    class Noisy(layers.Layer):
        def call(self, x: Any) -> Any:
            return x + tf.random.normal(tf.shape(x))

    entry = keras.Input((4,))
    model = keras.Model(entry, Noisy()(entry))
    assert (model(X).numpy() != model(X).numpy()).any()
    assert (model.predict(X, verbose=0) != model.predict(X, verbose=0)).any()
    tf.random.set_seed(1)
    first = tf.random.normal([2]).numpy()
    tf.random.set_seed(1)
    keras.Model(entry, Noisy()(entry))  # finding out shapes draws nothing
    np.testing.assert_array_equal(tf.random.normal([2]).numpy(), first)


def test_metrics_take_tensors_and_give_tensors() -> None:
    mean, accuracy = keras.metrics.Mean(), keras.metrics.SparseCategoricalAccuracy()
    mean.update_state(tf.constant(1.0))
    mean(5.0)
    accuracy.update_state(np.array([0, 1, 1]), tf.constant([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]))
    assert mean.result().numpy() == 3.0
    assert f"{accuracy.result():.3f}" == "0.667"
    mean.reset_state()
    assert mean.result().numpy() == 0.0


def test_a_metric_written_by_the_user_in_a_function() -> None:
    class Total(keras.metrics.Metric):
        def __init__(self) -> None:
            super().__init__(name="total")
            self.sum = self.add_weight(name="sum", initializer="zeros")

        def update_state(self, values: Any, sample_weight: Any = None) -> None:
            self.sum.assign_add(tf.reduce_sum(tf.cast(values, tf.float32)))

        def result(self) -> Any:
            return self.sum * 2.0

    total = Total()
    update = tf.function(lambda values: total.update_state(values))
    update(tf.constant([1, 2]))
    update(tf.constant([3, 4]))
    assert total.result().numpy() == 20.0


def test_keras_own_optimizer_steps_as_one_op() -> None:
    model = keras.Sequential([layers.Dense(1, kernel_initializer="zeros")])
    model.build((8, 4))
    native: Any = NativeSGD(0.1)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = squared_error(model(x))
        variables = model.trainable_variables
        native.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    kernel, losses = descent(5, 0.1)
    np.testing.assert_allclose([float(step(tf.constant(X))) for _ in range(5)], losses, rtol=1e-5)
    np.testing.assert_allclose(model.layers[0].kernel.numpy(), kernel, rtol=1e-4)
    assert int(native.iterations.numpy()) == 5


def test_compile_refuses_an_optimizer_it_cannot_give_to_keras() -> None:
    class Own(tf.keras.optimizers.SGD):
        pass

    model = keras.Sequential([layers.Dense(1)])
    with pytest.raises(TypeError, match=r"Model\.compile cannot use the optimizer 'Own'"):
        model.compile(Own(0.1), "mse")


def test_fit_evaluate_and_predict_take_datasets_and_tensors() -> None:
    model = keras.Sequential([layers.Dense(1, kernel_initializer="zeros")])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    pairs = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
    found = model.fit(pairs, epochs=3, verbose=0, validation_data=pairs).history
    np.testing.assert_allclose(found["loss"], descent(3, 0.1)[1], rtol=1e-5)
    np.testing.assert_allclose(found["val_loss"][:2], descent(3, 0.1)[1][1:], rtol=1e-5)
    model.fit(tf.constant(X), tf.constant(Y), batch_size=8, epochs=2, verbose=0)
    kernel, _ = descent(5, 0.1)
    np.testing.assert_allclose(model.layers[0].kernel.numpy(), kernel, rtol=1e-4)
    batches = tf.data.Dataset.from_tensor_slices(X).batch(3)
    np.testing.assert_array_equal(
        model.predict(batches, verbose=0).shape, model.predict(tf.constant(X), verbose=0).shape
    )

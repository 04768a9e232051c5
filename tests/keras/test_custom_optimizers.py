"""Optimizers of one's own, of optax, of older programs, and several in one."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import jax
import numpy as np
import optax
import pytest

import tapejax as tf

K = tf.keras.optimizers


class Momentum(K.Optimizer):
    """SGD with momentum, written as Keras 3 shows it."""

    def build(self, variables):
        super().build(variables)
        self.momenta = [self.add_variable_from_reference(v, "momentum") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        momentum = self.momenta[self._get_variable_index(variable)]
        rate = tf.cast(learning_rate, variable.dtype)
        self.assign(momentum, 0.9 * momentum - rate * tf.cast(gradient, variable.dtype))
        self.assign_add(variable, momentum)


class OlderMomentum(K.experimental.Optimizer):
    """The same, written as for TensorFlow 2.11."""

    def __init__(self, learning_rate, name="OlderMomentum", **kwargs):
        super().__init__(name=name, **kwargs)
        self._learning_rate = self._build_learning_rate(learning_rate)

    def build(self, variables):
        super().build(variables)
        if hasattr(self, "_built") and self._built:
            return
        self.momenta = [
            self.add_variable_from_reference(model_variable=v, variable_name="m") for v in variables
        ]
        self._built = True

    def update_step(self, gradient, variable):  # pyright: ignore[reportIncompatibleMethodOverride]  without a rate, as in 2.11
        momentum = self.momenta[self._index_dict[self._var_key(variable)]]
        momentum.assign(0.9 * momentum - tf.cast(self.learning_rate, variable.dtype) * gradient)
        variable.assign_add(momentum)


class OldestMomentum(K.legacy.Optimizer):
    """The same, written as for TensorFlow 2.10."""

    def __init__(self, learning_rate=0.1, beta=0.9, name="OldestMomentum", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("beta", beta)

    def _create_slots(self, var_list):
        for variable in var_list:
            self.add_slot(variable, "m")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        device, dtype = var.device, var.dtype.base_dtype
        state = (apply_state or {}).get((device, dtype))
        state = state or self._fallback_apply_state(device, dtype)
        m: Any = self.get_slot(var, "m")
        m.assign(self._get_hyper("beta", dtype) * m - state["lr_t"] * grad)
        return var.assign_add(m)


OPTIONS = [
    {},
    {"clipnorm": 0.5},
    {"global_clipnorm": 0.5},
    {"weight_decay": 0.1},
    {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 3},
    {"gradient_accumulation_steps": 3},
    {
        "loss_scale_factor": 4.0,
        "gradient_accumulation_steps": 2,
        "use_ema": True,
        "ema_overwrite_frequency": 2,
        "clipvalue": 0.2,
    },
]


def _train(optimizer, compiled=False):
    rng = np.random.default_rng(0)
    variables = [tf.Variable([1.0, 2.0]), tf.Variable(3.0)]

    def step(*grads):
        optimizer.apply_gradients(zip(grads, variables, strict=True))

    step = tf.function(step) if compiled else step
    for _ in range(7):
        step(tf.constant(rng.normal(size=2), tf.float32), tf.constant(rng.normal(), tf.float32))
    return np.concatenate([np.ravel(v.numpy()) for v in variables])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "none")
def test_an_update_step_of_ones_own_takes_every_option(options, compiled):
    expected = _train(K.SGD(0.1, momentum=0.9, **options))
    assert np.allclose(_train(Momentum(0.1, **options), compiled), expected, rtol=1e-6)


@pytest.mark.parametrize("cls", [OlderMomentum, OldestMomentum])
@pytest.mark.parametrize("compiled", [False, True])
def test_optimizers_written_for_older_versions_run(cls, compiled):
    expected = _train(K.SGD(0.1, momentum=0.9, clipnorm=0.5))
    assert np.allclose(_train(cls(0.1, clipnorm=0.5), compiled), expected, rtol=1e-6)


@pytest.mark.parametrize("cls", [K.Adam, K.Nadam, K.Muon])
def test_an_override_may_call_the_update_of_its_base(cls: Any):
    class Doubled(cls):
        def update_step(self, gradient, variable, learning_rate):
            super().update_step(gradient * 2.0, variable, learning_rate)

    class Twice(cls):
        def apply(self, grads, trainable_variables=None):
            super().apply([g * 2.0 for g in grads], trainable_variables)

    assert np.allclose(_train(Doubled(0.1)), _train(Twice(0.1)), rtol=1e-6)


def test_hooks_of_older_versions_say_which_base_has_them():
    class Old(K.Optimizer):
        def _resource_apply_dense(self, grad, var, apply_state=None):
            return var

    with pytest.raises(NotImplementedError, match=r"legacy\.Optimizer"):
        Old(0.1).apply_gradients([(tf.constant(1.0), tf.Variable(1.0))])
    with pytest.raises(NotImplementedError, match="update_step"):
        K.Optimizer(0.1).apply_gradients([(tf.constant(1.0), tf.Variable(1.0))])


def test_a_forgotten_super_init_is_named():
    class Forgetful(K.Optimizer):
        def __init__(self):
            self.anything = 1

    with pytest.raises(RuntimeError, match="forgot to call"):
        Forgetful()


def test_variables_that_are_attributes_are_the_optimizers():
    class Counting(K.SGD):
        def build(self, variables):
            super().build(variables)
            self.calls = tf.Variable(0)

    optimizer = Counting(0.1)
    optimizer.build([tf.Variable(1.0)])
    assert any(v is optimizer.calls for v in optimizer.variables)
    assert optimizer.variables() == optimizer.variables


def test_legacy_decay_divides_the_learning_rate_by_one_plus_decay_times_iterations():
    v = tf.Variable(0.0)
    optimizer = K.legacy.SGD(lr=1, decay=1.0, momentum=0)
    values = []
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(1.0), v)], name="step")
        values.append(float(v))
    assert np.allclose(values, [-1.0, -1.5, -1.5 - 1 / 3])
    assert K.legacy.SGD(0.1, 0.9, True, "mine").name == "mine"
    assert K.legacy.SGD.from_config(optimizer.get_config()).get_config() == optimizer.get_config()


def test_legacy_optimizers_take_variables_they_meet_later():
    a, b = tf.Variable(0.0, name="a"), tf.Variable(0.0, name="b")
    optimizer = K.legacy.SGD(0.5, momentum=0.5)
    optimizer.minimize(lambda: a, [a])
    optimizer.minimize(lambda: b, [b])
    optimizer.minimize(lambda: a + b, [a, b])
    assert (float(a), float(b)) == (-1.25, -1.25)
    assert float(optimizer.get_slot(b, "momentum")) == -0.75
    assert len(optimizer.weights) == 4


@pytest.mark.parametrize(
    "make", [lambda: optax.adam(0.1), lambda: optax.chain(optax.clip(0.5), optax.sgd(0.1, 0.9))]
)
@pytest.mark.parametrize("compiled", [False, True])
def test_any_optax_transformation_is_an_optimizer(make, compiled):
    actual = _train(K.Optax(make()), compiled)
    rng, tx = np.random.default_rng(0), make()
    params = (np.float32([1.0, 2.0]), np.float32(3.0))
    state = tx.init(params)
    for _ in range(7):
        grads = (np.float32(rng.normal(size=2)), np.float32(rng.normal()))
        updates, state = tx.update(grads, state, params)
        params = optax.apply_updates(params, updates)
    expected = np.concatenate([np.ravel(p) for p in jax.tree.leaves(params)])
    assert np.allclose(actual, expected, rtol=3e-6)


def test_an_optax_optimizer_has_a_rate_of_its_own_and_skips_missing_gradients():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w")
    schedule = K.schedules.PiecewiseConstantDecay([0], [1.0, 0.5])
    optimizer = K.Optax(optax.chain(optax.add_decayed_weights(1.0), optax.scale(-0.5)), schedule)
    with pytest.warns(UserWarning, match="w:0"):
        optimizer.apply_gradients([(tf.constant(0.0), v), (None, w)])
    assert (float(v), float(w)) == (0.5, 1.0)
    optimizer.apply_gradients([(tf.constant(0.0), v), (tf.constant(0.0), w)])
    assert (float(v), float(w)) == (0.375, 0.75)
    with pytest.raises(TypeError, match="GradientTransformation"):
        K.Optax("adam")


def test_the_state_of_an_optax_transformation_can_be_saved():
    optimizer, twin = K.Optax(optax.adam(0.1)), K.Optax(optax.adam(0.1))
    _train(optimizer)
    twin.build([tf.Variable([1.0, 2.0]), tf.Variable(3.0)])
    twin.set_weights(optimizer.get_weights())
    names = [v.name for v in twin.variables]
    assert {"0.count:0", "0.mu.0:0", "0.nu.1:0"} < set(names)
    assert int(twin.variables[names.index("0.count:0")]) == 7


def test_a_multi_optimizer_gives_each_variable_to_its_own():
    chosen = K.OptimizerMap(K.SGD(0.5), {"deep/.*": K.SGD(0.25, momentum=0.5)})
    v, w = tf.Variable(0.0, name="deep/kernel"), tf.Variable(0.0, name="wide")
    optimizer = K.MultiOptimizer(chosen)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant(1.0), v), (tf.constant(1.0), w)])
    assert (float(v), float(w)) == (-0.625, -1.0)
    assert [int(o.iterations) for o in optimizer.optimizers] == [2, 2]
    assert len(optimizer.variables) == 2 + 3 + 2
    with pytest.raises(AttributeError, match="sub-optimizers"):
        optimizer.learning_rate = 1.0
    twin = K.deserialize(K.serialize(optimizer))
    assert twin.get_config() == optimizer.get_config()


def test_an_optimizer_map_refuses_what_it_cannot_decide():
    chosen = K.OptimizerMap(K.SGD(), {"a.*": K.SGD(), ".*b": K.SGD()})
    with pytest.raises(ValueError, match="Multiple optimizers"):
        _ = chosen["ab"]
    with pytest.raises(ValueError, match="already exists"):
        chosen["a.*"] = K.SGD()
    with pytest.raises(ValueError, match="LossScaleOptimizer"):
        chosen["c"] = K.LossScaleOptimizer(K.SGD())
    with pytest.raises(TypeError, match="default_optimizer"):
        K.OptimizerMap("sgd")


@pytest.mark.parametrize("name", ["SGD", "adam", "ADAMW", "lamb", "Muon", "schedulefreeadamw"])
def test_optimizers_are_found_by_name_in_any_case(name):
    optimizer = K.get(name)
    assert type(optimizer).__name__.lower() == name.lower()
    assert K.get(optimizer) is optimizer


@pytest.mark.parametrize("name", ["nothing", 5, {"class_name": "nothing", "config": {}}])
def test_a_name_that_is_unknown_raises(name):
    with pytest.raises(ValueError, match="Could not interpret optimizer identifier"):
        K.get(name)


def test_a_class_of_ones_own_is_deserialized_with_its_name():
    data = K.serialize(Momentum(0.5))
    assert data["registered_name"] == "Momentum"
    assert type(K.deserialize(data, custom_objects={"Momentum": Momentum})) is Momentum
    with pytest.raises(TypeError, match="custom_objects"):
        K.deserialize(data)


@pytest.mark.parametrize("name", ["Adam", "Nadam", "Adafactor", "Lamb", "Ftrl", "Lion", "Muon"])
def test_repeated_rows_are_one_gradient_for_every_optimizer(name):
    values, indices = np.float32([[1, 2], [3, 4], [5, 6]]), [2, 0, 2]
    dense = np.zeros((4, 2), np.float32)
    np.add.at(dense, indices, values)
    tables = []
    for gradient in (
        tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([4, 2])),
        tf.constant(dense),
    ):
        table = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2))
        optimizer = getattr(K, name)(0.1)
        for _ in range(3):
            optimizer.apply_gradients([(gradient, table)])
        tables.append(table.numpy())
    assert np.array_equal(*tables)


def test_stateless_apply_is_apply_on_given_values():
    optimizer, twin = K.Adam(0.1), K.Adam(0.1)
    v = tf.Variable([1.0, 2.0])
    optimizer.build([v])
    gradient = np.float32([0.5, -3.0])
    state, params = optimizer.get_weights(), [v.numpy()]
    step = jax.jit(optimizer.stateless_apply)
    for _ in range(3):
        params, state = step(state, [gradient], params)
    w = tf.Variable([1.0, 2.0])
    for _ in range(3):
        twin.apply([tf.constant(gradient)], [w])
    assert np.allclose(params[0], w.numpy(), rtol=1e-6)
    assert v.numpy().tolist() == [1.0, 2.0]
    assert int(state[0]) == 3
    with pytest.raises(ValueError, match="grads"):
        optimizer.stateless_apply(state, [], params)


def test_options_may_be_given_by_position_as_in_keras():
    optimizer = K.SGD(0.1, 0.5, True, 0.25, None, 2.0)
    assert (optimizer.weight_decay, optimizer.clipvalue, optimizer.nesterov) == (0.25, 2.0, True)


def test_own_variables_are_saved_and_loaded():
    optimizer, twin, store = K.Adam(0.1), K.Adam(0.2), {}
    _train(optimizer)
    optimizer.save_own_variables(store)
    with pytest.warns(UserWarning, match="Skipping variable loading"):
        twin.load_own_variables(store)
    twin.build([tf.Variable([1.0, 2.0]), tf.Variable(3.0)])
    twin.load_own_variables(store)
    pairs = zip(twin.get_weights(), optimizer.get_weights(), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize(
    "make",
    [
        lambda: K.Adam(0.1, weight_decay=0.1),
        lambda: K.MultiOptimizer(K.OptimizerMap(K.Nadam(0.1))),
        lambda: K.LossScaleOptimizer(K.SGD(0.1, momentum=0.5), initial_scale=1.0),
    ],
)
def test_an_optimizer_is_copied_together_with_its_variables(make, copied):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    optimizer = make()
    if isinstance(optimizer, K.Adam):
        optimizer.exclude_from_weight_decay([w])
    gradients = [tf.constant([0.5, -1.0]), tf.constant(2.0)]
    optimizer.apply(gradients, [v, w])
    twin, pair = copied((optimizer, [v, w]))
    for _ in range(2):
        twin.apply(gradients, pair)
        optimizer.apply(gradients, [v, w])
    assert np.allclose(pair[0].numpy(), v.numpy())
    assert np.allclose(pair[1].numpy(), w.numpy())
    assert pair[0] is not v

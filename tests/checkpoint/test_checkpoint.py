"""`tf.train.Checkpoint` and its relatives: programs that do the same in TensorFlow."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def _model(tf, factor=1.0):
    model = tf.Module()
    model.w = tf.Variable(factor * np.float32([1.0, 2.0]), name="w")
    model.parts = [tf.Variable(3.0 * factor), {"bias": tf.Variable(4.0 * factor)}]
    model.inner = tf.Module()
    model.inner.b = tf.Variable(5.0 * factor)
    return model


def _values(model):
    parts = [model.w, model.parts[0], model.parts[1]["bias"], model.inner.b]
    return [v.numpy().tolist() for v in parts]


ONES = [[1.0, 2.0], 3.0, 4.0, 5.0]


def test_a_model_is_restored_by_the_names_of_its_attributes(tf, tmp_path):
    checkpoint = tf.train.Checkpoint(model=_model(tf), step=tf.Variable(7, dtype=tf.int64))
    path = checkpoint.save(str(tmp_path / "new" / "ckpt"))
    assert path == str(tmp_path / "new" / "ckpt-1")
    assert os.path.exists(path + ".index")
    twin = tf.train.Checkpoint(model=_model(tf, 0.0), step=tf.Variable(0, dtype=tf.int64))
    twin.restore(path).assert_consumed().assert_existing_objects_matched()
    assert _values(twin.model) == ONES
    assert (int(twin.step), int(twin.save_counter)) == (7, 1)


def test_checkpoints_are_numbered_and_the_latest_is_found(tf, tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    found = []
    for value in (1.0, 2.0, 3.0):
        v.assign(value)
        found.append(checkpoint.save(str(tmp_path / "ckpt")))
    assert found == [str(tmp_path / f"ckpt-{n}") for n in (1, 2, 3)]
    assert tf.train.latest_checkpoint(str(tmp_path)) == found[-1]
    checkpoint.restore(found[1])
    assert (float(v), int(checkpoint.save_counter)) == (2.0, 2)
    assert checkpoint.save(str(tmp_path / "ckpt")) == found[-1]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.model_checkpoint_path == found[-1]
    assert list(state.all_model_checkpoint_paths) == [found[-1]]


def test_the_names_in_a_file_are_those_of_tensorflow(tf, tmp_path):
    model = _model(tf)
    held = {"model": model, "a.b/c": tf.Variable(6), "t": (tf.Variable(8.0),)}
    checkpoint = tf.train.Checkpoint(**held, again=model.w)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    listed = dict(tf.train.list_variables(path))
    listed.pop("_CHECKPOINTABLE_OBJECT_GRAPH", None)
    assert listed == {
        "a..b.Sc" + VALUE: [],
        "again" + VALUE: [2],
        "model/inner/b" + VALUE: [],
        "model/parts/0" + VALUE: [],
        "model/parts/1/bias" + VALUE: [],
        "save_counter" + VALUE: [],
        "t/0" + VALUE: [],
    }
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_variable_to_dtype_map()["a..b.Sc" + VALUE] == tf.int32
    assert reader.get_variable_to_shape_map()["again" + VALUE] == [2]
    assert reader.get_tensor("again" + VALUE).tolist() == [1.0, 2.0]
    assert reader.has_tensor("again" + VALUE)
    assert not reader.has_tensor("again")
    assert tf.train.load_variable(path, "t/0" + VALUE) == 8.0
    with pytest.raises(tf.errors.NotFoundError, match="Key nothing not found in checkpoint"):
        reader.get_tensor("nothing")


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float64", "int8", "uint16", "int64", "bool", "complex64"]
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_every_dtype_and_shape_comes_back(tf, tmp_path, dtype, shape):
    value = np.arange(np.prod(shape)).reshape(shape) + (1 if dtype != "bool" else 0)
    first = tf.cast(tf.constant(value), dtype)
    v, w = tf.Variable(first), tf.Variable(tf.zeros_like(first))
    path = tf.train.Checkpoint(v=v).write(str(tmp_path / "ckpt"))
    tf.train.Checkpoint(v=w).read(path)
    assert w.dtype == dtype
    assert np.array_equal(w.numpy(), v.numpy())


def test_an_optimizer_goes_on_where_it_stopped(tf, tmp_path):
    if tf.__name__ == "tensorflow":
        pytest.skip("Keras has one backend in a process, and the tests of tf.keras need JAX's")

    def train(v, optimizer, steps):
        for n in range(steps):
            optimizer.apply_gradients([(tf.constant([1.0, -2.0]) * (n + 1), v)])

    v, optimizer = tf.Variable([1.0, 2.0]), tf.keras.optimizers.Adam(0.5)
    train(v, optimizer, 3)
    checkpoint = tf.train.Checkpoint(v=v, optimizer=optimizer)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    train(v, optimizer, 2)
    w, twin = tf.Variable([0.0, 0.0]), tf.keras.optimizers.Adam(0.1)
    status = tf.train.Checkpoint(v=w, optimizer=twin).restore(path)
    twin.build([w])
    status.assert_consumed()
    train(w, twin, 2)
    assert np.allclose(v.numpy(), w.numpy(), rtol=1e-6)
    assert int(twin.iterations) == 5
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "optimizer/_iterations" + VALUE in names
    assert "optimizer/_variables/3" + VALUE in names


def test_variables_created_later_get_their_values(tf, tmp_path):
    path = tf.train.Checkpoint(model=_model(tf)).save(str(tmp_path / "ckpt"))
    model = tf.Module()
    status = tf.train.Checkpoint(model=model).restore(path)
    with pytest.raises(AssertionError, match=r"model\.w"):
        status.assert_consumed()
    model.w = tf.Variable([0.0, 0.0])
    assert model.w.numpy().tolist() == [1.0, 2.0]
    model.parts = [tf.Variable(0.0), {"bias": tf.Variable(0.0)}]
    inner = tf.Module()
    inner.b = tf.Variable(0.0)
    model.inner = inner
    assert _values(model) == ONES
    status.assert_consumed()


def test_variables_created_later_in_a_function_get_their_values(tf: Any, tmp_path):
    class Lazy(tf.Module):
        w: Any = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.zeros([2]))
            return self.w * x

    saved = Lazy()
    saved(tf.ones([2]))
    saved.w.assign([3.0, 4.0])
    path = tf.train.Checkpoint(model=saved).save(str(tmp_path / "ckpt"))
    model = Lazy()
    tf.train.Checkpoint(model=model).restore(path)
    assert model(tf.ones([2])).numpy().tolist() == [3.0, 4.0]
    model.w.assign([5.0, 6.0])
    assert model(tf.ones([2])).numpy().tolist() == [5.0, 6.0]


def test_a_value_that_does_not_fit_raises(tf, tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(str(tmp_path / "ckpt"))
    with pytest.raises(ValueError, match="incompatible tensor with shape"):
        tf.train.Checkpoint(v=tf.Variable([0.0, 0.0, 0.0])).restore(path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype int32"):
        tf.train.Checkpoint(v=tf.Variable([0, 0])).restore(path)


def test_a_missing_checkpoint_raises(tf, tmp_path):
    missing = str(tmp_path / "nothing")
    with pytest.raises(tf.errors.NotFoundError, match="matching files"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(missing)
    with pytest.raises(tf.errors.NotFoundError, match="matching files"):
        tf.train.load_checkpoint(missing)
    status = tf.train.Checkpoint(v=tf.Variable(1.0)).restore(None)
    with pytest.raises(AssertionError, match="save_path=None"):
        status.assert_consumed()


def test_questions_about_what_matched(tf, tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0), w=tf.Variable(2.0)).save(str(tmp_path / "c"))
    v, other = tf.Variable(0.0), tf.Variable(0.0)
    status = tf.train.Checkpoint(v=v).restore(path)
    status.assert_existing_objects_matched().assert_nontrivial_match().expect_partial()
    assert float(v) == 1.0
    with pytest.raises(AssertionError, match="Unresolved object in checkpoint"):
        status.assert_consumed()
    status = tf.train.Checkpoint(v=v, other=other).restore(path).expect_partial()
    with pytest.raises(AssertionError, match="not bound to checkpointed values"):
        status.assert_existing_objects_matched()


@pytest.mark.parametrize("value", [1, None, "text", 2.5])
def test_what_holds_no_variables_is_refused(tf, value):
    with pytest.raises(ValueError, match="trackable object"):
        tf.train.Checkpoint(value=value)


def test_dictionaries_need_string_keys(tf, tmp_path):
    with pytest.raises(ValueError, match="Unable to save the object"):
        tf.train.Checkpoint(held={1: tf.Variable(1.0)}).save(str(tmp_path / "ckpt"))


def test_a_root_is_saved_under_its_own_names(tf, tmp_path):
    path = tf.train.Checkpoint(_model(tf)).save(str(tmp_path / "ckpt"))
    model = _model(tf, 0.0)
    tf.train.Checkpoint(model).restore(path).assert_consumed()
    assert _values(model) == ONES
    checkpoint = tf.train.Checkpoint(nested=tf.train.Checkpoint(v=tf.Variable(1.0)))
    written = checkpoint.write(str(tmp_path / "nested"))
    names = [name for name, _ in tf.train.list_variables(written)]
    assert "nested/v" + VALUE in names


def test_shared_and_circular_objects_are_saved_once(tf, tmp_path):
    a, b = tf.Module(), tf.Module()
    a.other, b.other = b, a
    a.v = b.v = tf.Variable(1.0)
    path = tf.train.Checkpoint(a=a, b=b).write(str(tmp_path / "ckpt"))
    names = [n for n, _ in tf.train.list_variables(path) if n.endswith("v" + VALUE)]
    assert names == ["a/v" + VALUE]
    a.v.assign(2.0)
    tf.train.Checkpoint(a=a, b=b).read(path)
    assert float(b.v) == 1.0


def test_a_generator_goes_on_where_it_stopped(tf, tmp_path):
    generator = tf.random.Generator.from_seed(3)
    path = tf.train.Checkpoint(g=generator).write(str(tmp_path / "ckpt"))
    expected = generator.normal([3]).numpy()
    tf.train.Checkpoint(g=generator).read(path)
    assert np.array_equal(generator.normal([3]).numpy(), expected)


def test_a_manager_keeps_the_last_few(tf, tmp_path):
    step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(step=step)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert manager.latest_checkpoint is None
    for _ in range(4):
        step.assign_add(1)
        path = manager.save()
    expected = [str(tmp_path / "ckpt-3"), str(tmp_path / "ckpt-4")]
    assert (manager.checkpoints, manager.latest_checkpoint) == (expected, path)
    assert not list(tmp_path.glob("ckpt-2*"))
    assert manager.save(checkpoint_number=100) == str(tmp_path / "ckpt-100")
    later = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert later.checkpoints == [expected[-1], str(tmp_path / "ckpt-100")]
    step.assign(0)
    assert later.restore_or_initialize() == str(tmp_path / "ckpt-100")
    assert int(step) == 4
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert len(state.all_model_checkpoint_timestamps) == 2


def test_a_manager_keeps_to_its_interval(tf, tmp_path):
    step, called = tf.Variable(0), []
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step),
        str(tmp_path),
        max_to_keep=None,
        step_counter=step,
        checkpoint_interval=3,
        init_fn=lambda: called.append(1),
        checkpoint_name="model",
    )
    assert manager.restore_or_initialize() is None
    assert called == [1]
    saved = []
    for _ in range(7):
        step.assign_add(1)
        saved.append(manager.save() is not None)
    assert saved == [True, False, False, True, False, False, True]
    assert manager.save(check_interval=False) is None  # the step was saved
    step.assign_add(1)
    assert manager.save() is None
    assert manager.save(check_interval=False) == str(tmp_path / "model-4")
    assert manager.checkpoint_interval == 3
    with pytest.raises(ValueError, match="step_counter"):
        tf.train.CheckpointManager(
            manager.checkpoint, str(tmp_path), max_to_keep=1, checkpoint_interval=3
        )
    with pytest.raises(ValueError, match="positive integer"):
        tf.train.CheckpointManager(manager.checkpoint, str(tmp_path), max_to_keep=0)


def test_a_manager_keeps_one_for_each_span_of_time(tf, tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=tf.Variable(0)),
        str(tmp_path),
        max_to_keep=1,
        keep_checkpoint_every_n_hours=1.0,
    )
    for _ in range(9):
        now[0] += 1500.0
        manager.save()
    kept = sorted(path.name for path in tmp_path.glob("*.index"))
    assert kept == ["ckpt-3.index", "ckpt-6.index", "ckpt-9.index"]


def test_new_checkpoints_are_waited_for(tf, tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.save(str(tmp_path / "ckpt"))
    asked, found = [], []

    def give_up():
        asked.append(1)
        if len(asked) == 1:
            checkpoint.save(str(tmp_path / "ckpt"))
        return len(asked) == 2

    for path in tf.train.checkpoints_iterator(str(tmp_path), timeout=0, timeout_fn=give_up):
        found.append(os.path.basename(path))
    assert found == ["ckpt-1", "ckpt-2"]


def test_a_moving_average_is_saved_with_its_variable(tf, tmp_path):
    averages = tf.train.ExponentialMovingAverage(0.5)
    v = tf.Variable(2.0, name="v")
    averages.apply([v])
    held = {name.replace("/", "_"): averages.average(v) for name in ("v/average",)}
    path = tf.train.Checkpoint(**held).write(str(tmp_path / "ckpt"))
    assert tf.train.load_variable(path, "v_average" + VALUE) == 2.0


def test_a_callback_is_told_of_a_written_checkpoint(tf, tmp_path):
    told = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[told.append])
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(str(tmp_path / "ckpt"), options)
    assert [os.path.basename(str(t)) for t in told] == [os.path.basename(path)]

"""What a tape watches: tensors by request, trainable variables by being read."""

from __future__ import annotations

import numpy as np
import pytest


def test_only_what_follows_the_watch_is_differentiated(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
        z = y + 5.0 * x
    assert tape.gradient(z, x).numpy() == pytest.approx(5.0)


def test_an_unwatched_constant_has_no_gradient(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_watching_twice_counts_once(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        assert tape.watch(x) is None
        tape.watch([x, (x,)])
        y = x * x
    assert tape.gradient(y, x).numpy() == pytest.approx(6.0)


def test_watch_takes_a_structure(tf):
    a, b = tf.constant(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch({"a": a, "rest": [b]})
        y = a * b
    assert [float(g) for g in tape.gradient(y, [a, b])] == pytest.approx([3.0, 2.0])


@pytest.mark.parametrize("wrong", [1.0, None, np.array([1.0])], ids=["float", "None", "ndarray"])
def test_watching_anything_but_tensors_raises(tf, wrong):
    with tf.GradientTape() as tape, pytest.raises(ValueError, match=r"not .*tf\.Tensor"):
        tape.watch(wrong)


def test_elements_before_the_wrong_one_are_watched(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        with pytest.raises(ValueError, match=r"1\.0"):
            tape.watch([x, 1.0])
        y = x * x
    assert tape.gradient(y, x).numpy() == pytest.approx(4.0)


def test_an_integer_tensor_can_be_watched_but_has_no_gradient(tf):
    x = tf.constant(3)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = tf.cast(x, tf.float32) * 2.0
    assert tape.gradient(y, x) is None
    assert tape.gradient(z, x) is None


def test_the_gradient_of_a_tensor_with_respect_to_itself_is_one_even_unwatched(tf):
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        pass
    assert tape.gradient(x, x).numpy() == pytest.approx([1.0, 1.0])


def test_another_name_for_a_tensor_is_the_same_tensor(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
    assert tape.gradient(y, x).numpy() == pytest.approx(1.0)


def test_a_recorded_intermediate_can_be_a_source(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert tape.gradient(z, y).numpy() == pytest.approx(18.0)


def test_watching_an_intermediate_does_not_cut_the_chain(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.watch(y)
        z = y * y
    assert [float(g) for g in tape.gradient(z, [x, y])] == pytest.approx([108.0, 18.0])


def test_a_value_computed_before_the_block_is_a_constant(tf):
    v = tf.Variable(2.0)
    before = v * v
    with tf.GradientTape() as tape:
        tape.watch(before)
        y = before * 3.0
    of_before, of_v = tape.gradient(y, [before, v])
    assert of_before.numpy() == pytest.approx(3.0)
    assert of_v is None


def test_watched_variables_are_in_the_order_of_their_creation(tf):
    first, second, third = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = third + first + second
    watched = tape.watched_variables()
    assert isinstance(watched, tuple)
    assert [v is w for v, w in zip(watched, (first, second, third), strict=True)] == [True] * 3
    assert [float(g) for g in tape.gradient(y, watched)] == pytest.approx([1.0, 1.0, 1.0])


def test_watched_variables_is_empty_before_entering_and_survives_the_gradient(tf):
    v = tf.Variable(2.0)
    tape = tf.GradientTape()
    assert tape.watched_variables() == ()
    with tape:
        y = v * v
    tape.gradient(y, v)
    assert [w is v for w in tape.watched_variables()] == [True]


READS = {
    "numpy": lambda v: v.numpy(),
    "read_value": lambda v: v.read_value(),
    "assign": lambda v: v.assign(2.0),
    "assign_add": lambda v: v.assign_add(1.0),
    "arithmetic": lambda v: v + 1.0,
}


@pytest.mark.parametrize("read", READS)
def test_any_read_of_a_trainable_variable_watches_it(tf, read):
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        READS[read](v)
    assert [w is v for w in tape.watched_variables()] == [True]


def test_asking_for_shape_dtype_and_name_watches_nothing(tf):
    v = tf.Variable([2.0])
    with tf.GradientTape() as tape:
        assert (v.shape, v.dtype, v.trainable) == ((1,), tf.float32, True)
        assert v.name
    assert tape.watched_variables() == ()


def test_stop_gradient_of_a_variable_does_not_watch_it(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(v) * 3.0
    assert tape.watched_variables() == ()
    assert tape.gradient(y, v) is None


def test_variables_that_are_not_trainable_are_not_watched(tf):
    frozen, free = tf.Variable(3.0, trainable=False), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = frozen * free
    of_frozen, of_free = tape.gradient(y, [frozen, free])
    assert of_frozen is None
    assert of_free.numpy() == pytest.approx(3.0)
    assert len(tape.watched_variables()) == 1


def test_an_integer_variable_is_listed_but_has_no_gradient(tf):
    v = tf.Variable(3)
    with tf.GradientTape() as tape:
        y = v * 2
    assert len(tape.watched_variables()) == 1
    assert tape.gradient(y, v) is None


def test_watch_accessed_variables_false_watches_what_is_asked_for(tf):
    a, b = tf.Variable(2.0), tf.Variable(5.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        y = a * a * b
    of_a, of_b = tape.gradient(y, [a, b])
    assert of_a.numpy() == pytest.approx(20.0)
    assert of_b is None
    assert len(tape.watched_variables()) == 1


def test_the_option_belongs_to_one_tape(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer, tf.GradientTape(watch_accessed_variables=False) as inner:
        y = v * v
    assert inner.gradient(y, v) is None
    assert outer.gradient(y, v).numpy() == pytest.approx(4.0)


def test_a_variable_as_its_own_target_has_gradient_one(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(v)
    assert tape.gradient(v, v).numpy() == pytest.approx([1.0, 1.0])


def test_assigning_after_the_block_does_not_change_the_gradient(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
    v.assign(100.0)
    assert tape.gradient(y, v).numpy() == pytest.approx(4.0)


def test_assigning_inside_the_block_does_not_disturb_earlier_reads(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(10.0)
        z = v * v
    assert [float(y), float(z)] == pytest.approx([4.0, 100.0])
    assert tape.gradient([y, z], v).numpy() == pytest.approx(24.0)


def test_assignment_is_not_differentiated(tf):
    v, x = tf.Variable(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        v.assign(x * x)
        y = v * 2.0
    of_x, of_v = tape.gradient(y, [x, v])
    assert of_x is None
    assert of_v.numpy() == pytest.approx(2.0)


def test_adding_to_a_variable_in_place_raises(tf):
    v = tf.Variable(2.0)
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1.0

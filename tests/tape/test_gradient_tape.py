"""The life of a tape: entering, recording, being consumed, being entered again."""

from __future__ import annotations

import threading

import numpy as np
import pytest


def test_gradient_of_a_cube(tf):
    v = tf.Variable([1.0, -2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v**3)
    assert tape.gradient(y, v).numpy() == pytest.approx([3.0, 12.0])


def test_a_gradient_is_a_tensor_of_the_dtype_and_shape_of_its_source(tf):
    v = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.cast(v, tf.float64) * 2.0)
    gradient = tape.gradient(y, v)
    assert isinstance(gradient, tf.Tensor)
    assert not isinstance(gradient, tf.Variable)
    assert gradient.dtype == tf.float32
    assert gradient.shape == (1, 2)


def test_enter_returns_the_tape(tf):
    tape = tf.GradientTape()
    with tape as entered:
        pass
    assert entered is tape


def test_the_arguments_of_the_constructor_are_positional_in_this_order(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape(True, False) as tape:
        y = v * v
        tape.watch(v)
        z = v * v
    assert tape.gradient(y, v) is None
    assert tape.gradient(z, v).numpy() == pytest.approx(4.0)


def test_a_second_gradient_of_a_non_persistent_tape_raises(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, x)


def test_a_persistent_tape_answers_again_and_again(tf):
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y * y
    answers = [tape.gradient(*pair) for pair in [(z, x), (y, x), (z, y), (z, x)]]
    assert [float(a) for a in answers] == pytest.approx([192.0, 4.0, 48.0, 192.0])


@pytest.mark.parametrize("persistent", [False, True])
def test_gradient_of_a_tape_that_was_never_entered_raises(tf, persistent):
    x = tf.constant(3.0)
    tape = tf.GradientTape(persistent=persistent)
    with pytest.raises(RuntimeError):
        tape.gradient(x, x)


def test_watch_before_entering_raises_attribute_error(tf):
    with pytest.raises(AttributeError):
        tf.GradientTape().watch(tf.constant(1.0))


def test_gradient_inside_the_block_ends_the_recording(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        first = tape.gradient(y, x)
        z = y * x
    assert first.numpy() == pytest.approx(6.0)
    with pytest.raises(RuntimeError):
        tape.gradient(z, x)


def test_gradients_taken_inside_a_persistent_tape_are_recorded(tf):
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**4
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
    third = tape.gradient(second, x)
    assert [float(g) for g in (first, second, third)] == pytest.approx([32.0, 48.0, 48.0])


def test_entering_an_active_tape_raises(tf):
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="still recording"), tape:
        pass


def test_entering_again_after_the_block_continues_the_record(tf):
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
        y = x * x
    with tape:
        z = y * y
    assert tape.gradient(z, x).numpy() == pytest.approx(108.0)


def test_entering_again_after_the_gradient_starts_a_fresh_record(tf):
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with tape:
        tape.watch(x)
        z = y * x  # y is a constant of the new record
    assert tape.gradient(z, x).numpy() == pytest.approx(9.0)


def test_an_exception_leaves_the_recorded_part_usable(tf):
    x = tf.constant(3.0)
    with pytest.raises(KeyError), tf.GradientTape() as tape:  # noqa: PT012
        tape.watch(x)
        y = x * x
        raise KeyError("in the block")
    z = x * x * x  # after the block: not recorded
    with tf.GradientTape():
        pass
    assert tape.gradient(y, x).numpy() == pytest.approx(6.0)
    assert z.numpy() == pytest.approx(27.0)


def test_argument_errors_do_not_consume_the_tape(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(TypeError):
        tape.gradient(None, x)
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tape.gradient(y, x, unconnected_gradients="sometimes")
    assert tape.gradient(y, x).numpy() == pytest.approx(6.0)


def test_stop_recording_hides_a_part_from_this_tape_only(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        outer.watch(x)
        inner.watch(x)
        with inner.stop_recording():
            y = x * x
    assert inner.gradient(y, x) is None
    assert outer.gradient(y, x).numpy() == pytest.approx(6.0)


def test_what_stop_recording_hid_is_a_constant_later(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            constant = v * v
        y = constant * v
    assert tape.gradient(y, v).numpy() == pytest.approx(9.0)


def test_recording_resumes_when_an_error_leaves_stop_recording(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with pytest.raises(KeyError), tape.stop_recording():
            raise KeyError("inside")
        y = v * v
    assert tape.gradient(y, v).numpy() == pytest.approx(6.0)


def test_variables_read_under_stop_recording_are_not_watched(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape, tape.stop_recording():
        y = v * v
    assert len(tape.watched_variables()) == 0
    assert tape.gradient(y, v) is None


def test_stop_recording_of_a_tape_that_was_never_entered_raises(tf):
    with pytest.raises(RuntimeError, match="not recording"), tf.GradientTape().stop_recording():
        pass


def test_reset_forgets_ops_and_watches(tf):
    x = tf.constant(3.0)
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * v
        tape.reset()
        assert tape.watched_variables() == ()
        z = v * v
    assert tape.gradient([y, z], [x, v])[0] is None


def test_ops_before_a_reset_do_not_count(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        v * v
        tape.reset()
        y = v * v * v
    assert tape.gradient(y, v).numpy() == pytest.approx(12.0)


def test_reset_outside_the_block_raises(tf):
    with tf.GradientTape() as tape:
        pass
    with pytest.raises(ValueError, match="not recording"):
        tape.reset()


def test_tapes_need_not_be_nested(tf):
    x = tf.constant(2.0)
    first, second = tf.GradientTape(), tf.GradientTape()
    first.__enter__()
    first.watch(x)
    y = x * x
    second.__enter__()
    second.watch(x)
    z = y * x
    first.__exit__(None, None, None)
    w = z * x
    second.__exit__(None, None, None)
    assert first.gradient(z, x).numpy() == pytest.approx(12.0)
    assert second.gradient(w, x).numpy() == pytest.approx(16.0)  # w = 4 x x: y is a constant


def test_two_tapes_in_one_statement(tf):
    a, b = tf.constant(0.5), tf.constant(2.0)
    with tf.GradientTape() as of_a, tf.GradientTape() as of_b:
        of_a.watch(a)
        of_b.watch(b)
        y = a * a * b
    assert of_a.gradient(y, a).numpy() == pytest.approx(2.0)
    assert of_b.gradient(y, b).numpy() == pytest.approx(0.25)


def test_a_tape_does_not_see_the_ops_of_another_thread(tf):
    x = tf.constant(2.0)
    results = []
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        thread = threading.Thread(target=lambda: results.append(x * x * x))
        thread.start()
        thread.join()
    assert results[0].numpy() == pytest.approx(8.0)
    assert tape.gradient([y, results[0]], x).numpy() == pytest.approx(4.0)


def test_a_suspended_generator_keeps_its_tape_active(tf):
    x = tf.constant(2.0)

    def recording():
        with tf.GradientTape() as tape:
            tape.watch(x)
            yield tape

    steps = recording()
    tape = next(steps)
    y = x * x
    next(steps, None)
    assert tape.gradient(y, x).numpy() == pytest.approx(4.0)


def test_python_control_flow_on_a_value_inside_the_block(tf):
    def slope(at):
        x = tf.constant(at)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x if x > 0.0 else -x
        return float(tape.gradient(y, x))

    assert [slope(3.0), slope(-3.0)] == pytest.approx([6.0, -1.0])


def test_a_detour_through_numpy_cuts_the_chain(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        through_numpy = tf.constant(x.numpy() ** 2)
        through_float = tf.constant(float(x) * 2.0)
        kept = x * x
    assert tape.gradient(through_numpy, x) is None
    assert tape.gradient(through_float, x) is None
    assert tape.gradient(kept, x).numpy() == pytest.approx(6.0)


def test_a_value_read_in_the_middle_of_the_block_changes_nothing(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
        read = y.numpy()
        z = tf.reduce_sum(y * y)
    assert read == pytest.approx([1.0, 4.0])
    assert tape.gradient(z, x).numpy() == pytest.approx([4.0, 32.0])


def test_a_list_of_tensors_is_stacked_differentiably(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.convert_to_tensor([x, x * x, 3.0])
        z = tf.reduce_sum(y * [1.0, 2.0, 3.0])
    assert y.numpy() == pytest.approx([2.0, 4.0, 3.0])
    assert tape.gradient(z, x).numpy() == pytest.approx(9.0)


def test_half_precision_gradients_keep_their_dtype(tf):
    x = tf.constant([0.5, 2.0], tf.float16)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    gradient = tape.gradient(y, x)
    assert gradient.dtype == tf.float16
    np.testing.assert_array_equal(gradient.numpy(), np.array([1.0, 4.0], np.float16))


def test_autodiff_holds_the_same_class(tf):
    assert tf.autodiff.GradientTape is tf.GradientTape

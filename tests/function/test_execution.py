"""What graph-era programs say about execution: scopes, groups, dependencies, devices."""

from __future__ import annotations

import pytest


def test_programs_are_eager_outside_functions_and_not_inside(tf):
    seen = []

    @tf.function
    def traced(x):
        seen.append(tf.executing_eagerly())
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
        seen.append(tf.executing_eagerly())
        return x

    traced(tf.constant(1.0))
    assert tf.executing_eagerly()
    assert seen == [False, True, False]


def test_values_can_be_read_in_an_init_scope_of_a_function(tf):
    @tf.function
    def traced(x):
        with tf.init_scope():
            scale = float(tf.constant(2.0) * 3.0)
        return x * scale

    assert float(traced(tf.constant(1.5))) == 9.0


def test_an_init_scope_pauses_tapes(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tf.init_scope():
            scale = x * x
        y = scale * x
    assert float(tape.gradient(y, x)) == 9.0


def test_init_scopes_nest_and_leave_paused_tapes_alone(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tape.stop_recording(), tf.init_scope(), tf.init_scope():
            scale = x * x
        y = scale * x
    assert float(tape.gradient(y, x)) == 9.0


def test_nested_name_scopes_prefix_the_names_of_variables(tf):
    with tf.name_scope("a") as outer:
        with tf.name_scope("b") as inner:
            v = tf.Variable(1.0, name="v")
        with tf.name_scope("c/") as absolute:
            w = tf.Variable(1.0, name="w")
        with tf.name_scope("") as empty:
            u = tf.Variable(1.0, name="u")
        x = tf.Variable(1.0)
    assert (outer, inner, absolute, empty) == ("a/", "a/b/", "c/", "")
    assert [t.name for t in (v, w, u, x)] == ["a/b/v:0", "c/w:0", "u:0", "a/Variable:0"]
    assert tf.Variable(1.0, name="after").name == "after:0"


def test_a_name_scope_is_left_when_its_block_raises(tf):
    with pytest.raises(KeyError), tf.name_scope("a"):
        raise KeyError
    assert tf.Variable(1.0, name="v").name == "v:0"


@pytest.mark.parametrize("wrong", [None, 3])
def test_the_name_of_a_scope_must_be_text(tf, wrong):
    with pytest.raises(ValueError, match="name for name_scope must be a string"):
        tf.name_scope(wrong).__enter__()


def test_groups_and_dependencies_do_nothing_to_eager_programs(tf):
    v = tf.Variable(1.0)
    assert tf.group(v.assign_add(1.0), [v.assign_add(1.0)], name="both") is None
    assert tf.no_op() is None
    with tf.control_dependencies([v.assign_add(1.0), None]):
        assert float(v) == 4.0
    with tf.control_dependencies(None):
        pass


def test_callable_dependencies_are_called(tf):
    called = []
    with tf.control_dependencies([lambda: called.append(1)]):
        assert called == [1]


def test_assignments_of_a_function_run_in_the_order_written(tf):
    v = tf.Variable(1.0)

    @tf.function
    def traced():
        with tf.control_dependencies([v.assign(2.0)]):
            y = v * 10.0
        tf.group(v.assign(5.0))
        return y

    assert (float(traced()), float(v)) == (20.0, 5.0)


def test_the_logger_is_the_one_named_tensorflow(tf):
    assert tf.get_logger().name == "tensorflow"

"""`tape.explain`: each cause of a None with its reason, op and line."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import numpy as np
import pytest

import tapejax as tf


def here(above: int = 1) -> str:
    """`file:line` of a line above the caller's."""
    frame = inspect.currentframe()
    assert frame is not None
    caller = frame.f_back
    assert caller is not None
    return f"{caller.f_code.co_filename}:{caller.f_lineno - above}"


@pytest.fixture(autouse=True)
def new_program() -> None:
    """What other tests recorded is run: a tape would begin by running it if it were long."""
    float(tf.constant(1.0) * 1.0)


@pytest.fixture
def w() -> Any:
    return tf.Variable([2.0, 3.0], name="w")


def test_connected(w: Any) -> None:
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * w)
    (why,) = tape.explain(y, w)
    assert (why.source, why.connected, why.reason, why.op) == ("w", True, "connected", None)
    assert str(why) == "w: connected"
    np.testing.assert_array_equal(tape.gradient(y, w), [4.0, 6.0])  # it is not used up


def test_a_tensor_that_is_not_watched() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * 3.0
        place = here()
    (why,) = tape.explain(y, [x])
    assert (why.connected, why.reason, why.op, why.place) == (False, "not watched", "Mul", place)
    assert "tape.watch" in why.cure
    assert why.source == "tensor of shape (2,), float32"
    assert tape.gradient(y, x) is None


def test_a_variable_that_is_not_trainable() -> None:
    frozen = tf.Variable(1.0, trainable=False, name="frozen")
    with tf.GradientTape() as tape:
        y = frozen + 1.0
        place = here()
    (why,) = tape.explain(y, frozen)
    assert (why.reason, why.op, why.place) == ("not trainable", "AddV2", place)
    assert "trainable=True" in why.cure


def test_a_tape_that_watches_no_variables(w: Any) -> None:
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = w * 2.0
    assert tape.explain(y, w)[0].reason == "not watched"


def test_watched_too_late() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        y = tf.exp(x)
        place = here()
        tape.watch(x)
    (why,) = tape.explain(y, x)
    assert (why.reason, why.op, why.place) == ("watched too late", "Exp", place)


@pytest.mark.parametrize("when", ["before the tape", "after the tape"])
def test_computed_outside_of_the_block(w: Any, when: str) -> None:
    if when == "before the tape":
        y = w * 2.0
        place = here()
    with tf.GradientTape() as tape:
        z = w + 1.0
    if when == "after the tape":
        y = z * 2.0
        place = here()
    (why,) = tape.explain(y, w)
    assert (why.connected, why.reason, why.op, why.place) == (False, when, "Mul", place)
    assert "inside the" in why.cure
    assert tape.gradient(y, w) is None


def test_computed_while_recording_was_stopped(w: Any) -> None:
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            scale = tf.sqrt(w)
            place = here()
        y = scale * 2.0
    (why,) = tape.explain(y, w)
    assert (why.reason, why.op, why.place) == ("stop_recording", "Sqrt", place)


def test_stop_gradient(w: Any) -> None:
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(w * 2.0) + 1.0
        place = here()
    (why,) = tape.explain(y, w)
    assert (why.reason, why.op, why.place) == ("stop_gradient", "StopGradient", place)


@pytest.mark.parametrize(
    ("function", "op"), [(tf.round, "Round"), (tf.argmax, "ArgMax"), (tf.sign, "Sign")]
)
def test_an_op_without_a_gradient(w: Any, function: Any, op: str) -> None:
    with tf.GradientTape() as tape:
        y = tf.cast(function(w), tf.float32) * 1.0
        place = here()
    (why,) = tape.explain(y, w)
    found = tape.gradient(y, w)
    if found is None:
        expected = "cast to integer" if op == "ArgMax" else "no gradient"
        assert (why.connected, why.reason, why.op, why.place) == (False, expected, op, place)
    else:  # TensorFlow gives zeros: it is connected
        assert why.connected


def test_a_cast_to_integers(w: Any) -> None:
    with tf.GradientTape() as tape:
        y = tf.cast(tf.cast(w, tf.int32), tf.float32)
        place = here()
    (why,) = tape.explain(y, w)
    assert (why.reason, why.op, why.place) == ("cast to integer", "Cast", place)


def test_an_integer_source() -> None:
    n = tf.Variable(3, name="n")
    with tf.GradientTape() as tape:
        y = tf.cast(n, tf.float32) * 2.0
    (why,) = tape.explain(y, n)
    assert (why.source, why.connected, why.reason) == ("n", False, "integer")


def test_a_detour_through_numpy(w: Any) -> None:
    with tf.GradientTape() as tape:
        half = w.numpy() / 2
        y = tf.reduce_sum(tf.constant(half) ** 2)
    (why,) = tape.explain(y, w)
    assert why.reason in ("not used", "another program")
    assert not why.connected


def test_a_variable_replaced_by_a_tensor(w: Any) -> None:
    old = w
    w = w - 0.1
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = tf.reduce_sum(w * w)
    (why,) = tape.explain(y, old)
    assert (why.connected, why.reason, why.op) == (False, "before the tape", "Sub")
    assert tape.explain(y, w)[0].connected


def test_a_source_that_is_not_used(w: Any) -> None:
    other = tf.Variable(1.0, name="other")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w)
    first, second = tape.explain(y, [w, other])
    assert first.connected
    assert (second.source, second.connected, second.reason) == ("other", False, "not used")
    assert "NumPy" in second.cure


def test_an_assigned_value(w: Any) -> None:
    x = tf.constant([1.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        w.assign(x * 2.0)
        place = here()
        y = tf.reduce_sum(w * w)
    (why,) = tape.explain(y, x)
    assert (why.reason, why.place) == ("assigned", place)
    assert tape.gradient(y, x) is None


def test_a_constant_target(w: Any) -> None:
    target = tf.constant(1.0)
    with tf.GradientTape() as tape:
        _ = w * 2.0
    (why,) = tape.explain(target, w)
    assert (why.connected, why.reason) == (False, "constant target")


def test_a_custom_rule_that_may_return_none(w: Any) -> None:
    @tf.custom_gradient
    def cut(x: Any) -> Any:
        return x * 2.0, lambda upstream: None

    with tf.GradientTape() as tape:
        y = tf.reduce_sum(cut(w))
    (why,) = tape.explain(y, w)
    assert (why.connected, why.reason) == (True, "custom gradient")
    assert "returns None" in why.cure


def test_another_thread(w: Any) -> None:
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(w * w)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(tape.explain(y, w)[0]))
    thread.start()
    thread.join()
    assert found[0].reason == "another program"
    assert "thread" in found[0].cure


def test_after_values_were_read(w: Any) -> None:
    other = tf.Variable(1.0, name="other")
    with tf.GradientTape(persistent=True) as tape:
        hidden = tf.sin(w)
        float(hidden[0])
        y = tf.reduce_sum(hidden * w)
    float(y)
    assert tape.explain(y, w)[0].connected
    (why,) = tape.explain(y, other)
    assert (why.connected, why.reason) == (False, "another program")
    assert "before values of the block are read" in why.cure


def test_a_tape_may_be_asked_after_its_gradient() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        y = x * 2.0
    assert tape.gradient(y, x) is None
    assert tape.explain(y, x)[0].reason == "not watched"


def test_in_a_function_and_for_structures(w: Any) -> None:
    reasons: list[Any] = []

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = {"a": tf.round(x), "b": tf.stop_gradient(w)}
        reasons.append([c.reason for c in tape.explain(y, {"w": w, "x": x})])
        return y["a"]

    step(tf.constant(1.5))
    assert reasons == [["stop_gradient", "not watched"]]


def test_inner_and_outer_tapes(w: Any) -> None:
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(w**3)
        gradient = inner.gradient(y, w)
        later = tf.reduce_sum(gradient)
    assert outer.explain(later, w)[0].connected
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = tf.reduce_sum(w**3)
    gradient = inner.gradient(y, w)
    (why,) = outer.explain(gradient, w)
    assert (why.connected, why.reason) == (False, "after the tape")


def test_the_text_has_a_line_for_each_source(w: Any) -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w) + x
        place = here()
    lines = str(tape.explain(y, [w, x])).splitlines()
    assert lines == [
        "w: connected",
        f"tensor of shape (), float32: no gradient, not watched at AddV2 ({place}). "
        "Call tape.watch(source) in the block before it is used.",
    ]


def test_an_optimizer_says_why_there_are_no_gradients(w: Any) -> None:
    optimizer = tf.keras.optimizers.SGD(0.1)
    other = tf.Variable(1.0, name="other")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.round(tf.cosh(w)))  # a structure of its own: lines are shared
        place = here()
    gradients = tape.gradient(loss, [w, other])
    with pytest.raises(ValueError, match="No gradients provided for any variable") as error:
        optimizer.apply_gradients(zip(gradients, [w, other], strict=True))
    text = str(error.value)
    assert f"w: no gradient, no gradient at Round ({place})" in text
    assert "other: no gradient, not used" in text
    with pytest.raises(ValueError, match=r"any variable\.$"):  # another question's are not shown
        optimizer.apply_gradients([(None, w)])


def test_a_strict_tape_raises_instead_of_returning_none(w: Any) -> None:
    x = tf.constant(1.0)
    with tf.GradientTape(strict=True) as tape:
        y = tf.reduce_sum(w * 3.0) + tf.atan(x)
        place = here()
    with pytest.raises(ValueError, match="1 of 2 sources have no gradient") as error:
        tape.gradient(y, [w, x])
    assert f"not watched at Atan ({place})" in str(error.value)
    assert "w: connected" not in str(error.value)
    with tf.GradientTape(strict=True) as tape:
        y = tf.reduce_sum(w * 3.0)
    np.testing.assert_array_equal(tape.gradient(y, w), [3.0, 3.0])


@pytest.mark.parametrize("bad", [None, 3.0, "x"])
def test_what_is_no_tensor_is_refused(w: Any, bad: Any) -> None:
    with tf.GradientTape() as tape:
        y = w * 1.0
    with pytest.raises((TypeError, AttributeError)):
        tape.explain(bad, w)
    with pytest.raises((TypeError, AttributeError)):
        tape.explain(y, [bad])

"""An error in one op leaves the tape and all earlier values usable, and has TensorFlow's type."""

from __future__ import annotations

import pytest

import tapejax as tf

# ops that raise at the call: what makes them fail is known when they are recorded
FAILING = {
    "shapes": (lambda x: x + tf.ones([5]), tf.errors.InvalidArgumentError),
    "matrix sizes": (
        lambda x: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
        tf.errors.InvalidArgumentError,
    ),
    "dtypes": (lambda x: x + tf.constant([1, 2]), tf.errors.InvalidArgumentError),
    "dtype that the op lacks": (
        lambda x: tf.math.log1p(tf.constant(1)),
        tf.errors.InvalidArgumentError,
    ),
    "reshape": (lambda x: tf.reshape(x, [3]), tf.errors.InvalidArgumentError),
    "axis": (lambda x: tf.reduce_sum(x, axis=4), tf.errors.InvalidArgumentError),
    "unexpected argument": (lambda x: tf.abs(x, axis=1), TypeError),
    "missing argument": (lambda x: tf.matmul(x), TypeError),
}


@pytest.mark.parametrize("name", FAILING)
def test_the_tape_goes_on_after_a_failed_op(name):
    function, error = FAILING[name]
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
        with pytest.raises(error):
            function(x)
        z = tf.reduce_sum(y * x)
    assert y.numpy() == pytest.approx([1.0, 4.0])
    assert z.numpy() == pytest.approx(9.0)
    assert tape.gradient(z, x).numpy() == pytest.approx([3.0, 12.0])


@pytest.mark.parametrize("name", FAILING)
def test_the_same_failure_can_happen_again(name):
    function, error = FAILING[name]
    x = tf.constant([1.0, 2.0])
    for _ in range(3):
        with pytest.raises(error):
            function(x)
    assert (x * x).numpy() == pytest.approx([1.0, 4.0])


def test_the_message_names_shapes_and_op():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.ones([2, 3]) + tf.ones([2, 4])
    assert all(text in str(caught.value) for text in ("[2,3]", "[2,4]", "AddV2"))


def test_an_index_out_of_range_raises_and_leaves_earlier_values():
    x = tf.constant([1.0, 2.0, 3.0])
    y = x * 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
        tf.gather(y, [7]).numpy()
    assert y.numpy() == pytest.approx([2.0, 4.0, 6.0])


def test_an_index_in_range_of_one_tensor_is_checked_against_the_next():
    indices = tf.constant([5])
    assert tf.gather(tf.zeros([6]), indices).numpy() == pytest.approx([0.0])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices\[0\] = 5 is not in \[0, 3\)"
    ):
        tf.gather(tf.zeros([3]), indices)


def test_an_index_that_is_computed_is_checked_when_it_is_known():
    x, start = tf.constant([1.0, 2.0, 3.0]), tf.Variable(2)
    index = start * 3  # known only when the program has run
    y = x * 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
        tf.gather(y, index).numpy()
    assert y.numpy() == pytest.approx([2.0, 4.0, 6.0])
    assert tf.gather(y, start).numpy() == pytest.approx(6.0)


def test_a_failed_value_inside_the_block_leaves_the_tape_usable():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x * x
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.gather(y, [9]).numpy()
        z = tf.reduce_sum(y)
    assert tape.gradient(z, x).numpy() == pytest.approx([2.0, 4.0, 6.0])


def test_integer_division_by_zero_raises():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"[Dd]ivision by zero"):
        (tf.constant([1, 2]) // tf.constant([1, 0])).numpy()


def test_a_wrong_output_gradient_raises_and_a_persistent_tape_stays():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0, 3.0]))
    assert tape.gradient(y, x).numpy() == pytest.approx([2.0, 4.0])


def test_a_wrong_assignment_raises_and_the_variable_keeps_its_value():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"[Ss]hape"):
        v.assign([1.0, 2.0, 3.0])
    assert v.numpy() == pytest.approx([1.0, 2.0])


def test_a_keyboard_interrupt_in_the_block_ends_the_tape():
    x = tf.Variable(3.0)
    with pytest.raises(KeyboardInterrupt), tf.GradientTape():  # noqa: PT012
        x * x
        raise KeyboardInterrupt
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x).numpy() == pytest.approx(6.0)

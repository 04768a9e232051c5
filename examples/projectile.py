"""The best angle to throw at: the gradient of a simulation whose length depends on the angle."""

import math

import tensorflow as tf

SPEED, GRAVITY, STEP = 20.0, 9.81, 0.01


@tf.function
def range_of(angle):
    """How far a stone flies, in metres: a compiled loop until it is below the ground."""
    x, y = tf.zeros_like(angle), tf.zeros_like(angle)
    horizontal, vertical = SPEED * tf.cos(angle), SPEED * tf.sin(angle)
    while y >= 0.0:
        x += STEP * horizontal
        y += STEP * vertical
        vertical -= STEP * GRAVITY
    # The last step ends below the ground: go back along the path to y = 0.
    return x - y / (vertical + STEP * GRAVITY) * horizontal


@tf.function
def improve(angle, steps):
    """Climb the slope of the range: a tape inside a loop inside a function."""
    for step in tf.range(steps):
        with tf.GradientTape() as tape:
            distance = range_of(angle)
        angle.assign_add(0.005 * tape.gradient(distance, angle))
        if step % 10 == 0:
            tf.print("step", step, "angle", angle * (180.0 / math.pi), "range", distance)
    return range_of(angle)


def main():
    """Find the angle, and check it: without a time step it is 45 degrees."""
    angle = tf.Variable(0.3)
    distance = float(improve(angle, 40))
    degrees = math.degrees(float(angle))
    best = SPEED**2 / GRAVITY
    print(f"best angle {degrees:.2f} degrees, range {distance:.2f} m (without steps: {best:.2f} m)")
    assert abs(degrees - 45.0) < 0.5
    assert abs(distance - best) < 0.2


if __name__ == "__main__":
    main()

"""Moves a net of masses and springs, with forces taken as minus the gradient of the energy.

Nothing about forces is derived by hand: the energy is written down, and the tape gives `-dV/dx`.
"""

import argparse

import numpy as np
import tensorflow as tf

STIFFNESS = 40.0  # newtons per metre
GRAVITY = 9.81  # metres per second squared
MASS = 0.1  # kilograms, of each node


def square_net(side):
    """Positions `[nodes, 2]` of a hanging net and the incidence matrix `[springs, nodes]`."""
    nodes = [(row, column) for row in range(side) for column in range(side)]
    springs = [(i, j) for i, p in enumerate(nodes) for j, q in enumerate(nodes[:i])
               if abs(p[0] - q[0]) + abs(p[1] - q[1]) == 1]  # fmt: skip
    incidence = np.zeros([len(springs), len(nodes)])
    for number, (i, j) in enumerate(springs):
        incidence[number, i], incidence[number, j] = 1.0, -1.0
    positions = np.array([(0.2 * column, -0.2 * row) for row, column in nodes])
    return tf.constant(positions), tf.constant(incidence)


def potential(x, incidence):
    """Energy in joules of springs of rest length 0.15 m, and of the masses in gravity."""
    length = tf.norm(incidence @ x, axis=1)
    springs = 0.5 * STIFFNESS * tf.reduce_sum((length - 0.15) ** 2)
    return springs + MASS * GRAVITY * tf.reduce_sum(x[:, 1])


def force(x, incidence):
    """Minus the gradient of the potential, `[nodes, 2]` in newtons."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        energy = potential(x, incidence)
    return -tape.gradient(energy, x)


def force_by_hand(x, incidence):
    """The same force from the textbook formula, to compare with."""
    difference = incidence @ x
    length = tf.norm(difference, axis=1, keepdims=True)
    tension = STIFFNESS * (length - 0.15) * difference / length
    weight = tf.constant([[0.0, -MASS * GRAVITY]], tf.float64)
    return weight - tf.transpose(incidence) @ tension


def total_energy(x, velocity, incidence):
    """Kinetic plus potential energy in joules."""
    return float(0.5 * MASS * tf.reduce_sum(velocity**2) + potential(x, incidence))


def main():
    """Let the net fall from rest, held by its upper row, and check that energy is conserved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=5, help="masses along one side of the net")
    parser.add_argument("--steps", type=int, default=1000, help="steps of one millisecond")
    options = parser.parse_args()
    x, incidence = square_net(options.side)
    error = tf.reduce_max(tf.abs(force(x, incidence) - force_by_hand(x, incidence)))
    print(f"largest difference from the force by hand: {float(error):.1e} N")
    assert error < 1e-12

    free = tf.reshape(tf.cast(tf.range(options.side**2) >= options.side, tf.float64), [-1, 1])
    step = 1e-3
    velocity = tf.zeros_like(x)
    start = total_energy(x, velocity, incidence)
    acceleration = free * force(x, incidence) / MASS
    drift = 0.0
    for number in range(1, options.steps + 1):
        velocity += 0.5 * step * acceleration  # velocity Verlet: half a kick, drift, half a kick
        x += step * velocity
        acceleration = free * force(x, incidence) / MASS
        velocity += 0.5 * step * acceleration
        if number % max(1, options.steps // 10) == 0:
            energy = total_energy(x, velocity, incidence)
            drift = max(drift, abs(energy - start))
            lowest = float(tf.reduce_min(x[:, 1]))
            print(
                f"t = {number * step:.2f} s  lowest mass at {lowest:+.3f} m  energy {energy:+.6f} J"
            )
    exchanged = float(0.5 * MASS * tf.reduce_sum(velocity**2)) + 1e-9
    print(f"energy drift {drift:.1e} J, kinetic energy now {exchanged:.1e} J")
    assert drift < 1e-3, f"the energy of a closed system moved by {drift} J"


if __name__ == "__main__":
    main()

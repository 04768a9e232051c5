"""The numbers each workload starts from: the same for every library, on every machine."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState

Array = np.ndarray[Any, Any]

PINN_VISCOSITY = 0.00318
MAML_TASKS = 4
MAML_RATE = 0.01
SGD_RATE = 0.01
ADAM_RATE = 1e-3
RNN_STEPS = 50


class Problem(NamedTuple):
    """What a workload computes on.

    Attributes:
        data: Arrays that stay as they are.
        parameters: Initial values of what is trained.
    """

    data: tuple[Array, ...]
    parameters: list[Array]


def _normal(random: RandomState, *shape: int) -> Array:
    return random.randn(*shape).astype(np.float32)


def _glorot(random: RandomState, *shape: int) -> Array:
    limit = np.sqrt(6.0 / (np.prod(shape[:-1]) + shape[-1]))
    return random.uniform(-limit, limit, shape).astype(np.float32)


def _dense_layers(random: RandomState, sizes: list[int]) -> list[Array]:
    """Weights `[n, m]` and bias `[m]` of each layer."""
    layers: list[Array] = []
    for inputs, outputs in pairwise(sizes):
        layers += [_glorot(random, inputs, outputs), np.zeros(outputs, np.float32)]
    return layers


def scalar() -> Problem:
    """One number."""
    return Problem((), [np.float32(3.0)])  # pyright: ignore[reportArgumentType]


def linear_regression() -> Problem:
    """100 examples of 3 features."""
    random = RandomState(0)
    data = (_normal(random, 100, 3), _normal(random, 100, 1))
    return Problem(data, [_normal(random, 3, 1), np.zeros(1, np.float32)])


def mlp() -> Problem:
    """A batch of 64 images of 784 pixels, for a network 784-128-10."""
    random = RandomState(0)
    data = (_normal(random, 64, 784), random.randint(0, 10, 64).astype(np.int32))
    return Problem(data, _dense_layers(random, [784, 128, 10]))


def pinn() -> Problem:
    """256 points (x, t) for a network 2-50-50-50-1."""
    random = RandomState(0)
    x = random.uniform(-1, 1, (256, 1)).astype(np.float32)
    t = random.uniform(0, 1, (256, 1)).astype(np.float32)
    return Problem((x, t), _dense_layers(random, [2, 50, 50, 50, 1]))


def cnn() -> Problem:
    """A batch of 32 images 28x28 for two 3x3 convolutions of 16 and 32 filters."""
    random = RandomState(0)
    data = (_normal(random, 32, 28, 28, 1), random.randint(0, 10, 32).astype(np.int32))
    parameters = [
        _glorot(random, 3, 3, 1, 16),
        np.zeros(16, np.float32),
        _glorot(random, 3, 3, 16, 32),
        np.zeros(32, np.float32),
    ]
    return Problem(data, parameters + _dense_layers(random, [7 * 7 * 32, 10]))


def maml() -> Problem:
    """Four sine curves, 10 points to adapt on and 10 to test, for a network 1-40-40-1.

    The data are `x, y, x_test, y_test` of the first task, then of the second, and so on.
    """
    random = RandomState(0)
    data: list[Array] = []
    for _ in range(MAML_TASKS):
        amplitude, phase = random.uniform(0.1, 5), random.uniform(0, np.pi)
        for _ in range(2):
            x = random.uniform(-5, 5, (10, 1))
            y = amplitude * np.sin(x + phase)
            data += [x.astype(np.float32), y.astype(np.float32)]
    return Problem(tuple(data), _dense_layers(random, [1, 40, 40, 1]))


def rnn() -> Problem:
    """32 sequences of 50 steps of 16 features, for 64 units."""
    random = RandomState(0)
    data = (_normal(random, 32, RNN_STEPS, 16), _normal(random, 32, 4))
    parameters = [
        _glorot(random, 16, 64),
        _glorot(random, 64, 64),
        np.zeros(64, np.float32),
        _glorot(random, 64, 4),
    ]
    return Problem(data, parameters)


def jacobian() -> Problem:
    """One point for a network 64-64-64."""
    random = RandomState(0)
    return Problem((_normal(random, 1, 64),), _dense_layers(random, [64, 64, 64]))

"""`python -m benchmarks.convolutions`: training steps with few and with many channels.

Two convolutions with pooling on 28x28 images in batches of 32, inside `tf.function`, here and in
TensorFlow in turns in one process. Besides the least wall time there is the least processor time,
which other processes of a busy machine disturb less. Times decide nothing; losses that differ do.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import worker

CHANNELS = ((8, 16), (16, 32), (32, 64), (64, 128))
LIBRARIES = ("tapejax", "tensorflow")
RATE = 0.01
TOLERANCE = 1e-4


def _step(tf: Any, first: int, second: int) -> Callable[[], float]:
    random = np.random.RandomState(0)

    def normal(*shape: int) -> Any:
        return (random.randn(*shape) / np.sqrt(np.prod(shape[:-1]))).astype(np.float32)

    images = tf.constant(normal(32, 28, 28, 1))
    labels = tf.constant(random.randint(0, 10, 32).astype(np.int32))
    shapes = ((3, 3, 1, first), (first,), (3, 3, first, second), (second,))
    starts = [normal(*shape) if len(shape) > 1 else np.zeros(shape, np.float32) for shape in shapes]
    starts += [normal(49 * second, 10), np.zeros(10, np.float32)]
    variables = [tf.Variable(start) for start in starts]
    k1, b1, k2, b2, w, b = variables

    def step() -> Any:
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.conv2d(images, k1, 1, "SAME") + b1)
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            h = tf.nn.relu(tf.nn.conv2d(h, k2, 1, "SAME") + b2)
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            logits = tf.matmul(tf.reshape(h, [32, -1]), w) + b
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(RATE * gradient)
        return loss

    function = tf.function(step, autograph=False)
    return lambda: float(function())


def measure(first: int, second: int, turns: int) -> dict[str, Any]:
    """The losses, and the least wall and processor seconds, of each library's step.

    Args:
        first: Filters of the first convolution.
        second: Filters of the second.
        turns: How often each runs.
    """
    steps = {name: _step(importlib.import_module(name), first, second) for name in LIBRARIES}
    losses = {name: [step() for _ in range(3)] for name, step in steps.items()}
    best = {name: [math.inf, math.inf] for name in LIBRARIES}
    for _ in range(turns):
        for name, step in steps.items():
            wall, used = time.perf_counter(), time.process_time()
            step()
            spent = time.perf_counter() - wall, time.process_time() - used
            best[name] = [min(pair) for pair in zip(best[name], spent, strict=True)]
    return {"losses": losses, "best": best}


def main() -> int:
    """Measure and print; 1 if losses disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.convolutions", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a run to see that all works")
    options = parser.parse_args()
    turns, wrong = 1 if options.smoke else 60, 0
    print(f"{'filters':<10}{'TensorFlow, ms':>16}{'ratio':>8}{'processor, ms':>16}{'ratio':>8}")
    for first, second in CHANNELS:
        found = worker.call("convolutions.measure", first=first, second=second, turns=turns)
        ours, theirs = (found["best"][name] for name in LIBRARIES)
        pairs = [f"{t * 1e3:>16.2f}{o / t:>8.3f}" for o, t in zip(ours, theirs, strict=True)]
        print(f"{f'{first}, {second}':<10}{''.join(pairs)}")
        mine, other = (found["losses"][name] for name in LIBRARIES)
        if not np.allclose(mine, other, rtol=TOLERANCE):
            print(f"ERROR: losses {mine} and {other}", file=sys.stderr)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())

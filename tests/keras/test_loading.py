"""How `tf.keras` finds Keras: lazily, on the JAX backend, with errors that say what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(code: str, **environment: str) -> str:
    """The output of code in a fresh interpreter."""
    finished = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def test_every_way_of_importing_gives_keras_own_objects() -> None:
    code = """
import sys
import tapejax as tf
assert "keras" not in sys.modules
from tapejax.keras import layers, Model
from tapejax.keras.layers import Dense
from tapejax.keras.applications.vgg19 import preprocess_input
from tapejax.keras.losses import *
import tapejax.keras.models as models
import keras
assert Dense is layers.Dense is tf.keras.layers.Dense is keras.layers.Dense
assert Model is keras.Model and models.Sequential is keras.Sequential
assert Huber is keras.losses.Huber
assert tf.keras.losses.mean_squared_error is keras.losses.mean_squared_error
assert tf.keras.optimizers.Adam.__module__.startswith("tapejax.")
for name in ("layers.Dens", "Sequentail"):
    try:
        eval("tf.keras." + name)
    except AttributeError as error:
        print(error)
"""
    assert "tapejax has no `tf.keras.Sequentail`" in run(code)


def test_a_program_that_imports_keras_by_itself_is_noticed() -> None:
    code = """
import keras
class Doubled(keras.layers.Layer):
    def call(self, x):
        return x * 2.0 + 0.0 * x.shape.as_list()[0]
import numpy as np
import tapejax as tf
model = keras.Sequential([Doubled(), keras.layers.Dense(1, kernel_initializer="ones")])
x = tf.constant(np.ones((3, 2), np.float32))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = model(x)
print(tape.gradient(y, x).numpy().tolist())
"""
    assert run(code, KERAS_BACKEND="jax") == "[[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]"


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ("sys.modules['keras'] = None", "pip install 'tapejax[keras]'"),
        (
            "keras = types.ModuleType('keras'); keras.Variable = keras.StatelessScope = object; "
            "keras.backend = types.SimpleNamespace(backend=lambda: 'torch'); "
            "sys.modules['keras'] = keras",
            "Keras was loaded with the 'torch' backend",
        ),
        (
            "keras = types.ModuleType('keras'); keras.Variable = object; "
            "keras.__version__ = '2.15.0'; sys.modules['keras'] = keras",
            "needs Keras 3.11 or newer, but keras 2.15.0 is installed",
        ),
    ],
)
def test_a_keras_that_will_not_do_is_named(setup: str, message: str) -> None:
    code = f"""
import sys, types
{setup}
import tapejax as tf
assert tf.keras.optimizers.SGD(0.1).learning_rate is not None
try:
    tf.keras.layers.Dense
except ImportError as error:
    print(error)
"""
    assert message in run(code)

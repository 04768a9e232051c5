"""Write optimizers.json: what Keras 3 computes on its TensorFlow backend, in float32.

KERAS_BACKEND=tensorflow python tests/golden/regenerate_optimizers.py
"""

from __future__ import annotations

import json
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from optimizer_runs import (
    PATH,
    RUNS,
    SCHEDULE_STEPS,
    SCHEDULES,
    gradients,
    make,
    make_schedule,
    start,
)


def _flat(arrays: Any) -> list[list[float]]:
    return [np.asarray(a, np.float64).reshape(-1).tolist() for a in arrays]


def _run(run: str) -> dict[str, Any]:
    optimizer = make(keras.optimizers, run)
    variables = [tf.Variable(value, name=name) for name, value in start().items()]
    trajectory = []
    for grads in gradients():
        optimizer.apply_gradients(zip([tf.constant(g) for g in grads], variables, strict=True))
        trajectory.append(_flat(v.numpy() for v in variables))
    return {
        "trajectory": trajectory,
        "names": [v.name for v in optimizer.variables],
        "state": _flat(v.numpy() for v in optimizer.variables),
        "config": optimizer.get_config(),
    }


def main() -> None:
    """Write the file."""
    found = {
        "keras": keras.__version__,
        "runs": {run: _run(run) for run in RUNS},
        "schedules": {
            name: [
                float(make_schedule(keras.optimizers.schedules, name)(s)) for s in SCHEDULE_STEPS
            ]
            for name in SCHEDULES
        },
    }
    PATH.write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()

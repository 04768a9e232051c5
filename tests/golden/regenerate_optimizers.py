"""Write optimizers.json: what Keras 3 computes on its JAX backend.

KERAS_BACKEND=jax python tests/golden/regenerate_optimizers.py
"""

from __future__ import annotations

import json
import re
from typing import Any

import jax
import keras
import numpy as np
from optimizer_runs import (
    DTYPES,
    PATH,
    RECORDED,
    RUNS,
    SCHEDULE_STEPS,
    SCHEDULES,
    gradients,
    make,
    make_schedule,
    start,
)

_DIGITS = {"float32": 8, "float64": 9}


def _flat(arrays: Any, dtype: str) -> list[list[float]]:
    digits = _DIGITS[dtype]
    return [[float(f"{x:.{digits}g}") for x in np.ravel(np.asarray(a, float))] for a in arrays]


def _run(run: str, dtype: str) -> dict[str, Any]:
    optimizer = make(keras.optimizers, run)
    variables = [keras.Variable(value, name=name) for name, value in start(dtype).items()]
    optimizer.build(variables)
    params, state = [v.value for v in variables], [v.value for v in optimizer.variables]
    step = jax.jit(optimizer.stateless_apply)
    trajectory = []
    for number, grads in enumerate(gradients(dtype)):
        params, state = step(state, grads, params)
        if number in RECORDED:
            trajectory.append(_flat(params, dtype))
    return {
        "trajectory": trajectory,
        "names": [re.sub(r"^variable_\d+$", "variable", v.name) for v in optimizer.variables],
        "state": _flat(state, dtype),
        "config": optimizer.get_config(),
    }


def main() -> None:
    """Write the file."""
    jax.config.update("jax_enable_x64", True)
    runs: dict[str, Any] = {}
    for run in RUNS:
        found = {dtype: _run(run, dtype) for dtype in DTYPES[run]}
        names = {key: next(f[key] for f in found.values()) for key in ("names", "config")}
        kept = ("trajectory", "state")
        runs[run] = names | {d: {key: f[key] for key in kept} for d, f in found.items()}
    schedules = {
        name: [float(make_schedule(keras.optimizers.schedules, name)(s)) for s in SCHEDULE_STEPS]
        for name in SCHEDULES
    }
    found = {"keras": keras.__version__, "runs": runs, "schedules": schedules}
    PATH.write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()

"""The runs recorded in optimizers.json: optimizers, schedules and the gradients they are given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).with_name("optimizers.json")
STEPS = 20
SHAPES = {"kernel": (3, 2), "bias": (2,), "scale": ()}

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"learning_rate": 0.1}),
    "sgd_momentum": ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    "sgd_nesterov": ("SGD", {"learning_rate": 0.1, "momentum": 0.8, "nesterov": True}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.01}),
    "rmsprop_momentum": ("RMSprop", {"learning_rate": 0.01, "momentum": 0.5}),
    "rmsprop_centered": (
        "RMSprop",
        {"learning_rate": 0.01, "rho": 0.8, "momentum": 0.5, "centered": True, "epsilon": 1e-3},
    ),
    "adam": ("Adam", {"learning_rate": 0.01}),
    "adam_betas": ("Adam", {"learning_rate": 0.05, "beta_1": 0.7, "beta_2": 0.9, "epsilon": 1e-2}),
    "adam_amsgrad": ("Adam", {"learning_rate": 0.01, "amsgrad": True}),
    "adam_clipnorm": ("Adam", {"learning_rate": 0.01, "clipnorm": 0.5}),
    "sgd_clipnorm": ("SGD", {"learning_rate": 0.1, "clipnorm": 0.5}),
    "sgd_clipvalue": ("SGD", {"learning_rate": 0.1, "clipvalue": 0.3}),
    "sgd_global_clipnorm": ("SGD", {"learning_rate": 0.1, "global_clipnorm": 0.5}),
    "sgd_decay": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.02}),
    "adam_decay": ("Adam", {"learning_rate": 0.01, "weight_decay": 0.1}),
    "adam_scaled": ("Adam", {"learning_rate": 0.01, "loss_scale_factor": 8.0}),
    "sgd_ema": (
        "SGD",
        {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 7},
    ),
    "adam_accumulated": ("Adam", {"learning_rate": 0.01, "gradient_accumulation_steps": 4}),
    "sgd_schedule": ("SGD", {"learning_rate": "exponential", "momentum": 0.9}),
}

SCHEDULES: dict[str, tuple[str, dict[str, Any]]] = {
    "exponential": (
        "ExponentialDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.9},
    ),
    "exponential_staircase": (
        "ExponentialDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.9, "staircase": True},
    ),
    "piecewise": (
        "PiecewiseConstantDecay",
        {"boundaries": [5, 20, 60], "values": [1.0, 0.5, 0.25, 0.1]},
    ),
    "polynomial": (
        "PolynomialDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 50, "end_learning_rate": 0.01, "power": 0.5},
    ),
    "polynomial_cycle": (
        "PolynomialDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 30, "power": 2.0, "cycle": True},
    ),
    "inverse": (
        "InverseTimeDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.5},
    ),
    "inverse_staircase": (
        "InverseTimeDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.5, "staircase": True},
    ),
    "cosine": (
        "CosineDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 70, "alpha": 0.1},
    ),
    "cosine_warmup": (
        "CosineDecay",
        {
            "initial_learning_rate": 0.0,
            "decay_steps": 50,
            "warmup_target": 0.1,
            "warmup_steps": 10,
        },
    ),
    "restarts": (
        "CosineDecayRestarts",
        {"initial_learning_rate": 0.1, "first_decay_steps": 10, "alpha": 0.05},
    ),
    "restarts_equal": (
        "CosineDecayRestarts",
        {"initial_learning_rate": 0.1, "first_decay_steps": 10, "t_mul": 1.0, "m_mul": 0.8},
    ),
}
SCHEDULE_STEPS = tuple(range(0, 101))


def start() -> dict[str, np.ndarray]:
    """The initial values of the variables."""
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}


def gradients() -> Iterator[list[np.ndarray]]:
    """Gradients of each step: of very different sizes, and now and then all zero."""
    rng = np.random.default_rng(1)
    for step in range(STEPS):
        size = 0.0 if step == 6 else 10.0 ** rng.uniform(-3, 1)
        yield [np.asarray(size * rng.normal(size=shape), np.float32) for shape in SHAPES.values()]


def make(optimizers: Any, run: str) -> Any:
    """The optimizer of a run, from `keras.optimizers` or our module of that form."""
    kind, arguments = RUNS[run]
    arguments = dict(arguments)
    if isinstance(arguments["learning_rate"], str):
        arguments["learning_rate"] = make_schedule(optimizers.schedules, arguments["learning_rate"])
    return getattr(optimizers, kind)(name=kind.lower(), **arguments)


def make_schedule(schedules: Any, name: str) -> Any:
    """A schedule of the table."""
    kind, arguments = SCHEDULES[name]
    return getattr(schedules, kind)(**arguments)

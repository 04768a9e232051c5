"""The runs recorded in optimizers.json: optimizers, schedules and the gradients they are given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).with_name("optimizers.json")
STEPS = 50
RECORDED = (1, 6, 49)
"""The steps after which the variables are recorded."""
SHAPES = {"kernel": (3, 2), "bias": (2,), "scale": (), "filters": (2, 3, 2)}

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
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
    "adamw": ("AdamW", {"learning_rate": 0.01}),
    "adamw_amsgrad": ("AdamW", {"learning_rate": 0.01, "amsgrad": True, "weight_decay": 0.1}),
    "adamax": ("Adamax", {"learning_rate": 0.01}),
    "nadam": ("Nadam", {"learning_rate": 0.01}),
    "adagrad": ("Adagrad", {"learning_rate": 0.1}),
    "adagrad_zero": ("Adagrad", {"learning_rate": 0.1, "initial_accumulator_value": 0.0}),
    "adadelta": ("Adadelta", {"learning_rate": 1.0}),
    "ftrl": ("Ftrl", {"learning_rate": 0.1}),
    "ftrl_penalties": (
        "Ftrl",
        {
            "learning_rate": 0.1,
            "learning_rate_power": -0.6,
            "l1_regularization_strength": 0.05,
            "l2_regularization_strength": 0.1,
            "l2_shrinkage_regularization_strength": 0.02,
            "beta": 0.1,
        },
    ),
    "lion": ("Lion", {"learning_rate": 0.01}),
    "adafactor": ("Adafactor", {"learning_rate": 0.05}),
    "adafactor_betas": (
        "Adafactor",
        {"learning_rate": 0.5, "beta_2_decay": -0.5, "clip_threshold": 0.5, "epsilon_2": 0.1},
    ),
    "lamb": ("Lamb", {"learning_rate": 0.01}),
    "muon": ("Muon", {"learning_rate": 0.01}),
    "muon_plain": (
        "Muon",
        {"learning_rate": 0.01, "nesterov": False, "rms_rate": None, "adam_lr_ratio": 0.5},
    ),
    "muon_excluded": ("Muon", {"learning_rate": 0.01, "exclude_layers": ["ker.*"]}),
    "schedule_free": ("ScheduleFreeAdamW", {"learning_rate": 0.01}),
    "schedule_free_warmup": ("ScheduleFreeAdamW", {"learning_rate": 0.01, "warmup_steps": 7}),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "clipnorm": {"clipnorm": 0.5},
    "clipvalue": {"clipvalue": 0.3},
    "global_clipnorm": {"global_clipnorm": 0.5},
    "decay": {"weight_decay": 0.1},
    "scaled": {"loss_scale_factor": 8.0},
    "ema": {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 7},
    "averaged": {"use_ema": True, "ema_momentum": 0.8},
    "accumulated": {"gradient_accumulation_steps": 4},
    "schedule": {"learning_rate": "exponential"},
}
"""One at a time, for two classes."""
COMBINED: dict[str, dict[str, Any]] = {
    "clipnorm_scheduled": {"clipnorm": 0.5, "learning_rate": "exponential"},
    "global_clipnorm_decayed": {"global_clipnorm": 0.5, "weight_decay": 0.1},
    "accumulated_averaged": {"gradient_accumulation_steps": 4, "use_ema": True},
    "everything": {
        "clipvalue": 0.3,
        "weight_decay": 0.1,
        "loss_scale_factor": 8.0,
        "use_ema": True,
        "ema_momentum": 0.9,
        "ema_overwrite_frequency": 3,
        "gradient_accumulation_steps": 2,
        "learning_rate": "cosine",
    },
}
"""Every option is in one of these, which every class is given."""
_FIRST = {kind: run for run, (kind, _) in reversed(KINDS.items())}
"""The plainest run of each class."""
RUNS = (
    KINDS
    | {
        f"{run}_{option}": (KINDS[run][0], KINDS[run][1] | added)
        for run in ("sgd", "adam")
        for option, added in OPTIONS.items()
    }
    | {
        f"{run}_{option}": (kind, KINDS[run][1] | added)
        for kind, run in _FIRST.items()
        for option, added in COMBINED.items()
    }
)
DTYPES = {
    run: ("float64", "float32") if run in KINDS or run.endswith("everything") else ("float64",)
    for run in RUNS
}
"""The dtypes in which each run is made: options do the same in both."""

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


def start(dtype: str = "float32") -> dict[str, np.ndarray]:
    """The initial values of the variables."""
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=shape).astype(dtype) for name, shape in SHAPES.items()}


def gradients(dtype: str = "float32") -> Iterator[list[np.ndarray]]:
    """Gradients of each step: of very different sizes, and now and then all zero."""
    rng = np.random.default_rng(1)
    for step in range(STEPS):
        size = 0.0 if step == 6 else 10.0 ** rng.uniform(-3, 1)
        yield [np.asarray(size * rng.normal(size=shape), dtype) for shape in SHAPES.values()]


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

"""What `tapejax env` prints: versions, devices, settings."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import os
import platform
from typing import Any

import jax

from tapejax._src.core.config import SETTINGS

PACKAGES = ("tapejax", "jax", "jaxlib", "numpy", "optax", "keras")
ENVIRONMENT_PREFIXES = ("JAX_", "TAPEJAX_", "XLA_", "CUDA_VISIBLE_DEVICES", "KERAS_BACKEND")
JAX_SETTINGS = (
    "jax_compilation_cache_dir",
    "jax_cpu_enable_async_dispatch",
    "jax_debug_nans",
    "jax_default_matmul_precision",
    "jax_disable_jit",
    "jax_enable_x64",
    "jax_numpy_dtype_promotion",
    "jax_platforms",
)


def version_of(package: str) -> str:
    """The installed version of a package, or `not installed`, without importing it."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def environment() -> dict[str, Any]:
    """Look at this process: versions, devices and settings.

    Returns:
        Four entries: `versions` (package to version), `platform` (a text, and the number of CPU
        cores), `devices` (one entry each, as JAX sees them), `settings` (of tapejax, of JAX, and
        the environment variables behind them). Only values that JSON can hold.
    """
    versions = {"python": platform.python_version()}
    versions |= {package: version_of(package) for package in PACKAGES}
    flags = jax.config.values
    jax_settings = {name: flags[name] for name in JAX_SETTINGS if name in flags}
    variables = {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(ENVIRONMENT_PREFIXES)
    }
    return {
        "versions": versions,
        "platform": {"system": platform.platform(), "cpu_cores": os.cpu_count()},
        "devices": _devices(),
        "settings": {
            "tapejax": dataclasses.asdict(SETTINGS),
            "jax": jax_settings,
            "environment": variables,
        },
    }


def _devices() -> list[dict[str, Any]]:
    try:
        devices = jax.devices()
    except RuntimeError as error:  # no usable back end: the very thing a user wants to see here
        return [{"error": str(error)}]
    return [
        {
            "id": device.id,
            "kind": device.device_kind,
            "platform": device.platform,
            "process": device.process_index,
        }
        for device in devices
    ]


def to_json(found: dict[str, Any]) -> str:
    """The environment as one JSON object."""
    return json.dumps(found, indent=2, default=str)


def describe(found: dict[str, Any]) -> str:
    """The environment as aligned lines, one fact each.

    Args:
        found: What `environment` returned.

    Returns:
        Text with a heading for each group.
    """
    lines = ["versions", *_aligned(found["versions"])]
    lines += ["platform", *_aligned(found["platform"])]
    lines += ["devices"]
    for device in found["devices"]:
        lines.append("  " + ", ".join(f"{key} {value}" for key, value in device.items()))
    settings = found["settings"]
    lines += ["settings", *_aligned(settings["tapejax"] | settings["jax"])]
    lines += ["environment", *(_aligned(settings["environment"]) or ["  none set"])]
    return "\n".join(lines)


def _aligned(facts: dict[str, Any]) -> list[str]:
    width = max(map(len, facts), default=0)
    return [f"  {name:<{width}}  {value}" for name, value in facts.items()]

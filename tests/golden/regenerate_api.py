"""Write `tf_api.json`: TensorFlow's public names, parameter names and defaults.

    python tests/golden/regenerate_api.py

Run it with the TensorFlow version that tapejax follows; `test_surface.py` checks that the file is
what the installed TensorFlow says, and reads tapejax with the same functions.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import operator
from pathlib import Path
from types import ModuleType
from typing import Any

GOLDEN = Path(__file__).with_name("tf_api.json")
NAMESPACES = (
    "",
    "audio",
    "autodiff",
    "config",
    "config.experimental",
    "config.optimizer",
    "data",
    "data.experimental",
    "debugging",
    "distribute",
    "distribute.cluster_resolver",
    "distribute.experimental",
    "dtypes",
    "errors",
    "experimental.numpy",
    "experimental.numpy.random",
    "image",
    "io",
    "linalg",
    "lookup",
    "math",
    "nest",
    "nn",
    "profiler",
    "profiler.experimental",
    "profiler.experimental.client",
    "profiler.experimental.server",
    "quantization",
    "queue",
    "ragged",
    "random",
    "sets",
    "signal",
    "sparse",
    "strings",
    "summary",
    "summary.experimental",
    "sysconfig",
    "test",
    "tpu.experimental",
    "train",
)


def public_names(module: ModuleType) -> list[str]:
    """Names without a leading underscore."""
    return sorted(name for name in dir(module) if not name.startswith("_"))


def describe_default(value: Any) -> str:
    """A default as text that is equal in both libraries when the defaults mean the same."""
    if type(value).__name__ == "DType":
        return f"tf.{value.name}"
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, (bool, int, float, complex, str, tuple, list, dict)):
        return repr(value)
    return f"<{getattr(value, '__name__', type(value).__name__)}>"


def describe_callable(function: Any) -> list[str] | None:
    """Each parameter as `name`, `name=default`, `*name`, or `*, name` when keyword only."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built-in classes have none
        return None
    prefix = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**", "KEYWORD_ONLY": "*, "}
    described: list[str] = []
    for parameter in signature.parameters.values():
        text = prefix.get(parameter.kind.name, "") + parameter.name
        if parameter.default is not inspect.Parameter.empty:
            text += "=" + describe_default(parameter.default)
        described.append(text)
    return described


def describe(found: Any) -> dict[str, Any]:
    """The kind of a public object and what can be called on it."""
    if isinstance(found, ModuleType):
        return {"kind": "module"}
    if inspect.isclass(found):
        methods = {
            name: describe_callable(member)
            for name, member in inspect.getmembers(found, inspect.isroutine)
            if not name.startswith("_")
        }
        return {"kind": "class", "parameters": describe_callable(found), "methods": methods}
    if callable(found):
        return {"kind": "function", "parameters": describe_callable(found)}
    return {"kind": "value", "value": describe_default(found)}


def describe_module(module: ModuleType) -> dict[str, Any]:
    """All public names of one namespace."""
    return {name: describe(getattr(module, name)) for name in public_names(module)}


def describe_library(tf: ModuleType) -> dict[str, Any]:
    """Every namespace that the golden covers, keyed by its path below `tf`."""
    return {
        namespace: describe_module(operator.attrgetter(namespace)(tf) if namespace else tf)
        for namespace in NAMESPACES
    }


def main() -> None:
    """Write the golden file from the installed TensorFlow."""
    tensorflow = importlib.import_module("tensorflow")
    described = describe_library(tensorflow)
    golden = {"tensorflow": tensorflow.__version__, "namespaces": described}
    GOLDEN.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()

"""Which modules are libraries, whose functions run as they are."""

from __future__ import annotations

import sys

_THIRD_PARTY = frozenset(
    (
        "IPython",
        "_pytest",
        "absl",
        "chex",
        "equinox",
        "flax",
        "grain",
        "haiku",
        "hypothesis",
        "ipykernel",
        "jax",
        "jaxlib",
        "keras",
        "matplotlib",
        "ml_dtypes",
        "numpy",
        "optax",
        "orbax",
        "pandas",
        "pluggy",
        "pytest",
        "scipy",
        "sklearn",
        "tapejax",
        "tensorflow",
        "tf_keras",
        "torch",
        "tqdm",
    )
)
_LIBRARIES = (_THIRD_PARTY | sys.stdlib_module_names) - {"__main__"}


def is_library(module_name: object) -> bool:
    """Whether functions of a module are left alone: its first component is a known library.

    Args:
        module_name: The module's `__name__`; None for code without a module.

    Returns:
        True for the standard library, tapejax and what it is used with; False for user code.
    """
    return isinstance(module_name, str) and module_name.partition(".")[0] in _LIBRARIES

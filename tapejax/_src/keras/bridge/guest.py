"""Loading Keras: on its JAX backend, when a program first asks for it, with the hooks in place."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from tapejax._src.core.arrivals import ARRIVALS
from tapejax._src.keras.bridge import hooks
from tapejax._src.keras.old_spellings import tables
from tapejax._src.keras.old_spellings.uses import note

BACKEND = "KERAS_BACKEND"
ON_LOAD: list[Callable[[Any], None]] = []
"""What else is done to Keras once its hooks are in place; called each time it is asked for."""


def load() -> Any:
    """The Keras module, ready for tapes.

    Raises:
        ImportError: If Keras is not installed, too old, or was loaded with another backend.
    """
    loaded = sys.modules.get("keras")
    if loaded is None or not hasattr(loaded, "Variable"):
        os.environ[BACKEND] = "jax"
        try:
            loaded = importlib.import_module("keras")
        except ModuleNotFoundError as error:
            if error.name != "keras":
                raise
            raise ImportError(
                "tf.keras is Keras 3, which is not installed. Write: pip install 'tapejax[keras]'. "
                "tf.keras.optimizers needs no Keras.",
                name="keras",
            ) from None
    _check(loaded)
    hooks.install(loaded)
    for action in ON_LOAD:
        action(loaded)
    return loaded


def is_loaded() -> bool:
    """Whether the hooks are in a Keras that the program uses."""
    return hasattr(sys.modules.get("keras"), hooks.DONE)


def _check(keras: Any) -> None:
    if not hasattr(keras, "StatelessScope"):
        raise ImportError(
            f"tf.keras needs Keras 3.11 or newer, but keras {getattr(keras, '__version__', '?')} "
            "is installed. Write: pip install -U 'tapejax[keras]'.",
            name="keras",
        )
    backend = keras.backend.backend()
    if backend != "jax":
        raise ImportError(
            f"Keras was loaded with the {backend!r} backend before tapejax needed it, and keeps "
            "it. tapejax needs the JAX backend: import tapejax first, or set the environment "
            "variable KERAS_BACKEND=jax.",
            name="keras",
        )


def adopt_if_loaded() -> None:
    """Put the hooks into a Keras that the program imported by itself, on the JAX backend."""
    keras = sys.modules.get("keras")
    if keras is None or not hasattr(keras, "StatelessScope"):
        return
    if keras.backend.backend() == "jax":
        load()


ARRIVALS.register("keras", adopt_if_loaded)


class GuestPath:
    """Where the submodules of `tf.keras` are found: our own files, then Keras' for TensorFlow.

    Keras ships a tree of modules for `tf.keras` that only re-export. It is looked into only for a
    name that is not ours, so that importing tapejax does not load Keras.
    """

    def __init__(self, own: str) -> None:
        self.own = own

    def __iter__(self) -> Iterator[str]:
        yield self.own
        try:
            load()
            tree: ModuleType = importlib.import_module("keras._tf_keras.keras")
        except ImportError:
            return
        yield from tree.__path__

    def __repr__(self) -> str:
        return f"GuestPath({self.own!r})"


def attribute(module: str, name: str) -> Any:
    """What Keras has under a name of `tf.keras` or of a module below it.

    Keras' tree for TensorFlow comes first, then its own, which has some names more.

    Args:
        module: The public module's full name, such as `tapejax.keras.losses`.
        name: The name; `__all__` gives every name there is.

    Raises:
        AttributeError: If Keras has no such name.
    """
    old, module = module, tables.SAME_AS.get(module, module)
    inner = module.removeprefix("tapejax.keras")
    places: list[ModuleType] = []
    for root in ("keras._tf_keras.keras", "keras"):
        try:
            places.append(importlib.import_module(root + inner))
        except ModuleNotFoundError:
            continue
    if name == "__all__":
        return sorted({n for place in places for n in dir(place) if not n.startswith("_")})
    modern = tables.NAMES.get(f"keras{inner}.{name}", name)
    if f"{old}.{name}" in tables.OLD_MODULES:
        return importlib.import_module(f"{old}.{name}")
    if modern != name or old in tables.OLD_MODULES:
        note(f"tf.{old.removeprefix('tapejax.')}.{name}", f"tf.keras{inner}.{modern}")
    for place in places:
        value = getattr(place, modern, None)
        if isinstance(value, ModuleType):
            if name == "src":  # Keras' private package
                continue
            return _submodule(module, name, value)
        if value is not None:
            return value
    raise AttributeError(name)


def _submodule(module: str, name: str, found: ModuleType) -> ModuleType:
    """Our module of this name, or Keras' own where there is none."""
    try:
        return importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return found

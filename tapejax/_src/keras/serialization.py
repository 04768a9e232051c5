"""Optimizers by name and as plain data: `get`, `serialize`, `deserialize`."""

from __future__ import annotations

from typing import Any, TypeVar

from tapejax._src.engine.registry import public
from tapejax._src.keras.optimizer import Optimizer

_MODULE = "keras.optimizers"

C = TypeVar("C")

KNOWN: dict[str, type[Any]] = {}
"""Lower-case class name -> class, of everything in `tf.keras.optimizers`."""


def export(cls: type[C], *paths: str) -> type[C]:
    """Name a class in `tf.keras.optimizers` and `tf.optimizers`, and know it by its name.

    Args:
        cls: The class.
        *paths: Further public paths.

    Returns:
        The class.
    """
    public(f"keras.optimizers.{cls.__name__}", f"optimizers.{cls.__name__}", *paths)(cls)
    KNOWN[cls.__name__.lower()] = cls
    return cls


@public("keras.optimizers.serialize", "optimizers.serialize")
def serialize(optimizer: Any) -> dict[str, Any]:
    """An optimizer's class and configuration as plain data, in Keras' format, without its state.

    Args:
        optimizer: The optimizer.

    Returns:
        A dict that `deserialize` makes an equal optimizer of.

    Example:
        >>> import tapejax as tf
        >>> data = tf.keras.optimizers.serialize(tf.keras.optimizers.SGD(0.5))
        >>> data["class_name"], data["config"]["learning_rate"]
        ('SGD', 0.5)
    """
    cls = type(optimizer)
    ours = KNOWN.get(cls.__name__.lower()) is cls
    return {
        "module": _MODULE if ours else None,
        "class_name": cls.__name__,
        "config": optimizer.get_config(),
        "registered_name": None if ours else cls.__name__,
    }


@public("keras.optimizers.deserialize", "optimizers.deserialize")
def deserialize(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """The optimizer that `serialize` described.

    Args:
        config: What `serialize` returned. The names of built-in classes may be in any case.
        custom_objects: Class names -> classes, for optimizers and schedules of your own.

    Returns:
        A new optimizer.

    Raises:
        TypeError: If the class is not known.

    Example:
        >>> import tapejax as tf
        >>> optimizers = tf.keras.optimizers
        >>> config = {"class_name": "adam", "config": {"learning_rate": 0.5}}
        >>> type(optimizers.deserialize(config)).__name__
        'Adam'
    """
    name = str(config["class_name"])
    found = (custom_objects or {}).get(name)
    # A class of the user's may be called as one of ours: its description has no module.
    if found is None and config.get("registered_name") is None:
        found = KNOWN.get(name.lower())
    if found is None:
        raise TypeError(
            f"Cannot deserialize object of type `{name}`. If it is a class of your own, pass "
            f"custom_objects={{{name!r}: {name}}}. Known are "
            f"{', '.join(sorted(cls.__name__ for cls in KNOWN.values()))}."
        )
    return found.from_config(dict(config.get("config") or {}), custom_objects=custom_objects)


@public("keras.optimizers.get", "optimizers.get")
def get(identifier: Any) -> Any:
    """An optimizer from its name, its description or itself.

    Args:
        identifier: A name such as "adam", what `serialize` returned, an optimizer, or None.

    Returns:
        The optimizer; None for None.

    Raises:
        ValueError: If there is no such optimizer.

    Example:
        >>> import tapejax as tf
        >>> type(tf.keras.optimizers.get("rmsprop")).__name__
        'RMSprop'
    """
    if identifier is None or isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, str):
        identifier = {"class_name": identifier, "config": {}}
    if isinstance(identifier, dict) and str(identifier.get("class_name")).lower() in KNOWN:
        return deserialize(identifier)
    name = identifier["class_name"] if isinstance(identifier, dict) else identifier
    raise ValueError(
        f"Could not interpret optimizer identifier: {name!r}. Known are "
        f"{', '.join(sorted(KNOWN))}; pass the optimizer itself for one of your own."
    )


export(Optimizer)

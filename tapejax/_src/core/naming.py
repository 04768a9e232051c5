"""`tf.name_scope`: prefixes for the names of variables."""

from __future__ import annotations

import threading
from types import TracebackType


class _Names(threading.local):
    """The prefix in force in this thread: empty, or ending in a slash."""

    def __init__(self) -> None:
        self.prefix = ""


_NAMES = _Names()


def scoped_name(name: str) -> str:
    """A variable's name with the scopes around it, such as `encoder/w`."""
    return _NAMES.prefix + name


class name_scope:
    """A `with` block in which variables get a prefixed name.

    Args:
        name: The prefix. One that ends in a slash replaces the scopes around it; an empty one
            leaves them all.

    Raises:
        ValueError: If `name` is not a string.

    Example:
        >>> import tapejax as tf
        >>> with tf.name_scope("encoder") as scope:
        ...     w = tf.Variable(1.0, name="w")
        >>> scope, w.name
        ('encoder/', 'encoder/w:0')
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"name for name_scope must be a string. Received: {name!r}.")
        self._name = name
        self._outer: list[str] = []

    @property
    def name(self) -> str:
        """The name as it was given."""
        return self._name

    def __enter__(self) -> str:
        outer = _NAMES.prefix
        self._outer.append(outer)
        if not self._name or self._name.endswith("/"):
            _NAMES.prefix = self._name
        else:
            _NAMES.prefix = f"{outer}{self._name}/"
        return _NAMES.prefix

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _NAMES.prefix = self._outer.pop()

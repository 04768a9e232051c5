"""Settings: read once from the environment, changed by functions and context managers.

| variable | setting |
|---|---|
| `TAPEJAX_IMMEDIATE=1` | run every op at once instead of recording it first |
| `TAPEJAX_LOG_COMPILES=1` | log each compilation of a recorded program |
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

_TRUE = frozenset(("1", "true", "yes", "on"))
_FALSE = frozenset(("", "0", "false", "no", "off"))


@dataclass(slots=True)
class Settings:
    """All settings of the process. Read its attributes directly; change them with functions."""

    immediate: bool = False
    """Whether ops run at once instead of being recorded first."""
    log_compiles: bool = False
    """Whether each compilation is logged."""
    check_numerics: bool = False
    """Whether each op's results are checked for NaN and infinity."""


def _read_flag(environ: Mapping[str, str], name: str) -> bool:
    text = environ.get(name, "").strip().lower()
    if text not in _TRUE | _FALSE:
        raise ValueError(
            f"The environment variable {name}={environ[name]!r} is neither on (1, true, yes, on) "
            "nor off (0, false, no, off)."
        )
    return text in _TRUE


def from_environment(environ: Mapping[str, str]) -> Settings:
    """Read the settings from environment variables.

    Args:
        environ: the variables, such as `os.environ`.

    Returns:
        The settings; a variable that is missing or empty means off.

    Raises:
        ValueError: a variable has a value that means neither on nor off.
    """
    return Settings(
        immediate=_read_flag(environ, "TAPEJAX_IMMEDIATE"),
        log_compiles=_read_flag(environ, "TAPEJAX_LOG_COMPILES"),
    )


SETTINGS = from_environment(os.environ)
"""The settings in force."""


def set_immediate(enabled: bool) -> None:
    """Choose whether ops run at once (to debug step by step) or are recorded and compiled.

    Args:
        enabled: `True` runs every op at once; values are the same, only slower.
    """
    SETTINGS.immediate = bool(enabled)


@contextmanager
def immediate(enabled: bool = True) -> Generator[None]:
    """Run the ops of a block at once, whatever the setting outside.

    Args:
        enabled: `False` records the ops of the block instead.

    Yields:
        Nothing.

    Example:
        >>> from tapejax._src.core import config
        >>> with config.immediate():
        ...     config.SETTINGS.immediate
        True
    """
    before = SETTINGS.immediate
    SETTINGS.immediate = bool(enabled)
    try:
        yield
    finally:
        SETTINGS.immediate = before


def log_compiles(enabled: bool = True) -> None:
    """Choose whether each compilation of a recorded program is logged.

    Args:
        enabled: `True` logs on the logger `tapejax`.
    """
    SETTINGS.log_compiles = bool(enabled)

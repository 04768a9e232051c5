"""The arguments that every optimizer takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar

C = TypeVar("C")


class Options(TypedDict, total=False):
    """The arguments that every optimizer takes, described at `Optimizer`."""

    weight_decay: float | None
    clipnorm: float | None
    clipvalue: float | None
    global_clipnorm: float | None
    use_ema: bool
    ema_momentum: float
    ema_overwrite_frequency: int | None
    loss_scale_factor: float | None
    gradient_accumulation_steps: int | None
    name: str | None


DEFAULTS: Options = {
    "weight_decay": None,
    "clipnorm": None,
    "clipvalue": None,
    "global_clipnorm": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
    "name": None,
}


def takes_options(cls: type[C]) -> type[C]:
    """Let an optimizer take the options by position too, after its own arguments, as in Keras.

    Its `__init__` ends in `**options`, which type checkers read; this replaces them by their names
    in the signature that is shown and used at run time.
    """
    init: Callable[..., None] = vars(cls)["__init__"]
    *own, _ = inspect.signature(init).parameters.values()
    taken = {parameter.name for parameter in own}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    options = [
        inspect.Parameter(name, kind, default=default)
        for name, default in DEFAULTS.items()
        if name not in taken
    ]
    rest = inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)
    signature = inspect.Signature([*own, *options, rest])

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(own) - 1:
            bound = signature.bind(self, *args, **kwargs).arguments
            kwargs = bound.pop("kwargs", {}) | bound
            kwargs.pop("self")
            args = ()
        init(self, *args, **kwargs)

    replaced: Any = __init__
    replaced.__signature__ = signature
    cls.__init__ = replaced
    return cls

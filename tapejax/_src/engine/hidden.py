"""Hidden inputs: values a traced function draws anew at each call, such as random seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.recorder import LOCAL


def hidden_input(make: Callable[[], Any]) -> Tensor:
    """A tensor of `make()`: now in eager code, anew at each call of a function being traced.

    Args:
        make: Returns a NumPy array, always of the same shape and dtype.
    """
    tensor = constant_tensor(make())
    recorder = LOCAL.recorder
    if recorder.hidden is not None:
        recorder.hidden.append((tensor, make))
    return tensor

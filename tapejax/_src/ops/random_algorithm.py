"""Which algorithm makes random numbers: `tf.random.Algorithm` and how arguments name one."""

from __future__ import annotations

import enum
from typing import Any

from tapejax._src.core.errors import OpError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.registry import public


@public("random.Algorithm", "random.experimental.Algorithm")
class Algorithm(enum.Enum):
    """An algorithm of random numbers; here all but ThreeFry are Philox.

    Example:
        >>> import tapejax as tf
        >>> tf.random.Algorithm.PHILOX.value
        1
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_NAMES = {"philox": 1, "threefry": 2, "autoselect": 3}


def algorithm_number(alg: Any) -> int:
    """The number of an algorithm given as a number, a name or an `Algorithm`.

    Raises:
        ValueError: If there is none of this name or number.
        TypeError: For anything else.
    """
    if isinstance(alg, Algorithm):
        return int(alg.value)
    number: Any = alg
    if isinstance(alg, (Tensor, Variable)):
        number = int(alg)
    elif isinstance(alg, str):
        number = _NAMES.get(alg.strip().lower().replace("-", "").replace("_", ""))
    elif not isinstance(alg, int):
        raise TypeError(f"Can't convert argument `alg` (of value {alg}, {type(alg)}) to int.")
    if number not in _NAMES.values():
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are 'philox' (1) for "
            "the Philox algorithm and 'auto_select' (3), which is the same here."
        )
    return int(number)


def philox_number(alg: Any, refusal: type[OpError]) -> int:
    """The number of an algorithm that is Philox.

    Args:
        alg: A number, a name or an `Algorithm`.
        refusal: What to raise for ThreeFry. TensorFlow's processors have no ThreeFry either, and
            its generators and its stateless ops fail with different errors.

    Raises:
        ValueError: If there is none of this name or number.
        TypeError: For anything else.
    """
    number = algorithm_number(alg)
    if number == Algorithm.THREEFRY.value:
        raise refusal(
            "The ThreeFry algorithm is not supported: write alg='philox', which gives the same "
            "numbers on every device"
        )
    return number

"""`tf.debugging.check_numerics`: tensors without NaN and infinity."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.composites import takes_composites
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.definitions import ValueCheck
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record, record1
from tapejax._src.engine.registry import public
from tapejax._src.ops.assertions import is_readable

_FLOATS = ("bfloat16", "half", "float", "double")
_PASS = Kernel("check_numerics", lambda x: x, groups=(0,), node="CheckNumerics", allowed=_FLOATS)


def _finding(message: str, infinite: bool, nan: bool) -> str:
    found = " and ".join(["Inf"] * infinite + ["NaN"] * nan)
    return f"{message} : Tensor had {found} values"


@public("debugging.check_numerics")
@takes_composites("debugging.check_numerics")
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """Check that no element is NaN or infinite.

    Args:
        tensor: A float tensor.
        message: Text put before the error's.
        name: Accepted for compatibility.

    Returns:
        The values of `tensor`; gradients pass through.

    Raises:
        InvalidArgumentError: If one is not finite (at the call, or inside a function when it
            runs), or if the tensor holds no floats.
        TypeError: If `message` is not text.

    Example:
        >>> import tapejax as tf
        >>> float(tf.debugging.check_numerics(tf.constant(2.0), "loss"))
        2.0
        >>> tf.debugging.check_numerics(tf.math.log(-1.0), "loss")
        Traceback (most recent call last):
        tapejax._src.core.errors.InvalidArgumentError: loss : Tensor had NaN values ...
    """
    del name
    if not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"Expected string for argument 'message' not {message!r}.")
    tensor = as_tensor(tensor)
    if is_readable(tensor):
        result = record1(_PASS, tensor)
        array = tensor.view()
        infinite, nan = bool(np.any(np.isinf(array))), bool(np.any(np.isnan(array)))
        if infinite or nan:
            text = _finding(message, infinite, nan)
            raise InvalidArgumentError(None, None, f"{text} [Op:CheckNumerics] name: ")
        return result

    def fails(x: Any) -> tuple[Any, ...]:
        infinite, nan = jnp.any(jnp.isinf(x)), jnp.any(jnp.isnan(x))
        return infinite | nan, infinite, nan

    check = ValueCheck(fails, lambda inf, nan, *_: _finding(message, bool(inf), bool(nan)))
    kernel = Kernel(
        "check_numerics",
        lambda x: x,
        groups=(0,),
        node="CheckNumerics",
        allowed=_FLOATS,
        check=check,
    )
    return record(kernel, [tensor])


@public("debugging.assert_all_finite")
def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """Check that no element is NaN or infinite (same as `check_numerics`).

    Args:
        x: A float tensor.
        message: Text put before the error's.
        name: Accepted for compatibility.

    Returns:
        The values of `x`.

    Raises:
        InvalidArgumentError: If one is not finite.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_all_finite([1.0, 2.0], "input").numpy().tolist()
        [1.0, 2.0]
    """
    return check_numerics(x, message, name)

"""`tf.Assert` and the checks of values in `tf.debugging`.

Outside functions the values are read and a failure is raised at the call, as eager TensorFlow
does. Inside a function that is traced the check becomes part of the program: a call that fails
raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.composites import takes_composites
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.definitions import ValueCheck
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record
from tapejax._src.engine.registry import public
from tapejax._src.ops import arithmetic, comparison

_SHOWN = 3
"""How many elements a message shows unless `summarize` says otherwise."""


def is_readable(tensor: Tensor) -> bool:
    """Whether the value is there, or can be computed now: not while something is traced."""
    return LOCAL.recorder.symbolic is None and not isinstance(tensor.array, Tracer)


def require(passed: Tensor, x: Tensor, y: Tensor, text: Callable[[], str], condition: str) -> None:
    """Check that all elements of `passed` are true.

    Args:
        passed: A bool tensor.
        x: The first tensor compared, which broadcasts to the shape of `passed`.
        y: The second.
        text: Makes the message of a failure, from the values.
        condition: The message while the values are not known, such as `Condition x < y did not
            hold.`; the first elements that fail are added to it.

    Raises:
        InvalidArgumentError: If one is false.
    """
    if is_readable(passed):
        if not np.all(passed.view()):
            raise InvalidArgumentError(None, None, text())
        return

    def fails(passed: Any, x: Any, y: Any) -> tuple[Any, ...]:
        if not passed.size:
            return False, 0, 0
        first = jnp.argmax(~passed.reshape(-1))
        pair = [jnp.broadcast_to(v, passed.shape).reshape(-1)[first].real for v in (x, y)]
        return ~jnp.all(passed), *pair

    check = ValueCheck(fails, lambda x, y, *_: f"{condition} First failure: x = {x}, y = {y}")
    record(Kernel("assert", lambda *_: jnp.zeros(()), node="Assert", check=check), [passed, x, y])


def _elements(array: np.ndarray[Any, Any], summarize: int | None) -> np.ndarray[Any, Any]:
    """The first elements, flat; all of them when `summarize` is negative."""
    count = _SHOWN if summarize is None else summarize
    return array.reshape(-1)[: array.size if count < 0 else count]


def _listed(array: np.ndarray[Any, Any], summarize: int | None) -> list[str]:
    shown = _elements(array, summarize)
    return [str(item) for item in shown] + ["..."] * (len(shown) < array.size)


# ---------------------------------------------------------------------- Assert
@public("Assert", "debugging.Assert")
def Assert(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise an error that shows some values unless a condition holds.

    Args:
        condition: A bool, or a scalar bool tensor.
        data: List or tuple of what the message shows.
        summarize: How many elements of each to show (default 3; -1 shows all).
        name: Accepted for compatibility.

    Raises:
        InvalidArgumentError: If the condition is false.
        TypeError: If `data` is not a sequence.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> tf.Assert(tf.reduce_all(x > 0.0), [x])
        >>> tf.Assert(False, ["wrong", x])
        Traceback (most recent call last):
        tapejax._src.core.errors.InvalidArgumentError: Expected 'False' to be true. ...
    """
    del name
    if isinstance(data, Tensor):
        raise TypeError(f"values must be a sequence. Write [data]. Received: {data!r}")
    if isinstance(condition, Tensor) and not is_readable(condition):
        _assert_later(condition, [as_tensor(item) for item in data], summarize)
    elif not condition:
        texts = [_data_text(as_tensor(item), summarize) for item in data]
        raise InvalidArgumentError(
            None, None, f"Expected '{condition!s}' to be true. Summarized data: {_joined(texts)}"
        )


_DETAILS = 7
"""How many numbers a check can report."""


class _Datum:
    """What the message of an assertion in a function shows of one tensor."""

    def __init__(self, tensor: Tensor, summarize: int | None, room: int) -> None:
        self.dtype = tensor.dtype
        size = int(np.prod(tensor.aval.shape))
        wanted = _SHOWN if summarize is None else summarize
        self.known: list[str] | None = None
        if _is_known(tensor):
            self.known = [_plain(item) for item in _elements(tensor.view(), summarize)]
        self.count = (
            0 if self.known is not None else min(room, size, size if wanted < 0 else wanted)
        )
        self.more = "..." if (len(self.known or ()) or self.count) < size else ""

    def text(self, numbers: Sequence[float]) -> str:
        """The elements, those of a traced tensor from the numbers the check reported."""
        cast = int if self.dtype.is_integer or self.dtype.is_bool else np.float32
        items = self.known
        if items is None:
            items = [_plain(cast(number)) for number in numbers[: self.count]]
        return f"[{' '.join(items)}{self.more}]"


def _plain(item: Any) -> str:
    if isinstance(item, (float, np.floating)):
        return f"{float(item):.6g}"
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)


def _assert_later(condition: Tensor, parts: Sequence[Tensor], summarize: int | None) -> None:
    """Check a condition when the program runs; the message shows the first numbers of the data."""
    room, shown, traced, counts = _DETAILS, list[_Datum](), list[Tensor](), list[int]()
    for part in parts:
        shown.append(_Datum(part, summarize, room))
        if shown[-1].count:
            room -= shown[-1].count
            traced.append(part)
            counts.append(shown[-1].count)

    def fails(passed: Any, *values: Any) -> tuple[Any, ...]:
        rows = [value.reshape(-1) for value in values]
        numbers = [
            row[n].real for row, count in zip(rows, counts, strict=True) for n in range(count)
        ]
        return ~jnp.all(passed), *numbers

    def message(*numbers: float) -> str:
        texts: list[str] = []
        for datum in shown:
            texts.append(datum.text(numbers))
            numbers = numbers[datum.count :]
        return f"assertion failed: {' '.join(texts)}"

    check = ValueCheck(fails, message)
    inputs = [condition, *traced]
    record(Kernel("assert", lambda *_: jnp.zeros(()), node="Assert", check=check), inputs)


def _is_known(tensor: Tensor) -> bool:
    """Whether the value is there while a function is traced."""
    return tensor.array is not None and not isinstance(tensor.array, Tracer)


def _joined(texts: Sequence[str]) -> str:
    return "\n".join(texts)


def _data_text(tensor: Tensor, summarize: int | None) -> str:
    return ", ".join(_listed(tensor.view(), summarize))


# ---------------------------------------------------------------------- two tensors
_Compare = Callable[[Any, Any], Any]


def _check_pair(
    symbol: str,
    compare: _Compare,
    pair: tuple[Any, Any],
    message: str | None,
    summarize: int | None,
) -> None:
    x, y = as_tensor(pair[0]), as_tensor(pair[1])
    passed = compare(x, y)
    head = f"Condition x {symbol} y did not hold."
    if message is not None:
        head = f"{message}\n{head}"

    def text() -> str:
        return head + _pair_text(passed.view(), x.view(), y.view(), summarize)

    require(passed, x, y, text, head)


def _pair_text(
    passed: np.ndarray[Any, Any],
    x: np.ndarray[Any, Any],
    y: np.ndarray[Any, Any],
    summarize: int | None,
) -> str:
    lines: list[str] = []
    if x.shape == y.shape and x.ndim:
        places = np.argwhere(~passed)
        count = _SHOWN if summarize is None else summarize
        places = places[: len(places) if count < 0 else count]
        at = tuple(places.T)
        lines += [f"Indices of first {len(places)} different values:", str(places)]
        lines += ["Corresponding x values:", str(x[at]), "Corresponding y values:", str(y[at])]
    for name, array in (("x", x), ("y", y)):
        shown = _elements(array, summarize)
        lines += [f"First {len(shown)} elements of {name}:", str(shown)]
    return "\n" + "\n".join(lines)


def _pair_assertion(path: str, symbol: str, compare: _Compare, relation: str, good: str) -> Any:
    """One of the assertions that compare two tensors element by element."""

    def check(
        x: Any,
        y: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        del name
        _check_pair(symbol, compare, (x, y), message, summarize)

    check.__name__ = check.__qualname__ = path.rpartition(".")[2]
    check.__doc__ = f"""Check that every element of `x` is {relation} that of `y`.

    Args:
        x: A tensor.
        y: A tensor of the same dtype; the two broadcast.
        message: Text put before the error's.
        summarize: How many elements the error shows (default 3; -1 shows all).
        name: Accepted for compatibility.

    Raises:
        InvalidArgumentError: If the check fails: at the call, or inside a function when it runs.

    Example:
        >>> import tapejax as tf
        >>> tf.{path}({good})
    """
    return takes_composites(path)(check)


assert_equal = public("debugging.assert_equal", "assert_equal")(
    _pair_assertion("debugging.assert_equal", "==", comparison.equal, "equal to", "[1, 2], [1, 2]")
)
assert_less = public("debugging.assert_less", "assert_less")(
    _pair_assertion("debugging.assert_less", "<", comparison.less, "less than", "[1, 2], 3")
)
assert_less_equal = public("debugging.assert_less_equal")(
    _pair_assertion(
        "debugging.assert_less_equal", "<=", comparison.less_equal, "at most", "[1, 2], 2"
    )
)
assert_greater = public("debugging.assert_greater", "assert_greater")(
    _pair_assertion(
        "debugging.assert_greater", ">", comparison.greater, "greater than", "[1, 2], 0"
    )
)
assert_greater_equal = public("debugging.assert_greater_equal")(
    _pair_assertion(
        "debugging.assert_greater_equal", ">=", comparison.greater_equal, "at least", "[1, 2], 1"
    )
)


@public("debugging.assert_none_equal")
@takes_composites("debugging.assert_none_equal")
def assert_none_equal(
    x: Any,
    y: Any,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Check that no element of `x` equals that of `y`.

    Args:
        x: A tensor.
        y: A tensor of the same dtype; the two broadcast.
        summarize: How many elements the error shows (default 3; -1 shows all).
        message: Text put before the error's.
        name: Accepted for compatibility.

    Raises:
        InvalidArgumentError: If two are equal.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_none_equal([1, 2], [2, 1])
    """
    del name
    _check_pair("!=", comparison.not_equal, (x, y), message, summarize)


# ---------------------------------------------------------------------- signs
def _sign_assertion(path: str, symbol: str, compare: _Compare, what: str, good: str) -> Any:
    def check(
        x: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        del name
        tensor = as_tensor(x)
        passed = compare(tensor, 0)
        head = f"{_before(message)}\nCondition x {symbol} 0 did not hold element-wise:"

        def text() -> str:
            return f"{head}\n{_described('x', tensor, summarize)}"

        require(passed, tensor, as_tensor(0, tensor.dtype), text, head)

    check.__name__ = check.__qualname__ = path.rpartition(".")[2]
    check.__doc__ = f"""Check that every element of `x` is {what}.

    Args:
        x: A tensor of numbers.
        message: Text put before the error's.
        summarize: How many elements the error shows (default 3; -1 shows all).
        name: Accepted for compatibility.

    Raises:
        InvalidArgumentError: If the check fails: at the call, or inside a function when it runs.

    Example:
        >>> import tapejax as tf
        >>> tf.{path}({good})
    """
    return check


def _before(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _described(name: str, tensor: Tensor, summarize: int | None) -> str:
    array = tensor.view()
    listed = _listed(array, summarize)
    shown = str(listed) if array.ndim else listed[0]
    return f"{name} (shape={tensor.shape} dtype={tensor.dtype.name}) = \n{shown}"


assert_negative = public("debugging.assert_negative")(
    _sign_assertion("debugging.assert_negative", "<", comparison.less, "less than zero", "[-1, -2]")
)
assert_positive = public("debugging.assert_positive")(
    _sign_assertion(
        "debugging.assert_positive", ">", comparison.greater, "greater than zero", "[1, 2]"
    )
)
assert_non_negative = public("debugging.assert_non_negative")(
    _sign_assertion(
        "debugging.assert_non_negative", ">=", comparison.greater_equal, "at least zero", "[0, 2]"
    )
)
assert_non_positive = public("debugging.assert_non_positive")(
    _sign_assertion(
        "debugging.assert_non_positive", "<=", comparison.less_equal, "at most zero", "[0, -2]"
    )
)


# ---------------------------------------------------------------------- nearness
@public("debugging.assert_near")
@takes_composites("debugging.assert_near")
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Check that `|x - y| < atol + rtol * |y|` for each element.

    Args:
        x: A float or complex tensor.
        y: A tensor of the same dtype; the two broadcast.
        rtol: Relative tolerance. Default: ten times the dtype's resolution (`eps`).
        atol: Absolute tolerance, with the same default.
        message: Text put before the error's.
        summarize: How many elements the error shows (default 3; -1 shows all).
        name: Accepted for compatibility.

    Raises:
        InvalidArgumentError: If one element is not near.
        ValueError: If the dtype is not inexact, or `y` is a tensor of another one.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_near([1.0, 2.0], [1.0, 2.1], atol=0.2)
    """
    del name
    x = as_tensor(x)
    y = as_tensor(y, x.dtype)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise ValueError(
            f"data type {x.dtype.as_numpy_dtype} not inexact: assert_near compares floats and "
            "complex numbers. Use tf.debugging.assert_equal for integers."
        )
    real = x.dtype.real_dtype
    default = 10 * float(jnp.finfo(real.as_numpy_dtype).eps)
    rtol = as_tensor(default if rtol is None else rtol, real)
    atol = as_tensor(default if atol is None else atol, real)
    limit = arithmetic.add(atol, arithmetic.multiply(rtol, arithmetic.abs(y)))
    passed = comparison.less(arithmetic.abs(arithmetic.subtract(x, y)), limit)
    head = f"{_before(message)}x and y not equal to tolerance"

    def text() -> str:
        sides = [_described("x", x, summarize), _described("y", y, summarize)]
        return "\n".join([f"{head} rtol = {rtol.view()!s}, atol = {atol.view()!s}", *sides])

    require(passed, x, y, text, f"{head}.")

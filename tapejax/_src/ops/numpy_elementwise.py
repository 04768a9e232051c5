"""`tf.experimental.numpy`: functions of each element, by NumPy's rules for dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops import (
    arithmetic,
    bitwise,
    comparison,
    complex_parts,
    creation,
    elementwise,
    powers,
    rounding,
    selecting,
)
from tapejax._src.ops.numpy_types import (
    array_of,
    common,
    default_float,
    dtype_of,
    floating,
    to,
)

Function = Callable[..., Any]


def _named(name: str, function: Function, text: str) -> Any:
    function.__name__ = function.__qualname__ = name
    page = f"https://numpy.org/doc/stable/reference/generated/numpy.{name}.html"
    function.__doc__ = f"{text}\n\nReferences:\n    {page}\n"
    return public(f"experimental.numpy.{name}")(function)


def _unary(name: str, apply: Function, read: Function = array_of) -> Any:
    def function(x: Any) -> Any:
        return apply(read(x))

    kind = "; integers and booleans are converted to floats" if read is floating else ""
    return _named(name, function, f"NumPy's `{name}` of each element{kind}.")


def operands(x1: Any, x2: Any, least: Any = None) -> tuple[Any, Any]:
    """Two arguments in their common dtype; a Python number beside a tensor stays one.

    Args:
        x1: The first.
        x2: The second.
        least: A function of the common dtype that gives the one to use, or None.
    """
    dtype = common(x1, x2)
    dtype = dtype if least is None else least(dtype)
    kept = [v if _is_number(v, dtype) else array_of(v, dtype) for v in (x1, x2)]
    if not any(isinstance(v, Tensor) for v in kept):
        kept[0] = array_of(x1, dtype)
    return kept[0], kept[1]


def _is_number(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a value is a Python number that an op reads as an input of its own."""
    return (type(value) in (int, float) and dtype.kind in "fc") or (
        type(value) is int and dtype.kind in "iu"
    )


def _fractional(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind in "fcV" else default_float()


def _quotient(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a true quotient: small integers give float32, as in TensorFlow."""
    if dtype.kind in "iu" and dtype.itemsize < 4:
        return np.dtype(np.float32)
    return _fractional(dtype)


def _binary(name: str, apply: Function, least: Any = None, on_bools: Function | None = None) -> Any:
    def function(x1: Any, x2: Any) -> Any:
        a, b = operands(x1, x2, least)
        bools = on_bools is not None and isinstance(a, Tensor) and a.dtype.is_bool
        return on_bools(a, b) if bools and on_bools is not None else apply(a, b)

    text = f"NumPy's `{name}` of two arguments of one common dtype, broadcast."
    return _named(name, function, text)


# ---------------------------------------------------------------------- one argument
abs = _unary("abs", arithmetic.abs)
absolute = _unary("absolute", arithmetic.abs)
fabs = _unary("fabs", arithmetic.abs)
negative = _unary("negative", arithmetic.negative)
positive = _unary("positive", lambda x: x)
square = _unary("square", powers.square)
conj = _unary("conj", complex_parts.conj)
conjugate = _unary("conjugate", complex_parts.conj)
reciprocal = _unary("reciprocal", arithmetic.reciprocal)
bitwise_not = _unary("bitwise_not", bitwise.invert)
exp = _unary("exp", elementwise.exp, floating)
expm1 = _unary("expm1", elementwise.expm1, floating)
exp2 = _unary("exp2", lambda x: powers.pow(2.0, x), floating)
log = _unary("log", elementwise.log, floating)
log1p = _unary("log1p", elementwise.log1p, floating)
log2 = _unary("log2", lambda x: elementwise.log(x) / math.log(2), floating)
log10 = _unary("log10", lambda x: elementwise.log(x) / math.log(10), floating)
sqrt = _unary("sqrt", powers.sqrt, floating)
sin = _unary("sin", elementwise.sin, floating)
cos = _unary("cos", elementwise.cos, floating)
tan = _unary("tan", elementwise.tan, floating)
sinh = _unary("sinh", elementwise.sinh, floating)
cosh = _unary("cosh", elementwise.cosh, floating)
tanh = _unary("tanh", elementwise.tanh, floating)
arcsin = _unary("arcsin", elementwise.asin, floating)
arccos = _unary("arccos", elementwise.acos, floating)
arctan = _unary("arctan", elementwise.atan, floating)
arcsinh = _unary("arcsinh", elementwise.asinh, floating)
arccosh = _unary("arccosh", elementwise.acosh, floating)
arctanh = _unary("arctanh", elementwise.atanh, floating)
ceil = _unary("ceil", rounding.ceil, floating)
floor = _unary("floor", rounding.floor, floating)
deg2rad = _unary("deg2rad", lambda x: x * (math.pi / 180), floating)
rad2deg = _unary("rad2deg", lambda x: x * (180 / math.pi), floating)
isfinite = _unary("isfinite", rounding.is_finite, floating)
isinf = _unary("isinf", rounding.is_inf, floating)
isnan = _unary("isnan", rounding.is_nan, floating)
logical_not = _unary("logical_not", lambda x: comparison.logical_not(to(x, bool)))


def _cbrt(x: Any) -> Any:
    return arithmetic.sign(x) * powers.pow(arithmetic.abs(x), 1.0 / 3)


def _fix(x: Any) -> Any:
    return selecting.where(x < 0, rounding.ceil(x), rounding.floor(x))


def _sinc(x: Any) -> Any:
    scaled = x * math.pi
    safe = selecting.where(comparison.equal(x, 0), creation.ones_like(scaled), scaled)
    ones = creation.ones_like(x)
    return selecting.where(comparison.equal(x, 0), ones, elementwise.sin(safe) / safe)


def _signbit(x: Any) -> Any:
    if x.dtype.is_bool or x.dtype.is_unsigned:
        return creation.zeros_like(x, bool)
    negative_zero = comparison.equal(x, 0) if x.dtype.is_floating else None
    below = x < 0
    if negative_zero is None:
        return below
    return comparison.logical_or(below, comparison.logical_and(negative_zero, 1 / x < 0))


def _is_infinite(sign: int) -> Function:
    return lambda x: comparison.equal(x, sign * math.inf)


cbrt = _unary("cbrt", _cbrt, floating)
fix = _unary("fix", _fix, floating)
sinc = _unary("sinc", _sinc, floating)
signbit = _unary("signbit", _signbit)
isposinf = _unary("isposinf", _is_infinite(1), floating)
isneginf = _unary("isneginf", _is_infinite(-1), floating)


def _imaginary(x: Any) -> Any:
    return complex_parts.imag(x) if x.dtype.is_complex else creation.zeros_like(x)


iscomplex = _unary("iscomplex", lambda x: comparison.not_equal(_imaginary(x), 0))
isreal = _unary("isreal", lambda x: comparison.equal(_imaginary(x), 0))


@public("experimental.numpy.imag")
def imag(val: Any) -> Any:
    """The imaginary part of each element: zeros of real ones.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.imag([1 + 2j]).numpy().tolist()
        [2.0]
    """
    return _imaginary(array_of(val))


@public("experimental.numpy.real")
def real(val: Any) -> Any:
    """The real part of each element.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.real([1 + 2j]).numpy().tolist()
        [1.0]
    """
    x = array_of(val)
    return complex_parts.real(x) if x.dtype.is_complex else x


@public("experimental.numpy.iscomplexobj")
def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.iscomplexobj([1j])
        True
    """
    return array_of(x).dtype.is_complex


@public("experimental.numpy.isrealobj")
def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.isrealobj([1j])
        False
    """
    return not iscomplexobj(x)


@public("experimental.numpy.angle")
def angle(z: Any, deg: bool = False) -> Any:
    """The angle of each complex number.

    Args:
        z: Numbers of any shape.
        deg: Whether in degrees instead of radians.

    Returns:
        The angles, real.

    Example:
        >>> import tapejax as tf
        >>> float(tf.experimental.numpy.angle(2j, deg=True))
        90.0
    """
    found = complex_parts.angle(floating(z))
    return found * (180 / math.pi) if deg else found


@public("experimental.numpy.sign")
def sign(x: Any, out: Any = None, where: Any = None, **kwargs: Any) -> Any:
    """-1, 0 or 1 with the sign of each element; a complex one divided by its absolute value.

    Args:
        x: Numbers of any shape.
        out: Must be None.
        where: Must be None.
        **kwargs: Must be empty.

    Returns:
        The signs, in the dtype of `x`.

    Raises:
        ValueError: If another argument is given.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.sign([-2, 0, 3]).numpy().tolist()
        [-1, 0, 1]
    """
    if out is not None or where is not None or kwargs:
        raise ValueError("tf.experimental.numpy doesn't support setting out, where or kwargs.")
    return arithmetic.sign(array_of(x))


@public("experimental.numpy.around", "experimental.numpy.round")
def around(a: Any, decimals: int = 0) -> Any:
    """Each element rounded to a number of decimals, halves to the even one.

    Args:
        a: Numbers of any shape; integers are returned as they are, unless `decimals` is negative.
        decimals: How many decimals stay.

    Returns:
        Numbers in the dtype of `a`.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.around([0.125, 2.5], 2).numpy().tolist()
        [0.12, 2.5]
    """
    x = array_of(a)
    if x.dtype.is_integer and decimals >= 0:
        return x
    scale = 10.0**decimals
    rounded = rounding.round(floating(x) * scale) / scale
    return rounded if x.dtype.is_floating or x.dtype.is_complex else to(rounded, dtype_of(x))


# ---------------------------------------------------------------------- two arguments
def _remainder(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.int8) if dtype.kind == "b" else dtype


def _float_power(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind in "fcV" else np.dtype(np.float64)


def _maximum(x1: Any, x2: Any) -> Any:
    return arithmetic.maximum(x1, x2)


def _log_sum(x1: Any, x2: Any) -> Any:
    larger = arithmetic.maximum(x1, x2)
    smaller = arithmetic.minimum(x1, x2)
    same = comparison.equal(larger, smaller)  # two infinities have no difference
    gap = selecting.where(same, creation.zeros_like(larger), smaller - larger)
    return larger + elementwise.log1p(elementwise.exp(gap))


def _log_sum_2(x1: Any, x2: Any) -> Any:
    factor = math.log(2)
    return _log_sum(x1 * factor, x2 * factor) / factor


def _heaviside(x1: Any, x2: Any) -> Any:
    step = to(x1 > 0, dtype_of(x1)) if isinstance(x1, Tensor) else float(x1 > 0)
    return selecting.where(comparison.equal(x1, 0), x2, step)


def _as_bools(apply: Function) -> Function:
    def function(x1: Any, x2: Any) -> Any:
        return apply(*[to(array_of(x), bool) for x in (x1, x2)])

    return function


add = _binary("add", arithmetic.add, on_bools=comparison.logical_or)
subtract = _binary("subtract", arithmetic.subtract)
multiply = _binary("multiply", arithmetic.multiply, on_bools=comparison.logical_and)
divide = _binary("divide", arithmetic.divide, _quotient)
true_divide = _binary("true_divide", arithmetic.divide, _quotient)
floor_divide = _binary("floor_divide", arithmetic.floordiv, _remainder)
mod = _binary("mod", arithmetic.floormod, _remainder)
remainder = _binary("remainder", arithmetic.floormod, _remainder)
power = _binary("power", powers.pow)
float_power = _binary("float_power", powers.pow, _float_power)
arctan2 = _binary("arctan2", elementwise.atan2, _fractional)
hypot = _binary("hypot", lambda x, y: powers.sqrt(x * x + y * y), _fractional)
logaddexp = _binary("logaddexp", _log_sum, _fractional)
logaddexp2 = _binary("logaddexp2", _log_sum_2, _fractional)
heaviside = _binary("heaviside", _heaviside, _fractional)
nextafter = _binary("nextafter", elementwise.nextafter, _fractional)
maximum = _binary("maximum", _maximum, on_bools=comparison.logical_or)
minimum = _binary("minimum", arithmetic.minimum, on_bools=comparison.logical_and)
equal = _binary("equal", comparison.equal)
not_equal = _binary("not_equal", comparison.not_equal)
less = _binary("less", comparison.less, _remainder)
less_equal = _binary("less_equal", comparison.less_equal, _remainder)
greater = _binary("greater", comparison.greater, _remainder)
greater_equal = _binary("greater_equal", comparison.greater_equal, _remainder)
bitwise_and = _binary("bitwise_and", bitwise.bitwise_and, on_bools=comparison.logical_and)
bitwise_or = _binary("bitwise_or", bitwise.bitwise_or, on_bools=comparison.logical_or)
bitwise_xor = _binary("bitwise_xor", bitwise.bitwise_xor, on_bools=comparison.logical_xor)
_LOGICAL = "NumPy's `{}` of two arguments, broadcast: what is not zero is true."
logical_and, logical_or, logical_xor = (
    _named(name, _as_bools(apply), _LOGICAL.format(name))
    for name, apply in (
        ("logical_and", comparison.logical_and),
        ("logical_or", comparison.logical_or),
        ("logical_xor", comparison.logical_xor),
    )
)

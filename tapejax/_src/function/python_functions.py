"""`tf.py_function` and `tf.numpy_function`: Python functions as ops.

Outside functions they are called at once. Inside a traced function the compiled program calls them
each time it runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.avals import Aval, make_aval
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.specs import TensorSpec
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.effects import Caught, call_host, failure_of, is_host
from tapejax._src.engine.registry import public

Arrays = Sequence[np.ndarray[Any, Any]]


class _Out:
    """What one result is declared to be: its dtype, and its shape where that is known."""

    def __init__(self, declared: Any) -> None:
        self.spec = declared if isinstance(declared, TensorSpec) else None
        self.dtype: DType = as_dtype(declared if self.spec is None else self.spec.dtype)

    def aval(self, op: str) -> Aval:
        """The aval of the result inside a function."""
        shape = None if self.spec is None else self.spec.shape
        if shape is None or not shape.is_fully_defined():
            raise NotCompilableError(
                f"{op} inside a tf.function: the result of dtype {self.dtype.name} has no known "
                "shape, and a compiled program needs one. Give it in "
                f"Tout=tf.TensorSpec(shape, tf.{self.dtype.name}), every dimension an int, or "
                "call the function eagerly (tf.config.run_functions_eagerly(True))."
            )
        return make_aval(_known_shape(shape), np.dtype(self.dtype.as_numpy_dtype))


def _known_shape(shape: TensorShape) -> tuple[int, ...]:
    """A fully defined shape as ints."""
    return tuple([size for size in shape.as_list() if size is not None])


def _missing_tout(op: str) -> TypeError:
    return TypeError(
        f"Missing required argument: 'Tout'\n  If using {op} as a decorator, set `Tout`\n  **by "
        f"name** above the function:\n  `@{op}(Tout=tout)`"
    )


def _declared(tout: Any) -> tuple[list[_Out], bool]:
    many = isinstance(tout, (list, tuple))
    return [_Out(item) for item in (tout if many else [tout])], many


def _check(func: Any) -> None:
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )


def _listed(result: Any) -> list[Any]:
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


def _counted(op: str, results: list[Any], count: int) -> list[Any]:
    if len(results) != count:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{op}: the function returns {len(results)} values, but expects to see {count} values.",
        )
    return results


def _fitting(op: str, array: np.ndarray[Any, Any], aval: Aval) -> np.ndarray[Any, Any]:
    if array.dtype != aval.dtype or array.shape != aval.shape:
        raise TypeError(
            f"{op}: the function returned an array of shape {array.shape} and dtype "
            f"{array.dtype.name}; Tout says shape {aval.shape} and dtype {aval.tf_dtype.name}. "
            "Make the two agree."
        )
    return array


# ---------------------------------------------------------------------- py_function
@public("py_function")
def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """Call a Python function of eager tensors as an op.

    Inside a `tf.function` the function is called each time the compiled program runs, once and in
    order, with eager tensors whose values can be read.

    Args:
        func: The function: takes a tensor for each of `inp`, returns what `Tout` says. Without it,
            a decorator is returned.
        inp: List of the tensors it is called with.
        Tout: dtype of the result, or a list of them; `[]` if nothing is returned. Inside a
            `tf.function` a `tf.TensorSpec(shape, dtype)` in place of each dtype.
        name: Accepted for compatibility.

    Returns:
        A tensor, or a list of them if `Tout` is a list.

    Raises:
        InvalidArgumentError: If the function raises `ValueError` or `TypeError`, or returns
            something else than `Tout` says; other exceptions become `OutOfRangeError`
            (`StopIteration`), `ResourceExhaustedError` (`MemoryError`), `UnimplementedError`
            (`NotImplementedError`) or `UnknownError`.
        NotImplementedError: Inside a `tf.function`, if `Tout` has no shape.

    Example:
        >>> import tapejax as tf
        >>> @tf.function
        ... def f(x):
        ...     positive = lambda a: a if a > 0.0 else -a
        ...     return tf.py_function(positive, [x], tf.TensorSpec([], tf.float32))
        >>> float(f(tf.constant(-2.0)))
        2.0

    Differs from TensorFlow:
        Inside a `tf.function`, `Tout` needs shapes, and the op has no gradient: asking for one
        raises `LookupError`. Outside functions it is differentiated, as in TensorFlow.
    """
    del name
    if func is None:
        return functools.partial(_decorated, py_function, Tout=Tout)
    if Tout is None:
        raise _missing_tout("tf.py_function")
    _check(func)
    outs, many = _declared(Tout)
    inputs = [as_tensor(x) for x in inp or ()]
    results = (_called_now if is_host(inputs) else _called_later)(func, inputs, outs)
    return results if many else results[0]


def _called_now(
    func: Callable[..., Any], inputs: Sequence[Tensor], outs: Sequence[_Out]
) -> list[Tensor]:
    results: list[Tensor] = []
    with Caught() as caught:
        results = _eager_results(func, inputs, outs)
    if caught.error is not None:
        text = failure_of(caught.error)
        raise text.kind(None, None, text) from caught.error
    return results


def _called_later(
    func: Callable[..., Any], inputs: Sequence[Tensor], outs: Sequence[_Out]
) -> list[Tensor]:
    avals = [out.aval("tf.py_function") for out in outs]

    def call(*arrays: np.ndarray[Any, Any]) -> Arrays:
        made = _eager_results(func, [constant_tensor(np.array(a)) for a in arrays], outs)
        return [
            _fitting("tf.py_function", np.asarray(tensor.view()), aval)
            for tensor, aval in zip(made, avals, strict=True)
        ]

    return call_host("EagerPyFunc", call, inputs, avals, gradient="lookup")


def _decorated(op: Callable[..., Any], func: Callable[..., Any], **options: Any) -> Any:
    """The function as an op, called with its inputs."""

    @functools.wraps(func)
    def call(*inp: Any) -> Any:
        return op(func, inp, **options)

    return call


def _eager_results(
    func: Callable[..., Any], inputs: Sequence[Tensor], outs: Sequence[_Out]
) -> list[Tensor]:
    results = _counted("tf.py_function", _listed(func(*inputs))[: len(outs)], len(outs))
    return [as_tensor(_unwrapped(r), o.dtype) for r, o in zip(results, outs, strict=True)]


def _unwrapped(value: Any) -> Any:
    return value.tensor if isinstance(value, Variable) else value


# ---------------------------------------------------------------------- numpy_function
@public("numpy_function")
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call a Python function of NumPy arrays as an op. No gradient flows through it.

    Args:
        func: The function: takes an array for each of `inp`, returns what `Tout` says. Without it,
            a decorator is returned.
        inp: List of the tensors it is called with.
        Tout: dtype of the result, or a list of them; `[]` if nothing is returned. Inside a
            `tf.function` a `tf.TensorSpec(shape, dtype)` in place of each dtype.
        stateful: Inside a `tf.function`: whether to call it exactly once in each run, in order with
            other effects. A function whose results depend on its arguments alone may be called more
            or less often.
        name: Accepted for compatibility.

    Returns:
        A tensor, or a list of them if the function returns several.

    Raises:
        NotImplementedError: Inside a `tf.function`, if `Tout` has no shape.
        OpError: Inside a `tf.function`, if the function raises (see `tf.py_function`). Outside,
            what it raises is passed on.

    Example:
        >>> import numpy as np
        >>> import tapejax as tf
        >>> float(tf.numpy_function(np.sinh, [tf.constant(0.0)], tf.float32))
        0.0

    Differs from TensorFlow:
        Inside a `tf.function`, `Tout` needs shapes.
    """
    del name
    if func is None:
        return functools.partial(_decorated, numpy_function, Tout=Tout, stateful=stateful)
    if Tout is None:
        raise _missing_tout("tf.numpy_function")
    inputs = [as_tensor(x) for x in inp or ()]
    if is_host(inputs):
        return _from_numpy(func(*[tensor.numpy() for tensor in inputs]))
    _check(func)
    outs, many = _declared(Tout)
    avals = [out.aval("tf.numpy_function") for out in outs]

    def call(*arrays: np.ndarray[Any, Any]) -> Arrays:
        given = [np.array(a)[()] if a.ndim == 0 else np.array(a) for a in arrays]
        made = _counted("tf.numpy_function", _listed(func(*given))[: len(avals)], len(avals))
        return [
            _fitting("tf.numpy_function", _array(result, aval), aval)
            for result, aval in zip(made, avals, strict=True)
        ]

    results = call_host("PyFunc", call, inputs, avals, pure=not stateful)
    return results if many else results[0]


def _array(result: Any, aval: Aval) -> np.ndarray[Any, Any]:
    """A result as an array; Python numbers take the dtype that is expected."""
    return np.asarray(result, None if hasattr(result, "dtype") else aval.dtype)


def _from_numpy(result: Any) -> Any:
    """What an eager call returns: whatever the function returned, as tensors."""
    if result is None:
        return None
    if isinstance(result, (list, tuple)):
        return [as_tensor(item) for item in result]
    return as_tensor(result)

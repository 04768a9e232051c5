"""Effects: ops that call Python on the host while a program runs, such as printing.

An op with an effect runs exactly once in each run of its program, in the order recorded, whether or
not anything needs its results.
"""

from __future__ import annotations

import traceback
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.experimental import io_callback

from tapejax._src.core import errors
from tapejax._src.core.avals import Aval, make_aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.definitions import ValueCheck
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL, new_recorder
from tapejax._src.engine.recording import record

Arrays = Sequence[np.ndarray[Any, Any]]

_KINDS: tuple[tuple[tuple[type[Exception], ...], type[errors.OpError]], ...] = (
    ((ValueError, TypeError), errors.InvalidArgumentError),
    ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
)


class Failure(str):
    """The text of a failure that is to be raised as another class than InvalidArgumentError.

    Attributes:
        kind: The class.
        cause: What a Python function raised.
    """

    kind: type[errors.OpError] = errors.InvalidArgumentError
    cause: BaseException | None = None


def failure_of(error: BaseException) -> Failure:
    """What a Python function raised, as TensorFlow reports it."""
    lines = "".join(traceback.format_exception(error))
    text = Failure(f"{type(error).__name__}: {error}\n{lines}")
    text.kind = next((kind for of, kind in _KINDS if isinstance(error, of)), errors.UnknownError)
    text.cause = error
    return text


class Caught:
    """A block whose exception is kept instead of raised."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> Caught:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Keep the exception, unless it is meant to end the process."""
        del kind, trace
        if isinstance(error, Exception):
            self.error = error
        return self.error is not None


class HostCall:
    """A Python function that a program calls.

    A program holds it weakly, for programs are kept long after the function they came from is gone:
    whoever may still run the program keeps it (see `Recorder.effects`).

    Attributes:
        function: Takes NumPy arrays; returns one array for each of `outs`.
        outs: The avals of the results.
        error: What the function raised last, until it is reported.
    """

    __slots__ = ("__weakref__", "error", "function", "outs")

    def __init__(self, function: Callable[..., Arrays], outs: Sequence[Aval]) -> None:
        self.function = function
        self.outs = tuple(outs)
        self.error: Exception | None = None

    def __call__(self, *arrays: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """Call the function: whether it failed, then its results (zeros when it failed)."""
        results: Arrays = [np.zeros(out.shape, out.dtype) for out in self.outs]
        outer, active = LOCAL.recorder, LOCAL.active
        new_recorder()  # the function may use tf ops, on the thread that runs the program too
        LOCAL.active = []
        try:
            with Caught() as caught:
                results = self.function(*arrays)
        finally:
            LOCAL.recorder, LOCAL.active = outer, active
        self.error = caught.error
        return [np.asarray(caught.error is not None), *results]

    def failure(self) -> Failure | str:
        """The text for what was raised."""
        error, self.error = self.error, None
        return "A Python function failed." if error is None else failure_of(error)


def is_host(tensors: Sequence[Tensor]) -> bool:
    """Whether Python can be called with the values of these tensors right now."""
    if LOCAL.recorder.symbolic is not None:
        return False
    return not any(isinstance(tensor.array, Tracer) for tensor in tensors)


def _strongly(call: HostCall) -> Callable[[], HostCall | None]:
    return lambda: call


def call_host(
    node: str,
    function: Callable[..., Arrays],
    inputs: Sequence[Any],
    outs: Sequence[Aval] = (),
    *,
    pure: bool = False,
    gradient: str = "none",
    fallible: bool = True,
) -> list[Tensor]:
    """Record a call of a Python function.

    Args:
        node: TensorFlow's name of the op, for error texts.
        function: Takes NumPy arrays; returns one array for each of `outs`, of its shape and dtype.
        inputs: The tensors it is called with.
        outs: The avals of the results.
        pure: Whether it has no side effect: a call whose results nobody needs may be left out.
        gradient: 'none' or 'lookup', as of `Kernel`.
        fallible: Whether what it raises is to be reported as an error of the op.

    Returns:
        The results.
    """
    call = HostCall(function, outs)
    kept = LOCAL.recorder.effects
    if kept is None:
        find = _strongly(call)
    else:
        kept.append(call)
        find = weakref.ref(call)
    kernel = Kernel(node, _calling(find, outs, pure), gradient=gradient, effect=not pure)
    failed, *results = record(kernel, inputs)
    if fallible:
        check = ValueCheck(lambda failed: (failed,), lambda *_: _found(find).failure())
        record(Kernel(node, lambda failed: failed, gradient="none", check=check), [failed])
    return results


def _found(find: Callable[[], HostCall | None]) -> HostCall:
    call = find()
    if call is None:
        raise RuntimeError(
            "A program calls a Python function of a tf.function that no longer exists. Keep the "
            "tf.function as long as what was compiled from it is used."
        )
    return call


def _calling(
    find: Callable[[], HostCall | None], outs: Sequence[Aval], pure: bool
) -> Callable[..., list[Any]]:
    """The op's function of arrays."""
    results = [make_aval((), np.dtype(bool)), *outs]
    structs = [_coded_struct(out) for out in results]

    def calling(*inputs: Any) -> list[Any]:
        dtypes = [np.dtype(x.dtype) for x in inputs]

        def host(*coded: Any) -> list[np.ndarray[Any, Any]]:
            arrays = [_from_code(np.asarray(x), d) for x, d in zip(coded, dtypes, strict=True)]
            return [_to_code(np.asarray(result)) for result in _found(find)(*arrays)]

        coded = [_encode(lax.stop_gradient(x)) for x in inputs]
        if pure:
            made = jax.pure_callback(host, structs, *coded, vmap_method="sequential")
        else:
            made = io_callback(host, structs, *coded, ordered=True)
        return [_decode(x, out) for x, out in zip(made, results, strict=True)]

    return calling


# ---------------------------------------------------------------------- 64 bits
# JAX converts what goes to a callback and comes back by the setting of the thread that happens to
# run it, which has no 64-bit types: they travel as pairs of 32 bits.
def _is_wide(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iufc" and dtype.itemsize >= 8 and dtype != np.complex64


def _coded_struct(aval: Aval) -> jax.ShapeDtypeStruct:
    if not _is_wide(np.dtype(aval.dtype)):
        return jax.ShapeDtypeStruct(aval.shape, aval.dtype)
    words = np.dtype(aval.dtype).itemsize // 4
    return jax.ShapeDtypeStruct((*aval.shape, words), np.uint32)


def _encode(x: Any) -> Any:
    if not _is_wide(np.dtype(x.dtype)):
        return x
    if x.dtype == np.complex128:
        parts = [_encode(x.real), _encode(x.imag)]
        return jnp.concatenate(parts, axis=-1)
    return lax.bitcast_convert_type(x, jnp.uint32)


def _decode(x: Any, aval: Aval) -> Any:
    if not _is_wide(np.dtype(aval.dtype)):
        return x
    if aval.dtype == np.complex128:
        real, imag = x[..., :2], x[..., 2:]
        return lax.complex(*[lax.bitcast_convert_type(p, jnp.float64) for p in (real, imag)])
    return lax.bitcast_convert_type(x, aval.dtype)


def _from_code(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if not _is_wide(dtype):
        return array
    return np.ascontiguousarray(array).view(dtype).reshape(array.shape[:-1])


def _to_code(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not _is_wide(array.dtype):
        return array
    words = array.dtype.itemsize // 4
    return np.frombuffer(array.tobytes(), np.uint32).reshape((*array.shape, words))

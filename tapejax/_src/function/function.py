"""`tf.function`: a Python function traced once for each signature and called as one op."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.avals import Aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import CREATION, Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public
from tapejax._src.function.trace import Trace


class _Mode:
    """Whether functions are to run as plain Python."""

    def __init__(self) -> None:
        self.eager = False


_MODE = _Mode()


@public("config.run_functions_eagerly")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run the bodies of all `tf.function`s as plain eager Python, for debugging.

    Args:
        run_eagerly: Whether to.
    """
    _MODE.eager = bool(run_eagerly)


@public("config.functions_run_eagerly")
def functions_run_eagerly() -> bool:
    """Whether `run_functions_eagerly(True)` is in force."""
    return _MODE.eager


class State:
    """What a function remembers: its traces by signature, and whether it has been called."""

    __slots__ = ("called", "traces")

    def __init__(self) -> None:
        self.traces: dict[Any, Trace] = {}
        self.called = False


class Function:
    """A traced function: what `tf.function` returns.

    Calls with tensors of the same shapes and dtypes, and equal Python values, share one trace.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        state: State | None = None,
    ) -> None:
        self.python_function = python_function
        self._name = name or getattr(python_function, "__name__", type(python_function).__name__)
        self._state = State() if state is None else state
        self._of_instances: dict[int, tuple[weakref.ref[Any], State]] = {}
        functools.update_wrapper(self, python_function, updated=())
        try:
            self._signature: inspect.Signature | None = inspect.signature(python_function)
        except (TypeError, ValueError):
            self._signature = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind a method; each object has traces of its own."""
        if instance is None:
            return self
        return Function(
            self.python_function.__get__(instance, owner), self._name, self._state_of(instance)
        )

    def _state_of(self, instance: Any) -> State | None:
        """The traces of one object, kept as long as the object lives."""
        key, known = id(instance), self._of_instances
        found = known.get(key)
        if found is not None and found[0]() is instance:
            return found[1]
        try:
            ref = weakref.ref(instance, lambda _: known.pop(key, None))
        except TypeError:  # an object without weak references is traced anew at each access
            return None
        known[key] = (ref, State())
        return known[key][1]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, tracing it if this signature is new.

        Raises:
            OperatorNotAllowedInGraphError: If the body needs the value of a traced tensor.
            ValueError: If the body creates variables on a call other than the first.
        """
        if _MODE.eager:
            return self.python_function(*args, **kwargs)
        args, kwargs = self._bound(args, kwargs)
        flat = nest.flatten((args, kwargs))
        tensors, key = self._key(flat, (args, kwargs))
        trace = self._state.traces.get(key)
        if trace is None:
            trace = self._trace((args, kwargs), flat, [t.aval for t in tensors], key)
        self._state.called = True
        return trace.call(tensors)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Arguments in one form however they were passed."""
        if self._signature is None:
            return args, kwargs
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and "
                f"kwargs: {kwargs} for signature: {self._signature}."
            ) from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def _key(self, flat: Sequence[Any], structure: Any) -> tuple[list[Tensor], Any]:
        tensors: list[Tensor] = []
        parts: list[Any] = []
        for value in flat:
            if isinstance(value, Variable):
                parts.append(("variable", value.serial))
            elif isinstance(value, (Tensor, np.ndarray, np.generic, jax.Array)):
                tensor = as_tensor(value)
                tensors.append(tensor)
                parts.append(tensor.aval)
            else:
                parts.append(_hashable(value))
        return tensors, (_shape_of(structure), tuple(parts))

    def _trace(self, structure: Any, flat: Sequence[Any], avals: Sequence[Aval], key: Any) -> Trace:
        def body(*placeholders: Tensor) -> Any:
            values = iter(placeholders)
            filled = [
                next(values) if isinstance(v, (Tensor, np.ndarray, np.generic, jax.Array)) else v
                for v in flat
            ]
            args, kwargs = nest.pack_sequence_as(structure, filled)
            return self.python_function(*args, **kwargs)

        created: list[Variable] = []
        listen = created.append
        CREATION.listeners.append(listen)
        try:
            trace = Trace(self._name, body, avals)
        finally:
            CREATION.listeners.remove(listen)
        if created:
            if self._state.called:
                raise ValueError(
                    "tf.function only supports singleton tf.Variables created on the first call. "
                    f"Make sure the tf.Variable is only created once or created outside "
                    f"tf.function: {[v.name for v in created]} were created by {self._name!r}."
                )
            self._state.called = True
            return self._trace(structure, flat, avals, key)
        self._state.traces[key] = trace
        return trace

    def experimental_get_tracing_count(self) -> int:
        """How often the function has been traced."""
        return len(self._state.traces)


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"A tf.function argument must be a tensor or hashable, got {value!r} of type "
            f"{type(value).__name__}"
        ) from None
    return value


def _shape_of(structure: Any) -> str:
    return str(nest.map_structure(lambda _: 0, structure))


@public("function")
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Compile a function of tensors into one op.

    Args:
        func: The function. Without it, a decorator is returned.
        input_signature: Accepted for compatibility; every shape is traced by itself.
        autograph: Accepted for compatibility; see *Differs from TensorFlow*.
        jit_compile: Accepted for compatibility: everything is compiled by XLA.
        reduce_retracing: Accepted for compatibility.
        experimental_implements: Accepted for compatibility.
        experimental_autograph_options: Accepted for compatibility.
        experimental_attributes: Accepted for compatibility.
        experimental_relax_shapes: Accepted for compatibility.
        experimental_compile: Accepted for compatibility.
        experimental_follow_type_hints: Accepted for compatibility.

    Returns:
        A `Function`, or a decorator.

    Example:
        >>> import tapejax as tf
        >>> @tf.function
        ... def area(r):
        ...     return 3.0 * r ** 2
        >>> float(area(tf.constant(2.0)))
        12.0

    Differs from TensorFlow:
        Python control flow on tensors is not converted yet (AutoGraph): such a function raises
        `OperatorNotAllowedInGraphError` when it is traced.
    """
    del input_signature, autograph, jit_compile, reduce_retracing, experimental_implements
    del experimental_autograph_options, experimental_attributes, experimental_relax_shapes
    del experimental_compile, experimental_follow_type_hints
    if func is None:
        return Function
    return Function(func)

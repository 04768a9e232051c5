"""`tf.function`: a Python function traced once for each signature and called as one op."""

from __future__ import annotations

import copy
import functools
import time
import weakref
from collections.abc import Callable
from typing import Any

from tapejax._src.core.arrivals import ARRIVALS
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import CREATION, Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import coded_form, coded_tensor, is_text
from tapejax._src.function.boundary import Trimmed, UserCode, user_frame
from tapejax._src.function.concrete_function import (
    ConcreteFunction,
    hollow,
    input_names,
    input_shapes,
    is_traced_ahead,
    with_specs,
    without_objects,
)
from tapejax._src.function.definition import Definition, General, Options, State
from tapejax._src.function.host_run import NoTrace, RunOnHost
from tapejax._src.function.python_run import run_as_python
from tapejax._src.function.retracing import Retrace
from tapejax._src.function.signature import Signature, check_specs
from tapejax._src.function.trace import Request, Trace
from tapejax._src.function.trace_key import ARRAYS, Reading, avals_of, is_input, with_leaves

_CREATION = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
    "tf.Variable is only created once or created outside tf.function. See "
    "https://www.tensorflow.org/guide/function#creating_tfvariables for more information. The "
    "variable {variable!r} was created by {function!r} again: keep it where the next call finds "
    "it, as in `if self.v is None: self.v = tf.Variable(...)`."
)


class _Mode:
    """Whether functions are to run as plain Python."""

    def __init__(self) -> None:
        self.eager = False


_MODE = _Mode()
_TRIMMED = Trimmed()
"""It holds nothing: one serves all calls."""


@public("config.run_functions_eagerly", "config.experimental_run_functions_eagerly")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run the bodies of all `tf.function`s as plain eager Python, for debugging.

    Args:
        run_eagerly: Whether to.
    """
    _MODE.eager = bool(run_eagerly)


@public("config.functions_run_eagerly", "config.experimental_functions_run_eagerly")
def functions_run_eagerly() -> bool:
    """Whether `run_functions_eagerly(True)` is in force."""
    return _MODE.eager


@public("inside_function")
def inside_function() -> bool:
    """Whether a `tf.function` is being traced.

    Example:
        >>> import tapejax as tf
        >>> tf.inside_function(), bool(tf.function(lambda: tf.inside_function())())
        (False, True)
    """
    return LOCAL.recorder.symbolic is not None


class Function:
    """A traced function: what `tf.function` returns.

    Calls with tensors of the same shapes and dtypes, and equal Python values, share one trace.

    Args:
        python_function: The function to trace.
        name: What it is called.
        options: How it is traced.

    Example:
        >>> import tapejax as tf
        >>> double = tf.function(lambda x: x + x)
        >>> float(double(tf.constant(2.0))), double.experimental_get_tracing_count()
        (4.0, 1)
    """

    _definition: Definition
    _own: State
    _target: Any
    """The object whose method this is, or None."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        options: Options | None = None,
    ) -> None:
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        ARRIVALS.look()
        inner = python_function
        while isinstance(inner, functools.partial):
            inner = inner.func
        known = name or getattr(inner, "__name__", type(inner).__name__)
        self._definition = Definition(python_function, known, options or Options())
        self._own = State()
        self._target = None
        self._of_instances: dict[int, tuple[weakref.ref[Any], State]] = {}
        functools.update_wrapper(self, python_function, updated=())

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind a method; each object has traces of its own."""
        if instance is None or isinstance(self._definition.python_function, staticmethod):
            return self
        bound = Function.__new__(Function)
        bound._definition = self._definition
        bound._own = self._state_of(instance)
        bound._target = instance
        return bound

    def __getattr__(self, name: str) -> Any:
        if name in ("__name__", "__qualname__", "__wrapped__"):
            return (
                getattr(self.python_function, name)
                if name != "__wrapped__"
                else (self.python_function)
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        """A function of its own, not traced yet."""
        definition = self._definition
        twin = copy.deepcopy(self.python_function, memo)
        return Function(twin, definition.name, definition.options)

    def _state_of(self, instance: Any) -> State:
        """The traces of one object, kept as long as the object lives."""
        key, known = id(instance), self._of_instances
        found = known.get(key)
        if found is not None and found[0]() is instance:
            return found[1]
        try:
            ref = weakref.ref(instance, lambda _: known.pop(key, None))
        except TypeError:  # an object without weak references is traced anew at each access
            return State()
        known[key] = (ref, State())
        return known[key][1]

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function that is traced."""
        function: Any = self._definition.python_function
        return function if self._target is None else function.__get__(self._target)

    @property
    def state(self) -> State:
        """What it remembers, in a replica apart from elsewhere."""
        return self._own if LOCAL.context is None else self._own.within(LOCAL.context)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._definition.name

    @property
    def input_signature(self) -> Any:
        """The specs given as `input_signature`, or None."""
        specs = self._definition.options.input_signature
        return None if specs is None else tuple(specs)

    @property
    def signature(self) -> Signature:
        """The signature that arguments bind to."""
        return self._definition.signature_for(self._target is not None)

    # ------------------------------------------------------------------ calls
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, tracing it if this signature is new.

        Raises:
            TypeError: If the arguments do not fit.
            OperatorNotAllowedInGraphError: If the body needs the value of a traced tensor.
            ValueError: If the body creates variables on a call other than the first.
        """
        if _MODE.eager:
            return self.python_function(*args, **kwargs)
        try:
            trace = None if kwargs else self.state.quick.get(avals_of(args))
            if trace is not None:
                self._definition.detector.quiet += 1
                if not trace.can_fail:
                    return trace.call(args)
                with _TRIMMED:
                    return trace.call(args)
            with _TRIMMED:
                bound, named = self.signature.bind(args, kwargs)
                return self.call_bound(bound, named, len(args) if not kwargs else -1)
        except RunOnHost:
            if inside_function():
                raise  # the function around cannot be compiled either
        bound, named = self.signature.bind(args, kwargs)
        return run_as_python(self.python_function, self._definition.python_function, bound, named)

    def call_bound(self, args: tuple[Any, ...], kwargs: dict[str, Any], given: int = -1) -> Any:
        """Call with arguments in the form that `Signature.bind` gives.

        Args:
            args: The positional arguments.
            kwargs: The others.
            given: How many arguments the user gave, all by position; else -1.
        """
        state = self.state
        reading = Reading(args, kwargs, state.forget)
        trace = state.traces.get(reading.key)
        if trace is None:
            state.count_texts(reading.key)
            try:
                trace = self.trace(args, kwargs, reading)
            except RunOnHost as need:
                state.traces[reading.key] = NoTrace(need.reason)
                state.count += 1
                if not inside_function():
                    self._definition.warn(need)
                raise
        else:
            self._definition.detector.quiet += 1
        state.called = True
        tensors = reading.tensors
        plain = bool(trace) and given == len(tensors) and not reading.variables
        if plain and all(a is t for a, t in zip(args, tensors, strict=False)):
            state.quick[tuple([t.aval for t in tensors])] = trace
        return trace.call(tensors, reading.variables)

    # ------------------------------------------------------------------ tracing
    def trace(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        reading: Reading,
        has_values: bool = True,
    ) -> Trace:
        """Trace the function for these arguments and remember the trace."""
        started = time.perf_counter()
        definition, state = self._definition, self.state
        names = input_names(self.signature, args, kwargs)
        request = Request(
            definition.name,
            definition.python_function,
            self._body(args, kwargs),
            reading.tensors,
            names,
            reading.variables,
            has_values,
        )
        with UserCode(definition.options.autograph):
            try:
                trace, created = self._traced(request)
                if created:  # traced again, as a function without creations
                    state.called = True
                    state.count += 1
                    trace, _ = self._traced(request)
            except NotCompilableError as error:
                raise RunOnHost(str(error), user_frame(error)) from error
        state.called = True
        state.traces[reading.key] = trace
        self._note(args, kwargs, reading, trace, time.perf_counter() - started)
        return trace

    def _body(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The user's function of the placeholders of its tensors."""
        runnable, target = self._definition.runnable(), self._target

        def body(*placeholders: Tensor) -> Any:
            values = iter(placeholders)

            def fill(leaf: Any) -> Any:
                if is_input(leaf):
                    value = next(values)
                    return coded_tensor(value, coded_form(leaf).table) if is_text(leaf) else value
                return as_tensor(leaf) if isinstance(leaf, ARRAYS) else leaf

            filled = [with_leaves(value, fill) for value in args]
            named = {name: with_leaves(kwargs[name], fill) for name in sorted(kwargs)}
            if target is None:
                return runnable(*filled, **named)
            return runnable.__get__(target)(*filled, **named)

        return body

    def _traced(self, request: Request) -> tuple[Trace, list[Variable]]:
        """A trace, and the variables created meanwhile: none may be after the first call."""
        created: list[Variable] = []

        def listen(variable: Variable) -> None:
            if self.state.called:
                text = _CREATION.format(variable=variable.name, function=self._definition.name)
                raise ValueError(text)
            created.append(variable)

        CREATION.listeners.append(listen)
        try:
            return Trace(request), created
        finally:
            CREATION.listeners.remove(listen)

    def trace_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trace:
        """The trace for arguments some of which are only described."""
        reading = Reading(args, kwargs, self.state.forget)
        found = self.state.traces.get(reading.key)
        try:
            return found or self.trace(args, kwargs, reading, False)
        except RunOnHost as need:
            raise need.no_concrete_function(self._definition.name) from None

    def _note(self, args: Any, kwargs: Any, reading: Reading, trace: Trace, seconds: float) -> None:
        """Count the trace, and note its reason."""
        definition, state = self._definition, self.state
        arguments = dict(zip(self.signature.names(len(args)), reading.parts, strict=True))
        arguments.update(reading.named)
        anew = not state.log.records and definition.detector.has_traced and self._target is None
        record = state.log.add(arguments, seconds, anew)
        avals = [tensor.aval for tensor in reading.tensors]
        if state.is_counted(reading.key, avals):
            return
        specs = definition.options.input_signature
        known: tuple[Trace, ...] | None = (trace,)
        if specs is not None:
            args, kwargs = self.signature.bind(tuple(specs), {})
            self._cover(args, kwargs)
            known = None
        elif definition.options.reduce_retracing:
            state.relax(reading.key, avals)
        state.count += 1
        args, kwargs = with_specs(self.signature, args, kwargs)
        kept = tuple([without_objects(value) for value in args])
        named = {name: without_objects(value) for name, value in kwargs.items()}
        state.concrete.append(ConcreteFunction(self, kept, named, known))
        shown = repr(definition.python_function)
        definition.detector.traced(shown, f"{record.cause} {record.cure}".strip())

    def _cover(self, args: Any, kwargs: Any) -> None:
        """Count all traces of what these specs describe as one."""
        named = {name: hollow(value) for name, value in kwargs.items()}
        described = Reading(tuple([hollow(value) for value in args]), named)
        shapes = input_shapes(args, kwargs)
        self.state.generals.append(General(described.key, shapes))

    # ------------------------------------------------------------------ what there is to know
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for one signature.

        Args:
            *args: Arguments, or a `tf.TensorSpec` in the place of tensors. With an
                `input_signature` they may be left out.
            **kwargs: The same.

        Returns:
            A function that takes the tensors alone; the other arguments are filled in.

        Raises:
            TypeError: If the arguments do not fit.

        Example:
            >>> import tapejax as tf
            >>> scale = tf.function(lambda x, k: x * k)
            >>> triple = scale.get_concrete_function(tf.TensorSpec([None], tf.float32), 3.0)
            >>> triple(tf.constant([1.0, 2.0])).numpy().tolist()
            [3.0, 6.0]
        """
        specs = self._definition.options.input_signature
        if specs is not None and not args and not kwargs:
            args = tuple(specs)
        bound, named = self.signature.bind(args, kwargs)
        bound, named = with_specs(self.signature, bound, named)
        concrete = ConcreteFunction(self, bound, named)
        if is_traced_ahead(bound, named):
            _ = concrete.variables  # traced now, as in TensorFlow
            return concrete
        state = self.state
        filled = tuple([hollow(value, 1) for value in bound])
        reading = Reading(filled, {name: hollow(value, 1) for name, value in named.items()})
        if not state.is_counted(reading.key, [tensor.aval for tensor in reading.tensors]):
            self._cover(bound, named)
            state.count += 1
            state.concrete.append(concrete)
        return concrete

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures the function was traced for, as text.

        Args:
            verbose: Accepted for compatibility.
        """
        del verbose
        return "\n\n".join(c.pretty_printed_signature() for c in self.state.concrete)

    def experimental_get_tracing_count(self) -> int:
        """How many signatures the function has been traced for."""
        return self.state.count

    def retracing_report(self) -> list[Retrace]:
        """Why the function was traced, each time.

        Returns:
            One record for each trace, with its number, its seconds, the argument that changed and
            what to write instead.

        Example:
            >>> import tapejax as tf
            >>> double = tf.function(lambda x: x + x)
            >>> y = double(tf.ones([2])), double(tf.ones([3]))
            >>> double.retracing_report()[1].cause
            "argument 'x' changed from float32[2] to float32[3]."
        """
        return list(self.state.log.records)


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

    The body runs once for each signature (the shapes and dtypes of tensors, the values of
    everything else) on tensors that have no values; later calls run the compiled program.

    Args:
        func: The function. Without it, a decorator is returned.
        input_signature: A nested sequence of `tf.TensorSpec`s. Arguments are converted to them;
            what does not fit is an error.
        autograph: Whether Python's `if`, `while` and `for` may depend on tensors.
        jit_compile: Accepted for compatibility: everything is compiled by XLA.
        reduce_retracing: Whether traces of several shapes count as one signature.
        experimental_implements: Accepted for compatibility, as are the options below.
        experimental_autograph_options: Accepted.
        experimental_attributes: Accepted.
        experimental_relax_shapes: The former name of `reduce_retracing`.
        experimental_compile: Accepted.
        experimental_follow_type_hints: Accepted.

    Returns:
        A `Function`, or a decorator.

    Raises:
        TypeError: If `func` cannot be called or `input_signature` does not fit it.

    Example:
        >>> import tapejax as tf
        >>> @tf.function
        ... def area(r):
        ...     return 3.0 * r ** 2
        >>> float(area(tf.constant(2.0)))
        12.0

    Differs from TensorFlow:
        Shapes are always known inside. Dimensions that are None in `input_signature`, or that
        `reduce_retracing` would relax, are traced for each size met, with the side effects of
        Python; `experimental_get_tracing_count` counts signatures, as TensorFlow does.
    """
    del jit_compile, experimental_implements, experimental_autograph_options
    del experimental_attributes, experimental_compile, experimental_follow_type_hints
    relax = bool(reduce_retracing or experimental_relax_shapes)
    options = Options(input_signature, bool(autograph), relax)
    if input_signature is not None:
        check_specs(input_signature)
    if func is None:
        return functools.partial(Function, options=options)
    return Function(func, options=options)

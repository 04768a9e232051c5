"""Functions of the user in a pipeline.

A function is traced once for each form of element and then called as a compiled program on NumPy
arrays; where it depends on nothing but its element, on many elements at once. What cannot be traced
(strings, datasets, Python functions whose results have no known shape) runs eagerly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import jax
import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.avals import make_aval
from tapejax._src.core.dtypes import string
from tapejax._src.core.specs import TensorSpec
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.data.isolation import isolated
from tapejax._src.data.node import Node, Shapes, guessed_shapes
from tapejax._src.data.structure import (
    WRAPPING,
    Array,
    Leaves,
    common_structure,
    flatten,
    is_composite,
    leaves_of,
    map_structure,
    pack,
    packer,
    spec_of,
    value_of,
)
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.function.autograph.callees import callee
from tapejax._src.function.boundary import UserCode
from tapejax._src.function.host_run import RunOnHost
from tapejax._src.function.trace import Hidden, Request, Trace

_EAGER_CALLS = 2
"""Elements of a form not seen before that are computed eagerly before it is compiled."""
_PEEKED = 2

Form = tuple[Any, ...]


class _RunsEagerly(Exception):
    """The function returns what a program cannot."""


_UNTRACEABLE = (_RunsEagerly, RunOnHost, NotImplementedError, errors.OperatorNotAllowedInGraphError)


class _Traced:
    """A function traced for elements of one form.

    Attributes:
        structure: What it returns, as specs.
    """

    def __init__(self, function: UserFunction, form: Form) -> None:
        inputs = [Tensor(make_aval(shape, dtype), None, -1) for shape, dtype in form]
        names = [f"args_{n}" for n in range(len(inputs))]
        self._constants: dict[int, Any] = {}
        self.structure: Any = None

        def body(*tensors: Tensor) -> list[Tensor]:
            value = function.call(callee(function.fn), list(tensors))
            return self._results(value, function)

        request = Request(function.name, function.fn, body, inputs, names, (), False)
        with UserCode(True):
            trace = Trace(request)
        self._trace, self._kernel = trace, trace.kernel
        computed = iter(trace.returned.avals)
        shown = flatten(self.structure)
        self.count = len(shown)
        specs = [
            shown[n] if n in self._constants else _spec_of_aval(next(computed))
            for n in range(self.count)
        ]
        self.structure = pack(self.structure, specs)
        kernel = trace.kernel
        self.is_simple = not kernel.effect and not trace.written and kernel.check is None
        fixed = all(isinstance(x, Tensor) for x in trace.outside)
        self.is_pure = self.is_simple and fixed and not self._constants
        self._rows: Any = None

    def _results(self, value: Any, function: UserFunction) -> list[Tensor]:
        """The tensors that are computed; the others are noted."""
        leaves = flatten(value)
        results: list[Tensor] = []
        specs: list[Any] = []
        for n, leaf in enumerate(leaves):
            if leaf is not None and (WRAPPING.unwrap(leaf) is not None or is_composite(leaf)):
                raise _RunsEagerly
            tensor = None if leaf is None else function.tensor_of(leaf)
            if tensor is None or tensor.aval.struct is None:
                self._constants[n] = None if tensor is None else _text(tensor)
                specs.append(spec_of(self._constants[n]))
                continue
            results.append(tensor)
            specs.append(None)
        self.structure = pack(value, specs)
        return results

    def __call__(self, element: Sequence[Array]) -> Leaves:
        """The leaves of the result for one element."""
        if self.is_simple and not LOCAL.recorder.inline:
            outside = self._outside()
            with jax.enable_x64(True):
                outs = self._kernel.jit(*element, *outside)
            found = [np.asarray(out) for out in outs]
        else:
            with isolated():
                tensors = [constant_tensor(np.asarray(array)) for array in element]
                found = [np.asarray(x.view()) for x in self._trace.call(tensors)]
        return self._with_constants(found)

    def _outside(self) -> list[Any]:
        return [_supplied(x) for x in self._trace.outside]

    def _with_constants(self, found: list[Any]) -> Leaves:
        if not self._constants:
            return tuple(found)
        computed = iter(found)
        constants = self._constants
        return tuple(
            [constants[n] if n in constants else next(computed) for n in range(self.count)]
        )

    def rows(self, columns: Sequence[Array]) -> list[Array]:
        """The results for many elements, stacked, of a pure function."""
        if self._rows is None:
            axes = [0] * len(columns) + [None] * len(self._trace.outside)
            self._rows = jax.jit(jax.vmap(self._kernel.fn, tuple(axes)))
        with jax.enable_x64(True), jax.ensure_compile_time_eval():
            return [np.asarray(out) for out in self._rows(*columns, *self._outside())]


def _text(tensor: Tensor) -> Array:
    """The strings that each call returns."""
    try:
        return np.asarray(tensor.view())
    except Exception:  # noqa: BLE001  it depends on the element
        raise _RunsEagerly from None


def _spec_of_aval(aval: Any) -> TensorSpec:
    return TensorSpec(aval.tf_shape, aval.tf_dtype)


def _supplied(item: Any) -> Any:
    """An array for what a function reads from outside."""
    if isinstance(item, Hidden):
        return item.source.draw()
    tensor = item.tensor if isinstance(item, Variable) else item
    array = tensor.array
    return tensor.value_array() if array is None else array


class UserFunction:
    """A function of the elements of a node.

    Args:
        fn: The user's function.
        source: The node whose elements it gets.
        what: The method it was given to, for messages.
        eager: Whether it is never traced, because it makes datasets.

    Raises:
        ValueError: If it cannot be called.
    """

    def __init__(
        self, fn: Callable[..., Any], source: Node, what: str, eager: bool = False
    ) -> None:
        if not callable(fn):
            raise ValueError(
                f"Argument `func` must be a callable. Received func={fn!r} of type {type(fn)}. "
                f"({what})"
            )
        self.fn = fn
        self.name = getattr(fn, "__name__", type(fn).__name__)
        self._source, self._what, self._eager = source, what, eager
        self._traces: dict[Form, _Traced] = {}
        self._seen: dict[Form, int] = {}
        self._structure: Any = None
        self._vectorizes = True
        if not eager:
            self._define()

    # ------------------------------------------------------------------ definition
    def _define(self) -> None:
        """Trace it for the elements that are expected, so that errors show where it is given."""
        source = self._source
        if not source.is_certain:
            return
        forms = _form_of(source.spec, source.shapes())
        if forms is None:
            self._eager = _has_other_leaves(source.spec)
            return
        exact = all(leaf.shape.is_fully_defined() for leaf in flatten(source.spec))
        try:
            self._trace(forms)
        except _UNTRACEABLE:
            self._eager = True
        except Exception:
            if exact:
                raise

    def _trace(self, form: Form) -> _Traced:
        traced = _Traced(self, form)
        self._traces[form] = traced
        self._structure = traced.structure
        return traced

    @property
    def expected(self) -> _Traced | None:
        """Its trace for the elements that are expected."""
        if not self._traces or not self._source.is_certain:
            return None
        form = _form_of(self._source.spec, self._source.shapes())
        return None if form is None else self._traces.get(form)

    # ------------------------------------------------------------------ what it returns
    @property
    def structure(self) -> Any:
        """The structure it returns; the specs in it are those of some element."""
        if self._structure is None:
            self._structure = self.spec
        return self._structure

    @property
    def is_certain(self) -> bool:
        """Whether its spec is known without an element."""
        return self.expected is not None

    def shapes(self) -> Shapes:
        """The shapes most results have."""
        traced = self.expected
        return guessed_shapes(self.spec if traced is None else traced.structure)

    @cached_property
    def spec(self) -> Any:
        """The specs of what it returns."""
        traced = self.expected
        if traced is None:
            return self._peeked()
        spec = self._source.spec
        if all(leaf.shape.is_fully_defined() for leaf in flatten(spec)):
            return traced.structure
        shapes = self._source.shapes()
        other = [
            tuple(
                [
                    n + 1 if known is None else n
                    for n, known in zip(shape or (), leaf.shape.as_list(), strict=True)
                ]
            )
            for shape, leaf in zip(shapes, flatten(spec), strict=True)
        ]
        form = _form_of(spec, list(other))
        try:
            assert form is not None
            return common_structure(traced.structure, _Traced(self, form).structure)
        except Exception:  # noqa: BLE001  sizes that are only guessed need not fit
            return self._peeked()

    def _peeked(self) -> Any:
        """What it returns for the first elements."""
        found: Any = None
        stream = self._source.stream()
        for _, element in zip(range(_PEEKED), stream):  # noqa: B905  the stream may be longer
            self(element)
            specs = _opened(self._last, self._source.spec, element)
            found = specs if found is None else common_structure(found, specs)
        if found is None:
            raise NotImplementedError(
                f"{self._what}: what {self.name!r} returns can only be found out by calling it, "
                "and the dataset is empty. Use functions of tensors that are not strings."
            )
        return found

    def stand_in(self) -> Any:
        """What it returns for an element that stands for all; None where that fails.

        The element has zeros, empty strings and datasets without elements: the function makes a
        dataset of it, whose elements are not asked for.
        """
        if not self._source.is_certain:
            return None
        found: list[Any] = []
        for guess in (3, 2):
            leaves = _zeros(self._source.spec, guess)
            try:
                with isolated():
                    found.append(self.call(self.fn, [value_of(leaf) for leaf in leaves]))
            except Exception:  # noqa: BLE001  what it makes of real elements will tell
                return None
        return found

    # ------------------------------------------------------------------ calls
    @cached_property
    def _pack(self) -> Callable[[Sequence[Any]], Any]:
        return packer(self._source.structure)

    def call(self, fn: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Call with an element: a tuple is taken apart, a returned list is a tuple."""
        argument = self._pack(values)
        result = fn(*argument) if type(argument) is tuple else fn(argument)  # pyright: ignore[reportUnknownArgumentType]
        return tuple(result) if type(result) is list else result  # pyright: ignore[reportUnknownArgumentType]

    def tensor_of(self, leaf: Any) -> Tensor:
        """A part of what it returned, as a tensor."""
        try:
            return as_tensor(leaf)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Unsupported return value from function passed to {self._what}: {leaf}."
            ) from error

    def __call__(self, element: Leaves) -> Leaves:
        """The leaves of what it returns."""
        traced = None if self._eager else self._traced_for(element)
        if traced is not None:
            return traced(element)
        return self._called(element)

    def _called(self, element: Leaves) -> Leaves:
        with isolated():
            value = self.call(self.fn, [value_of(leaf) for leaf in element])
            structure, leaves = leaves_of(value)
        self._last = structure
        if self._structure is None:
            self._structure = structure
        return leaves

    def _traced_for(self, element: Leaves) -> _Traced | None:
        try:
            form = tuple([(leaf.shape, leaf.dtype) for leaf in element])
        except AttributeError:
            return None
        traced = self._traces.get(form)
        if traced is not None:
            self._last = traced.structure
            return traced
        if any(dtype.kind == "O" for _, dtype in form):
            return None
        seen = self._seen[form] = self._seen.get(form, 0) + 1
        if seen <= _EAGER_CALLS:
            return None
        try:
            return self._trace(form)
        except _UNTRACEABLE:
            self._eager = True
            return None

    _last: Any = None
    """The structure of the last result, as specs."""

    # ------------------------------------------------------------------ many elements at once
    @property
    def takes_rows(self) -> bool:
        """Whether it may be computed for many elements at once."""
        traced = self.expected
        return self._vectorizes and traced is not None and traced.is_pure

    @property
    def is_light(self) -> bool:
        """Whether a call is one compiled program, for which no thread is worth its cost."""
        traced = self.expected
        return traced is not None and traced.is_simple

    def rows(self, columns: list[Array], room: int) -> list[Array]:
        """The stacked results for stacked elements.

        Args:
            columns: The components.
            room: Fewer elements are filled up to this, so that no other program is needed.
        """
        traced = self.expected
        assert traced is not None
        count = len(columns[0])
        if self._vectorizes:
            padded = columns if count == room else [_padded(c, room) for c in columns]
            try:
                return [out[:count] for out in traced.rows(padded)]
            except Exception:  # noqa: BLE001  one by one, the right element fails if any does
                self._vectorizes = False
        results = [traced([column[n, ...] for column in columns]) for n in range(count)]
        return [np.stack(column) for column in zip(*results, strict=True)]


def _padded(column: Array, room: int) -> Array:
    missing = room - len(column)
    return np.concatenate([column, np.broadcast_to(column[-1:], (missing, *column.shape[1:]))])


def _form_of(spec: Any, shapes: Shapes) -> Form | None:
    """The shapes and dtypes of an element, if all are numbers of known rank."""
    form: list[Any] = []
    for leaf, shape in zip(flatten(spec), shapes, strict=True):
        if type(leaf) is not TensorSpec or leaf.dtype is string or shape is None:
            return None
        form.append((shape, np.dtype(leaf.dtype.as_numpy_dtype)))
    return tuple(form)


def _has_other_leaves(spec: Any) -> bool:
    """Whether something in an element is no tensor of numbers."""
    return any(type(leaf) is not TensorSpec or leaf.dtype is string for leaf in flatten(spec))


def _opened(result: Any, spec: Any, element: Leaves) -> Any:
    """The specs of a result, without the sizes that this element alone may have."""
    sizes: set[int] = set()
    for leaf, array in zip(flatten(spec), element, strict=True):
        known = leaf.shape.as_list() if isinstance(leaf, TensorSpec) and leaf.shape.rank else []
        sizes |= {size for n, size in zip(known, np.shape(array), strict=True) if n is None}

    def opened(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec):
            return leaf
        shape = [None if n in sizes else n for n in leaf.shape.as_list()]
        return TensorSpec(shape, leaf.dtype)

    return map_structure(opened, result)


def _zeros(spec: Any, guess: int) -> list[Any]:
    leaves: list[Any] = []
    for leaf, shape in zip(flatten(spec), guessed_shapes(spec, guess), strict=True):
        if isinstance(leaf, TensorSpec):
            dtype = np.dtype(leaf.dtype.as_numpy_dtype)
            blank = np.full(shape or (), b"", object) if dtype.kind == "O" else None
            leaves.append(np.zeros(shape or (), dtype) if blank is None else blank)
        else:
            leaves.append(STAND_INS.of(leaf))
    return leaves


class _StandIns:
    """How a spec that is not a tensor's gets a value; set by `dataset.py`."""

    of: Callable[[Any], Any]


STAND_INS = _StandIns()


def scalar_bool(leaves: Leaves, what: str) -> bool:
    """The answer of a predicate."""
    (answer,) = leaves
    if not isinstance(answer, np.ndarray) or answer.shape != () or answer.dtype != bool:
        raise wrong_predicate(what, spec_of(answer))
    return bool(answer)


def wrong_predicate(what: str, spec: Any) -> ValueError:
    """For a predicate that does not return a bool."""
    return ValueError(
        f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return "
        f"type is {spec}. ({what})"
    )

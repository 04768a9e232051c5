"""A call into Keras as one recorded op: a pure function of its tensors and of Keras' variables.

Whatever Keras does inside runs on JAX arrays in a `keras.StatelessScope`. Variables that it updates
(statistics of batch normalization, seeds, metrics) become results of the op and are assigned after.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL, aside
from tapejax._src.engine.recording import record
from tapejax._src.function.execution import init_scope
from tapejax._src.keras.bridge.cells import GUESTS, cell_of, read, value_of
from tapejax._src.tape.interop import static_key


class Inside(threading.local):
    """How many recorded calls of this thread are being traced: Keras then sees arrays only."""

    depth = 0


INSIDE = Inside()


@contextlib.contextmanager
def plain_keras() -> Generator[None]:
    """Keras computes on arrays for a block, at once, seen by no tape and no `tf.function`."""
    INSIDE.depth += 1
    try:
        with init_scope():
            yield
    finally:
        INSIDE.depth -= 1


def is_value(x: Any) -> bool:
    """Whether a leaf of the arguments is an array of some kind."""
    return isinstance(x, (Tensor, Variable, np.ndarray, np.generic, jax.Array, GUESTS.variable))


def is_leaf(x: Any) -> bool:
    return isinstance(x, (Tensor, Variable, GUESTS.variable))


def as_input(x: Any) -> Any:
    """A leaf as the input of an op."""
    if isinstance(x, (Tensor, Variable)):
        return x
    if isinstance(x, GUESTS.variable):
        return read(x)
    return constant_tensor(x if isinstance(x, jax.Array) else np.array(x))


def raw_inputs(values: Sequence[Any], wide: bool) -> list[Any]:
    """Arrays as Keras expects them: 64-bit values become 32-bit ones, as JAX's default has it."""
    if wide:
        return list(values)
    return [x.astype(_NARROW.get(x.dtype.name, x.dtype)) for x in values]


_NARROW = {"int64": "int32", "uint64": "uint32", "complex128": "complex64"}


def is_wide(inputs: Sequence[Any]) -> bool:
    """Whether 64-bit floats take part, so that Keras must compute in 64 bits."""
    return any(x.dtype.name in ("float64", "complex128") for x in inputs)


class Call:
    """One way of calling a Keras function: its kernel and where its variables are."""

    __slots__ = ("kernel", "variables")

    def __init__(self, kernel: Kernel, variables: Sequence[Any]) -> None:
        self.kernel = kernel
        self.variables = variables


_CALLS = "_tapejax_calls"


def call_as_op(
    owner: Any,
    name: str,
    fn: Callable[..., Any],
    args: Any,
    kwargs: Any,
    variables: Sequence[Any] = (),
    extra_key: Any = None,
) -> tuple[Any, list[Any]]:
    """Record `fn(owner, *args, **kwargs)` as one op.

    Args:
        owner: What the compiled op lives as long as, and keeps it: a layer, a metric, a function.
        name: The op's name.
        fn: A function that does not refer to `owner` or variables. Given arrays in the place of
            tensors and variables.
        args: Its positional arguments, any structure.
        kwargs: Its keyword arguments.
        variables: The Keras variables it may read or assign.
        extra_key: What else the op depends on (trainable flags, a training phase).

    Returns:
        What it returns, with tensors in the place of arrays, and the losses it added.
    """
    flat, tree = jax.tree.flatten((args, kwargs), is_leaf=is_leaf)
    places = [is_value(x) for x in flat]
    inputs = [as_input(x) for x, dynamic in zip(flat, places, strict=True) if dynamic]
    masks = [GUESTS.get_mask(x) for x in inputs]
    present = [as_input(mask) for mask in masks if mask is not None]
    statics = tuple(
        [None if dynamic else static_key(x) for x, dynamic in zip(flat, places, strict=True)]
    )
    cells = [value_of(v) for v in variables]
    wide = is_wide(inputs) or is_wide(cells)
    key = (name, tree, statics, wide, tuple([m is not None for m in masks]), extra_key)
    calls = vars(owner).setdefault(_CALLS, {})
    call = calls.get(key)
    if call is None or call.variables != [id(v) for v in variables]:
        template = [None if dynamic else x for x, dynamic in zip(flat, places, strict=True)]
        masked = [m is not None for m in masks]
        pure = _Pure(owner, fn, tree, template, places, masked, variables, wide)
        call = calls[key] = Call(Kernel(name, pure, node=name), [id(v) for v in variables])
    outs, out_masks, losses, updates = record(call.kernel, [*cells, *inputs, *present])
    for number, value in updates.items():
        cell_of(variables[number]).assign(value)
    for place, mask in out_masks.items():
        leaf = jax.tree.leaves(outs, is_leaf=is_leaf)[place]
        GUESTS.set_mask(leaf, mask)
    return outs, losses


class _Pure:
    """The function of arrays behind a `Call`, traced once for each set of shapes.

    Recorded programs outlive models, so it refers to the owner and its variables weakly.
    """

    def __init__(
        self,
        owner: Any,
        fn: Callable[..., Any],
        tree: Any,
        template: Sequence[Any],
        places: Sequence[bool],
        masked: Sequence[bool],
        variables: Sequence[Any],
        wide: bool,
    ) -> None:
        self.owner = weakref.ref(owner)
        self.fn = fn
        self.tree = tree
        self.template = template
        self.places = places
        self.masked = masked
        self.variables = [weakref.ref(v) for v in variables]
        self.wide = wide
        self.traces: dict[Any, tuple[Callable[..., Any], Any]] = {}

    def __call__(self, *arrays: Any) -> Any:
        key = tuple([(x.shape, x.dtype) for x in arrays])
        found = self.traces.get(key)
        if found is None:
            jaxpr, shape = jax.make_jaxpr(self._trace, return_shape=True)(
                *[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays]
            )
            found = self.traces[key] = (jaxpr_as_fun(jaxpr), jax.tree.structure(shape))
        return jax.tree.unflatten(found[1], found[0](*arrays))

    def _trace(self, *arrays: Any) -> Any:
        variables: list[Any] = [reference() for reference in self.variables]
        values = raw_inputs(arrays, self.wide)
        state, inputs = values[: len(variables)], values[len(variables) :]
        count = sum(self.places)
        with jax.enable_x64(self.wide):
            self._mask(inputs[:count], inputs[count:])
            args, kwargs = jax.tree.unflatten(self.tree, self._filled(inputs[:count]))
            scope = GUESTS.scope(
                state_mapping=list(zip(variables, state, strict=True)),
                collect_losses=True,
                initialize_variables=False,
            )
            before = [scope.get_current_value(v) for v in variables]
            INSIDE.depth += 1
            try:
                with aside(), scope:
                    outs = self.fn(self.owner(), *args, **kwargs)
                    outs = jax.tree.map(unwrapped, outs, is_leaf=is_leaf)
                    losses = [unwrapped(loss) for loss in scope.losses]
                    after = [unwrapped(scope.get_current_value(v)) for v in variables]
            finally:
                INSIDE.depth -= 1
            leaves = jax.tree.leaves(outs)
            masks = {n: m for n, x in enumerate(leaves) if (m := GUESTS.get_mask(x)) is not None}
            pairs = zip(before, after, strict=True)
            updates = {n: new for n, (old, new) in enumerate(pairs) if new is not old}
            return outs, masks, losses, updates

    def _filled(self, inputs: Sequence[Any]) -> list[Any]:
        values = iter(inputs)
        return [
            next(values) if dynamic else x
            for x, dynamic in zip(self.template, self.places, strict=True)
        ]

    def _mask(self, inputs: Sequence[Any], masks: Sequence[Any]) -> None:
        remaining = iter(masks)
        for value, masked in zip(inputs, self.masked, strict=True):
            if masked:
                GUESTS.set_mask(value, next(remaining))


def unwrapped(x: Any) -> Any:
    """The array of a tensor that JAX is tracing or that has a value; a pending tensor as it is."""
    if isinstance(x, GUESTS.variable):
        return x.value
    if not isinstance(x, (Tensor, Variable)):
        return x
    tensor = as_tensor(x)
    if tensor.array is None and not INSIDE.depth and not LOCAL.recorder.inline:
        return tensor
    return tensor.value_array()

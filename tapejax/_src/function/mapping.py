"""`tf.map_fn` and `tf.vectorized_map`: a function applied to each element along the first axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tapejax._src.core import errors, nest
from tapejax._src.core.avals import make_aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.block import record_block
from tapejax._src.engine.composites import takes_composites
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record
from tapejax._src.engine.registry import public
from tapejax._src.function import ragged_mapping
from tapejax._src.function.autograph.callees import callee
from tapejax._src.function.control_flow import as_tensors
from tapejax._src.function.staging.collecting import collect
from tapejax._src.function.staging.loop_state import State
from tapejax._src.function.staging.values import Output, Parts, is_staged, take_apart
from tapejax._src.ops.joining import stack
from tapejax._src.ops.philox import forked
from tapejax._src.ops.ragged_dispatch import ANSWERS


def leading_tensors(elems: Any, what: str) -> tuple[list[Tensor], int]:
    """The tensors of a structure, and the length of their first axis.

    Raises:
        ValueError: If there are none, or one is a scalar, or lengths differ.
    """
    tensors = [as_tensor(x) for x in nest.flatten(elems)]
    if not tensors:
        raise ValueError(
            f"tf.{what}: elems must be a Tensor or (possibly nested) sequence of them."
        )
    if any(not t.aval.shape for t in tensors):
        raise ValueError(
            f"tf.{what}: elements in elems must be 1+ dimensional Tensors, not scalars"
        )
    lengths = {t.aval.shape[0] for t in tensors}
    if len(lengths) > 1:
        raise ValueError(f"tf.{what}: elems have different first dimensions: {sorted(lengths)}")
    return tensors, lengths.pop()


def rows(elems: Any, tensors: Sequence[Tensor], i: int) -> Any:
    """Element i of a structure of tensors."""
    return nest.pack_sequence_as(elems, [t[i] for t in tensors])


@public("map_fn")
@takes_composites("map_fn")
def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Apply a function to each element along the first axis, and stack the results.

    Args:
        fn: Function of one element (in the structure of `elems`).
        elems: Tensor or structure of tensors `[n, ...]`.
        dtype: As `fn_output_signature`.
        parallel_iterations: Accepted for compatibility.
        back_prop: Accepted for compatibility.
        swap_memory: Accepted for compatibility.
        infer_shape: Accepted for compatibility.
        name: Ignored.
        fn_output_signature: The dtype of the results, in their structure. Default: that of `elems`.

    Returns:
        Tensor or structure of tensors `[n, ...]`.

    Raises:
        TypeError: If `fn` cannot be called.
        ValueError: If the elements have no common first axis.
        InvalidArgumentError: If a result has another dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])).numpy().tolist()
        [1, 4, 9]
    """
    del parallel_iterations, back_prop, swap_memory, infer_shape, name
    return _map(fn, elems, dtype if fn_output_signature is None else fn_output_signature)


ANSWERS["map_fn"] = ragged_mapping.map_fn


def _map(fn: Callable[[Any], Any], elems: Any, signature: Any) -> Any:
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable. fn must be callable.")
    tensors, count = leading_tensors(elems, "map_fn")
    declared = _dtypes(elems if signature is None else signature)
    staged = LOCAL.recorder.symbolic is not None or any(is_staged(t) for t in tensors)
    apply = callee(fn) if staged else fn

    def checked(item: Any) -> Any:
        result = as_tensors(apply(item))
        _check_dtypes(result, declared)
        return result

    if staged:
        results: list[Any] = []

        def body(item: Any) -> None:
            results.append(checked(item))

        return collect(elems, tensors, body, State((), lambda: (), lambda values: None), results)
    if not count:
        raise ValueError("tf.map_fn over an empty tensor needs a tf.function to know the shapes.")
    return stacked([checked(rows(elems, tensors, i)) for i in range(count)])


def stacked(results: Sequence[Any]) -> Any:
    """Structures of tensors, stacked leaf by leaf."""
    columns = zip(*[nest.flatten(result) for result in results], strict=True)
    return nest.pack_sequence_as(results[0], [stack(list(column)) for column in columns])


def _dtypes(signature: Any) -> list[Any]:
    return [getattr(leaf, "dtype", leaf) for leaf in nest.flatten(signature)]


def _check_dtypes(result: Any, declared: Sequence[Any]) -> None:
    found = [t.dtype for t in nest.flatten(result)]
    if len(found) != len(declared):
        raise ValueError(
            f"tf.map_fn: fn returned {len(found)} tensors where {len(declared)} were declared; "
            "pass fn_output_signature in the structure of the results."
        )
    for want, got in zip(declared, found, strict=True):
        if want != got:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {getattr(want, 'name', want)} but Op is trying to write "
                f"dtype {got.name}: pass fn_output_signature=tf.{got.name} to tf.map_fn.",
            )


@public("vectorized_map")
def vectorized_map(
    fn: Callable[[Any], Any],
    elems: Any,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> Any:
    """Apply a function to all elements along the first axis at once (`jax.vmap`).

    Args:
        fn: Function of one element, returning tensors; it may hold tapes. It cannot assign
            variables.
        elems: Tensor or structure of tensors `[n, ...]`; a first axis of 1 is broadcast.
        fallback_to_while_loop: Accepted for compatibility: every op can be vectorized.
        warn: Accepted for compatibility.

    Returns:
        Tensor or structure of tensors `[n, ...]`.

    Raises:
        ValueError: If first axes differ, or `fn` assigns a variable.

    Example:
        >>> import tapejax as tf
        >>> tf.vectorized_map(lambda p: p[0] * p[1], (tf.ones([2]), tf.ones([2]))).numpy().tolist()
        [1.0, 1.0]
    """
    del fallback_to_while_loop, warn
    return _at_once(fn, elems)


def _at_once(fn: Callable[[Any], Any], elems: Any) -> Any:
    tensors = [as_tensor(x) for x in nest.flatten(elems)]
    counts = [t.aval.shape[0] for t in tensors]
    count = max(counts, default=0)
    if any(c not in (1, count) for c in counts):
        raise ValueError(f"tf.vectorized_map: elems have different first dimensions: {counts}")
    found: list[Parts] = []

    def body(*items: Tensor) -> list[Tensor]:
        outputs: list[Tensor] = []
        result = as_tensors(callee(fn)(nest.pack_sequence_as(elems, list(items))))
        found.append(take_apart(result, outputs))
        return outputs

    block = record_block(body, [make_aval(t.aval.shape[1:], t.aval.dtype) for t in tensors])
    if block.written:
        raise ValueError(
            f"tf.vectorized_map: the function assigns {block.written[0].variable.name!r}, for "
            "which all elements would race. Use tf.map_fn, or return the value."
        )
    own = len(tensors)

    def run(*arrays: Any) -> list[Any]:
        elements = [jnp.broadcast_to(x, (count, *x.shape[1:])) for x in arrays[:own]]

        def one(lane: Any, *element: Any) -> list[Any]:
            captured = list(arrays[own:])
            for n in block.drawn:
                captured[n] = forked(captured[n], lane)
            return block.run(element, captured)[0]

        return jax.vmap(one)(jnp.arange(count), *elements)

    results = record(Kernel("vectorized_map", run, node="pfor"), [*tensors, *block.captures])
    (parts,) = found
    return parts.rebuilt([results[x.place] if isinstance(x, Output) else x for x in parts.leaves])

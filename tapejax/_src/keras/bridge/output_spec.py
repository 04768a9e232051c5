"""The shapes a user's `call` returns, where some sizes are not known.

Keras traces with symbolic sizes. A user's code compares them, multiplies them and passes them to
`tf.reshape`, so it is run with two different numbers in their place: sizes that differ between the
results are the unknown ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from tapejax._src.keras.bridge.cells import GUESTS
from tapejax._src.ops.random_seed import draws_forgotten

_SIZES = (83, 89)
"""Primes that no layer is likely to have as a size of its own."""


def hooked_output_spec(
    original: Callable[..., Any], is_users: Callable[[Any], bool]
) -> Callable[..., Any]:
    """`compute_output_spec` of Keras' backend.

    Args:
        original: Keras' own.
        is_users: Whether a function runs code that a user wrote.
    """

    @functools.wraps(original)
    def compute_output_spec(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        leaves = jax.tree.leaves((args, kwargs), is_leaf=_is_symbolic)
        unknown = any(_is_symbolic(x) and None in x.shape for x in leaves)
        if not is_users(fn):
            return original(fn, *args, **kwargs)
        # Keras takes the product of a tensor and a number for sparse, which a user's code is not
        args, kwargs = jax.tree.map(_dense, (args, kwargs), is_leaf=_is_symbolic)
        with draws_forgotten():
            if not unknown:
                return original(fn, *args, **kwargs)
            results = [_with_size(original, fn, size, args, kwargs) for size in _SIZES]
        return jax.tree.map(_merged, *results, is_leaf=_is_symbolic)

    return compute_output_spec


def _is_symbolic(x: Any) -> bool:
    return isinstance(x, GUESTS.symbolic)


def _dense(x: Any) -> Any:
    return GUESTS.symbolic(x.shape, x.dtype) if _is_symbolic(x) and x.sparse else x


def _with_size(original: Any, fn: Any, size: int, args: Any, kwargs: Any) -> Any:
    def filled(x: Any) -> Any:
        if not _is_symbolic(x):
            return x
        return GUESTS.symbolic([size if d is None else d for d in x.shape], x.dtype, x.sparse)

    args, kwargs = jax.tree.map(filled, (args, kwargs), is_leaf=_is_symbolic)
    return original(fn, *args, **kwargs)


def _merged(first: Any, second: Any) -> Any:
    if not _is_symbolic(first):
        return first
    pairs = zip(first.shape, second.shape, strict=True)
    shape = [one if one == other else None for one, other in pairs]
    return GUESTS.symbolic(shape, first.dtype, first.sparse)

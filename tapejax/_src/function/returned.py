"""What a traced function returns: which of it is computed at a call, and how it is put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.avals import Aval
from tapejax._src.core.dtypes import string
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.specs import TensorSpec
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import CONVERTERS, as_tensor
from tapejax._src.engine.texts import (
    Coded,
    coded_form,
    coded_tensor,
    is_known,
    is_text,
    known_texts,
    text_tensor,
)

_ALLOWED = (
    Tensor,
    Variable,
    np.ndarray,
    np.generic,
    jax.Array,
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    TensorShape,
)
_COMPUTED = object()
"""Stands for a tensor that each call computes."""


class Returned:
    """The structure a function returned while it was traced.

    Args:
        value: What it returned: tensors, variables, numbers and arrays (which become tensors),
            None, in any nested structure.
        fn: The function, for the error.

    Raises:
        TypeError: If something else is among it.

    Attributes:
        tensors: The tensors in it that are computed, in order; dropped once they are numbered.
        avals: Their avals.
        count: How many there are.
    """

    def __init__(self, value: Any, fn: Any) -> None:
        flat = nest.flatten(value, expand_composites=True)
        self.tensors: list[Tensor] = []
        self._fixed = nest.fixed_parts(value)
        self._entries = [self._entry(item, fn) for item in flat]
        self.avals: list[Aval] = [tensor.aval for tensor in self.tensors]
        self.count = len(self.avals)
        self._template = nest.pack_sequence_as(
            value, [None if entry is None else 0 for entry in self._entries], expand_composites=True
        )
        self.pack = self._packer()

    def _entry(self, item: Any, fn: Any) -> Any:
        if item is None:
            return None
        if not isinstance(item, (*_ALLOWED, *[cls for cls, _ in CONVERTERS])):
            raise TypeError(
                "To be compatible with tf.function, Python functions must return zero or more "
                "Tensors or ExtensionTypes or None values; in compilation of "
                f"{fn}, found return value of type {type(item).__name__}, "
                "which is not a Tensor or ExtensionType."
            )
        tensor = as_tensor(item)
        if any(item is part for part in self._fixed):  # the row splits of a ragged tensor
            return tensor
        if is_text(tensor):
            if is_known(tensor):  # the same at each call
                return text_tensor(known_texts(tensor))
            coded = coded_form(tensor)
            self.tensors.append(coded.codes)
            return coded
        self.tensors.append(tensor)
        return _COMPUTED

    def _packer(self) -> Callable[[Sequence[Any]], Any]:
        """The function that makes the result of a call from what the program computed."""
        template, count = self._template, self.count
        if all(entry is _COMPUTED for entry in self._entries):
            if type(template) is int:
                return _first
            if type(template) is tuple and all(type(item) is int for item in template):  # pyright: ignore[reportUnknownVariableType]
                return lambda results: tuple(results[:count])
            if type(template) is list and all(type(item) is int for item in template):  # pyright: ignore[reportUnknownVariableType]
                return lambda results: list(results[:count])
        if template is None:
            return _nothing
        return self._packed

    def _packed(self, results: Sequence[Any]) -> Any:
        values = iter(results)
        flat = [
            next(values)
            if entry is _COMPUTED
            else coded_tensor(next(values), entry.table)
            if isinstance(entry, Coded)
            else entry
            for entry in self._entries
        ]
        return nest.pack_sequence_as(self._template, flat, expand_composites=True)

    def specs(self) -> Any:
        """The structure, with a `TensorSpec` for each tensor."""
        computed = iter(self.avals)
        made: list[Any] = []
        for entry in self._entries:
            if isinstance(entry, Tensor):
                made.append(TensorSpec(entry.shape, entry.dtype))
            elif isinstance(entry, Coded):
                made.append(TensorSpec(next(computed).tf_shape, string))
            elif entry is _COMPUTED:
                aval = next(computed)
                made.append(TensorSpec(aval.tf_shape, aval.tf_dtype))
            else:
                made.append(entry)
        if len(made) == 1 and type(self._template) is int:
            return made[0]
        return nest.pack_sequence_as(self._template, made, expand_composites=True)


def _first(results: Sequence[Any]) -> Any:
    return results[0]


def _nothing(results: Sequence[Any]) -> None:
    del results

"""What an expression gives in a library, in a form that both libraries can be compared by."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow

import tapejax


def plain(value: Any) -> Any:
    """A value as Python objects: tensors with their dtype and elements."""
    kind = type(value).__name__
    if "RaggedTensor" in kind:
        return "ragged", value.dtype.name, value.to_list(), value.row_splits.dtype.name
    if "SparseTensor" in kind:
        return "sparse", plain(value.indices), plain(value.values), plain(value.dense_shape)
    if hasattr(value, "numpy"):
        array = np.asarray(value.numpy())
        return value.dtype.name, array.shape, repr(array.tolist())
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def outcome(expression: str, tf: ModuleType, names: dict[str, Any] | None = None) -> Any:
    """The value of an expression, or the class of what it raises."""
    try:
        return plain(eval(expression, {"tf": tf, "np": np, **(names or {})}))
    except Exception as error:  # noqa: BLE001  the error is what is compared
        return type(error).__name__


def assert_same(expression: str, names: dict[str, Any] | None = None) -> None:
    """Both libraries give the same, and TensorFlow's names are those of `tf` in the expression."""
    expected = outcome(expression, tensorflow, names)
    assert outcome(expression, tapejax, names) == expected


def each(*expressions: str) -> Any:
    """A test for each expression."""
    return pytest.mark.parametrize("expression", expressions)

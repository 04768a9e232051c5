"""Expressions evaluated on TensorFlow and on tapejax, and their results compared part by part."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow

import tapejax

Names = Callable[[ModuleType], dict[str, Any]]


def evaluated(tf: ModuleType, names: Names, expression: str) -> Any:
    """The value of an expression, or the exception that it raised."""
    try:
        return eval(expression, {"np": np, "tf": tf, **names(tf)})
    except Exception as error:  # noqa: BLE001  its class is what is compared
        return error


def assert_agrees(expression: str, names: Names) -> None:
    """Both libraries give the same values, dtypes and shapes, or errors of one class."""
    ours = evaluated(tapejax, names, expression)
    theirs = evaluated(tensorflow, names, expression)
    if isinstance(theirs, Exception):
        wanted = type(theirs).__name__
        found = [cls.__name__ for cls in type(ours).__mro__]
        assert isinstance(ours, Exception), f"{expression}: no error, but {ours!r}; {theirs}"
        assert wanted in found, f"{expression}: {ours!r} instead of {theirs!r}"
        return
    if isinstance(ours, Exception):
        raise ours
    assert_alike(ours, theirs)


def assert_same_text(expression: str, names: Names) -> None:
    """Both libraries print a value alike."""
    ours = evaluated(tapejax, names, expression)
    theirs = evaluated(tensorflow, names, expression)
    assert repr(ours) == repr(theirs)
    assert str(ours) == str(theirs)


def assert_alike(ours: Any, theirs: Any) -> None:
    """Two results of one kind have the same parts."""
    if isinstance(theirs, (list, tuple)):
        assert type(ours).__name__ == type(theirs).__name__
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            assert_alike(mine, other)
    elif hasattr(theirs, "nested_row_splits"):
        assert ours.shape.as_list() == theirs.shape.as_list()
        assert ours.ragged_rank == theirs.ragged_rank
        assert_alike(ours.flat_values, theirs.flat_values)
        assert_alike(list(ours.nested_row_splits), list(theirs.nested_row_splits))
    elif hasattr(theirs, "dense_shape"):
        for part in ("indices", "values", "dense_shape"):
            assert_alike(getattr(ours, part), getattr(theirs, part))
    elif type(getattr(theirs, "dtype", None)).__name__ == "DType" and theirs.dtype.name == "string":
        assert (
            ours.numpy().tolist() == theirs.numpy().tolist()
            if theirs.ndim
            else (ours.numpy() == theirs.numpy())
        )
    elif hasattr(theirs, "numpy") or isinstance(theirs, np.ndarray):
        _assert_arrays(ours, theirs)
    elif hasattr(theirs, "as_list"):
        assert ours.as_list() == theirs.as_list()
    else:
        assert repr(ours) == repr(theirs)


def _assert_arrays(ours: Any, theirs: Any) -> None:
    assert type(ours).__name__.replace("Tensor", "EagerTensor") == type(theirs).__name__
    assert str(ours.dtype) == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    mine, other = (x if isinstance(x, np.ndarray) else x.numpy() for x in (ours, theirs))
    if np.asarray(other).dtype.kind == "O":
        assert repr(mine) == repr(other)
    else:
        np.testing.assert_allclose(mine, other, rtol=2e-6)

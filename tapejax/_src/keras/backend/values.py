"""`tf.keras.backend`: variables, constants, and the values, shapes and dtypes of tensors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.keras.backend.settings import floatx
from tapejax._src.keras.bridge.cells import GUESTS
from tapejax._src.ops import creation, random_stateful, sparse_dense
from tapejax._src.ops.casting import cast as tensor_cast
from tapejax._src.ops.constants import constant as tensor_constant
from tapejax._src.ops.shape_queries import shape as tensor_shape
from tapejax._src.ops.sparse_tensor import SparseTensor


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """A variable with a first value, of the default float type if no dtype is given."""
    if hasattr(value, "tocoo"):  # SciPy's
        value = value.tocoo().toarray()
    chosen = dtype or floatx()
    first = tensor_cast(value, chosen) if isinstance(value, Tensor) else np.asarray(value)
    if isinstance(first, np.ndarray):
        first = first.astype(as_dtype(chosen).as_numpy_dtype)
    return Variable(first, name=name, constraint=constraint)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor of a value, of the default float type if no dtype is given."""
    return tensor_constant(value, dtype=dtype or floatx(), shape=shape, name=name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones."""
    return _filled(creation.ones(shape, dtype or floatx()), dtype, name)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros."""
    return _filled(creation.zeros(shape, dtype or floatx()), dtype, name)


def _filled(value: Any, dtype: Any, name: str | None) -> Any:
    return variable(value, dtype, name) if all(value.shape) else value


def eye(size: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable that holds the identity matrix."""
    return variable(creation.eye(size, dtype=dtype or floatx()), dtype, name)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones of the shape and dtype of a tensor."""
    return creation.ones_like(x, dtype=dtype, name=name)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros of the shape and dtype of a tensor."""
    return creation.zeros_like(x, dtype=dtype, name=name)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Tensor:
    """Numbers at equal steps; from 0 to `start` if there is no `stop` or it is negative."""
    if stop is None:
        start, stop = 0, start
        start = 0 if stop >= 0 else stop
    found = creation.range(start, limit=stop, delta=step)
    return found if dtype == "int32" else tensor_cast(found, dtype)


# ------------------------------------------------------------------------------ random numbers
def seeded(seed: int | None) -> int:
    """The seed itself, or one from NumPy's generator, which programs set for repeatable runs."""
    return int(np.random.randint(10_000_000)) if seed is None else seed


def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Normally distributed random numbers."""
    return random_stateful.normal(shape, mean, stddev, dtype or floatx(), seeded(seed))


def random_uniform(
    shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Uniformly distributed random numbers."""
    return random_stateful.uniform(shape, minval, maxval, dtype or floatx(), seeded(seed))


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Normally distributed random numbers within two standard deviations."""
    return random_stateful.truncated_normal(shape, mean, stddev, dtype or floatx(), seeded(seed))


def random_bernoulli(
    shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """1 with probability `p` and 0 otherwise."""
    drawn = random_stateful.uniform(shape, dtype=dtype or floatx(), seed=seeded(seed))
    return tensor_cast(drawn <= p, dtype or floatx())


def random_binomial(
    shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """The former name of `random_bernoulli`."""
    return random_bernoulli(shape, p, dtype, seed)


def random_normal_variable(
    shape: Any,
    mean: float,
    scale: float,
    dtype: Any = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """A variable of normally distributed random numbers."""
    return variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


def random_uniform_variable(
    shape: Any,
    low: float,
    high: float,
    dtype: Any = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """A variable of uniformly distributed random numbers."""
    return variable(random_uniform(shape, low, high, dtype, seed), dtype, name)


# ------------------------------------------------------------------------- reading and assigning
def get_value(x: Any) -> Any:
    """The value of a tensor or variable as an array; anything else as it is."""
    return x.numpy() if hasattr(x, "numpy") else x


def batch_get_value(tensors: Iterable[Any]) -> list[Any]:
    """The values of several tensors or variables."""
    return [get_value(x) for x in tensors]


def eval(x: Any) -> Any:
    """The value of a tensor, sparse or not."""
    return get_value(to_dense(x))


def set_value(x: Any, value: Any) -> None:
    """Assign a value to a variable."""
    x.assign(np.asarray(value, dtype=as_dtype(x.dtype).as_numpy_dtype))


def batch_set_value(tuples: Iterable[tuple[Any, Any]]) -> None:
    """Assign a value to each of several variables."""
    for x, value in tuples:
        set_value(x, value)


def update(x: Any, new_x: Any) -> Any:
    """Assign to a variable."""
    return x.assign(new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Add to a variable."""
    return x.assign_add(increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtract from a variable."""
    return x.assign_sub(decrement)


def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """Move a variable towards a value: `momentum` of it stays."""
    kept = tensor_cast(momentum, as_dtype(x.dtype))
    return x.assign_sub((x - tensor_cast(value, as_dtype(x.dtype))) * (1 - kept))


# ----------------------------------------------------------------------------------- properties
def cast(x: Any, dtype: Any) -> Tensor:
    """Change the dtype."""
    return tensor_cast(x, dtype)


def cast_to_floatx(x: Any) -> Any:
    """Change the dtype to the default float type; arrays stay arrays."""
    if isinstance(x, (Tensor, Variable, SparseTensor, GUESTS.variable, GUESTS.symbolic)):
        return tensor_cast(x, floatx())
    return np.asarray(x, dtype=floatx())


def dtype(x: Any) -> str:
    """The name of the dtype."""
    return as_dtype(x.dtype).name


def shape(x: Any) -> Tensor:
    """The shape as a tensor."""
    return tensor_shape(x)


def int_shape(x: Any) -> tuple[int | None, ...] | None:
    """The shape as a tuple, None for a size that is not known."""
    try:
        return tuple([None if size is None else int(size) for size in x.shape])
    except ValueError:  # not even the number of dimensions is known
        return None


def ndim(x: Any) -> int:
    """The number of dimensions."""
    return len(x.shape)


def count_params(x: Any) -> int:
    """The number of elements."""
    return math.prod([size or 0 for size in int_shape(x) or ()])


def is_sparse(tensor: Any) -> bool:
    """Whether a tensor is sparse."""
    return isinstance(tensor, SparseTensor) or bool(getattr(tensor, "sparse", False))


def to_dense(tensor: Any) -> Any:
    """A sparse tensor with its zeros; others as they are."""
    return sparse_dense.to_dense(tensor) if isinstance(tensor, SparseTensor) else tensor


def all_dense(tensors: Sequence[Any]) -> list[Any]:
    """Each of them with its zeros."""
    return [to_dense(x) for x in tensors]

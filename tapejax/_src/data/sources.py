"""Where pipelines begin: arrays, ranges, generators, random numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import DType, int64
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data.isolation import isolated
from tapejax._src.data.node import INFINITE, UNKNOWN, Node, Shapes, Stream, guessed_shapes
from tapejax._src.data.seeds import SeedSource
from tapejax._src.data.structure import (
    Array,
    Leaves,
    constant_tensor,
    flatten,
    is_container,
    leaf_of,
    map_structure,
    pack,
    spec_of,
)
from tapejax._src.data.tables import Columns, Indexed, Numbers
from tapejax._src.engine.effects import failure_of

_RANDOM_CHUNK = 256


class TensorSlices(Node):
    """The slices of arrays along their first axis."""

    name = "_TensorSliceDataset"
    repeats = True

    def __init__(self, spec: Any, columns: list[Array]) -> None:
        super().__init__()
        self.spec = spec
        self._table = Columns(columns)

    @staticmethod
    def of(tensors: Any) -> TensorSlices:
        """From what the user gives.

        Raises:
            ValueError: If a component has no first axis, or they differ in length.
        """
        columns = [leaf_of(leaf) for leaf in flatten(tensors)]
        if not columns:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        for column in columns:
            if not isinstance(column, np.ndarray):
                raise NotImplementedError(
                    f"tf.data.Dataset.from_tensor_slices of a {type(column).__name__}: only dense "
                    "tensors are sliced. Use tf.data.Dataset.from_generator."
                )
            if not column.shape:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        sizes = [len(column) for column in columns]
        for size in sizes[1:]:
            if size != sizes[0]:
                raise ValueError(f"Dimensions {sizes[0]} and {size} are not compatible")
        specs = [TensorSpec(c.shape[1:], spec_of(c).dtype) for c in columns]  # pyright: ignore[reportAttributeAccessIssue]
        return TensorSlices(pack(tensors, specs), columns)

    def shapes(self) -> Shapes:
        """Known."""
        return guessed_shapes(self.spec)

    def cardinality(self) -> int:
        """The length of the first axis."""
        return self._table.size

    def indexed(self) -> Indexed:
        """The arrays themselves."""
        return Indexed.of(self._table)


class Tensors(Node):
    """One element."""

    name = "_TensorDataset"
    repeats = True

    def __init__(self, spec: Any, element: Leaves) -> None:
        super().__init__()
        self.spec = spec
        self._element = element

    def shapes(self) -> Shapes:
        """Known."""
        return guessed_shapes(self.spec)

    def cardinality(self) -> int:
        """One."""
        return 1

    def stream(self) -> Stream:
        """The element."""
        return iter((self._element,))

    def is_quick(self) -> bool:
        """It is there."""
        return True


class Range(Node):
    """Integers in equal steps."""

    name = "_RangeDataset"
    repeats = True

    def __init__(self, bounds: tuple[int, int, int], dtype: DType) -> None:
        super().__init__()
        self.spec = TensorSpec((), dtype)
        start, stop, step = bounds
        self._table = Numbers(start, step, len(range(start, stop, step)), dtype.as_numpy_dtype)

    @staticmethod
    def of(args: tuple[Any, ...], output_type: DType = int64) -> Range:
        """From the arguments of `Dataset.range`.

        Raises:
            ValueError: If there are none or more than three.
            InvalidArgumentError: If the step is zero.
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(
                "Invalid `args`. The length of `args` should be between 1 and 3 but was "
                f"{len(args)}."
            )
        numbers = [int(np.asarray(leaf_of(arg))) for arg in args]
        start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
        if step == 0:
            raise errors.InvalidArgumentError(None, None, "step must be a non-zero integer.")
        return Range((start, stop, step), output_type)

    def shapes(self) -> Shapes:
        """Scalars."""
        return [()]

    def cardinality(self) -> int:
        """How many numbers there are."""
        return self._table.size

    def indexed(self) -> Indexed:
        """Computed from the indices."""
        return Indexed.of(self._table)


class Counter(Node):
    """Integers in equal steps, without end."""

    name = "_ScanDataset"

    def __init__(self, start: Any, step: Any, dtype: DType) -> None:
        super().__init__()
        self.spec = TensorSpec((), dtype)
        kind = np.dtype(dtype.as_numpy_dtype)
        self._start, self._step = kind.type(start), kind.type(step)

    def shapes(self) -> Shapes:
        """Scalars."""
        return [()]

    def cardinality(self) -> int:
        """Without end."""
        return INFINITE

    def stream(self) -> Stream:
        """The numbers."""
        number = self._start
        while True:
            yield (np.asarray(number),)
            with np.errstate(over="ignore"):
                number = number + self._step

    def is_quick(self) -> bool:
        """Nothing has to be waited for."""
        return True


class RandomNumbers(Node):
    """Random 32-bit integers, without end."""

    name = "_RandomDataset"

    def __init__(self, pair: tuple[int, int], changes: bool) -> None:
        super().__init__()
        self.spec = TensorSpec((), int64)
        self._seeds = SeedSource(pair, changes)

    def shapes(self) -> Shapes:
        """Scalars."""
        return [()]

    def cardinality(self) -> int:
        """Without end."""
        return INFINITE

    def stream(self) -> Stream:
        """TensorFlow's numbers for these seeds."""
        return self._numbers(self._seeds)

    @staticmethod
    def _numbers(seeds: SeedSource) -> Stream:
        draws = seeds.next()
        while True:
            words = draws.take(_RANDOM_CHUNK).astype(np.int64)
            for n in range(_RANDOM_CHUNK):
                yield (words[n, ...],)

    def is_quick(self) -> bool:
        """Nothing has to be waited for."""
        return True


class Generated(Node):
    """What a Python generator of the user yields."""

    name = "_FlatMapDataset"

    def __init__(self, generator: Callable[..., Any], spec: Any, args: tuple[Any, ...]) -> None:
        super().__init__()
        self.spec = spec
        self._generator, self._args = generator, args

    def shapes(self) -> Shapes:
        """Those of the spec."""
        return guessed_shapes(self.spec)

    def cardinality(self) -> int:
        """Nobody knows."""
        return UNKNOWN

    def stream(self) -> Stream:
        """The elements, checked."""
        try:
            with isolated():
                iterator = iter(self._generator(*[arg.copy()[()] for arg in self._args]))
        except Exception as error:
            raise told(error) from error
        return self._elements(iterator)

    def _elements(self, iterator: Any) -> Stream:
        while True:
            try:
                with isolated():
                    value = next(iterator)
            except StopIteration:
                return
            except Exception as error:
                raise told(error) from error
            yield self._checked(value)

    @cached_property
    def _specs(self) -> list[Any]:
        return flatten(self.spec)

    def _checked(self, value: Any) -> Leaves:
        """One element as its spec says.

        Raises:
            InvalidArgumentError: If it has another structure, dtype or shape.
        """
        values = flatten(_as_spec(value, self.spec))
        if len(values) != len(self._specs):
            raise errors.InvalidArgumentError(
                None,
                None,
                "TypeError: `generator` yielded an element that did not match the expected "
                f"structure. The expected structure was {map_structure(_dtype, self.spec)}, but "
                f"the yielded element was {value}.",
            )
        return tuple([_fitting(v, spec) for v, spec in zip(values, self._specs, strict=True)])


def _dtype(spec: Any) -> Any:
    return getattr(spec, "dtype", spec)


def _as_spec(value: Any, spec: Any) -> Any:
    """A yielded list in the place of a tuple counts as one."""
    if not is_container(spec):
        return (value,) if is_container(value) else value
    if isinstance(value, list) and isinstance(spec, tuple):
        value = tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(spec, tuple) and isinstance(value, tuple) and len(spec) == len(value):  # pyright: ignore[reportUnknownArgumentType]
        return tuple([_as_spec(v, s) for v, s in zip(value, spec, strict=True)])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(spec, dict) and isinstance(value, dict):
        if set(value) != set(spec):  # pyright: ignore[reportUnknownArgumentType]
            return ()
        return {key: _as_spec(value[key], spec[key]) for key in spec}  # pyright: ignore[reportUnknownVariableType]
    return value if is_container(value) else ()


def _fitting(value: Any, spec: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        return leaf_of(value)
    if isinstance(value, tuple):
        value = list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    try:
        array = leaf_of(value, None if hasattr(value, "dtype") else spec.dtype)
        if spec_of(array).dtype is not spec.dtype:  # pyright: ignore[reportAttributeAccessIssue]
            array = _cast(array, spec.dtype)
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(
            None,
            None,
            "TypeError: `generator` yielded an element that could not be converted to the "
            f"expected type. The expected type was {spec.dtype.name}, but the yielded element was "
            f"{value}.",
        ) from error
    if not spec.shape.is_compatible_with(array.shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"TypeError: `generator` yielded an element of shape {array.shape} where an element "
            f"of shape {spec.shape} was expected.",
        )
    return array


def _cast(array: Any, dtype: DType) -> Any:
    """An array in the dtype that was declared: NumPy's rules, as in TensorFlow."""
    if array.dtype.kind == "O" or dtype.name == "string":
        raise TypeError(f"{array.dtype} is not {dtype.name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a part that is dropped (imaginary) is what was asked for
        return array.astype(dtype.as_numpy_dtype)


def told(error: BaseException) -> Exception:
    """What a Python function of a pipeline raised, in TensorFlow's classes."""
    if isinstance(error, errors.OpError):
        return error
    text = failure_of(error)
    return text.kind(None, None, text)


def as_tensors(leaves: Leaves) -> list[Any]:
    """Arrays as tensors."""
    return [constant_tensor(leaf) for leaf in leaves]

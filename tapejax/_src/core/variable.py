"""`tf.Variable`: a cell that holds a tensor; assigning replaces it, so an update is recorded."""

from __future__ import annotations

import enum
import functools
import inspect
import itertools
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core import printing
from tapejax._src.core.avals import Aval, aval_of, placed_key, variable_key
from tapejax._src.core.conversion import to_numpy
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.naming import scoped_name
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Reference, Tensor

_serials = itertools.count()


class VariableSynchronization(enum.Enum):
    """When the copies of a variable on several replicas are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How values assigned on several replicas become one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class Creation(threading.local):
    """Who has a say in variables created in this thread.

    Attributes:
        listeners: Told about each (a traced function, a strategy scope).
        creators: Make them in the place of the class (`tf.variable_creator_scope`).
    """

    def __init__(self) -> None:
        self.listeners: list[Callable[[Variable], None]] = []
        self.creators: list[Callable[..., Any]] = []


CREATION = Creation()


class _Creating(type):
    """Lets the creators of the scopes around make a variable."""

    if not TYPE_CHECKING:  # type checkers go by `Variable.__init__`

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            creators = CREATION.creators
            if not creators:
                return super().__call__(*args, **kwargs)
            bound = inspect.signature(cls.__init__).bind(None, *args, **kwargs)
            bound.apply_defaults()
            make = super().__call__
            for creator in creators:
                make = functools.partial(creator, make)
            return make(**dict(list(bound.arguments.items())[1:]))


class Variable(metaclass=_Creating):
    """A tensor-valued state that programs read and assign: TensorFlow's `tf.Variable`.

    Args:
        initial_value: Tensor, array, Python number or nested list, or a callable returning one.
        trainable: Whether tapes watch it when it is read. Default: True, unless `synchronization`
            is `ON_READ`.
        validate_shape: Accepted for compatibility.
        caching_device: Accepted for compatibility.
        name: Its name; the `tf.name_scope`s around are put before it and `':0'` behind it to form
            `.name`.
        variable_def: Not supported.
        dtype: The dtype to convert the initial value to.
        import_scope: Accepted for compatibility.
        constraint: A function of the value, stored for optimizers; `assign` does not apply it.
        synchronization: See `tf.VariableSynchronization`.
        aggregation: See `tf.VariableAggregation`.
        shape: The declared shape, which may have None dimensions; then values of other sizes can be
            assigned.
        experimental_enable_variable_lifting: Accepted for compatibility.

    Raises:
        ValueError: Without an initial value, when its shape does not fit `shape`, when it is a
            tensor of another dtype than `dtype`, or when `constraint` cannot be called.
        TypeError: If a Python number does not fit `dtype`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign_add([1.0, 1.0]).numpy().tolist()
        [2.0, 3.0]
        >>> rows = tf.Variable([[1.0, 2.0]], shape=[None, 2])
        >>> rows.assign([[1.0, 2.0], [3.0, 4.0]]).numpy().shape
        (2, 2)

    Differs from TensorFlow:
        An argument of an unknown name is an error; TensorFlow ignores it.
    """

    tensor: Tensor
    """The current value."""
    serial: int
    """Creation order."""
    reference: weakref.ref[Variable]
    replication: Any = None
    """What a strategy that has several copies of it says about assignments, or None."""
    guest: Any = None
    """A weak reference to another library's variable that it is the value of, or None."""

    __array_priority__ = 100

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        del validate_shape, caching_device, import_scope, experimental_enable_variable_lifting
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are "
                "not providing a `variable_def`. You provided neither."
                if variable_def is None
                else "tapejax cannot build a variable from `variable_def`; pass `initial_value`."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(
                "Argument `constraint` must be None or a callable. "
                f"Got a {type(constraint)}:  {constraint!r}"
            )
        if callable(initial_value):
            initial_value = initial_value()
        array, aval = _initial_array(initial_value, None if dtype is None else as_dtype(dtype))
        self.serial = next(_serials)
        self.reference = weakref.ref(self)
        self._name = scoped_name("Variable" if name is None else name)
        by_default = synchronization is not VariableSynchronization.ON_READ
        self._trainable = by_default if trainable is None else bool(trainable)
        self._constraint = constraint
        self._synchronization = synchronization
        self._aggregation = aggregation
        self._shape = None if shape is None else TensorShape(shape)
        if self._shape is not None and not self._shape.is_compatible_with(aval.shape):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({aval.tf_shape}) is "
                f"not compatible with the explicitly supplied `shape` argument ({shape})."
            )
        self.hold(Tensor.concrete(array, aval, aval, owned=not isinstance(array, Tracer)))
        for listener in CREATION.listeners:
            listener(self)

    @classmethod
    def around(cls, array: Any, name: str, trainable: bool) -> Variable:
        """A variable of a value that a guest library made and goes on naming; nobody is told of it.

        Args:
            array: Its value, a `jax.Array` (shared, so never donated).
            name: Its name, used as it is.
            trainable: Whether tapes watch it.
        """
        variable = cls.__new__(cls)
        variable.serial = next(_serials)
        variable.reference = weakref.ref(variable)
        variable._name = name
        variable._trainable = trainable
        variable._constraint = None
        variable._synchronization = VariableSynchronization.AUTO
        variable._aggregation = VariableAggregation.NONE
        variable._shape = None
        aval = aval_of(array)
        variable.hold(Tensor.concrete(array, aval, aval))
        return variable

    def hold(self, tensor: Tensor) -> None:
        """Make `tensor`, a handle nobody else has, the current value."""
        tensor.cell = self.reference
        array = tensor.array
        placed = tensor.aval if array is None else placed_key(tensor.aval, array)
        tensor.key = variable_key(placed, self._trainable)
        self.tensor = tensor

    # ------------------------------------------------------------------ description
    @property
    def name(self) -> str:
        """The name, with TensorFlow's `:0`."""
        return self._name + ":0"

    @property
    def shape(self) -> TensorShape:
        """The declared shape, or that of the value."""
        return self.tensor.aval.tf_shape if self._shape is None else self._shape

    @property
    def dtype(self) -> DType:
        """The `tf.DType` of the elements."""
        return self.tensor.aval.tf_dtype

    @property
    def trainable(self) -> bool:
        """Whether tapes watch it when it is read."""
        return self._trainable

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """The constraint function given at creation."""
        return self._constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        """When replicas are brought together."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """How replicas are aggregated."""
        return self._aggregation

    @property
    def device(self) -> str:
        """The device string, in TensorFlow's spelling."""
        return self.tensor.device

    @property
    def initializer(self) -> None:
        """None: there is nothing left to run."""

    @property
    def op(self) -> NoReturn:
        """Eager variables belong to no graph."""
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self) -> NoReturn:
        """Eager variables belong to no graph."""
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    @property
    def initial_value(self) -> Any:
        """Not kept: eager variables have a value from the start."""
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def get_shape(self) -> TensorShape:
        """The declared shape, or that of the value."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Narrow the declared shape.

        Raises:
            ValueError: If `shape` does not agree with it.
        """
        self._shape = self.shape.merge_with(shape)

    def is_initialized(self, name: str | None = None) -> bool:
        """Always True: a variable has a value from its creation."""
        del name
        return True

    def ref(self) -> Reference:
        """A hashable reference, for use as a dictionary key (variables compare by value)."""
        return Reference(self)

    # ------------------------------------------------------------------ conversions
    def numpy(self) -> Any:
        """The value as a NumPy array the caller may change, or a NumPy scalar at rank 0."""
        self.note_access()
        return self.tensor.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        self.note_access()
        return self.tensor.__array__(dtype, copy)

    def __bool__(self) -> bool:
        self.note_access()
        return bool(self.tensor)

    def __float__(self) -> float:
        self.note_access()
        return float(self.tensor)

    def __int__(self) -> int:
        self.note_access()
        return int(self.tensor)

    def __complex__(self) -> complex:
        self.note_access()
        return complex(self.tensor)

    def __index__(self) -> int:
        self.note_access()
        return self.tensor.__index__()

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.tensor.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()

    def __repr__(self) -> str:
        if self.tensor.symbolic_name() is not None:  # assigned in a function being traced
            return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
        self.note_access()
        return printing.variable_repr(self.tensor.view(), self.dtype, self.shape, self.name)

    __str__ = __repr__

    def __hash__(self) -> int:
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "'Variable' object does not support item assignment. Use variable[index].assign(value)."
        )

    def __iadd__(self, value: Any) -> Any:
        raise _no_inplace("+=", "assign_add", "+")

    def __isub__(self, value: Any) -> Any:
        raise _no_inplace("-=", "assign_sub", "-")

    def __imul__(self, value: Any) -> Any:
        raise _no_inplace("*=", "assign", "*")

    def __itruediv__(self, value: Any) -> Any:
        raise _no_inplace("/=", "assign", "/")

    def __ipow__(self, value: Any) -> Any:
        raise _no_inplace("**=", "assign", "**")

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        twin = self._twin(self.numpy())
        memo[id(self)] = twin
        return twin

    def __reduce__(self) -> Any:
        return (
            _rebuild,
            (self.numpy(), self._trainable, self._name, self._shape),
        )

    def _twin(self, value: Any) -> Variable:
        return Variable(
            value,
            trainable=self._trainable,
            name=self._name,
            constraint=self._constraint,
            synchronization=self._synchronization,
            aggregation=self._aggregation,
            shape=self._shape,
        )

    if TYPE_CHECKING:  # attached by ops/operators.py
        note_access: Any
        value: Any
        read_value: Any
        assign: Any
        assign_add: Any
        assign_sub: Any
        __getitem__: Any
        __add__: Any
        __sub__: Any
        __mul__: Any


def _no_inplace(operator: str, method: str, binary: str) -> RuntimeError:
    return RuntimeError(
        f"`variable {operator} value` with `tf.Variable`s is not supported. "
        f"Use `variable.{method}({'value' if method != 'assign' else f'variable {binary} value'})` "
        f"to modify the variable, or `out = variable {binary} value` if you need to get a new "
        "output Tensor."
    )


def _rebuild(value: Any, trainable: bool, name: str, shape: TensorShape | None) -> Variable:
    return Variable(value, trainable=trainable, name=name, shape=shape)


def _initial_array(value: Any, dtype: DType | None) -> tuple[Any, Aval]:
    if isinstance(value, (Tensor, Variable)) and dtype is not None and dtype != value.dtype:
        kind = type(value).__name__
        raise ValueError(
            f"initial_value: {kind} conversion requested dtype {dtype.name} for {kind} with dtype "
            f"{value.dtype.name}: {value!r}. Leave `dtype` out, or use tf.cast(initial_value, "
            f"tf.{dtype.name})."
        )
    if isinstance(value, Variable):
        value.note_access()
        value = value.tensor
    if isinstance(value, Tensor):
        array = value.value_array("initial value")
        aval = value.aval
        return _own(array), aval
    if isinstance(value, jax.Array) and dtype is None:
        return _own(value), aval_of(value)
    array = to_numpy(value, dtype)
    return array, aval_of(array)


def _own(array: Any) -> Any:
    """A copy nobody else holds, so that an update may reuse the buffer."""
    if isinstance(array, Tracer) or (
        isinstance(array, jax.Array) and not array.is_fully_addressable
    ):
        return array
    if isinstance(array, jax.Array) and len(array.sharding.device_set) > 1:
        return jax.device_put(array, array.sharding, may_alias=False)
    return np.array(array)

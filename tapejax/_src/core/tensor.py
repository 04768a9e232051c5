"""`tf.Tensor`: a handle on a value that is either computed already or recorded in a program."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core import printing
from tapejax._src.core.avals import Aval, LeafKey, aval_of
from tapejax._src.core.dtypes import DType
from tapejax._src.core.shapes import TensorShape

if TYPE_CHECKING:
    from tapejax._src.core.variable import Variable


class Pending(Protocol):
    """What a tensor needs to know of the recorder that computes or uses it."""

    done: bool
    """Whether it has run."""

    symbolic: str | None
    """Why there are no values: a function is being traced. Else None."""

    def materialize(self, tensor: Tensor, how: str = "use") -> Any:
        """Compute the tensor and return its array."""
        ...

    def name_of(self, tensor: Tensor) -> str:
        """The name of a tensor of a function being traced."""
        ...


class Tensor:
    """An immutable array: TensorFlow's `tf.Tensor`, computed when its value is needed.

    `shape` and `dtype` are known at once. Reading the value (`numpy()`, `float()`, `bool()`,
    printing, NumPy functions) runs the recorded program that leads to it.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> (x @ x).numpy().tolist()
        [[7.0, 10.0], [15.0, 22.0]]
    """

    __slots__ = (
        "__weakref__",
        "array",
        "aval",
        "cell",
        "index",
        "key",
        "origin",
        "owned",
        "recorder",
    )

    aval: Aval
    """Shape and dtype."""
    array: Any
    """The concrete array (`jax.Array`, `numpy.ndarray` or a JAX tracer), or None while pending."""
    recorder: Pending | None
    """The recorder whose program computes this value; of a concrete value, one that it entered."""
    index: int
    """The value's number in that program."""
    key: LeafKey
    """How it enters a program. This and what follows is set when the value becomes concrete or a
    variable's: most results never do."""
    owned: bool
    """Whether the buffer was made by the engine and may be donated once this handle is gone."""
    origin: tuple[Any, Any, Any]
    """Set on a part of a variable: (variable, index, function that assigns it)."""
    cell: weakref.ref[Variable] | None
    """The variable whose current or former value this is."""

    __array_priority__ = 100

    def __init__(self, aval: Aval, recorder: Pending | None, index: int) -> None:
        self.aval = aval
        self.array = None
        self.recorder = recorder
        self.index = index

    @classmethod
    def concrete(cls, array: Any, aval: Aval, key: LeafKey, owned: bool = False) -> Tensor:
        """A tensor of a value that exists."""
        self = cls(aval, None, -1)
        self.array = array
        self.cell = None
        self.key = key
        self.owned = owned
        return self

    # ------------------------------------------------------------------ what is known at once
    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self.aval.tf_shape

    @property
    def dtype(self) -> DType:
        """The `tf.DType` of the elements."""
        return self.aval.tf_dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.aval.shape)

    @property
    def device(self) -> str:
        """The device string, in TensorFlow's spelling."""
        kind = jax.default_backend().upper()
        return f"/job:localhost/replica:0/task:0/device:{'CPU' if kind == 'CPU' else 'GPU'}:0"

    @property
    def name(self) -> str:
        """The name of a tensor of a function being traced; eager tensors have none."""
        name = self.symbolic_name()
        if name is None:
            raise _undefined("name")
        return name

    @property
    def op(self) -> NoReturn:
        """Eager tensors belong to no graph."""
        raise _undefined("op")

    @property
    def graph(self) -> NoReturn:
        """Eager tensors belong to no graph."""
        raise _undefined("graph")

    @property
    def backing_device(self) -> str:
        """The device that holds the value (same as `device`)."""
        return self.device

    def get_shape(self) -> TensorShape:
        """The static shape (same as `shape`)."""
        return self.aval.tf_shape

    def set_shape(self, shape: Any) -> None:
        """Check that `shape` agrees with the tensor's own.

        Raises:
            ValueError: If it does not.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}"
            )

    def ref(self) -> Reference:
        """A hashable reference, for use as a dictionary key (tensors compare by value)."""
        return Reference(self)

    # ------------------------------------------------------------------ reading the value
    def value_array(self, how: str = "value") -> Any:
        """The concrete array, computing it when it is pending; `how` it is read words errors."""
        array = self.array
        if array is None:
            assert self.recorder is not None
            array = self.recorder.materialize(self, how)
        return array

    def symbolic_name(self) -> str | None:
        """Its name, if it is a tensor of a function being traced, which has no value."""
        recorder = self.recorder
        if self.array is not None or recorder is None or recorder.symbolic is None:
            return None
        return recorder.name_of(self)

    def numpy(self) -> Any:
        """The value as a NumPy array the caller may change, or a NumPy scalar at rank 0.

        Example:
            >>> import tapejax as tf
            >>> tf.constant(2.5).numpy()
            np.float32(2.5)
        """
        array = np.asarray(self.array if self.array is not None else self.value_array("numpy"))
        return array[()] if array.ndim == 0 else array.copy()

    def view(self) -> np.ndarray[Any, Any]:
        """The value as a NumPy array that must not be changed (no copy)."""
        return np.asarray(self.array if self.array is not None else self.value_array("view"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = np.asarray(self.array if self.array is not None else self.value_array("array"))
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array if copy is False else array.copy()

    def __bool__(self) -> bool:
        array = self.value_array("bool")
        if isinstance(array, Tracer):
            return bool(array)
        array = np.asarray(array)
        return bool(array) if array.size else False

    def __float__(self) -> float:
        array = self.array
        if array is None and self.recorder is not None:
            array = self.recorder.materialize(self, "float")
        return float(np.asarray(array) if self.aval.shape == () else self._scalar())

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        return np.asarray(self.value_array("index")).__index__()

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._scalar(), ndigits) if ndigits is not None else round(self._scalar())

    def _scalar(self, how: str = "float") -> Any:
        array = np.asarray(self.array if self.array is not None else self.value_array(how))
        if array.ndim:
            raise TypeError(
                f"only 0-dimensional arrays can be converted to Python scalars: "
                f"this tensor has shape {self.shape} and dtype {self.dtype.name}; "
                "reduce it first, or take one element"
            )
        return array[()]

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return self.aval.shape[0]

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._jax_value().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self._jax_value().__dlpack_device__()

    def _jax_value(self) -> Any:
        array = self.value_array()
        return jax.numpy.asarray(array) if isinstance(array, np.ndarray) else array

    def __str__(self) -> str:
        name = self.symbolic_name()
        if name is not None:
            return printing.symbolic_str(self.shape, self.dtype, name)
        return printing.tensor_str(self.view(), self.dtype, self.shape)

    def __repr__(self) -> str:
        name = self.symbolic_name()
        if name is not None:
            return printing.symbolic_repr(self.shape, self.dtype, name)
        return printing.tensor_repr(self.view(), self.dtype, self.shape)

    def __format__(self, spec: str) -> str:
        if not spec and self.symbolic_name() is not None:
            return str(self)
        array = np.asarray(self.value_array("format"))
        return format(array[()] if array.ndim == 0 else array, spec)

    def __reduce__(self) -> Any:
        return host_tensor, (self.numpy(),)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TypeError(
            "'Tensor' object does not support item assignment: tensors are immutable. "
            "Use tf.tensor_scatter_nd_update(tensor, indices, updates), "
            "or a tf.Variable and variable[index].assign(value)."
        )

    def __getattr__(self, name: str) -> Any:
        if name == "assign":
            part = getattr(self, "origin", None)
            if part is not None:
                variable, index, assign = part
                return lambda value, name=None: assign(variable, index, value)
        if name in ("name", "op", "graph"):  # the properties raised
            raise _undefined(name)
        if name == "origin":
            raise AttributeError(name)
        raise AttributeError(f"'Tensor' object has no attribute {name!r}{_HINTS.get(name, '')}")

    if TYPE_CHECKING:  # attached by ops/operators.py, the one table of operators
        __add__: Any
        __radd__: Any
        __sub__: Any
        __rsub__: Any
        __mul__: Any
        __rmul__: Any
        __truediv__: Any
        __rtruediv__: Any
        __floordiv__: Any
        __rfloordiv__: Any
        __mod__: Any
        __rmod__: Any
        __pow__: Any
        __rpow__: Any
        __matmul__: Any
        __rmatmul__: Any
        __neg__: Any
        __pos__: Any
        __abs__: Any
        __invert__: Any
        __and__: Any
        __or__: Any
        __xor__: Any
        __lt__: Any
        __le__: Any
        __gt__: Any
        __ge__: Any
        __getitem__: Any
        __iter__: Any


_HINTS = {
    "T": ": use tf.transpose(x), or tf.linalg.matrix_transpose(x) for the last two axes",
    "reshape": ": use tf.reshape(x, shape)",
    "astype": ": use tf.cast(x, dtype)",
    "size": ": use tf.size(x)",
    "sum": ": use tf.reduce_sum(x)",
    "mean": ": use tf.reduce_mean(x)",
    "transpose": ": use tf.transpose(x)",
    "item": ": use x.numpy().item()",
    "tolist": ": use x.numpy().tolist()",
    "copy": ": tensors are immutable, x itself will do; x.numpy() gives an array to change",
    "assign": ": tensors are immutable; assign to a tf.Variable, or to a part variable[...]",
    "assign_add": ": tensors are immutable; assign to a tf.Variable",
    "assign_sub": ": tensors are immutable; assign to a tf.Variable",
}


def host_tensor(value: Any) -> Tensor:
    """A tensor of a NumPy array or scalar that nobody else will change."""
    array = np.asarray(value)
    aval = aval_of(array)
    return Tensor.concrete(array, aval, aval)


def _undefined(name: str) -> AttributeError:
    return AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")


class Reference:
    """A hashable reference to a tensor or variable: equal when both refer to the same object.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant(1.0)
        >>> {x.ref(): "x"}[x.ref()]
        'x'
    """

    __slots__ = ("_referent",)

    def __init__(self, referent: Any) -> None:
        self._referent = referent

    def deref(self) -> Any:
        """The object referred to."""
        return self._referent

    def __hash__(self) -> int:
        return id(self._referent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._referent is other._referent

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referent!r}>"

"""Names that belong to graphs: what has a meaning here works, the rest says what to write."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tapejax._src.core import errors, naming
from tapejax._src.core.composite_specs import RaggedTensorSpec, SparseTensorSpec
from tapejax._src.core.device_spec import DeviceSpec
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.specs import IndexedSlicesSpec, TensorSpec, TypeSpec
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.hidden import Asked, hidden_input
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import Array, TensorLike, op, public
from tapejax._src.ops.sparse_tensor import SparseTensor

public("DeviceSpec")(DeviceSpec)
public("IndexedSlicesSpec")(IndexedSlicesSpec)


@public("AggregationMethod")
class AggregationMethod:
    """How `tf.gradients` adds up gradients. Accepted for compatibility: XLA decides."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@public("Graph")
class Graph:
    """Graphs of TensorFlow 1, which cannot be built here.

    Raises:
        NotImplementedError: Always; a `tf.function` takes their place.

    Example:
        >>> import tapejax as tf
        >>> tf.Graph()
        Traceback (most recent call last):
        NotImplementedError: tapejax builds no graphs by hand. ...
    """

    def __init__(self) -> None:
        raise NotImplementedError(
            "tapejax builds no graphs by hand. Write the code of the graph as a function under "
            "@tf.function and call it; the arguments take the place of placeholders."
        )


@public("Operation")
class Operation:
    """Nodes of graphs, which cannot be made here.

    Raises:
        NotImplementedError: Always; ops are functions.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs
        raise NotImplementedError(
            "tapejax has no graph nodes. Call the op's function and use the tensor it returns; "
            "inside a tf.function that records the op."
        )


def _refuse(what: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"{what} is not supported: {instead}")


@public("import_graph_def")
def import_graph_def(
    graph_def: Any,
    input_map: Any = None,
    return_elements: Any = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> NoReturn:
    """Refused: graphs of TensorFlow cannot be read.

    Args:
        graph_def: A graph.
        input_map: Ignored.
        return_elements: Ignored.
        name: Ignored.
        op_dict: Ignored.
        producer_op_list: Ignored.

    Raises:
        NotImplementedError: Always.
    """
    _refuse(
        "tf.import_graph_def",
        "a GraphDef holds TensorFlow's own ops. Write the computation as Python code, or load the "
        "weights with tf.train.load_checkpoint.",
    )


@public("load_op_library")
def load_op_library(library_filename: Any) -> NoReturn:
    """Refused: libraries of ops are made for TensorFlow's runtime.

    Args:
        library_filename: A file.

    Raises:
        NotImplementedError: Always.
    """
    _refuse(
        "tf.load_op_library",
        "such a library is compiled for TensorFlow's runtime. Write the op in Python, call a C "
        "library with tf.numpy_function, or use jax.ffi with tf.jax_call.",
    )


@public("load_library")
def load_library(library_location: Any) -> NoReturn:
    """Refused: libraries of ops are made for TensorFlow's runtime.

    Args:
        library_location: A file or folder.

    Raises:
        NotImplementedError: Always.
    """
    _refuse(
        "tf.load_library",
        "such a library is compiled for TensorFlow's runtime. Write the op in Python, call a C "
        "library with tf.numpy_function, or use jax.ffi with tf.jax_call.",
    )


# ---------------------------------------------------------------------- gradients of node types
class _GradientRegistry:
    def __init__(self) -> None:
        self.by_type: dict[str, Any] = {}


_GRADIENTS = _GradientRegistry()


def _register(op_type: Any, rule: Any) -> None:
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    if op_type in _GRADIENTS.by_type:
        raise KeyError(
            f"Registering two gradient with name '{op_type}'! Gradients of the ops here are set "
            "with tf.custom_gradient."
        )
    _GRADIENTS.by_type[op_type] = rule


@public("RegisterGradient")
class RegisterGradient:
    """A decorator for the gradient of a type of graph node; kept, and used by nothing.

    Node types are made by libraries of TensorFlow's runtime. The gradient of Python code is set
    with `tf.custom_gradient`.

    Args:
        op_type: The name of a node type.

    Raises:
        TypeError: If it is not a string.
        KeyError: On use, if it has a gradient already.

    Example:
        >>> import tapejax as tf
        >>> @tf.RegisterGradient("MyNode")
        ... def _gradient(op, grad):
        ...     return grad
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Register the function `f` of a node and its output's gradient."""
        _register(self._op_type, f)
        return f


@public("no_gradient")
def no_gradient(op_type: str) -> None:
    """Say that a type of graph node has no gradient; kept, and used by nothing.

    Args:
        op_type: The name of a node type.

    Raises:
        TypeError: If it is not a string.
        KeyError: If it has a gradient already.

    Example:
        >>> import tapejax as tf
        >>> tf.no_gradient("MyCountingNode")
    """
    _register(op_type, None)


# ---------------------------------------------------------------------- tensors
@op("guarantee_const", node="GuaranteeConst", gradient="lookup", cases=("f32[2,3]", "i32[]"))
def guarantee_const(input: TensorLike, name: str | None = None) -> Array:
    """`input`, of which TensorFlow may assume that it never changes; here the identity."""
    return input


@public("is_symbolic_tensor")
def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether a value is a tensor of a function that is being traced, which has no value yet.

    Args:
        tensor: Any value.

    Returns:
        True for arguments and results of ops inside of a `tf.function`.

    Example:
        >>> import tapejax as tf
        >>> tf.is_symbolic_tensor(tf.constant(1.0))
        False
    """
    if not isinstance(tensor, Tensor) or tensor.array is not None:
        return False
    recorder = tensor.recorder
    return recorder is not None and getattr(recorder, "symbolic", None) is not None


@public("get_current_name_scope")
def get_current_name_scope() -> str:
    """The names of the `tf.name_scope`s around, joined by slashes.

    Example:
        >>> import tapejax as tf
        >>> with tf.name_scope("encoder"):
        ...     tf.get_current_name_scope()
        'encoder'
    """
    return naming.scoped_name("").rstrip("/")


@public("timestamp")
def timestamp(name: str | None = None) -> Tensor:
    """The seconds since 1970, a float64 scalar; inside a function, those at each call.

    Args:
        name: Ignored.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.timestamp() > 1e9)
        True
    """
    del name
    return hidden_input(Asked(lambda: np.asarray(time.time())))


@public("tuple")
def tuple_(tensors: Any, control_inputs: Any = None, name: str | None = None) -> Any:
    """The tensors, all of which have been computed when one is used.

    Args:
        tensors: A list of tensors, slices and None.
        control_inputs: Ignored: ops run in the order they are written in.
        name: Ignored.

    Returns:
        `tensors`; inside a function a new list.

    Raises:
        ValueError: Inside a function, if there is no tensor among them.

    Example:
        >>> import tapejax as tf
        >>> len(tf.tuple([tf.constant(1.0), None]))
        2
    """
    del control_inputs, name
    if LOCAL.recorder.symbolic is None:
        return tensors
    given = list(tensors)
    if all(item is None for item in given):
        raise ValueError(f"Must have at least one Tensor. Received: {tensors}")
    kept = (type(None), IndexedSlices)
    return [item if isinstance(item, kept) else as_tensor(item) for item in given]


@public("check_pinned")
def check_pinned(tensor: Any, name: str | None = None) -> NoReturn:
    """Refused: JAX does not say which host memory is pinned.

    Args:
        tensor: A tensor.
        name: Ignored.

    Raises:
        FailedPreconditionError: Always, as TensorFlow without CUDA does.
    """
    raise errors.FailedPreconditionError(
        None, None, "JAX does not say which memory of the host is pinned [Op:CheckPinned]"
    )


@public("type_spec_from_value")
def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a value.

    Args:
        value: A tensor, variable, array, number, string, `tf.IndexedSlices`, sparse or ragged
            tensor.

    Returns:
        A `tf.TensorSpec`, `tf.IndexedSlicesSpec`, ...

    Raises:
        TypeError: If there is no spec for such a value.

    Example:
        >>> import tapejax as tf
        >>> tf.type_spec_from_value(tf.constant([1.0, 2.0]))
        TensorSpec(shape=(2,), dtype=tf.float32, name=None)

    *Differs from TensorFlow*: a variable has a `tf.TensorSpec`.
    """
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, IndexedSlices):
        shape = value.dense_shape
        return IndexedSlicesSpec(
            value.shape,
            value.dtype,
            value.indices.dtype,
            None if shape is None else shape.dtype,
            value.indices.shape,
        )
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, RaggedTensor):
        splits = value.row_splits.dtype
        return RaggedTensorSpec(value.shape, value.dtype, value.ragged_rank, splits)
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    if isinstance(value, Variable):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (Tensor, np.ndarray, np.generic, bool, int, float, complex, str, bytes)):
        tensor = as_tensor(value)
        return TensorSpec(tensor.shape, tensor.dtype)
    if isinstance(value, (list, tuple)):
        try:
            tensor = as_tensor(value)
        except (TypeError, ValueError):
            pass
        else:
            return TensorSpec(tensor.shape, tensor.dtype)
    raise TypeError(f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}.")


# ---------------------------------------------------------------------- critical sections
class _Sections:
    def __init__(self) -> None:
        self.by_name: dict[str, threading.Lock] = {}
        self.lock = threading.Lock()

    def of(self, name: str | None) -> threading.Lock:
        if name is None:
            return threading.Lock()
        with self.lock:
            return self.by_name.setdefault(name, threading.Lock())


_SECTIONS = _Sections()


@public("CriticalSection")
class CriticalSection:
    """Code that one thread at a time may run.

    Args:
        name: Its name.
        shared_name: Sections of one shared name are one section.
        critical_section_def: Not supported.
        import_scope: Not supported.

    Raises:
        ValueError: If `critical_section_def` is given.

    Example:
        >>> import tapejax as tf
        >>> section, v = tf.CriticalSection(), tf.Variable(0.0)
        >>> float(section.execute(lambda: v.assign_add(1.0)))
        1.0
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: Any = None,
    ) -> None:
        if critical_section_def is not None or import_scope is not None:
            raise ValueError("critical_section_def and import_scope are not supported.")
        self._name = name or "critical_section"
        self._lock = _SECTIONS.of(shared_name)
        self._holder: int | None = None

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def execute(
        self,
        fn: Callable[[], Any],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """Call `fn` while no other thread is in the section.

        Args:
            fn: A function without arguments.
            exclusive_resource_access: Accepted for compatibility.
            name: Ignored.

        Returns:
            What `fn` returns.

        Raises:
            ValueError: If `fn` cannot be called, or enters the section again.
        """
        del exclusive_resource_access, name
        if not callable(fn):
            raise ValueError("fn must be callable.")
        if self._holder == threading.get_ident():
            raise ValueError(
                f"Attempting to lock the CriticalSection {self._name!r} in which we are already "
                "running: the inner call would wait for ever."
            )
        with self._lock:
            self._holder = threading.get_ident()
            try:
                return fn()
            finally:
                self._holder = None

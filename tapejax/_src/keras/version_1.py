"""`tf.compat.v1` in eager programs: aliases, old argument names, and advice for graphs."""

from __future__ import annotations

import functools
import importlib
import logging as python_logging
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.ops import casting, event_messages


def library() -> Any:
    """`tapejax` itself, whose names are those of TensorFlow 2."""
    return importlib.import_module("tapejax")


class Overlay:
    """A namespace of TensorFlow 1: a few names of its own, the others TensorFlow 2's.

    Args:
        path: Where TensorFlow 2 has the others; None if nowhere.
        names: Its own.
    """

    def __init__(self, path: str | None, names: Mapping[str, Any]) -> None:
        self.__dict__.update(names)
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if self._path is None or name.startswith("__"):
            raise AttributeError(f"tf.compat.v1 has no such name here: {name}")
        return getattr(functools.reduce(getattr, self._path.split("."), library()), name)


# ---------------------------------------------------------------------- switches and graphs
def _nothing(*args: Any, **kwargs: Any) -> None:
    """What a program asks for is so anyway."""
    del args, kwargs


def _yes() -> bool:
    """Programs run eagerly, and functions are compiled."""
    return True


def _refused(name: str, advice: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        del args, kwargs
        raise NotImplementedError(f"tf.compat.v1.{name} needs TensorFlow 1's graphs. {advice}")

    refuse.__name__ = name
    refuse.__doc__ = f"Refused: {advice}"
    return refuse


class Settings:
    """A `ConfigProto` or a part of one: it takes any setting, as devices are JAX's to configure."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def __getattr__(self, name: str) -> Settings:
        if name.startswith("__"):
            raise AttributeError(name)
        part = self.__dict__[name] = Settings()
        return part


class Session:
    """What programs open to configure a GPU. It runs nothing: there is no graph.

    Args:
        target: Ignored.
        graph: Ignored.
        config: Ignored.
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        del target, graph, config

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing to close."""

    def close(self) -> None:
        """Nothing to close."""

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None) -> NoReturn:
        """Refused: call the operations and read the values."""
        del fetches, feed_dict, options
        raise RuntimeError(
            "The Session graph is empty. Operations run when they are called: write a function of "
            "the values instead of feeding a graph, and read its results."
        )


_PLACEHOLDER = "Write a function of the value."
_VARIABLE = "Write `tf.Variable(value)`, and keep it in a `tf.Module` or a dictionary."
GRAPHS: Mapping[str, Any] = {
    **dict.fromkeys(
        (
            "enable_control_flow_v2",
            "enable_eager_execution",
            "enable_resource_variables",
            "enable_tensor_equality",
            "enable_v2_behavior",
            "enable_v2_tensorshape",
            "global_variables_initializer",
            "local_variables_initializer",
            "reset_default_graph",
            "tables_initializer",
        ),
        _nothing,
    ),
    "ConfigProto": Settings,
    "GPUOptions": Settings,
    "InteractiveSession": Session,
    "Session": Session,
    "disable_eager_execution": _refused("disable_eager_execution", "Leave the call out."),
    "disable_v2_behavior": _refused("disable_v2_behavior", "Leave the call out."),
    "executing_eagerly_outside_functions": _yes,
    "get_default_graph": _refused("get_default_graph", "Use tf.function."),
    "get_variable": _refused("get_variable", _VARIABLE),
    "placeholder": _refused("placeholder", _PLACEHOLDER),
    "placeholder_with_default": _refused("placeholder_with_default", _PLACEHOLDER),
    "trainable_variables": _refused("trainable_variables", "Use those of the model or module."),
    "variable_scope": _refused("variable_scope", _VARIABLE),
}


MESSAGES: Mapping[str, Any] = {
    "Event": event_messages.Event,
    "Summary": event_messages.Summary,
    "SummaryMetadata": event_messages.SummaryMetadata,
}


# ---------------------------------------------------------------------- old argument names
def _reduction(name: str) -> Callable[..., Any]:
    def reduce(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        axis = reduction_indices if axis is None else axis
        keep = bool(keep_dims if keepdims is None else keepdims)
        return new(input_tensor, axis=axis, keepdims=keep, name=name)

    def new(*args: Any, **kwargs: Any) -> Any:
        return getattr(library(), name)(*args, **kwargs)

    reduce.__name__ = name
    return reduce


def _argument(name: str) -> Callable[..., Any]:
    def find(
        input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, **kwargs: Any
    ) -> Any:
        found = 0 if axis is None and dimension is None else dimension if axis is None else axis
        return getattr(library(), function)(input, axis=found, name=name, **kwargs)

    function = name
    find.__name__ = name
    return find


def _to(dtype: str) -> Callable[..., Any]:
    def convert(x: Any, name: str | None = None) -> Tensor:
        return casting.cast(x, dtype, name=name)

    return convert


def div(x: Any, y: Any, name: str | None = None) -> Any:
    """Python 2's division: rounded down for integers."""
    left = as_tensor(x)
    tf = library()
    return tf.math.floordiv(left, y) if left.dtype.is_integer else tf.divide(left, y, name=name)


def _expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    return library().expand_dims(input, dim if axis is None else axis, name=name)


def _squeeze(
    input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Any:
    return library().squeeze(input, squeeze_dims if axis is None else axis, name=name)


def _assign(method: str) -> Callable[..., Any]:
    def assign(ref: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        return getattr(ref, method)(value)

    return assign


def _dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: Any = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    if (keep_prob is None) == (rate is None):
        raise ValueError("You must provide a rate to dropout: rate=..., or 1 - keep_prob.")
    share = 1 - keep_prob if rate is None else rate
    return library().nn.dropout(x, share, noise_shape=noise_shape, seed=seed, name=name)


def _cross_entropy(name: str) -> Callable[..., Any]:
    def loss(
        _sentinel: Any = None, labels: Any = None, logits: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        if _sentinel is not None:
            raise ValueError("Only call it with named arguments (labels=..., logits=..., ...)")
        kwargs.pop("dim", None)
        return getattr(library().nn, name)(labels, logits, *args, **kwargs)

    return loss


ARRAYS: Mapping[str, Any] = {
    **{
        f"reduce_{kind}": _reduction(f"reduce_{kind}")
        for kind in ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum")
    },
    **{
        f"to_{name}": _to(dtype)
        for name, dtype in (
            ("bfloat16", "bfloat16"),
            ("complex128", "complex128"),
            ("complex64", "complex64"),
            ("double", "float64"),
            ("float", "float32"),
            ("int32", "int32"),
            ("int64", "int64"),
        )
    },
    "argmax": _argument("argmax"),
    "argmin": _argument("argmin"),
    "assign": _assign("assign"),
    "assign_add": _assign("assign_add"),
    "assign_sub": _assign("assign_sub"),
    "div": div,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
}
_MATH = (
    "ceil",
    "digamma",
    "erf",
    "erfc",
    "is_finite",
    "is_inf",
    "is_nan",
    "lgamma",
    "log",
    "log1p",
)
RENAMED: Mapping[str, str] = {
    **{name: f"math.{name}" for name in _MATH},
    "cholesky": "linalg.cholesky",
    "diag": "linalg.tensor_diag",
    "diag_part": "linalg.tensor_diag_part",
    "global_norm": "linalg.global_norm",
    "log_sigmoid": "math.log_sigmoid",
    "matrix_diag": "linalg.diag",
    "matrix_inverse": "linalg.inv",
    "matrix_solve": "linalg.solve",
    "matrix_transpose": "linalg.matrix_transpose",
    "mod": "math.floormod",
    "multinomial": "random.categorical",
    "random_gamma": "random.gamma",
    "random_normal": "random.normal",
    "random_shuffle": "random.shuffle",
    "random_uniform": "random.uniform",
    "read_file": "io.read_file",
    "rsqrt": "math.rsqrt",
    "segment_sum": "math.segment_sum",
    "set_random_seed": "random.set_seed",
    "sparse_to_dense": "sparse.to_dense",
    "string_split": "strings.split",
    "truncated_normal": "random.truncated_normal",
    "unsorted_segment_sum": "math.unsorted_segment_sum",
    "write_file": "io.write_file",
    "zeros_initializer": "zeros_initializer",
}


# ---------------------------------------------------------------------- namespaces
_LOGGER = python_logging.getLogger("tensorflow")
LOGGING: Mapping[str, Any] = {
    **{name: getattr(python_logging, name) for name in ("DEBUG", "ERROR", "FATAL", "INFO", "WARN")},
    **{name: getattr(_LOGGER, name) for name in ("debug", "error", "info", "log", "warning")},
    "fatal": _LOGGER.critical,
    "get_verbosity": _LOGGER.getEffectiveLevel,
    "set_verbosity": _LOGGER.setLevel,
    "warn": _LOGGER.warning,
}
_GFILE = {
    "Copy": "copy",
    "DeleteRecursively": "rmtree",
    "Exists": "exists",
    "FastGFile": "GFile",
    "GFile": "GFile",
    "Glob": "glob",
    "IsDirectory": "isdir",
    "ListDirectory": "listdir",
    "MakeDirs": "makedirs",
    "MkDir": "mkdir",
    "Open": "GFile",
    "Remove": "remove",
    "Rename": "rename",
    "Stat": "stat",
    "Walk": "walk",
}
NN: Mapping[str, Any] = {
    **{
        name: _cross_entropy(name.removesuffix("_v2"))
        for name in (
            "sigmoid_cross_entropy_with_logits",
            "softmax_cross_entropy_with_logits",
            "softmax_cross_entropy_with_logits_v2",
            "sparse_softmax_cross_entropy_with_logits",
        )
    },
    "dropout": _dropout,
}


def _run(main: Any = None, argv: Any = None) -> NoReturn:
    """`tf.compat.v1.app.run`: call `main`, and end the program with what it returns."""
    given = sys.argv if argv is None else argv
    function = main or sys.modules["__main__"].__dict__["main"]
    sys.exit(function(given))


def namespaces() -> Mapping[str, Any]:
    """Each namespace of TensorFlow 1 that differs from TensorFlow 2's."""
    training = importlib.import_module("tapejax._src.keras.version_1_training")
    gfile = library().io.gfile
    return {
        "app": Overlay(None, {"run": _run}),
        "gfile": Overlay("io.gfile", {old: getattr(gfile, new) for old, new in _GFILE.items()}),
        "logging": Overlay(None, LOGGING),
        "losses": Overlay(None, training.LOSSES),
        "math": Overlay("math", {name: ARRAYS[name] for name in ARRAYS if "reduce" in name}),
        "nn": Overlay("nn", NN),
        "random": Overlay("random", {"set_random_seed": library().random.set_seed}),
        "train": Overlay("train", training.TRAIN),
    }


def find(name: str) -> Any:
    """What `tf.compat.v1` has under a name.

    Raises:
        AttributeError: If it has nothing.
    """
    for table in (GRAPHS, ARRAYS, MESSAGES):
        if name in table:
            return table[name]
    if name in RENAMED:
        return functools.reduce(getattr, RENAMED[name].split("."), library())
    return namespaces()[name] if name in namespaces() else getattr(library(), name)

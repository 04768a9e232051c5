"""What a user is told who asks for a name that tapejax does not have.

Each public module ends with

    if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
        __getattr__ = missing_attribute(__name__)

Python calls it only after the ordinary look-up has failed: a name that exists never pays for it.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from tapejax._src.keras import version_1
from tapejax._src.keras.bridge import guest
from tapejax._src.report.absent import ABSENT
from tapejax._src.report.callsite import place, runs_from_import, user_frame

# What to write instead, for names that TensorFlow programs often use. The longest matching prefix
# wins; a test keeps names that exist out of this table.
ADVICE = {
    "GraphKeys": "It belongs to TensorFlow 1; tapejax has TensorFlow 2's eager API.",
    "Session": "It belongs to TensorFlow 1; call the operations and read the values directly.",
    "contrib": "It belongs to TensorFlow 1 and is not part of TensorFlow 2.",
    "get_variable": "It belongs to TensorFlow 1; write `tf.Variable(value)`.",
    "global_variables_initializer": "A `tf.Variable` has its value at once; drop this.",
    "keras.estimator": "Estimators ended with TensorFlow 2.15; train with `Model.fit`.",
    "keras.layers.DenseFeatures": "Use preprocessing layers, or feed arrays.",
    "keras.layers.LocallyConnected1D": "`tf.keras.backend.local_conv1d` computes it.",
    "keras.layers.LocallyConnected2D": "`tf.keras.backend.local_conv2d` computes it.",
    "keras.models.model_from_yaml": "Write `model.to_json()` and `model_from_json`.",
    "keras.premade": "Write it as layers: a linear model is a `Dense`.",
    "layers": "It belongs to TensorFlow 1; write a layer from `tf.Variable` and `tf.matmul`.",
    "placeholder": "It belongs to TensorFlow 1; pass the value itself.",
    "python": "`tensorflow.python` is TensorFlow's private package; use the public name.",
    "train.AdamOptimizer": "The optimizers are in `tf.keras.optimizers`.",
    "train.GradientDescentOptimizer": "The optimizers are in `tf.keras.optimizers`.",
    "train.Saver": "It belongs to TensorFlow 1; write `tf.train.Checkpoint`.",
}
# What a public module imports for itself.
_NOT_TENSORFLOWS = {"TYPE_CHECKING", "annotations", "missing_attribute"}


class LeftOutError(AttributeError, NotImplementedError):
    """A name of TensorFlow's that is left out on purpose; the text says what takes its place."""


def missing_attribute(module_name: str) -> Callable[[str], NoReturn]:
    """Make the module-level `__getattr__` of a public module.

    Args:
        module_name: The module's `__name__`.

    Returns:
        A function of a name that raises: `ImportError` under `from module import name`, otherwise
        `AttributeError`. Both name the user's file and line, and the nearest name there is.

    Example:
        >>> __getattr__ = missing_attribute("tapejax.math")
        >>> __getattr__("__wrapped__")
        Traceback (most recent call last):
        AttributeError: module 'tapejax.math' has no attribute '__wrapped__'
    """

    def refuse(name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}", name=name)
        frame = user_frame()
        message = missing_message(module_name, name, place(frame))
        if runs_from_import(frame):
            # Python would put a text of its own in the place of an AttributeError here.
            raise ImportError(message, name=module_name)
        wanted = f"{module_name.partition('.')[2]}.{name}".lstrip(".")
        kind = AttributeError if advice_for(wanted) is None else LeftOutError
        raise kind(message, name=name)

    return refuse


def guest_attribute(module_name: str) -> Callable[[str], Any]:
    """Make the module-level `__getattr__` of a public module whose names a guest library has.

    Args:
        module_name: The module's `__name__`.

    Returns:
        A function of a name that gives the guest's object, or raises as `missing_attribute` does.
    """
    refuse = missing_attribute(module_name)

    def find(name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            return refuse(name)
        guest.load()
        try:
            return guest.attribute(module_name, name)
        except AttributeError:
            return refuse(name)

    return find


def version_1_attribute(module_name: str) -> Callable[[str], Any]:
    """Make the module-level `__getattr__` of `tf.compat.v1`.

    Args:
        module_name: The module's `__name__`.

    Returns:
        A function of a name that gives what TensorFlow 1 has there, or raises as
        `missing_attribute` does.
    """
    refuse = missing_attribute(module_name)

    def find(name: str) -> Any:
        if name.startswith("__"):
            return refuse(name)
        try:
            return version_1.find(name)
        except (AttributeError, ImportError):
            return refuse(name)

    return find


def missing_message(module_name: str, name: str, where: str) -> str:
    """The text of the error.

    Args:
        module_name: The public module, such as `tapejax.math`.
        name: The name that it lacks.
        where: The user's `file:line`.

    Returns:
        What is missing and where, then the nearest name, then what to write instead if known.
    """
    root, _, inner = module_name.partition(".")
    wanted = f"{inner}.{name}" if inner else name
    parts = [f"{where}: {root} has no `tf.{wanted}`."]
    near = nearest_name(wanted, public_names(root))
    if near is not None:
        parts.append(f"The nearest name it has is `tf.{near}`.")
    advice = advice_for(wanted)
    if advice is not None:
        parts.append(advice)
    return " ".join(parts)


def advice_for(wanted: str) -> str | None:
    """What to use instead of a dotted name: by its longest prefix in `ADVICE` or `ABSENT`."""
    while wanted:
        for table in (ADVICE, ABSENT):
            if wanted in table:
                return table[wanted]
        wanted = wanted.rpartition(".")[0]
    return None


def nearest_name(wanted: str, names: set[str]) -> str | None:
    """The supported name closest to the wanted one, or None.

    The same last part in another namespace comes first (`log` gives `math.log`), then a similar
    spelling in the same namespace, then a similar spelling anywhere.
    """
    namespace, _, last = wanted.rpartition(".")
    beside = {name for name in names if name.rpartition(".")[0] == namespace}
    for cutoff, candidates in ((1.0, names), (0.9, beside), (0.9, names), (0.75, beside)):
        # Of several paths to one name the shortest is kept.
        by_spelling = {_spelling(name): name for name in sorted(candidates, key=len, reverse=True)}
        close = difflib.get_close_matches(_spelling(last), by_spelling, n=1, cutoff=cutoff)
        if close:
            return by_spelling[close[0]]
    return None


def _spelling(name: str) -> str:
    """The last part of a dotted name, without what people mix up: case and underscores."""
    return name.rpartition(".")[2].lower().replace("_", "")


def public_names(root: str) -> set[str]:
    """Every public name of a package, dotted, relative to the package.

    Args:
        root: The package, such as `tapejax`.

    Returns:
        Names such as `math.log1p` and `keras.optimizers`. A module that cannot be imported here,
        because an optional guest is not installed, adds only its own name.
    """
    return _names_of(importlib.import_module(root), "")


def _names_of(module: ModuleType, prefix: str) -> set[str]:
    found = {
        prefix + name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and name not in _NOT_TENSORFLOWS
    }
    path = getattr(module, "__path__", ())
    if isinstance(path, guest.GuestPath):  # looking further would load the guest
        path = [path.own]
    for entry in pkgutil.iter_modules(path):
        if entry.name.startswith("_"):
            continue
        found.add(prefix + entry.name)
        try:
            child = importlib.import_module(f"{module.__name__}.{entry.name}")
        except ImportError:  # an optional guest is not installed
            continue
        found |= _names_of(child, f"{prefix}{entry.name}.")
    return found

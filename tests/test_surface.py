"""The public surface: names, parameters and defaults as in TensorFlow; modules that only re-export.

`golden/tf_api.json` holds TensorFlow's side; `golden/regenerate_api.py` writes it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from golden import regenerate_api
from parity.library import lookup
from parity.rows import BROKEN_MODULES

import tapejax
from tapejax._src.engine.registry import PUBLIC

GOLDEN: dict[str, dict[str, Any]] = json.loads(regenerate_api.GOLDEN.read_text())["namespaces"]
PACKAGE = Path(tapejax.__file__ or "").parent

# name -> why its constructor is not compared
OWN_CONSTRUCTOR = {
    "Tensor": "made by ops and by tf.constant, never by calling the class",
    "RaggedTensor": "made by tf.ragged.constant and from_*; the constructor is private",
    "Operation": "nodes of graphs, which cannot be made here",
    "experimental.numpy.ndarray": "the same class as tf.Tensor",
    "Variable": "TensorFlow's metaclass hides the parameters; compared with `__init__` below",
    "DType": "the dtypes are constants; TensorFlow's takes the number of a protocol buffer",
    "dtypes.DType": "the same class as tf.DType",
    "lookup.StaticHashTable": "TensorFlow's metaclass hides the parameters",
    "lookup.StaticVocabularyTable": "TensorFlow's metaclass hides the parameters",
    "distribute.DistributedDataset": "made by strategies; TensorFlow's is an interface",
    "distribute.DistributedIterator": "made by iter(); TensorFlow's is an interface",
    "distribute.experimental.CommunicationOptions": "TensorFlow hides the parameters",
    "errors": "raised by the library; there is no graph node for TensorFlow's first arguments",
}
# (class, method) -> keyword-only parameters that TensorFlow's lacks; "" is the constructor
EXTRA_PARAMETERS = {
    ("GradientTape", ""): ["*, strict=False"],  # raises the reason of a None
    ("GradientTape", "jacobian"): ["*, chunk_size=None"],  # bounds memory
}
# the one statement besides imports: an error for names that do not exist says what does
MISSING_NAMES = "if not TYPE_CHECKING:\n    __getattr__ = missing_attribute(__name__)"

# What a module of a guest library's names says instead: what it has is known when it is loaded.
GUEST_NAMES = """if TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        ...
else:
    __getattr__ = guest_attribute(__name__)"""
VERSION_1_NAMES = GUEST_NAMES.replace("guest_attribute", "version_1_attribute")
RAW_NAMES = (
    GUEST_NAMES.replace("guest_attribute", "raw_attribute")
    .replace("-> Any", "-> typing.Any")
    .replace("if TYPE", "if typing.TYPE")
)
GUEST_PATH = GUEST_NAMES + "\n    __path__ = GuestPath(__path__[0])"


def public_modules() -> list[str]:
    """Dotted names of the modules users import, below the package."""
    files = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]
    parts = [file.with_suffix("").parts for file in files]
    return sorted(
        ".".join(("tapejax", *part)).removesuffix(".__init__")
        for part in parts
        if part[0] != "_src" and part[-1] != "__main__"
    )


def own_names() -> list[tuple[str, str]]:
    """(namespace, name) of the public names in the namespaces the golden covers."""
    found: list[tuple[str, str]] = []
    for namespace in GOLDEN:
        module = lookup(tapejax, namespace) if namespace else tapejax
        if module is not None:
            found += [(namespace, name) for name in regenerate_api.public_names(module)]
    return found


SHARED = [(space, name) for space, name in own_names() if name in GOLDEN[space]]


def path_of(pair: tuple[str, str]) -> str:
    """`math.abs` of ("math", "abs")."""
    return ".".join(part for part in pair if part)


def described(pair: tuple[str, str]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Our object, our description and TensorFlow's."""
    found = lookup(tapejax, path_of(pair))
    return found, regenerate_api.describe(found), GOLDEN[pair[0]][pair[1]]


def test_the_surface_is_not_empty() -> None:
    """Guards the tests below against having nothing to test."""
    assert not BROKEN_MODULES
    assert len(SHARED) > 300


@pytest.mark.parametrize("pair", SHARED, ids=path_of)
def test_kind_parameters_and_defaults(pair: tuple[str, str]) -> None:
    """A module is a module, a class a class, and functions take the same parameters."""
    _, ours, theirs = described(pair)
    assert ours["kind"] == theirs["kind"]
    own = path_of(pair) in OWN_CONSTRUCTOR or pair[0] in OWN_CONSTRUCTOR
    hidden = theirs["kind"] == "class" and theirs.get("parameters") is None  # protobuf's messages
    if not hidden and not (own and inspect.isclass(lookup(tapejax, path_of(pair)))):
        extra = EXTRA_PARAMETERS.get((pair[1], ""), [])
        taken = ours.get("parameters")
        taken = taken and [name for name in taken if name not in extra]
        assert taken == theirs.get("parameters")
    assert ours.get("value") == theirs.get("value")


def test_a_variable_is_made_with_the_parameters_of_tensorflow() -> None:
    """In this order, so that positional arguments mean the same."""
    assert regenerate_api.describe_callable(tapejax.Variable.__init__) == [
        "self",
        "initial_value=None",
        "trainable=None",
        "validate_shape=True",
        "caching_device=None",
        "name=None",
        "variable_def=None",
        "dtype=None",
        "import_scope=None",
        "constraint=None",
        "synchronization=VariableSynchronization.AUTO",
        "aggregation=VariableAggregation.NONE",
        "shape=None",
        "experimental_enable_variable_lifting=True",
    ]


CLASSES = [pair for pair in SHARED if inspect.isclass(lookup(tapejax, path_of(pair)))]


@pytest.mark.parametrize("pair", CLASSES, ids=path_of)
def test_methods_take_the_parameters_of_tensorflow(pair: tuple[str, str]) -> None:
    """Methods that both classes have."""
    _, ours, theirs = described(pair)
    shared = ours["methods"].keys() & theirs["methods"].keys()
    for (owner, method), extra in EXTRA_PARAMETERS.items():
        if owner == pair[1] and method:
            taken = ours["methods"][method]
            ours["methods"][method] = [name for name in taken if name not in extra]
    different = {
        name: (ours["methods"][name], theirs["methods"][name])
        for name in sorted(shared)
        if theirs["methods"][name] is not None and ours["methods"][name] != theirs["methods"][name]
    }
    assert different == {}


def documented() -> list[str]:
    """Paths of everything public that should have a docstring."""
    found: list[str] = []
    for module in public_modules():
        space = module.removeprefix("tapejax").removeprefix(".")
        names = regenerate_api.public_names(importlib.import_module(module))
        found += [path_of((space, name)) for name in names]
    return found


@pytest.mark.parametrize("path", documented())
def test_docstring(path: str) -> None:
    """Every public function, class and module says what it is."""
    found = lookup(tapejax, path)
    if inspect.isroutine(found) or inspect.isclass(found) or inspect.ismodule(found):
        assert (found.__doc__ or "").strip(), f"tf.{path} has no docstring"


@pytest.mark.parametrize("path", [path for path in PUBLIC if path[0] != "_"])
def test_registered_functions_are_at_their_public_paths(path: str) -> None:
    """The function users import is the one that is registered."""
    assert lookup(tapejax, path) is PUBLIC[path]


@pytest.mark.parametrize("module", public_modules())
def test_public_modules_only_re_export(module: str) -> None:
    """One docstring, imports of explicit names, and the error for missing ones."""
    source = Path(importlib.import_module(module).__file__ or "").read_text()
    docstring, *statements = ast.parse(source).body
    assert isinstance(docstring, ast.Expr), "the module starts with its docstring"
    allowed = (ast.Import, ast.ImportFrom)
    others = [ast.unparse(s) for s in statements if not isinstance(s, allowed)]
    forms = (MISSING_NAMES, GUEST_NAMES, GUEST_PATH, VERSION_1_NAMES, RAW_NAMES)
    assert [text for text in others if text not in forms] == []
    imports = [s for s in statements if isinstance(s, ast.ImportFrom)]
    assert all(alias.name != "*" for s in imports for alias in s.names)


def test_the_golden_is_what_tensorflow_says() -> None:
    """`python tests/golden/regenerate_api.py` after a TensorFlow upgrade."""
    tensorflow = pytest.importorskip("tensorflow", reason="there is no wheel for this Python")
    assert regenerate_api.describe_library(tensorflow) == GOLDEN

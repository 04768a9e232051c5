"""What is said about a name that is not there, and how `import tensorflow` finds tapejax.

Most tests use a small package made for them, so that they do not depend on which names tapejax has.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import tapejax
from tapejax._src.report import missing
from tapejax._src.report.alias import install_alias

PACKAGE = {
    "__init__.py": """
        from tinytape import math as math
        from tinytape.math import log1p as log1p
        def reduce_mean(x): return x
        """,
    "math.py": """
        def log1p(x): return x
        def lgamma(x): return x
        """,
    "keras/__init__.py": "",
    "keras/optimizers.py": "class Adam: pass",
    "_src/__init__.py": "",
}
ENDING = """
from tapejax._src.report.missing import missing_attribute
__getattr__ = missing_attribute(__name__)
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package `tinytape` of a few names, also importable as `bigtape`."""
    for name, text in PACKAGE.items():
        file = tmp_path / "tinytape" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [line.strip() for line in text.splitlines()]
        file.write_text("\n".join(lines) + ENDING, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    finder = install_alias("bigtape", "tinytape")
    yield importlib.import_module("tinytape")
    sys.meta_path.remove(finder)
    for name in [name for name in sys.modules if name.startswith(("tinytape", "bigtape"))]:
        del sys.modules[name]


def run_as_user(source: str, **names: object) -> None:
    """Run source as if it were the file `user.py`."""
    exec(compile(source, "user.py", "exec"), names)


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        (
            "\nbig.math.lgama",
            AttributeError,
            "user.py:2: tinytape has no `tf.math.lgama`. "
            "The nearest name it has is `tf.math.lgamma`.",
        ),
        (
            "big.lgamma",
            AttributeError,
            "user.py:1: tinytape has no `tf.lgamma`. The nearest name it has is `tf.math.lgamma`.",
        ),
        (
            "big.reduceMean",
            AttributeError,
            "user.py:1: tinytape has no `tf.reduceMean`. "
            "The nearest name it has is `tf.reduce_mean`.",
        ),
        (
            "big.math.log_1p",
            AttributeError,
            "user.py:1: tinytape has no `tf.math.log_1p`. The nearest name it has is `tf.log1p`.",
        ),
        ("big.nothing_like_it", AttributeError, "user.py:1: tinytape has no `tf.nothing_like_it`."),
        (
            "from bigtape.keras.optimizers import Adan",
            ImportError,
            "user.py:1: tinytape has no `tf.keras.optimizers.Adan`. "
            "The nearest name it has is `tf.keras.optimizers.Adam`.",
        ),
        (
            "from bigtape.keras import layers",
            ImportError,
            "user.py:1: tinytape has no `tf.keras.layers`.",
        ),
        (
            "from bigtape.keras.layers import Dense",
            ModuleNotFoundError,
            "user.py:1: tinytape has no `tf.keras.layers`.",
        ),
        (
            "from bigtape.python.framework import ops",
            ModuleNotFoundError,
            "user.py:1: tinytape has no `tf.python`. "
            "`tensorflow.python` is TensorFlow's private package; use the public name.",
        ),
        (
            "import bigtape._src.core",
            ModuleNotFoundError,
            "user.py:1: tinytape has no `tf._src`.",
        ),
        (
            "big.compat.v1.Session()",
            AttributeError,
            "user.py:1: tinytape has no `tf.compat`.",
        ),
    ],
)
def test_a_missing_name_is_reported_with_place_and_nearest_name(
    tiny: ModuleType, source: str, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as raised:
        run_as_user(source, big=importlib.import_module("bigtape"))
    assert type(raised.value) is kind
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "source",
    [
        "import bigtape",
        "import bigtape as big",
        "import bigtape.math",
        "import bigtape.math as m",
        "import bigtape.keras.optimizers",
        "import bigtape.keras.optimizers as o",
        "from bigtape import keras",
        "from bigtape import math, log1p",
        "from bigtape.keras import optimizers",
        "from bigtape.keras.optimizers import Adam",
        "from bigtape.math import log1p as f",
    ],
)
def test_every_form_of_import_works_under_the_alias(tiny: ModuleType, source: str) -> None:
    run_as_user(source)


def test_the_alias_gives_the_same_module_objects(tiny: ModuleType) -> None:
    for inner in ("", ".math", ".keras", ".keras.optimizers"):
        aliased = importlib.import_module(f"bigtape{inner}")
        own = importlib.import_module(f"tinytape{inner}")
        assert aliased is own
        spec = own.__spec__
        assert spec is not None
        assert (own.__name__, spec.name) == (f"tinytape{inner}",) * 2
        assert spec.origin == own.__file__


def test_the_alias_does_not_touch_other_names(tiny: ModuleType) -> None:
    assert importlib.util.find_spec("bigtape_extras") is None
    assert importlib.util.find_spec("json") is not None


def test_asking_whether_a_name_exists_stays_possible(tiny: ModuleType) -> None:
    assert hasattr(tiny, "reduce_mean")
    assert not hasattr(tiny, "reduce_median")
    assert getattr(tiny.math, "digamma", None) is None


def test_a_missing_special_name_gets_pythons_own_message(tiny: ModuleType) -> None:
    with pytest.raises(AttributeError) as raised:
        _ = tiny.__wrapped__
    assert str(raised.value) == "module 'tinytape' has no attribute '__wrapped__'"


def test_advice_is_only_given_about_names_that_do_not_exist() -> None:
    assert not missing.public_names("tapejax") & missing.ADVICE.keys()


def test_public_modules_of_tapejax_report_missing_names() -> None:
    with pytest.raises(
        AttributeError, match=r"test_missing\.py:\d+: tapejax has no `tf.reduce_men`"
    ):
        _ = tapejax.reduce_men  # pyright: ignore[reportAttributeAccessIssue]

"""Conversion of functions: results, places, names, source, and what is left behind."""

from __future__ import annotations

import functools
import gc
import linecache
import os
import sys
import tempfile
import traceback
import types
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

from autograph.checks import assert_same, defined
from autograph.functions import CASES, above_three
from autograph.python_operators import CALLS, OPERATORS, converted
from tapejax._src.function.autograph import conversion
from tapejax._src.function.autograph.libraries import is_library
from tapejax._src.function.autograph.source import CannotConvert

# pyright: reportIncompatibleMethodOverride=none, reportOptionalOperand=none
# pyright: reportRedeclaration=none, reportUnboundVariable=none, reportUndefinedVariable=none
# pyright: reportUnnecessaryComparison=none, reportUnusedVariable=none
# The functions under test are written as users write.


# ------------------------------------------------------------------------------------ the corpus


@pytest.mark.quick
@pytest.mark.parametrize(("function", "args"), CASES)
def test_a_converted_function_returns_what_the_function_returns(function, args):
    result, expected = converted(function)(*args), function(*args)
    assert type(result) is type(expected)
    np.testing.assert_array_equal(np.asarray(result, float), np.asarray(expected, float))


@pytest.mark.parametrize("function", [f for f, _ in CASES if isinstance(f, types.FunctionType)])
def test_every_function_of_the_corpus_is_converted(function):
    twin = conversion.convert(function, OPERATORS)
    assert twin is not function
    assert twin.__code__.co_filename == function.__code__.co_filename
    assert twin.__code__.co_firstlineno == function.__code__.co_firstlineno
    assert twin.__code__.co_name == function.__code__.co_name
    assert twin.__code__.co_qualname == function.__code__.co_qualname
    assert conversion.to_code(function)


# ------------------------------------------------------------------------- places, names, warnings


def fails_in_blocks(x):
    for i in range(3):
        while x > 0:
            y = above_three(x) if x < 9 else (x / 0)
            x = 0 if y else -1
        if i == 2 and 1 / x:
            return i
    return None


@pytest.mark.parametrize("x", [0, 9])
def test_a_traceback_shows_the_users_lines_columns_and_names(x):
    def places(function):
        with pytest.raises(ZeroDivisionError) as caught:
            function(x)
        stack = traceback.extract_tb(caught.value.__traceback__)
        return [
            (frame.name, frame.lineno, frame.colno, frame.end_colno)
            for frame in stack
            if frame.filename == __file__ and frame.name == "fails_in_blocks"
        ]

    converted_places, own_places = places(converted(fails_in_blocks)), places(fails_in_blocks)
    assert converted_places[-1] == own_places[-1]
    assert len(own_places) == 1
    first = fails_in_blocks.__code__.co_firstlineno
    assert all(first < line <= first + 8 for _, line, _, _ in converted_places)


def test_all_code_shows_the_users_file_and_no_internal_name():
    pending = [conversion.convert(fails_in_blocks, OPERATORS).__code__]
    while pending:
        code = pending.pop()
        assert (code.co_name, code.co_qualname) == ("fails_in_blocks", "fails_in_blocks")
        assert code.co_filename == __file__
        pending += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]


def test_warnings_of_the_compiler_are_not_repeated():
    source = "def warned(x):\n    if x is 5:\n        return '\\d'\n    return x > 0 and x\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function = defined(source, "warned", "<cell of warnings>")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert converted(function)(3) == 3


# ------------------------------------------------------------------------------------- the source


def test_a_function_without_source_cannot_be_converted():
    namespace: dict[str, Any] = {}
    # Not "<string>": Python 3.13 knows the source of `python -c` by that name.
    code = compile("def f(x):\n    return x if x > 0 else 0\n", "<no source>", "exec")
    exec(code, namespace)
    for _ in range(2):  # the reason is remembered
        with pytest.raises(CannotConvert, match="not available"):
            conversion.convert(namespace["f"], OPERATORS)


def test_a_function_whose_source_is_in_linecache_is_converted():
    source = "def f(x):\n    if x > 0:\n        return x\n    return -x\n"
    assert_same(defined(source, "f"), (1,), (-1,), uses="if")
    # the same cell again, changed
    changed = "\n\ndef f(x):\n    if x > 0:\n        return 2 * x\n    return -2 * x\n"
    assert_same(defined(changed, "f"), (1,), (-1,), uses="if")


@pytest.mark.parametrize(
    "changed",
    [
        "\ndef f(x):\n    return x\n",
        "def g(x):\n    return x\n",
        "def f(y):\n    return y\n",
        "def",
    ],
)
def test_a_changed_source_is_noticed(changed):
    function = defined("def f(x):\n    return x if x > 0 else -x\n", "f", "<cell 2>")
    linecache.cache["<cell 2>"] = len(changed), None, changed.splitlines(True), "<cell 2>"
    with pytest.raises(CannotConvert, match=r"changed|parsed"):
        conversion.convert(function, OPERATORS)


def test_a_lambda_that_is_not_in_the_source_is_noticed():
    function = defined("f = lambda x: x if x > 0 else -x\n", "f", "<cell 3>")
    linecache.cache["<cell 3>"] = 1, None, ["f = lambda y: y\n"], "<cell 3>"
    with pytest.raises(CannotConvert, match="lambda"):
        conversion.convert(function, OPERATORS)


def test_equal_code_of_two_files_keeps_its_own_file():
    source = "def f(x):\n    return x if x > 0 else 1 / 0\n"
    for filename in ("<cell 4>", "<cell 5>"):
        function = defined(source, "f", filename)
        assert conversion.convert(function, OPERATORS).__code__.co_filename == filename


# -------------------------------------------------------------------------- which functions, memory


def test_functions_of_libraries_are_not_convertible():
    assert conversion.convertible(above_three)
    for function in (np.linspace, functools.wraps, tempfile.mkstemp, conversion.convert, len, 3):
        assert not conversion.convertible(function)
    for name in ("numpy", "numpy.linalg", "tapejax.nn", "keras.src.layers", "os", "_pytest.python"):
        assert is_library(name)
    for name in ("__main__", "numpy_extensions", "user.numpy", None):
        assert not is_library(name)


def test_a_function_marked_do_not_convert_stays():
    def marked(x):
        return x if x > 0 else -x

    marked.__ag_do_not_convert__ = True
    assert not conversion.convertible(marked)

    def do_not_convert(function):
        return function

    def f(x):
        @do_not_convert
        def inner(y):
            return y if y > 0 else -y

        return inner(x) + marked(x)

    assert_same(f, (1,), (-1,))
    assert not CALLS["if_exp"]


def test_converted_code_is_recognised():
    def f(x):
        def g(y):
            return y

        return g, lambda: x

    twin = conversion.convert(f, OPERATORS)
    assert conversion.convert(twin, OPERATORS) is twin
    for function in (twin, *twin(1)):
        assert conversion.is_converted(function)
        assert not conversion.convertible(function)
    assert conversion.convert(f, OPERATORS).__code__ is twin.__code__


def test_functions_values_and_code_are_freed():
    class Value:
        pass

    def freed() -> list[weakref.ref[Any]]:
        source = (
            "def make(value):\n    def f(x):\n        return value if x > 0 else f\n    return f\n"
        )
        value = Value()
        make = defined(source, "make", "<cell 6>")
        function = make(value)
        twin = conversion.convert(function, OPERATORS)
        assert twin(1) is value
        assert twin(0) is function
        objects = (value, function, twin, function.__code__, twin.__code__)
        return [weakref.ref(thing) for thing in objects]

    gc.collect()
    entries = len(conversion._entries), len(conversion._converted)
    references = freed()
    gc.collect()
    assert not [reference() for reference in references if reference() is not None]
    assert (len(conversion._entries), len(conversion._converted)) == entries


def test_conversion_leaves_no_modules_and_no_files():
    modules, files = set(sys.modules), set(os.listdir(tempfile.gettempdir()))

    def f(x):
        while x > 0:
            x = x - 1
        return x

    assert conversion.convert(f, OPERATORS)(3) == 0
    assert set(sys.modules) == modules
    new = set(os.listdir(tempfile.gettempdir())) - files
    assert not [name for name in new if "autograph" in name or name.endswith(".py")]

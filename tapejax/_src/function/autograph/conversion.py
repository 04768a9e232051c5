"""Converting a function: new code for the old function, compiled once."""

from __future__ import annotations
import __future__

import ast
import inspect
import warnings
import weakref
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from tapejax._src.function.autograph.calls import Calls
from tapejax._src.function.autograph.libraries import is_library
from tapejax._src.function.autograph.source import CannotConvert, find
from tapejax._src.function.autograph.statements import Statements
from tapejax._src.function.autograph.syntax import clone
from tapejax._src.function.autograph.templates import (
    OPERATORS,
    THUNK,
    arguments,
    define,
    define_class,
    place,
)

DO_NOT_CONVERT = "__ag_do_not_convert__"
"""A function that has this attribute, with a true value, is never converted."""

_SUSPENDING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_FACTORY = f"{OPERATORS}factory"
_HIDING_CLASS = f"{OPERATORS}class"
_LAMBDA = f"{OPERATORS}lambda"
# A class named so mangles no private names.
_NO_CLASS = "_"


class _Entry(NamedTuple):
    """The outcome for one code object: new code, or why there is none."""

    key: weakref.ref[CodeType]
    code: CodeType | None
    reason: str


# By identity: code objects of the same content in two files are equal, but not the same.
_entries: dict[int, _Entry] = {}
_converted: dict[int, weakref.ref[CodeType]] = {}


def _watch(code: CodeType, table: dict[int, Any]) -> weakref.ref[CodeType]:
    """A weak reference that removes the entry of a code object when it dies."""
    key = id(code)

    def forget(_: weakref.ref[CodeType]) -> None:
        table.pop(key, None)

    return weakref.ref(code, forget)


def is_converted(function: FunctionType) -> bool:
    """Whether a function is the outcome of a conversion, or was defined inside one.

    Args:
        function: A plain Python function.

    Returns:
        True if converting it again is pointless.
    """
    return id(function.__code__) in _converted


def convertible(function: object) -> bool:
    """Whether `convert` should be tried.

    Args:
        function: Anything.

    Returns:
        True for a plain Python function of user code that is not converted already, is not marked
        with `__ag_do_not_convert__` and is no generator or coroutine. Its source may still be
        missing.
    """
    if not isinstance(function, FunctionType) or is_converted(function):
        return False
    if function.__code__.co_flags & _SUSPENDING or function.__dict__.get(DO_NOT_CONVERT):
        return False
    return not is_library(function.__globals__.get("__name__"))


def convert(function: FunctionType, operators: Any) -> FunctionType:
    """The converted twin of a function.

    The twin shares the globals, defaults, closure variables and attributes of the function. Its
    code is made once for each code object and lives as long as that does.

    Args:
        function: A plain Python function or lambda.
        operators: What converted code calls, bound as `ag__`. A library function for which its
            optional `takes_functions` is true is called through `callee`.

    Returns:
        A function that does the same, with control flow decided by the operators; the function
        itself if it is converted already.

    Raises:
        CannotConvert: The function has no source, is a generator or coroutine, or uses what has no
            functional form. The message says why.
    """
    code = function.__code__
    if id(code) in _converted:
        return function
    entry = _entries.get(id(code))
    if entry is None:
        entry = _entries[id(code)] = _outcome(function, operators)
    if entry.code is None:
        raise CannotConvert(entry.reason)
    return _instance(function, entry.code, operators)


def to_code(function: FunctionType, operators: Any = None) -> str:
    """The source of the converted twin of a function, for a reader.

    Args:
        function: A plain Python function or lambda.
        operators: As for `convert`.

    Returns:
        Python source.

    Raises:
        CannotConvert: As for `convert`.
    """
    node, _ = _rewrite(function, operators)
    return ast.unparse(ast.fix_missing_locations(node)).replace(f"lambda *{THUNK}:", "lambda:")


def _outcome(function: FunctionType, operators: Any) -> _Entry:
    key = _watch(function.__code__, _entries)
    try:
        code = _new_code(function, operators)
    except CannotConvert as error:
        return _Entry(key, None, str(error))
    except RecursionError:
        return _Entry(key, None, "its blocks are nested too deeply")
    _mark_converted(code)
    return _Entry(key, code, "")


def _rewrite(function: FunctionType, operators: Any) -> tuple[ast.FunctionDef, str | None]:
    """The syntax tree of the converted function, and the class around it."""
    if function.__code__.co_flags & _SUSPENDING:
        raise CannotConvert("generators and coroutines run as they are")
    original, class_name = find(function)
    node = clone(original)
    takes_functions: Callable[[Any], bool] = getattr(
        operators, "takes_functions", lambda value: False
    )
    statements = Statements(Calls(function, node, takes_functions))
    if isinstance(node, ast.Lambda):
        body = statements.visit(node).body
        returned: ast.stmt = place(ast.Return(body), body)
        node = place(define(_LAMBDA, node.args, [returned]), node)
    else:
        node.body = statements.function_body(node)
    _strip_signature(node)
    return node, class_name


def _strip_signature(node: ast.FunctionDef) -> None:
    """Leaves of a signature what the code needs; the twin gets the rest from the function."""
    node.decorator_list, node.returns = [], None
    if hasattr(node, "type_params"):
        vars(node)["type_params"] = []
    given = node.args
    given.defaults = [ast.Constant(...) for _ in given.defaults]
    given.kw_defaults = [default and ast.Constant(...) for default in given.kw_defaults]
    for argument in ast.walk(given):
        if isinstance(argument, ast.arg):
            argument.annotation = None


def _new_code(function: FunctionType, operators: Any) -> CodeType:
    """Compiles the converted function.

    It stands in a factory whose parameters are its free variables, so that they are found in cells,
    and in a class named like the class around it, so that the compiler mangles private names and
    provides `__class__`. One more class keeps that name from being a variable of the factory.
    """
    old = function.__code__
    node, class_name = _rewrite(function, operators)
    hidden = define_class(_HIDING_CLASS, [define_class(class_name or _NO_CLASS, [node])])
    free = [name for name in old.co_freevars if name != "__class__"]
    factory = define(_FACTORY, arguments([OPERATORS, *free]), [hidden])
    module = ast.Module([place(factory, node)], [])
    ast.fix_missing_locations(module)
    flags = old.co_flags & __future__.annotations.compiler_flag
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user's own compilation has shown them
        code = compile(module, old.co_filename, "exec", flags=flags, dont_inherit=True)
    for _ in range(4):  # factory, the two classes, the function
        code = next(inner for inner in code.co_consts if isinstance(inner, CodeType))
    return _renamed(code, old.co_name, old.co_qualname)


def _renamed(code: CodeType, name: str, qualified: str) -> CodeType:
    """Code under the name that tracebacks and `__qualname__` show, and so the code inside it.

    What was made here, blocks and thunks, goes by the name of the user's function around it.
    """
    is_class = not code.co_flags & inspect.CO_OPTIMIZED
    prefix = qualified if is_class else f"{qualified}.<locals>"
    constants: list[Any] = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            made_here = value.co_name.startswith(OPERATORS) or value.co_varnames[:1] == (THUNK,)
            inner = (value.co_name, f"{prefix}.{value.co_name}")
            constants.append(_renamed(value, *((name, qualified) if made_here else inner)))
        elif is_class and isinstance(value, str) and value == code.co_qualname:
            constants.append(qualified)  # what the class body stores as `__qualname__`
        else:
            constants.append(value)
    return code.replace(co_name=name, co_qualname=qualified, co_consts=tuple(constants))


def _mark_converted(code: CodeType) -> None:
    """Remembers converted code and the functions inside it; classes stay as the user wrote them."""
    _converted[id(code)] = _watch(code, _converted)
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_flags & inspect.CO_OPTIMIZED:
            _mark_converted(inner)


def _instance(function: FunctionType, code: CodeType, operators: Any) -> FunctionType:
    """New code with everything else of the function."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[OPERATORS] = CellType(operators)
    closure = tuple([cells[name] for name in code.co_freevars])
    twin = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__, twin.__module__ = function.__qualname__, function.__module__
    twin.__doc__ = function.__doc__
    twin.__dict__.update(function.__dict__)
    return twin

"""Which calls certainly need no conversion at run time."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from tapejax._src.function.autograph.libraries import is_library
from tapejax._src.function.autograph.syntax import bound_anywhere, qualified_name
from tapejax._src.function.autograph.templates import OPERATORS

_OVERLOADED = frozenset(
    (
        "abs",
        "all",
        "any",
        "bool",
        "enumerate",
        "filter",
        "float",
        "int",
        "len",
        "map",
        "max",
        "min",
        "print",
        "range",
        "reversed",
        "round",
        "sorted",
        "sum",
        "zip",
    )
)
_MISSING = object()


class Calls:
    """Looks up the callees of one function, as far as its globals tell.

    Names that the function binds or takes from a closure may be anything at each call, and are not
    looked up.

    Args:
        function: The function to convert.
        node: Its syntax tree.
        takes_functions: Says of a library's function whether it calls functions given to it, so
            that the operators must see its calls.
    """

    def __init__(
        self, function: FunctionType, node: ast.AST, takes_functions: Callable[[Any], bool]
    ) -> None:
        self._globals = function.__globals__
        self._unknown = bound_anywhere(node).union(function.__code__.co_freevars)
        self._takes_functions = takes_functions

    def _look_up(self, name: str) -> Any:
        if name in self._unknown:
            return _MISSING
        value = self._globals.get(name, _MISSING)
        return getattr(builtins, name, _MISSING) if value is _MISSING else value

    def is_builtin(self, callee: ast.expr, name: str) -> bool:
        """Whether an expression is the builtin of that name."""
        if not isinstance(callee, ast.Name) or callee.id != name:
            return False
        builtin = getattr(builtins, name, _MISSING)
        return builtin is not _MISSING and self._look_up(name) is builtin

    def need_no_conversion(self, callee: ast.expr) -> bool:
        """Whether a call can stay as it is.

        Args:
            callee: The expression that is called.

        Returns:
            True for builtins without an overload and for what is reached through library modules.
        """
        path = qualified_name(callee)
        if path is None:
            return False
        root, *attributes = path.split(".")
        if root.startswith(OPERATORS):
            return True
        value = self._look_up(root)
        if not attributes:
            return root not in _OVERLOADED and self.is_builtin(callee, root)
        if not isinstance(value, ModuleType) or not is_library(value.__name__):
            return False
        for attribute in attributes:
            if not isinstance(value, ModuleType):
                return True
            value = vars(value).get(attribute)
        return not self._takes_functions(value)

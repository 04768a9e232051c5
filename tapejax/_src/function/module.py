"""`tf.Module`: an object that finds the variables held by its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, ParamSpec, TypeVar

from tapejax._src.core import nest
from tapejax._src.core.naming import name_scope
from tapejax._src.core.tracking import LISTENERS, attached
from tapejax._src.core.variable import Variable

P = ParamSpec("P")
R = TypeVar("R")


class Module:
    """Base class of whatever holds variables: layers, models, parts of them.

    The variables are those found in the attributes, in lists, tuples and dicts there, and in the
    modules among them.

    Args:
        name: A Python identifier; by default the class name in snake case.

    Raises:
        ValueError: If `name` is not an identifier.

    Example:
        >>> import tapejax as tf
        >>> class Line(tf.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.slope = tf.Variable(2.0, name="slope")
        ...         self.shift = tf.Variable(1.0, name="shift", trainable=False)
        >>> line = Line()
        >>> line.name, [v.name for v in line.variables], len(line.trainable_variables)
        ('line', ['shift:0', 'slope:0'], 1)

    Differs from TensorFlow:
        A list, tuple or dict that is assigned stays what it is; TensorFlow puts a wrapper around.
    """

    _name: str
    _name_scope: name_scope

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        elif not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if LISTENERS:  # a restored checkpoint has values for variables to come
            attached(self)

    @property
    def name(self) -> str:
        """The name given, or the class name in snake case."""
        if "_name" not in self.__dict__:
            self._not_initialised("name")
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """A `tf.name_scope` of the module's name, inside the scopes it was created in."""
        if "_name_scope" not in self.__dict__:
            self._not_initialised("name_scope")
        return self._name_scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables: those of the attributes by name, then those of the modules in them."""
        return tuple(_found(self, _is_variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that are trainable."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that are not trainable."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in the attributes, then the modules in those."""
        return tuple(_found(self, _is_module))

    @classmethod
    def with_name_scope(cls, method: Callable[P, R]) -> Callable[P, R]:
        """Decorate a method to run inside the module's name scope.

        Args:
            method: The method.

        Returns:
            A method with the same name and documentation.

        Example:
            >>> import tapejax as tf
            >>> class Layer(tf.Module):
            ...     @tf.Module.with_name_scope
            ...     def build(self):
            ...         self.w = tf.Variable(1.0, name="w")
            >>> layer = Layer()
            >>> layer.build()
            >>> layer.w.name
            'layer/w:0'
        """

        @functools.wraps(method)
        def scoped(*args: P.args, **kwargs: P.kwargs) -> R:
            self: Any = args[0]
            with self.name_scope:
                return method(*args, **kwargs)

        return scoped

    def _not_initialised(self, what: str) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__!r} object has no `{what}`: its __init__ did not call "
            "super().__init__()."
        )


def _snake_case(name: str) -> str:
    """`FooBarHTTP2` as `foo_bar_http2`."""
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _is_module(value: Any) -> bool:
    return isinstance(value, Module)


def _found(root: Module, wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """What is wanted among the attributes: each once, a module's own before its submodules'."""
    seen = {id(root)}
    yield from _found_in(root, wanted, seen)


def _found_in(module: Module, wanted: Callable[[Any], bool], seen: set[int]) -> Iterator[Any]:
    inner: list[Module] = []
    for name in sorted(vars(module)):
        for leaf in _leaves(module, name):
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if wanted(leaf):
                yield leaf
            if isinstance(leaf, Module):
                inner.append(leaf)
    for submodule in inner:
        yield from _found_in(submodule, wanted, seen)


def _leaves(module: Module, name: str) -> list[Any]:
    value = vars(module)[name]
    try:
        return nest.flatten(value)
    except TypeError as error:
        raise ValueError(f"Error processing property {name!r} of {module!r}: {error}") from error

"""What a checkpoint holds: objects and the names by which they hold each other.

An object takes part if it is a `tf.Variable`, a `tf.Module`, a list, tuple or dict, or if it has a
method `_trackable_children()` returning name -> object. Other classes, such as those of a library,
are made known by `register`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from tapejax._src.core.variable import Variable
from tapejax._src.function.module import Module
from tapejax._src.ops.random_generator import Generator

Children = dict[str, Any]

_CLASSES: list[tuple[type, Callable[[Any], Children]]] = []

VALUE = ".ATTRIBUTES/VARIABLE_VALUE"
"""The end of the key of a variable's value, as in TensorFlow."""


def register(cls: type, children: Callable[[Any], Children]) -> None:
    """Let objects of a class take part in checkpoints.

    Args:
        cls: The class.
        children: Function of an object returning name -> object; what takes no part is left out.
    """
    _CLASSES.insert(0, (cls, children))


register(Module, vars)
register(Generator, lambda generator: {"_state_var": generator.state})


def is_trackable(value: Any) -> bool:
    """Whether an object takes part in checkpoints."""
    if isinstance(value, (Variable, list, tuple, dict)) or hasattr(value, "_trackable_children"):
        return not isinstance(value, type)
    return any(isinstance(value, cls) for cls, _ in _CLASSES)


def _named(value: Any, saving: bool) -> Children:
    """Name -> whatever an object holds under that name."""
    if isinstance(value, Variable):
        return {}
    if isinstance(value, dict):
        return _of_dict(value, saving)
    if isinstance(value, (list, tuple)):
        return {str(n): item for n, item in enumerate(value)}
    own = getattr(value, "_trackable_children", None)
    if own is not None:
        return own()
    for cls, children in _CLASSES:
        if isinstance(value, cls):
            return children(value)
    return {}


def _of_dict(value: dict[Any, Any], saving: bool) -> Children:
    others = [key for key, item in value.items() if not isinstance(key, str) and _holds(item)]
    if others and saving:
        raise ValueError(
            f"Unable to save the object {value!r}: the dictionary has the key {others[0]!r}, which "
            "is not a string, for something that holds variables. Write string keys."
        )
    return {key: item for key, item in value.items() if isinstance(key, str)}


def _holds(value: Any, inside: tuple[int, ...] = ()) -> bool:
    """Whether something takes part; a container does if something in it does."""
    if not is_trackable(value) or id(value) in inside:
        return False
    if type(value) in (list, tuple, dict):
        items = value.values() if isinstance(value, dict) else value
        return any(_holds(item, (*inside, id(value))) for item in items)
    return True


def children(value: Any, saving: bool = False) -> Children:
    """Name -> object, of the objects that an object holds and that take part.

    Args:
        value: The object.
        saving: Whether to refuse what could not be restored.

    Returns:
        The children.

    Raises:
        ValueError: When saving, for a dictionary whose keys are no strings.
    """
    named = _named(value, saving)
    return {name: item for name, item in named.items() if _keep(item, saving)}


def _keep(item: Any, saving: bool) -> bool:
    if saving and isinstance(item, dict):
        return bool(item) and is_trackable(item) and (_holds(item) or _holds([*item.values()]))
    return _holds(item)


class Node(NamedTuple):
    """An object in the graph.

    Attributes:
        value: The object.
        key: Its path, names joined by slashes.
        children: Name -> number of a node.
    """

    value: Any
    key: str
    children: dict[str, int]


def escaped(name: str) -> str:
    """A name as it stands in a path: a dot is doubled, and a slash becomes `.S`."""
    return name.replace(".", "..").replace("/", ".S")


def nodes(root: Any, saving: bool = False) -> list[Node]:
    """All objects that can be reached, nearest first, each once under its shortest path.

    Args:
        root: Where to start; number 0.
        saving: See `children`.

    Returns:
        The nodes.
    """
    found = [Node(root, "", {})]
    numbers = {id(root): 0}
    queue = deque(found)
    while queue:
        node = queue.popleft()
        for name, child in sorted(children(node.value, saving).items()):
            number = numbers.get(id(child))
            if number is None:
                number = numbers[id(child)] = len(found)
                path = f"{node.key}/{escaped(name)}" if node.key else escaped(name)
                found.append(Node(child, path, {}))
                queue.append(found[-1])
            node.children[name] = number
    return found


def key_of(path: str) -> str:
    """The key under which the value of the variable at a path is stored."""
    return f"{path}/{VALUE}"

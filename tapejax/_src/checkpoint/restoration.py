"""Restoring: which value goes to which variable, now or when the variable is there."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapejax._src.checkpoint import object_graph, tensor_file
from tapejax._src.core import errors
from tapejax._src.core.avals import aval_of
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.tracking import LISTENERS
from tapejax._src.core.variable import Variable
from tapejax._src.engine import flush as running
from tapejax._src.engine.recorder import LOCAL

_LOGGER = logging.getLogger("tapejax")


class Saved:
    """The object graph of a file.

    Args:
        contents: The file.

    Raises:
        DataLossError: If the graph makes no sense.
    """

    def __init__(self, contents: tensor_file.Contents) -> None:
        self.contents = contents
        try:
            graph = contents.description["nodes"]
            self.children: list[dict[str, int]] = [dict(node["children"]) for node in graph]
            self.keys: list[str | None] = [node.get("value") for node in graph]
        except (KeyError, TypeError, ValueError) as error:
            raise _nonsense(contents.path) from error
        numbers = [n for names in self.children for n in names.values()]
        known = all(type(n) is int and 0 <= n < len(graph) for n in numbers)
        if not known or not graph or any(k and k not in contents.entries for k in self.keys):
            raise _nonsense(contents.path)

    def paths(self) -> dict[int, str]:
        """Number of a node -> its path, such as `(root).model.w`."""
        found = {0: "(root)"}
        queue = [0]
        for n in queue:
            for name, child in self.children[n].items():
                if child not in found:
                    found[child] = f"{found[n]}.{name}"
                    queue.append(child)
        return found


def _nonsense(path: str) -> errors.DataLossError:
    return errors.DataLossError(f"The object graph of the checkpoint {path} makes no sense.")


class Restoration:
    """Values of one checkpoint on their way to one object and what it holds.

    Objects are held weakly: waiting for a variable keeps nothing alive.

    Args:
        root: The object.
        saved: The checkpoint.
    """

    def __init__(self, root: Any, saved: Saved) -> None:
        self.saved = saved
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {id(root): (weakref.ref(root), 0)}
        self._done: dict[int, weakref.ref[Variable]] = {}
        self._found: set[int] = set()

    def start(self) -> None:
        """Restore what is there, and wait for the rest."""
        self.proceed()
        if self.missing():
            LISTENERS.append(self._attached)

    def missing(self) -> list[int]:
        """Numbers of the saved variables that no variable was found for."""
        return [n for n, key in enumerate(self.saved.keys) if key and n not in self._found]

    def matched(self) -> int:
        """How many variables got a value."""
        return len(self._done)

    def has_value(self, variable: Variable) -> bool:
        """Whether a variable got its value."""
        done = self._done.get(id(variable))
        return done is not None and done() is variable

    def _attached(self, owner: Any) -> None:
        if self._number_of(owner) is not None:
            self.proceed()
        if not self.missing() or all(ref() is None for ref, _ in self._numbers.values()):
            LISTENERS.remove(self._attached)

    def _number_of(self, value: Any) -> int | None:
        known = self._numbers.get(id(value))
        return known[1] if known is not None and known[0]() is value else None

    def proceed(self) -> None:
        """Give all variables that can be reached now, and could not before, their values.

        Raises:
            ValueError: If a variable has another shape than its saved value; nothing is assigned.
            InvalidArgumentError: If it has another dtype.
        """
        waiting: list[tuple[int, Variable]] = []
        for value, number in self._matches():
            if isinstance(value, Variable) and self.saved.keys[number] is not None:
                self._found.add(number)
                if not self.has_value(value):
                    _check(self.saved, number, value)
                    waiting.append((number, value))
        if not waiting:
            return
        keys = {n: str(self.saved.keys[n]) for n, _ in waiting}
        arrays = tensor_file.load(self.saved.contents, sorted(set(keys.values())))
        assign_values([(v, arrays[keys[n]]) for n, v in waiting])
        self._done.update({id(v): v.reference for _, v in waiting})

    def _matches(self) -> Iterator[tuple[Any, int]]:
        """Each object with the number of its node, following names that both sides have."""
        stack = [(ref(), number) for ref, number in reversed(list(self._numbers.values()))]
        seen: set[int] = set()
        while stack:
            value, number = stack.pop()
            known = self._number_of(value)
            if known is None:
                self._know(value, number)
            elif known != number:
                _LOGGER.warning(
                    "Inconsistent references when loading the checkpoint %s: %r is at two places "
                    "that were different objects. It gets the value of the first.",
                    self.saved.contents.path,
                    value,
                )
            if value is None or id(value) in seen:
                continue
            seen.add(id(value))
            yield value, number if known is None else known
            saved = self.saved.children[number]
            named = object_graph.children(value)
            stack += [(child, saved[name]) for name, child in named.items() if name in saved]

    def _know(self, value: Any, number: int) -> None:
        """Remember an object, unless it is a container, which is found again by its owner."""
        if isinstance(value, Variable):
            self._numbers[id(value)] = value.reference, number
        elif value is not None and not isinstance(value, (list, tuple, dict)):
            self._numbers[id(value)] = weakref.ref(value), number


def _check(saved: Saved, number: int, variable: Variable) -> None:
    key = str(saved.keys[number])
    entry = saved.contents.entries[key]
    if entry.dtype != variable.dtype:
        raise errors.InvalidArgumentError(
            f"tensor_name = {key}; expected dtype {variable.dtype.name} does not equal original "
            f"dtype {entry.dtype.name}. The variable {variable.name} has another dtype than it had "
            "when the checkpoint was written."
        )
    if not variable.shape.is_compatible_with(entry.shape):
        raise ValueError(
            f"Received incompatible tensor with shape {entry.shape} when attempting to restore "
            f"variable with shape {tuple(variable.shape)} and name {variable.name}."
        )


def assign_values(pairs: list[tuple[Variable, np.ndarray[Any, Any]]]) -> None:
    """Let arrays be the values of variables, now, also while a function is being traced.

    Args:
        pairs: Variables and arrays of their shape and dtype.
    """
    recorder = LOCAL.recorder
    if recorder.symbolic is None and not LOCAL.active:
        running.flush(recorder)
    elif recorder.symbolic is None:
        for variable, array in pairs:
            variable.assign(array)
        return
    for variable, array in pairs:
        aval = aval_of(array)
        if variable.replication is not None:
            variable.replication.restore(array)
        variable.hold(Tensor.concrete(array, aval, aval, owned=True))


class LoadStatus:
    """What `restore` and `read` return: questions about what was restored.

    Args:
        root: The object that was restored.
        restoration: The restoration.
    """

    def __init__(self, root: Any, restoration: Restoration) -> None:
        self._root = root
        self._restoration = restoration

    def _unmatched(self) -> list[Variable]:
        """Variables that can be reached and got no value."""
        return [
            node.value
            for node in object_graph.nodes(self._root)
            if isinstance(node.value, Variable)
            and not self._restoration.has_value(node.value)
            and node.key != "save_counter"
        ]

    def assert_consumed(self) -> LoadStatus:
        """Raise unless every saved value found its variable, and every variable its value.

        Raises:
            AssertionError: Naming what has no counterpart.
        """
        self._restoration.proceed()
        missing = self._restoration.missing()
        if missing:
            paths = self._restoration.saved.paths()
            names = [paths.get(n, f"node {n}") for n in missing]
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise AssertionError(
                f"Unresolved object in checkpoint {shown}: {len(names)} saved values have no "
                "variable in the program (yet). Use assert_existing_objects_matched() or "
                "expect_partial() if that is meant."
            )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raise unless every variable of the program has found its value.

        Raises:
            AssertionError: Naming the variables without one.
        """
        self._restoration.proceed()
        unmatched = self._unmatched()
        if unmatched:
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed "
                "values, likely due to changes in the Python program. Showing "
                f"{min(len(unmatched), 10)} of {len(unmatched)} unmatched objects: "
                f"{unmatched[:10]}"
            )
        return self

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raise if no variable at all has found a value.

        Raises:
            AssertionError: If so.
        """
        self._restoration.proceed()
        if not self._restoration.matched():
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means "
                "that the checkpoint does not match the Python program."
            )
        return self

    def expect_partial(self) -> LoadStatus:
        """Say that values without a variable are meant; returns itself."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing is left to do: values are restored at once."""

    def run_restore_ops(self, session: Any = None) -> None:
        """Nothing is left to do: values are restored at once."""


class NothingLoaded(LoadStatus):
    """What `restore(None)` returns: nothing was restored."""

    def __init__(self) -> None:
        pass

    def _raise(self) -> LoadStatus:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_consumed(self) -> LoadStatus:
        """Raises: there is no checkpoint."""
        return self._raise()

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raises: there is no checkpoint."""
        return self._raise()

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raises: there is no checkpoint."""
        return self._raise()

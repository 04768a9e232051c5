"""Makes `import tensorflow` give tapejax, for the programs that `tapejax run` runs."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from tapejax._src.report.callsite import place, user_frame
from tapejax._src.report.missing import missing_message


class AliasLoader(Loader):
    """Gives a module that is already known under another name."""

    def __init__(self, target: str) -> None:
        """Remember the module's own name.

        Args:
            target: The full name, such as `tapejax.math`.
        """
        self._target = target
        self._own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The target module itself, not a copy."""
        module = importlib.import_module(self._target)
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Undo what the import system wrote on the module: it has run under its own name."""
        module.__spec__ = self._own_spec


class AliasFinder(MetaPathFinder):
    """Finds `alias` and everything below it in the package `target`, and nothing else."""

    def __init__(self, alias: str, target: str) -> None:
        """Say which name stands for which package.

        Args:
            alias: The top-level name that programs import, such as `tensorflow`.
            target: The package they get, such as `tapejax`.
        """
        self.alias = alias
        self.target = target

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module whose name starts with the alias.

        Args:
            fullname: The name in the import statement.
            path: Not used: the alias decides.
            target: Not used.

        Returns:
            A spec that loads the target's module, or None for every other top-level name.

        Raises:
            ModuleNotFoundError: The target has no such module. The text names the importing line
                and the nearest name there is.
        """
        top, _, inner = fullname.partition(".")
        if top != self.alias:
            return None
        own_name = f"{self.target}.{inner}" if inner else self.target
        private = any(part.startswith("_") for part in inner.split("."))
        own_spec = None if private else importlib.util.find_spec(own_name)
        if own_spec is None:
            parent, _, last = own_name.rpartition(".")
            message = missing_message(parent, last, place(user_frame()))
            raise ModuleNotFoundError(message, name=fullname)
        is_package = own_spec.submodule_search_locations is not None
        return importlib.util.spec_from_loader(
            fullname, AliasLoader(own_name), is_package=is_package
        )


def install_alias(alias: str, target: str) -> AliasFinder:
    """Let `import alias` give `target` from now on in this process.

    Args:
        alias: The top-level name that programs import.
        target: The package they get.

    Returns:
        The finder, now first in `sys.meta_path`.
    """
    finder = AliasFinder(alias, target)
    sys.meta_path.insert(0, finder)
    return finder


class AnnouncingLoader(Loader):
    """Loads a module as it would be loaded anyway, and then acts."""

    def __init__(self, inner: Any, action: Callable[[], Any]) -> None:
        """Remember how the module is loaded, and what to do then."""
        self._inner = inner
        self._action = action

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module, made by its own loader."""
        spec.loader = self._inner
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then act."""
        module.__loader__ = self._inner
        self._inner.exec_module(module)
        self._action()


class AnnouncingFinder(MetaPathFinder):
    """Finds one module where Python would find it."""

    def __init__(self, name: str, action: Callable[[], Any]) -> None:
        """Say which module, and what to do once it is loaded."""
        self._name = name
        self._action = action

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of this module, or None for every other."""
        if fullname != self._name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = AnnouncingLoader(spec.loader, self._action)
        return spec


def announce_import(name: str, action: Callable[[], Any]) -> None:
    """Have a function called once a module has been imported.

    Args:
        name: The module.
        action: Called without arguments.
    """
    sys.meta_path.insert(0, AnnouncingFinder(name, action))

"""Runs a TensorFlow program on tapejax, the way `python` itself would run it."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

import jax

from tapejax._src.core.version import VERSION
from tapejax._src.keras.bridge import guest
from tapejax._src.keras.old_spellings.enabling import enable_legacy_keras
from tapejax._src.report.alias import announce_import, install_alias
from tapejax._src.report.callsite import IMPORT_MACHINERY

RUNNER_DIRECTORY = str(Path(__file__).resolve().parent)
DISPATCH_FLAG = "jax_cpu_enable_async_dispatch"


class CommandError(Exception):
    """The command line itself is wrong: nothing of the user's program has run."""


@dataclass(frozen=True)
class Program:
    """What `python SCRIPT` or `python -m MODULE` would run."""

    read_code: Callable[[], CodeType]
    path: str  # of the source file, absolute
    argv0: str
    search_path: str  # the entry of sys.path that Python puts first
    spec: ModuleSpec | None


def find_script(script: str) -> Program:
    """Look up `python SCRIPT`.

    Args:
        script: The path as typed.

    Returns:
        The program, not yet compiled.

    Raises:
        CommandError: There is no such file.
    """
    path = os.path.abspath(script)
    if os.path.isdir(path):
        raise CommandError(f"{script!r} is a directory; name the script in it, or use -m MODULE")
    if not os.path.isfile(path):
        raise CommandError(f"there is no file {script!r} in {os.getcwd()!r}")

    def read_code() -> CodeType:
        with io.open_code(path) as file:
            return compile(file.read(), path, "exec", dont_inherit=True)

    return Program(read_code, path, script, os.path.dirname(os.path.realpath(path)), None)


def find_module(name: str) -> Program:
    """Look up `python -m MODULE`.

    Args:
        name: The module or package as typed.

    Returns:
        The program, not yet compiled.

    Raises:
        CommandError: There is no such module, or it has no Python source.
    """
    _put_first_on_the_path(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # a package on the way imports something that is not there
        spec = None
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is None:
        raise CommandError(f"there is no module {name!r} to run on sys.path")
    loader = spec.loader
    if not isinstance(loader, SourceFileLoader):
        raise CommandError(f"module {name!r} is not a Python source file")
    source_loader = loader
    full_name = spec.name

    def read_code() -> CodeType:
        code = source_loader.get_code(full_name)
        assert code is not None, "a source file always gives code"
        return code

    return Program(read_code, loader.path, loader.path, os.getcwd(), spec)


def prepare_process() -> None:
    """Let `import tensorflow` mean tapejax and Keras be spelled as Keras 2; start programs faster.

    In this process `tf.__version__` is the TensorFlow release that tapejax follows.

    A step that is read at once waits some 45 us for a worker thread under JAX's asynchronous
    dispatch on CPU. This process belongs to the script, so the setting may be changed here; a user
    who has set the environment variable keeps the choice.
    """
    install_alias("tensorflow", "tapejax")
    # Programs ask whether it is TensorFlow 2; `tf.version.GIT_VERSION` says what it really is.
    vars(importlib.import_module("tapejax"))["__version__"] = VERSION
    enable_legacy_keras()
    announce_import("keras", guest.load)  # a program may import it by itself
    os.environ["KERAS_BACKEND"] = "jax"  # there is no other here, whatever the user's shell says
    if DISPATCH_FLAG in jax.config.values and DISPATCH_FLAG.upper() not in os.environ:
        jax.config.update(DISPATCH_FLAG, False)


def run_program(find: Callable[[], Program], arguments: Sequence[str]) -> None:
    """Run a program as `__main__` of this process.

    Args:
        find: Gives the program; may run the packages around a module.
        arguments: What follows the script's name on the command line.

    Raises:
        CommandError: From `find`.
        BaseException: Whatever the program raises. Python's own handling of an uncaught exception
            follows (exit code, `SystemExit`, interrupt), with a traceback that starts at the
            program's own frame.
    """
    try:
        program = find()
        main = _main_module(program)
        sys.argv[:] = [program.argv0, *arguments]
        _put_first_on_the_path(program.search_path)
        sys.modules["__main__"] = main
        exec(program.read_code(), main.__dict__)
    except (CommandError, SystemExit):
        raise
    except BaseException as error:
        _show_only_the_program(error)
        raise


def _put_first_on_the_path(directory: str) -> None:
    if not sys.flags.safe_path:
        sys.path[0] = directory


def _main_module(program: Program) -> ModuleType:
    main = ModuleType("__main__")
    spec = program.spec
    loader = SourceFileLoader("__main__", program.path) if spec is None else spec.loader
    namespace: dict[str, Any] = {
        "__annotations__": {},
        "__builtins__": builtins,
        "__cached__": None if spec is None else spec.cached,
        "__file__": program.path,
        "__loader__": loader,
        "__package__": None if spec is None else spec.parent,
        "__spec__": spec,
    }
    main.__dict__.update(namespace)
    return main


def _show_only_the_program(error: BaseException) -> None:
    """Make the report of an uncaught error leave out the frames of this runner."""
    report = sys.excepthook
    shown = _without_runner(error.__traceback__)

    def excepthook(
        kind: type[BaseException], value: BaseException, traceback: TracebackType | None
    ) -> None:
        if value is not error:
            report(kind, value, traceback)
            return
        report(kind, value.with_traceback(shown), shown)

    sys.excepthook = excepthook


def _without_runner(traceback: TracebackType | None) -> TracebackType | None:
    """Drop the runner's and the import system's entries from both ends of a traceback."""
    entries: list[TracebackType] = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    program = [index for index, entry in enumerate(entries) if not _is_runner(entry)]
    if not program:
        return None
    shown: TracebackType | None = None
    for entry in reversed(entries[program[0] : program[-1] + 1]):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown


def _is_runner(entry: TracebackType) -> bool:
    filename = entry.tb_frame.f_code.co_filename
    return filename.startswith((RUNNER_DIRECTORY, IMPORT_MACHINERY))

"""`tf.train.Checkpoint`: the variables of a program, saved and restored."""

from __future__ import annotations

import inspect
import os
from typing import Any

import numpy as np

from tapejax._src.checkpoint import object_graph, paths, tensor_file
from tapejax._src.checkpoint.options import CheckpointOptions
from tapejax._src.checkpoint.restoration import LoadStatus, NothingLoaded, Restoration, Saved
from tapejax._src.core import errors
from tapejax._src.core.tracking import LISTENERS, attached
from tapejax._src.core.variable import Variable
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import public


@public("train.Checkpoint")
class Checkpoint:
    """The variables of a program, saved to and restored from files.

    What is saved are the variables that can be reached from its attributes: through `tf.Module`s,
    optimizers, lists, tuples, dicts with string keys, other checkpoints, `tf.random.Generator`s,
    and objects that have a method `_trackable_children()` returning name -> object. Restoring
    follows the same names. A variable that does not exist yet when a checkpoint is restored gets
    its value when its owner gets it.

    A checkpoint is one file in the safetensors format, written beside the old one and then put in
    its place: a program that is killed while it saves leaves the last complete checkpoint. Its
    checksums are verified when it is read. Nothing of it is executed.

    Args:
        root: An object whose variables are saved under their own names.
        **kwargs: Objects by the names under which they are saved.

    Raises:
        ValueError: If one of these holds no variables by its nature.

    Example:
        >>> import tempfile
        >>> import tapejax as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> checkpoint = tf.train.Checkpoint(v=v)
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
        >>> _ = v.assign([0.0, 0.0])
        >>> _ = checkpoint.restore(path).assert_consumed()
        >>> v.numpy().tolist()
        [1.0, 2.0]

    Differs from TensorFlow:
        The file format is another; TensorFlow's checkpoints are refused. If a shape or dtype does
        not fit, nothing is restored at all. Plain lists and dicts are not wrapped: what is put into
        one after `restore` gets its values at the next attribute assignment of an object that was
        restored, at `save`, or when the status is asked.
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        if root is not None and not object_graph.is_trackable(root):
            raise _not_trackable("root", root)
        object.__setattr__(self, "_root", root)
        object.__setattr__(self, "_save_counter", None)
        object.__setattr__(self, "_restorations", [])
        held = {} if root is None else object_graph.children(root)
        for name, value in kwargs.items():
            if name in held and held[name] is not value:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} "
                    "already exists and is another object."
                )
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not object_graph.is_trackable(value):
            raise _not_trackable(name, value)
        object.__setattr__(self, name, value)
        if LISTENERS:
            attached(self)

    def _trackable_children(self) -> dict[str, Any]:
        """The attributes, and what the root holds."""
        held = {} if self._root is None else object_graph.children(self._root)
        own = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        counter = {} if self._save_counter is None else {"save_counter": self._save_counter}
        return held | own | counter

    _root: Any
    _save_counter: Variable | None
    _restorations: list[Restoration]

    @property
    def save_counter(self) -> Variable:
        """How many times `save` was called, an int64 variable; it numbers the checkpoints."""
        if self._save_counter is None:
            counter = Variable(np.zeros((), np.int64), trainable=False, name="save_counter")
            self._save_counter = counter
        return self._save_counter

    # ------------------------------------------------------------------ writing
    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write a numbered checkpoint, and note in its folder that it is the latest.

        Args:
            file_prefix: Path; a dash and the number of the checkpoint are put behind it.
            options: See `tf.train.CheckpointOptions`.

        Returns:
            The path to restore from, such as `"folder/ckpt-1"`.

        Raises:
            RuntimeError: While a function is being traced.
        """
        _not_while_tracing("save")
        prefix = os.fspath(file_prefix)
        number = int(self.save_counter.assign_add(1))
        path = self._write(f"{prefix}-{number}", options)
        paths.write_state(os.path.dirname(path) or ".", path, [path])
        return path

    def write(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write a checkpoint under just this path, without a number; `read` restores it.

        Args:
            file_prefix: The path.
            options: See `tf.train.CheckpointOptions`.

        Returns:
            The path.

        Raises:
            RuntimeError: While a function is being traced.
        """
        _not_while_tracing("write")
        return self._write(os.fspath(file_prefix), options)

    def _write(self, path: str, options: CheckpointOptions | None) -> str:
        for restoration in self._restorations:
            restoration.proceed()
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        described: list[dict[str, Any]] = []
        for node in object_graph.nodes(self, saving=True):
            record: dict[str, Any] = {"children": node.children}
            if isinstance(node.value, Variable):
                record["value"] = key = object_graph.key_of(node.key)
                arrays[key] = np.asarray(node.value.numpy())
            described.append(record)
        paths.write(path, arrays, {"nodes": described})
        for callback in () if options is None else options.experimental_write_callbacks:
            callback(*(path,) * bool(inspect.signature(callback).parameters))
        return path

    # ------------------------------------------------------------------ reading
    def restore(self, save_path: Any, options: CheckpointOptions | None = None) -> LoadStatus:
        """Restore a checkpoint.

        Args:
            save_path: What `save` or `tf.train.latest_checkpoint` returned; None restores nothing.
            options: Accepted for compatibility.

        Returns:
            A status to be asked `assert_consumed()`, `assert_existing_objects_matched()` or
            `expect_partial()`.

        Raises:
            NotFoundError: If there is no such checkpoint.
            DataLossError: If it is damaged.
            ValueError: If a shape differs. Nothing is restored then.
            InvalidArgumentError: If a dtype differs. Nothing is restored then.
            RuntimeError: While a function is being traced.
        """
        _ = self.save_counter
        return self.read(save_path, options)

    def read(self, save_path: Any, options: CheckpointOptions | None = None) -> LoadStatus:
        """Restore a checkpoint that `write` wrote; see `restore`."""
        del options
        _not_while_tracing("restore")
        if save_path is None:
            return NothingLoaded()
        path = os.fspath(save_path)
        try:
            saved = Saved(tensor_file.read(paths.data_file(path)))
        except errors.NotFoundError as error:
            raise errors.NotFoundError(
                f"Error when restoring from checkpoint or SavedModel at {path}: {error.message}"
            ) from None
        restoration = Restoration(self, saved)
        restoration.start()
        self._restorations = [restoration]
        return LoadStatus(self, restoration)

    def sync(self) -> None:
        """Nothing to wait for: a checkpoint is complete when `save` returns."""


def _not_trackable(name: str, value: Any) -> ValueError:
    return ValueError(
        f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from "
        f"`Trackable`), got {value!r}. It can be a tf.Variable, a tf.Module, an optimizer, a list, "
        "tuple or dict of such, or an object with a method `_trackable_children()` returning "
        "name -> object; put a number into a tf.Variable."
    )


def _not_while_tracing(what: str) -> None:
    if LOCAL.recorder.symbolic is not None:
        raise RuntimeError(
            f"`Checkpoint.{what}` was called in a function that is being traced, where variables "
            "have no values. Call it outside of tf.function."
        )

"""`tf.train.load_checkpoint` and its relatives: the values of a checkpoint by name."""

from __future__ import annotations

import os
from typing import Any

from tapejax._src.checkpoint import paths, tensor_file
from tapejax._src.core import errors
from tapejax._src.core.dtypes import DType
from tapejax._src.engine.registry import public


class CheckpointReader:
    """The arrays of a checkpoint; made by `tf.train.load_checkpoint`.

    Args:
        prefix: The checkpoint.
    """

    def __init__(self, prefix: str) -> None:
        self._contents = tensor_file.read(paths.data_file(prefix))

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Name -> shape."""
        return {name: list(entry.shape) for name, entry in self._contents.entries.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Name -> dtype."""
        return {name: entry.dtype for name, entry in self._contents.entries.items()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is an array of this name."""
        return tensor_str in self._contents.entries

    def get_tensor(self, tensor_str: str) -> Any:
        """The array of a name.

        Raises:
            NotFoundError: If there is none.
        """
        if not self.has_tensor(tensor_str):
            raise errors.NotFoundError(f"Key {tensor_str} not found in checkpoint")
        array = tensor_file.load(self._contents, [tensor_str])[tensor_str]
        return array if array.ndim else array[()]

    def debug_string(self) -> bytes:
        """One line for each array: name, dtype, shape."""
        lines = [
            f"{name} (DT_{entry.dtype.name.upper()}) {list(entry.shape)}"
            for name, entry in sorted(self._contents.entries.items())
        ]
        return "\n".join(lines).encode()


@public("train.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of a checkpoint.

    Args:
        ckpt_dir_or_file: A path that `save` returned, or a folder, whose latest checkpoint is read.

    Returns:
        The reader.

    Raises:
        NotFoundError: If there is none.
        DataLossError: If it is damaged.

    Example:
        >>> import tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.mkdtemp()
        >>> _ = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(folder + "/ckpt")
        >>> reader = tf.train.load_checkpoint(folder)
        >>> reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").tolist()
        [1.0, 2.0]
    """
    path = os.fspath(ckpt_dir_or_file)
    latest = paths.latest_checkpoint(path) if os.path.isdir(path) else path
    return CheckpointReader(path if latest is None else latest)


@public("train.list_variables")
def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Names and shapes of the arrays of a checkpoint, by name.

    Args:
        ckpt_dir_or_file: See `tf.train.load_checkpoint`.

    Returns:
        Pairs of name and shape.

    Example:
        >>> import tempfile
        >>> import tapejax as tf
        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0])).write(tempfile.mkdtemp() + "/ckpt")
        >>> tf.train.list_variables(path)
        [('v/.ATTRIBUTES/VARIABLE_VALUE', [1])]

    Differs from TensorFlow:
        The object graph is no array: there is no entry `_CHECKPOINTABLE_OBJECT_GRAPH`.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


@public("train.load_variable")
def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """One array of a checkpoint.

    Args:
        ckpt_dir_or_file: See `tf.train.load_checkpoint`.
        name: Its name; a `:0` behind it is left out.

    Returns:
        The array.

    Raises:
        NotFoundError: If there is no such checkpoint or array.

    Example:
        >>> import tempfile
        >>> import tapejax as tf
        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0])).write(tempfile.mkdtemp() + "/ckpt")
        >>> tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE").tolist()
        [1.0]
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))

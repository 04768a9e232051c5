"""Files of checkpoints: which belong to a prefix, and the file that names the latest."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tapejax._src.checkpoint import tensor_file
from tapejax._src.core import errors
from tapejax._src.engine.registry import public

DATA = ".safetensors"
"""The ending of the file that is the checkpoint."""
MARK = ".index"
"""The ending of a small file beside it, by whose presence programs know a checkpoint."""


def data_file(prefix: str) -> str:
    """The file of a checkpoint.

    Args:
        prefix: What `save` returned.

    Returns:
        Its path.

    Raises:
        NotFoundError: If there is none.
        UnimplementedError: If TensorFlow wrote it.
    """
    path = prefix + DATA
    if os.path.exists(path):
        return path
    if os.path.isdir(prefix):
        hint = "It is a folder: pass tf.train.latest_checkpoint(folder)."
    else:
        hint = "Please double-check that the path is correct. You may be missing the checkpoint "
        hint += "suffix (e.g. the '-1' in 'path/to/ckpt-1')."
    if os.path.exists(f"{prefix}.data-00000-of-00001"):
        raise errors.UnimplementedError(
            f"The checkpoint {prefix} was written by TensorFlow, whose format tapejax does not "
            "read. Convert it where TensorFlow is installed: reader = "
            "tf.train.load_checkpoint(path), then numpy.savez of reader.get_tensor(key) for each "
            "key, and assign the arrays here."
        )
    raise errors.NotFoundError(
        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
        f"{prefix}. {hint}"
    )


def write(prefix: str, arrays: dict[str, Any], description: Any) -> None:
    """Write a checkpoint under a prefix; it is there once its data file is."""
    tensor_file.write(prefix + DATA, arrays, description)
    listed = {name: list(array.shape) for name, array in arrays.items()}
    mark = {"checkpoint": os.path.basename(prefix) + DATA, "tensors": listed}
    with tensor_file.replaced(prefix + MARK) as file:
        file.write(json.dumps(mark, indent=1).encode())


def delete(prefix: str) -> None:
    """Delete a checkpoint, if it is there."""
    for ending in (MARK, DATA):
        Path(prefix + ending).unlink(missing_ok=True)


class CheckpointState:
    """What the file `checkpoint` of a folder says.

    Attributes:
        model_checkpoint_path: The latest checkpoint.
        all_model_checkpoint_paths: All that are kept, the oldest first.
        all_model_checkpoint_timestamps: When they were written, in seconds since 1970.
        last_preserved_timestamp: When the last one was written that is kept for ever.
    """

    def __init__(
        self,
        model_checkpoint_path: str,
        all_model_checkpoint_paths: Sequence[str] = (),
        all_model_checkpoint_timestamps: Sequence[float] = (),
        last_preserved_timestamp: float = 0.0,
    ) -> None:
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)
        self.all_model_checkpoint_timestamps = list(all_model_checkpoint_timestamps)
        self.last_preserved_timestamp = last_preserved_timestamp

    def __repr__(self) -> str:
        return _text(self)


def _text(state: CheckpointState) -> str:
    """The state in the text format of protocol buffers, as TensorFlow writes it."""
    lines = [("model_checkpoint_path", json.dumps(state.model_checkpoint_path))]
    paths = state.all_model_checkpoint_paths
    lines += [("all_model_checkpoint_paths", json.dumps(path)) for path in paths]
    times = state.all_model_checkpoint_timestamps
    lines += [("all_model_checkpoint_timestamps", repr(float(time))) for time in times]
    if state.last_preserved_timestamp:
        lines.append(("last_preserved_timestamp", repr(float(state.last_preserved_timestamp))))
    return "".join(f"{name}: {value}\n" for name, value in lines)


_LINE = re.compile(r'\s*(\w+)\s*:\s*("(?:[^"\\]|\\.)*"|[-+.\w]+)\s*')


def _parsed(text: str) -> CheckpointState:
    fields: dict[str, list[Any]] = {}
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is None and line.strip():
            raise ValueError(f"cannot read the line {line!r}")
        if found is not None:
            fields.setdefault(found[1], []).append(json.loads(found[2]))
    paths = fields.get("all_model_checkpoint_paths", [])
    latest = fields["model_checkpoint_path"][-1]
    times = [float(t) for t in fields.get("all_model_checkpoint_timestamps", [])]
    if not all(isinstance(path, str) for path in (latest, *paths)):
        raise ValueError("a path is no text")
    last = float(fields.get("last_preserved_timestamp", [0.0])[-1])
    return CheckpointState(latest, paths or [latest], times, last)


def write_state(
    folder: str,
    latest: str,
    paths: Sequence[str],
    timestamps: Sequence[float] = (),
    last_preserved: float = 0.0,
) -> None:
    """Write the file that names the latest checkpoint of a folder.

    Args:
        folder: The folder.
        latest: The latest checkpoint.
        paths: All checkpoints, the oldest first.
        timestamps: When they were written.
        last_preserved: When the last one was written that is kept for ever.
    """
    relative = [os.path.relpath(path, folder) for path in (latest, *paths)]
    state = CheckpointState(relative[0], relative[1:], timestamps, last_preserved)
    with tensor_file.replaced(os.path.join(folder, "checkpoint")) as file:
        file.write(_text(state).encode())


@public("train.get_checkpoint_state")
def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """What the file `checkpoint` of a folder says.

    Args:
        checkpoint_dir: The folder.
        latest_filename: The file's name, if it has another one.

    Returns:
        The state, with paths that include the folder; None if there is no such file, or none that
        can be read.

    Example:
        >>> import tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.mkdtemp()
        >>> path = tf.train.Checkpoint(step=tf.Variable(1)).save(folder + "/ckpt")
        >>> tf.train.get_checkpoint_state(folder).model_checkpoint_path == path
        True
    """
    folder = os.fspath(checkpoint_dir)
    try:
        with open(os.path.join(folder, latest_filename or "checkpoint"), encoding="utf-8") as file:
            state = _parsed(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError):  # damaged: as if it were not there
        return None
    state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    state.all_model_checkpoint_paths = [
        os.path.join(folder, path) for path in state.all_model_checkpoint_paths
    ]
    return state


@public("train.latest_checkpoint")
def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The latest complete checkpoint of a folder.

    Args:
        checkpoint_dir: The folder.
        latest_filename: The name of the file that names it. Default: `checkpoint`.

    Returns:
        A path for `restore`, or None.

    Example:
        >>> import tempfile
        >>> import tapejax as tf
        >>> print(tf.train.latest_checkpoint(tempfile.mkdtemp()))
        None
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is not None and os.path.exists(state.model_checkpoint_path + DATA):
        return state.model_checkpoint_path
    return None

"""`tf.io`: whole files, and files by patterns."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.variable import Variable
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import as_texts, known_texts, text_tensor
from tapejax._src.ops.gfile import glob
from tapejax._src.ops.paths import open_local, os_errors, path_text
from tapejax._src.ops.shape_checks import brackets


def scalar_text(value: Any, what: str, node: str) -> bytes:
    """The string of an argument.

    Raises:
        InvalidArgumentError: If it is not a scalar.
    """
    texts = known_texts(as_texts(value))
    if texts.ndim:
        raise InvalidArgumentError(
            f"{what} must be scalar, but had shape: {brackets(texts.shape)} [Op:{node}]"
        )
    return texts[()]


@public("io.read_file")
def read_file(filename: Any, name: str | None = None) -> Any:
    """The contents of a file.

    Args:
        filename: A string, scalar.
        name: Ignored.

    Returns:
        A string, scalar.

    Raises:
        NotFoundError: If there is no such file.
        FailedPreconditionError: If it is a folder.

    Example:
        >>> import os, tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "a", "note.txt")
        >>> tf.io.write_file(path, "hello")
        >>> tf.io.read_file(path).numpy()
        b'hello'
        >>> folder.cleanup()
    """
    path = path_text(scalar_text(filename, "Input filename tensor", "ReadFile"))
    with os_errors(path), open_local(path, "rb") as file:
        return text_tensor(file.read())


@public("io.write_file")
def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a file, and make the folders it is in.

    Args:
        filename: A string, scalar.
        contents: A string, scalar.
        name: Ignored.
    """
    path = path_text(scalar_text(filename, "Input filename tensor", "WriteFile"))
    data = scalar_text(contents, "Contents tensor", "WriteFile")
    with os_errors(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open_local(path, "wb") as file:
            file.write(data)


@public("io.matching_files")
def matching_files(pattern: Any, name: str | None = None) -> Any:
    """The files that match a pattern, sorted.

    Args:
        pattern: A string or a vector of strings, with `*`, `?` and `[...]`.
        name: Ignored.

    Returns:
        A vector of strings.
    """
    patterns = known_texts(as_texts(pattern)).ravel().tolist()
    found = sorted({os.fsencode(path) for item in patterns for path in glob(item)})
    array = np.empty(len(found), object)
    array[:] = found
    return text_tensor(array)


@public("io.match_filenames_once")
def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """A variable that holds the files that match a pattern now.

    Args:
        pattern: A string or a vector of strings, with `*`, `?` and `[...]`.
        name: The name of the variable.

    Returns:
        A variable of strings, a vector.
    """
    return Variable(matching_files(pattern), trainable=False, name=name, shape=[None])


@public("io.write_graph")
def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> NoReturn:
    """Not supported: there are no TensorFlow graphs.

    Args:
        graph_or_graph_def: A graph of TensorFlow.
        logdir: A folder.
        name: A file name.
        as_text: Whether to write text.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError(
        "tapejax has no TensorFlow graphs to write. Export a function by "
        "jax.export.export(jax.jit(...)), or save variables by tf.train.Checkpoint."
    )

"""Weights and models in files of any name, as Keras 2 wrote them.

`save_weights` writes Keras 2's own HDF5 format to `.h5`, `.hdf5` and `.keras`. Every other path is
a prefix: the weights are a checkpoint file beside it, with the small `path.index` and the file
`checkpoint` by which programs and `tf.train.latest_checkpoint` find it.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.checkpoint import bundle_reader, paths, tensor_file
from tapejax._src.core import errors
from tapejax._src.keras.old_spellings import layers
from tapejax._src.keras.old_spellings.uses import note

_HDF5 = (".h5", ".hdf5", ".keras")
_MODEL = "model.keras"
_KIND = "keras weights"


class Restored:
    """What `load_weights` returned: the status of a checkpoint."""

    def expect_partial(self) -> Restored:
        """Nothing to be silent about."""
        return self

    def assert_consumed(self) -> Restored:
        """Everything was loaded, or `load_weights` would have raised."""
        return self

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed


def _legacy_format() -> Any:
    return importlib.import_module("keras.src.legacy.saving.legacy_h5_format")


def _h5py() -> Any:
    return importlib.import_module("h5py")


# -------------------------------------------------------------------------------------- weights
def hooked_save_weights(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Model.save_weights` to any path."""

    @functools.wraps(original)
    def save_weights(
        self: Any,
        filepath: Any,
        overwrite: bool = True,
        save_format: str | None = None,
        options: Any = None,
        **kwargs: Any,
    ) -> Any:
        del options
        path = os.fspath(filepath)
        if kwargs or path.endswith((".weights.h5", ".weights.json")):
            return original(self, filepath, overwrite=overwrite, **kwargs)
        note(f"save_weights({os.path.basename(path)!r})", "a path that ends in .weights.h5")
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if save_format == "h5" or (save_format != "tf" and path.endswith(_HDF5)):
            with _h5py().File(path, "w") as file:
                _legacy_format().save_weights_to_hdf5_group(file, self)
            return None
        arrays = {f"{n}/{v.path}": np.asarray(v) for n, v in enumerate(self.weights)}
        paths.write(path, arrays, {"kind": _KIND})
        paths.write_state(os.path.dirname(path) or ".", path, [path])
        return None

    return save_weights


def hooked_load_weights(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Model.load_weights` from any path."""

    @functools.wraps(original)
    def load_weights(
        self: Any,
        filepath: Any,
        by_name: bool | None = None,
        skip_mismatch: bool = False,
        options: Any = None,
        **kwargs: Any,
    ) -> Any:
        del options
        path = os.fspath(filepath)
        if kwargs or path.endswith((".weights.h5", ".weights.json")):
            return original(self, filepath, skip_mismatch=skip_mismatch, **kwargs)
        note(f"load_weights({os.path.basename(path)!r})", "a path that ends in .weights.h5")
        if os.path.isfile(path) and _h5py().is_hdf5(path):
            _load_hdf5(self, path, bool(by_name), skip_mismatch)
            return Restored()
        if os.path.isfile(path) and path.endswith(".keras"):
            return original(self, filepath, skip_mismatch=skip_mismatch)
        if self.built and self.weights:
            _load_checkpoint(self, path)
        else:
            _arrays(path)  # a file that is not there is an error now
            self.__dict__[layers.PENDING] = _Pending(self, path)
        return Restored()

    return load_weights


class _Pending:
    """Weights that are loaded once the variables are there."""

    def __init__(self, model: Any, path: str) -> None:
        self.model = model
        self.path = path
        self.done = False

    def __call__(self) -> None:
        _load_checkpoint(self.model, self.path)


def _load_hdf5(model: Any, path: str, by_name: bool, skip_mismatch: bool) -> None:
    form = _legacy_format()
    load = form.load_weights_from_hdf5_group
    if by_name:
        load = form.load_weights_from_hdf5_group_by_name
    with _h5py().File(path, "r") as file:
        inside = "layer_names" not in file.attrs and "model_weights" in file
        load(file["model_weights"] if inside else file, model, skip_mismatch)


def _arrays(path: str) -> tuple[dict[str, Any], bool]:
    """The arrays of a checkpoint, and whether TensorFlow wrote it."""
    if not os.path.exists(path + paths.DATA) and os.path.exists(path + ".data-00000-of-00001"):
        return bundle_reader.read(path), True
    contents = tensor_file.read(paths.data_file(path))
    return tensor_file.load(contents, list(contents.entries)), False


def _load_checkpoint(model: Any, path: str) -> None:
    arrays, foreign = _arrays(path)
    weights = list(model.weights)
    values = _by_objects(model, arrays) if foreign else list(arrays.values())
    if len(values) != len(weights):
        raise ValueError(
            f"{path} holds {len(values)} weights and {model.name} has {len(weights)}: the model "
            "must be built as the one that was saved."
        )
    for variable, value in zip(weights, values, strict=True):
        if tuple(variable.shape) != np.shape(value):
            raise ValueError(
                f"{variable.path} has shape {tuple(variable.shape)}, and {path} holds one of shape "
                f"{np.shape(value)}."
            )
    for variable, value in zip(weights, values, strict=True):
        variable.assign(value)


_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def _by_objects(model: Any, arrays: dict[str, Any]) -> list[Any]:
    """The values of a model's weights in a checkpoint by TensorFlow, found by attribute paths."""
    found: dict[int, Any] = {}
    for key, array in arrays.items():
        if key.endswith(_VALUE) and "/.OPTIMIZER_SLOT" not in key:
            variable = _followed(model, key.removesuffix(_VALUE).split("/"))
            if variable is not None:
                found[id(variable)] = array
    missing = [v.path for v in model.weights if id(v) not in found]
    if missing:
        raise errors.NotFoundError(f"The checkpoint has no values for {missing}.")
    return [found[id(v)] for v in model.weights]


def _followed(node: Any, names: list[str]) -> Any:
    for name in names:
        prefix, _, number = name.rpartition("-")
        if prefix in ("layer", "layer_with_weights") and number.isdigit():
            held = [x for x in node.layers if prefix == "layer" or x.weights]
            node = held[int(number)] if int(number) < len(held) else None
        elif name.isdigit() and isinstance(node, (list, tuple)):
            node = node[int(name)] if int(name) < len(node) else None
        elif isinstance(node, dict):
            node = node.get(name)
        else:
            node = getattr(node, name, None)
        if node is None:
            return None
    return node if hasattr(node, "assign") else None


# --------------------------------------------------------------------------------------- models
_OLD_OPTIONS = ("options", "save_traces", "signatures")


def hooked_save(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Model.save` and `save_model` to a folder."""

    @functools.wraps(original)
    def save(self: Any, filepath: Any, overwrite: bool = True, *args: Any, **kwargs: Any) -> Any:
        form = kwargs.pop("save_format", None)
        for name in _OLD_OPTIONS:
            kwargs.pop(name, None)
        path = os.fspath(filepath)
        if path.endswith(_HDF5) and form != "tf":
            return original(self, filepath, overwrite, *args, **kwargs)
        note(f"model.save({os.path.basename(path)!r})", "a path that ends in .keras")
        if form == "h5":
            raise ValueError(f"With save_format='h5' the path must end in .h5. Received: {path!r}")
        kwargs.pop("include_optimizer", None)
        os.makedirs(path, exist_ok=True)
        return original(self, os.path.join(path, _MODEL), True, *args, **kwargs)

    return save


def hooked_load(original: Callable[..., Any], names: dict[str, Any]) -> Callable[..., Any]:
    """`load_model` from a folder.

    Args:
        original: Keras' own.
        names: Short names of losses and metrics, which Keras does not find in its HDF5 files.
    """

    @functools.wraps(original)
    def load_model(filepath: Any, custom_objects: Any = None, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("options", None)
        path = os.fspath(filepath) if isinstance(filepath, (str, os.PathLike)) else ""
        inside = os.path.join(path, _MODEL)
        if path and os.path.isdir(path) and os.path.exists(inside):
            note(f"load_model({os.path.basename(path)!r})", "a path that ends in .keras")
            filepath = inside
        if path.endswith((".h5", ".hdf5")):
            custom_objects = names | (custom_objects or {})
        return original(filepath, custom_objects, *args, **kwargs)

    return load_model


def hooked_model_checkpoint(original: Callable[..., Any]) -> Callable[..., Any]:
    """`ModelCheckpoint.__init__` with any path, and `period`."""

    @functools.wraps(original)
    def __init__(self: Any, filepath: Any, *args: Any, **kwargs: Any) -> None:
        period = kwargs.pop("period", None)
        kwargs.pop("options", None)
        path = os.fspath(filepath)
        weights = kwargs.get("save_weights_only", args[3] if len(args) > 3 else False)
        accepted = ".weights.h5" if weights else (".keras", ".h5")
        if path.endswith(accepted):
            original(self, filepath, *args, **kwargs)
        else:
            note(f"ModelCheckpoint({os.path.basename(path)!r})", "a path that ends in .keras")
            original(self, path + (".weights.h5" if weights else ".keras"), *args, **kwargs)
            self.filepath = path
        if period is not None:
            note("ModelCheckpoint(period=...)", "save_freq='epoch', or a number of batches")
            self._tapejax_period = int(period)

    return __init__


def hooked_epoch_end(original: Callable[..., Any]) -> Callable[..., Any]:
    """`ModelCheckpoint.on_epoch_end`, which saves every `period` epochs."""

    @functools.wraps(original)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        period = getattr(self, "_tapejax_period", 1)
        if (epoch + 1) % period == 0:
            original(self, epoch, logs)

    return on_epoch_end

"""`tf.io.parse_example` and `parse_single_example`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import as_texts, known_texts
from tapejax._src.ops.example_columns import (
    Source,
    fixed_column,
    padded_column,
    ragged_column,
    sparse_column,
    variable_column,
)
from tapejax._src.ops.example_features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tapejax._src.ops.example_reading import Values, features_of, read_feature
from tapejax._src.ops.wire_format import BrokenMessageError

_NODE = "ParseExampleV2"


def wanted_keys(features: Mapping[str, Any]) -> set[str]:
    """The names of the features that must be read."""
    keys: set[str] = set()
    for name, feature in features.items():
        if isinstance(feature, SparseFeature):
            many = isinstance(feature.index_key, (list, tuple))
            keys.update(feature.index_key if many else [feature.index_key])
            keys.add(feature.value_key)
        elif isinstance(feature, RaggedFeature):
            keys.add(name if feature.value_key is None else feature.value_key)
            keys.update([p.key for p in feature.partitions if hasattr(p, "key")])
        else:
            keys.add(name)
    return keys


def read_row(raw: Mapping[str, bytes], keys: set[str]) -> dict[str, Values | None]:
    """The features of one example that are wanted.

    Raises:
        BrokenMessageError: If one is broken.
    """
    return {key: read_feature(raw[key]) for key in keys if key in raw}


def column(source: Source, name: str, feature: Any) -> Any:
    """The tensor of one feature.

    Raises:
        ValueError: If the feature is of no known class.
    """
    if isinstance(feature, FixedLenFeature):
        return fixed_column(source, name, feature)
    if isinstance(feature, FixedLenSequenceFeature):
        if not feature.allow_missing:
            raise ValueError(
                "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
            )
        return padded_column(source, name, feature)[0]
    if isinstance(feature, VarLenFeature):
        return variable_column(source, name, feature.dtype)
    if isinstance(feature, SparseFeature):
        return sparse_column(source, name, feature)
    if isinstance(feature, RaggedFeature):
        return ragged_column(source, name, feature)
    raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{name}'")


def example_names(names: Any, count: int) -> list[str]:
    """What messages call the examples of a batch."""
    if names is None:
        return ["<unknown>"] * count
    found = known_texts(as_texts(names)).ravel().tolist()
    return [name.decode("utf-8", "replace") for name in found] or ["<unknown>"] * count


def _parsed(texts: Sequence[bytes], features: Any, names: list[str], is_single: bool) -> Any:
    if not features:
        raise ValueError(
            f"Invalid argument: features cannot be {'None' if features is None else 'empty'}."
        )
    keys = wanted_keys(features)
    rows: list[dict[str, Values | None]] = []
    for place, text in enumerate(texts):
        try:
            rows.append(read_row(features_of(text), keys))
        except BrokenMessageError as error:
            subject = "" if is_single else f"Name: {names[place]}, Index: {place}, "
            raise InvalidArgumentError(
                f"{subject}Could not parse example input: {error}. value: {text[:64]!r} "
                f"[Op:{_NODE}]"
            ) from None
    source = Source(rows, names, _NODE, is_single)
    return {name: column(source, name, feature) for name, feature in features.items()}


@public("io.parse_example")
def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of a batch of serialized `tf.train.Example`s.

    Args:
        serialized: Strings `[batch]`; a scalar is one example, parsed without a batch.
        features: A dict from names of features to `tf.io.FixedLenFeature`, `VarLenFeature`,
            `FixedLenSequenceFeature`, `SparseFeature` or `RaggedFeature`.
        example_names: Strings `[batch]`: what errors call the examples.
        name: Ignored.

    Returns:
        A dict from names to tensors, sparse tensors and ragged tensors, whose first dimension is
        the batch.

    Raises:
        ValueError: If `features` is empty or holds something else.
        InvalidArgumentError: If an example is broken, or a feature is missing or of another type or
            size.

    Example:
        >>> import tapejax as tf
        >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[29]))
        >>> example = tf.train.Example(features=tf.train.Features(feature={"age": feature}))
        >>> parsed = tf.io.parse_example(
        ...     [example.SerializeToString()], {"age": tf.io.FixedLenFeature([], tf.int64)}
        ... )
        >>> parsed["age"].numpy().tolist()
        [29]
    """
    texts = known_texts(as_texts(serialized))
    if not texts.ndim:
        return _parsed([texts[()]], features, ["<unknown>"], True)
    if texts.ndim > 1:
        raise InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got shape: {list(texts.shape)} "
            f"[Op:{_NODE}]"
        )
    return _parsed(texts.tolist(), features, _names_of(example_names, len(texts)), False)


_names_of = example_names


@public("io.parse_single_example")
def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one serialized `tf.train.Example`.

    Args:
        serialized: A string, scalar.
        features: A dict as `tf.io.parse_example` takes it.
        example_names: Ignored.
        name: Ignored.

    Returns:
        A dict from names to tensors, sparse tensors and ragged tensors.

    Raises:
        ValueError: If `serialized` is not a scalar, or `features` is empty.
        InvalidArgumentError: As `tf.io.parse_example`.

    Example:
        >>> import tapejax as tf
        >>> feature = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 2.0]))
        >>> example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
        >>> parsed = tf.io.parse_single_example(
        ...     example.SerializeToString(), {"x": tf.io.FixedLenFeature([2], tf.float32)}
        ... )
        >>> parsed["x"].numpy().tolist()
        [0.5, 2.0]
    """
    del example_names
    texts = known_texts(as_texts(serialized))
    if texts.ndim:
        raise ValueError("Input serialized must be a scalar")
    return _parsed([texts[()]], features, ["<unknown>"], True)

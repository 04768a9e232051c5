"""`tf.io.parse_sequence_example` and `parse_single_sequence_example`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import RowPartition
from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import as_texts, known_texts
from tapejax._src.ops.example_columns import Source, padded_column, ragged_column, variable_column
from tapejax._src.ops.example_features import (
    FixedLenSequenceFeature,
    RaggedFeature,
    VarLenFeature,
)
from tapejax._src.ops.example_parsing import (
    column,
    read_row,
    wanted_keys,
)
from tapejax._src.ops.example_parsing import (
    example_names as names_of,
)
from tapejax._src.ops.example_reading import Values, read_feature, sequence_of
from tapejax._src.ops.sparse_tensor import SparseTensor
from tapejax._src.ops.text_rows import limits
from tapejax._src.ops.wire_format import BrokenMessageError

_NODE = "ParseSequenceExampleV2"

Steps = list[dict[str, Values | None]]


class _Batch:
    """The steps of a batch of sequences.

    Args:
        sequences: For each sequence the steps of each feature; None where the feature is missing.
        names: What messages call the sequences.
        is_single: Whether there is one sequence and no batch.
    """

    def __init__(
        self,
        sequences: Sequence[Mapping[str, Steps]],
        names: Sequence[str],
        is_single: bool,
    ) -> None:
        self._sequences = sequences
        self._names = names
        self._is_single = is_single

    def lengths(self, key: str) -> list[int]:
        """The number of steps of a feature in each sequence."""
        return [len(sequence.get(key, [])) for sequence in self._sequences]

    def _source(self, key: str) -> Source:
        """The steps of all sequences one after the other, as a batch of examples."""
        steps = [step for sequence in self._sequences for step in sequence.get(key, [])]
        names = [
            name
            for name, sequence in zip(self._names, self._sequences, strict=True)
            for _ in sequence.get(key, [])
        ]
        return Source(steps, names, _NODE, False)

    def dense(self, key: str, feature: FixedLenSequenceFeature) -> tuple[Any, Any]:
        """A tensor `[batch, most steps, *shape]`, and the numbers of steps."""
        for place, sequence in enumerate(self._sequences):
            if key not in sequence and not feature.allow_missing:
                raise InvalidArgumentError(
                    f"Name: {self._names[place]}, Feature list '{key}' is required but could not "
                    f"be found.  Did you mean to include it in feature_list_dense_missing_assumed_"
                    f"empty or feature_list_dense_defaults? [Op:{_NODE}]"
                )
        lengths = self.lengths(key)
        fixed = FixedLenSequenceFeature(feature.shape, feature.dtype, True, None)
        source = self._source(key)
        tensor, counts = padded_column(source, key, fixed)
        wrong = next((n for n, count in enumerate(counts) if count != 1), None)
        if wrong is not None:
            raise source.failed(
                wrong, key, f"a step has {counts[wrong]} rows of shape {list(feature.shape)}, not 1"
            )
        rows = tensor.view()[:, 0] if counts else tensor.view().reshape(0, *tensor.shape[2:])
        if self._is_single:
            return constant_tensor(np.array(rows)), None
        empty: Any = b"" if rows.dtype.kind == "O" else 0
        made = np.full((len(lengths), max(lengths, default=0), *rows.shape[1:]), empty, rows.dtype)
        ends = limits(lengths)
        for place, length in enumerate(lengths):
            made[place, :length] = rows[ends[place] : ends[place + 1]]
        return constant_tensor(made), constant_tensor(np.array(lengths, np.int64))

    def variable(self, key: str, feature: VarLenFeature) -> SparseTensor:
        """A sparse tensor `[batch, most steps, most values]`."""
        flat = variable_column(self._source(key), key, feature.dtype)
        lengths = self.lengths(key)
        indices = flat.indices.view()
        width = int(flat.dense_shape.view()[1])
        if self._is_single:
            shape = np.array([lengths[0], width], np.int64)
            return SparseTensor(flat.indices, flat.values, constant_tensor(shape))
        batch = np.repeat(np.arange(len(lengths)), lengths)[indices[:, 0]]
        step = indices[:, 0] - limits(lengths)[batch]
        places = np.stack([batch, step, indices[:, 1]], 1).astype(np.int64)
        shape = np.array([len(lengths), max(lengths, default=0), width], np.int64)
        return SparseTensor(constant_tensor(places), flat.values, constant_tensor(shape))

    def ragged(self, key: str, feature: RaggedFeature) -> RaggedTensor:
        """A ragged tensor `[batch, (steps), (values)]`."""
        name = key if feature.value_key is None else feature.value_key
        rows = ragged_column(self._source(name), name, feature)
        if self._is_single:
            return rows
        splits = limits(self.lengths(name), feature.row_splits_dtype.as_numpy_dtype)
        return RaggedTensor.of(rows, RowPartition(constant_tensor(splits), host=splits))


def _read(
    text: bytes, context: set[str], sequence: set[str]
) -> tuple[dict[str, Values | None], dict[str, Steps]]:
    raw_context, raw_lists = sequence_of(text)
    lists: dict[str, Steps] = {
        key: [{key: read_feature(step)} for step in raw_lists[key]]
        for key in sequence
        if key in raw_lists
    }
    return read_row(raw_context, context), lists


def _parsed(
    texts: Sequence[bytes], context: Any, sequence: Any, names: list[str], is_single: bool
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    if not context and not sequence:
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one should have "
            "values."
        )
    context, sequence = context or {}, sequence or {}
    for key, feature in context.items():
        if isinstance(feature, FixedLenSequenceFeature):
            raise ValueError(f"Unsupported FixedLenSequenceFeature {feature} for key '{key}'")
    context_keys, sequence_keys = wanted_keys(context), wanted_keys(sequence)
    rows: list[dict[str, Values | None]] = []
    lists: list[dict[str, Steps]] = []
    for place, text in enumerate(texts):
        try:
            row, steps = _read(text, context_keys, sequence_keys)
        except BrokenMessageError as error:
            raise InvalidArgumentError(
                f"Name: {names[place]}, could not parse the sequence: {error} [Op:{_NODE}]"
            ) from None
        rows.append(row)
        lists.append(steps)
    source = Source(rows, names, _NODE, is_single)
    batch = _Batch(lists, names, is_single)
    found = {key: column(source, key, feature) for key, feature in context.items()}
    made: dict[str, Any] = {}
    lengths: dict[str, Any] = {}
    for key, feature in sequence.items():
        if isinstance(feature, FixedLenSequenceFeature):
            made[key], lengths[key] = batch.dense(key, feature)
        elif isinstance(feature, VarLenFeature):
            made[key] = batch.variable(key, feature)
        elif isinstance(feature, RaggedFeature):
            made[key] = batch.ragged(key, feature)
        else:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}'")
    return found, made, lengths


@public("io.parse_sequence_example")
def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The features of a batch of serialized `tf.train.SequenceExample`s.

    Args:
        serialized: Strings `[batch]`.
        context_features: A dict as `tf.io.parse_example` takes it: the features of the whole.
        sequence_features: A dict from names to `tf.io.FixedLenSequenceFeature`, `VarLenFeature` or
            `RaggedFeature`: the features of each step.
        example_names: Strings `[batch]`: what errors call the sequences.
        name: Ignored.

    Returns:
        Three dicts: the context; the steps, `[batch, steps, ...]`; the number of steps of each
        sequence, int64 `[batch]`, for those that are padded.

    Raises:
        ValueError: If there are no features, or some of another class.
        InvalidArgumentError: If a sequence is broken, or a feature is missing or of another type or
            size.

    Example:
        >>> import tapejax as tf
        >>> sequence = tf.train.SequenceExample()
        >>> steps = sequence.feature_lists.feature_list["n"].feature
        >>> steps.add().int64_list.value.append(1)
        >>> steps.add().int64_list.value.append(2)
        >>> _, parsed, lengths = tf.io.parse_sequence_example(
        ...     [sequence.SerializeToString()],
        ...     sequence_features={"n": tf.io.FixedLenSequenceFeature([], tf.int64)},
        ... )
        >>> parsed["n"].numpy().tolist(), lengths["n"].numpy().tolist()
        ([[1, 2]], [2])
    """
    texts = known_texts(as_texts(serialized))
    if texts.ndim != 1:
        raise ValueError(f"serialized must be a vector of strings, got shape {texts.shape}")
    names = names_of(example_names, len(texts))
    return _parsed(texts.tolist(), context_features, sequence_features, names, False)


@public("io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of one serialized `tf.train.SequenceExample`.

    Args:
        serialized: A string, scalar.
        context_features: As of `tf.io.parse_sequence_example`.
        sequence_features: The same.
        example_name: A string: what errors call the sequence.
        name: Ignored.

    Returns:
        Two dicts: the context, and the steps `[steps, ...]`.

    Raises:
        ValueError: As `tf.io.parse_sequence_example`.
        InvalidArgumentError: The same.

    Example:
        >>> import tapejax as tf
        >>> sequence = tf.train.SequenceExample()
        >>> steps = sequence.feature_lists.feature_list["n"].feature
        >>> steps.add().int64_list.value.append(1)
        >>> _, parsed = tf.io.parse_single_sequence_example(
        ...     sequence.SerializeToString(),
        ...     sequence_features={"n": tf.io.FixedLenSequenceFeature([], tf.int64)},
        ... )
        >>> parsed["n"].numpy().tolist()
        [1]
    """
    texts = known_texts(as_texts(serialized))
    if texts.ndim:
        raise ValueError("Input serialized must be a scalar")
    names = names_of(example_name, 1)
    return _parsed([texts[()]], context_features, sequence_features, names, True)[:2]

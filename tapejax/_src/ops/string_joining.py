"""`tf.strings.join` and its relatives: several strings into one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError, OutOfRangeError
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.engine.convert import as_tensor, known_value, static_ints
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import Texts, as_texts, known_texts, map_texts, text_tensor
from tapejax._src.ops.shape_checks import brackets
from tapejax._src.ops.text_rows import ragged_of_rows


@public("strings.join")
def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Join the strings at the same place of several tensors.

    Args:
        inputs: A list of tensors of strings of one shape; scalars stand beside every element.
        separator: What is put between.
        name: Ignored.

    Returns:
        Strings of that shape.

    Raises:
        InvalidArgumentError: If the shapes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.join([["a", "b"], ["c", "d"], "!"], "-").numpy().tolist()
        [b'a-c-!', b'b-d-!']
    """
    if isinstance(inputs, (str, bytes)):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    between = separator.encode()
    ragged = [value for value in inputs if isinstance(value, RaggedTensor)]
    if ragged:
        parts = [
            value.flat_values if isinstance(value, RaggedTensor) else value for value in inputs
        ]
        return ragged[0].over(join(parts, separator))
    texts = [as_texts(value) for value in inputs]
    if not texts:
        return text_tensor(b"")
    shapes = [tuple(text.shape) for text in texts if text.shape.rank]
    different = next((shape for shape in shapes if shape != shapes[0]), None)
    if different is not None:
        raise InvalidArgumentError(
            f"Input shapes do not match: {brackets(shapes[0])} vs. {brackets(different)} "
            "[Op:StringJoin]"
        )
    return map_texts(lambda *items: between.join(items), texts, node="StringJoin")


@public("strings.reduce_join")
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """Join the strings along dimensions of a tensor.

    Args:
        inputs: Strings of any shape, or a ragged tensor of them.
        axis: An int or a list of ints: the dimensions, joined one after the other. Default: all,
            from the last to the first, which keeps the elements in row-major order.
        keepdims: Whether they stay, with size 1.
        separator: What is put between.
        name: Ignored.

    Returns:
        Strings; without the dimensions unless `keepdims`.

    Raises:
        OutOfRangeError: If there is no such dimension.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=-1).numpy().tolist()
        [b'ab', b'cd']
    """
    between = separator.encode()
    if isinstance(inputs, RaggedTensor):
        return _joined_rows(inputs, axis, keepdims, between)
    texts = known_texts(as_texts(inputs))
    rank = texts.ndim
    given = list(range(rank))[::-1] if axis is None else static_ints(axis)
    axes: list[int] = []
    for place in [given] if isinstance(given, int) else given:
        if not -rank <= place < rank:
            raise OutOfRangeError(
                None,
                None,
                f"Invalid reduction dimension {place} for input with {rank} dimension(s) "
                "[Op:ReduceJoin]",
            )
        axes.append(place % rank)
    if len(set(axes)) < len(axes):
        raise InvalidArgumentError("Duplicate reduction dimension [Op:ReduceJoin]")
    kept = [place for place in range(rank) if place not in axes]
    shape = [texts.shape[place] for place in kept]
    count = int(np.prod([texts.shape[place] for place in axes], dtype=np.int64))
    rows = texts.transpose(kept + axes[::-1]).reshape(int(np.prod(shape, dtype=np.int64)), count)
    found = _joined(rows, between).reshape(shape)
    if keepdims:
        found = found.reshape([1 if n in axes else size for n, size in enumerate(texts.shape)])
    return text_tensor(found)


def _joined(rows: Any, between: bytes) -> Texts:
    found = np.empty(len(rows), object)
    found[:] = [between.join(row) for row in rows]
    return found


def _joined_rows(ragged: RaggedTensor, axis: Any, keepdims: bool, between: bytes) -> Any:
    """Join the rows of a ragged tensor: along its innermost ragged dimension, or all of it."""
    rank = ragged.ragged_rank + ragged.flat_values.ndim
    if axis is None:
        return reduce_join(ragged.flat_values, None, keepdims, between)
    place = static_ints(axis)
    places = {p % rank for p in ([place] if isinstance(place, int) else place)}
    if places != {rank - 1} or ragged.flat_values.ndim != 1:
        raise NotImplementedError(
            f"tf.strings.reduce_join of a ragged tensor of shape {ragged.shape} joins along its "
            "last dimension or all of them; pad it with x.to_tensor() for others."
        )
    *outer, splits = [np.asarray(s.view()) for s in ragged.nested_row_splits]
    texts = known_texts(ragged.flat_values)
    rows = [texts[first:last].tolist() for first, last in itertools.pairwise(splits)]
    values: Any = text_tensor(_joined(rows, between))
    if keepdims:
        return ragged_of_rows(values, *outer, np.arange(len(rows) + 1, dtype=splits.dtype))
    return ragged_of_rows(values, *outer)


@public("strings.unsorted_segment_join")
def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Any:
    """Join the strings of each segment, in their order.

    Args:
        inputs: Strings.
        segment_ids: int32 or int64: the segment of each string. Its shape is the first part of the
            shape of `inputs`.
        num_segments: How many segments there are.
        separator: What is put between.
        name: Ignored.

    Returns:
        Strings `[num_segments, ...]`; those of segments without strings are empty.

    Raises:
        InvalidArgumentError: If a segment does not exist, or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, ":").numpy().tolist()
        [b'b', b'a:c']
    """
    texts, segments = known_texts(as_texts(inputs)), known_value(as_tensor(segment_ids))
    count = int(static_ints(num_segments))
    if texts.shape[: segments.ndim] != segments.shape:
        raise InvalidArgumentError(
            f"data.shape = {brackets(texts.shape)} does not start with segment_ids.shape = "
            f"{brackets(segments.shape)} [Op:UnsortedSegmentJoin]"
        )
    if segments.size and (segments.min() < 0 or segments.max() >= count):
        raise InvalidArgumentError(
            "segment_ids are not allowed to exceed num_segments or to have negative values. "
            "[Op:UnsortedSegmentJoin]"
        )
    inner = texts.shape[segments.ndim :]
    width = int(np.prod(inner, dtype=np.int64))
    groups: list[list[bytes]] = [[] for _ in range(count * width)]
    for segment, row in zip(segments.ravel(), texts.reshape(segments.size, width), strict=True):
        for place, text in enumerate(row):
            groups[int(segment) * width + place].append(text)
    between = separator.encode()
    return text_tensor(_joined(groups, between).reshape(count, *inner))

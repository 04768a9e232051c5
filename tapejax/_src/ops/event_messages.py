"""The messages of event files: `tf.compat.v1.Event`, `Summary` and `SummaryMetadata`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from tapejax._src.ops.messages import Field, Message
from tapejax._src.ops.paths import path_text
from tapejax._src.ops.record_files import read_records


class PluginData(Message):
    """Which dashboard of TensorBoard shows a value."""

    FIELDS: ClassVar[Mapping[str, Field]] = {
        "plugin_name": Field(1, "text"),
        "content": Field(2, "content"),
    }


class SummaryMetadata(Message):
    r"""What is said about a value.

    Example:
        >>> import tapejax as tf
        >>> metadata = tf.compat.v1.SummaryMetadata()
        >>> metadata.plugin_data.plugin_name = "text"
        >>> metadata.SerializeToString()
        b'\n\x06\n\x04text'
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {
        "plugin_data": Field(1, "message", PluginData),
        "display_name": Field(2, "text"),
        "summary_description": Field(3, "text"),
        "data_class": Field(4, "integer"),
    }
    PluginData = PluginData


class SummaryValue(Message):
    """One value of a summary: a tensor, or a number as TensorFlow 1 wrote it."""

    FIELDS: ClassVar[Mapping[str, Field]] = {
        "tag": Field(1, "text"),
        "simple_value": Field(2, "single"),
        "node_name": Field(7, "text"),
        "tensor": Field(8, "tensor"),
        "metadata": Field(9, "message", SummaryMetadata),
    }


class Summary(Message):
    """The values of one step.

    Example:
        >>> import tapejax as tf
        >>> value = tf.compat.v1.Summary.Value(tag="loss", simple_value=0.5)
        >>> print(str(tf.compat.v1.Summary(value=[value])).rstrip())
        value {
          tag: "loss"
          simple_value: 0.5
        }
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {"value": Field(1, "messages", SummaryValue)}
    Value = SummaryValue


class SourceMetadata(Message):
    """Which program wrote a file."""

    FIELDS: ClassVar[Mapping[str, Field]] = {"writer": Field(1, "text")}


class Event(Message):
    """One record of an event file."""

    FIELDS: ClassVar[Mapping[str, Field]] = {
        "wall_time": Field(1, "double"),
        "step": Field(2, "integer"),
        "file_version": Field(3, "text"),
        "graph_def": Field(4, "content"),
        "summary": Field(5, "message", Summary),
        "source_metadata": Field(10, "message", SourceMetadata),
    }


def summary_iterator(path: Any) -> Iterator[Event]:
    """The events of an event file: `tf.compat.v1.train.summary_iterator`.

    Args:
        path: The file.

    Yields:
        Each `Event`. `tf.make_ndarray(value.tensor)` is the array of a value.

    Raises:
        NotFoundError: If there is no such file.
        DataLossError: If it is damaged.
    """
    for record in read_records(path_text(path)):
        yield Event.FromString(record)

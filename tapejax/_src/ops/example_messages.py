"""`tf.train.Example` and its parts: data as messages of Protocol Buffers.

The bytes are those that protobuf makes: files interchange with TensorFlow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tapejax._src.engine.registry import public
from tapejax._src.ops.messages import Field, Message


@public("train.BytesList")
class BytesList(Message):
    r"""A list of byte strings.

    Args:
        value: The strings.

    Example:
        >>> import tapejax as tf
        >>> tf.train.BytesList(value=[b"a", b"b"]).SerializeToString()
        b'\n\x01a\n\x01b'
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {"value": Field(1, "bytes")}


@public("train.FloatList")
class FloatList(Message):
    """A list of float32 numbers.

    Args:
        value: The numbers.

    Example:
        >>> import tapejax as tf
        >>> tf.train.FloatList(value=[0.5, 2]).value
        [0.5, 2.0]
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {"value": Field(1, "float")}


@public("train.Int64List")
class Int64List(Message):
    """A list of integers of 64 bits.

    Args:
        value: The integers.

    Example:
        >>> import tapejax as tf
        >>> tf.train.Int64List(value=[1, -1]).value
        [1, -1]
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {"value": Field(1, "int64")}


@public("train.Feature")
class Feature(Message):
    """One list of values: `bytes_list`, `float_list` or `int64_list`.

    Args:
        bytes_list: A `tf.train.BytesList`.
        float_list: A `tf.train.FloatList`.
        int64_list: A `tf.train.Int64List`.

    Example:
        >>> import tapejax as tf
        >>> tf.train.Feature(int64_list=tf.train.Int64List(value=[7])).WhichOneof("kind")
        'int64_list'
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {
        "bytes_list": Field(1, "message", BytesList),
        "float_list": Field(2, "message", FloatList),
        "int64_list": Field(3, "message", Int64List),
    }
    ONEOF: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "kind": ("bytes_list", "float_list", "int64_list")
    }


@public("train.Features")
class Features(Message):
    """Features by their names.

    Args:
        feature: A dict of `tf.train.Feature`s.

    Example:
        >>> import tapejax as tf
        >>> features = tf.train.Features()
        >>> features.feature["age"].int64_list.value.append(29)
        >>> sorted(features.feature)
        ['age']
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {"feature": Field(1, "map", Feature)}


@public("train.Example")
class Example(Message):
    """One example of a data set: named features.

    Args:
        features: A `tf.train.Features`.

    Example:
        >>> import tapejax as tf
        >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[29]))
        >>> example = tf.train.Example(features=tf.train.Features(feature={"age": feature}))
        >>> tf.train.Example.FromString(example.SerializeToString()) == example
        True
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {"features": Field(1, "message", Features)}


@public("train.FeatureList")
class FeatureList(Message):
    """Features one after the other, the steps of a sequence.

    Args:
        feature: A list of `tf.train.Feature`s.

    Example:
        >>> import tapejax as tf
        >>> len(tf.train.FeatureList(feature=[tf.train.Feature(), tf.train.Feature()]).feature)
        2
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {"feature": Field(1, "messages", Feature)}


@public("train.FeatureLists")
class FeatureLists(Message):
    """Lists of features by their names.

    Args:
        feature_list: A dict of `tf.train.FeatureList`s.

    Example:
        >>> import tapejax as tf
        >>> lists = tf.train.FeatureLists(feature_list={"words": tf.train.FeatureList()})
        >>> sorted(lists.feature_list)
        ['words']
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {"feature_list": Field(1, "map", FeatureList)}


@public("train.SequenceExample")
class SequenceExample(Message):
    """One sequence of a data set: features of the whole and of each step.

    Args:
        context: A `tf.train.Features`.
        feature_lists: A `tf.train.FeatureLists`.

    Example:
        >>> import tapejax as tf
        >>> sequence = tf.train.SequenceExample()
        >>> step = sequence.feature_lists.feature_list["words"].feature.add()
        >>> step.bytes_list.value.append(b"hello")
        >>> sequence.HasField("context"), sequence.HasField("feature_lists")
        (False, True)
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {
        "context": Field(1, "message", Features),
        "feature_lists": Field(2, "message", FeatureLists),
    }

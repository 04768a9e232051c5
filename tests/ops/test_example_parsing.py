# ruff: noqa: E501  each expression is one string
"""`tf.io.parse_example` and its relatives, and what they parse, as in TensorFlow."""

from __future__ import annotations

import copy
import pickle

import pytest
import tensorflow
from ops.outcomes import assert_same, each, outcome

import tapejax


def integers(*values):
    return tensorflow.train.Feature(int64_list=tensorflow.train.Int64List(value=values))


def floats(*values):
    return tensorflow.train.Feature(float_list=tensorflow.train.FloatList(value=values))


def texts(*values):
    return tensorflow.train.Feature(bytes_list=tensorflow.train.BytesList(value=values))


def example(**features) -> bytes:
    message = tensorflow.train.Example(features=tensorflow.train.Features(feature=features))
    return message.SerializeToString()


def sequence(context, **steps) -> bytes:
    lists = {name: tensorflow.train.FeatureList(feature=given) for name, given in steps.items()}
    message = tensorflow.train.SequenceExample(
        context=tensorflow.train.Features(feature=context),
        feature_lists=tensorflow.train.FeatureLists(feature_list=lists),
    )
    return message.SerializeToString()


EXAMPLES = [
    example(
        a=integers(1, 2),
        b=floats(1.5),
        c=texts(b"x", b"y"),
        i=integers(3, 1),
        v=floats(10.0, 20.0),
        e=tensorflow.train.Feature(),
        p=integers(0, 1, 2),
        l=integers(1, 1),
        t=integers(0, 1),
        m=integers(1, 2),
        r=integers(0, 1),
        one=integers(1),
    ),
    example(
        a=integers(5, 6),
        b=floats(2.5),
        c=texts(b"z"),
        i=integers(0),
        v=floats(7.0),
        p=integers(0, 2),
        l=integers(2),
        t=integers(0),
        m=integers(2),
        r=integers(0, 0),
        one=integers(1),
    ),
]
SEQUENCES = [
    sequence(
        {"l": integers(3)}, w=[texts(b"a"), texts(b"b", b"c")], n=[integers(1, 2), integers(3, 4)]
    ),
    sequence({"l": integers(4)}, w=[texts(b"q")], n=[integers(9, 9)]),
]


@each(
    "tf.io.parse_example(s, {'a': tf.io.FixedLenFeature([2], tf.int64), 'b': tf.io.FixedLenFeature([], tf.float32)})",
    "tf.io.parse_example(s, {'a': tf.io.FixedLenFeature([1, 2], tf.int64)})",
    "tf.io.parse_example(s, {'a': tf.io.FixedLenFeature([], tf.int64)})",
    "tf.io.parse_example(s, {'q': tf.io.FixedLenFeature([], tf.int64)})",
    "tf.io.parse_example(s, {'q': tf.io.FixedLenFeature([2], tf.int64, [7, 8])})",
    "tf.io.parse_example(s, {'q': tf.io.FixedLenFeature([], tf.string, 'd')})",
    "tf.io.parse_example(s, {'q': tf.io.FixedLenFeature([2], tf.string, ['d'])})",
    "tf.io.parse_example(s, {'q': tf.io.FixedLenFeature([2], tf.float32, 3.0)})",
    "tf.io.parse_example(s, {'a': tf.io.FixedLenFeature([2], tf.float32)})",
    "tf.io.parse_example(s, {'a': tf.io.FixedLenFeature([2], tf.int32)})",
    "tf.io.parse_example(s, {'c': tf.io.VarLenFeature(tf.string)})",
    "tf.io.parse_example(s, {'q': tf.io.VarLenFeature(tf.string)})",
    "tf.io.parse_example(s, {'a': tf.io.VarLenFeature(tf.string)})",
    "tf.io.parse_example(s, {'c': tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True)})",
    "tf.io.parse_example(s, {'a': tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)})",
    "tf.io.parse_example(s, {'a': tf.io.FixedLenSequenceFeature([], tf.int64)})",
    "tf.io.parse_example(s, {'c': tf.io.FixedLenSequenceFeature([], tf.string, True, 'pad')})",
    "tf.io.parse_example(s, {'q': tf.io.FixedLenSequenceFeature([], tf.int64, True)})",
    "tf.io.parse_example(s, {'i': tf.io.FixedLenSequenceFeature([2], tf.int64, True)})",
    "tf.io.parse_example(s, {'x': tf.io.SparseFeature('i', 'v', tf.float32, 5)})",
    "tf.io.parse_example(s, {'x': tf.io.SparseFeature('i', 'v', tf.float32, 2)})",
    "tf.io.parse_example(s, {'x': tf.io.SparseFeature('i', 'v', tf.float32, 5, already_sorted=True)})",
    "tf.io.parse_example(s, {'x': tf.io.SparseFeature(['i', 'i'], 'v', tf.float32, [5, 6])})",
    "tf.io.parse_example(s, {'c': tf.io.RaggedFeature(tf.string)})",
    "tf.io.parse_example(s, {'x': tf.io.RaggedFeature(tf.string, value_key='c')})",
    "tf.io.parse_example(s, {'x': tf.io.RaggedFeature(tf.int64, value_key='a', partitions=[tf.io.RaggedFeature.UniformRowLength(2)])})",
    "tf.io.parse_example(s, {'c': tf.io.RaggedFeature(tf.string, row_splits_dtype=tf.int64)})",
    "tf.io.parse_single_example(s[0], {'a': tf.io.FixedLenFeature([2], tf.int64), 'c': tf.io.VarLenFeature(tf.string), 'b': tf.io.FixedLenFeature([], tf.float32)})",
    "tf.io.parse_single_example(s[0], {'c': tf.io.FixedLenSequenceFeature([], tf.string, True)})",
    "tf.io.parse_single_example(s[0], {'c': tf.io.RaggedFeature(tf.string)})",
    "tf.io.parse_single_example(s[0], {'x': tf.io.SparseFeature('i', 'v', tf.float32, 5)})",
    "tf.io.parse_single_example(s[0], {'a': tf.io.FixedLenFeature([3], tf.int64)})",
    "tf.io.parse_single_example(s[0], {'q': tf.io.FixedLenFeature([], tf.int64)})",
    "tf.io.parse_single_example(s[0], {'q': tf.io.FixedLenFeature([], tf.int64, 9)})",
    "tf.io.parse_single_example(s[0], {'q': tf.io.VarLenFeature(tf.int64)})",
    "tf.io.parse_single_example(s[0], {'e': tf.io.FixedLenFeature([], tf.int64, 9)})",
    "tf.io.parse_single_example(s[0], {'e': tf.io.VarLenFeature(tf.int64)})",
    "tf.io.parse_single_example(s[0], {'b': tf.io.FixedLenFeature([], tf.int64)})",
    "tf.io.parse_example(s[0], {'a': tf.io.FixedLenFeature([2], tf.int64)})",
    "tf.io.parse_single_example(s, {'a': tf.io.FixedLenFeature([2], tf.int64)})",
    "tf.io.parse_example(s, {'a': 3})",
    "tf.io.parse_example(s[:1], {'q': tf.io.FixedLenFeature([], tf.int64)}, example_names=['nm'])",
    "tf.io.parse_example(s, {'a': tf.io.FixedLenFeature(2, tf.int64)})",
    "tf.io.parse_example(s, {'a': tf.io.FixedLenFeature([None], tf.int64)})",
    "tf.io.parse_example(s, {'a': tf.io.FixedLenFeature((2,), 'int64')})",
    "tf.io.parse_single_example(s[0], {'x': tf.io.SparseFeature('i', 'v', tf.float32, 2)})",
    "tf.io.parse_example(s, {'x': tf.io.RaggedFeature(tf.int64, value_key='a', partitions=[tf.io.RaggedFeature.RowSplits('p')])})",
    "tf.io.parse_example(s, {'x': tf.io.RaggedFeature(tf.int64, value_key='a', partitions=[tf.io.RaggedFeature.RowLengths('l')])})",
    "tf.io.parse_example(s, {'x': tf.io.RaggedFeature(tf.int64, value_key='a', partitions=[tf.io.RaggedFeature.RowStarts('t')])})",
    "tf.io.parse_example(s, {'x': tf.io.RaggedFeature(tf.int64, value_key='a', partitions=[tf.io.RaggedFeature.RowLimits('m')])})",
    "tf.io.parse_example(s, {'x': tf.io.RaggedFeature(tf.int64, value_key='a', partitions=[tf.io.RaggedFeature.ValueRowIds('r')])})",
    "tf.io.parse_example(s, {'x': tf.io.RaggedFeature(tf.int64, value_key='a', partitions=[tf.io.RaggedFeature.RowLengths('one'), tf.io.RaggedFeature.UniformRowLength(2)])})",
    "tf.io.parse_single_example(s[0], {'x': tf.io.RaggedFeature(tf.int64, value_key='a', partitions=[tf.io.RaggedFeature.RowLengths('l')], row_splits_dtype=tf.int64)})",
)
def test_examples(expression: str) -> None:
    assert_same(expression, {"s": EXAMPLES})


@each(
    "tf.io.parse_sequence_example(q, {'l': tf.io.FixedLenFeature([], tf.int64)}, {'n': tf.io.FixedLenSequenceFeature([2], tf.int64)})",
    "tf.io.parse_sequence_example(q, None, {'w': tf.io.VarLenFeature(tf.string)})",
    "tf.io.parse_sequence_example(q, {'l': tf.io.VarLenFeature(tf.int64)}, {'w': tf.io.RaggedFeature(tf.string)})",
    "tf.io.parse_sequence_example(q, None, {'w': tf.io.FixedLenSequenceFeature([], tf.string)})",
    "tf.io.parse_sequence_example(q, None, {'q': tf.io.FixedLenSequenceFeature([], tf.string)})",
    "tf.io.parse_sequence_example(q, None, {'q': tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True)})",
    "tf.io.parse_single_sequence_example(q[0], {'l': tf.io.FixedLenFeature([], tf.int64)}, {'n': tf.io.FixedLenSequenceFeature([2], tf.int64)})",
    "tf.io.parse_single_sequence_example(q[0], None, {'w': tf.io.VarLenFeature(tf.string)})",
    "tf.io.parse_single_sequence_example(q[0], None, {'w': tf.io.RaggedFeature(tf.string)})",
    "tf.io.parse_single_sequence_example(q[0], {'l': tf.io.FixedLenFeature([], tf.int64)}, None)",
    "tf.io.parse_single_sequence_example(q[0], None, {'q': tf.io.FixedLenSequenceFeature([], tf.string)})",
    "tf.io.parse_single_sequence_example(q[0], None, {'q': tf.io.FixedLenSequenceFeature([], tf.string, True)})",
    "tf.io.parse_single_sequence_example(q[0], None, {'n': tf.io.FixedLenSequenceFeature([], tf.int64)})",
    "tf.io.parse_single_sequence_example(q[0], None, {'q': tf.io.VarLenFeature(tf.string)})",
    "tf.io.parse_single_sequence_example(q[0], None, {'n': tf.io.FixedLenSequenceFeature([2], tf.string)})",
    "tf.io.parse_single_sequence_example(q[0], {'q': tf.io.FixedLenFeature([], tf.int64)}, None)",
    "tf.io.parse_single_sequence_example(q[0], None, None)",
    "tf.io.parse_sequence_example(q, None, {'n': tf.io.FixedLenSequenceFeature([1], tf.int64)})",
    "tf.io.parse_single_sequence_example(q[0], None, {'w': tf.io.FixedLenFeature([], tf.string)})",
    "tf.io.parse_sequence_example(q, {'l': tf.io.FixedLenSequenceFeature([], tf.int64, True)}, {'n': tf.io.FixedLenSequenceFeature([2], tf.int64)})",
    "tf.io.parse_sequence_example(q, None, {'q': tf.io.VarLenFeature(tf.string)})",
    "tf.io.parse_sequence_example(q, None, {'n': tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.UniformRowLength(1)])})",
)
def test_sequences(expression: str) -> None:
    assert_same(expression, {"q": SEQUENCES})


@each(
    "repr(tf.io.FixedLenFeature([2], tf.int64))",
    "repr(tf.io.RaggedFeature(tf.string))",
    "repr(tf.io.SparseFeature('i', 'v', tf.float32, 5))",
    "repr(tf.io.RaggedFeature.RowSplits('s'))",
    "repr(tf.io.RaggedFeature(tf.string, partitions=[tf.io.RaggedFeature.UniformRowLength(2)]))",
    "tf.io.RaggedFeature(tf.string, partitions=[3])",
    "tf.io.RaggedFeature(tf.string, row_splits_dtype=tf.float32)",
)
def test_descriptions(expression: str) -> None:
    assert_same(expression)


def test_partitions_that_do_not_fit_are_an_error() -> None:
    partition = "tf.io.RaggedFeature.RowLengths('i')"
    feature = f"tf.io.RaggedFeature(tf.int64, value_key='a', partitions=[{partition}])"
    expression = f"tf.io.parse_example(s, {{'x': {feature}}})"
    assert outcome(expression, tapejax, {"s": EXAMPLES}) == "InvalidArgumentError"


def test_broken_examples_are_an_error() -> None:
    for text in (b"junk", EXAMPLES[0][:-3]):
        with pytest.raises(tapejax.errors.InvalidArgumentError, match="Could not parse"):
            tapejax.io.parse_single_example(text, {"a": tapejax.io.VarLenFeature("int64")})


def test_no_examples_are_an_empty_batch() -> None:
    parsed = tapejax.io.parse_example([], {"a": tapejax.io.FixedLenFeature([2], "int64")})
    assert parsed["a"].shape == [0, 2]


# ---------------------------------------------------------------------- messages
def build(train):
    """The same messages in both libraries."""
    example = train.Example(
        features=train.Features(
            feature={
                "b": train.Feature(bytes_list=train.BytesList(value=[b"x", b"\xff'\"\n"])),
                "f": train.Feature(float_list=train.FloatList(value=[1.5, 0.1, -1e30])),
                "i": train.Feature(int64_list=train.Int64List(value=[1, -5, 2**62])),
                "e": train.Feature(),
            }
        )
    )
    example.features.feature["later"].int64_list.value.extend([3, 4])
    example.features.feature["two"].int64_list.value.append(1)
    example.features.feature["two"].float_list.value.append(2.0)
    steps = train.SequenceExample()
    steps.feature_lists.feature_list["w"].feature.add().bytes_list.value.append(b"k")
    steps.feature_lists.feature_list["w"].feature.add(float_list=train.FloatList(value=[1]))
    steps.context.feature["c"].int64_list.value[:] = [5]
    return [
        example,
        steps,
        train.Feature(int64_list={"value": [1]}),
        train.Feature(int64_list=train.Int64List()),
        train.Example(),
    ]


def test_messages_have_the_bytes_of_protobuf() -> None:
    for mine, theirs in zip(build(tapejax.train), build(tensorflow.train), strict=True):
        text = mine.SerializeToString()
        assert text == theirs.SerializeToString(deterministic=True)
        assert type(mine).FromString(theirs.SerializeToString()) == mine
        assert type(theirs).FromString(text) == theirs
        assert copy.deepcopy(mine) == pickle.loads(pickle.dumps(mine)) == mine


def test_messages_are_shown_as_protobuf_shows_them() -> None:
    for mine, theirs in zip(build(tapejax.train)[2:], build(tensorflow.train)[2:], strict=True):
        assert str(mine) == str(theirs)
    mine, theirs = (
        f.features.feature["b"] for f in (build(tapejax.train)[0], build(tensorflow.train)[0])
    )
    assert str(mine) == str(theirs)


@each(
    "T.Feature(int64_list=T.Int64List()).WhichOneof('kind')",
    "T.Feature().WhichOneof('kind')",
    "T.Int64List(value=[1.5])",
    "T.Int64List(value=[True])",
    "T.Int64List(value=[2**63])",
    "T.Int64List(value=np.array([1, 2])).value[:]",
    "T.FloatList(value=np.array([0.1])).value[:]",
    "T.FloatList(value=[1e39]).value[:]",
    "T.FloatList(value=['a'])",
    "T.BytesList(value=['a'])",
    "T.BytesList(value=[1])",
    "T.Example(foo=1)",
    "T.Example().foo",
    "T.Example.FromString(b'junk')",
    "setattr(T.Int64List(), 'value', [1])",
    "T.Features(feature={'a': 1})",
    "T.Feature(int64_list=T.FloatList())",
    "T.Features().feature.__setitem__('a', T.Feature())",
    "hash(T.Int64List())",
    "len(T.Example().features.feature)",
    "'a' in T.Example().features.feature",
    "T.Example().HasField('features')",
    "T.Example().HasField('nothing')",
    "T.Int64List(value=[1]) == T.Int64List(value=[1])",
)
def test_messages_behave_like_those_of_protobuf(expression: str) -> None:
    mine, theirs = (outcome(expression, tf, {"T": tf.train}) for tf in (tapejax, tensorflow))
    assert mine == theirs

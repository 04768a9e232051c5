"""`tf.io` decoders, `tf.audio` and tensors as bytes, as in TensorFlow."""

from __future__ import annotations

import gzip
import zlib

import numpy as np
import pytest
import tensorflow
from ops.outcomes import assert_same, each, outcome

import tapejax


@each(
    "tf.io.decode_raw(b'\\x01\\x00\\x02\\x00', tf.uint8)",
    "tf.io.decode_raw(b'\\x01\\x00\\x02\\x00', tf.int16)",
    "tf.io.decode_raw(b'\\x01\\x00\\x02\\x00', tf.int16, little_endian=False)",
    "tf.io.decode_raw([b'\\x01\\x00', b'\\x02\\x00'], tf.int16)",
    "tf.io.decode_raw([b'\\x01\\x00', b'\\x02'], tf.uint8)",
    "tf.io.decode_raw(b'\\x01\\x00\\x02', tf.int16)",
    "tf.io.decode_raw([b'\\x01\\x00', b'\\x02'], tf.uint8, fixed_length=3)",
    "tf.io.decode_raw([b'\\x01\\x00', b'\\x02'], tf.uint8, fixed_length=1)",
    "tf.io.decode_raw([b'\\x01\\x00', b'\\x02'], tf.int16, fixed_length=3)",
    "tf.io.decode_raw(b'ab', tf.string)",
    "tf.io.decode_raw(b'\\x01\\x00', tf.bool)",
    "tf.io.decode_raw(tf.zeros([0], tf.string), tf.uint8)",
)
def test_raw_bytes(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.io.encode_base64('hello?>')",
    "tf.io.encode_base64('hello?>', pad=True)",
    "tf.io.decode_base64('aGVsbG8_Pg')",
    "tf.io.decode_base64('aGVsbG8_Pg==')",
    "tf.io.decode_base64('aGVsbG8/Pg')",
    "tf.io.decode_base64('a')",
    "tf.io.decode_base64('aGVsbG8_P')",
    "tf.io.encode_base64(['a', 'b'])",
)
def test_base64(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.io.decode_csv(['1,2.5,a', '3,4,b'], [[0], [0.0], ['']])",
    "tf.io.decode_csv('1,,', [[0], [0.5], ['d']])",
    "tf.io.decode_csv('1,x', [[0], [0.5]])",
    "tf.io.decode_csv('1', [[0], [0.5]])",
    "tf.io.decode_csv(',', [tf.constant([], tf.int32), [0.5]])",
    "tf.io.decode_csv('\"a,\"\"b\"\"\",c', [[''], ['']])",
    "tf.io.decode_csv('\"a,b\",c', [[''], [''], ['']], use_quote_delim=False)",
    "tf.io.decode_csv('1\\t2', [[0], [0]], field_delim='\\t')",
    "tf.io.decode_csv('1,NA,3', [[0], [7], [0]], na_value='NA')",
    "tf.io.decode_csv('1,2,3', [[0], [0]], select_cols=[0, 2])",
    "tf.io.decode_csv('1,2,3', [[0], [0]], select_cols=[2, 0])",
    "tf.io.decode_csv('a\"b,c', [[''], ['']])",
    "tf.io.decode_csv('1,2', [tf.int32, tf.float32])",
    "tf.io.decode_csv(' 1, 2', [[0], [0]])",
    "tf.io.decode_csv([['1,2'], ['3,4']], [[0], [0]])",
    "tf.io.decode_csv('1.5,2', [[0], [0]])",
    "tf.io.decode_csv('\"abc,2', [[''], [0]])",
    "tf.io.decode_csv('\"abc\"d,2', [[''], [0]])",
    "tf.io.decode_csv('a,b\\r\\n', [[''], ['']])",
    "tf.io.decode_csv('a,b\\nc', [[''], ['']])",
    "tf.io.decode_csv('\"a\\nb\",c', [[''], ['']])",
)
def test_comma_separated_values(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.io.parse_tensor(tf.io.serialize_tensor(tf.constant(['a', 'b'])), tf.string)",
    "tf.io.parse_tensor(tf.io.serialize_tensor(tf.constant(1.0)), tf.int32)",
    "tf.io.parse_tensor(b'junk', tf.int32)",
    "tf.io.parse_tensor(b'', tf.float32)",
    "tf.io.parse_tensor([b''], tf.float32)",
)
def test_parsing_tensors(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.io.decode_compressed(zlib.compress(b'abc'), 'ZLIB')",
    "tf.io.decode_compressed(gzip.compress(b'abc'), 'GZIP')",
    "tf.io.decode_compressed(b'abc')",
    "tf.io.decode_compressed(b'abc', 'ZLIB')",
    "tf.io.decode_compressed(b'abc', 'X')",
)
def test_compressed_data(expression: str) -> None:
    assert_same(expression, {"zlib": zlib, "gzip": gzip})


TENSORS = [
    1.5,
    [1, 2],
    ["a", "bcd"],
    True,
    np.zeros([0, 2], np.int64),
    1 + 2j,
    np.array([1, 2], np.float16),
    "x" * 300,
    np.array([[1, 2], [3, 4]], np.uint8),
    np.array([-1, 2**40]),
]


@pytest.mark.parametrize("value", TENSORS, ids=lambda v: str(v)[:20])
def test_tensors_are_written_and_read_as_tensorflow_does(value) -> None:
    theirs = tensorflow.io.serialize_tensor(value)
    assert tapejax.io.serialize_tensor(value).numpy() == theirs.numpy()
    dtype = tapejax.constant(value).dtype
    again = tapejax.io.parse_tensor(theirs.numpy(), dtype)
    assert np.array_equal(again.numpy(), tapejax.constant(value).numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint64"])
def test_tensors_whose_values_are_in_typed_fields(dtype) -> None:
    for values, shape in (([3], [2, 2]), ([1, 2, 3], [3]), ([5, 6], [4])):
        message = tensorflow.make_tensor_proto(0, dtype, [1])
        message.ClearField("tensor_content")
        message = tensorflow.make_tensor_proto(values[0], dtype, [])
        for value in values[1:]:
            message.MergeFrom(_values_only(value, dtype))
        for size in shape:
            message.tensor_shape.dim.add().size = size
        text = message.SerializeToString()
        expected = tensorflow.io.parse_tensor(text, dtype).numpy()
        found = tapejax.io.parse_tensor(text, dtype).numpy()
        assert found.tolist() == expected.tolist()


def _values_only(value: int, dtype: str):
    message = tensorflow.make_tensor_proto(value, dtype, [])
    message.ClearField("dtype")
    message.ClearField("tensor_shape")
    return message


@each(
    "tf.SparseTensor([[0, 1], [2, 0], [2, 1]], ['a', 'b', 'c'], [3, 2])",
    "tf.SparseTensor([[0, 1, 1], [2, 0, 0]], [1.0, 2.0], [3, 2, 2])",
)
def test_sparse_tensors_are_written_and_read_as_tensorflow_does(expression: str) -> None:
    assert_same(f"tf.io.serialize_sparse({expression})")
    assert_same(f"tf.io.serialize_many_sparse({expression})")
    dtype = "tf.string" if "'a'" in expression else "tf.float32"
    rows = f"tf.io.serialize_many_sparse({expression})"
    assert_same(f"tf.io.deserialize_many_sparse({rows}, {dtype})")
    assert_same(f"tf.io.deserialize_many_sparse({rows}, tf.int8)")


SOUND = np.array([[0.0, 1.0], [0.5, -1.0], [2.0, -2.0], [0.00002, 0.3333]], np.float32)
WAV = {"x": SOUND, "w": tensorflow.audio.encode_wav(SOUND, 8000).numpy()}


@each(
    "tf.audio.encode_wav(x, 8000)",
    "tf.audio.decode_wav(w)",
    "tf.audio.decode_wav(w, desired_channels=1)",
    "tf.audio.decode_wav(w, desired_channels=3)",
    "tf.audio.decode_wav(w, desired_samples=2)",
    "tf.audio.decode_wav(w, desired_samples=6)",
    "tf.audio.decode_wav(b'junk')",
    "tf.audio.encode_wav([1.0, 2.0], 8000)",
    "tf.audio.encode_wav(tf.zeros([0, 1]), 8000)",
    "tf.audio.decode_wav(w[:50])",
    "tf.audio.decode_wav(w[:20])",
    "tf.audio.decode_wav(b'RIFF' + bytes(100))",
)
def test_sound(expression: str) -> None:
    assert_same(expression, WAV)


JSON = [
    '{"features":{"feature":{"a":{"int64List":{"value":["1",2]}}}}}',
    '{"features":{"feature":{"a":{"bytes_list":{"value":["YQ=="]}}}}}',
    '{"features":{"feature":{"f":{"floatList":{"value":[1.5,"Infinity"]}}}}}',
]


@pytest.mark.parametrize("text", JSON)
def test_examples_as_json(text: str) -> None:
    mine, theirs = (
        tensorflow.train.Example.FromString(tf.io.decode_json_example(text).numpy())
        for tf in (tapejax, tensorflow)
    )
    assert mine == theirs


def test_what_is_no_json_is_an_error() -> None:
    assert_same("tf.io.decode_json_example('x')")
    assert outcome("tf.io.decode_json_example('{\"a\": 1}')", tapejax) == "InvalidArgumentError"

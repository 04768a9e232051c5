"""`tf.strings`: each function on ordinary and odd inputs, as in TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow
from ops.outcomes import assert_same, each

import tapejax


@each(
    "tf.strings.as_string(3.1415926)",
    "tf.strings.as_string([1.5, float('nan'), float('inf'), -float('inf'), 1e+20])",
    "tf.strings.as_string(3, width=5)",
    "tf.strings.as_string(3, width=5, fill='0')",
    "tf.strings.as_string(3, width=5, fill='-')",
    "tf.strings.as_string(3, width=5, fill='x')",
    "tf.strings.as_string(3, precision=2)",
    "tf.strings.as_string(3.14159, precision=2, scientific=True)",
    "tf.strings.as_string(3.14159, shortest=True)",
    "tf.strings.as_string(True)",
    "tf.strings.as_string(1 + 2j)",
    "tf.strings.as_string(tf.constant(1.5, tf.float16))",
    "tf.strings.as_string(tf.constant(1.5, tf.bfloat16))",
    "tf.strings.as_string('a')",
    "tf.strings.as_string(True, width=6)",
    "tf.strings.as_string(3.0, scientific=True, shortest=True)",
    "tf.strings.as_string(tf.constant(200, tf.uint8))",
    "tf.strings.as_string(2 ** 40)",
    "tf.strings.as_string(float('nan'), width=6, fill='0')",
    "tf.strings.as_string(1 + 2j, precision=2, width=8)",
    "tf.strings.as_string(3, scientific=True)",
    "tf.strings.as_string(3, fill='0')",
    "tf.strings.as_string('abc', width=6)",
    "tf.strings.as_string(tf.constant(2 ** 63 + 5, tf.uint64))",
    "tf.strings.format('x: {} y: {}', (tf.constant([1, 2]), tf.constant('a')))",
    "tf.strings.format('{}', tf.range(10))",
    "tf.strings.format('{}', tf.range(10), summarize=-1)",
    "tf.strings.format('{}', [tf.constant(1.5), 2])",
    "tf.strings.format('{} {}', tf.constant(1))",
    "tf.strings.format('%t%', tf.constant(True), placeholder='%t%')",
    "tf.strings.format('{}', ['a', 'b'])",
    "tf.strings.format('{}', tf.constant(['a', 'b']))",
    "tf.strings.format('{}', [[1, 2]])",
    "tf.strings.format('none', ())",
)
def test_numbers_as_text(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.strings.to_number(['1', ' 2 ', '3.5e2', '-inf', 'nan', '0x10', '1_0'][:6])",
    "tf.strings.to_number('1_0')",
    "tf.strings.to_number('')",
    "tf.strings.to_number('abc')",
    "tf.strings.to_number('12', tf.int32)",
    "tf.strings.to_number(' 12 ', tf.int32)",
    "tf.strings.to_number('1.0', tf.int32)",
    "tf.strings.to_number('99999999999', tf.int32)",
    "tf.strings.to_number('1e400')",
    "tf.strings.to_number('1', tf.uint8)",
    "tf.strings.to_number('1', tf.uint32)",
    "tf.strings.to_number('1', tf.float16)",
    "tf.strings.to_number('+5', tf.int64)",
    "tf.strings.to_number('-5', tf.uint64)",
    "tf.strings.to_number('Infinity')",
    "tf.strings.to_number('1.')",
    "tf.strings.to_number('.5')",
    "tf.strings.to_number('1e39')",
    "tf.strings.to_number('0x1p3', tf.float64)",
)
def test_text_as_numbers(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.strings.lower('ÄB')",
    "tf.strings.lower('ÄB', encoding='utf-8')",
    "tf.strings.lower('ÄB', encoding='latin')",
    "tf.strings.upper('äßb', encoding='utf-8')",
    "tf.strings.strip(' \\t a b\\n\\x0b\\x0c\\r')",
    "tf.strings.strip('\\xa0a'.encode())",
    "tf.strings.length(['äb', ''])",
    "tf.strings.length('äb', unit='UTF8_CHAR')",
    "tf.strings.length('äb', unit='X')",
    "tf.strings.length(b'\\xff\\xc3', unit='UTF8_CHAR')",
)
def test_letters_and_lengths(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.strings.substr('hello', 1, 3)",
    "tf.strings.substr('hello', -3, 2)",
    "tf.strings.substr('hello', 6, 2)",
    "tf.strings.substr('hello', 5, 2)",
    "tf.strings.substr('hello', -6, 2)",
    "tf.strings.substr('hello', 1, 100)",
    "tf.strings.substr('hello', 1, -1)",
    "tf.strings.substr(['hello', 'w'], [0, 1], [1, 1])",
    "tf.strings.substr(['hello', 'world'], 0, [1, 2])",
    "tf.strings.substr('hällo', 1, 1)",
    "tf.strings.substr('hällo', 1, 1, unit='UTF8_CHAR')",
    "tf.strings.substr('hällo', -4, 2, unit='UTF8_CHAR')",
    "tf.strings.substr('hällo', 9, 2, unit='UTF8_CHAR')",
    "tf.strings.substr('hello', [1, 2], [1, 2])",
    "tf.strings.substr([['hello'], ['abcde']], [1, 2], [1, 2])",
    "tf.strings.substr('', 0, 1)",
    "tf.strings.substr('', 1, 1)",
)
def test_parts(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.strings.regex_full_match(['ab', 'b'], 'a.*')",
    "tf.strings.regex_full_match('ä', '.')",
    "tf.strings.regex_full_match('a\\n', 'a$')",
    "tf.strings.regex_full_match('a', '(')",
    "tf.strings.regex_full_match('aa', '(a)\\\\1')",
    "tf.strings.regex_full_match('a', '(?=a)a')",
    "tf.strings.regex_replace('abc', 'b*', '-')",
    "tf.strings.regex_replace('abc', 'x*', '-')",
    "tf.strings.regex_replace('abc', 'b', '-', replace_global=False)",
    "tf.strings.regex_replace('ab', '(a)(b)', '\\\\2\\\\1\\\\0\\\\\\\\')",
    "tf.strings.regex_replace('ab', '(a)(b)', '\\\\3')",
    "tf.strings.regex_replace('ab', '(a)(b)', '\\\\x')",
    "tf.strings.regex_replace('Hello World', '(?i)WORLD', 'x')",
    "tf.strings.regex_replace('a1ä٣', '\\\\d|\\\\w', 'x')",
    "tf.strings.regex_replace('a.b', '[[:punct:]]', '_')",
    "tf.strings.regex_replace('aäÄ日', '\\\\p{Lu}', '_')",
    "tf.strings.regex_replace('a\\x0bb\\tc', '\\\\s', '_')",
    "tf.strings.regex_replace(b'\\xffa', 'a', 'b')",
    "tf.strings.regex_replace('aaa', 'a{2}', 'b')",
    "tf.strings.regex_replace('a\\nb', '^b', 'x')",
    "tf.strings.regex_replace('a\\nb', '(?m)^b', 'x')",
    "tf.strings.regex_replace('a', tf.constant('a'), tf.constant('b'))",
    "tf.strings.regex_replace('a', tf.constant(['a']), 'b')",
)
def test_regular_expressions(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.strings.join(['a', ['b', 'c']])",
    "tf.strings.join([['a', 'b'], ['c', 'd']], '-')",
    "tf.strings.join([['a', 'b'], ['c']])",
    "tf.strings.join([])",
    "tf.strings.join(['a', 1])",
    "tf.strings.reduce_join([['a', 'b'], ['c', 'd']])",
    "tf.strings.reduce_join([['a', 'b'], ['c', 'd']], 0)",
    "tf.strings.reduce_join([['a', 'b'], ['c', 'd']], -1, keepdims=True, separator=',')",
    "tf.strings.reduce_join([['a', 'b'], ['c', 'd']], [1, 0])",
    "tf.strings.reduce_join([['a', 'b'], ['c', 'd']], [0, 1])",
    "tf.strings.reduce_join('a')",
    "tf.strings.reduce_join([['a', 'b'], ['c', 'd']], 2)",
    "tf.strings.reduce_join(tf.zeros([0, 2], tf.string), 0)",
    "tf.strings.reduce_join([['a', 'b'], ['c', 'd']], [])",
    "tf.strings.unsorted_segment_join(['a', 'b', 'c'], [1, 0, 1], 3, ':')",
    "tf.strings.unsorted_segment_join(['a', 'b', 'c'], [1, -1, 1], 3, ':')",
    "tf.strings.unsorted_segment_join(['a', 'b', 'c'], [1, 5, 1], 3, ':')",
    "tf.strings.unsorted_segment_join([['a', 'b'], ['c', 'd']], [0, 0], 1)",
)
def test_joining(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.strings.split('a b  c')",
    "tf.strings.split(['a b', 'c'])",
    "tf.strings.split('a,b,,c', sep=',')",
    "tf.strings.split('a,b,c', sep=',', maxsplit=1)",
    "tf.strings.split(' a b c ', maxsplit=1)",
    "tf.strings.split([['a b', 'c']])",
    "tf.strings.split('', sep=',')",
    "tf.strings.split('')",
    "tf.strings.split(['', ''])",
    "tf.strings.split('abc', sep='')",
    "tf.strings.split('a--b', sep='--')",
    "tf.strings.bytes_split('hé')",
    "tf.strings.bytes_split(['ab', ''])",
    "tf.strings.bytes_split([['ab'], ['c']])",
    "tf.strings.ngrams(['A', 'B', 'C', 'D'], 2)",
    "tf.strings.ngrams(['A', 'B', 'C'], [2, 1])",
    "tf.strings.ngrams(['A', 'B'], 3)",
    "tf.strings.ngrams(['A', 'B'], 3, preserve_short_sequences=True)",
    "tf.strings.ngrams(['A', 'B'], 2, pad_values='_')",
    "tf.strings.ngrams(['A', 'B'], 3, pad_values=('L', 'R'))",
    "tf.strings.ngrams(['A', 'B'], 3, pad_values=('L', 'R'), padding_width=1)",
    "tf.strings.ngrams([['A', 'B'], ['C', 'D']], 2, separator='|')",
    "tf.strings.ngrams('A', 2)",
    "tf.strings.ngrams(['A', 'B'], 0)",
    "tf.strings.ngrams(tf.ragged.constant([['A', 'B', 'C'], ['D']]), 2)",
    "tf.strings.ngrams([], 2)",
)
def test_splitting(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.strings.unicode_decode('hé', 'UTF-8')",
    "tf.strings.unicode_decode(['hé', '日'], 'UTF-8')",
    "tf.strings.unicode_decode(b'a\\xffb', 'UTF-8')",
    "tf.strings.unicode_decode(b'a\\xffb', 'UTF-8', errors='ignore')",
    "tf.strings.unicode_decode(b'a\\xffb', 'UTF-8', errors='strict')",
    "tf.strings.unicode_decode(b'a\\xffb', 'UTF-8', replacement_char=63)",
    "tf.strings.unicode_decode(b'a\\x01b', 'UTF-8', replace_control_characters=True)",
    "tf.strings.unicode_decode('x', 'UTF-16')",
    "tf.strings.unicode_decode('hé'.encode('utf-16-be'), 'UTF-16-BE')",
    "tf.strings.unicode_decode('x', 'nope')",
    "tf.strings.unicode_decode(b'\\xe6\\x97', 'UTF-8')",
    "tf.strings.unicode_decode(b'\\xe6\\x97a\\xc3(\\xed\\xa0\\x80', 'UTF-8')",
    "tf.strings.unicode_decode_with_offsets(['hé', '日a'], 'UTF-8')",
    "tf.strings.unicode_split('hé日', 'UTF-8')",
    "tf.strings.unicode_split_with_offsets(['hé'], 'UTF-8')",
    "tf.strings.unicode_encode([104, 233], 'UTF-8')",
    "tf.strings.unicode_encode(tf.ragged.constant([[104, 233], [26085]]), 'UTF-16-BE')",
    "tf.strings.unicode_encode([[104, 233], [1, 2]], 'UTF-32-BE')",
    "tf.strings.unicode_encode([1114112], 'UTF-8')",
    "tf.strings.unicode_encode([55296, 97], 'UTF-8', 'ignore')",
    "tf.strings.unicode_encode([55296], 'UTF-8', 'strict')",
    "tf.strings.unicode_encode(5, 'UTF-8')",
    "tf.strings.unicode_transcode(['hé', b'a\\xff'], 'UTF-8', 'UTF-16-BE')",
    "tf.strings.unicode_transcode('hé'.encode('latin1'), 'ISO-8859-1', 'UTF-8')",
    "tf.strings.unicode_transcode('a\\x01', 'UTF-8', 'UTF-8', replace_control_characters=True)",
    "tf.strings.unicode_transcode('a', 'US-ASCII', 'UTF-8')",
    "tf.strings.unicode_transcode(b'\\x93\\x94', 'windows-1252', 'UTF-8')",
    "tf.strings.unicode_transcode(b'a', 'foo', 'UTF-8')",
    "tf.strings.unicode_transcode(b'a', 'UTF-8', 'latin1')",
    "tf.strings.unicode_transcode(b'a\\xff', 'UTF-8', 'UTF-8', errors='strict')",
    "tf.strings.unicode_script([1, 104, 12354, 1040, -5, 1114111, 1114112])",
)
def test_unicode(expression: str) -> None:
    assert_same(expression)


@each(
    "tf.strings.to_hash_bucket('a', 1000)",
    "tf.strings.to_hash_bucket_fast(['a', 'hello'], 1000)",
    "tf.strings.to_hash_bucket_fast('a', 0)",
    "tf.strings.to_hash_bucket_fast(1, 10)",
    "tf.strings.to_hash_bucket_strong('a', 1000, [1, 2])",
    "tf.strings.to_hash_bucket_strong('a', 10, [1])",
)
def test_hash_buckets(expression: str) -> None:
    assert_same(expression)


PATTERNS = [
    (r"\\bfoo\\b", "foo bar food"),
    (r"[^a-c]+", "abcxyzabc"),
    (r"(?i)hello", "HeLLo hello"),
    (r"a|b|", "xaby"),
    (r"(a+)(b*)", "aabab"),
    (r"[[:alpha:]_]+", "ab_1c"),
    (r"[\\w\\s]+", "a b,c"),
    (r"\\W", "a-b c"),
    (r"\\D+", "12ab3"),
    (r".", "h\u00e9"),
    (r"\\x41", "ABA"),
    (r"\\x{e9}", "h\u00e9"),
    (r"\\Qa.b\\E", "a.b acb"),
    (r"(?s).+", "a\nb"),
    (r".+", "a\nb"),
    (r"(?m)^", "a\nb"),
    (r"$", "ab\n"),
    (r"\\z", "ab"),
    (r"x{2,3}?", "xxxx"),
    (r"[a\\]]+", "a]b"),
    (r"[]a]+", "a]b"),
    (r"(?P<n>a)b", "abab"),
    (r"\\pL+", "a\u00e9 1"),
    (r"[\\p{N}a]", "a1\u0663b"),
    (r"\\PL", "a1b"),
    (r"[^\\d]", "a1b"),
    (r"[\\D]", "a1b"),
    (r"[^[:space:]]+", "a b"),
    (r"a**", "a"),
    (r"[z-a]", "a"),
    (r"a{1001}", "a"),
    (r"(?<n>a)", "a"),
    (r"\\8", "8"),
    (r"*a", "a"),
    (r"a)", "a"),
    (r"((a)(?i)b)B", "aBB abB"),
]


@pytest.mark.parametrize(("pattern", "text"), PATTERNS)
def test_patterns_match_what_they_match_in_tensorflow(pattern: str, text: str) -> None:
    names = {"p": pattern, "t": text}
    assert_same("tf.strings.regex_replace(t, p, r'<\\0>')", names)
    assert_same("tf.strings.regex_replace(t, p, '', replace_global=False)", names)
    assert_same("tf.strings.regex_full_match(t, p)", names)


def test_fingerprints_of_all_lengths_are_those_of_tensorflow() -> None:
    rng = np.random.default_rng(0)
    sizes = [*range(0, 140), 256, 1000, 4097]
    texts = [bytes(rng.integers(0, 256, n, dtype=np.uint8)) for n in sizes]
    count = 2**62 + 12345
    for name in ("to_hash_bucket", "to_hash_bucket_fast"):
        mine = getattr(tapejax.strings, name)(texts, count).numpy()
        assert mine.tolist() == getattr(tensorflow.strings, name)(texts, count).numpy().tolist()
    key = [123456789, 2**40 + 77]
    mine = tapejax.strings.to_hash_bucket_strong(texts, count, key).numpy()
    theirs = tensorflow.strings.to_hash_bucket_strong(texts, count, key).numpy()
    assert mine.tolist() == theirs.tolist()


def test_scripts_of_all_characters_are_those_of_tensorflow() -> None:
    codes = np.arange(-2, 0x110002, 7, dtype=np.int32)
    mine = tapejax.strings.unicode_script(codes).numpy()
    assert (mine == tensorflow.strings.unicode_script(codes).numpy()).all()


@each(
    "tf.strings.upper(tf.ragged.constant([['ab', 'c'], ['d']]))",
    "tf.strings.length(tf.ragged.constant([['ab', 'c'], []]))",
    "tf.strings.split(tf.ragged.constant([['a b', 'c'], ['d e f']]))",
    "tf.strings.reduce_join(tf.ragged.constant([['a', 'b'], ['c']]), axis=-1)",
    "tf.strings.reduce_join(tf.ragged.constant([['a', 'b'], ['c']]), axis=1, separator='-')",
    "tf.strings.join([tf.ragged.constant([['a', 'b'], ['c']]), '!'])",
    "tf.strings.unicode_decode(tf.ragged.constant([['ab'], ['c', '']]), 'UTF-8')",
    "tf.strings.bytes_split(tf.ragged.constant([['ab'], ['c', '']]))",
    "tf.strings.to_number(tf.ragged.constant([['1', '2'], ['3']]))",
    "tf.as_string(tf.ragged.constant([[1, 2], [3]]))",
    "tf.strings.split(['a b', 'c']).to_tensor('-')",
)
def test_rows_of_different_lengths(expression: str) -> None:
    assert_same(expression)

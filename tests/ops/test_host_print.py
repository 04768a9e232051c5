"""`tf.print`: the text is TensorFlow's."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow

import tapejax

NAN, INF = float("nan"), float("inf")


class Pair(NamedTuple):
    b: object
    a: object


# The arguments of a call of tf.print each.
CALLS = """
; 'a'; 1, 2.5, True, None, 'x', b'by'; t('s'), t(['a', 'b']); [1, 2.5, 'a', None, True]; (1,)
(1, t(2)); []; {}; (); {'b': 1, 'a': [t([1.5, 2]), 3]}; P(1, t(2)); [t('x'), 'y']; {1: t(1)}
np.array([1, 2.5]), np.float32(3); [np.array([1, 2])]; v, [v]; r(7); r(6); r(10), 'x'
t([2.5, 1e10, 1e-10, NAN, INF, -INF, 1 / 3, 123456789.0, 0.1, 16777216, 1e6]), summarize=-1
t([2.5, 1e10, 1e-10, 1 / 3, 123456789.0, 0.1, 1e22, 1e15, 1e16, 1e17, 1e21], f64), summarize=-1
t([1 / 3, 1.5, 1000, 65504], f16), summarize=4; t([1 / 3, 1.5, 1000.0], bf16); t([-0.0, 0.0])
t(0.1), t(1e-5), t(1e5), t(1234567.0), t(12345678.0), t(100000000.0), t(0.1, f64), t(1e300, f64)
t([1, 255], u8), t([-1], i8), t([True, False]), t(True); r(10), summarize=1; r(10), summarize=-1
r(10), summarize=None; r(10), summarize=100; reshape(r(64), [8, 8]); reshape(r(8), [2, 2, 2])
reshape(r(1000), [10, 10, 10]), summarize=2; zeros([0]); zeros([0, 3]); 'a', 'b', sep=''
'a', 'b', end=''; 'a', 'b', sep=', ', end='!'; 'a', t(1), name='n'; '{}', t(1); [[1, 2], [t(3)]]
t([['a', 'bc']]); {'a': None, 'b': 's'}; 1.0, 1e10, 1 / 3, 10 ** 12, 1 + 2j; [t(1)] * 13
[t(1)] * 14; [r(100)] * 20; ['{}', t(1.5)]; list(range(40)); {'b': {'z': 1, 'y': t(2)}}; t([[True]])
"""
CASES = [call.strip() for line in CALLS.strip("\n").splitlines() for call in line.split("; ")]


def names(tf):
    return {
        "np": np,
        "t": tf.constant,
        "r": tf.range,
        "zeros": tf.zeros,
        "reshape": tf.reshape,
        "P": Pair,
        "NAN": NAN,
        "INF": INF,
        "f16": tf.float16,
        "bf16": tf.bfloat16,
        "f64": tf.float64,
        "u8": tf.uint8,
        "i8": tf.int8,
        "v": tf.Variable([1.0, 2.0], name="v"),
    }


def printed(tf, arguments, path):
    def call(*values, **options):
        tf.print(*values, output_stream=f"file://{path}", **options)

    eval(f"call({arguments.removeprefix(';').strip()})", names(tf) | {"call": call})
    return path.read_text()


@pytest.mark.parametrize("arguments", CASES)
def test_values_are_printed_as_by_tensorflow(arguments: str, tmp_path: Path):
    ours = printed(tapejax, arguments, tmp_path / "ours")
    assert ours == printed(tensorflow, arguments, tmp_path / "theirs")


def test_a_file_is_appended_to(tf, tmp_path):
    path = tmp_path / "log"
    path.write_text("before\n")
    tf.print(1, output_stream=f"file://{path}")
    tf.print(2, output_stream=f"file://{path}")
    assert path.read_text() == "before\n1\n2\n"


def test_the_standard_error_stream_is_the_default(capsys):
    tapejax.print("loss", tapejax.constant(0.5))
    assert capsys.readouterr() == ("", "loss 0.5\n")


def test_any_text_stream_is_written_to():
    stream = io.StringIO()
    tapejax.print(tapejax.constant(1 + 2j), output_stream=stream)
    assert stream.getvalue() == "(1+2j)\n"


@pytest.mark.parametrize("stream", ["bogus", 3])
def test_an_unknown_stream_raises(tf, stream):
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print("x", output_stream=stream)


def test_an_unknown_argument_raises(tf):
    with pytest.raises(ValueError, match=r"Unrecognized keyword arguments for tf.print: .*bad"):
        tf.print("x", bad=1)


def test_the_number_of_elements_shown_must_be_a_number(tf):
    with pytest.raises(TypeError, match="Expected int for argument 'summarize'"):
        tf.print("x", summarize="a")

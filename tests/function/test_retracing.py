"""Why a function was traced again, and the warning when it happens too often."""

from __future__ import annotations

import logging

import numpy as np

import tapejax


def _warnings(tf, caplog, call):
    logger = tf.get_logger()
    logger.addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.WARNING, logger="tensorflow"):
            call()
    finally:
        logger.removeHandler(caplog.handler)
    messages = dict.fromkeys(id(r) for r in caplog.records if "retracing" in r.getMessage())
    return [r.getMessage() for r in caplog.records if messages.pop(id(r), 0) is None]


def test_five_traces_in_a_row_are_warned_of_twice(tf, caplog):
    @tf.function
    def identity(x):
        return tf.constant(x)

    messages = _warnings(tf, caplog, lambda: [identity(n) for n in range(9)])
    assert [message[:44] for message in messages] == [
        "5 out of the last 5 calls to <function test_",
        "6 out of the last 6 calls to <function test_",
    ]
    assert "triggered tf.function retracing" in messages[0]


def test_functions_made_in_a_loop_are_warned_of(tf, caplog):
    def call():
        for n in range(6):
            tf.function(lambda x, n=n: x + n)(tf.constant(1))

    assert len(_warnings(tf, caplog, call)) == 2


def test_a_few_traces_among_many_calls_are_not(tf, caplog):
    @tf.function
    def identity(x):
        return tf.constant(x)

    messages = _warnings(tf, caplog, lambda: [identity(n // 6) for n in range(40)])
    assert messages == []


def test_the_warning_tells_the_cause(caplog):
    double = tapejax.function(lambda batch: batch + batch)
    messages = _warnings(tapejax, caplog, lambda: [double(tapejax.ones([n])) for n in range(1, 7)])
    assert "argument 'batch' changed from float32[4] to float32[5]." in messages[0]


def test_the_report_names_the_argument_and_the_cure():
    @tapejax.function
    def scale(x, factor, mode=None):
        return x * float(factor)

    one = tapejax.ones([2])
    calls = [
        (one, 1.0),
        (one, 2.0),
        (tapejax.ones([3]), 2.0),
        (tapejax.constant(np.ones(3)), 2.0),
        (one, 2.0, ("a", 1)),
    ]
    for call in calls:
        scale(*call)
        scale(*call)
    report = scale.retracing_report()
    assert [record.cause for record in report] == [
        "the first call.",
        "argument 'factor' changed from 1.0 to 2.0.",
        "argument 'x' changed from float32[2] to float32[3].",
        "argument 'x' changed from float32[3] to float64[3].",
        "argument 'mode' changed from None to tuple('a', 1).",
    ]
    assert "tf.constant(factor)" in report[1].cure
    assert "drop_remainder" in report[2].cure
    assert "tf.cast" in report[3].cure
    assert [record.number for record in report] == [1, 2, 3, 4, 5]
    assert all(record.seconds > 0.0 for record in report)
    assert str(report[1]).startswith("trace 2 (")


def test_the_report_finds_functions_made_anew():
    def make():
        return tapejax.function(lambda x: x + 1.0)

    first, second = make(), make()
    first(tapejax.constant(1.0))
    second(tapejax.constant(1.0))
    assert second.retracing_report()[0].cause == "the tf.function was made anew from the same code."

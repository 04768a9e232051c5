"""`tf.test`: programs' own tests run the same way on both libraries."""

from __future__ import annotations

import unittest

import numpy as np
import pytest

import tapejax


def _run(tf, body):
    """The failures and errors of a test with this body."""

    class Case(tf.test.TestCase):  # pyright: ignore[reportUntypedBaseClass]  of each library
        def test_it(self):
            body(self)

    result = unittest.TestResult()
    Case("test_it").run(result)
    return len(result.failures), len(result.errors)


PASSING = {
    "close": lambda t, tf: t.assertAllClose({"a": [1.0, tf.constant(2.0)]}, {"a": [1.0, 2.0]}),
    "close parts": lambda t, tf: t.assertAllClose((tf.ones([2]), tf.zeros([3])), ([1, 1], [0] * 3)),
    "not close": lambda t, tf: t.assertNotAllClose([1.0], [1.1]),
    "by type": lambda t, tf: t.assertAllCloseAccordingToType(tf.constant([1.0], tf.half), [1.0005]),
    "equal": lambda t, tf: t.assertAllEqual(tf.constant([1.0, np.nan]), [1.0, np.nan]),
    "not equal": lambda t, tf: t.assertNotAllEqual([1, 2], tf.constant([1, 3])),
    "shape": lambda t, tf: t.assertShapeEqual(np.ones([2, 3]), tf.zeros([2, 3])),
    "dtype": lambda t, tf: t.assertDTypeEqual(tf.ones([2]), tf.float32),
    "greater": lambda t, tf: t.assertAllGreater(tf.range(1, 4), 0),
    "at most": lambda t, tf: t.assertAllLessEqual(tf.range(4), 3),
    "range": lambda t, tf: t.assertAllInRange(tf.range(4), 0, 4, open_upper_bound=True),
    "set": lambda t, tf: t.assertAllInSet(tf.range(3), [0, 1, 2, 9]),
    "near": lambda t, tf: t.assertNear(1.0, 1.05, 0.1),
    "arrays near": lambda t, tf: t.assertArrayNear([1.0, 2.0], [1.0, 2.01], 0.1),
    "distance": lambda t, tf: t.assertNDArrayNear(np.ones(2), np.ones(2) + 0.01, 0.1),
    "evaluate": lambda t, tf: t.assertAllEqual(t.evaluate({"a": tf.constant(2)})["a"], 2),
    "length": lambda t, tf: t.assertLen([1, 2], 2),
    "empty": lambda t, tf: t.assertEmpty([]),
    "start": lambda t, tf: t.assertStartsWith("tensor", "ten"),
    "elements": lambda t, tf: t.assertSameElements([1, 2, 2], [2, 1]),
    "order": lambda t, tf: t.assertContainsInOrder(["a", "c"], "abc"),
    "between": lambda t, tf: t.assertBetween(2, 1, 3),
    "almost": lambda t, tf: t.assertSequenceAlmostEqual([1.0], [1.0 + 1e-9]),
    "structure": lambda t, tf: t.assertSameStructure({"a": [1, 2]}, {"a": [1, 2]}),
    "device": lambda t, tf: t.assertDeviceEqual("/gpu:0", "/device:GPU:0"),
}
FAILING = {
    "close": lambda t, tf: t.assertAllClose(tf.ones([2]), [1.0, 1.1]),
    "shapes": lambda t, tf: t.assertAllClose(tf.ones([2]), 1.0),
    "keys": lambda t, tf: t.assertAllClose({"a": 1.0}, {"b": 1.0}),
    "equal": lambda t, tf: t.assertAllEqual(tf.constant([1, 2]), [1, 3]),
    "not equal": lambda t, tf: t.assertNotAllEqual([1], [1]),
    "dtype": lambda t, tf: t.assertDTypeEqual(tf.ones([2]), tf.int32),
    "range": lambda t, tf: t.assertAllInRange(tf.range(4), 0, 3, open_upper_bound=True),
    "length": lambda t, tf: t.assertLen([1], 2),
    "elements": lambda t, tf: t.assertSameElements([1], [2]),
}


@pytest.mark.parametrize("name", PASSING)
def test_assertions_that_hold_pass(tf, name):
    assert _run(tf, lambda test: PASSING[name](test, tf)) == (0, 0)


@pytest.mark.parametrize("name", FAILING)
def test_assertions_that_do_not_hold_fail(tf, name):
    assert _run(tf, lambda test: FAILING[name](test, tf)) == (1, 0)


def test_errors_of_ops_are_expected_by_text_or_predicate(tf):
    def body(test):
        with test.assertRaisesOpError("ncompatible shapes"):
            tf.zeros([2]) + tf.zeros([3])
        with test.assertRaisesIncompatibleShapesError():
            tf.zeros([2]) + tf.zeros([3])
        with test.assertRaisesWithPredicateMatch(ValueError, lambda error: "x" in str(error)):
            raise ValueError("x")
        with test.assertRaisesWithLiteralMatch(ValueError, "x"):
            raise ValueError("x")

    assert _run(tf, body) == (0, 0)


def test_each_test_starts_with_the_same_seeds(tf):
    drawn = []

    def body(test):
        drawn.append((float(tf.random.uniform([])), float(np.random.rand())))

    assert _run(tf, body) == _run(tf, body) == (0, 0)
    assert drawn[0] == drawn[1]


def test_both_libraries_start_with_the_same_seeds():
    tensorflow = pytest.importorskip("tensorflow")
    drawn = []
    for tf in (tapejax, tensorflow):
        _run(tf, lambda test, tf=tf: drawn.append(float(tf.random.uniform([]))))
    assert drawn[0] == drawn[1]


def test_sessions_threads_and_folders():
    def body(test):
        with test.cached_session() as session:
            assert session.run([tapejax.constant(1.0)]) == [1.0]
        thread = test.checkedThread(lambda: 1 / 0)
        thread.start()
        with pytest.raises(AssertionError, match="division"):
            thread.join()
        assert test.get_temp_dir() == test.get_temp_dir()

    assert _run(tapejax, body) == (0, 0)


def test_derivatives_by_tape_and_by_differences(tf):
    x, y = tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]])
    by_tape, by_differences = tf.test.compute_gradient(tf.matmul, [x, y])
    for found in (by_tape, by_differences):
        np.testing.assert_allclose(found[0], [[3.0, 4.0]], rtol=1e-3)
        np.testing.assert_allclose(found[1], [[1.0, 2.0]], rtol=1e-3)
    z = tf.constant([1.0 + 2.0j])
    by_tape, by_differences = tf.test.compute_gradient(lambda z: z * z, [z])
    np.testing.assert_allclose(by_tape[0], [[2.0, -4.0], [4.0, 2.0]])
    np.testing.assert_allclose(by_differences[0], by_tape[0], atol=1e-3)
    with pytest.raises(ValueError, match="`x` must be a list or tuple"):
        tf.test.compute_gradient(tf.square, x)


def test_what_there_is_on_a_machine_without_accelerators(tf):
    assert tf.test.gpu_device_name() == ""
    assert not tf.test.is_gpu_available()
    assert not tf.test.is_built_with_cuda()
    assert not tf.test.is_built_with_rocm()
    assert not tf.test.is_built_with_gpu_support()
    assert tf.test.is_built_with_xla()
    tf.test.experimental.sync_devices()


def test_decorators_of_tests(tf):
    class Case(tf.test.TestCase):  # pyright: ignore[reportUntypedBaseClass]  of each library
        @tf.test.disable_with_predicate(lambda: True, "not today")
        def test_it(self):
            self.fail()

    result = unittest.TestResult()
    Case("test_it").run(result)
    assert len(result.skipped) == 1


def test_a_script_runs_its_tests_and_ends():
    with pytest.raises(SystemExit):
        tapejax.test.main(["script", "--help"])


def test_benchmarks_time_functions(capsys):
    found = tapejax.test.Benchmark().run_op_benchmark(
        None, lambda: tapejax.ones([2]) + 1.0, min_iters=2, name="add"
    )
    assert found["name"] == "add"
    assert "add" in capsys.readouterr().err
    with pytest.raises(NotImplementedError, match="pass a function"):
        tapejax.test.Benchmark().run_op_benchmark(None, tapejax.ones([2]))


@pytest.mark.parametrize(
    "call",
    [
        lambda test: test.benchmark_config(),
        lambda test: test.assert_equal_graph_def(None, None),
        lambda test: test.create_local_cluster(1, 1),
    ],
)
def test_what_needs_graphs_or_servers_is_refused(call):
    with pytest.raises(NotImplementedError):
        call(tapejax.test)

"""Replicas in a `tf.function` are one program; what tapejax does beyond TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from distribute.running import output_of


@pytest.fixture(params=["shard_map", "pmap"])
def found(request: pytest.FixtureRequest) -> Any:
    """What the program printed, with each way to map over the devices."""
    return output_of("functions", "tapejax", request.param)


def test_a_step_of_training_is_compiled_once_and_reduces_once(found: Any) -> None:
    assert found["compiles"] == 1
    assert found["all-reduces"] == 1
    assert found["devices"] == 4


def test_collectives_work_in_loops_and_branches(found: Any) -> None:
    """Three sums over 0, 1, 2, 3; the gradient of a sum is the sum of the gradients."""
    assert found["loop"] == [6.0 * 4 * 4] * 4
    assert found["branch"] == [6.0] * 4
    x = np.arange(4) + 1.0
    assert found["gradient of loop"] == (6.0 * 4 * 2 * x).tolist()
    assert found["gradient of branch"] == (6.0 * 2 * x).tolist()


def test_each_replica_draws_its_own_numbers_anew_at_each_call(found: Any) -> None:
    assert len({tuple(draw) for draw in found["draws"]}) == 8


def test_a_tape_around_run_differentiates_through_it(found: Any) -> None:
    """The sum over replicas of n w^2 is 6 w^2."""
    assert found["tape around, traced"] == [12.0, 24.0]
    assert found["tape around, eager"] == [12.0, 24.0]


@pytest.mark.parametrize("way", ["eager", "traced"])
@pytest.mark.parametrize("case", ["assign", "forgotten", "in a loop"])
def test_replicas_that_drift_apart_are_an_error_naming_the_variable(
    found: Any, case: str, way: str
) -> None:
    kind, text = found[f"diverged {case}, {way}"]
    assert kind == "ReplicaDivergenceError"
    assert "'weights:0'" in text
    assert found["weights after errors"] == [1.0, 2.0]


def test_updates_by_summed_gradients_and_equal_values_are_no_divergence(found: Any) -> None:
    """The summed gradient is 1 + 2 + 3 + 4."""
    np.testing.assert_allclose(found["weights after two sums"], [-1.0, 0.0], atol=1e-7)
    assert found["weights all agree on"] == [7.0, 8.0]


@pytest.mark.parametrize("way", ["eager", "traced"])
def test_gradients_are_summed_before_they_are_clipped(found: Any, way: str) -> None:
    """1 - 0.1 * min(10, 1), and then 10 more without clipping, summed by hand."""
    np.testing.assert_allclose(found[f"clipped, {way}"], 0.9, atol=1e-7)
    np.testing.assert_allclose(found[f"summed, {way}"], -0.1, atol=1e-6)


def test_gradients_applied_outside_of_run_are_not_summed(found: Any) -> None:
    np.testing.assert_allclose(found["applied outside of run"], -0.2, atol=1e-6)


def test_functions_know_which_replica_calls_them(found: Any) -> None:
    assert found["ids in a function"] == [0.0, 1.0, 2.0, 3.0]
    assert found["the same, all traced"] == [6.0] * 4
    assert found["the same, run as a function"] == [8.0] * 4
    assert found["outside it has one replica"] == 2.0


def test_a_collective_in_a_function_that_one_replica_calls_is_an_error(found: Any) -> None:
    kind, text = found["a collective in a function of one replica"]
    assert kind == "RuntimeError"
    assert "Decorate the function that calls strategy.run" in text


def test_replicas_that_wait_for_different_things_are_an_error(found: Any) -> None:
    kind, text = found["different meetings"]
    assert kind == "RuntimeError"
    assert "replica 0: all_reduce, replica 1: its end" in text


def test_a_check_that_fails_on_one_replica_raises(found: Any) -> None:
    kind, text = found["a failed check"]
    assert kind == "InvalidArgumentError"
    assert "of the third : Tensor had Inf values" in text

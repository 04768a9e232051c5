"""Variables and slots divided over eight devices."""

from __future__ import annotations

import numpy as np
import pytest
from distribute.running import output_of


@pytest.mark.parametrize("optimizer", ["momentum", "adam"])
@pytest.mark.parametrize("layout", ["fsdp", "tensors"])
def test_divided_variables_train_as_whole_ones(layout: str, optimizer: str) -> None:
    """Ten steps; Adam magnifies what is rounded differently in gradients near zero."""
    found = output_of("sharded", "tapejax")
    pairs = zip(found[f"{layout}, {optimizer}"], found[f"alone, {optimizer}"], strict=True)
    for one, two in pairs:
        np.testing.assert_allclose(one, two, rtol=0, atol=5e-7 if optimizer == "momentum" else 1e-5)


@pytest.mark.parametrize("optimizer", ["momentum", "adam"])
def test_a_device_holds_an_eighth_of_variables_and_slots_before_and_after(optimizer: str) -> None:
    found = output_of("sharded", "tapejax")
    whole = found[f"alone, {optimizer}: bytes"]
    assert found[f"fsdp, {optimizer}: bytes"] == whole / 8
    assert found[f"tensors, {optimizer}: bytes"] < 0.55 * whole


def test_rules_say_how_variables_are_divided_and_slots_follow() -> None:
    found = output_of("sharded", "tapejax")
    assert found["tensors, adam: layouts"] == [["None", "model"], [], ["model"], []]
    assert found["fsdp, adam: layouts"] == [["None", "data"], ["data"], ["data"], ["data"]]
    assert found["replicas"] == 1
    assert found["eager"] == 48.0


def test_rules_that_do_not_fit_are_errors_that_name_the_variable() -> None:
    found = output_of("sharded", "tapejax")
    assert "has 16 devices, and there are 8" in found["too few"]
    assert "a dimension of 6 of the variable 'kernel:0' by 4 devices" in found["remainder"]
    assert "names ['x']" in found["unknown axis"]
    assert "more dimensions than the variable 'kernel:0'" in found["dimensions"]

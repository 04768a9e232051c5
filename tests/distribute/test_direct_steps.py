"""A training step called directly divides the batch over the devices of its variables."""

from __future__ import annotations

import numpy as np
import pytest
from distribute.running import output_of


@pytest.mark.parametrize("way", ["in the scope", "outside"])
def test_it_trains_as_on_one_device(way: str) -> None:
    """20 steps, and one with a batch that cannot be divided."""
    found = output_of("direct", "tapejax")
    for one, two in zip(found[way], found["alone"], strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=5e-7)


def test_each_device_computes_with_its_rows_and_gradients_are_reduced() -> None:
    found = output_of("direct", "tapejax")
    assert found["rows on each device"]
    assert found["all-reduces"] >= 1
    assert found["devices"] == [4, 4]
    assert found["whole"] == [True, True]


def test_it_is_compiled_once() -> None:
    found = output_of("direct", "tapejax")
    assert found["outside: compiles"] == found["alone: compiles"] == 1

"""Optimizers, checkpoints and datasets in replicas give what one device gives."""

from __future__ import annotations

import pytest
from distribute.running import output_of

KINDS = (
    "sgd",
    "adamw",
    "average",
    "accumulated",
    "layerwise",
    "loss scale",
    "legacy",
    "version 1",
    "own",
)


@pytest.mark.parametrize("way", ["eager", "traced"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_optimizer_updates_by_the_sum_over_the_replicas(kind: str, way: str) -> None:
    assert output_of("optimizers", "tapejax")[f"{kind}, {way}"] <= 5e-7


def test_sparse_gradients_are_summed_over_the_replicas() -> None:
    """Each of two steps takes 2 + 1 + 1 + 1 from the first row, 1 from those of the others."""
    assert output_of("optimizers", "tapejax")["rows"] == [-9.0, -1.0, -1.0, -1.0, 1.0]


def test_checkpoints_restore_variables_of_replicas() -> None:
    """What was counted, 0 + 1 + 2 + 3, is shared among the replicas, as an assignment is."""
    assert output_of("optimizers", "tapejax")["checkpoint"] == [[1.0, 2.0], [2.5] * 4, 10.0]


def test_a_function_may_iterate_over_a_distributed_dataset() -> None:
    """The sum of 0 to 11, and of its first eight."""
    assert output_of("optimizers", "tapejax")["iterated"] == [66.0, 28.0]

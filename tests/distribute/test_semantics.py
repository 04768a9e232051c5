"""`tf.distribute` on four virtual devices gives what TensorFlow gives, row by row.

The programs run in processes of their own: the number of devices is fixed when JAX starts.
"""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow
from distribute.running import output_of

TENSORFLOW = tensorflow.__name__

# Rows that differ in a function: the replicas are one program, which returns a value for each, and
# an error in one of them is that of the program.
IN_A_FUNCTION = {
    "an error in a replica": "raises InvalidArgumentError",
    "merge to one": ["replicas", 6.0, 6.0, 6.0, 6.0],
}


@pytest.mark.parametrize("mode", ["eager", "traced", "pmap"])
def test_every_call_gives_what_tensorflow_gives(mode: str) -> None:
    """Values, and the types of errors."""
    theirs = output_of("semantics", TENSORFLOW, "eager")
    ours = output_of("semantics", "tapejax", mode)
    expected = theirs if mode == "eager" else {**theirs, **IN_A_FUNCTION}
    assert len(theirs) > 130
    assert {k: v for k, v in ours.items() if expected[k] != v} == {}
    assert ours.keys() == theirs.keys()


WAYS = ("run in function", "eager", "function in run", "by pmap")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("optimizer", ["momentum", "adam"])
@pytest.mark.parametrize("kind", ["even", "uneven"])
def test_four_replicas_train_as_one_device_and_as_tensorflow(
    kind: str, optimizer: str, way: str
) -> None:
    """20 steps; the weights and the losses."""
    found = output_of("training", "tapejax")[f"{kind}, {optimizer}, four, {way}"]
    alone = output_of("training", "tapejax")[f"{kind}, {optimizer}, one, {way}"]
    expected = output_of("training", TENSORFLOW)[f"{kind}, {optimizer}, four, run in function"]
    for other in (alone, expected):
        for one, two in zip(found[0] + [found[1]], other[0] + [other[1]], strict=True):
            np.testing.assert_allclose(one, two, rtol=0, atol=5e-7)

"""Parts of ragged tensors by index, and their reductions."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from parity.expressions import assert_agrees


def names(tf: ModuleType) -> dict[str, Any]:
    """What the expressions may use."""
    constant = tf.ragged.constant
    return {
        "C": constant,
        "RT": tf.RaggedTensor,
        "r2": constant([[1, 2, 3], [], [4, 5]]),
        "rt": constant([[[1.0, 2.0], [3.0]], [[4.0]], []]),
        "u": constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1),
        "un": tf.RaggedTensor.from_uniform_row_length(constant([[1], [2, 3], [], [4]]), 2),
    }


INDICES = (
    "r2[0]",
    "r2[-1]",
    "r2[3]",
    "r2[1:]",
    "r2[::2]",
    "r2[::-1]",
    "r2[:,0]",
    "r2[:,1:]",
    "r2[:,:-1]",
    "r2[:,::2]",
    "r2[:,::-1]",
    "r2[0,1]",
    "r2[0,5]",
    "r2[1:,None]",
    "r2[None]",
    "r2[:,None]",
    "r2[...,None]",
    "r2[...]",
    "r2[...,0]",
    "r2[...,:1]",
    "r2[0:2,-2:]",
    "rt[0,0]",
    "rt[:,:,0:1]",
    "rt[:,:1,:1]",
    "rt[0,:,1:]",
    "rt[0,0,0]",
    "rt[...,0:1]",
    "rt[:,:,0]",
    "rt[:,None,:,0:1]",
    'r2["a"]',
    "r2[1.0]",
    "r2[0,0,0]",
    "r2[tf.constant(1)]",
    "r2[tf.constant(0):tf.constant(2)]",
    "rt[1:,-1:]",
    "r2[:, 100:]",
    "r2[5:]",
    "rt[:,-1:,::-1]",
    "r2[np.int64(0)]",
    "r2[[0,1]]",
    "r2[True]",
    "r2[r2>2]",
    "r2[:]",
    "r2[()]",
    "rt[:,0]",
    "r2[:,-1]",
    "r2[-4]",
    "rt[0,2]",
    "r2[::0]",
    "r2[:,::-2]",
    "r2[:,3:0:-1]",
    "r2[:,-3:]",
    "r2[2:0:-1]",
    "u[0]",
    "u[:,0:1]",
    "u[:,:,0]",
    "u[:,:,None]",
    "u[0,1]",
    "u[0,1,1]",
    "u[...,1]",
    "u[:,:,::-1]",
    "u[:,None]",
    "u[1:,...,1:]",
    "un",
    "un.shape",
    "un[0]",
    "un[:,0]",
    "un[:,1:]",
    "un[:,1:].shape",
    "un[:,:,0:1]",
    "un[:,5]",
)

REDUCTIONS = (
    "tf.reduce_logsumexp(rt,axis=1)",
    "tf.math.reduce_std(rt,axis=1)",
    "tf.math.reduce_variance(rt,axis=-1)",
    "tf.reduce_sum(r2)",
    "tf.reduce_sum(r2,0)",
    "tf.reduce_sum(r2,1)",
    "tf.reduce_sum(r2,-1)",
    "tf.reduce_sum(r2,1,keepdims=True)",
    "tf.reduce_sum(r2,0,keepdims=True)",
    "tf.reduce_sum(r2,[0,1])",
    "tf.reduce_sum(rt,1)",
    "tf.reduce_sum(rt,2)",
    "tf.reduce_sum(rt,[1,2])",
    "tf.reduce_sum(rt,[0,2])",
    "tf.reduce_sum(rt,0)",
    "tf.reduce_sum(rt,3)",
    "tf.reduce_sum(rt,[])",
    "tf.reduce_sum(rt,None,keepdims=True)",
    "tf.reduce_mean(r2,1)",
    "tf.reduce_mean(rt,1)",
    "tf.reduce_mean(rt)",
    "tf.reduce_max(r2,1)",
    "tf.reduce_max(rt,2)",
    "tf.reduce_max(rt,0)",
    "tf.reduce_min(r2,1)",
    "tf.reduce_prod(r2,1)",
    "tf.reduce_any(r2>2,1)",
    "tf.reduce_all(r2>2,1)",
    "tf.reduce_all(r2>2)",
    "tf.reduce_any(r2,1)",
    "tf.reduce_sum(u,2)",
    "tf.reduce_sum(u,1)",
    "tf.reduce_sum(u,[1,2])",
    "tf.reduce_mean(u,1)",
    'tf.reduce_sum(C([["a"],["b"]]),1)',
    "tf.reduce_sum(un,1)",
    "tf.reduce_sum(un,2)",
    "tf.reduce_sum(rt,1,keepdims=True)",
    "tf.reduce_sum(rt,[1,2],keepdims=True)",
    "tf.reduce_mean(rt,[0,1])",
    "tf.reduce_sum(r2,tf.constant(1))",
    "tf.reduce_sum(r2,-3)",
)


@pytest.mark.parametrize("expression", INDICES)
def test_indices_agree_with_tensorflow(expression: str) -> None:
    assert_agrees(expression, names)


@pytest.mark.parametrize("expression", REDUCTIONS)
def test_reductions_agree_with_tensorflow(expression: str) -> None:
    assert_agrees(expression, names)

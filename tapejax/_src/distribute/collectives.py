"""Ops between the replicas of one program: sums and gathers over an axis of the devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.core.tensor import Tensor
from tapejax._src.distribute.reduce_op import ReduceOp
from tapejax._src.engine.apply import multi_op

AXIS = "replica"


def _sums(*arrays: Any) -> list[Any]:
    return list(lax.psum(arrays, AXIS))


def _means(*arrays: Any) -> list[Any]:
    return list(lax.pmean(arrays, AXIS))


def _first(replica: Any, array: Any) -> list[Any]:
    return [lax.psum(jnp.where(replica == 0, array, jnp.zeros_like(array)), AXIS)]


def reduced(op: ReduceOp, tensors: Sequence[Tensor], count: int) -> list[Tensor]:
    """The sums or means over all replicas, in one op."""
    fn = _sums if op is ReduceOp.SUM else _means
    return multi_op("all_reduce", fn, (op, count))(tensors)


def of_first(replica: Tensor, tensor: Tensor, count: int) -> Tensor:
    """The value of the first replica; `replica` is the number of each."""
    return multi_op("broadcast_from_first", _first, count)([replica, tensor])[0]


def gathered(tensors: Sequence[Tensor], axis: int, count: int) -> list[Tensor]:
    """The values of all replicas joined along an axis."""

    def gather(*arrays: Any) -> list[Any]:
        return [lax.all_gather(x, AXIS, axis=axis % x.ndim, tiled=True) for x in arrays]

    return multi_op("all_gather", gather, (axis, count))(tensors)


def recording_on(count: int, record: Callable[[], Any]) -> Any:
    """Record with the axis of the replicas in sight, so that JAX knows what collectives give.

    JAX has that axis only while it traces. Nothing is traced here but the ops, each on its own.

    Args:
        count: The number of replicas.
        record: Records.

    Returns:
        What it returns.
    """
    found: list[Any] = []

    def run() -> tuple[()]:
        with jax.ensure_compile_time_eval():
            found.append(record())
        return ()

    jax.make_jaxpr(run, axis_env=[(AXIS, count)])()
    return found[0]


def on_replicas(
    mesh: jax.sharding.Mesh, local: Callable[..., Any], spread: int, common: int, results: Any
) -> Callable[..., Any]:
    """A function of arrays that runs on all devices of a mesh.

    Args:
        mesh: The devices.
        local: What each does. Of the arguments that are spread it gets its part of the first axis,
            of results that are spread it returns such a part.
        spread: How many arguments are spread over the devices.
        common: How many arguments, behind these, are the same for all.
        results: For each list of results whether they are spread.

    Returns:
        The function of all arguments.
    """
    part, whole = jax.sharding.PartitionSpec(AXIS), jax.sharding.PartitionSpec()
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(part,) * spread + (whole,) * common,
        out_specs=tuple([part if is_spread else whole for is_spread in results]),
        check_vma=False,
    )


def by_pmap(
    mesh: jax.sharding.Mesh, local: Callable[..., Any], spread: int, common: int, results: Any
) -> Callable[..., Any]:
    """The same as `on_replicas`, by `jax.pmap`."""
    count = mesh.devices.size

    def run(*arrays: Any) -> Any:
        parts = [x.reshape((count, x.shape[0] // count, *x.shape[1:])) for x in arrays[:spread]]
        mapped = jax.pmap(
            local,
            axis_name=AXIS,
            in_axes=(0,) * spread + (None,) * common,
            out_axes=tuple([0 if is_spread else None for is_spread in results]),
            devices=list(mesh.devices.ravel()),
        )
        found = mapped(*parts, *arrays[spread:])
        return tuple(
            [
                [x.reshape((-1, *x.shape[2:])) for x in items] if is_spread else items
                for items, is_spread in zip(found, results, strict=True)
            ]
        )

    return run


LOWERINGS = {"shard_map": on_replicas, "pmap": by_pmap}
"""The ways a program of one replica becomes one of all."""

"""Replicas whose variables have drifted apart: an error, and found before it does harm."""

from __future__ import annotations

from tapejax._src.core.variable import Variable


class ReplicaDivergenceError(RuntimeError):
    """The replicas assigned different values to a variable that is to be the same on all of them.

    Example:
        >>> import tapejax as tf
        >>> issubclass(tf.distribute.ReplicaDivergenceError, RuntimeError)
        True
    """


def diverged(variable: Variable) -> ReplicaDivergenceError:
    """The error for a variable."""
    aval = variable.tensor.aval
    return ReplicaDivergenceError(
        f"The replicas assigned different values to the variable {variable.name!r} of shape "
        f"{list(aval.shape)} and dtype {aval.tf_dtype.name}, whose aggregation is "
        f"{variable.aggregation.name}: it would no longer be one variable. Aggregate first, with "
        "tf.distribute.get_replica_context().all_reduce('SUM', gradients) in a hand-written "
        "update, or create it with aggregation=tf.VariableAggregation.MEAN (SUM, "
        "ONLY_FIRST_REPLICA), or with synchronization=tf.VariableSynchronization.ON_READ if each "
        "replica is to have its own value."
    )

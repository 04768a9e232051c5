"""`tf.keras.optimizers.Optax`: any optax transformation as an optimizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, cast

import jax
import numpy as np
import optax

from tapejax._src.keras.optimizer import Optimizer
from tapejax._src.keras.options import Options, takes_options
from tapejax._src.keras.serialization import export
from tapejax._src.keras.transformations import Slots, Transformation
from tapejax._src.keras.update import Rule


def named_state(tx: optax.GradientTransformation) -> Transformation:
    """A transformation whose state is a dict of arrays, and whose updates are times the rate.

    Args:
        tx: Any transformation.

    Returns:
        The same transformation in the form of `transformations`.
    """

    def init(params: Any) -> Slots:
        leaves = jax.tree_util.tree_leaves_with_path(tx.init(tuple(params)))
        return {_name(path): np.asarray(leaf) for path, leaf in leaves}

    def update(
        updates: Any,
        state: Any,
        params: Any = None,
        *,
        learning_rate: Any,
        iterations: Any,
        **extra: Any,
    ) -> tuple[Any, Any]:
        del iterations
        structure = jax.tree.structure(jax.eval_shape(tx.init, params))
        before = structure.unflatten(list(state.values()))
        run = cast(Any, optax.with_extra_args_support(tx)).update
        moves, after = run(updates, before, params, **extra)
        rate = learning_rate
        moves = jax.tree.map(lambda move: move * rate.astype(move.dtype), moves)
        return moves, dict(zip(state, jax.tree.leaves(after), strict=True))

    return optax.GradientTransformationExtraArgs(cast(Any, init), cast(Any, update))


def _name(path: Sequence[Any]) -> str:
    """`0.mu.2` of a path in the state."""
    return jax.tree_util.keystr(tuple(path), simple=True, separator=".") or "state"


@takes_options
class Optax(Optimizer):
    """An optimizer made of an optax gradient transformation.

    Clipping, weight decay, moving averages, accumulation and loss scaling work around it as around
    every other optimizer. The transformation's state is kept in variables, so that checkpoints hold
    it.

    Args:
        transformation: For example `optax.adamw(1e-3)`, or an `optax.chain`.
        learning_rate: What its updates are multiplied by: a float, a schedule, or a callable
            without arguments. The usual optax transformations contain a learning rate of their
            own, and this stays 1.
        **options: See `Optimizer`.

    Raises:
        TypeError: If `transformation` is none.

    Example:
        >>> import optax
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.keras.optimizers.Optax(optax.sgd(0.25))
        >>> _ = optimizer.apply_gradients([(tf.constant(2.0), v)])
        >>> float(v)
        0.5

    Differs from TensorFlow:
        TensorFlow has no such class. A variable without a gradient stays as it is; the
        transformation, which takes all variables at once, sees a gradient of zeros for it.
    """

    def __init__(
        self, transformation: Any, learning_rate: Any = 1.0, **options: Unpack[Options]
    ) -> None:
        if not (hasattr(transformation, "init") and hasattr(transformation, "update")):
            raise TypeError(
                "`transformation` must be an optax.GradientTransformation, for example "
                f"optax.adam(1e-3). Received: {transformation!r}"
            )
        super().__init__(learning_rate, **options)
        self.transformation = transformation

    def _rule(self) -> Rule:
        return Rule(named_state, (self.transformation,), whole=True)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer; the transformation is passed on as it is."""
        return super().get_config() | {"transformation": self.transformation}


export(Optax)

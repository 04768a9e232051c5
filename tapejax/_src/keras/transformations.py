"""The mathematics of Keras 3's optimizers as optax gradient transformations.

Each factory returns an `optax.GradientTransformationExtraArgs` whose `update` also takes
`learning_rate` and `iterations` (how many updates came before), so that both stay inputs of the
compiled program. Updates are added to the parameters, as `optax.apply_updates` does. The state is a
dict of slots, each of the structure of the parameters and named as in Keras.

Where optax's own differ: Keras multiplies by the learning rate before the momentum and not after,
adds Adam's epsilon to the square root that is not bias-corrected, takes AMSGrad's maximum of
uncorrected moments, and clips by a norm that is zero-safe.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import optax

Array = jax.Array
Transformation = optax.GradientTransformationExtraArgs
Slots = dict[str, Any]


Start = Callable[[Any, int], Any]
"""From a parameter (anything with a shape and a dtype) and its place among the leaves to the first
value of its slot, or to None where it has none."""


def zeros(param: Any, place: int) -> Any:
    """The first value of most slots: zeros of the parameter's shape and dtype."""
    del place
    return np.zeros(param.shape, param.dtype)


def elementwise(
    names: tuple[str, ...],
    step: Callable[..., tuple[Any, ...]],
    starts: dict[str, Start] | None = None,
    shared: Callable[[Slots, Any, Any], tuple[Slots, Slots]] | None = None,
) -> Transformation:
    """A transformation that treats every parameter alike.

    Args:
        names: Names of the slots.
        step: Function of (gradient, parameter, learning rate in its dtype, iterations, *slots)
            returning the update and the new slots.
        starts: First values of slots that do not start at zero.
        shared: For state that belongs to no parameter: function of (state, iterations, parameters
            or None when it starts) returning that part of the state and keyword arguments for
            `step`.

    Returns:
        The transformation.
    """
    first = {name: zeros for name in names} | (starts or {})

    def init(params: Any) -> Slots:
        leaves, structure = jax.tree.flatten(params)
        state: Slots = {
            name: structure.unflatten([first[name](leaf, n) for n, leaf in enumerate(leaves)])
            for name in names
        }
        return state if shared is None else state | shared({}, None, params)[0]

    def update(
        updates: Any,
        state: Any,
        params: Any = None,
        *,
        learning_rate: Any,
        iterations: Any,
        **extra: Any,
    ) -> tuple[Any, Any]:
        del extra
        own, more = ({}, {}) if shared is None else shared(state, iterations, None)
        like = updates if params is None else params
        leaves, structure = jax.tree.flatten(like)
        gradients = structure.flatten_up_to(updates)
        slots = [structure.flatten_up_to(state[name]) for name in names]
        results: list[tuple[Any, ...]] = []
        for n, (gradient, leaf) in enumerate(zip(gradients, leaves, strict=True)):
            rate = jnp.asarray(learning_rate).astype(leaf.dtype)
            held = [slot[n] for slot in slots]
            gradient = gradient.astype(leaf.dtype)
            results.append(step(gradient, leaf, rate, iterations, *held, **more))
        columns = [structure.unflatten(column) for column in zip(*results, strict=True)]
        return columns[0], dict(zip(names, columns[1:], strict=True)) | own

    return optax.GradientTransformationExtraArgs(init, cast(Any, update))


def _descent(g: Array, p: Array, rate: Array, count: Array) -> tuple[Array]:
    del p, count
    return (-(g * rate),)


def sgd(momentum: float = 0.0, nesterov: bool = False) -> Transformation:
    """Gradient descent with momentum: `m <- momentum * m - learning_rate * g`, update `m`.

    Args:
        momentum: In [0, 1]; 0 keeps no slot.
        nesterov: Update by `momentum * m - learning_rate * g` with the new `m`.

    Returns:
        The transformation, with slot `momentum` unless that is 0.

    Example:
        >>> import jax.numpy as jnp
        >>> rule = sgd(momentum=0.9)
        >>> p = jnp.array([1.0])
        >>> update, state = rule.update(p, rule.init(p), p, learning_rate=0.1, iterations=0)
        >>> update.tolist()
        [-0.10000000149011612]

    References:
        Sutskever et al., "On the importance of initialization and momentum", ICML 2013.
    """
    if not momentum:
        return elementwise((), _descent)

    def step(g: Array, p: Array, rate: Array, count: Array, m: Array) -> tuple[Array, ...]:
        del p, count
        factor = np.asarray(momentum, g.dtype)
        scaled = g * rate
        m = m * factor - scaled
        return (m * factor - scaled if nesterov else m), m

    return elementwise(("momentum",), step)


def rmsprop(
    rho: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-7, centered: bool = False
) -> Transformation:
    """RMSprop: `v <- rho * v + (1 - rho) * g^2`, update `-learning_rate * g / sqrt(v + epsilon)`.

    Args:
        rho: Decay of the running averages.
        momentum: If positive, updates are accumulated with this decay.
        epsilon: Added under the root.
        centered: Subtract the square of the running mean of the gradients from `v`.

    Returns:
        The transformation, with slots `velocity`, `momentum` (if positive) and `average_gradient`
        (if centered).

    Example:
        >>> import jax.numpy as jnp
        >>> rule = rmsprop()
        >>> p = jnp.array([1.0])
        >>> sorted(rule.init(p))
        ['velocity']

    References:
        Hinton, "Neural networks for machine learning", lecture 6e, 2012.
    """
    names = ("velocity", *(("momentum",) * (momentum > 0)), *(("average_gradient",) * centered))

    def step(g: Array, p: Array, rate: Array, count: Array, *slots: Array) -> tuple[Array, ...]:
        del p, count
        own = dict(zip(names, slots, strict=True))
        own["velocity"] = rho * own["velocity"] + (1 - rho) * jnp.square(g)
        power = own["velocity"]
        if centered:
            own["average_gradient"] = rho * own["average_gradient"] + (1 - rho) * g
            power = power - jnp.square(own["average_gradient"])
        increment = rate * g / jnp.sqrt(power + epsilon)
        if momentum > 0:
            own["momentum"] = increment = momentum * own["momentum"] + increment
        return -increment, *own.values()

    return elementwise(names, step)


def adam(
    beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7, amsgrad: bool = False
) -> Transformation:
    """Adam, with epsilon beside the root of the uncorrected second moment ("epsilon hat").

    At update `t = iterations + 1` the step size is
    `learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t)`.

    Args:
        beta_1: Decay of the first moment.
        beta_2: Decay of the second moment.
        epsilon: Added to the root of the second moment.
        amsgrad: Divide by the largest second moment so far.

    Returns:
        The transformation, with slots `momentum`, `velocity` and `velocity_hat` (if amsgrad).

    Example:
        >>> import jax.numpy as jnp
        >>> rule = adam()
        >>> p = jnp.array([1.0])
        >>> update, _ = rule.update(p, rule.init(p), p, learning_rate=0.1, iterations=jnp.array(0))
        >>> round(float(update[0]), 4)
        -0.1

    References:
        Kingma and Ba, "Adam: a method for stochastic optimization", 2014, section 2.
        Reddi, Kale, Kumar, "On the convergence of Adam and beyond", 2018.
    """
    names = ("momentum", "velocity", *(("velocity_hat",) * amsgrad))

    def step(
        g: Array, p: Array, rate: Array, count: Array, m: Array, v: Array, *largest: Array
    ) -> tuple[Array, ...]:
        del p
        m = m + (g - m) * (1 - beta_1)
        v = v + (jnp.square(g) - v) * (1 - beta_2)
        slots = (m, v, *(jnp.maximum(hat, v) for hat in largest))
        size = adam_size(rate, beta_1, beta_2, count)
        return -(m * size / (jnp.sqrt(slots[-1]) + epsilon)), *slots

    return elementwise(names, step)


def adam_size(rate: Array, beta_1: float, beta_2: float, count: Any) -> Array:
    """Adam's step size, `learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t)`."""
    one = np.asarray(1, rate.dtype)
    left_1 = one - power(beta_1, count + 1, rate.dtype)
    left_2 = one - power(beta_2, count + 1, rate.dtype)
    return rate * jnp.sqrt(left_2) / left_1


def power(base: float, exponent: Any, dtype: Any) -> Array:
    """`base ** exponent` with both in `dtype`, rounded once.

    `1 - base ** t` cancels for small `t`, so an error in the last place would be magnified.
    """
    wide = jnp.result_type(float)
    rounded = jnp.asarray(np.asarray(base, dtype)).astype(wide)
    steps = jnp.asarray(exponent).astype(dtype).astype(wide)
    return jnp.power(rounded, steps).astype(dtype)


def clip_by_norm(limit: float) -> optax.GradientTransformation:
    """Scale each gradient whose own L2 norm exceeds `limit` down to it."""

    def clip(g: Array) -> Array:
        squares = jnp.sum(jnp.square(g))
        norm = jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1)), squares)
        return g * limit / jnp.maximum(norm, limit)

    return optax.stateless(lambda updates, params: jax.tree.map(clip, updates))


def _times(factor: Array, g: Array) -> Array:
    return g * factor.astype(g.dtype)


def clip_by_global_norm(limit: float) -> optax.GradientTransformation:
    """Scale all gradients so that their common L2 norm is at most `limit`.

    A norm that is not finite makes every gradient NaN.
    """

    def clip(updates: Any, params: Any) -> Any:
        del params
        squares = [jnp.sum(jnp.square(g)) for g in jax.tree.leaves(updates)]
        norm = jnp.sqrt(jnp.sum(jnp.stack(squares)))
        factor = limit * jnp.minimum(1 / norm, 1 / limit) + (norm - norm)
        return jax.tree.map(functools.partial(_times, factor), updates)

    return optax.stateless(clip)


def clipping(
    clipnorm: float | None, clipvalue: float | None, global_clipnorm: float | None
) -> optax.GradientTransformation:
    """The clipping an optimizer was configured with (at most one kind), or the identity."""
    if clipnorm and clipnorm > 0:
        return clip_by_norm(clipnorm)
    if global_clipnorm and global_clipnorm > 0:
        return clip_by_global_norm(global_clipnorm)
    return optax.clip(clipvalue) if clipvalue and clipvalue > 0 else optax.identity()

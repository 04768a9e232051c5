"""`tf.keras.optimizers`: SGD, RMSprop, Adam and AdamW."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from tapejax._src.keras import transformations
from tapejax._src.keras.optimizer import Optimizer
from tapejax._src.keras.options import Options, takes_options
from tapejax._src.keras.serialization import export
from tapejax._src.keras.update import Rule


@takes_options
class SGD(Optimizer):
    """Gradient descent, with momentum if wanted.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        momentum: A float in [0, 1].
        nesterov: Look ahead along the momentum.
        **options: See `Optimizer`.

    Raises:
        ValueError: If an argument is out of its range.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.5)
        >>> for _ in range(2):
        ...     _ = optimizer.apply_gradients([(tf.constant(1.0), v)])
        >>> round(float(v), 6)
        0.75
    """

    _config: ClassVar[tuple[str, ...]] = ("momentum", "nesterov")
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("momentum",),)

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not isinstance(momentum, float) or momentum < 0 or momentum > 1:
            raise ValueError(f"`momentum` must be a float between [0, 1]. Received: {momentum!r}")
        self.momentum = momentum
        self.nesterov = nesterov

    def _rule(self) -> Rule:
        return Rule(transformations.sgd, (self.momentum, self.nesterov))


@takes_options
class RMSprop(Optimizer):
    """Gradients divided by the root of a running mean of their squares.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        rho: Decay of the running means.
        momentum: Decay of the accumulated updates; 0 for none.
        epsilon: Added under the root.
        centered: Divide by the running standard deviation instead.
        **options: See `Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.keras.optimizers.RMSprop(0.1)
        >>> _ = optimizer.apply_gradients([(tf.constant(1.0), v)])
        >>> round(float(v), 4)
        0.6838
    """

    _config: ClassVar[tuple[str, ...]] = ("rho", "momentum", "epsilon", "centered")
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("velocity",),
        ("momentum",),
        ("average_gradient",),
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.rho = rho
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = centered

    def _rule(self) -> Rule:
        own = (self.rho, self.momentum, self.epsilon, self.centered)
        return Rule(transformations.rmsprop, own)


@takes_options
class Adam(Optimizer):
    """Adam: steps of running mean over root of running mean square, bias corrected.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        beta_1: Decay of the running mean.
        beta_2: Decay of the running mean square.
        epsilon: Added to the root of the uncorrected mean square ("epsilon hat").
        amsgrad: Divide by the largest mean square so far.
        **options: See `Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.keras.optimizers.Adam(0.1)
        >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.9
    """

    _config: ClassVar[tuple[str, ...]] = ("beta_1", "beta_2", "epsilon", "amsgrad")
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("momentum", "velocity"),
        ("velocity_hat",),
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.amsgrad = amsgrad

    def _rule(self) -> Rule:
        own = (self.beta_1, self.beta_2, self.epsilon, self.amsgrad)
        return Rule(transformations.adam, own)


@takes_options
class AdamW(Adam):
    """Adam with weight decay that the running means do not see.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        weight_decay: Each step first shrinks variables by `weight_decay * learning_rate`.
        beta_1: Decay of the running mean.
        beta_2: Decay of the running mean square.
        epsilon: Added to the root of the uncorrected mean square.
        amsgrad: Divide by the largest mean square so far.
        **options: See `Optimizer`.

    Raises:
        ValueError: If `weight_decay` is None.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.keras.optimizers.AdamW(0.1, weight_decay=0.5)
        >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.85

    References:
        Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float | None = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        options["weight_decay"] = weight_decay
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, **options)
        if weight_decay is None:
            raise ValueError(
                "Argument `weight_decay` must be a float. Received: weight_decay=None. Adam has "
                "no weight decay by default."
            )


for _cls in (SGD, RMSprop, Adam, AdamW):
    export(_cls)

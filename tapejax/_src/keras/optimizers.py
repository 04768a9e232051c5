"""`tf.keras.optimizers`: SGD, RMSprop, Adam."""

from __future__ import annotations

from typing import Any, ClassVar

from tapejax._src.engine.registry import public
from tapejax._src.keras.optimizer import Optimizer
from tapejax._src.keras.update import Rule


class SGD(Optimizer):
    """Gradient descent, with momentum if wanted.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        momentum: A float in [0, 1].
        nesterov: Look ahead along the momentum.
        weight_decay: See `Optimizer`, as for the arguments after it.
        clipnorm: See `Optimizer`.
        clipvalue: See `Optimizer`.
        global_clipnorm: See `Optimizer`.
        use_ema: See `Optimizer`.
        ema_momentum: See `Optimizer`.
        ema_overwrite_frequency: See `Optimizer`.
        loss_scale_factor: See `Optimizer`.
        gradient_accumulation_steps: See `Optimizer`.
        name: See `Optimizer`.
        **kwargs: Nothing else is accepted.

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

    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("momentum",),)

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            clipnorm=clipnorm,
            clipvalue=clipvalue,
            global_clipnorm=global_clipnorm,
            use_ema=use_ema,
            ema_momentum=ema_momentum,
            ema_overwrite_frequency=ema_overwrite_frequency,
            loss_scale_factor=loss_scale_factor,
            gradient_accumulation_steps=gradient_accumulation_steps,
            name=name,
            **kwargs,
        )
        if not isinstance(momentum, float) or momentum < 0 or momentum > 1:
            raise ValueError(f"`momentum` must be a float between [0, 1]. Received: {momentum!r}")
        self.momentum = momentum
        self.nesterov = nesterov
        self._slots = ("momentum",) * bool(momentum)

    def _rule(self) -> Rule:
        return Rule("sgd", (self.momentum, self.nesterov))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer, without its state."""
        return super().get_config() | {"momentum": self.momentum, "nesterov": self.nesterov}


class RMSprop(Optimizer):
    """Gradients divided by the root of a running mean of their squares.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        rho: Decay of the running means.
        momentum: Decay of the accumulated updates; 0 for none.
        epsilon: Added under the root.
        centered: Divide by the running standard deviation instead.
        weight_decay: See `Optimizer`, as for the arguments after it.
        clipnorm: See `Optimizer`.
        clipvalue: See `Optimizer`.
        global_clipnorm: See `Optimizer`.
        use_ema: See `Optimizer`.
        ema_momentum: See `Optimizer`.
        ema_overwrite_frequency: See `Optimizer`.
        loss_scale_factor: See `Optimizer`.
        gradient_accumulation_steps: See `Optimizer`.
        name: See `Optimizer`.
        **kwargs: Nothing else is accepted.

    Raises:
        ValueError: If an argument is out of its range.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.keras.optimizers.RMSprop(0.1)
        >>> _ = optimizer.apply_gradients([(tf.constant(1.0), v)])
        >>> round(float(v), 4)
        0.6838
    """

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
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            clipnorm=clipnorm,
            clipvalue=clipvalue,
            global_clipnorm=global_clipnorm,
            use_ema=use_ema,
            ema_momentum=ema_momentum,
            ema_overwrite_frequency=ema_overwrite_frequency,
            loss_scale_factor=loss_scale_factor,
            gradient_accumulation_steps=gradient_accumulation_steps,
            name=name,
            **kwargs,
        )
        self.rho = rho
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = centered
        self._slots = (
            "velocity",
            *(("momentum",) * (momentum > 0)),
            *(("average_gradient",) * centered),
        )

    def _rule(self) -> Rule:
        return Rule("rmsprop", (self.rho, self.momentum, self.epsilon, self.centered))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer, without its state."""
        return super().get_config() | {
            "rho": self.rho,
            "momentum": self.momentum,
            "epsilon": self.epsilon,
            "centered": self.centered,
        }


class Adam(Optimizer):
    """Adam: steps of running mean over root of running mean square, bias corrected.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        beta_1: Decay of the running mean.
        beta_2: Decay of the running mean square.
        epsilon: Added to the root of the uncorrected mean square ("epsilon hat").
        amsgrad: Divide by the largest mean square so far.
        weight_decay: See `Optimizer`, as for the arguments after it.
        clipnorm: See `Optimizer`.
        clipvalue: See `Optimizer`.
        global_clipnorm: See `Optimizer`.
        use_ema: See `Optimizer`.
        ema_momentum: See `Optimizer`.
        ema_overwrite_frequency: See `Optimizer`.
        loss_scale_factor: See `Optimizer`.
        gradient_accumulation_steps: See `Optimizer`.
        name: See `Optimizer`.
        **kwargs: Nothing else is accepted.

    Raises:
        ValueError: If an argument is out of its range.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.keras.optimizers.Adam(0.1)
        >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.9
    """

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
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            clipnorm=clipnorm,
            clipvalue=clipvalue,
            global_clipnorm=global_clipnorm,
            use_ema=use_ema,
            ema_momentum=ema_momentum,
            ema_overwrite_frequency=ema_overwrite_frequency,
            loss_scale_factor=loss_scale_factor,
            gradient_accumulation_steps=gradient_accumulation_steps,
            name=name,
            **kwargs,
        )
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.amsgrad = amsgrad
        self._slots = ("momentum", "velocity", *(("velocity_hat",) * amsgrad))

    def _rule(self) -> Rule:
        return Rule("adam", (self.beta_1, self.beta_2, self.epsilon, self.amsgrad))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer, without its state."""
        return super().get_config() | {
            "beta_1": self.beta_1,
            "beta_2": self.beta_2,
            "epsilon": self.epsilon,
            "amsgrad": self.amsgrad,
        }


for _cls in (SGD, RMSprop, Adam):
    public(f"keras.optimizers.{_cls.__name__}", f"optimizers.{_cls.__name__}")(_cls)

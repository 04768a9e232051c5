"""`tf.keras.optimizers`: those that scale each element by its own history."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from tapejax._src.keras import adaptive_transformations as rules
from tapejax._src.keras.optimizer import Optimizer
from tapejax._src.keras.options import Options, takes_options
from tapejax._src.keras.serialization import export
from tapejax._src.keras.update import Rule


@takes_options
class Adamax(Optimizer):
    """Adam with the infinity norm in the place of the mean square.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        beta_1: Decay of the running mean.
        beta_2: Decay of the norm.
        epsilon: Added to the norm.
        **options: See `Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> _ = tf.keras.optimizers.Adamax(0.1).apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.9
    """

    _config: ClassVar[tuple[str, ...]] = ("beta_1", "beta_2", "epsilon")
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("momentum", "norm"),)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon

    def _rule(self) -> Rule:
        return Rule(rules.adamax, (self.beta_1, self.beta_2, self.epsilon))


@takes_options
class Nadam(Optimizer):
    """Adam with Nesterov momentum.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        beta_1: Decay of the running mean.
        beta_2: Decay of the running mean square.
        epsilon: Added to the root of the mean square.
        **options: See `Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> _ = tf.keras.optimizers.Nadam(0.1).apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.8937
    """

    _config: ClassVar[tuple[str, ...]] = ("beta_1", "beta_2", "epsilon")
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("momentum", "velocity"),)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon

    def _rule(self) -> Rule:
        return Rule(rules.nadam, (self.beta_1, self.beta_2, self.epsilon))


@takes_options
class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares so far.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        initial_accumulator_value: Where the sum starts.
        epsilon: Added under the root.
        **options: See `Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> _ = tf.keras.optimizers.Adagrad(0.1).apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.9002
    """

    _config: ClassVar[tuple[str, ...]] = ("initial_accumulator_value", "epsilon")
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("accumulator",),)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon

    def _rule(self) -> Rule:
        return Rule(rules.adagrad, (self.initial_accumulator_value, self.epsilon))


@takes_options
class Adadelta(Optimizer):
    """Steps as large as recent steps were, per unit of gradient.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments; 1.0 is the paper's.
        rho: Decay of the running means.
        epsilon: Added under the roots.
        **options: See `Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> _ = tf.keras.optimizers.Adadelta(1.0).apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.9986
    """

    _config: ClassVar[tuple[str, ...]] = ("rho", "epsilon")
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("accumulated_grad", "accumulated_delta_var"),
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.rho = rho
        self.epsilon = epsilon

    def _rule(self) -> Rule:
        return Rule(rules.adadelta, (self.rho, self.epsilon))


@takes_options
class Ftrl(Optimizer):
    """Follow the regularized leader, for sparse linear models.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        learning_rate_power: At most 0; 0 for a learning rate that does not shrink.
        initial_accumulator_value: Where the sum of squared gradients starts, at least 0.
        l1_regularization_strength: At least 0.
        l2_regularization_strength: At least 0.
        l2_shrinkage_regularization_strength: At least 0; of a penalty on the gradient only.
        beta: Adds `beta / (2 * learning_rate)` to the L2 strength.
        **options: See `Optimizer`.

    Raises:
        ValueError: If an argument is out of its range.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> _ = tf.keras.optimizers.Ftrl(0.1).apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.8371
    """

    _config: ClassVar[tuple[str, ...]] = (
        "learning_rate_power",
        "initial_accumulator_value",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
        "beta",
    )
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("accumulator", "linear"),)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.learning_rate_power = learning_rate_power
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self.beta = beta
        for name in self._config[1:5]:
            if getattr(self, name) < 0.0:
                raise ValueError(
                    f"`{name}` needs to be positive or zero. "
                    f"Received: {name}={getattr(self, name)}."
                )
        if learning_rate_power > 0.0:
            raise ValueError(
                "`learning_rate_power` needs to be negative or zero. "
                f"Received: learning_rate_power={learning_rate_power}."
            )

    def _rule(self) -> Rule:
        return Rule(rules.ftrl, tuple([getattr(self, name) for name in self._config]))


@takes_options
class Lion(Optimizer):
    """The sign of a mix of momentum and gradient: each element moves by the learning rate.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        beta_1: Share of the momentum in the mix, in (0, 1].
        beta_2: Decay of the momentum.
        **options: See `Optimizer`.

    Raises:
        ValueError: If `beta_1` is out of its range.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> _ = tf.keras.optimizers.Lion(0.1).apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.9
    """

    _config: ClassVar[tuple[str, ...]] = ("beta_1", "beta_2")
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("momentum",),)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        if beta_1 <= 0 or beta_1 > 1:
            raise ValueError(
                "Argument `beta_1` must be in (0, 1]: with 0 only the sign of the gradient would "
                f"be left. Received: beta_1={beta_1}."
            )

    def _rule(self) -> Rule:
        return Rule(rules.lion, (self.beta_1, self.beta_2))


@takes_options
class ScheduleFreeAdamW(Optimizer):
    """AdamW that needs no decaying learning rate: it averages its own path.

    The variables are a mix of the path the gradients are applied to (slot `momentum`) and of its
    average.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        beta_1: Weight of the average in the variables.
        beta_2: Decay of the running mean square.
        epsilon: Added to the root of the mean square.
        warmup_steps: Updates in which the learning rate grows from zero.
        **options: See `Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.keras.optimizers.ScheduleFreeAdamW(0.1)
        >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.9
    """

    _config: ClassVar[tuple[str, ...]] = ("beta_1", "beta_2", "epsilon", "warmup_steps")
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("momentum", "velocity"),)

    def __init__(
        self,
        learning_rate: Any = 0.0025,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        warmup_steps: int = 0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.warmup_steps = warmup_steps

    def _rule(self) -> Rule:
        own = (self.beta_1, self.beta_2, self.epsilon, self.warmup_steps)
        return Rule(rules.schedule_free_adamw, own)


for _cls in (Adamax, Nadam, Adagrad, Adadelta, Ftrl, Lion, ScheduleFreeAdamW):
    export(_cls)

"""`tf.keras.optimizers`: those that look at a whole variable at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

from tapejax._src.keras import layerwise_transformations as rules
from tapejax._src.keras.optimizer import Optimizer
from tapejax._src.keras.options import Options, takes_options
from tapejax._src.keras.serialization import export
from tapejax._src.keras.update import Rule


@takes_options
class Adafactor(Optimizer):
    """Steps as Adam's, whose mean square is kept as a row factor and a column factor.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments; `1 / sqrt(t)` is taken
            at update t where that is smaller.
        beta_2_decay: Exponent of the update number in the decay of the mean square.
        epsilon_1: Added to squared gradients.
        epsilon_2: The least root mean square of a variable that scales its steps.
        clip_threshold: Largest root mean square of a step before it is scaled.
        relative_step: Kept for the configuration; Keras 3 takes the smaller rate in any case.
        **options: See `Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> _ = tf.keras.optimizers.Adafactor(0.1).apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        0.9
    """

    _config: ClassVar[tuple[str, ...]] = (
        "beta_2_decay",
        "epsilon_1",
        "epsilon_2",
        "clip_threshold",
        "relative_step",
    )
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("r", "c", "velocity"),)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_2_decay: float = -0.8,
        epsilon_1: float = 1e-30,
        epsilon_2: float = 1e-3,
        clip_threshold: float = 1.0,
        relative_step: bool = True,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_2_decay = beta_2_decay
        self.epsilon_1 = epsilon_1
        self.epsilon_2 = epsilon_2
        self.clip_threshold = clip_threshold
        self.relative_step = relative_step

    def _rule(self) -> Rule:
        own = (self.beta_2_decay, self.epsilon_1, self.epsilon_2, self.clip_threshold)
        return Rule(rules.adafactor, own)

    def _slot_name(self, variable: Any, slot: str) -> str:
        if slot in ("r", "c"):  # named as the variable itself, as in Keras
            return str(variable.name).removesuffix(":0")
        return super()._slot_name(variable, slot)


@takes_options
class Lamb(Optimizer):
    """Adam's step of each variable, scaled to that variable's norm; for large batches.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        beta_1: Decay of the running mean.
        beta_2: Decay of the running mean square.
        epsilon: Added to the root of the mean square.
        **options: See `Optimizer`.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(2.0)
        >>> _ = tf.keras.optimizers.Lamb(0.1).apply_gradients([(tf.constant(5.0), v)])
        >>> round(float(v), 4)
        1.8
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
        return Rule(rules.lamb, (self.beta_1, self.beta_2, self.epsilon))


class Muon(Optimizer):
    """The orthogonal factor of the momentum, for matrices; AdamW for every other variable.

    Args:
        learning_rate: A float, a schedule, or a callable without arguments.
        adam_beta_1: AdamW's decay of the running mean.
        adam_beta_2: AdamW's decay of the running mean square.
        adam_weight_decay: AdamW's weight decay.
        epsilon: AdamW's epsilon.
        weight_decay: Weight decay of the matrices.
        clipnorm: See `Optimizer`.
        clipvalue: See `Optimizer`.
        global_clipnorm: See `Optimizer`.
        use_ema: See `Optimizer`.
        ema_momentum: See `Optimizer`.
        ema_overwrite_frequency: See `Optimizer`.
        loss_scale_factor: See `Optimizer`.
        gradient_accumulation_steps: See `Optimizer`.
        name: See `Optimizer`.
        exclude_layers: Regular expressions; matrices whose path contains a match take AdamW.
        exclude_embeddings: Whether matrices with "embedding" in their path take AdamW.
        muon_a: Coefficient of the Newton-Schulz iteration, as the next two.
        muon_b: See `muon_a`.
        muon_c: See `muon_a`.
        adam_lr_ratio: AdamW's learning rate over `learning_rate`.
        momentum: Decay of the momentum.
        ns_steps: Number of Newton-Schulz iterations.
        nesterov: Look ahead along the momentum.
        rms_rate: Root mean square of the steps per unit of learning rate, or None not to scale.
        **kwargs: Nothing else is accepted.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable([[3.0, 0.0], [0.0, 4.0]])
        >>> optimizer = tf.keras.optimizers.Muon(0.1, weight_decay=None, ns_steps=10)
        >>> _ = optimizer.apply_gradients([(v.value(), v)])
        >>> bool(v[0, 0] < 3.0), float(v[0, 1])
        (True, 0.0)
    """

    _config: ClassVar[tuple[str, ...]] = (
        "adam_beta_1",
        "adam_beta_2",
        "epsilon",
        "exclude_layers",
        "muon_a",
        "muon_b",
        "muon_c",
        "adam_lr_ratio",
        "momentum",
        "ns_steps",
        "nesterov",
        "exclude_embeddings",
        "adam_weight_decay",
        "rms_rate",
    )
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = (("momentum", "velocity"),)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        adam_beta_1: float = 0.9,
        adam_beta_2: float = 0.999,
        adam_weight_decay: float | None = 0.004,
        epsilon: float = 1e-7,
        weight_decay: float | None = 0.004,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        exclude_layers: Sequence[str] | None = None,
        exclude_embeddings: bool = True,
        muon_a: float = 3.4445,
        muon_b: float = -4.7750,
        muon_c: float = 2.0315,
        adam_lr_ratio: float = 1,
        momentum: float = 0.95,
        ns_steps: int = 5,
        nesterov: bool = True,
        rms_rate: float | None = 0.2,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            learning_rate, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema,
            ema_momentum, ema_overwrite_frequency, loss_scale_factor, gradient_accumulation_steps,
            name, **kwargs,
        )  # fmt: skip
        self.adam_beta_1 = adam_beta_1
        self.adam_beta_2 = adam_beta_2
        self.adam_weight_decay = adam_weight_decay
        self.epsilon = epsilon
        self.exclude_layers = list(exclude_layers or [])
        self.exclude_embeddings = exclude_embeddings
        self.muon_a, self.muon_b, self.muon_c = muon_a, muon_b, muon_c
        self.adam_lr_ratio = adam_lr_ratio
        self.momentum = momentum
        self.ns_steps = ns_steps
        self.nesterov = nesterov
        self.rms_rate = rms_rate

    def _rule(self) -> Rule:
        own = (
            self.momentum,
            self.nesterov,
            self.ns_steps,
            (self.muon_a, self.muon_b, self.muon_c),
            self.rms_rate,
            (self.adam_beta_1, self.adam_beta_2),
            self.epsilon,
            self.adam_lr_ratio,
            tuple([self._orthogonalizes(v) for v in self._trainable_variables]),
        )
        return Rule(rules.muon, own)

    def _orthogonalizes(self, variable: Any) -> bool:
        path = str(getattr(variable, "path", None) or variable.name)
        if len(variable.shape) != 2 or (self.exclude_embeddings and "embedding" in path.lower()):
            return False
        return not any(re.search(pattern, path) for pattern in self.exclude_layers)

    def _decay_of(self, position: int) -> float | None:
        if self._orthogonalizes(self._trainable_variables[position]):
            return super()._decay_of(position)
        return self.adam_weight_decay if self._decays(position) else None


for _cls in (Adafactor, Lamb, Muon):
    export(_cls)

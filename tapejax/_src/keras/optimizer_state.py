"""What an optimizer holds: its variables, its learning rate and its configuration."""

from __future__ import annotations

import collections
import re
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tapejax._src.core.variable import Variable, VariableAggregation
from tapejax._src.engine.convert import variable_behind
from tapejax._src.keras import schedules
from tapejax._src.keras.update import ACCUMULATOR, AVERAGE
from tapejax._src.ops.arithmetic import floordiv

_NAMES: collections.Counter[str] = collections.Counter()


def _unique_name(cls: type) -> str:
    """`sgd`, `sgd_1`, ... in the order of creation; the class name in snake case."""
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", cls.__name__)
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    count = _NAMES[name]
    _NAMES[name] += 1
    return f"{name}_{count}" if count else name


class OptimizerState:
    """What an optimizer holds: its variables, learning rate and configuration (see `Optimizer`)."""

    _slots: tuple[str, ...] = ()
    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Names of slots as they are created: within a group, variable by variable."""

    def __init__(
        self,
        learning_rate: Any,
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
        if kwargs.pop("decay", None) is not None:
            warnings.warn(
                "Argument `decay` is no longer supported and will be ignored; pass "
                "learning_rate=tf.keras.optimizers.schedules.InverseTimeDecay(...).",
                stacklevel=2,
            )
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        self.name = _unique_name(type(self)) if name is None else name
        self.weight_decay = weight_decay
        self.clipnorm = clipnorm
        self.clipvalue = clipvalue
        self.global_clipnorm = global_clipnorm
        self.use_ema = use_ema
        self.ema_momentum = ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.loss_scale_factor = loss_scale_factor
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self._check_arguments()
        self.built = False
        self._variables: list[Variable] = []
        self._trainable_variables: list[Variable] = []
        self._positions: dict[int, int] = {}
        self._by_slot: dict[str, list[Variable]] = {}
        self._steps: dict[tuple[int, ...], Any] = {}
        self._undecayed: set[int] = set()
        self._undecayed_names: re.Pattern[str] | None = None
        self._iterations = self._add_variable("iteration", np.zeros((), np.int64))
        self._learning_rate = self._held_learning_rate(learning_rate)

    def _check_arguments(self) -> None:
        steps = self.gradient_accumulation_steps
        if steps and not steps >= 2:
            raise ValueError(
                "`gradient_accumulation_steps` must be an integer >= 2. Received: "
                f"gradient_accumulation_steps={steps}"
            )
        if self.use_ema and not 0 <= self.ema_momentum <= 1:
            raise ValueError(
                "`ema_momentum` must be in the range [0, 1]. "
                f"Received: ema_momentum={self.ema_momentum}"
            )
        every: Any = self.ema_overwrite_frequency
        if self.use_ema and every and (not isinstance(every, int) or every < 1):
            raise ValueError(
                "`ema_overwrite_frequency` must be an integer >= 1 or None. Received: "
                f"ema_overwrite_frequency={every}"
            )
        clips = (self.clipnorm, self.clipvalue, self.global_clipnorm)
        if sum(clip is not None for clip in clips) > 1:
            raise ValueError(
                "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                f"clipnorm={self.clipnorm}, clipvalue={self.clipvalue}, "
                f"global_clipnorm={self.global_clipnorm}"
            )

    def _held_learning_rate(self, learning_rate: Any) -> Any:
        if isinstance(learning_rate, schedules.LearningRateSchedule) or callable(learning_rate):
            return learning_rate
        if not isinstance(learning_rate, float):
            raise ValueError(
                "Argument `learning_rate` should be float, or an instance of "
                "LearningRateSchedule, or a callable (that returns the learning rate). "
                f"Received instead: learning_rate={learning_rate}"
            )
        return self._add_variable("learning_rate", np.asarray(learning_rate, np.float32))

    # ------------------------------------------------------------------ variables
    def _add_variable(self, name: str, value: np.ndarray[Any, Any]) -> Variable:
        variable = Variable(
            value,
            trainable=False,
            name=name,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )
        self._variables.append(variable)
        return variable

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros"
    ) -> Variable:
        """Add a slot of the shape and dtype of a model variable.

        Args:
            reference_variable: The model variable.
            name: Name of the slot; the variable's name is put before it.
            initializer: "zeros".

        Returns:
            The new variable.

        Raises:
            ValueError: For another initializer.
        """
        if initializer != "zeros":
            raise ValueError(f"Slots start as 'zeros'. Received: initializer={initializer!r}")
        path = getattr(reference_variable, "path", None) or reference_variable.name
        prefix = str(path).replace("/", "_").replace(":", "_")
        aval = reference_variable.tensor.aval
        return self._add_variable(f"{prefix}_{name or 'var'}", np.zeros(aval.shape, aval.dtype))

    def build(self, variables: Sequence[Any]) -> None:
        """Create the slots of the variables this optimizer is to update.

        Args:
            variables: The model variables.
        """
        if self.built:
            return
        self._trainable_variables = [variable_behind(v) for v in variables]
        self._positions = {id(v): n for n, v in enumerate(self._trainable_variables)}
        groups = self._slot_groups
        if self.gradient_accumulation_steps:
            groups = ((ACCUMULATOR,), *groups)
        if self.use_ema:
            groups = ((AVERAGE,), *groups)
        for group in groups:
            chosen = [name for name in group if name in self._all_slots()]
            for variable in self._trainable_variables:
                for name in chosen:
                    slot = self.add_variable_from_reference(variable, name)
                    self._by_slot.setdefault(name, []).append(slot)
        self.built = True

    def _all_slots(self) -> tuple[str, ...]:
        extra = (AVERAGE,) * self.use_ema + (ACCUMULATOR,) * bool(self.gradient_accumulation_steps)
        return self._slots + extra

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's own variables: iterations, learning rate, then the slots."""
        return self._variables[:]

    @property
    def iterations(self) -> Any:
        """How many updates were made: an int64 variable (a tensor when gradients accumulate)."""
        if self.gradient_accumulation_steps:
            return floordiv(self._iterations, self.gradient_accumulation_steps)
        return self._iterations

    # ------------------------------------------------------------------ learning rate
    @property
    def learning_rate(self) -> Any:
        """The variable that holds it, or the current value of the schedule.

        Assign a number, a tensor or a schedule; a schedule given at construction cannot be replaced
        by a number. Changing the value recompiles nothing.
        """
        held = self._learning_rate
        if isinstance(held, schedules.LearningRateSchedule):
            return held(self._iterations)
        return held() if callable(held) else held

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        held = self._learning_rate
        if callable(learning_rate):
            self._learning_rate = learning_rate
            self._variables = [v for v in self._variables if v is not held]
            return
        if not isinstance(held, Variable):
            raise TypeError(
                "This optimizer was created with a `LearningRateSchedule` object as its "
                "`learning_rate` constructor argument, hence its learning rate is not settable. If "
                "you need the learning rate to be settable, you should instantiate the optimizer "
                "with a float `learning_rate` argument."
            )
        held.assign(learning_rate)

    @property
    def lr(self) -> Any:
        """The same as `learning_rate`."""
        return self.learning_rate

    @lr.setter
    def lr(self, learning_rate: Any) -> None:
        self.learning_rate = learning_rate

    # ------------------------------------------------------------------ state and configuration
    def get_weights(self) -> list[Any]:
        """The values of `variables` as arrays."""
        return [variable.numpy() for variable in self._variables]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Assign the values of `variables`.

        Raises:
            ValueError: If the optimizer has not been built, or a shape differs.
        """
        if not self.built:
            raise ValueError(
                "You are calling `set_weights()` on an optimizer that has not yet been built. "
                "Please call `optimizer.build(trainable_variables)` to create the optimizer "
                "weights before calling `set_weights()`."
            )
        for variable, weight in zip(self._variables, weights, strict=False):
            if tuple(variable.shape) != np.shape(weight):
                raise ValueError(
                    f"Optimizer variable {variable.name} has shape {variable.shape} not "
                    f"compatible with provided weight shape {np.shape(weight)}."
                )
            variable.assign(weight)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer, without its state."""
        rate = self._learning_rate
        if isinstance(rate, schedules.LearningRateSchedule):
            rate = schedules.serialize(rate)
        elif isinstance(rate, Variable):
            rate = float(rate)
        return {
            "name": self.name,
            "learning_rate": rate,
            "weight_decay": self.weight_decay,
            "clipnorm": self.clipnorm,
            "global_clipnorm": self.global_clipnorm,
            "clipvalue": self.clipvalue,
            "use_ema": self.use_ema,
            "ema_momentum": self.ema_momentum,
            "ema_overwrite_frequency": self.ema_overwrite_frequency,
            "loss_scale_factor": self.loss_scale_factor,
            "gradient_accumulation_steps": self.gradient_accumulation_steps,
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """The optimizer of a `get_config()`."""
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)

"""Learning rate schedules: functions of the number of updates, in Keras 3's numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from tapejax._src.core import dtypes
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.arithmetic import add, divide, minimum, multiply, subtract
from tapejax._src.ops.casting import cast
from tapejax._src.ops.comparison import equal, greater, less, less_equal, logical_and
from tapejax._src.ops.elementwise import cos, log
from tapejax._src.ops.powers import pow as power
from tapejax._src.ops.rounding import ceil, floor
from tapejax._src.ops.selecting import where

_MODULE = "keras.optimizers.schedules"


@public("keras.optimizers.schedules.LearningRateSchedule")
class LearningRateSchedule:
    """Base of schedules: a callable from the number of updates so far to a learning rate.

    A subclass overrides `__call__(step)`, where `step` is an integer scalar, with tensor ops; and
    `get_config()` if optimizers that use it are to be saved.

    Example:
        >>> import tapejax as tf
        >>> class Halving(tf.keras.optimizers.schedules.LearningRateSchedule):
        ...     def __call__(self, step):
        ...         return 0.5 ** tf.cast(step, tf.float32)
        >>> float(Halving()(tf.constant(2)))
        0.25
    """

    _config: ClassVar[tuple[str, ...]] = ()

    def __call__(self, step: Any) -> Any:
        """The learning rate after `step` updates, a scalar tensor."""
        raise NotImplementedError(
            f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, step)`."
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal schedule."""
        if not self._config:
            raise NotImplementedError(
                f"Learning rate schedule '{type(self).__name__}' must override `get_config()` in "
                "order to be serializable."
            )
        return {name: getattr(self, name) for name in self._config}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LearningRateSchedule:
        """The schedule of a `get_config()`."""
        return cls(**config)


def _check_positive(name: str, value: Any) -> None:
    if value <= 0:
        raise ValueError(f"Argument `{name}` must be > 0. Received: {name}={value}")


def _progress(step: Any, start: Any) -> tuple[Any, Any]:
    """The initial learning rate as a tensor, and the step in its dtype."""
    initial = as_tensor(start, dtypes.float32) if isinstance(start, int) else as_tensor(start)
    return initial, cast(as_tensor(step), initial.dtype)


@public("keras.optimizers.schedules.ExponentialDecay")
class ExponentialDecay(LearningRateSchedule):
    """`initial_learning_rate * decay_rate ** (step / decay_steps)`.

    Args:
        initial_learning_rate: The rate at step 0.
        decay_steps: Steps in which the rate falls by the factor `decay_rate`.
        decay_rate: The factor.
        staircase: Round `step / decay_steps` down.
        name: A name.

    Raises:
        ValueError: If `decay_steps` is not positive.

    Example:
        >>> import tapejax as tf
        >>> rate = tf.keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.5)
        >>> float(rate(20))
        0.25
    """

    _config = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str = "ExponentialDecay",
    ) -> None:
        _check_positive("decay_steps", decay_steps)
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step: Any) -> Any:
        """The learning rate after `step` updates."""
        initial, count = _progress(step, self.initial_learning_rate)
        passed = divide(count, self.decay_steps)
        passed = floor(passed) if self.staircase else passed
        return multiply(initial, power(cast(self.decay_rate, initial.dtype), passed))


@public("keras.optimizers.schedules.PiecewiseConstantDecay")
class PiecewiseConstantDecay(LearningRateSchedule):
    """`values[i]` from after `boundaries[i - 1]` up to and including `boundaries[i]`.

    Args:
        boundaries: Increasing step numbers.
        values: One rate more than there are boundaries.
        name: A name.

    Raises:
        ValueError: If the lengths do not fit.

    Example:
        >>> import tapejax as tf
        >>> rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([10], [1.0, 0.5])
        >>> float(rate(10)), float(rate(11))
        (1.0, 0.5)
    """

    _config = ("boundaries", "values", "name")

    def __init__(
        self, boundaries: Sequence[Any], values: Sequence[Any], name: str = "PiecewiseConstant"
    ) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of "
                f"length {len(values)}."
            )
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step: Any) -> Any:
        """The learning rate after `step` updates."""
        count = as_tensor(step)
        edges = [cast(as_tensor(edge), count.dtype) for edge in self.boundaries]
        rates = [as_tensor(value) for value in self.values]
        dtype = rates[0].dtype
        total = multiply(cast(less_equal(count, edges[0]), dtype), rates[0])
        total = add(total, multiply(cast(greater(count, edges[-1]), dtype), rates[-1]))
        for low, high, rate in zip(edges[:-1], edges[1:], rates[1:-1], strict=True):
            inside = logical_and(greater(count, low), less_equal(count, high))
            total = add(total, multiply(cast(inside, dtype), rate))
        return total


@public("keras.optimizers.schedules.PolynomialDecay")
class PolynomialDecay(LearningRateSchedule):
    """From `initial_learning_rate` to `end_learning_rate` as `(1 - step / decay_steps) ** power`.

    Args:
        initial_learning_rate: The rate at step 0.
        decay_steps: Steps until the end.
        end_learning_rate: The rate there and after.
        power: The exponent; 1 is a straight line.
        cycle: After the end, start again at once with a multiple of `decay_steps`.
        name: A name.

    Raises:
        ValueError: If `decay_steps` is not positive.

    Example:
        >>> import tapejax as tf
        >>> rate = tf.keras.optimizers.schedules.PolynomialDecay(1.0, 10, 0.0)
        >>> float(rate(5))
        0.5
    """

    _config = (
        "initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name",
    )  # fmt: skip

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: Any = 1.0,
        cycle: bool = False,
        name: str = "PolynomialDecay",
    ) -> None:
        _check_positive("decay_steps", decay_steps)
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def __call__(self, step: Any) -> Any:
        """The learning rate after `step` updates."""
        initial, count = _progress(step, self.initial_learning_rate)
        end = cast(self.end_learning_rate, initial.dtype)
        length = cast(self.decay_steps, initial.dtype)
        if self.cycle:
            rounds = ceil(divide(count, length))
            rounds = where(equal(count, 0.0), cast(1.0, initial.dtype), rounds)
            length = multiply(length, rounds)
        else:
            count = minimum(count, length)
        left = subtract(1.0, divide(count, length))
        shape = power(left, cast(self.power, initial.dtype))
        return add(multiply(subtract(initial, end), shape), end)


@public("keras.optimizers.schedules.InverseTimeDecay")
class InverseTimeDecay(LearningRateSchedule):
    """`initial_learning_rate / (1 + decay_rate * step / decay_steps)`.

    Args:
        initial_learning_rate: The rate at step 0.
        decay_steps: The unit in which steps count.
        decay_rate: Growth of the denominator per unit.
        staircase: Round `step / decay_steps` down.
        name: A name.

    Raises:
        ValueError: If `decay_steps` is not positive.

    Example:
        >>> import tapejax as tf
        >>> rate = tf.keras.optimizers.schedules.InverseTimeDecay(1.0, 1.0, 0.5)
        >>> float(rate(2))
        0.5
    """

    _config = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str = "InverseTimeDecay",
    ) -> None:
        _check_positive("decay_steps", decay_steps)
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step: Any) -> Any:
        """The learning rate after `step` updates."""
        initial, count = _progress(step, self.initial_learning_rate)
        passed = divide(count, self.decay_steps)
        passed = floor(passed) if self.staircase else passed
        return divide(initial, add(1.0, multiply(passed, self.decay_rate)))


@public("keras.optimizers.schedules.CosineDecay")
class CosineDecay(LearningRateSchedule):
    """Half a cosine from the initial rate (or `warmup_target`) to `alpha` times it.

    Args:
        initial_learning_rate: The rate at step 0.
        decay_steps: Steps the decay takes, warm-up not counted.
        alpha: The final rate as a fraction.
        name: A name.
        warmup_target: The rate reached in a straight line before the decay, or None.
        warmup_steps: Steps of that warm-up.

    Raises:
        ValueError: If `decay_steps` is not positive.

    Example:
        >>> import tapejax as tf
        >>> rate = tf.keras.optimizers.schedules.CosineDecay(1.0, 10)
        >>> round(float(rate(5)), 6)
        0.5

    References:
        Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.
    """

    _config = (
        "initial_learning_rate", "decay_steps", "alpha", "name", "warmup_target", "warmup_steps",
    )  # fmt: skip

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        alpha: Any = 0.0,
        name: str = "CosineDecay",
        warmup_target: Any = None,
        warmup_steps: Any = 0,
    ) -> None:
        _check_positive("decay_steps", decay_steps)
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.alpha = alpha
        self.name = name
        self.warmup_steps = warmup_steps
        self.warmup_target = warmup_target

    def __call__(self, step: Any) -> Any:
        """The learning rate after `step` updates."""
        initial, count = _progress(step, self.initial_learning_rate)
        if self.warmup_target is None:
            return self._decayed(minimum(count, self.decay_steps), initial)
        target = cast(self.warmup_target, initial.dtype)
        count = minimum(count, self.decay_steps + self.warmup_steps)
        decayed = self._decayed(subtract(count, self.warmup_steps), target)
        if not self.warmup_steps:
            return decayed
        slope = multiply(subtract(target, initial), divide(count, self.warmup_steps))
        return where(less(count, self.warmup_steps), add(slope, initial), decayed)

    def _decayed(self, count: Any, start: Any) -> Any:
        return multiply(start, _half_cosine(divide(count, self.decay_steps), 0.5, self.alpha))


def _half_cosine(fraction: Any, half: Any, alpha: Any) -> Any:
    """From 1 to `alpha` as `fraction` goes from 0 to 1, where `half` is 0.5 times the height."""
    wave = multiply(add(1.0, cos(multiply(fraction, math.pi))), half)
    return add(multiply(wave, 1 - alpha), alpha)


@public("keras.optimizers.schedules.CosineDecayRestarts")
class CosineDecayRestarts(LearningRateSchedule):
    """Half cosines one after the other, each `t_mul` times longer and `m_mul` times as high.

    Args:
        initial_learning_rate: The rate at step 0.
        first_decay_steps: Length of the first half cosine.
        t_mul: Factor from one length to the next.
        m_mul: Factor from one height to the next.
        alpha: The lowest rate as a fraction of the initial one.
        name: A name.

    Raises:
        ValueError: If `first_decay_steps` is not positive.

    Example:
        >>> import tapejax as tf
        >>> rate = tf.keras.optimizers.schedules.CosineDecayRestarts(1.0, 10)
        >>> round(float(rate(10)), 6), round(float(rate(20)), 6)
        (1.0, 0.5)

    References:
        Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        first_decay_steps: Any,
        t_mul: Any = 2.0,
        m_mul: Any = 1.0,
        alpha: Any = 0.0,
        name: str = "SGDRDecay",
    ) -> None:
        _check_positive("first_decay_steps", first_decay_steps)
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = first_decay_steps
        self._t_mul = t_mul
        self._m_mul = m_mul
        self.alpha = alpha
        self.name = name

    def __call__(self, step: Any) -> Any:
        """The learning rate after `step` updates."""
        initial, count = _progress(step, self.initial_learning_rate)
        fraction = divide(count, self.first_decay_steps)
        if self._t_mul == 1.0:
            restarts = floor(fraction)
            fraction = subtract(fraction, restarts)
        else:
            growth = cast(self._t_mul, initial.dtype)
            reached = subtract(1.0, multiply(fraction, subtract(1.0, growth)))
            restarts = floor(divide(log(reached), log(growth)))
            length = power(growth, restarts)
            before = divide(subtract(1.0, length), subtract(1.0, growth))
            fraction = divide(subtract(fraction, before), length)
        height = multiply(power(cast(self._m_mul, initial.dtype), restarts), 0.5)
        return multiply(initial, _half_cosine(fraction, height, self.alpha))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal schedule."""
        return {
            "initial_learning_rate": self.initial_learning_rate,
            "first_decay_steps": self.first_decay_steps,
            "t_mul": self._t_mul,
            "m_mul": self._m_mul,
            "alpha": self.alpha,
            "name": self.name,
        }


_BUILT_IN: dict[str, type[LearningRateSchedule]] = {
    cls.__name__: cls
    for cls in (
        ExponentialDecay,
        PiecewiseConstantDecay,
        PolynomialDecay,
        InverseTimeDecay,
        CosineDecay,
        CosineDecayRestarts,
    )
}


@public("keras.optimizers.schedules.serialize")
def serialize(learning_rate_schedule: LearningRateSchedule) -> dict[str, Any]:
    """A schedule as plain data, in Keras' format.

    Example:
        >>> import tapejax as tf
        >>> schedules = tf.keras.optimizers.schedules
        >>> schedules.serialize(schedules.ExponentialDecay(0.1, 10, 0.9))["class_name"]
        'ExponentialDecay'
    """
    name = type(learning_rate_schedule).__name__
    ours = _BUILT_IN.get(name) is type(learning_rate_schedule)
    return {
        "module": _MODULE if ours else type(learning_rate_schedule).__module__,
        "class_name": name,
        "config": learning_rate_schedule.get_config(),
        "registered_name": None if ours else name,
    }


@public("keras.optimizers.schedules.deserialize")
def deserialize(
    config: dict[str, Any], custom_objects: dict[str, Any] | None = None
) -> LearningRateSchedule:
    """The schedule that `serialize` described.

    Args:
        config: What `serialize` returned.
        custom_objects: Class names -> classes, for schedules of your own.

    Raises:
        ValueError: If the class is not known.
    """
    name = config["class_name"]
    cls = {**_BUILT_IN, **(custom_objects or {})}.get(name)
    if cls is None:
        raise ValueError(
            f"Unknown decay: '{name}'. Known are {', '.join(_BUILT_IN)}; pass "
            f"custom_objects={{'{name}': {name}}} for a schedule of your own."
        )
    return cls.from_config(config["config"])

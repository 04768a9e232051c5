"""`tf.train.ExponentialMovingAverage`: averages of variables beside the variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapejax._src.core import dtypes
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.arithmetic import add, divide, minimum, multiply, subtract
from tapejax._src.ops.casting import cast


@public("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Averages of variables: `average <- decay * average + (1 - decay) * variable`.

    Args:
        decay: A float or scalar; close to 1 for a long memory.
        num_updates: If given, the decay is at most `(1 + num_updates) / (10 + num_updates)`:
            averages move faster at the start.
        zero_debias: Accepted for compatibility: averages of variables start at their values.
        name: What is put behind a variable's name to name its average.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(0.0)
        >>> averages = tf.train.ExponentialMovingAverage(0.75)
        >>> averages.apply([v])
        >>> _ = v.assign(4.0)
        >>> averages.apply([v])
        >>> float(averages.average(v))
        1.0
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        del zero_debias
        self._decay = decay
        self._num_updates = num_updates
        self._name = name
        self._averages: dict[int, tuple[Variable, Variable]] = {}

    @property
    def name(self) -> str:
        """What is put behind a variable's name to name its average."""
        return self._name

    @property
    def variables(self) -> list[Variable]:
        """The averages, in the order in which their variables were met."""
        return [average for _, average in self._averages.values()]

    def apply(self, var_list: Sequence[Any] | None = None) -> None:
        """Move the averages towards the variables; the first time, create them at their values.

        Args:
            var_list: Floating point variables. Default: all that were met before.

        Raises:
            TypeError: If something else than a variable is given, or one of another dtype.
        """
        if var_list is None:
            var_list = [variable for variable, _ in self._averages.values()]
        for variable in var_list:
            self._check(variable)
        decay = self._decay
        if self._num_updates is not None:
            count = cast(self._num_updates, dtypes.float32)
            decay = minimum(decay, divide(add(1.0, count), add(10.0, count)))
        for variable in var_list:
            held = self._averages.get(id(variable))
            if held is None:
                self._averages[id(variable)] = variable, self._created(variable)
                continue
            average = held[1]
            rest = cast(subtract(1.0, as_tensor(decay)), average.dtype)
            average.assign_sub(multiply(rest, subtract(average, variable)))

    def _check(self, variable: Any) -> None:
        if not isinstance(variable, Variable):
            raise TypeError(
                "tf.train.ExponentialMovingAverage does not support non-Variable tensors when "
                f"eager execution is enabled. Received: {variable!r}; put it into a tf.Variable."
            )
        if not variable.dtype.is_floating:
            raise TypeError(
                f"The variables must be half, float, or double: {variable.name} is "
                f"{variable.dtype.name}."
            )

    def _created(self, variable: Variable) -> Variable:
        return Variable(variable.value, trainable=False, name=self._base_name(variable))

    def _base_name(self, variable: Variable) -> str:
        return f"{variable.name.removesuffix(':0')}/{self._name}"

    def average(self, var: Any) -> Variable | None:
        """The variable that holds the average of `var`, or None if there is none yet."""
        held = self._averages.get(id(var))
        return None if held is None else held[1]

    def average_name(self, var: Any) -> str:
        """The name of the average of `var`, whether it exists or not."""
        average = self.average(var)
        return self._base_name(var) if average is None else average.name.removesuffix(":0")

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Variable]:
        """Names of averages -> the variables they are averages of.

        Args:
            moving_avg_variables: The variables. Default: all that were met.

        Returns:
            A dict, for loading averages in the place of the variables.
        """
        if moving_avg_variables is None:
            moving_avg_variables = [variable for variable, _ in self._averages.values()]
        return {self.average_name(v): v for v in moving_avg_variables}

    def _trackable_children(self) -> dict[str, Any]:
        """What a checkpoint holds: the averages, in the order in which they were created."""
        return {"averages": self.variables}

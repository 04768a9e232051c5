"""What programs for older TensorFlow ask of an optimizer: decay, and variables that come later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapejax._src.core import dtypes
from tapejax._src.engine.convert import as_tensor
from tapejax._src.keras.optimizer_state import OptimizerState
from tapejax._src.ops.arithmetic import add, divide, multiply
from tapejax._src.ops.casting import cast


class LaterVariables(OptimizerState):
    """The state of an optimizer that may grow after the first step."""

    def _prepare_for(self, variables: list[Any]) -> None:
        """Create what is needed to update these variables: one optimizer may serve several models.

        Raises:
            ValueError: If it has state for all variables together and new ones come.
        """
        if not self.built:
            self.build(variables)
            self.built = True
            return
        new = [v for v in variables if id(v) not in self._positions]
        if not new:
            return
        if self._shared:
            raise ValueError(
                f"{type(self).__name__} cannot take new variables after the first step: it has "
                f"state for all of them together. Received: {[v.name for v in new]}."
            )
        for notice in self._notices_of_new_variables:
            notice(self)
        known, before = self._trainable_variables, self._by_slot
        self.built, self._by_slot = False, {}
        self.build(new)
        self.built = True
        self._by_slot = {name: [*before.get(name, []), *own] for name, own in self._by_slot.items()}
        self._trainable_variables = [*known, *new]
        self._positions = {id(v): n for n, v in enumerate(self._trainable_variables)}

    @classmethod
    def accept_new_variables(cls, notice: Callable[[Any], None]) -> None:
        """From now on all optimizers take variables that they meet later.

        Args:
            notice: Called with an optimizer that meets some.
        """
        cls._takes_new_variables = True
        cls._notices_of_new_variables = (notice,)

    def _current_rate(self) -> Any:
        """The learning rate of this step."""
        rate = self.learning_rate
        if not self._decay:
            return rate
        passed = multiply(self._decay, cast(self._iterations, dtypes.float32))
        return divide(as_tensor(rate), add(1.0, passed))

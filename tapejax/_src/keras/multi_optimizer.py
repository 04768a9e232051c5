"""`MultiOptimizer`: different optimizers for different variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any, Self

from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import variable_behind
from tapejax._src.keras import serialization
from tapejax._src.keras.loss_scale import LossScaleOptimizer
from tapejax._src.keras.optimizer import Optimizer


class OptimizerMap(MutableMapping[str, Optimizer]):
    """A mapping from variables to optimizers.

    A variable's optimizer is the one under its path (its name, for a `tf.Variable`), or else the
    one whose key, a regular expression, matches the whole path, or else the default one.

    Args:
        default_optimizer: For variables that no key matches.
        optimizer_map: Paths or regular expressions -> optimizers.

    Raises:
        TypeError: If an argument is of the wrong type.

    Example:
        >>> import tapejax as tf
        >>> optimizers = tf.keras.optimizers
        >>> chosen = optimizers.OptimizerMap(optimizers.SGD(name="sgd"))
        >>> chosen["encoder/.*"] = optimizers.Adam(name="adam")
        >>> chosen["encoder/dense/kernel"].name, chosen["decoder"].name
        ('adam', 'sgd')
    """

    def __init__(
        self, default_optimizer: Optimizer, optimizer_map: dict[str, Optimizer] | None = None
    ) -> None:
        given: Any = default_optimizer, optimizer_map
        if not isinstance(given[0], Optimizer):
            raise TypeError(
                "default_optimizer must be a Keras Optimizer instance. "
                f"Received: {default_optimizer}"
            )
        if optimizer_map is not None and not isinstance(given[1], dict):
            raise TypeError(f"optimizer_map must be a dictionary. Received: {optimizer_map}")
        self._default_optimizer = default_optimizer
        self._optimizer_map = optimizer_map or {}

    @property
    def default_optimizer(self) -> Optimizer:
        """The optimizer of variables that no key matches."""
        return self._default_optimizer

    def __getitem__(self, key: str) -> Optimizer:
        if key in self._optimizer_map:
            return self._optimizer_map[key]
        matching = [pattern for pattern in self._optimizer_map if re.fullmatch(pattern, key)]
        if len(matching) > 1:
            raise ValueError(f"Multiple optimizers assigned to variable {key}: {matching}.")
        return self._optimizer_map[matching[0]] if matching else self._default_optimizer

    def __setitem__(self, key: Any, optimizer: Optimizer) -> None:
        if not isinstance(key, str):
            raise ValueError(f"key must be a string. Received: {key}")
        if key in self._optimizer_map:
            raise ValueError(f"'{key}' already exists in the OptimizerMap.")
        _check(optimizer)
        self._optimizer_map[key] = optimizer

    def __delitem__(self, key: str) -> None:
        del self._optimizer_map[key]

    def __len__(self) -> int:
        return len(self._optimizer_map)

    def __iter__(self) -> Iterator[str]:
        return iter(self._optimizer_map)

    def __call__(self, variable: Any) -> Optimizer:
        """The optimizer of a variable."""
        path = getattr(variable, "path", None) or str(variable.name).removesuffix(":0")
        return self[path]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal mapping."""
        return {
            "default_optimizer": serialization.serialize(self._default_optimizer),
            "optimizer_map": {
                key: serialization.serialize(value) for key, value in self._optimizer_map.items()
            },
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """The mapping of a `get_config()`."""
        default = serialization.deserialize(config["default_optimizer"], custom_objects)
        others = {
            key: serialization.deserialize(value, custom_objects)
            for key, value in config["optimizer_map"].items()
        }
        return cls(default, others)


def _check(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"optimizer must be a Keras Optimizer instance. Received: {optimizer}")
    if isinstance(optimizer, (LossScaleOptimizer, MultiOptimizer)):
        raise ValueError(f"optimizer cannot be {type(optimizer).__name__}.")


class MultiOptimizer(Optimizer):
    """An optimizer that leaves each variable to one of several.

    Args:
        optimizer_map: An `OptimizerMap`, or a function from a variable to its optimizer.
        loss_scale_factor: What `scale_loss` multiplies by; it takes the place of that of all the
            optimizers.
        name: A name.

    Example:
        >>> import tapejax as tf
        >>> optimizers = tf.keras.optimizers
        >>> slow, fast = optimizers.SGD(0.25), optimizers.SGD(1.0)
        >>> v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w")
        >>> both = optimizers.MultiOptimizer(lambda x: slow if x.name == "v:0" else fast)
        >>> _ = both.apply_gradients([(tf.constant(1.0), v), (tf.constant(1.0), w)])
        >>> float(v), float(w)
        (0.75, 0.0)
    """

    def __init__(
        self,
        optimizer_map: OptimizerMap | Callable[[Any], Optimizer],
        loss_scale_factor: float | None = None,
        name: str | None = None,
    ) -> None:
        self._inner_optimizers: list[Optimizer] = []
        super().__init__(learning_rate=0.0, loss_scale_factor=loss_scale_factor, name=name)
        self._optimizer_map = optimizer_map
        self._chosen: list[int] = []
        if isinstance(optimizer_map, OptimizerMap):
            for optimizer in (*optimizer_map.values(), optimizer_map.default_optimizer):
                self._number(optimizer)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; the loss scale is that of all the optimizers."""
        super().__setattr__(name, value)
        if name == "loss_scale_factor":
            for optimizer in self._inner_optimizers:
                optimizer.loss_scale_factor = value

    def _number(self, optimizer: Optimizer) -> int:
        for n, known in enumerate(self._inner_optimizers):
            if known is optimizer:
                return n
        _check(optimizer)
        optimizer.loss_scale_factor = self.loss_scale_factor
        self._inner_optimizers.append(optimizer)
        return len(self._inner_optimizers) - 1

    def build(self, variables: Sequence[Any]) -> None:
        """Choose the optimizer of each variable and create the slots.

        Args:
            variables: The model variables.
        """
        if self.built:
            return
        self._chosen = [self._number(self._optimizer_map(v)) for v in variables]
        super().build(variables)
        for optimizer, own in self._groups([(v, v) for v in variables]):
            optimizer.build([v for v, _ in own])

    def _groups(
        self, pairs: Sequence[tuple[Any, Any]]
    ) -> Iterator[tuple[Optimizer, list[tuple[Any, Any]]]]:
        """Each optimizer with its share of the pairs of something and a variable."""
        numbers = [self._chosen[self._get_variable_index(v)] for _, v in pairs]
        for n, optimizer in enumerate(self._inner_optimizers):
            own = [pair for pair, number in zip(pairs, numbers, strict=True) if number == n]
            if own:
                yield optimizer, own

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """Update variables by their gradients, each by its own optimizer.

        Args:
            grads: One gradient (or None) for each variable.
            trainable_variables: The variables. Default: those the optimizer was built with.
        """
        if len(grads) == 0:
            return
        if trainable_variables is None:
            variables = self._built_variables(len(grads))
        else:
            variables = [variable_behind(v) for v in trainable_variables]
            self._prepare_for(variables)
        self._given(grads, variables)  # raises for what does not fit, before anything is updated
        for optimizer, own in self._groups(list(zip(grads, variables, strict=True))):
            if any(g is not None for g, _ in own):
                optimizer.apply([g for g, _ in own], [v for _, v in own])
        self._iterations.assign_add(1)

    def _is_one_op(self) -> bool:
        return False

    @property
    def optimizers(self) -> list[Optimizer]:
        """The optimizers."""
        return self._inner_optimizers

    @property
    def variables(self) -> list[Variable]:
        """Its own variables, then those of the optimizers."""
        inner = [v for optimizer in self._inner_optimizers for v in optimizer.variables]
        return type(super().variables)([*self._variables, *inner])

    @property
    def learning_rate(self) -> Any:
        """There is none: each optimizer has its own."""
        raise AttributeError(
            "Learning rate cannot be accessed on a MultiOptimizer. Access the learning rate on the "
            "individual sub-optimizers, `optimizer.optimizers`, instead."
        )

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        raise AttributeError(
            "Learning rate cannot be set on a MultiOptimizer. Set the learning rate on the "
            "individual sub-optimizers, `optimizer.optimizers`, instead."
        )

    def finalize_variable_values(self, var_list: Sequence[Any]) -> None:
        """Give the variables the value of their moving averages, where those are kept."""
        for optimizer, own in self._groups([(v, v) for v in var_list]):
            optimizer.finalize_variable_values([v for v, _ in own])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer, without its state."""
        chosen = self._optimizer_map
        return {
            "optimizer_map": serialization.serialize(chosen)
            if isinstance(chosen, OptimizerMap)
            else chosen,
            "loss_scale_factor": self.loss_scale_factor,
            "name": self.name,
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """The optimizer of a `get_config()`."""
        config = dict(config)
        if isinstance(config["optimizer_map"], dict):
            config["optimizer_map"] = serialization.deserialize(
                config["optimizer_map"], custom_objects
            )
        return cls(**config)


for _cls in (OptimizerMap, MultiOptimizer):
    serialization.export(_cls)

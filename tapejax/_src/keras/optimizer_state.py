"""What an optimizer holds: its variables, its learning rate and its configuration."""

from __future__ import annotations

import collections
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self
from typing import cast as cast_type

import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tracking import LISTENERS, attached
from tapejax._src.core.variable import Variable, VariableAggregation
from tapejax._src.engine.convert import as_tensor, variable_behind
from tapejax._src.keras import schedules, transformations
from tapejax._src.keras.options import DEFAULTS
from tapejax._src.keras.update import ACCUMULATOR, AVERAGE, Rule
from tapejax._src.ops.arithmetic import floordiv
from tapejax._src.ops.casting import cast

_NAMES: collections.Counter[str] = collections.Counter()


def _unique_name(cls: type) -> str:
    """`sgd`, `sgd_1`, ... in the order of creation; the class name in snake case."""
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", cls.__name__)
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    count = _NAMES[name]
    _NAMES[name] += 1
    return f"{name}_{count}" if count else name


class _VariableList(list[Variable]):
    """A list that may also be called, since `optimizer.variables()` was once a method."""

    def __call__(self) -> list[Variable]:
        return self


class _Reference:
    """A variable as the transformations' `init` sees it: a shape and a dtype."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self.shape = variable.tensor.aval.shape
        self.dtype = variable.tensor.aval.dtype


class OptimizerState:
    """What an optimizer holds: its variables, learning rate and configuration (see `Optimizer`)."""

    _slot_groups: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Names of slots as they are created: within a group, variable by variable."""
    _config: ClassVar[tuple[str, ...]] = ()
    """Names of the arguments a class adds to those of every optimizer."""
    _takes_new_variables: ClassVar[bool] = False
    """Whether variables may be met after the first step."""
    _notices_of_new_variables: ClassVar[tuple[Callable[[Any], None], ...]] = ()
    _decay: float = 0.0
    _learning_rate: Any

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
        self._variables: list[Variable] = []
        if kwargs.pop("decay", None) is not None:
            warnings.warn(
                "Argument `decay` is no longer supported and will be ignored; pass "
                "learning_rate=tf.keras.optimizers.schedules.InverseTimeDecay(...), or use "
                "tf.keras.optimizers.legacy.",
                stacklevel=4,
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
        self._trainable_variables: list[Variable] = []
        self._positions: dict[int, int] = {}
        self._by_slot: dict[str, list[Variable | None]] = {}
        self._shared: dict[str, Variable] = {}
        self._shared_before: list[Any] = []
        self._steps: dict[Any, Any] = {}
        self._undecayed: list[Any] = []
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
    def _add_variable(
        self,
        name: str | None,
        value: Any,
        aggregation: VariableAggregation = VariableAggregation.ONLY_FIRST_REPLICA,
    ) -> Variable:
        variable = Variable(value, trainable=False, name=name, aggregation=aggregation)
        self._variables.append(variable)
        if LISTENERS:  # a restored checkpoint has values for slots to come
            attached(self)
        return variable

    def add_variable(
        self,
        shape: Any,
        initializer: Any = "zeros",
        dtype: Any = None,
        aggregation: str | None = "none",
        layout: Any = None,
        name: str | None = None,
    ) -> Variable:
        """Add a variable to the optimizer's state.

        Args:
            shape: Its shape.
            initializer: "zeros", "ones", or a function of shape and dtype.
            dtype: Its dtype. Default: float32.
            aggregation: "none", "mean", "sum" or "only_first_replica".
            layout: Accepted for compatibility.
            name: Its name.

        Returns:
            The variable.

        Raises:
            ValueError: For an unknown initializer or aggregation.
        """
        del layout
        sizes: list[Any] = TensorShape(shape).as_list()
        kind = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
        value = _initial(initializer, tuple(sizes), kind)
        named = {None: VariableAggregation.NONE} | {
            member.name.lower(): member for member in VariableAggregation
        }
        if aggregation not in named:
            raise ValueError(f"Unknown aggregation: {aggregation!r}; one of {list(named)}.")
        return self._add_variable(name or "variable", value, named[aggregation])

    def add_variable_from_reference(
        self,
        reference_variable: Any = None,
        name: str | None = None,
        initializer: Any = "zeros",
        **older: Any,
    ) -> Variable:
        """Add a slot of the shape and dtype of a model variable.

        Args:
            reference_variable: The model variable.
            name: Name of the slot; the variable's name is put before it.
            initializer: "zeros", "ones", or a function of shape and dtype.
            **older: The names these had in TensorFlow 2.11 to 2.15: `model_variable`,
                `variable_name`, `shape`, `initial_value`.

        Returns:
            The new variable.

        Raises:
            ValueError: For another initializer.
        """
        reference = older.pop("model_variable", reference_variable)
        name = older.pop("variable_name", name)
        shape, value = older.pop("shape", None), older.pop("initial_value", None)
        if older or reference is None:
            raise TypeError(
                "add_variable_from_reference(reference_variable, name, initializer) needs a "
                f"variable. Received: {reference!r} and unknown arguments {sorted(older)}."
            )
        if value is None:
            sizes = tuple(reference.shape) if shape is None else tuple(shape)
            value = _initial(initializer, sizes, reference.dtype)
        return self._add_variable(self._slot_name(reference, name or "var"), value)

    def add_optimizer_variables(
        self, trainable_variables: Sequence[Any], name: Any, initializer: Any = "zeros"
    ) -> Any:
        """Add one slot, or several, for each of the variables.

        Args:
            trainable_variables: The model variables.
            name: Name of the slot, or a list of names.
            initializer: See `add_variable`; or a list of as many.

        Returns:
            A list of variables, or a tuple of such lists if `name` is a list.

        Raises:
            ValueError: If the numbers of names and initializers differ.
        """
        if isinstance(name, str):
            return self.add_optimizer_variables(trainable_variables, [name], [initializer])[0]
        names = list(name)
        starts = list(initializer) if isinstance(initializer, (list, tuple)) else None
        starts = [initializer] * len(names) if starts is None else starts
        if len(starts) != len(names):
            raise ValueError(
                "The number of provided names must match the number of provided initializers. "
                f"Received name={name!r}, initializer={initializer!r}"
            )
        columns: tuple[list[Variable], ...] = tuple([] for _ in names)
        for variable in trainable_variables:
            for column, slot, start in zip(columns, names, starts, strict=True):
                column.append(self.add_variable_from_reference(variable, slot, start))
        return columns

    def _slot_name(self, variable: Any, slot: str) -> str:
        path = getattr(variable, "path", None) or variable.name
        prefix = str(path).replace("/", "_").replace(":", "_")
        return f"{prefix}_{slot}"

    def build(self, variables: Sequence[Any]) -> None:
        """Create the slots of the variables this optimizer is to update.

        Args:
            variables: The model variables.
        """
        if self.built:
            return
        self._trainable_variables = [variable_behind(v) for v in variables]
        self._positions = {id(v): n for n, v in enumerate(self._trainable_variables)}
        own: list[tuple[str, ...]] = []
        if self.use_ema:
            own.append((AVERAGE,))
        if self.gradient_accumulation_steps:
            own.append((ACCUMULATOR,))
        rule = self._own_rule()
        likes = [_Reference(v) for v in self._trainable_variables]
        first: Any = {} if rule is None else rule.transformation().init(cast_type(Any, likes))
        for group in (*own, *self._slot_groups):
            present = [name for name in group if name in first or (name,) in own]
            for n, variable in enumerate(self._trainable_variables):
                self._add_slots(present, n, variable, first)
        for name, value in first.items():
            if name not in self._by_slot and not isinstance(value, list):
                self._shared[name] = self._add_variable(name, value)
        self.built = True

    def _own_rule(self) -> Rule | None:
        """The transformation of this class, if its update is one."""
        return None

    def _add_slots(
        self, names: Sequence[str], position: int, variable: Variable, first: dict[str, Any]
    ) -> None:
        for name in names:
            value = (
                first[name][position]
                if name in first
                else transformations.zeros(_Reference(variable), position)
            )
            if isinstance(value, _Reference):
                value = value.variable.value
            slot = None
            if value is not None:
                slot = self._add_variable(self._slot_name(variable, name), value)
            self._by_slot.setdefault(name, []).append(slot)

    def _get_variable_index(self, variable: Any) -> int:
        return self._positions[id(variable)]

    def _var_key(self, variable: Any) -> int:
        return id(variable)

    @property
    def _index_dict(self) -> dict[int, int]:
        return self._positions

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's own variables: iterations, learning rate, then the slots."""
        return _VariableList(self._variables)

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

    def _decay_of(self, position: int) -> float | None:
        """The weight decay of a variable, or None."""
        decay = self.weight_decay
        return decay if decay is not None and self._decays(position) else None

    def _decays(self, position: int) -> bool:
        variable = self._trainable_variables[position]
        if any(variable is v for v in self._undecayed):
            return False
        names = self._undecayed_names
        return names is None or names.search(variable.name) is None

    # ------------------------------------------------------------------ state and configuration
    def _trackable_children(self) -> dict[str, Any]:
        """What a checkpoint holds, under the names that Keras 3 gives it in TensorFlow."""
        own = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        for name in ("_iterations", "_learning_rate", "_inner_optimizers", "_hyper"):
            if name in vars(self):
                own[name] = vars(self)[name]
        return own | {"_variables": self._variables}

    def get_weights(self) -> list[Any]:
        """The values of `variables` as arrays."""
        return [variable.numpy() for variable in self.variables]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Assign the values of `variables`.

        Args:
            weights: Arrays in the order of `variables`.

        Raises:
            ValueError: If the optimizer has not been built, or a number or shape differs.
        """
        if not self.built:
            raise ValueError(
                "You are calling `set_weights()` on an optimizer that has not yet been built. "
                "Please call `optimizer.build(trainable_variables)` to create the optimizer "
                "weights before calling `set_weights()`."
            )
        own = self.variables
        if len(weights) != len(own):
            raise ValueError(
                f"Optimizer {self.name} has {len(own)} variables and got {len(weights)} weights."
            )
        for variable, weight in zip(own, weights, strict=True):
            if tuple(variable.shape) != np.shape(weight):
                raise ValueError(
                    f"Optimizer variable {variable.name} has shape {variable.shape} not "
                    f"compatible with provided weight shape {np.shape(weight)}."
                )
            variable.assign(weight)

    def save_own_variables(self, store: Any) -> None:
        """Put the values of `variables` into a mapping, under "0", "1", ..."""
        for n, value in enumerate(self.get_weights()):
            store[str(n)] = value

    def load_own_variables(self, store: Any) -> None:
        """Assign the values of `variables` from a mapping that `save_own_variables` filled.

        If it holds another number of values, a warning says so and nothing is assigned.
        """
        own = self.variables
        if len(store.keys()) != len(own):
            warnings.warn(
                f"Skipping variable loading for optimizer '{self.name}', because it has "
                f"{len(own)} variables whereas the saved optimizer has {len(store.keys())} "
                "variables. Build it before loading.",
                stacklevel=2,
            )
            return
        for n, variable in enumerate(own):
            variable.assign(np.asarray(store[str(n)]))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer, without its state."""
        found = self.settings()
        if isinstance(found["learning_rate"], schedules.LearningRateSchedule):
            found["learning_rate"] = schedules.serialize(found["learning_rate"])
        return found

    def settings(self) -> dict[str, Any]:
        """The same with a schedule as it is."""
        rate = self._learning_rate
        rate = float(rate) if isinstance(rate, Variable) else rate
        named = {name: getattr(self, name) for name in (*DEFAULTS, *self._config)}
        return {"learning_rate": rate, **named}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """The optimizer of a `get_config()`."""
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)


def _initial(initializer: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The value a variable of the optimizer starts with."""
    known = {"zeros": np.zeros, "ones": np.ones}
    if isinstance(initializer, str) and initializer in known:
        return known[initializer](shape, dtype.as_numpy_dtype)
    if callable(initializer):
        return cast(as_tensor(initializer(shape, dtype=dtype)), dtype)
    raise ValueError(
        "An initializer is 'zeros', 'ones' or a function of (shape, dtype). "
        f"Received: initializer={initializer!r}"
    )

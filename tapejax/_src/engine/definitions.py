"""What an op consists of: its entry in the registry, and the roles its parameters can have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax

from tapejax._src.engine.kernel import Kernel

Array = jax.Array
# The roles of parameters. They are Any to type checkers, for op bodies see arrays and callers pass
# anything that converts to a tensor; `op` goes by the name of the annotation.
TensorLike = Any
Same = Any
Index = Any
Bool = Any
SameList = Any
StaticInts = Any
DTypeLike = Any

TENSOR_ROLES = (
    "TensorLike",
    "Same",
    "Index",
    "Bool",
    "SameList",
    "*Index",
    "*TensorLike",
    "*Same",
)
TEXT_DTYPE: Any = object()
"""In place of a NumPy dtype: results are strings."""
LIST_ROLES = ("SameList", "*Index", "*TensorLike", "*Same")
GROUP_ROLES = ("Same", "SameList", "*Same")


class ValueCheck(NamedTuple):
    """A failure that depends on values.

    Attributes:
        fails: Function of the op's own arguments; returns scalars (failed, *details), at most seven
            details. A Python False for `failed` means that these dtypes cannot fail.
        message: Function of the details as Python numbers.
    """

    fails: Callable[..., Any]
    message: Callable[..., str]


class Parameter(NamedTuple):
    """One parameter of an op."""

    name: str
    role: str
    default: Any
    optional: bool = False


@dataclass(slots=True)
class OpDef:
    """One registered op: its pure function and everything tests, docs and reports read.

    Attributes:
        fn: The pure function of arrays and static arguments.
        paths: Its public paths, relative to the package.
        parameters: Its parameters.
        cases: Rows of test cases (see `engine/cases.py`).
        node: TensorFlow's name of the op.
        gradient: 'vjp', 'none' or 'lookup'.
        fields: What else the entry says (`tol`, `differs`, ...).
        kernels: Static arguments -> kernel.
        memo: Form of a call -> kernel; see `engine/quick.py`.
        by_keywords: The same for calls whose static arguments are all keywords.
        roles, role_of: The roles of the parameters, by place and by name.
    """

    fn: Callable[..., Any]
    paths: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    cases: tuple[str, ...]
    node: str
    gradient: str
    fields: Mapping[str, Any]
    kernels: dict[Any, Kernel] = field(default_factory=dict[Any, Kernel])
    memo: dict[Any, Kernel] = field(default_factory=dict[Any, Kernel])
    by_keywords: dict[Any, Kernel] = field(default_factory=dict[Any, Kernel])
    roles: tuple[str, ...] = field(init=False)
    role_of: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.roles = tuple([p.role for p in self.parameters])
        self.role_of = {p.name: p.role for p in self.parameters}

    @property
    def name(self) -> str:
        """The first public path."""
        return self.paths[0]

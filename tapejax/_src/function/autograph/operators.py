"""What converted code calls: Python's meaning for Python values, recorded control flow for tensors.

The names are fixed by the converter (`conversion.py`), which binds this module as `ag__`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record
from tapejax._src.function.autograph.callees import OPERATORS, callee, takes_functions
from tapejax._src.function.definition import CONVERT
from tapejax._src.function.host_run import HOST_ITERABLES, Pieces, RunOnHost
from tapejax._src.function.staging.branches import (
    Branch,
    Wording,
    record_branch,
    stage_branches,
)
from tapejax._src.function.staging.iteration import of_stacks, staged_source
from tapejax._src.function.staging.loop_state import State
from tapejax._src.function.staging.raising import RaisedInBranch
from tapejax._src.function.staging.statements import (
    predicate,
    staged_for,
    staged_if,
    staged_while,
)
from tapejax._src.function.staging.values import Undefined, is_staged, known_tensor
from tapejax._src.ops.assertions import Assert
from tapejax._src.ops.comparison import equal, logical_and, logical_not, logical_or, not_equal
from tapejax._src.ops.reduction import reduce_all, reduce_any

__all__ = ["Undefined", "callee", "takes_functions"]  # imported for the converted code

Getter = Callable[[], Sequence[Any]]
Setter = Callable[[Sequence[Any]], None]
_INTERNAL = "ag__"


# ---------------------------------------------------------------------- statements
def if_stmt(
    cond: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Getter,
    set_state: Setter,
    names: Sequence[str],
    dead: Sequence[str],
) -> None:
    """An `if`."""
    if not is_staged(cond):
        if known_tensor(cond):
            body()
        else:
            orelse()
        return
    flagged = any(name.startswith("ag__did_return") for name in names)

    def internal(name: str) -> bool:
        if name.startswith("ag__return_value"):
            return flagged
        return name.startswith(_INTERNAL)

    state = State(names, get_state, set_state)
    wording = Wording("if", ("main", "else"), internal)
    staged_if(predicate(cond, "if"), body, orelse, state, dead, wording)


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: Getter,
    set_state: Setter,
    names: Sequence[str],
) -> None:
    """A `while`; iterations run as Python until the condition becomes a tensor."""
    while True:
        condition = test()
        if is_staged(condition):
            staged_while(test, body, State(names, get_state, set_state))
            return
        if not known_tensor(condition):
            return
        body()


def for_stmt(
    iterable: Any,
    keep_going: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Getter,
    set_state: Setter,
    names: Sequence[str],
) -> None:
    """A `for`; what is no tensor is gone over by Python."""
    state = State(names, get_state, set_state)
    source = staged_source(iterable)
    if source is not None:
        staged_for(source, keep_going, body, state)
        return
    pieces = HOST_ITERABLES.pieces(iterable) if LOCAL.recorder.symbolic is not None else None
    if pieces is not None:
        _for_pieces(pieces, keep_going, body, state)
        return
    going: Any = True
    for item in iterable:
        if is_staged(going):
            _guarded(going, body, item, state)
        else:
            body(item)
        # Asked behind the body: an iterator must not lose an item that nobody gets.
        going = True if keep_going is None else keep_going()
        if not is_staged(going) and not known_tensor(going):
            return


def _for_pieces(
    pieces: Sequence[Pieces],
    keep_going: Callable[[], Any] | None,
    body: Callable[[Any], None],
    state: State,
) -> None:
    """A `for` over elements of several forms: a staged loop for each form."""
    going: Any = True
    for size, stacks, pack in pieces:
        if size > 1 and is_staged(going):
            raise RunOnHost("a loop that may have ended goes on with elements of another shape")
        if size > 1:
            staged_for(of_stacks(size, stacks, pack), keep_going, body, state)
        elif is_staged(going):
            _guarded(going, body, pack(stacks), state)
        else:
            body(pack(stacks))
        going = True if keep_going is None else keep_going()
        if not is_staged(going) and not known_tensor(going):
            return


def _guarded(going: Any, body: Callable[[Any], None], item: Any, state: State) -> None:
    """One Python iteration that a tensor may have ended."""
    wording = Wording("for", ("main", "else"), lambda name: True)
    staged_if(predicate(going, "for"), lambda: body(item), lambda: None, state, (), wording)


def assert_stmt(test: Any, message: Callable[[], Any], source: str) -> None:
    """An `assert`."""
    if is_staged(test):
        text = message()
        Assert(reduce_all(predicate_of(test)), [source if text is None else text])
    elif not known_tensor(test):
        text = message()
        raise AssertionError(source if text is None else text)


def predicate_of(test: Any) -> Tensor:
    """A staged condition of any shape, as bools."""
    tensor = as_tensor(test)
    return tensor if tensor.dtype.is_bool else not_equal(tensor, 0)


def raising(error: Any) -> BaseException:
    """What a `raise` raises: where a tensor decides whether it happens, a mark for the branch."""
    exception: BaseException = error() if isinstance(error, type) else error
    return RaisedInBranch(exception) if LOCAL.recorder.in_branch else exception


# ---------------------------------------------------------------------- expressions
def if_exp(cond: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """`then if cond else otherwise`."""
    if not is_staged(cond):
        return then() if known_tensor(cond) else otherwise()
    branches = [record_branch(lambda: [then()]), record_branch(lambda: [otherwise()])]
    wording = Wording("conditional expression", ("main", "else"))
    names = ("the conditional expression",)
    return stage_branches(predicate(cond, "if"), branches, names, wording)[0]


def and_(first: Any, second: Callable[[], Any]) -> Any:
    """`first and second`."""
    if not is_staged(first):
        return second() if known_tensor(first) else first
    return _lazily(first, second, value_if_decided=False)


def or_(first: Any, second: Callable[[], Any]) -> Any:
    """`first or second`."""
    if not is_staged(first):
        return first if known_tensor(first) else second()
    return _lazily(first, second, value_if_decided=True)


def _lazily(first: Any, second: Callable[[], Any], value_if_decided: bool) -> Any:
    """The second operand counts only where the first does not decide.

    It is computed in any case when that can do no harm: a branch would cost more.
    """
    condition = predicate_of(first)
    branch = record_branch(lambda: [predicate_of(second())])
    block = branch.block
    if block.checks or block.effect or block.written or branch.values is None:
        decided = record_branch(lambda: [value_if_decided])
        sides: list[Branch] = [decided, branch] if value_if_decided else [branch, decided]
        wording = Wording("or" if value_if_decided else "and", ("main", "else"))
        scalar = predicate(condition, wording.construct)
        return stage_branches(scalar, sides, ("the condition",), wording)[0]
    kernel = Kernel("operand", lambda *arrays: block.run((), arrays)[0], node="Identity")
    (operand,) = record(kernel, block.captures)
    return (logical_or if value_if_decided else logical_and)(condition, operand)


def not_(value: Any) -> Any:
    """`not value`."""
    return logical_not(predicate_of(value)) if is_staged(value) else not known_tensor(value)


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}


def compare(left: Any, *pairs: Any) -> Any:
    """`left < a <= b`: pairs of an operator's name and a function returning the operand."""
    name, operand, *rest = pairs
    right = operand()
    result = _COMPARISONS[name](left, right)
    return and_(result, lambda: compare(right, *rest)) if rest else result


def contains(item: Any, container: Any) -> Any:
    """`item in container`."""
    if isinstance(container, (Tensor, Variable)):
        return reduce_any(equal(container, item)) if is_staged(container) else item in container
    if not is_staged(item) and not (
        isinstance(container, (list, tuple)) and any(is_staged(x) for x in container)  # pyright: ignore[reportUnknownVariableType]
    ):
        return item in container
    found: Any = False
    for element in container:
        same = equal(item, element)
        found = same if found is False else logical_or(found, same)
    return found


# ---------------------------------------------------------------------- names
def load(read: Callable[[], Any], name: str) -> Any:
    """The value of a name, attribute or item, or `Undefined`."""
    try:
        return read()
    except (NameError, AttributeError, KeyError, IndexError):
        return Undefined(name)


def restore(container: Any, contents: Any) -> None:
    """Put contents back into the user's own list or dict, so that every name of it sees them."""
    if container is contents or isinstance(contents, Undefined):
        return
    if isinstance(container, list) and isinstance(contents, list):
        container[:] = contents
    elif isinstance(container, dict) and isinstance(contents, dict):
        container.clear()
        container.update(contents)


def returned(value: Any) -> Any:
    """What a function returns: None where it did not get to a `return`."""
    return None if isinstance(value, Undefined) else value


OPERATORS.module = sys.modules[__name__]
CONVERT.converter = callee

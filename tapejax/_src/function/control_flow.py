"""`tf.cond`, `tf.case`, `tf.switch_case`, `tf.while_loop`: control flow given as functions.

In eager code they are Python's own; in a function being traced they become one op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapejax._src.core import errors, nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import public
from tapejax._src.function.autograph.callees import callee
from tapejax._src.function.staging.branches import Wording, record_branch, stage_branches
from tapejax._src.function.staging.loop_options import set_loop_options
from tapejax._src.function.staging.loop_state import State
from tapejax._src.function.staging.raising import RaisedInBranch
from tapejax._src.function.staging.statements import predicate, staged_while
from tapejax._src.function.staging.values import is_number, is_staged, is_tensor, known_tensor
from tapejax._src.ops.assertions import Assert
from tapejax._src.ops.casting import cast
from tapejax._src.ops.comparison import equal, less_equal
from tapejax._src.ops.reduction import reduce_sum
from tapejax._src.ops.selecting import where

_STRUCTURE = (
    "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall "
    "structure of return values."
)


def as_tensors(value: Any) -> Any:
    """A structure whose numbers, arrays and variables are tensors."""

    def convert(leaf: Any) -> Any:
        plain = is_tensor(leaf) or is_number(leaf) or isinstance(leaf, (Variable, str))
        return as_tensor(leaf) if plain else leaf

    return nest.map_structure(convert, value)


def _staged(*values: Any) -> bool:
    """Whether control flow becomes an op: always in a function, else when JAX is tracing."""
    return LOCAL.recorder.symbolic is not None or any(is_staged(value) for value in values)


def _branches(functions: Sequence[Callable[[], Any]], selector: Tensor, wording: Wording) -> Any:
    branches = [record_branch(lambda f=f: [as_tensors(callee(f)())]) for f in functions]
    try:
        return stage_branches(selector, branches, ("the result",), wording)[0]
    except (TypeError, ValueError) as error:
        raise TypeError(f"{_STRUCTURE}\n\nError details:\n{error}") from error


@public("cond")
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`true_fn()` if `pred` is true, else `false_fn()`.

    Args:
        pred: Bool scalar.
        true_fn: Function without arguments.
        false_fn: The same; in a `tf.function` both must return one structure, dtype and shape.
        name: Ignored.

    Returns:
        What the function that was chosen returned.

    Raises:
        TypeError: If a function cannot be called, or the results do not agree.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = tf.cond(x > 1.0, lambda: x * x, lambda: x)
        >>> float(tape.gradient(y, x))
        6.0

    References:
        https://www.tensorflow.org/api_docs/python/tf/cond
    """
    del name
    for argument, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{argument}' argument required")
        if not callable(function):
            raise TypeError(f"'{argument}' must be callable.")
    assert true_fn is not None
    assert false_fn is not None
    if not is_staged(pred) and not (LOCAL.recorder.symbolic and isinstance(pred, Tensor)):
        return true_fn() if known_tensor(pred) else false_fn()
    wording = Wording("tf.cond", ("true_fn", "false_fn"))
    return _branches((true_fn, false_fn), predicate(pred, "tf.cond"), wording)


@public("switch_case")
def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """`branch_fns[branch_index]()`.

    Args:
        branch_index: int32 scalar.
        branch_fns: List of functions, or of pairs (index, function), or a dict of them.
        default: Function for any other index. Default: the last one.
        name: Ignored.

    Returns:
        What the function that was chosen returned.

    Raises:
        TypeError: If the functions are not given so, or the results do not agree.

    Example:
        >>> import tapejax as tf
        >>> tf.switch_case(tf.constant(1), [lambda: 10, lambda: 20])
        20
    """
    del name
    functions = _numbered(branch_fns)
    order = sorted(functions)
    last = functions[order[-1]] if default is None else default
    if not _staged(branch_index):
        return functions.get(int(branch_index), last)()
    index = as_tensor(branch_index)
    place: Any = as_tensor(len(order))
    for n, key in enumerate(order):
        place = where(equal(index, key), n, place)
    wording = Wording("tf.switch_case", [f"branch {key}" for key in order] + ["default"])
    return _branches([*[functions[key] for key in order], last], place, wording)


def _numbered(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    if isinstance(branch_fns, Mapping):
        pairs: list[Any] = list(branch_fns.items())  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(branch_fns, (list, tuple)):
        given: list[Any] = list(branch_fns)  # pyright: ignore[reportUnknownArgumentType]
        pairs = list(enumerate(given)) if given and callable(given[0]) else given
    else:
        raise TypeError(
            f"'branch_fns' must be a list, tuple, or dict. Received: {type(branch_fns)}"
        )
    if not pairs:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    functions = {int(key): function for key, function in pairs}
    if sorted(functions) != list(range(len(functions))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(functions)}) but "
            f"found {{{','.join(map(str, sorted(functions)))}}}"
        )
    for key, function in functions.items():
        if not callable(function):
            raise TypeError(f"fn for branch index {key} must be callable, got {function!r}.")
    return functions


@public("case")
def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the function beside the first predicate that is true.

    Args:
        pred_fn_pairs: List of pairs (bool scalar, function without arguments).
        default: Function for when none is. Without it that is an error.
        exclusive: Whether two true predicates are an error.
        strict: Accepted for compatibility.
        name: Ignored.

    Returns:
        What the function that was chosen returned.

    Raises:
        TypeError: If the pairs are not given so, or the results do not agree.
        InvalidArgumentError: If no predicate is true, or two are with `exclusive`.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant(5)
        >>> tf.case([(x < 3, lambda: 1), (x < 10, lambda: 2)], default=lambda: 3)
        2
    """
    del name, strict
    pairs = _pairs(pred_fn_pairs)
    if not _staged(*[pred for pred, _ in pairs]):
        chosen = [function for pred, function in pairs if bool(pred)]
        if len(chosen) > 1 and exclusive:
            _raise_no_case("More than one condition evaluated as True but exclusive=True.")
        if not chosen and default is None:
            _raise_no_case("None of conditions evaluated as True")
        return chosen[0]() if chosen else default() if default is not None else None
    if exclusive:
        true = reduce_sum([cast(pred, "int32") for pred, _ in pairs])
        text = "More than one condition evaluated as True but exclusive=True."
        Assert(less_equal(true, 1), [text])
    result: Any = _fail if default is None else default
    for pred, function in reversed(pairs):
        result = _Choice(pred, function, result)
    return result()


class _Choice:
    """One predicate of `tf.case`, the others behind it."""

    def __init__(self, pred: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> None:
        self._pred, self._then, self._otherwise = pred, then, otherwise

    def __call__(self) -> Any:
        """The result."""
        return cond(self._pred, self._then, self._otherwise)


def _no_case(text: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        None, None, f"Expected one condition of tf.case to be true: Input error: {text}"
    )


def _fail() -> None:
    """The last branch of a `tf.case` without default."""
    raise RaisedInBranch(_no_case("None of conditions evaluated as True"))


def _raise_no_case(text: str) -> None:
    raise _no_case(text)


def _pairs(pred_fn_pairs: Any) -> list[tuple[Any, Callable[[], Any]]]:
    if isinstance(pred_fn_pairs, Mapping):
        raise TypeError("pred_fn_pairs must be a list of pairs: tensors cannot be keys of a dict.")
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise TypeError(
            f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}"
        )
    pairs: list[Any] = list(pred_fn_pairs)  # pyright: ignore[reportUnknownArgumentType]
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:  # pyright: ignore[reportUnknownArgumentType]
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received: {pair!r}")
        if not callable(pair[1]):
            raise TypeError(f"fn for pred {pair[0]!r} must be callable.")
    return pairs


@public("while_loop")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Call `body` on the loop variables as long as `cond` of them is true.

    Args:
        cond: Function of the loop variables, returning a bool scalar.
        body: Function of the loop variables, returning a list or tuple of their new values.
        loop_vars: List or tuple of tensors and nested structures of them.
        shape_invariants: The shapes of the loop variables, None where they change. A compiled loop
            cannot change shapes: where this one does, the `tf.function` around runs as Python.
        parallel_iterations: Accepted for compatibility.
        back_prop: Accepted for compatibility; use `tf.stop_gradient` on the results.
        swap_memory: Accepted for compatibility.
        maximum_iterations: The most iterations to run.
        name: Ignored.

    Returns:
        The loop variables after the last iteration.

    Raises:
        TypeError: If the functions cannot be called, or a variable changes its dtype.
        ValueError: If there are no loop variables, or one changes its shape in a `tf.function`
            without `shape_invariants`.

    Example:
        >>> import tapejax as tf
        >>> start = (tf.constant(0), tf.constant(1.0))
        >>> i, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), start)
        >>> float(y)
        8.0

    References:
        https://www.tensorflow.org/api_docs/python/tf/while_loop
    """
    del parallel_iterations, back_prop, swap_memory, name
    for argument, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"'{argument}' must be callable.")
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    if LOCAL.recorder.symbolic is None and not is_staged(cond(*loop_vars)):
        return _python_while(cond, body, loop_vars, maximum_iterations)
    options = {"maximum_iterations": maximum_iterations, "shape_invariants": shape_invariants}
    return _staged_loop(callee(cond), callee(body), loop_vars, options)


def _python_while(
    cond: Callable[..., Any], body: Callable[..., Any], values: Any, maximum: Any
) -> Any:
    count = 0
    limit = None if maximum is None else int(maximum)
    structure = list(values)
    while (limit is None or count < limit) and bool(cond(*values)):
        values = body(*values)
        nest.assert_same_structure(structure, list(values), expand_composites=True)
        count += 1
    return as_tensors(values)


def _staged_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, options: Mapping[str, Any]
) -> Any:
    box = [as_tensors(value) for value in loop_vars]
    names = [f"loop_vars[{n}]" for n in range(len(box))]

    def write(values: Sequence[Any]) -> None:
        box[:] = values

    def iterate() -> None:
        set_loop_options(shape_invariants=options["shape_invariants"])
        result = body(*box)
        single = not isinstance(result, (list, tuple))
        after: list[Any] = [result] if single else list(result)  # pyright: ignore[reportUnknownArgumentType]
        if len(after) != len(box):
            raise ValueError(
                f"The number of values `body` returned, {len(after)}, is not that of the loop "
                f"variables, {len(box)}."
            )
        box[:] = as_tensors(after)

    state = State(names, lambda: tuple(box), write)
    staged_while(lambda: cond(*box), iterate, state, options["maximum_iterations"])
    return nest.pack_sequence_as(loop_vars, nest.flatten(box)) if loop_vars else loop_vars

"""`tf.einsum`: sums of products named by an equation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, SameList, op, public

_KEYWORDS = ("name", "optimize", "greedy")
_FORM = re.compile(r"^[A-Za-z,.]*(->[A-Za-z.]*)?$")


def _completed(equation: str) -> tuple[list[str], str]:
    """The subscripts of the inputs, and those of the output (inferred if not written)."""
    if not _FORM.match(equation):
        msg = f"Subscripts have incorrect format: {equation}. Use letters, ',', '->' and '...'."
        raise ValueError(msg)
    left, arrow, output = equation.partition("->")
    inputs = left.split(",")
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        once = sorted(letter for letter in set(letters) if letters.count(letter) == 1)
        output = ("..." if "..." in left else "") + "".join(once)
    labels = output.replace("...", "")
    if len(set(labels)) != len(labels):
        msg = f"Output subscripts contain a label appearing more than once: {equation}"
        raise ValueError(msg)
    for label in labels:
        if label not in left:
            msg = (
                f"Output subscripts contain the label {label} not present in the input subscripts."
            )
            raise ValueError(msg)
    return inputs, output


def _check_shapes(subscripts: Sequence[str], output: str, inputs: Sequence[Array]) -> None:
    sizes: dict[str, int] = {}
    broadcast = 0
    for place, (labels, x) in enumerate(zip(subscripts, inputs, strict=True)):
        before, dots, after = labels.partition("...")
        rank = len(before) + len(after)
        if x.ndim < rank or (x.ndim > rank and not dots):
            least = "at least " if dots else ""
            msg = f"Expected input {place} to have rank {least}{rank} but got: {x.ndim}"
            raise InvalidArgumentError(msg)
        broadcast = max(broadcast, x.ndim - rank)
        axes = [*range(len(before)), *range(x.ndim - len(after), x.ndim)]
        for label, axis in zip(before + after, axes, strict=True):
            expected = sizes.setdefault(label, x.shape[axis])
            if expected != x.shape[axis]:
                shape = ",".join(map(str, x.shape))
                msg = (
                    f"Expected dimension {expected} at axis {axis} of the input shaped [{shape}] "
                    f"but got dimension {x.shape[axis]} (label {label!r} of input {place})"
                )
                raise InvalidArgumentError(msg)
    if broadcast and "..." not in output:
        msg = (
            f"Output contains {broadcast} broadcasting dimension(s) but no ellipsis (...) was "
            "found in the output subscripts."
        )
        raise InvalidArgumentError(msg)


@op(
    "_einsum",
    node="Einsum",
    cases=(
        '"ij,jk->ik", [f32[2,3], f32[3,4]]',
        '"bij,bjk->bik", [f64[2,2,3], f64[2,3,1]]',
        '"...ij->...ji", [f32[2,2,3]]',
        '"ii->i", [f32[3,3]]',
        '"i,i->", [i32[3], i32[3]]',
        '"ab,b->a", [c64[2,3], c64[3]]',
    ),
)
def _einsum(equation: str, inputs: SameList, name: str | None = None) -> Array:
    """The sum of products of `inputs` that `equation` names."""
    subscripts, output = _completed(equation)
    _check_shapes(subscripts, output, inputs)
    return jnp.einsum(f"{','.join(subscripts)}->{output}", *inputs)


@public("einsum", "linalg.einsum")
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Sum of products over axes that are named by letters.

    Args:
        equation: Letters for the axes of each input, separated by commas, then `->` and the
            letters of the output; `...` stands for any leading axes that broadcast. Without
            `->` the output has the letters that occur once, in alphabetic order.
        *inputs: Tensors of one dtype, one for each group of letters.
        **kwargs: `name`, `optimize` and `greedy`; all ignored (the compiler chooses the order).

    Returns:
        The sums, in the dtype of the inputs.

    Raises:
        ValueError: The equation is malformed or names another number of inputs.
        TypeError: Another keyword.
        tf.errors.InvalidArgumentError: The inputs' shapes do not fit the equation.

    Example:
        >>> import tapejax as tf
        >>> a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> print(tf.einsum("ij,kj->ik", a, a).numpy())
        [[ 5. 11.]
         [11. 25.]]
    """
    unknown = [key for key in kwargs if key not in _KEYWORDS]
    if unknown:
        msg = (
            f"Invalid keyword arguments for einsum: {', '.join(unknown)}. Valid arguments: "
            f"{', '.join(_KEYWORDS)}."
        )
        raise TypeError(msg)
    equation = equation.replace(" ", "")
    expected = len(_completed(equation)[0])
    if len(inputs) != expected:
        msg = f'Got {len(inputs)} inputs for equation "{equation}", expecting {expected}'
        raise ValueError(msg)
    return _einsum(equation, list(inputs), kwargs.get("name"))

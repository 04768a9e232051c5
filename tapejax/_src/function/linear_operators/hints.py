"""What is known of an operator beforehand: hints of its user, combined and checked."""

from __future__ import annotations

from typing import Any

HINTS = ("is_square", "is_non_singular", "is_self_adjoint", "is_positive_definite")


def implied(
    non_singular: bool | None,
    self_adjoint: bool | None,
    positive_definite: bool | None,
    square: bool | None,
) -> tuple[bool | None, bool | None]:
    """What the hints imply: `(is_non_singular, is_square)`.

    Raises:
        ValueError: They contradict each other.
    """
    if positive_definite:
        if non_singular is False:
            raise ValueError("A positive definite matrix is always non-singular.")
        non_singular = True
    for holds, what in ((non_singular, "non-singular"), (self_adjoint, "self-adjoint")):
        if holds and square is False:
            raise ValueError(f"A {what} matrix is always square.")
        square = True if holds else square
    return non_singular, square


def inherited(operator: Any, given: dict[str, bool | None], relation: str) -> dict[str, Any]:
    """The hints of an operator that has those of another one: its own, or those given.

    Raises:
        ValueError: A hint contradicts that of the other operator.
    """
    found: dict[str, Any] = {}
    for name in HINTS:
        of_operator, hint = getattr(operator, name), given[name]
        if (of_operator is False and hint) or (of_operator and hint is False):
            word = name.removeprefix("is_").replace("_", "-")
            raise ValueError(f"An operator is {word} if and only if its {relation} is {word}.")
        either = of_operator or hint
        known = of_operator is False or hint is False
        found[name] = True if either else False if known else None
    return found


def of_all(
    operators: Any, given: dict[str, bool | None], names: tuple[str, ...], what: str
) -> dict[str, Any]:
    """Hints that hold for a combination if they hold for all its parts.

    Raises:
        ValueError: A hint is False where it must be True.
    """
    found = dict(given)
    for name in names:
        if not all(getattr(operator, name) for operator in operators):
            continue
        if given[name] is False:
            word = name.removeprefix("is_").replace("_", "-")
            raise ValueError(f"The {what} of {word} operators is always {word}.")
        found[name] = True
    return found


def of_product(left: Any, right: Any) -> dict[str, Any]:
    """The hints of the product of two operators that need not commute."""
    square = _square(left, right)
    if square is False:
        return {**dict.fromkeys(HINTS, False)}
    return {
        "is_square": square,
        "is_non_singular": _non_singular(left, right) if square else None,
        "is_self_adjoint": None,
        "is_positive_definite": None,
    }


def of_commuting(left: Any, right: Any) -> dict[str, Any]:
    """The hints of the product of two square operators that commute."""
    both = left.is_self_adjoint, right.is_self_adjoint
    self_adjoint = True if all(both) else False if sorted(map(repr, both)) == _ONE else None
    positive = left.is_positive_definite and right.is_positive_definite and all(both)
    return {
        "is_square": True,
        "is_non_singular": _non_singular(left, right),
        "is_self_adjoint": self_adjoint,
        "is_positive_definite": True if positive else None,
    }


_ONE = ["False", "True"]


def _non_singular(left: Any, right: Any) -> bool | None:
    if left.is_non_singular is False or right.is_non_singular is False:
        return False
    return left.is_non_singular and right.is_non_singular


def _square(left: Any, right: Any) -> bool | None:
    if left.is_square and right.is_square:
        return True
    if left.is_square is False and right.is_square is False:
        return bool(left.range_dimension == right.domain_dimension)
    return False

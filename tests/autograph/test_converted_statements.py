"""Converted statements do what Python does; their state is what it must be."""

from __future__ import annotations

import contextlib
import types
from typing import Any

import pytest

from autograph.checks import assert_same, defined, names_of
from autograph.python_operators import OPERATORS, Undefined, converted
from tapejax._src.function.autograph import conversion
from tapejax._src.function.autograph.source import CannotConvert

# ruff: noqa: B012, E731, F841, PLC0415, RET503, RET505
# pyright: reportIncompatibleMethodOverride=none, reportOptionalOperand=none
# pyright: reportRedeclaration=none, reportUnboundVariable=none, reportUndefinedVariable=none
# pyright: reportUnnecessaryComparison=none, reportUnusedVariable=none
# The functions under test are written as users write.


def test_loops_leave_an_iterator_where_python_leaves_it():
    def f(n):
        items = iter(range(10))
        for item in items:
            if item == n:
                break
        return next(items)

    assert_same(f, (3,), (0,), uses="for")


def test_while_may_bind_names_in_its_condition():
    def f(values):
        items, total = list(values), 0
        while (item := items.pop()) > 0 and len(items) > 0:
            if item == 3:
                continue
            if item == 7:
                break
            total += item
        else:
            total += 100
        return total, item

    assert_same(f, ([0, 1, 2],), ([0, 1, 2, 3],), ([1, 2],), ([1, 7, 2],), ([-1],), uses="while")


def test_a_condition_may_bind_a_name_in_its_first_operand():
    def f(x):
        if (y := x * 2) > 4 and y < 10:
            return y
        elif (z := y + 1) > 3:
            return z
        return y, z

    assert_same(f, (3,), (1,), (0,), (10,), uses="and")


def test_try_else_runs_only_if_the_body_did_not_return():
    def f(x):
        log = []
        for i in range(3):
            try:
                if x == i:
                    return log
                if x == i + 10:
                    raise KeyError(x)
                if x == i + 20:
                    continue
            except KeyError:
                log.append("except")
                if i == 2:
                    return log, "handled"
            else:
                log.append("else")
            finally:
                log.append("finally")
        return log, x

    assert_same(f, (0,), (2,), (10,), (12,), (21,), (5,))


def test_every_path_through_try_may_return():
    def f(x):
        while x > 0:
            try:
                if x > 5:
                    return 1 / (x - 7)
                else:
                    return x
            except ZeroDivisionError:
                return "zero"
        return "none"

    assert_same(f, (9,), (7,), (1,), (0,))


def test_a_handler_sees_what_was_assigned_before_the_error():
    def f(x):
        y = 0
        try:
            if x > 0:
                y = 1
            y = 10 // x + y
            while y < 100:
                y = abs(y) * 3 + 1
                if y > 50:
                    raise ValueError(y)
        except (ValueError, ZeroDivisionError) as error:
            return y, str(error)
        return y

    assert_same(f, (1,), (0,), (-1,), (3,))


def test_what_follows_with_runs_if_the_context_swallowed_the_error():
    def f(x):
        y = 0
        with contextlib.suppress(ZeroDivisionError):
            if x > 0:
                y = 5
                return 1 / (x - 1)
            y = 1 / x
            y = 7
        return "after", y

    assert_same(f, (1,), (0,), (2,), (-1,))


def test_a_return_in_finally_keeps_the_function_in_python():
    def f(x):
        for i in range(3):
            try:
                x = 1 / x
            finally:
                return i

    assert_same(f, (0,), (1,))
    with pytest.raises(CannotConvert, match="finally"):
        conversion.convert(f, OPERATORS)


def test_match_captures_names_in_a_loop():
    def f(items):
        total, rest, name = 0, None, None
        for item in items:
            match item:
                case [first, *rest] if first > 0:
                    total += first
                case {"name": name, **others}:
                    total += len(others)
                    continue
                case int() as number:
                    if number > 10:
                        return "big", total
                    total += number
                case None:
                    break
                case _:
                    return "unknown"
            total += 1000
        return total, rest, name

    assert_same(
        f,
        ([[1, 2, 3], {"name": "n", "a": 1}, 5],),
        ([[1], None, 5],),
        ([11],),
        (["text", 3],),
        ([[-1]],),
    )


def test_annotated_assignments_work_in_branches():
    def f(x):
        y: float
        if x > 0:
            y: float = x * 2.0
            z: Missing = 3  # noqa: F821
        else:
            y = 1.0
            z: int = 4
        return y, z

    assert_same(f, (1,), (-1,), uses="if")


def test_a_bare_annotation_makes_a_name_local():
    def f(x):
        above_three: int
        if x > 0:
            return above_three  # noqa: F821
        return 1

    assert_same(f, (-1,))
    with pytest.raises(NameError):
        converted(f)(1)


def test_declarations_imports_and_definitions_work_in_branches():
    def f(x):
        if x > 0:
            global chosen
            import math as m
            from os import path

            class Local:
                value = x

            def g():
                return Local.value

            chosen = "yes"
        else:
            chosen = "no"
            m = path = None

            def g():
                return chosen

        return g(), chosen, m is None, path is None

    assert_same(f, (1,), (-1,))


chosen = ""


def test_a_name_deleted_or_never_assigned_is_unbound():
    def deletes(x):
        y = x * 2
        if x > 0:
            z = y
            del y
            if x > 5:
                y = z + 1
        return y

    def assigns_once(x):
        if x > 0:
            r = x * 2
        return r

    assert_same(deletes, (9,), (-1,), (1,))
    assert_same(assigns_once, (1,), (-1,))
    with pytest.raises(UnboundLocalError):
        converted(assigns_once)(-1)


def test_attributes_items_and_unpacking_may_be_targets():
    def f(n):
        box = types.SimpleNamespace(n=0, inner=types.SimpleNamespace(items=[0, 0, 0]))
        pairs = [(0, [1, 2]), (1, [3, 4]), (2, [5, 6])]
        for box.n, (first, *box.rest) in pairs:
            box.inner.items[box.n] = first
            box.inner.items[-1] += n
            if first > n:
                del box.rest
                box.inner.extra = [first]
                break
        else:
            box.n = -1
        return box

    assert_same(f, (0,), (2,), (4,), (9,))


def test_a_generator_sees_later_values_of_a_name():
    def f(x):
        factor = 1
        products = (factor * i for i in [1, 2, 3] if i > 1 or not factor)
        if x > 0:
            factor = 10
        return list(products)

    assert_same(f, (1,), (-1,), uses="if")


def test_many_returns_in_a_row_are_converted():
    lines = ["def many(x):"]
    for i in range(60):
        lines += [f"    if x == {i}:", f"        return {i * i}"]
    function = defined("\n".join([*lines, "    return -1", ""]), "many")
    assert_same(function, (0,), (30,), (59,), (60,), uses="if")


# --------------------------------------------------------------------------------- state of blocks


def test_the_state_of_a_branch_is_what_it_changes_and_what_is_needed():
    def f(x):
        kept, read, unused = 1, 2, 3
        record, table = types.SimpleNamespace(a=1), {}
        if x > 0:
            kept = read
            read = read + 1
            unused = 5
            late = 6
            record.a = 2
            table["a"] = 3
        else:
            late = 7
        return kept, late, record, table

    assert names_of(f, "if_stmt") == [
        (("kept", "late", "read", "record.a", "table"), ("read",)),
    ]


def test_captured_names_are_always_state():
    def f(x):
        seen = 0
        look = lambda: seen
        if x > 0:
            seen = 1
        return look()

    assert names_of(f, "if_stmt") == [(("seen",), ())]


def test_the_state_of_a_loop_is_what_the_next_iteration_or_the_rest_needs():
    def f(n):
        total = last = 0
        for i in range(n):
            square = i * i
            total = total + square
            last = i
        return total, i

    assert names_of(f, "for_stmt") == [(("i", "total"),)]


def test_internal_names_can_be_told_from_the_users():
    def f(n):
        for i in range(n):
            while i < 10:
                if i > 3:
                    return i
                i += 1
                if i == 2:
                    if n > 3:
                        continue
                    i += 1
                if i == 7:
                    break
                i += 1
        return None

    names = {
        name
        for kind in ("for_stmt", "while_stmt", "if_stmt")
        for args in names_of(f, kind)
        for name in args[0]
    }
    internal = {name.rstrip("0123456789") for name in names if name.startswith("ag__")}
    assert internal == {"ag__return_value", "ag__did_return", "ag__break", "ag__skip"}
    assert {name for name in names if not name.startswith("ag__")} <= {"i", "n"}


def test_an_unbound_name_is_undefined_for_the_operators():
    states: list[Any] = []

    class Recording:
        def __getattr__(self, name: str) -> Any:
            return getattr(OPERATORS, name)

        def if_stmt(self, cond, body, orelse, get_state, set_state, names, dead):
            states.append(get_state())
            body()
            states.append(get_state())
            set_state((Undefined("y"),))

    def f(x):
        if x > 0:
            y = 1
        return y

    with pytest.raises(UnboundLocalError):
        conversion.convert(f, Recording())(1)
    assert isinstance(states[0][0], Undefined)
    assert states[0][0].name == "y"
    assert states[1] == (1,)

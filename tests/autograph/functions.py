"""Functions with control flow that a tensor may decide, each with arguments.

The arguments are numbers and arrays, so that a test can pass them as they are or as tensors.
Results are numbers, arrays, or tuples and lists of them.
"""

# ruff: noqa: SIM108, RET504
# These functions are written as users write, with every form of a statement once.

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np


def assigns_in_both_branches(x):
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y


def has_no_else(x):
    y = x
    if x > 0:
        y = y + 1
    return y


def returns_early(x):
    if x > 10:
        return x
    if x > 5:
        return x * 2
    return x * 3


def returns_from_a_nested_if(x):
    if x > 0:
        if x > 10:
            return x
        x = x + 1
    else:
        x = x - 1
    return x * 3


def chooses_with_elif(x):
    if x > 10:
        sign = 1.0
    elif x > 0:
        sign = 0.5
    elif x == 0:
        sign = 0.0
    else:
        sign = -1.0
    return sign * x


def halves_until_one(x):
    count = 0
    while x > 1:
        x = x / 2
        count += 1
    return x, count


def breaks_out_of_while(x):
    count = 0
    while count < 100:
        x = x * 1.1
        if x > 50:
            break
        count += 1
    return x, count


def loops_forever_but_for_break(x):
    count = 0
    while True:
        x = x * 1.1
        count += 1
        if x > 50:
            break
    return x, count


def continues_in_while(n):
    total = 0
    i = 0
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        total += i
    return total


def returns_from_for(x):
    for i in range(20):
        x = x * 1.5
        if x > 100:
            return x, i
    return -x, 99


def returns_from_while(x):
    while x < 1000:
        x = x * 1.5
        if x > 100:
            return x * 10
    return -x


def returns_from_nested_loops(n):
    for i in range(n):
        for j in range(n):
            if i * j > 10:
                return i * 100 + j
    return -1


def sums_squares(n):
    total = 0
    for i in range(n):
        total = total + i * i
    return total


def adds_by_sign(values):
    total = 0.0
    for value in values:
        if value > 0:
            total += value
        else:
            total -= 2 * value
    return total


def breaks_at_a_negative(values):
    total = 0.0
    for value in values:
        if value < 0:
            break
        total += value
    return total


def has_for_else(values):
    total = 0.0
    for value in values:
        if value < 0:
            continue
        total += value
        if total > 1000:
            break
    else:
        total += 0.5
    return total


def has_while_else(x):
    while x < 10:
        if x > 5:
            x = x + 3
            break
        x = x + 1
    else:
        x = x + 100
    return x


def enumerates(values):
    total = 0.0
    for i, value in enumerate(values):
        total += i * value
    return total


def zips(lefts, rights):
    total = 0.0
    for left, right in zip(lefts, rights, strict=False):
        total += left * right
    return total


def nests_loops(n):
    total = 0
    for i in range(n):
        for j in range(i):
            if (i + j) % 3 == 0:
                continue
            total += i * j
            if total > 500:
                break
    return total


def combines_conditions(x, y):
    if x > 0 and y > 0:
        return 1
    if x > 0 or y > 0:
        return 2
    if not x > -5:
        return 3
    return 4


def chains_comparisons(x):
    return 1 if 0 < x < 5 else 2


def uses_a_conditional_expression(x):
    return x * 2 if x > 0 else x / 2


def appends_to_a_list(values):
    results = []
    for value in values:
        results.append(value * 2)
    return results


def appends_twice_to_a_list(values):
    results = [values[0] * 0]
    product = 1.0
    for value in values:
        product = product * value
        results.append(product)
        results.append(product + 1)
    return results


def changes_a_dict(x):
    state = {"a": x, "b": x * 2}
    if x > 0:
        state["a"] = state["a"] + 1
    while state["b"] < 100:
        state["b"] = state["b"] * 3
    return state["a"], state["b"]


class Record:
    """An object with attributes."""

    value: Any
    count: Any


def changes_attributes(x):
    record = Record()
    record.value = x
    record.count = 0
    while record.value < 100:
        record.value = record.value * 2
        record.count = record.count + 1
    if record.count > 3:
        record.value = record.value + 0.5
    return record.value, record.count


def first_assigns_in_a_loop(n):
    for i in range(n):
        last = i * 2
    return last


def above_three(x):
    if x > 3:
        return x - 3
    return x


def calls_a_function(x):
    return above_three(above_three(x)) + above_three(-x)


def calls_itself(x, n=4):
    if n == 0:
        return x
    if x > 2:
        x = x / 2
    return calls_itself(x + 1, n - 1)


def defines_functions(x):
    def doubled_if_positive(z):
        if z > 0:
            return z * 2
        return z

    step = lambda z: z + 1 if z > 5 else z - 1  # noqa: E731
    return doubled_if_positive(x) + step(x) + doubled_if_positive(-x)


def changes_a_nonlocal(x):
    total = 0

    def add(value):
        nonlocal total
        if value > 0:
            total = total + value

    add(x)
    add(x * 2)
    add(-x)
    return total


def checks_for_none(x, weight=None):
    if weight is None:
        weight = 2.0
    if x > 0:
        return x * weight
    return x


def assigns_several(x):
    a = b = x
    if x > 0:
        a, b = b + 1, a - 1
    a, (c, *d) = x, (b, 1, 2)
    return a, b, c, d[0]


def assigns_in_place(x):
    value = x
    if x > 0:
        value += 3
    value *= 2
    return value


def has_finally(x):
    y = 0.0
    try:
        if x > 0:
            y = x * 2
    finally:
        y = y + 1
    return y


def returns_from_with(x):
    with contextlib.nullcontext():
        if x > 0:
            return x * 2
        x = x - 1
    return x


def matches(x, mode="square"):
    match mode:
        case "square":
            if x > 0:
                return x * x
            return -x
        case _:
            return x


def assigns_in_the_condition(x):
    if (y := x * 2) > 4:
        z = y
    else:
        z = y + 100
    return z


def uses_a_comprehension(values):
    return sum([above_three(value) for value in values])


def uses_min_and_max(x, y):
    return max(x, y) - min(x, y), abs(x)


def forgets_a_changed_name(x):
    t = x * 2
    if x > 0:
        t = t + 1
        r = t * 2
    else:
        r = t
    return r


def has_names_of_the_body_only(n):
    total = 0.0
    for _ in range(n):
        name = "abc"
        t = total + 1.0
        if t > 3:
            t = t * 1.5
        total = t + len(name)
    return total


def breaks_out_of_a_list(x):
    product = x
    for factor in [1, 2, 3, 4]:
        product = product * factor
        if product > 10:
            break
    return product


def mixes_python_and_value_conditions(x, training=True):
    for k in range(3):
        if training and k == 1:
            continue
        x = x + k
        if x > 100:
            return x
    return x * 2


def bisects(low, high):
    while high - low > 1e-3:
        middle = (low + high) / 2
        if middle * middle > 2:
            high = middle
        else:
            low = middle
    return low


def counts_collatz_steps(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def returns_for_none(x):
    if x is None:
        return 0
    y = x
    if y > 0:
        y = y * 2
    return y


def takes_any_number(*values, **options):
    total = 0.0
    for value in values:
        if value > 0:
            total += value
    return total


def has_a_keyword_default(x, *, factor=3):
    while x < factor * 10:
        x = x * factor
    return x


global_value: Any = 0.0


def changes_a_global(x):
    global global_value
    global_value = 1.0
    if x > 0:
        global_value = x * 1.0
    result = global_value
    global_value = 0.0
    return result


class Limited:
    """A callable object with a private attribute."""

    def __init__(self, limit):
        self.limit = limit
        self.__step = 5.0

    def __call__(self, x):
        if x > self.limit:
            return self.lowered(x)
        return x

    def lowered(self, x):
        y = x
        while y > self.limit:
            y = y - self.__step
        return y


class MoreLimited(Limited):
    """A subclass whose method calls the one it overrides."""

    def lowered(self, x):
        if x > 100:
            return super().lowered(x) + 1000
        return super().lowered(x)


# Two lambdas on one line, told apart by their columns.
# fmt: off
first_lambda, second_lambda = lambda x: x * 2 if x > 0 else x, lambda x: x * 3 if x > 0 else x - 1
# fmt: on

MIXED = np.array([1.0, -2.0, 3.0])

_ARGUMENTS: dict[Callable[..., Any], list[tuple[Any, ...]]] = {
    assigns_in_both_branches: [(3.0,), (-3.0,)],
    has_no_else: [(3.0,), (-3.0,)],
    returns_early: [(20.0,), (7.0,), (1.0,)],
    returns_from_a_nested_if: [(20.0,), (2.0,), (-1.0,)],
    chooses_with_elif: [(20.0,), (2.0,), (0.0,), (-1.0,)],
    halves_until_one: [(100.0,), (0.5,)],
    breaks_out_of_while: [(1.0,), (60.0,), (1e-9,)],
    loops_forever_but_for_break: [(1.0,), (60.0,)],
    continues_in_while: [(10,), (0,)],
    returns_from_for: [(1.0,), (1e-9,)],
    returns_from_while: [(1.0,), (5000.0,)],
    returns_from_nested_loops: [(6,), (3,)],
    sums_squares: [(5,), (0,)],
    adds_by_sign: [(MIXED,)],
    breaks_at_a_negative: [(np.array([1.0, 2.0, -3.0, 4.0]),), (np.array([1.0, 2.0]),)],
    has_for_else: [(MIXED,), (np.array([1.0, 2000.0, 3.0]),)],
    has_while_else: [(1.0,), (7.0,), (20.0,)],
    enumerates: [(MIXED,)],
    zips: [(MIXED, MIXED)],
    nests_loops: [(6,), (20,)],
    combines_conditions: [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-9.0, -9.0)],
    chains_comparisons: [(3.0,), (-1.0,), (9.0,)],
    uses_a_conditional_expression: [(3.0,), (-1.0,)],
    appends_to_a_list: [(MIXED,)],
    appends_twice_to_a_list: [(MIXED,)],
    changes_a_dict: [(3.0,)],
    changes_attributes: [(3.0,), (60.0,)],
    first_assigns_in_a_loop: [(4,)],
    calls_a_function: [(10.0,), (1.0,)],
    calls_itself: [(5.0,)],
    defines_functions: [(3.0,), (10.0,), (-3.0,)],
    changes_a_nonlocal: [(3.0,), (-3.0,)],
    checks_for_none: [(3.0,), (-3.0,)],
    assigns_several: [(3.0,), (-3.0,)],
    assigns_in_place: [(3.0,), (-3.0,)],
    has_finally: [(3.0,), (-3.0,)],
    returns_from_with: [(3.0,), (-3.0,)],
    matches: [(3.0,), (-3.0,)],
    assigns_in_the_condition: [(3.0,), (1.0,)],
    uses_a_comprehension: [(np.array([1.0, 5.0, 3.0]),)],
    uses_min_and_max: [(3.0, 4.0)],
    forgets_a_changed_name: [(3.0,), (-3.0,)],
    has_names_of_the_body_only: [(4,)],
    breaks_out_of_a_list: [(1.0,), (9.0,)],
    mixes_python_and_value_conditions: [(1.0,), (200.0,)],
    bisects: [(0.0, 2.0)],
    counts_collatz_steps: [(27,)],
    returns_for_none: [(3.0,), (-3.0,)],
    takes_any_number: [(1.0, -2.0, 3.0)],
    has_a_keyword_default: [(1.0,)],
    changes_a_global: [(3.0,), (-3.0,)],
    Limited(4.0): [(30.0,), (1.0,)],
    MoreLimited(4.0): [(30.0,), (200.0,)],
    first_lambda: [(3.0,)],
    second_lambda: [(-3.0,), (3.0,)],
}

CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (function, arguments)
    for function, argument_lists in _ARGUMENTS.items()
    for arguments in argument_lists
]

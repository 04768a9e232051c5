"""Converted closures, classes, lambdas, calls and expressions do what Python does."""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import pytest

from autograph.checks import assert_same, outcome
from autograph.functions import above_three
from autograph.python_operators import CALLS, OPERATORS, RAISED, converted
from tapejax._src.function.autograph import conversion
from tapejax._src.function.autograph.source import CannotConvert

# ruff: noqa: B023, E731, RUF021, UP008
# pyright: reportIncompatibleMethodOverride=none, reportOptionalOperand=none
# pyright: reportRedeclaration=none, reportUnboundVariable=none, reportUndefinedVariable=none
# pyright: reportUnnecessaryComparison=none, reportUnusedVariable=none
# The functions under test are written as users write.


# --------------------------------------------------------------------------- scopes and functions


def test_closures_share_their_variables_with_converted_code():
    def counter():
        count = 0

        def add(n):
            nonlocal count
            for i in range(n):
                if i % 2 == 0:
                    count += 1
            return count

        return add, lambda: count

    add, count = counter()
    assert converted(add)(5) == 3
    assert count() == 3
    assert converted(add)(3) == 5
    assert converted(count)() == 5


def test_inner_functions_see_and_change_the_variables_of_a_loop():
    def f(n):
        total, steps = 0, []
        for i in range(n):

            def add(k=i):
                nonlocal total
                if k > 1:
                    total += i * k
                return total

            def delayed():
                return i, total

            steps.append(delayed)
            add()
        return total, [step() for step in steps]

    assert_same(f, (5,), (0,), uses="for")


def _triple(x):
    return 3 * x if x > 0 else x


class Base:
    """Methods with everything that the compiler treats apart in a class."""

    __scale = 2

    def __init__(self, n):
        self.__n = n
        self.items = []

    def method(self, x):
        __local = x
        if x > 0:
            __local = self.__double(x) + Base.__scale
            self.__n += 1
        while self.__n < 5:
            self.__n += __local if __local > 0 else 1
        return self.__n, __local, __class__.__name__

    def __double(self, x):
        return x * self.__scale if x > 0 else -x

    def nested(self, x):
        def inner(self, y):
            if y > 0:
                return self.__n + y, super().__init__
            return self.__double(y)

        return inner(self, x)[:1] if x > 0 else inner(self, x)

    @staticmethod
    def static(x):
        return Base.__scale if x > 0 else x

    @classmethod
    def create(cls, x):
        if x > 0:
            return cls(x).method(x)
        return super().__name__ if x < -5 else cls.static(x)

    @property
    def twice(self):
        return self.__n * 2 if self.__n > 0 else 0

    def __call__(self, x):
        return self.method(x) if x > 0 else self.twice


class Derived(Base):
    """A subclass that calls its base in every way."""

    def __init__(self, n):
        super().__init__(n)

    def method(self, x):
        for i in range(3):
            if i == x:
                return super().method(x), super(Derived, self).method(-x)
        return Base.method(self, x)

    def nested(self, x):
        steps = [lambda me: super(Derived, me).nested(x) if x > 0 else None]
        return steps[0](self) or super().nested(x)


@pytest.mark.parametrize("kind", [Base, Derived])
@pytest.mark.parametrize("name", ["method", "nested", "static", "create", "__call__"])
def test_methods_keep_private_names_and_super(kind, name):
    method = getattr(kind(1), name)
    assert conversion.convertible(getattr(method, "__func__", method))
    for x in (1, 2, -1, -9):
        assert outcome(converted(getattr(kind(1), name)), x) == outcome(getattr(kind(1), name), x)


def test_a_class_inside_a_function_keeps_its_closure_and_name():
    def f(x):
        offset = 10

        class Inner(Base):
            """Its methods are converted when they are called."""

            def method(self, y):
                if y > 0:
                    return super().method(y), offset
                return Inner.__qualname__

        offset = 20 if x > 5 else 30
        return Inner(1).method(x), Inner.__qualname__, Inner.method.__qualname__

    assert_same(f, (1,), (9,), (-1,))


def test_lambdas_are_told_apart():
    # fmt: off
    a, b = lambda x: x if x > 0 else 1, lambda x: x if x > 0 else 2
    c = lambda y: (lambda x: x if x > y else 3) if y is not None else lambda x: -x if x else 1
    # fmt: on
    for function in (a, b, c(0), c(5), c(None)):
        assert_same(function, (4,), (-4,), uses="if_exp")
    assert converted(c)(1)(0) == 3
    assert_same(lambda x, k=lambda z: z * 3 if z > 0 else z: k(x), (2,), (-2,))


def test_defaults_decorators_and_keywords_are_kept():
    def doubled(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return 2 * function(*args, **kwargs) if args else None

        return wrapper

    @doubled
    def f(a, /, b=2, *rest, c=3, d, **others):
        if a > b:
            return a + sum(rest) + c + d
        return len(others)

    twin = converted(f)
    for args, kwargs in [
        ((5,), {"d": 1}),
        ((5, 1, 7, 8), {"c": 0, "d": 1, "e": 2}),
        ((0,), {"d": 1}),
    ]:
        assert twin(*args, **kwargs) == f(*args, **kwargs)
    with pytest.raises(TypeError, match="d"):
        twin(1)

    def inner(x):
        @doubled
        def g(y=x if x > 0 else 7):
            return y if y > 3 else -y

        return g(x), g.__name__, g.__qualname__

    assert_same(inner, (1,), (8,), (-1,))


def test_a_function_keeps_its_name_attributes_and_docstring():
    def f(x):
        """Says something."""
        return x if x > 0 else None

    f.mark = object()
    twin = converted(f)
    assert (twin.__name__, twin.__qualname__, twin.__module__) == (
        f.__name__,
        f.__qualname__,
        f.__module__,
    )
    assert twin.__doc__ == "Says something."
    assert twin.mark is f.mark


def test_inner_functions_keep_their_names():
    def f(x):
        if x > 0:

            def g():
                return (lambda: 0), (x and (lambda: 1))

            return [function.__qualname__ for function in (g, *g())]
        return None

    assert_same(f, (1,))


def test_generators_and_coroutines_run_as_they_are():
    def generator(x):
        if x > 0:
            yield x

    async def coroutine(x):
        return x if x > 0 else 0

    for function in (generator, coroutine):
        assert not conversion.convertible(function)
        with pytest.raises(CannotConvert, match="generators"):
            conversion.convert(function, OPERATORS)

    def f(x):
        def inner(n):
            while n > 0:
                yield n
                n -= 1

        return sum(value for value in inner(x)) + sum(generator(x))

    assert_same(f, (4,), (-1,))


def test_builtins_that_a_function_hides_are_its_own():
    def f(x, len=lambda value: value + 1 if value > 0 else 0):
        def setattr(value):
            return value * 3 if value > 0 else value

        return len(x), setattr(x)

    assert_same(f, (1,), (-1,), uses="if_exp")


# ------------------------------------------------------------------------------------ expressions


def test_comparisons_and_membership_go_to_the_operators():
    def f(x):
        inside = x in (1, 2), x not in (1, 2), x in (None,)
        return inside, 0 < x <= 5 != 3, x is None is None, "a" in ("a" if x > 0 else "b")

    assert_same(f, (1,), (7,), (0,), uses="compare")
    assert CALLS["contains"] == 9


def test_operands_are_evaluated_once_in_order_and_only_as_needed():
    def f(x):
        log = []

        def note(value):
            log.append(value)
            return value

        results = [
            note(x) and note(2) and note(0) or note(4),
            note(1) < note(x) < note(3),
            note(5) if note(x) else note(6),
            not note(x),
        ]
        return results, log

    assert_same(f, (0,), (2,), (9,))


def test_assert_evaluates_its_message_only_if_it_fails():
    log: list[str] = []

    def message():
        log.append("asked")
        return "wrong"

    def f(x):
        assert x > 0
        assert x > 5, message()
        return x

    twin = conversion.convert(f, OPERATORS)
    assert twin(6) == 6
    assert not log
    with pytest.raises(AssertionError, match="wrong"):
        twin(1)
    with pytest.raises(AssertionError):
        twin(-1)


def test_raise_is_marked_inside_blocks_only():
    def f(x):
        if x > 0:
            raise ValueError("in branch") from KeyError(x)
        for _ in range(1):
            if x == 0:
                try:
                    raise ValueError("in loop")
                except ValueError:
                    raise
        raise LookupError("after")

    def plain(x):
        with contextlib.nullcontext():
            raise LookupError(x)

    RAISED.clear()
    for x, marked in ((1, "in branch"), (0, "in loop"), (-1, "after")):
        with pytest.raises((ValueError, LookupError), match=marked):
            converted(f)(x)
    with pytest.raises(LookupError):
        converted(plain)(1)
    assert [str(error) for error in RAISED] == ["in branch", "in loop"]
    with pytest.raises(ValueError, match="in branch") as caught:
        converted(f)(1)
    assert isinstance(caught.value.__cause__, KeyError)


def test_calls_of_library_modules_and_plain_builtins_stay():
    def f(x):
        y = np.linalg.norm(np.asarray([x]))
        if isinstance(y, float):
            return ValueError(y), np.random.default_rng(0).integers(3), len([x]), above_three(x)
        return None

    code = conversion.to_code(f)
    for kept in ("np.linalg.norm(", "np.asarray(", "isinstance(", "ValueError("):
        assert kept in code
        assert f"callee({kept[:-1]})" not in code
    for wrapped in ("len", "above_three", "np.random.default_rng(0).integers"):
        assert f"callee({wrapped})" in code
    assert_same(f, (3,))


def test_operators_may_ask_to_see_calls_of_functions_that_take_functions():
    def f(x):
        return functools.reduce(above_three, [x]), functools.partial(above_three, x)

    class Asking:
        @staticmethod
        def takes_functions(function):
            return function is functools.reduce

    assert "callee(functools" not in conversion.to_code(f)
    assert "callee(functools.reduce)" in conversion.to_code(f, Asking())
    assert "callee(functools.partial)" not in conversion.to_code(f, Asking())


def test_formatted_strings_keep_their_calls():
    def f(x):
        return f"""{above_three(x) if x > 0 else -x:>{len("abc")}}
            {x and f"{above_three(x)!r}"}"""

    assert_same(f, (5,), (0,), (-5,), uses="callee")

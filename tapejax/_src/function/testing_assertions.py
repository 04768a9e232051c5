"""Assertions about containers and text, as users of `tf.test.TestCase` know them from absl."""

from __future__ import annotations

import contextlib
import json
import re
import unittest
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from typing import Any, NoReturn


class ContainerAssertions(unittest.TestCase):
    """`unittest.TestCase` with assertions about containers and text."""

    def assertLen(self, container: Any, expected_len: int, msg: Any = None) -> None:
        """Check the length of a container."""
        if len(container) != expected_len:
            text = f"{container!r} has length of {len(container)}, expected {expected_len}."
            self.fail(self._formatMessage(msg, text))

    def assertEmpty(self, container: Collection[Any], msg: Any = None) -> None:
        """Check that a container has no elements."""
        if len(container):
            self.fail(self._formatMessage(msg, f"{container!r} has length of {len(container)}."))

    def assertNotEmpty(self, container: Collection[Any], msg: Any = None) -> None:
        """Check that a container has elements."""
        if not len(container):
            self.fail(self._formatMessage(msg, f"{container!r} has length of 0."))

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: Any = None) -> None:
        """Check that `minv <= value <= maxv`."""
        if not minv <= value <= maxv:
            text = f'"{value!r}" unexpectedly not between "{minv!r}" and "{maxv!r}"'
            self.fail(self._formatMessage(msg, text))

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: Any = None) -> None:
        """Check how a text begins."""
        if not actual.startswith(expected_start):
            text = f"{actual!r} does not start with {expected_start!r}"
            self.fail(self._formatMessage(msg, text))

    def assertNotStartsWith(self, actual: Any, unexpected_start: Any, msg: Any = None) -> None:
        """Check how a text does not begin."""
        if actual.startswith(unexpected_start):
            text = f"{actual!r} does start with {unexpected_start!r}"
            self.fail(self._formatMessage(msg, text))

    def assertEndsWith(self, actual: Any, expected_end: Any, msg: Any = None) -> None:
        """Check how a text ends."""
        if not actual.endswith(expected_end):
            text = f"{actual!r} does not end with {expected_end!r}"
            self.fail(self._formatMessage(msg, text))

    def assertNotEndsWith(self, actual: Any, unexpected_end: Any, msg: Any = None) -> None:
        """Check how a text does not end."""
        if actual.endswith(unexpected_end):
            text = f"{actual!r} does end with {unexpected_end!r}"
            self.fail(self._formatMessage(msg, text))

    def assertItemsEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        """Check that two sequences have the same elements, in any order."""
        self.assertCountEqual(first, second, msg)

    def assertSameElements(self, expected_seq: Any, actual_seq: Any, msg: Any = None) -> None:
        """Check that two sequences have the same elements, in any order and number."""
        missing = [item for item in expected_seq if item not in actual_seq]
        more = [item for item in actual_seq if item not in expected_seq]
        if missing or more:
            text = f"Expected, but missing: {missing!r}. Unexpected, but present: {more!r}."
            self.fail(self._formatMessage(msg, text))

    def assertContainsSubset(self, expected_subset: Any, actual_set: Any, msg: Any = None) -> None:
        """Check that each element of the first is one of the second."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            text = f"Missing elements {missing}. Expected: {expected_subset}. Actual: {actual_set}"
            self.fail(self._formatMessage(msg, text))

    def assertNoCommonElements(self, expected_seq: Any, actual_seq: Any, msg: Any = None) -> None:
        """Check that two sequences share nothing."""
        common = set(expected_seq) & set(actual_seq)
        if common:
            self.fail(self._formatMessage(msg, f"Common elements {common}."))

    def assertSequenceStartsWith(self, prefix: Any, whole: Any, msg: Any = None) -> None:
        """Check how a sequence begins."""
        start = [prefix] if isinstance(prefix, str) else list(prefix)
        self.assertEqual(list(whole)[: len(start)], start, msg)

    def assertContainsInOrder(self, strings: Iterable[str], target: str, msg: Any = None) -> None:
        """Check that texts are found in another, one after the other."""
        place = 0
        for text in [strings] if isinstance(strings, str) else strings:
            found = target.find(text, place)
            if found < 0:
                said = f"Did not find {text!r} after position {place} of {target!r}"
                self.fail(self._formatMessage(msg, said))
            place = found + len(text)

    def assertContainsSubsequence(self, container: Any, subsequence: Any, msg: Any = None) -> None:
        """Check that elements are found in a container in this order."""
        items = iter(container)
        for wanted in subsequence:
            if not any(item == wanted for item in items):
                text = f"{subsequence!r} not a subsequence of {container!r}: no {wanted!r}"
                self.fail(self._formatMessage(msg, text))

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Sequence[Any],
        actual_seq: Sequence[Any],
        places: int | None = None,
        msg: Any = None,
        delta: Any = None,
    ) -> None:
        """Check that the numbers of two sequences are almost equal."""
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for expected, actual in zip(expected_seq, actual_seq, strict=True):
            self.assertAlmostEqual(expected, actual, places, msg, delta)

    def assertDictAlmostEqual(
        self,
        a: Mapping[Any, Any],
        b: Mapping[Any, Any],
        places: int | None = None,
        msg: Any = None,
        delta: Any = None,
    ) -> None:
        """Check that the numbers of two dicts are almost equal."""
        self.assertEqual(set(a), set(b), msg)
        for key in a:
            self.assertAlmostEqual(a[key], b[key], places, msg, delta)

    def assertIsSubclass(self, cls: Any, superclass: Any, msg: Any = None) -> None:
        """Check that a class is derived from another."""
        if not issubclass(cls, superclass):
            text = f"{cls!r} is not a subclass of {superclass!r}"
            self.fail(self._formatMessage(msg, text))

    def assertNotIsSubclass(self, cls: Any, superclass: Any, msg: Any = None) -> None:
        """Check that a class is not derived from another."""
        if issubclass(cls, superclass):
            text = f"{cls!r} is a subclass of {superclass!r}"
            self.fail(self._formatMessage(msg, text))

    def assertJsonEqual(self, first: str, second: str, msg: Any = None) -> None:
        """Check that two texts are the same JSON."""
        self.assertEqual(json.loads(first), json.loads(second), msg)

    def assertRegexMatch(self, actual_str: Any, regexes: Any, message: Any = None) -> None:
        """Check that a text matches one of some regular expressions."""
        if not any(re.search(regex, actual_str) for regex in regexes):
            self.fail(self._formatMessage(message, f"{actual_str!r} does not match {regexes!r}"))

    def assertMappingEqual(
        self,
        a: Any,
        b: Any,
        msg: Any = None,
        mapping_type: Any = Mapping,
        check_values_equality: Callable[[Any, Any], bool] = lambda a, b: a == b,
    ) -> None:
        """Check that two mappings have equal keys and values."""
        self.assertIsInstance(a, mapping_type, msg)
        self.assertIsInstance(b, mapping_type, msg)
        self.assertEqual(set(a), set(b), msg)
        for key in a:
            if not check_values_equality(a[key], b[key]):
                text = f"values of {key!r}: {a[key]!r} and {b[key]!r}"
                self.fail(self._formatMessage(msg, text))

    def assertDictEqual(  # pyright: ignore[reportIncompatibleMethodOverride]  TensorFlow's names
        self, a: Any, b: Any, msg: Any = None
    ) -> None:
        """Check that two dicts are equal."""
        super().assertDictEqual(a, b, msg)

    def assertMultiLineEqual(self, first: str, second: str, msg: Any = None, **kwargs: Any) -> None:
        """Check that two texts are equal."""
        del kwargs
        super().assertMultiLineEqual(first, second, msg)

    def fail(self, msg: Any = None, user_msg: Any = None) -> NoReturn:
        """Fail with a text, and one of the user's."""
        super().fail(" ".join(str(text) for text in (msg, user_msg) if text is not None) or None)

    # ------------------------------------------------------------------ errors
    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: str | Callable[[Any], bool]
    ) -> Generator[None]:
        """Check that a block raises an error whose text matches, or that fulfils a predicate."""
        try:
            yield
        except exception_type as error:
            wanted = expected_err_re_or_predicate
            fits = wanted(error) if callable(wanted) else re.search(wanted, str(error))
            if not fits:
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
            return
        self.fail(f"{exception_type} not raised")

    def assertRaisesRegexp(
        self, expected_exception: Any, expected_regex: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """The old name of `assertRaisesRegex`."""
        return self.assertRaisesRegex(expected_exception, expected_regex, *args, **kwargs)

    def assertRaisesWithLiteralMatch(
        self,
        expected_exception: Any,
        expected_exception_message: str,
        callable_obj: Callable[..., Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Check that a call or a block raises an error with exactly this text."""

        def fits(error: BaseException) -> bool:
            return str(error) == expected_exception_message

        block = self.assertRaisesWithPredicateMatch(expected_exception, fits)
        if callable_obj is None:
            return block
        with block:
            callable_obj(*args, **kwargs)
        return None

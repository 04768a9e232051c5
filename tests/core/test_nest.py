"""`tf.nest` against TensorFlow's: one expression, both libraries."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow

from tapejax._src.core import nest
from tapejax._src.core.shapes import TensorShape


class Pair(NamedTuple):
    """A named tuple."""

    a: Any
    b: Any


class Frozen(Mapping[Any, Any]):
    """A mapping that cannot be changed."""

    def __init__(self, items: Any) -> None:
        self.items_ = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self.items_[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items_)

    def __len__(self) -> int:
        return len(self.items_)

    def __repr__(self) -> str:
        return f"Frozen({self.items_})"


class Listed(list[Any]):
    """A list of the user's."""


class Tupled(tuple[Any, ...]):
    """A tuple of the user's."""

    __slots__ = ()


class Titled(dict[Any, Any]):
    """A dict of the user's."""


class Boxed:
    """A class that says how it is taken apart."""

    def __init__(self, value: Any, label: str) -> None:
        self.value, self.label = value, label

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.label, (self.value,)

    @classmethod
    def __tf_unflatten__(cls, label: Any, components: tuple[Any, ...]) -> Boxed:
        return cls(components[0], label)


class Attributed:
    """Looks like a class made by attrs."""

    __attrs_attrs__ = (types.SimpleNamespace(name="x"), types.SimpleNamespace(name="y"))

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


SHARED = {
    "collections": collections,
    "types": types,
    "np": np,
    "Pair": Pair,
    "Other": NamedTuple("Other", [("a", Any), ("b", Any)]),
    "Twin": NamedTuple("Pair", [("a", Any), ("b", Any)]),
    "Frozen": Frozen,
    "Listed": Listed,
    "Tupled": Tupled,
    "Titled": Titled,
    "OD": collections.OrderedDict,
    "DD": collections.defaultdict,
    "inc": lambda x: x + 1,
    "add": lambda x, y: x + y,
}

EXPRESSIONS = """
flatten(1); flatten(None); flatten([1, [2, (3,)]]); flatten({'b': 1, 'a': 2}); flatten({2: 1, 1: 2})
flatten({1, 2}); flatten('ab'); flatten(b'ab'); flatten(np.array([1, 2])); flatten(Pair(1, [2]))
flatten(Frozen({'b': 1, 'a': 2})); flatten(Listed([1, 2])); flatten(Tupled((1, 2)))
flatten(Titled(b=1, a=2)); flatten(collections.UserDict({'b': 1, 'a': 2}))
flatten(collections.UserList([1, 2])); flatten(OD([('b', 1), ('a', 2)])); flatten(range(3))
flatten(types.MappingProxyType({'b': 1, 'a': 2})); flatten({}.values()); flatten({1: 2}.values())
flatten({'a': {'c': 1, 'b': 2}}.items()); flatten(OD(b=1, a=2).keys()); flatten([]); flatten({})
flatten(collections.deque([1, 2])); flatten([None, 1]); flatten(bytearray(b'a'))
flatten(frozenset([1])); flatten(memoryview(b'ab')); flatten(1, True); flatten([[1]], True)
flatten(DD(int, b=1, a=2)); flatten([(), [], {}, [[]]]); flatten({'a': None, 'b': [None]})
map_structure(inc, {'b': 1, 'a': 2}); map_structure(inc, OD([('b', 1), ('a', 2)]))
map_structure(inc, DD(int, b=1, a=2)); map_structure(inc, Pair(1, 2))
map_structure(inc, Listed([1, 2])); type(map_structure(inc, Listed([1, 2])))
type(map_structure(inc, Tupled((1, 2)))); type(map_structure(inc, Titled(b=1, a=2)))
map_structure(inc, collections.UserDict({'b': 1})); map_structure(inc, collections.UserList([1]))
type(map_structure(inc, collections.UserDict({'b': 1}))); map_structure(inc, 1)
type(map_structure(inc, collections.UserList([1]))); map_structure(inc, []); map_structure(inc, {})
map_structure(inc, range(3)); map_structure(inc, types.MappingProxyType({'b': 1}))
map_structure(inc, collections.deque([1, 2])); map_structure(inc, {1: 2}.values())
map_structure(inc); map_structure(1, [1]); map_structure(inc, [1], foo=1)
map_structure(inc, [1], expand_composites=True); map_structure(inc, {1, 2})
map_structure(add, [1], (2,)); map_structure(add, [1], (2,), check_types=False)
map_structure(add, {'a': 1}, {'b': 1}); map_structure(add, {'a': 1}, {'b': 1}, check_types=False)
map_structure(add, [1], [[2]]); map_structure(add, [1, 2], [1]); map_structure(add, 1, 2)
map_structure(add, Pair(1, 2), Other(1, 2)); map_structure(add, Pair(1, 2), Twin(1, 2))
map_structure(add, Pair(1, 2), (1, 2)); map_structure(add, {'a': 1, 'b': 2}, OD(b=1, a=2))
map_structure(add, OD(b=1, a=2), {'a': 1, 'b': 2}); map_structure(add, Listed([1]), [1])
map_structure(add, DD(int, a=1), {'a': 1}); map_structure(lambda x, y: (x, y), [None], [1])
map_structure(lambda x: x, {'a': None}); map_structure(add, {'a': 1}, [1])
pack_sequence_as([1, [2]], [3, 4]); pack_sequence_as(1, [2]); pack_sequence_as(1, [2, 3])
pack_sequence_as([1, 2], [1]); pack_sequence_as([1], [1, 2])
pack_sequence_as({'b': 0, 'a': 0}, [1, 2])
pack_sequence_as({'a': 0}, (1,)); pack_sequence_as([], []); pack_sequence_as([], [1])
pack_sequence_as([0, 0], range(2)); pack_sequence_as(None, [1]); pack_sequence_as('ab', [1])
pack_sequence_as(Pair(0, (0,)), [1, 2]); pack_sequence_as([0, [1, 2]], [1, 2])
pack_sequence_as([1, 2], [[1], [2]]); pack_sequence_as({'a': [1, 2]}, [5]); pack_sequence_as(1, [])
pack_sequence_as(OD(b=0, a=0), [1, 2]); pack_sequence_as(DD(int, b=0, a=0), [1, 2])
pack_sequence_as([1], 2); pack_sequence_as(1, 2); pack_sequence_as([1, 2], 'ab')
pack_sequence_as([0, 0], np.array([1, 2]))
assert_same_structure([1], [2]); assert_same_structure([1], (2,)); assert_same_structure(1, [1])
assert_same_structure([1], (2,), check_types=False); assert_same_structure([1], 1)
assert_same_structure([1, 2], [1]); assert_same_structure({'a': 1}, {'b': 1})
assert_same_structure({'a': 1}, {'a': [1]}); assert_same_structure([1], [[1]])
assert_same_structure([[1]], [1]); assert_same_structure({'a': 1}, {'b': 1}, False)
assert_same_structure(Pair(1, 2), Other(1, 2)); assert_same_structure(Pair(1, 2), Twin(3, 4))
assert_same_structure(Pair(1, 2), (1, 2)); assert_same_structure(Pair(1, 2), (1, 2), False)
assert_same_structure({'a': 1}, OD(a=1)); assert_same_structure([1], Listed([1]))
assert_same_structure(None, 1); assert_same_structure(None, [1]); assert_same_structure('ab', 'c')
assert_same_structure({'a': 1, 'b': 1}, {'a': 1}); assert_same_structure([[1, 2], 3], [[1], 2])
assert_same_structure([1, [2, [3]]], [1, [2, (3,)]]); assert_same_structure([], ())
assert_same_structure({}, []); assert_same_structure({}, [], False); assert_same_structure([], [])
assert_same_structure([1], {'a': 1}, False); assert_same_structure([np.zeros(2)], [1])
assert_same_structure({'a': [1]}, {'a': (1,)}); assert_same_structure(Frozen({'a': 1}), {'a': 1})
assert_same_structure({'a': 1, 'b': (1,)}, {'b': (1,), 'a': 1})
assert_same_structure(1, [1], True, True)
assert_same_structure(DD(int, a=1), OD(a=1)); assert_same_structure(Tupled((1,)), (1,))
assert_same_structure([{'a': 1}], [{'a': 1, 'c': 2}]); assert_same_structure([1] * 30, [1] * 29)
assert_same_structure(({'a': 1}, [2]), ({'b': 1}, [2]))
assert_same_structure([1, [2], 3], [1, (2,)])
assert_same_structure(collections.deque([1]), [1]); assert_same_structure(range(1), [1])
is_nested([1]); is_nested(1); is_nested('a'); is_nested({1}); is_nested({}); is_nested(np.zeros(1))
is_nested(None); is_nested(Pair(1, 2)); is_nested(range(1)); is_nested(Frozen({})); is_nested(b'a')
is_nested(x for x in [1]); is_nested(collections.deque()); is_nested({}.values())
is_nested(bytearray()); is_nested(memoryview(b'a')); is_nested({}.items()); is_nested({}.keys())
is_nested(collections.UserList([1])); is_nested(object()); is_nested(list)
""".replace("\n", ";").split(";")


def theirs(name: str) -> Callable[..., Any]:
    return getattr(tensorflow.nest, name)


FUNCTIONS = ("flatten", "map_structure", "pack_sequence_as", "assert_same_structure", "is_nested")


@pytest.mark.parametrize("expression", [text.strip() for text in EXPRESSIONS if text.strip()])
def test_an_expression_gives_what_tensorflow_gives(expression: str, outcome: Any) -> None:
    in_tensorflow = {**SHARED, **{name: theirs(name) for name in FUNCTIONS}}
    in_ours = {**SHARED, **{name: getattr(nest, name) for name in FUNCTIONS}}
    ours = outcome(lambda: eval(expression, in_ours))
    assert ours == outcome(lambda: eval(expression, in_tensorflow))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 2], [1]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1, "b": [1]}, {"a": [1], "b": [1]}),
        ([[1, 2], 3], [[1], 2]),
        (None, [1]),
    ],
    ids=repr,
)
def test_the_difference_is_described_in_tensorflows_words(first: Any, second: Any) -> None:
    with pytest.raises(ValueError, match="don't have the same nested structure") as expected:
        tensorflow.nest.assert_same_structure(first, second)
    with pytest.raises(ValueError, match="don't have the same nested structure") as ours:
        nest.assert_same_structure(first, second)
    assert str(ours.value) == str(expected.value)


def test_a_difference_of_types_names_both_types() -> None:
    with pytest.raises(TypeError, match=r"has type list, while second structure .* has type tuple"):
        nest.assert_same_structure([1, [2, [3]]], [1, [2, (3,)]])


def test_keys_that_cannot_be_sorted_are_refused() -> None:
    with pytest.raises(TypeError, match=r"keys \[1, 'a'\].*cannot be sorted.*Use keys of one type"):
        nest.flatten({1: 1, "a": 2})


def test_a_dict_is_no_flat_sequence() -> None:
    with pytest.raises(TypeError, match="Pass a list of leaves"):
        nest.pack_sequence_as([0, 0], {"a": 1, "b": 2})  # pyright: ignore[reportArgumentType]


def test_leaves_are_visited_in_the_order_of_sorted_keys() -> None:
    visited: list[int] = []
    result = nest.map_structure(lambda x: visited.append(x) or -x, {"b": [1], "a": 2})
    assert visited == [2, 1]
    assert list(result.items()) == [("b", [-1]), ("a", -2)]


def test_a_frozen_mapping_is_rebuilt_with_its_order() -> None:
    result = nest.map_structure(lambda x: x + 1, Frozen({"b": 1, "a": 2}))
    assert type(result) is Frozen
    assert list(result.items()) == [("b", 2), ("a", 3)]


def test_classes_made_by_attrs_are_containers() -> None:
    result = nest.map_structure(lambda x: x * 10, Attributed([1], 2))
    assert type(result) is Attributed
    assert (result.x, result.y) == ([10], 20)
    assert nest.flatten(result) == [10, 20]


def test_classes_may_say_how_they_are_taken_apart() -> None:
    result = nest.map_structure(lambda x: x * 10, [Boxed((1, 2), "label")])
    assert nest.flatten(result) == [10, 20]
    assert (result[0].value, result[0].label) == ((10, 20), "label")


def test_shapes_are_leaves() -> None:
    assert nest.flatten([TensorShape([1, 2])]) == [TensorShape([1, 2])]


def test_composites_are_leaves_unless_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slices:
        def __init__(self, *parts: Any) -> None:
            self.parts = parts

    monkeypatch.setattr(nest, "_COMPOSITES", {})
    nest.register_composite(Slices, lambda s: s.parts, lambda _, parts: Slices(*parts))
    structure = {"x": Slices(1, 2)}
    assert nest.flatten(structure) == [structure["x"]]
    assert nest.flatten(structure, expand_composites=True) == [1, 2]
    packed = nest.pack_sequence_as(structure, [3, 4], expand_composites=True)
    assert packed["x"].parts == (3, 4)
    doubled = nest.map_structure(lambda x: 2 * x, structure, expand_composites=True)
    assert doubled["x"].parts == (2, 4)
    nest.assert_same_structure(structure, {"x": Slices(5, 6)}, expand_composites=True)

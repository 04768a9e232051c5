"""`tf.nest`: nested Python containers taken apart and put together again.

TensorFlow's rules differ from JAX's pytrees: `None` and sets are leaves, every mapping and every
sequence (deque, range, user classes, dict views) is a container, and a mapping is flattened in
the order of its sorted keys but rebuilt in its own order.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, MappingView, MutableMapping, Sequence
from typing import Any, NamedTuple, cast

LEAF, MAPPING, NAMEDTUPLE, ATTRS, CUSTOM, VIEW, SEQUENCE = range(7)


class Fixed(NamedTuple):
    """What of a composite tensor decides the shapes of results.

    Attributes:
        places: The parts whose values do.
        label: Anything hashable that does.
    """

    places: tuple[int, ...]
    label: Any = None


class Composite(NamedTuple):
    """How one composite tensor type is split into tensors and rebuilt from them."""

    split: Callable[[Any], Sequence[Any]]
    rebuild: Callable[[Any, Sequence[Any]], Any]
    fixed: Callable[[Any], Fixed] | None = None
    differentiated: Callable[[Any], int] | None = None


_COMPOSITES: dict[type, Composite] = {}


def register_composite(
    cls: type,
    split: Callable[[Any], Sequence[Any]],
    rebuild: Callable[[Any, Sequence[Any]], Any],
    fixed: Callable[[Any], Fixed] | None = None,
    differentiated: Callable[[Any], int] | None = None,
) -> None:
    """Let `expand_composites=True` look into a class such as `tf.IndexedSlices`.

    Args:
        cls: the class; instances are leaves unless `expand_composites` is set.
        split: `split(value)` returns the tensors inside.
        rebuild: `rebuild(value, tensors)` returns a value like `value` that holds `tensors`.
        fixed: tells which parts a traced function takes as constants: it is traced for each of
            their values.
        differentiated: tells the one part that gradients are by; they have the form of the value.
            It raises where there is none. By default gradients are by all parts.
    """
    _COMPOSITES[cls] = Composite(split, rebuild, fixed, differentiated)


def composite_of(cls: type) -> Composite | None:
    """How a class of composite tensors is taken apart; None for other classes."""
    return _COMPOSITES.get(cls)


def fixed_parts(structure: Any) -> list[Any]:
    """The parts of composite tensors that a traced function takes as constants."""
    found: list[Any] = []
    for leaf in flatten(structure):
        composite = _COMPOSITES.get(type(leaf))
        if composite is not None and composite.fixed is not None:
            parts = composite.split(leaf)
            found += [parts[place] for place in composite.fixed(leaf).places]
    return found


def flatten_differentiable(structure: Any) -> list[Any]:
    """The leaves that gradients are by: of composite tensors only the parts that have one.

    Raises:
        ValueError: If a composite tensor among them has no gradient.
    """
    found: list[Any] = []
    for leaf in flatten(structure):
        composite = _COMPOSITES.get(type(leaf))
        if composite is None:
            found.append(leaf)
        elif composite.differentiated is None:
            found += composite.split(leaf)
        else:
            found.append(composite.split(leaf)[composite.differentiated(leaf)])
    return found


def pack_gradients(structure: Any, gradients: Sequence[Any]) -> Any:
    """Gradients by the leaves of `flatten_differentiable`, in the form of the structure.

    The gradient by a composite tensor is one like it, or None.
    """
    rest = iter(gradients)
    packed: list[Any] = []
    for leaf in flatten(structure):
        composite = _COMPOSITES.get(type(leaf))
        if composite is None:
            packed.append(next(rest))
            continue
        parts = list(composite.split(leaf))
        if composite.differentiated is None:
            packed.append(composite.rebuild(leaf, [next(rest) for _ in parts]))
            continue
        gradient = next(rest)
        parts[composite.differentiated(leaf)] = gradient
        packed.append(None if gradient is None else composite.rebuild(leaf, parts))
    return pack_sequence_as(structure, packed)


@functools.lru_cache(maxsize=4096)
def _kind(cls: type) -> int:
    """Classify a container type."""
    if issubclass(cls, (str, bytes)):
        return LEAF
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return CUSTOM
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return NAMEDTUPLE
    if issubclass(cls, Mapping):
        return MAPPING
    if issubclass(cls, MappingView):
        return VIEW
    if hasattr(cls, "__attrs_attrs__"):
        return ATTRS
    return SEQUENCE if issubclass(cls, Sequence) else LEAF


def _is_node(value: Any, expand: bool) -> bool:
    """Say whether `value` has children."""
    return _kind(type(value)) != LEAF or (expand and type(value) in _COMPOSITES)


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError as error:
        raise TypeError(
            f"The keys {list(mapping)} of a dict in a nested structure cannot be sorted ({error}), "
            "so its values have no defined order. Use keys of one type."
        ) from None


def _children(value: Any, expand: bool) -> Iterable[Any]:
    """Return the children of a container, in flattening order."""
    kind = _kind(type(value))
    if kind == MAPPING:
        return [value[key] for key in _sorted_keys(value)]
    if kind == ATTRS:
        return [getattr(value, field.name) for field in value.__attrs_attrs__]
    if kind == CUSTOM:
        return value.__tf_flatten__()[1]
    if kind == LEAF and expand:
        return _COMPOSITES[type(value)].split(value)
    return value


def _rebuild(like: Any, children: list[Any]) -> Any:
    """Return a container like `like` that holds `children` (in flattening order)."""
    cls: Any = type(like)
    kind = _kind(cls)
    if kind == MAPPING:
        return _rebuild_mapping(like, dict(zip(_sorted_keys(like), children, strict=True)))
    if kind in (NAMEDTUPLE, ATTRS):
        return cls(*children)
    if kind == CUSTOM:
        return cls.__tf_unflatten__(like.__tf_flatten__()[0], tuple(children))
    if kind == LEAF:
        return _COMPOSITES[cls].rebuild(like, children)
    return children if kind == VIEW or cls is range else cls(children)


def _rebuild_mapping(like: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    cls: Any = type(like)
    ordered = {key: values[key] for key in like}
    if cls is dict:
        return ordered
    if isinstance(like, defaultdict):
        return cls(cast("Any", like).default_factory, ordered)
    if isinstance(like, MutableMapping):
        result = cls()
        result.update(ordered)
        return result
    try:
        return cls((key, value) for key, value in ordered.items())
    except TypeError as error:
        raise TypeError(
            f"Error creating an object of type {cls} like {like}. Note that it must accept a "
            "single positional argument representing an iterable of key-value pairs, in addition "
            f"to self. Cause: {error}"
        ) from error


def is_nested(seq: Any) -> bool:
    """Say whether `seq` is a container that the functions of `tf.nest` look into.

    Args:
        seq: anything. Strings, sets, arrays, tensors and `None` are not containers.

    Returns:
        `True` for lists, tuples, mappings, attrs classes and other sequences.

    Example:
        >>> import tapejax as tf
        >>> tf.nest.is_nested((1, 2)), tf.nest.is_nested("ab"), tf.nest.is_nested({1, 2})
        (True, False, False)
    """
    return _kind(type(seq)) != LEAF


def _flatten_into(value: Any, expand: bool, out: list[Any]) -> None:
    cls = type(value)
    if cls is dict:
        children: Any = [value[key] for key in _sorted_keys(value)]
    elif cls is list or cls is tuple:
        children = value
    elif _is_node(value, expand):
        children = _children(value, expand)
    else:
        out.append(value)
        return
    for child in children:
        _flatten_into(child, expand, out)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves of a structure, depth first.

    Args:
        structure: any nest of containers, or one leaf. Mappings are read in the order of their
            sorted keys.
        expand_composites: also split composite tensors (`tf.IndexedSlices`) into their parts.

    Returns:
        A list of leaves; `[structure]` when it is itself a leaf (`None` is one).

    Raises:
        TypeError: the keys of a mapping cannot be sorted.

    Example:
        >>> import tapejax as tf
        >>> tf.nest.flatten({"b": [1, (2,)], "a": None})
        [None, 1, 2]
    """
    out: list[Any] = []
    _flatten_into(structure, expand_composites, out)
    return out


def _pack(like: Any, leaves: Sequence[Any], at: int, expand: bool) -> tuple[Any, int]:
    """Rebuild `like` from `leaves[at:]`; return it and the index after the last leaf used."""
    if not _is_node(like, expand):
        if at >= len(leaves):
            raise IndexError("too few leaves")
        return leaves[at], at + 1
    children: list[Any] = []
    for child in _children(like, expand):
        packed, at = _pack(child, leaves, at, expand)
        children.append(packed)
    return _rebuild(like, children), at


def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """Put a flat list of leaves into the form of `structure`.

    Args:
        structure: the form: containers and their types, keys and order are taken from it.
        flat_sequence: as many leaves as `structure` has, in the order of `tf.nest.flatten`.
        expand_composites: composite tensors in `structure` take one leaf for each of their parts.

    Returns:
        A structure like `structure`.

    Raises:
        TypeError: `flat_sequence` is not a sequence.
        ValueError: the number of leaves differs.

    Example:
        >>> import tapejax as tf
        >>> tf.nest.pack_sequence_as({"b": 0, "a": (0,)}, [1, 2])
        {'b': 2, 'a': (1,)}
    """
    if not is_nested(flat_sequence) or isinstance(flat_sequence, Mapping):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence)}` instead. Pass a list of leaves."
        )
    leaves = list(flat_sequence)
    if not _is_node(structure, expand_composites):
        if len(leaves) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the "
                f"input is a sequence ({type(flat_sequence)}) of length {len(leaves)}.\n  "
                f"{flat_sequence}\nnest cannot guarantee that it is safe to map one to the other."
            )
        return leaves[0]
    try:
        packed, used = _pack(structure, leaves, 0, expand_composites)
    except IndexError:
        packed, used = None, -1
    if used != len(leaves):
        atoms = len(flatten(structure, expand_composites))
        raise ValueError(
            f"Could not pack sequence. Structure had {atoms} atoms, but flat_sequence had "
            f"{len(leaves)} items.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return packed


def _describe(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _same_type(first: Any, second: Any) -> bool:
    """Say whether two containers count as the same type."""
    a, b = type(first), type(second)
    kinds = _kind(a), _kind(b)
    if a is b or kinds == (MAPPING, MAPPING):
        return True
    if kinds == (NAMEDTUPLE, NAMEDTUPLE):
        return a.__name__ == b.__name__ and first._fields == second._fields
    return isinstance(first, list) and isinstance(second, list)


def _check_same(first: Any, second: Any, check_types: bool, expand: bool) -> None:
    """Raise the error that describes the first difference."""
    nested = _is_node(first, expand)
    if nested != _is_node(second, expand):
        one, other = (first, second) if nested else (second, first)
        raise ValueError(
            f'Substructure "{_describe(one)}" is a sequence, while substructure '
            f'"{_describe(other)}" is not'
        )
    if not nested:
        return
    if check_types and not _same_type(first, second):
        raise TypeError(
            "The two containers don't have the same sequence type. First structure "
            f"{_describe(first)} has type {type(first).__name__}, while second structure "
            f"{_describe(second)} has type {type(second).__name__}"
        )
    if check_types and isinstance(first, Mapping) and set(first) != set(second):
        first_keys, second_keys = list(cast("Mapping[Any, Any]", first)), list(second)
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_describe(first_keys)}, while second structure has keys {_describe(second_keys)}"
        )
    left, right = list(_children(first, expand)), list(_children(second, expand))
    for a, b in zip(left, right, strict=False):
        _check_same(a, b, check_types, expand)
    if len(left) != len(right):
        raise ValueError(
            "The two structures don't have the same number of elements. First structure: "
            f"{_describe(first)}. Second structure: {_describe(second)}"
        )


class _Dot:
    """Prints as a dot: the leaves in a drawing of a structure."""

    def __repr__(self) -> str:
        return "."


def _drawing(structure: Any, expand: bool) -> str:
    count = len(flatten(structure, expand))
    return str(pack_sequence_as(structure, [_Dot()] * count, expand))


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise unless two structures have the same form.

    Args:
        nest1: a structure.
        nest2: a structure.
        check_types: also compare the types of the containers (two mappings count as one type, so do
            two lists) and the keys of mappings.
        expand_composites: also look into composite tensors.

    Raises:
        ValueError: another number of elements, other keys, or a leaf against a container.
        TypeError: the types of two containers differ.

    Example:
        >>> import tapejax as tf
        >>> tf.nest.assert_same_structure([1, {"a": 2}], [3, {"a": 4}])
    """
    try:
        _check_same(nest1, nest2, check_types, expand_composites)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_describe(nest1)}\n\nSecond structure: {_describe(nest2)}\n\n"
            f"More specifically: {error}\n"
            f"Entire first structure:\n{_drawing(nest1, expand_composites)}\n"
            f"Entire second structure:\n{_drawing(nest2, expand_composites)}"
        ) from None


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Call `func` on the corresponding leaves of one or more structures.

    Args:
        func: takes as many arguments as there are structures.
        *structure: structures of one form.
        **kwargs: `check_types` and `expand_composites`, as in `tf.nest.assert_same_structure`.

    Returns:
        The results, in the form of the first structure.

    Raises:
        TypeError: `func` is not callable, or the types of two containers differ.
        ValueError: no structure was given, the forms differ, or another keyword was given.

    Example:
        >>> import tapejax as tf
        >>> tf.nest.map_structure(lambda a, b: a * b, {"x": [1, 2]}, {"x": [3, 4]})
        {'x': [3, 8]}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    first = structure[0]
    for other in structure[1:]:
        assert_same_structure(first, other, check_types, expand)
    columns = [flatten(item, expand) for item in structure]
    results = [func(*leaves) for leaves in zip(*columns, strict=True)]
    return _pack(first, results, 0, expand)[0]

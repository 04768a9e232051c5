"""`tf.data.Dataset.from_...`: the ways a dataset begins."""

from __future__ import annotations

import glob
from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core import dtypes, errors, nest
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.specs import TensorSpec, TypeSpec
from tapejax._src.data.dataset_base import DatasetBase, check_dataset
from tapejax._src.data.node import Node
from tapejax._src.data.ordering import Shuffle, Zip
from tapejax._src.data.sampling import Directed, Selector
from tapejax._src.data.seeds import SeedSource, seeds_for
from tapejax._src.data.sources import (
    Counter,
    Generated,
    RandomNumbers,
    Range,
    Tensors,
    TensorSlices,
)
from tapejax._src.data.structure import (
    WRAPPING,
    is_container,
    leaf_of,
    leaves_of,
    map_structure,
    pack,
)


class DatasetSources(DatasetBase):
    """The ways a dataset begins."""

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Any:
        """One element.

        Args:
            tensors: The element: a tensor or a structure of them.
            name: Accepted for compatibility.

        Returns:
            A dataset.

        Example:
            >>> import tapejax as tf
            >>> [x.numpy().tolist() for x in tf.data.Dataset.from_tensors([1, 2])]
            [[1, 2]]
        """
        del name
        return WRAPPING.wrap(Tensors(*leaves_of(tensors)))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Any:
        """The slices of tensors along their first axis.

        The arrays are copied once; shuffling and batching them moves indices only.

        Args:
            tensors: A tensor or a structure of them, of one first dimension.
            name: Accepted for compatibility.

        Returns:
            A dataset of as many elements as the first dimension has.

        Raises:
            ValueError: If a tensor is a scalar or the first dimensions differ.

        Example:
            >>> import tapejax as tf
            >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2, 3], [4.0, 5.0, 6.0]))
            >>> [(int(x), float(y)) for x, y in dataset]
            [(1, 4.0), (2, 5.0), (3, 6.0)]
        """
        del name
        return WRAPPING.wrap(TensorSlices.of(tensors))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Any:
        """What a Python generator yields.

        Args:
            generator: Returns an iterable; called anew for each iteration.
            output_types: The dtypes of the components; `output_signature` says more.
            output_shapes: Their shapes.
            args: Arguments of `generator`, given to it as NumPy arrays.
            output_signature: A structure of `tf.TypeSpec`s, one for each component.
            name: Accepted for compatibility.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            TypeError: If `generator` cannot be called, or neither dtypes nor a signature is given.

        Example:
            >>> import tapejax as tf
            >>> def squares(n):
            ...     for i in range(n):
            ...         yield i * i
            >>> dataset = tf.data.Dataset.from_generator(
            ...     squares, args=[4], output_signature=tf.TensorSpec((), tf.int32))
            >>> [int(x) for x in dataset]
            [0, 1, 4, 9]
        """
        del name
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        spec = _signature(output_types, output_shapes, output_signature)
        given = tuple([np.asarray(leaf_of(arg)) for arg in (() if args is None else args)])
        return WRAPPING.wrap(Generated(generator, spec, given))

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Any:
        """Integers in equal steps: `range(stop)`, `range(start, stop)`, `range(start, stop, step)`.

        Args:
            *args: The bounds, as for Python's `range`.
            **kwargs: `output_type` (int64 unless given), `name`.

        Returns:
            A dataset of scalars.

        Example:
            >>> import tapejax as tf
            >>> [int(x) for x in tf.data.Dataset.range(1, 8, 3)]
            [1, 4, 7]
        """
        kwargs.pop("name", None)
        output = as_dtype(kwargs.pop("output_type", dtypes.int64))
        if kwargs:
            raise TypeError(f"Dataset.range got unexpected keywords {sorted(kwargs)}.")
        return WRAPPING.wrap(Range.of(args, output))

    @staticmethod
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None
    ) -> Any:
        """Integers in equal steps, without end.

        Args:
            start: The first.
            step: The difference of two.
            dtype: Their dtype.
            name: Accepted for compatibility.

        Returns:
            An infinite dataset of scalars.
        """
        del name
        first, by = [np.asarray(leaf_of(x)).item() for x in (start, step)]
        return WRAPPING.wrap(Counter(first, by, as_dtype(dtype)))

    @staticmethod
    def random(
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Random 32-bit integers, without end: TensorFlow's own for the same seed.

        Args:
            seed: Makes them repeatable.
            rerandomize_each_iteration: Whether each iteration has other numbers.
            name: Accepted for compatibility.

        Returns:
            An infinite dataset of int64 scalars.

        Example:
            >>> import tapejax as tf
            >>> tf.random.set_seed(3)
            >>> [int(x) for x in tf.data.Dataset.random(seed=5).take(2)]
            [2058544851, 32233798]
        """
        del name
        changes = bool(rerandomize_each_iteration)
        return WRAPPING.wrap(RandomNumbers(seeds_for(seed), changes))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Any:
        """The elements of several datasets side by side, until one of them ends.

        Args:
            *args: The datasets, or one structure of datasets.
            datasets: The structure, as a keyword.
            name: Accepted for compatibility.

        Returns:
            A dataset of elements in that structure.

        Raises:
            TypeError: If something in it is no dataset.

        Example:
            >>> import tapejax as tf
            >>> a = tf.data.Dataset.range(3)
            >>> [(int(x), int(y)) for x, y in tf.data.Dataset.zip(a, a.skip(1))]
            [(0, 1), (1, 2)]
        """
        del name
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        nodes: list[Node] = []

        def numbered(value: Any) -> int:
            node = WRAPPING.unwrap(value)
            if node is None:
                text = "Argument should be a (nested) structure of `tf.data.Dataset` objects"
                if isinstance(value, list):
                    raise TypeError(
                        "Invalid `datasets`. `datasets` is expected to be a (nested) structure of "
                        "`tf.data.Dataset` objects. Python `list` is not supported and you should "
                        "use `tuple` instead."
                    )
                raise TypeError(f"{text}, got {type(value)}.")
            nodes.append(node)
            return len(nodes) - 1

        return WRAPPING.wrap(Zip(map_structure(numbered, datasets), nodes))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Any:
        """The names of the files that fit a pattern.

        Args:
            file_pattern: A pattern as in a shell, or a list of them.
            shuffle: Whether to shuffle the names (default: yes).
            seed: Makes their order repeatable.
            name: Accepted for compatibility.

        Returns:
            A dataset of string scalars.

        Raises:
            InvalidArgumentError: If there is no such file.
        """
        del name
        texts: list[bytes] = np.asarray(leaf_of(file_pattern)).ravel().tolist()
        patterns = [text.decode() for text in texts]
        found = sorted({path for pattern in patterns for path in glob.glob(pattern)})
        if not found:
            raise errors.InvalidArgumentError(
                None, None, f"No files matched pattern: {', '.join(patterns)}"
            )
        node: Node = TensorSlices.of(found)
        if shuffle is None or shuffle:
            node = Shuffle(node, len(found), SeedSource(seeds_for(seed), True))
        return WRAPPING.wrap(node)

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Any:
        """Elements of several datasets, each taken from one picked at random.

        Args:
            datasets: A list of datasets of one structure.
            weights: The probability of each; equal if None.
            seed: Makes the picks repeatable: TensorFlow's own.
            stop_on_empty_dataset: Whether the first dataset that ends, ends all.
            rerandomize_each_iteration: Whether each iteration picks anew.

        Returns:
            A dataset.

        Raises:
            ValueError: If there is no dataset, or not one weight for each.
            NotImplementedError: If the weights are a dataset.
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        nodes = [check_dataset(dataset, "Each of `datasets`") for dataset in datasets]
        if weights is not None and isinstance(weights, DatasetBase):
            raise NotImplementedError(
                "sample_from_datasets with weights that change: choose_from_datasets takes a "
                "dataset of choices."
            )
        if weights is not None:
            nodes, weights = _weighted(nodes, weights)
        if len(nodes) == 1:
            return WRAPPING.wrap(nodes[0])
        numbers = RandomNumbers(seeds_for(seed), bool(rerandomize_each_iteration))
        return WRAPPING.wrap(
            Directed(Selector(numbers, len(nodes), weights), nodes, stop_on_empty_dataset)
        )

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Any:
        """Elements of several datasets, each taken from the one whose number comes next.

        Args:
            datasets: A list of datasets of one structure.
            choice_dataset: A dataset of int64 scalars: the numbers.
            stop_on_empty_dataset: Whether the first dataset that ends, ends all.

        Returns:
            A dataset.

        Raises:
            ValueError: If there is no dataset.
            TypeError: If the choices are not int64 scalars.
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        nodes = [check_dataset(dataset, "Each of `datasets`") for dataset in datasets]
        choices = check_dataset(choice_dataset, "`choice_dataset`")
        if choices.spec != TensorSpec((), dtypes.int64):
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` "
                f"tensors but are {choices.spec}."
            )
        return WRAPPING.wrap(Directed(choices, nodes, stop_on_empty_dataset))


def _signature(types: Any, shapes: Any, signature: Any) -> Any:
    """The specs of what a generator yields."""
    if types is not None and signature is not None:
        raise TypeError(
            "The `output_types` argument can not be used together with the `output_signature` "
            "argument."
        )
    if shapes is not None and signature is not None:
        raise TypeError(
            "The `output_shapes` argument can not be used together with the `output_signature` "
            "argument."
        )
    if types is None and signature is None:
        raise TypeError(
            "To specify the output signature you need to provide either the `output_signature` "
            "argument or the `output_types` argument."
        )
    if signature is not None:
        signature = _tuples(signature)
        for leaf in nest.flatten(signature):
            if not isinstance(leaf, TypeSpec):
                raise TypeError(
                    "`output_signature` must contain objects that are subclass of `tf.TypeSpec` "
                    f"but found {type(leaf)} which is not."
                )
        return signature
    types = _tuples(types)
    if shapes is None:
        return map_structure(lambda dtype: TensorSpec(None, dtype), types)
    return _with_shapes(types, shapes)


def _tuples(value: Any) -> Any:
    """Lists as tuples: a list is a leaf elsewhere."""
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _with_shapes(types: Any, shapes: Any) -> Any:
    if not is_container(types):
        return TensorSpec(shapes, types)
    if isinstance(types, dict):
        return {key: _with_shapes(types[key], shapes[key]) for key in types}  # pyright: ignore[reportUnknownVariableType]
    made = [_with_shapes(t, s) for t, s in zip(types, shapes, strict=True)]
    return pack(tuple(types), made) if type(types) is tuple else type(types)(*made)  # pyright: ignore[reportUnknownArgumentType]


def _weighted(nodes: list[Node], weights: Any) -> tuple[list[Node], Any]:
    """The datasets that may be picked, and their weights."""
    array = np.asarray(leaf_of(weights))
    if array.shape != (len(nodes),):
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={array.size}` vs. `len(datasets)={len(nodes)}`."
        )
    if array.dtype.name not in ("float32", "float64"):
        raise TypeError(
            "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but "
            f"is {array.dtype.name}."
        )
    kept = [n for n in range(len(nodes)) if array[n] > 0] or [0]
    return [nodes[n] for n in kept], array[kept]

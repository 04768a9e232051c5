"""Tables whose contents do not change: `tf.lookup.StaticHashTable` and `StaticVocabularyTable`.

A look-up is part of a program: integers are searched among sorted constants, strings are looked up
where they are known, and else by the table of the strings they may be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.avals import make_aval
from tapejax._src.core.dtypes import DType, as_dtype, int64, string
from tapejax._src.core.errors import NotFoundError
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.effects import call_host, is_host
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.engine.texts import coded_tensor, map_texts, taken, text_tensor
from tapejax._src.ops.sparse_tensor import SparseTensor
from tapejax._src.ops.string_hashes import fingerprint64
from tapejax._src.ops.table_initializers import Array, Key, TableInitializer, host_array

_NODE = "LookupTableFindV2"


def _search(keys: Any, ordered: Any, places: Any) -> Any:
    """The place of each key, or the number of keys for one that is not there."""
    if not ordered.size:
        return jnp.zeros(keys.shape, jnp.int32)
    found = jnp.minimum(jnp.searchsorted(ordered, keys), ordered.size - 1)
    return jnp.where(ordered[found] == keys, places[found], ordered.size).astype(jnp.int32)


_SEARCH = Kernel("lookup", _search, node=_NODE, gradient="none")


def check_key_dtype(dtype: DType, what: str) -> None:
    """Raise if keys cannot have a dtype."""
    if dtype.name not in ("string", "int32", "int64"):
        raise NotFoundError(
            None,
            None,
            f"tf.lookup.{what} has no keys of dtype {dtype.name}: they are strings, int32 or int64",
        )


def over_values(keys: Any, look_up: Callable[[Any], Any]) -> Any:
    """Look up the elements of a tensor, a sparse tensor or a ragged tensor."""
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, look_up(keys.values), keys.dense_shape)
    if isinstance(keys, RaggedTensor):
        return keys.over(look_up(keys.flat_values))
    return look_up(keys)


def keys_tensor(keys: Any, dtype: DType) -> Tensor:
    """The keys of a look-up.

    Raises:
        TypeError: If they have another dtype than those of the table.
    """
    if isinstance(keys, (Tensor, Variable)) and keys.dtype is not dtype:
        raise TypeError(
            f"Dtype of argument `keys` must be {dtype}, received: {keys.dtype}; convert them with "
            "tf.cast, tf.strings.as_string or tf.strings.to_number."
        )
    return as_tensor(keys, dtype)


class LookupTable:
    """What static tables share: names, dtypes, `table[keys]`.

    Args:
        key_dtype: The dtype of the keys.
        value_dtype: The dtype of the values.
        name: The name.
    """

    def __init__(self, key_dtype: DType, value_dtype: DType, name: str | None) -> None:
        self._key_dtype, self._value_dtype, self._name = key_dtype, value_dtype, name

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    @property
    def name(self) -> str | None:
        """The name, if it was given one."""
        return self._name

    lookup: Callable[..., Any]
    """The values of keys."""

    def __getitem__(self, keys: Any) -> Any:
        """The same as `lookup(keys)`."""
        return self.lookup(keys)


@public("lookup.StaticHashTable")
class StaticHashTable(LookupTable):
    """A table from keys to values that does not change.

    Args:
        initializer: What it holds: a `tf.lookup.KeyValueTensorInitializer` or
            `tf.lookup.TextFileInitializer`.
        default_value: The value of keys that are not in it, a scalar.
        name: Its name.
        experimental_is_anonymous: Accepted for compatibility.

    Raises:
        FailedPreconditionError: If a key has two values.
        NotFoundError: If the keys are no strings or integers.

    Example:
        >>> import tapejax as tf
        >>> table = tf.lookup.StaticHashTable(
        ...     tf.lookup.KeyValueTensorInitializer([3, 7], ["three", "seven"]), "?"
        ... )
        >>> table.lookup(tf.constant([7, 5])).numpy().tolist()
        [b'seven', b'?']

    Differs from TensorFlow:
        `lookup` also takes keys that are Python values or lists of them.
    """

    def __init__(
        self,
        initializer: TableInitializer,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del experimental_is_anonymous
        super().__init__(as_dtype(initializer.key_dtype), as_dtype(initializer.value_dtype), name)
        check_key_dtype(self.key_dtype, "StaticHashTable")
        self._default = as_tensor(default_value, self.value_dtype)
        self._keys, self._values = initializer.contents(self)
        self._places: dict[Key, int] = {key: n for n, key in enumerate(self._keys)}
        default = np.reshape(host_array(self._default, self.value_dtype), (1,))
        self._results: Array = np.concatenate([self._values, default])
        self._sorted: tuple[Tensor, Tensor] | None = None

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not in the table."""
        return self._default

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys, a scalar int64."""
        del name
        return constant_tensor(np.array(len(self._keys), np.int64))

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The keys and their values, two vectors."""
        del name
        keys = np.empty(len(self._keys), self.key_dtype.as_numpy_dtype)
        keys[:] = self._keys
        return constant_tensor(keys), constant_tensor(self._values.copy())

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys.

        Args:
            keys: A tensor, sparse tensor or ragged tensor of the keys' dtype.
            name: Ignored.

        Returns:
            The values, in the shape of `keys`.

        Raises:
            TypeError: If the keys have another dtype.
        """
        del name
        return over_values(keys, self._look_up)

    def _look_up(self, keys: Any) -> Tensor:
        return self.values_at(self.places_of(keys_tensor(keys, self.key_dtype)))

    def value_of(self, key: Key) -> Any:
        """The value of one key, or None."""
        place = self._places.get(key)
        return None if place is None else self._values[place]

    def places_of(self, keys: Tensor) -> Tensor:
        """The number of each key in the table, or the size of the table: int32."""
        if self.key_dtype is string:
            places, missing = self._places, len(self._keys)
            return map_texts(lambda key: places.get(key, missing), [keys], np.int32, _NODE)
        if self._sorted is None:
            array = np.array(self._keys, self.key_dtype.as_numpy_dtype)
            order = np.argsort(array).astype(np.int32)
            self._sorted = constant_tensor(array[order]), constant_tensor(order)
        return record(_SEARCH, [keys, *self._sorted])

    def values_at(self, places: Tensor) -> Tensor:
        """The values at places in the table, behind whose end is the default."""
        if self.value_dtype is not string:
            return taken(self._results, places)
        if is_host([places]):
            return text_tensor(np.asarray(self._results[places.view()], object))
        return coded_tensor(places, self._results.tolist())


@public("lookup.StaticVocabularyTable")
class StaticVocabularyTable(LookupTable):
    """Numbers of the words of a vocabulary; other words get numbers behind those, by a hash.

    Args:
        initializer: What it holds: keys and int64 values, 0 to the number of words less one. None:
            no words.
        num_oov_buckets: How many numbers there are for other words.
        lookup_key_dtype: The dtype of the keys of a look-up. Default: that of the initializer.
        name: Its name.
        experimental_is_anonymous: Accepted for compatibility.

    Raises:
        ValueError: If `num_oov_buckets` is less than 1.
        TypeError: If the keys are neither strings nor integers, or the values not int64.

    Example:
        >>> import tapejax as tf
        >>> words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
        >>> table = tf.lookup.StaticVocabularyTable(words, num_oov_buckets=3)
        >>> table.lookup(tf.constant(["b", "zz", "q"])).numpy().tolist()
        [1, 3, 4]
    """

    def __init__(
        self,
        initializer: TableInitializer | None,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del experimental_is_anonymous
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        dtype = None if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
        self._table: StaticHashTable | None = None
        self._words = 0
        if initializer is not None:
            dtype = dtype or initializer.key_dtype
            if initializer.value_dtype is not int64:
                raise TypeError(
                    f"Invalid `value_dtype`, expected {int64} but got {initializer.value_dtype}."
                )
            if dtype.is_integer != initializer.key_dtype.is_integer:
                raise TypeError(
                    f"Invalid `key_dtype`, expected integer but got {initializer.key_dtype}."
                    if dtype.is_integer
                    else f"Invalid `key_dtype`, expected {string} but got {initializer.key_dtype}."
                )
            table = self._table = StaticHashTable(initializer, -1)
            self._words = int(table.size())
        dtype = dtype or string
        if dtype is not string and not dtype.is_integer:
            raise TypeError(f"Invalid `key_dtype`, expected integer or string, but got {dtype}.")
        super().__init__(dtype, int64, name)
        self._buckets = num_oov_buckets

    def size(self, name: str | None = None) -> Tensor:
        """How many numbers there are, a scalar int64."""
        del name
        return constant_tensor(np.array(self._words + self._buckets, np.int64))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of keys.

        Args:
            keys: A tensor, sparse tensor or ragged tensor of the keys' dtype.
            name: Ignored.

        Returns:
            int64, in the shape of `keys`.

        Raises:
            TypeError: If the keys have another dtype.
        """
        del name
        return over_values(keys, self._look_up)

    def _look_up(self, keys: Any) -> Tensor:
        tensor = keys_tensor(keys, self.key_dtype)
        if self.key_dtype is string:
            return map_texts(self._number, [tensor], np.int64, _NODE)

        def numbers(array: Array) -> list[Array]:
            found = [self._number(key) for key in array.ravel().tolist()]
            return [np.array(found, np.int64).reshape(array.shape)]

        if is_host([tensor]):
            return constant_tensor(numbers(tensor.view())[0])
        out = make_aval(tensor.aval.shape, np.dtype(np.int64))
        return call_host(_NODE, numbers, [tensor], [out], pure=True)[0]

    def _number(self, key: Key) -> int:
        known = None if self._table is None else self._table.value_of(key)
        if known is not None:
            return known
        text = key if isinstance(key, bytes) else str(key).encode()
        return self._words + fingerprint64(text) % self._buckets

"""Tables that change: `tf.lookup.experimental.MutableHashTable` and `DenseHashTable`.

They live on the host. In a `tf.function` each operation on one is a call of the host, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core.avals import Aval, make_aval
from tapejax._src.core.dtypes import as_dtype, string
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.effects import call_host, is_host
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.engine.texts import coded_form, is_known, is_text, known_texts
from tapejax._src.ops.lookup_tables import LookupTable, check_key_dtype, over_values
from tapejax._src.ops.shape_checks import brackets
from tapejax._src.ops.table_initializers import Array, Key, host_array, keys_of


class _HostTable(LookupTable):
    """A table in a dict.

    Args:
        key_dtype: The dtype of the keys.
        value_dtype: The dtype of the values.
        default_value: The value of keys that are not in it; its shape is that of every value.
        name: The name.
        kind: The class, named in errors.
    """

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str | None, kind: str
    ) -> None:
        super().__init__(as_dtype(key_dtype), as_dtype(value_dtype), name)
        check_key_dtype(self.key_dtype, kind)
        self._default = as_tensor(default_value, self.value_dtype)
        self._fallback: Array = np.array(host_array(self._default, self.value_dtype))
        self._items: dict[Key, Array] = {}

    def check_keys(self, keys: Sequence[Key], node: str) -> None:
        """Raise if a key is not allowed."""
        del keys, node

    # ------------------------------------------------------------------ host calls
    def _call(
        self,
        node: str,
        function: Callable[..., list[Array]],
        tensors: Sequence[Tensor],
        outs: Sequence[Aval] = (),
    ) -> list[Tensor]:
        """Call a function of arrays now, or when the program being traced runs."""
        if all(is_known(t) if is_text(t) else is_host([t]) for t in tensors) and is_host([]):
            given = [known_texts(t) if is_text(t) else t.view() for t in tensors]
            return [constant_tensor(array) for array in function(*given)]
        if any(out.struct is None for out in outs):
            raise NotCompilableError(
                "A tf.function reads strings from a table that changes, and a compiled program "
                "cannot hold strings that are not known when it is traced. Look them up outside."
            )
        forms = [coded_form(t) if is_text(t) else None for t in tensors]
        tables = [None if form is None else _object_array(form.table) for form in forms]
        inputs = [t if form is None else form.codes for t, form in zip(tensors, forms, strict=True)]

        def decoded(*arrays: Array) -> list[Array]:
            pairs = zip(arrays, tables, strict=True)
            return function(*[x if t is None else np.asarray(t[x], object) for x, t in pairs])

        return call_host(node, decoded, inputs, outs)

    # ------------------------------------------------------------------ the interface
    def size(self, name: str | None = None) -> Tensor:
        """The number of keys, a scalar int64."""
        del name
        out = make_aval((), np.dtype(np.int64))
        count: Callable[[], list[Array]] = lambda: [np.array(len(self._items), np.int64)]  # noqa: E731
        return self._call("LookupTableSizeV2", count, [], [out])[0]

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> Any:
        """The values of keys.

        Args:
            keys: A tensor, sparse tensor or ragged tensor of the keys' dtype.
            dynamic_default_values: The values of keys that are not in the table, in the shape of
                the result. Default: the table's own.
            name: Ignored.

        Returns:
            The values: of shape `keys.shape + default_value.shape`.
        """
        del name
        return over_values(keys, lambda flat: self._look_up(flat, dynamic_default_values))

    def _look_up(self, keys: Any, defaults: Any) -> Tensor:
        tensors = [as_tensor(keys, self.key_dtype)]
        if defaults is not None:
            tensors.append(as_tensor(defaults, self.value_dtype))
        shape = (*tensors[0].aval.shape, *self._fallback.shape)

        def find(array: Array, given: Array | None = None) -> list[Array]:
            flat = keys_of(array)
            self.check_keys(flat, "LookupTableFindV2")
            result = np.empty(shape, self._fallback.dtype)
            rows = result.reshape(len(flat), *self._fallback.shape)
            rows[...] = (
                self._fallback
                if given is None
                else np.reshape(np.broadcast_to(given, shape), rows.shape)
            )
            for place, key in enumerate(flat):
                if key in self._items:
                    rows[place] = self._items[key]
            return [result]

        out = Aval(shape, self._fallback.dtype)
        if self.value_dtype is not string:
            out = make_aval(shape, self._fallback.dtype)
        return self._call("LookupTableFindV2", find, tensors, [out])[0]

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Put keys into the table, or change their values.

        Args:
            keys: Keys, any shape.
            values: Their values, of shape `keys.shape + default_value.shape`.
            name: Ignored.

        Raises:
            InvalidArgumentError: If the shapes do not fit, or a key is not allowed.
        """
        del name
        tensors = [as_tensor(keys, self.key_dtype), as_tensor(values, self.value_dtype)]
        shape = (*tensors[0].aval.shape, *self._fallback.shape)
        if tensors[1].aval.shape != shape:
            raise InvalidArgumentError(
                f"Expected shape {brackets(shape)} for value, got "
                f"{brackets(tensors[1].aval.shape)} [Op:LookupTableInsertV2]"
            )

        def put(array: Array, given: Array) -> list[Array]:
            flat = keys_of(array)
            self.check_keys(flat, "LookupTableInsertV2")
            rows = np.array(given).reshape(len(flat), *self._fallback.shape)
            self._items.update(zip(flat, rows, strict=True))
            return []

        self._call("LookupTableInsertV2", put, tensors)

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Take keys out of the table; those that are not in it are ignored.

        Args:
            keys: Keys, any shape.
            name: Ignored.
        """
        del name

        def take_out(array: Array) -> list[Array]:
            flat = keys_of(array)
            self.check_keys(flat, "LookupTableRemoveV2")
            for key in flat:
                self._items.pop(key, None)
            return []

        self._call("LookupTableRemoveV2", take_out, [as_tensor(keys, self.key_dtype)])

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The keys, a vector, and their values.

        Raises:
            NotImplementedError: In a `tf.function`, where the size of a result must be known.
        """
        del name
        if not is_host([]):
            raise NotCompilableError(
                "A tf.function exports a table that changes, and compiled code has static shapes. "
                "Call export() outside."
            )
        keys = np.empty(len(self._items), self.key_dtype.as_numpy_dtype)
        keys[:] = list(self._items)
        values = np.empty((len(self._items), *self._fallback.shape), self._fallback.dtype)
        for place, value in enumerate(self._items.values()):
            values[place] = value
        return constant_tensor(keys), constant_tensor(values)


def _object_array(texts: Sequence[bytes]) -> Array:
    array = np.empty(len(texts), object)
    array[:] = list(texts)
    return array


@public("lookup.experimental.MutableHashTable")
class MutableHashTable(_HostTable):
    """A table from keys to values that can be changed.

    Args:
        key_dtype: string, int32 or int64.
        value_dtype: The dtype of the values.
        default_value: The value of keys that are not in it: a scalar, or a vector if the values are
            vectors.
        name: Its name.
        checkpoint: Accepted for compatibility.
        experimental_is_anonymous: Accepted for compatibility.

    Example:
        >>> import tapejax as tf
        >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        >>> table.insert(["a", "b"], tf.constant([1, 2], tf.int64))
        >>> table.lookup(["b", "c"]).numpy().tolist(), table.size().numpy()
        ([2, -1], np.int64(2))
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del checkpoint, experimental_is_anonymous
        super().__init__(
            key_dtype, value_dtype, default_value, name, "experimental.MutableHashTable"
        )


@public("lookup.experimental.DenseHashTable")
class DenseHashTable(_HostTable):
    """A table from keys to values that can be changed, in which two keys are reserved.

    Args:
        key_dtype: string, int32 or int64.
        value_dtype: The dtype of the values.
        default_value: The value of keys that are not in it: a scalar, or a vector if the values are
            vectors.
        empty_key: A key that is never used.
        deleted_key: Another one.
        initial_num_buckets: Accepted for compatibility.
        name: Its name.
        checkpoint: Accepted for compatibility.
        experimental_is_anonymous: Accepted for compatibility.

    Raises:
        InvalidArgumentError: If the two keys are equal.

    Example:
        >>> import tapejax as tf
        >>> table = tf.lookup.experimental.DenseHashTable(
        ...     tf.int32, tf.float32, -1.0, empty_key=0, deleted_key=-1
        ... )
        >>> table.insert([5, 6], [0.5, 0.75])
        >>> table.lookup([6, 7]).numpy().tolist()
        [0.75, -1.0]

    Differs from TensorFlow:
        `export` gives the keys in the table only, not the empty places. Keys are scalars.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del initial_num_buckets, checkpoint, experimental_is_anonymous
        super().__init__(key_dtype, value_dtype, default_value, name, "experimental.DenseHashTable")
        reserved = [host_array(key, self.key_dtype) for key in (empty_key, deleted_key)]
        if any(key.ndim for key in reserved):
            raise NotImplementedError(
                "tf.lookup.experimental.DenseHashTable with keys that are vectors is not "
                "supported: join their elements into a string, or number the keys."
            )
        self._empty, self._deleted = (key[()] for key in reserved)
        if self._empty == self._deleted:
            raise InvalidArgumentError(
                "Empty and deleted keys cannot be equal [Op:MutableDenseHashTableV2]"
            )

    def check_keys(self, keys: Sequence[Key], node: str) -> None:
        """Raise if a key is a reserved one."""
        for key, what in ((self._empty, "empty_key"), (self._deleted, "deleted_key")):
            if key in keys:
                raise InvalidArgumentError(
                    f"Using the {what} as a table key is not allowed [Op:{node}]"
                )

    def erase(self, keys: Any, name: str | None = None) -> None:
        """The same as `remove`."""
        self.remove(keys, name)

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> None:
        """The same as `insert`."""
        self.insert(keys, values, name)

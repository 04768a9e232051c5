"""Tensors of strings: numbers into a table of the strings, so that programs can hold them.

No array of JAX holds strings. An op that only moves elements (`reshape`, `gather`, `where`, ...)
need not see them: it is recorded on *codes*, int32 numbers of strings in a table, with its own
shape rule and errors, and its result is again codes into that table. An op that looks at strings
(`tf.strings.upper`) reads them where they are known, and otherwise is applied to the table.

Recording comes here where it fails for other tensors: numeric ops pay nothing for strings.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from tapejax._src.core import errors
from tapejax._src.core.avals import Aval, aval_of
from tapejax._src.core.dtypes import string
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.apply import multi_op
from tapejax._src.engine.calling import checked
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.definitions import TEXT_DTYPE
from tapejax._src.engine.extension import check_inputs
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import TEXTS, record, record2

Texts = np.ndarray[Any, np.dtype[Any]]
"""Object arrays of bytes."""

_OBJECT = np.dtype(object)
_PRODUCT_LIMIT = 1 << 16
"""How many combinations of strings a traced function may try to build."""

_MOVES = (
    "_concat",
    "_flattened",
    "_gather_nd",
    "_gather_nd_rows",
    "_getitem",
    "_merge_rows",
    "_pad",
    "_ragged_to_tensor",
    "_random_shuffle",
    "_select",
    "_setitem",
    "_slice",
    "_stitch",
    "_ragged_to_tensor",
    "_sparse_to_dense",
    "_take_merged",
    "_take_rows",
    "assign",
    "broadcast_to",
    "expand_dims",
    "fill",
    "gather",
    "identity",
    "linalg.matrix_transpose",
    "read_value",
    "repeat",
    "reshape",
    "reverse",
    "reverse_sequence",
    "roll",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "tensor_scatter_nd_update",
    "tile",
    "transpose",
    "unstack",
    "zeros",
    "zeros_like",
)
TEXT_RESULTS: dict[str, int | None] = {
    **dict.fromkeys(_MOVES),
    "math.count_nonzero": 0,  # the empty string has the code 0
    "math.equal": 0,
    "math.not_equal": 0,
    "_unique": 1,
    "_unique_with_counts": 1,
}
"""The ops that move or compare strings -> how many of their results are strings (None: all)."""


class Coded:
    """What computes a tensor of strings: codes into a table (in a tensor's place of a recorder).

    Args:
        codes: int32 tensor, any shape.
        table: The strings, each once; the empty string has the code 0.
    """

    __slots__ = ("codes", "table")

    def __init__(self, codes: Tensor, table: Sequence[bytes]) -> None:
        self.codes = codes
        self.table = table

    @property
    def symbolic(self) -> str | None:
        """Why there is no value, or None."""
        recorder = self.codes.recorder
        return None if self.codes.array is not None or recorder is None else recorder.symbolic

    @property
    def done(self) -> bool:
        """Whether the program of the codes has run."""
        recorder = self.codes.recorder
        return recorder is None or recorder.done

    def name_of(self, tensor: Tensor) -> str:
        """The name of a tensor of a function being traced."""
        del tensor
        return self.codes.symbolic_name() or "Const:0"

    def materialize(self, tensor: Tensor, how: str = "use") -> Texts:
        """Look the codes up; the tensor is a concrete one from now on."""
        values = np.empty(len(self.table), object)
        values[:] = self.table
        array = np.asarray(values[np.asarray(self.codes.value_array(how))], object)
        tensor.cell, tensor.key, tensor.owned = None, tensor.aval, False
        tensor.array = array
        return array


def text_tensor(array: Any) -> Tensor:
    """A tensor of an object array (or one item) of bytes."""
    if isinstance(array, np.ndarray):
        return constant_tensor(array)
    single = np.empty((), object)
    single[()] = array
    return constant_tensor(single)


def coded_form(text: Tensor) -> Coded:
    """The codes of a tensor of strings and their table."""
    if text.array is None and isinstance(text.recorder, Coded):
        return text.recorder
    table = Table()
    return Coded(table.codes(text), table.texts)


def coded_tensor(codes: Tensor, table: Sequence[bytes]) -> Tensor:
    """The tensor of strings that codes stand for.

    Args:
        codes: int32 tensor.
        table: The strings; they need not differ.
    """
    unique = Table()
    places = [unique.place(text) for text in table]
    if places == list(range(len(places))):
        found = codes
    else:
        found = taken(np.array(places, np.int32), codes)
    return Tensor(Aval(codes.aval.shape, _OBJECT), cast("Any", Coded(found, unique.texts)), -1)


def is_text(value: Any) -> bool:
    """Whether a value is a tensor or variable of strings."""
    return isinstance(value, (Tensor, Variable)) and value.dtype.name == "string"


def is_known(text: Tensor) -> bool:
    """Whether strings can be read now: not while a function is traced that computes them."""
    if text.array is not None:
        return not isinstance(text.array, Tracer)
    if isinstance(text.recorder, Coded) and isinstance(text.recorder.codes.array, Tracer):
        return False
    return text.recorder is None or text.recorder.symbolic is None


def known_texts(text: Any) -> Any:
    """The strings of a tensor, an object array of bytes.

    Raises:
        OperatorNotAllowedInGraphError: If a function is being traced that computes them.
        NotImplementedError: If they are a variable's and a function is being traced.
    """
    if isinstance(text, Variable):
        text.note_access()
        text = text.tensor
    cell = None if text.array is None else text.cell
    if cell is not None and cell() is not None and LOCAL.recorder.symbolic is not None:
        raise NotImplementedError(
            "A tf.Variable of strings is read in a tf.function, whose program cannot hold "
            "strings that change. Read it outside and pass the value as an argument."
        )
    return text.view()


class Table:
    """Strings and their codes; the empty string, with which ops pad, has the code 0."""

    def __init__(self) -> None:
        self._codes: dict[bytes, int] = {b"": 0}

    @property
    def texts(self) -> list[bytes]:
        """The strings, in the order of their codes."""
        return list(self._codes)

    def place(self, text: bytes) -> int:
        """The code of a string, which is added if it is new."""
        return self._codes.setdefault(text, len(self._codes))

    def places(self, texts: Iterable[bytes]) -> np.ndarray[Any, Any]:
        """The codes of strings."""
        return np.array([self.place(text) for text in texts], np.int32)

    def codes(self, text: Any) -> Tensor:
        """The codes of the elements of a tensor of strings."""
        if isinstance(text, Tensor) and text.array is None and isinstance(text.recorder, Coded):
            coded: Coded = text.recorder
            places = self.places(coded.table)
            if (places == np.arange(len(places))).all():
                return coded.codes
            return taken(places, coded.codes)
        values = known_texts(text)
        return constant_tensor(self.places(values.ravel()).reshape(values.shape))


_TAKE = Kernel(
    "take_code", lambda table, codes: jnp.take(table, codes, 0, mode="clip"), gradient="none"
)


def taken(values: np.ndarray[Any, Any], codes: Tensor) -> Tensor:
    """The value at each code."""
    return record2(_TAKE, constant_tensor(values), codes)


# ---------------------------------------------------------------------- ops that move elements
@functools.lru_cache(maxsize=64)
def _broadcasting(node: str, count: int) -> Kernel:
    """Stands for an op on strings where its operands are checked."""
    return Kernel(node, lambda *x: x[0], groups=(0,) * count, node=node, broadcast=True)


def run_on_codes(kernel: Kernel, inputs: Sequence[Any]) -> Any:
    """Do an op some of whose inputs are strings.

    Raises:
        InvalidArgumentError: If the op does not take strings.
    """
    if kernel.assigns is not None and LOCAL.recorder.symbolic is not None:
        raise NotImplementedError(
            "A tf.Variable of strings is assigned in a tf.function, whose program cannot hold "
            "strings that change. Return the strings and assign them outside."
        )
    texts = [is_text(x) for x in inputs]
    avals = [
        (x.tensor if isinstance(x, Variable) else x).aval if hasattr(x, "shape") else _number(x)
        for x in inputs
    ]
    joins = kernel.name == "math.add" and all(texts)
    numbers = [x for x in inputs if not isinstance(x, (Tensor, Variable))]
    if numbers and kernel.node != "AddV2":
        raise TypeError(
            f"Cannot convert {numbers[0]!r} to EagerTensor of dtype string [Op:{kernel.node}]"
        )
    check_inputs(_broadcasting("AddV2", 2) if joins else kernel, avals)
    if joins:
        return map_texts(lambda x, y: x + y, inputs)
    if kernel.name not in TEXT_RESULTS and kernel.codes is not None:
        raise TypeError(f"Cannot convert numbers to EagerTensor of dtype string [Op:{kernel.node}]")
    if kernel.name not in TEXT_RESULTS:
        raise _not_for_strings(kernel)
    table = Table()
    coded = [table.codes(x) if text else x for x, text in zip(inputs, texts, strict=True)]
    results = record(checked(kernel.codes or kernel, coded), coded)
    count = TEXT_RESULTS[kernel.name]
    flat, tree = jax.tree.flatten(results, is_leaf=lambda x: isinstance(x, Tensor))
    made = [
        coded_tensor(x, table.texts) if count is None or n < count else x
        for n, x in enumerate(flat)
    ]
    return jax.tree.unflatten(tree, made)


def _number(value: Any) -> Aval:
    return aval_of(np.zeros((), np.float32 if isinstance(value, float) else np.int32))


def _not_for_strings(kernel: Kernel) -> Exception:
    if kernel.node == "Cast":
        return errors.UnimplementedError(
            None,
            None,
            "Cast string to a number, or a number to string, is not supported [Op:Cast] name: ; "
            "use tf.strings.to_number or tf.strings.as_string.",
        )
    allowed = "numbers" if kernel.allowed is None else ", ".join(kernel.allowed)
    return errors.InvalidArgumentError(
        None,
        None,
        f"Value for attr 'T' of string is not in the list of allowed values: {allowed} "
        f"[Op:{kernel.node}]; tf.{kernel.name.lstrip('_')} does not take strings. "
        "tf.strings.to_number makes numbers of them.",
    )


TEXTS.run = run_on_codes


# ---------------------------------------------------------------------- ops that look at strings
def map_texts(
    fn: Callable[..., Any], texts: Sequence[Any], dtype: Any = TEXT_DTYPE, node: str = "AddV2"
) -> Tensor:
    """Apply a function to each element, with broadcasting.

    Args:
        fn: Function of one bytes object for each of `texts`; returns bytes, or a number.
        texts: Tensors of strings.
        dtype: The NumPy dtype of the results (object for strings).
        node: TensorFlow's name of the op, for errors.

    Returns:
        A tensor of strings or numbers.

    Raises:
        InvalidArgumentError: If the shapes do not broadcast.
        NotImplementedError: If a function is being traced and there are too many combinations.
    """
    tensors = [x.tensor if isinstance(x, Variable) else x for x in texts]
    check_inputs(_broadcasting(node, len(tensors)), [tensor.aval for tensor in tensors])
    if all(is_known(tensor) for tensor in tensors):
        arrays = [known_texts(x) for x in texts]
        return constant_tensor(_mapped(fn, np.broadcast_arrays(*arrays), dtype))
    forms = [coded_form(tensor) for tensor in tensors]
    tables, codes = [form.table for form in forms], [form.codes for form in forms]
    sizes = [len(table) for table in tables]
    if math.prod(sizes) > _PRODUCT_LIMIT:
        raise NotCompilableError(
            f"{node}: a function is being traced, and {' x '.join(map(str, sizes))} combinations "
            "of strings are possible. Do it outside of the tf.function."
        )
    results = [fn(*combination) for combination in itertools.product(*tables)]
    place = (
        codes[0]
        if len(codes) == 1
        else multi_op("pair_codes", _paired(sizes), tuple(sizes))(list(codes))[0]
    )
    if dtype is TEXT_DTYPE:
        return coded_tensor(place, results)
    return taken(np.array(results, dtype), place)


def _mapped(fn: Callable[..., Any], arrays: Sequence[Texts], dtype: Any) -> Any:
    shape = arrays[0].shape
    values = [fn(*items) for items in zip(*[a.ravel().tolist() for a in arrays], strict=True)]
    if dtype is not TEXT_DTYPE:
        return np.array(values, dtype).reshape(shape)
    result = np.empty(len(values), object)
    result[:] = values
    return result.reshape(shape)


def _paired(sizes: Sequence[int]) -> Callable[..., list[Any]]:
    def place(*codes: Any) -> list[Any]:
        total = jnp.zeros((), jnp.int32)
        for size, code in zip(sizes, codes, strict=True):
            total = total * size + code
        return [total]

    return place


def as_texts(value: Any) -> Any:
    """An argument as a tensor of strings.

    Raises:
        InvalidArgumentError: If it is a tensor of something else.
    """
    if isinstance(value, (Tensor, Variable)):
        if not is_text(value):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"cannot compute the op as an input was expected to be a string tensor but is a "
                f"{value.dtype.name} tensor of shape {value.shape}; tf.strings.as_string makes "
                "strings of numbers.",
            )
        return value
    return as_tensor(value, string)

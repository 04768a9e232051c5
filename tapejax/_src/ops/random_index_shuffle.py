"""`tf.random.experimental.index_shuffle`: one index at a time through a permutation of a range.

The permutation is a block cipher: a number is enciphered until it falls into the range again.

References: Beaulieu, Shors, Smith, Treatman-Clark, Weeks, Wingers, "The SIMON and SPECK families of
lightweight block ciphers", 2013.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, Same, TensorLike, ValueCheck, op, public

_FIRST_KEY = 498247692  # stands before the two words of the seed
_SMALLEST_BLOCK = 16  # bits; shorter ones show patterns
_KEY_CONSTANT = 0xFFFFFFFC
_KEY_BIT = 0x7369F885192C0EF5 & 1
_INTEGERS = "int32 uint32 int64 uint64"


def _half_width(max_index: Array) -> Array:
    """Half the bits of a block that can hold every index."""
    bits = np.uint64(64) - lax.clz(max_index)
    return jnp.maximum((bits + np.uint64(1)) >> np.uint64(1), np.uint64(_SMALLEST_BLOCK // 2))


def _rotated(word: Array, by: Array, width: Array) -> Array:
    """A word of `width` bits rotated to the left."""
    mask = (np.uint64(1) << width) - np.uint64(1)
    return ((word << by) | (word >> (width - by))) & mask


def _mixed(word: Array, width: Array) -> Array:
    one, two, eight = (_rotated(word, jnp.uint64(n), width) for n in (1, 2, 8))
    return (one & eight) ^ two


def _enciphered(value: Array, keys: tuple[Array, ...], width: Array) -> Array:
    mask = (np.uint64(1) << width) - np.uint64(1)
    left, right = (value >> width) & mask, value & mask
    for first, second in (keys[:2], keys[2:]):
        left = left ^ _mixed(right, width) ^ first
        right = right ^ _mixed(left, width) ^ second
    return (left << width) | right


def _round_keys(seed: Array, width: Array) -> tuple[Array, ...]:
    """The keys of four rounds."""
    mask = (np.uint64(1) << width) - np.uint64(1)
    words = seed.astype(jnp.uint32).astype(jnp.uint64)
    given = (jnp.uint64(_FIRST_KEY) & mask, words[..., 0] & mask, words[..., 1] & mask)
    last = np.uint64(_KEY_CONSTANT ^ _KEY_BIT) & mask
    for turn in (3, 4):
        last = last ^ _rotated(given[2], width - np.uint64(turn), width)
    return (*given, last ^ given[0])


def _out_of_range(index: Array, seed: Array, max_index: Array) -> tuple[Any, ...]:
    wrong = (index < 0) | (max_index < 0) | (index > max_index)
    wrong, index, max_index = (x.reshape(-1) for x in jnp.broadcast_arrays(wrong, index, max_index))
    if not wrong.size:
        return False, 0, 0
    first = jnp.argmax(wrong)
    return jnp.any(wrong), index[first], max_index[first]


@op(
    "_random_index_shuffle",
    node="RandomIndexShuffle",
    gradient="none",
    dtypes=_INTEGERS,
    check=ValueCheck(
        _out_of_range,
        "index must be in [0, max_index], but index is {} and max_index {}".format,
    ),
    cases=(
        "i32[4] in (0, 9), i32[2], i32[] in (9, 30)",
        "u64[] in (0, 9), i64[2], u64[3] in (9, 99999)",
        "i64[2] in (0, 9), u32[2,2], i64[2] in (9, 30)",
    ),
)
def _index_shuffle(index: Same, seed: TensorLike, max_index: Same) -> Array:
    """Where an index goes."""
    lead = jnp.broadcast_shapes(index.shape, max_index.shape, seed.shape[:-1])
    top = jnp.broadcast_to(max_index, lead).astype(jnp.uint64)
    start = jnp.broadcast_to(index, lead).astype(jnp.uint64)
    width = _half_width(top)
    keys = _round_keys(seed, width)
    # An index outside of the range is reported by the check; here it must not cycle for ever.
    settled = start > top

    def encipher(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        value, settled = carry
        value = jnp.where(settled, value, _enciphered(value, keys, width))
        return value, settled | (value <= top)

    value, _ = lax.while_loop(lambda carry: ~jnp.all(carry[1]), encipher, (start, settled))
    return value.astype(index.dtype)


@public("random.experimental.index_shuffle")
def index_shuffle(index: Any, seed: Any, max_index: Any) -> Any:
    """Where a permutation of `0, ..., max_index` puts an index, without the other indices.

    Equal to TensorFlow's.

    Args:
        index: A number in `[0, max_index]` or a vector of them, int32, uint32, int64 or uint64.
        seed: `[2]` or `[n, 2]`, int32, uint32, int64 or uint64: names the permutation.
        max_index: The largest index, a scalar or a vector, of the dtype of `index`.

    Returns:
        A scalar, or a vector if an argument has one dimension more, of the dtype of `index`.

    Raises:
        InvalidArgumentError: If an index is out of range or a shape does not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.random.experimental.index_shuffle(tf.range(4), [5, 9], 3).numpy().tolist()
        [2, 0, 1, 3]

    Differs from TensorFlow: where `max_index` is a power of 4 and at least 65536, TensorFlow gives
    two indices the same place. A seed for each index works; there it is an error.
    """
    node = "RandomIndexShuffle"
    tensors = [as_tensor(x) for x in (index, seed, max_index)]
    given, words, _ = (t.aval.shape for t in tensors)
    for name, tensor in zip(("index", "max_index"), (tensors[0], tensors[2]), strict=True):
        if len(tensor.aval.shape) > 1:
            raise InvalidArgumentError(
                f"{name} must be a scalar or a vector, got shape {list(tensor.aval.shape)} "
                f"[Op:{node}]: use tf.reshape before and afterwards"
            )
    if tensors[1].dtype.name not in _INTEGERS.split():
        raise InvalidArgumentError(
            f"Value for attr 'Tseed' of {tensors[1].dtype.name} is not in the list of allowed "
            f"values: int32, uint32, int64, uint64 [Op:{node}]: a seed is two integers"
        )
    if not 1 <= len(words) <= 2 or words[-1] != 2:
        raise InvalidArgumentError(
            f"seed must be two integers or a matrix [n, 2], got shape {list(words)} [Op:{node}]"
        )
    try:
        np.broadcast_shapes(*(t.aval.shape for t in (tensors[0], tensors[2])), words[:-1])
    except ValueError:
        raise InvalidArgumentError(
            f"index {list(given)}, seed {list(words)} and max_index "
            f"{list(tensors[2].aval.shape)} have different lengths [Op:{node}]"
        ) from None
    return _index_shuffle(*tensors)

"""Which states of a loop of unknown length are kept, and in which slot of a buffer.

A buffer of `K = 2^k` slots must at every moment hold states at an even spacing, although nobody
knows how many states are still to come. Write `bits(i)` for the number of binary digits of `i` and

    stride(i) = 2^max(0, bits(i) - k).

State `i` is kept if `stride(i)` divides it, in the slot that is the bitwise OR of the digits of `i`
in base `K`. This never sorts or moves anything, and it is enough:

*What a reader needs is kept.* After `N` steps the reader wants the multiples of
`s = stride(N - 1)`. There are at most `K` of them, since `N - 1 < K s`. Each was kept when the loop
passed it: strides grow with `i` and are powers of two, so its own stride divides `s`.

*Nothing that is needed was overwritten.* Let `j < i` both be kept, `j` a multiple of
`stride(i) = 2^m`. Both have all their ones in the `k` binary places from `m` on. OR-ing base-`K`
digits rotates `k` consecutive places into `k` bits without letting two meet: on such numbers the
fold is injective, and `i` took another slot than `j`. (A `j` that is no multiple of `stride(i)` is
none of `s` either: no reader wants it.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax

BUFFER_BYTES = 2**18
"""What the slots of one buffer take together unless the states are large."""
FEWEST_SLOTS = 64
FEWEST_SLOTS_OF_LARGE_STATES = 16
LARGE_STATE_BYTES = 2**20
MOST_SLOTS = 2**13
"""Buffers are cleared when a loop starts: more slots would cost short loops more than they save."""

_INDEX_BITS = 31  # indices are non-negative 32-bit integers


def bit_length(index: jax.Array) -> jax.Array:
    """Number of binary digits of a non-negative int32."""
    return _INDEX_BITS + 1 - lax.clz(index)


def is_multiple(index: jax.Array, shift: jax.Array) -> jax.Array:
    """Whether `2^shift` divides `index`."""
    return (index & ((jnp.int32(1) << shift) - 1)) == 0


def default_slots(state_bytes: int, bound: int | None) -> int:
    """The number of slots to use where the user gives none.

    Args:
        state_bytes: Size of what is kept of one state.
        bound: The most trips that the loop can make, or None.

    Returns:
        A power of two.
    """
    large = state_bytes > LARGE_STATE_BYTES
    fewest = FEWEST_SLOTS_OF_LARGE_STATES if large else FEWEST_SLOTS
    slots = max(fewest, min(MOST_SLOTS, BUFFER_BYTES // max(state_bytes, 1)))
    slots = 1 << (slots.bit_length() - 1)
    if bound is not None:
        slots = min(slots, 1 << max(bound - 1, 1).bit_length())
    return slots


@dataclass(frozen=True)
class Slots:
    """The rows of a checkpoint buffer: `2^exponent` slots and one for what is not kept.

    Writing every state, those not kept to the last row, is cheaper than a choice between the old
    and the new value, which would read the row first.

    Attributes:
        exponent: `k`, at least 1.
    """

    exponent: int

    @classmethod
    def of_count(cls, count: int) -> Slots:
        """The largest number of slots that is a power of two and at most `count`, at least 2."""
        return cls(max(1, count.bit_length() - 1))

    @property
    def count(self) -> int:
        """`K`, the number of states that are kept at most."""
        return 1 << self.exponent

    def shift(self, index: jax.Array) -> jax.Array:
        """log2 of the stride in force at state `index`."""
        return jnp.maximum(0, bit_length(index) - self.exponent)

    def fold(self, index: jax.Array) -> jax.Array:
        """The slot of a kept state: the OR of the digits of `index` in base `K`."""
        mask = self.count - 1
        slot = index & mask
        for place in range(self.exponent, _INDEX_BITS, self.exponent):
            slot = slot | ((index >> place) & mask)
        return slot

    def row(self, index: jax.Array, shift: jax.Array) -> jax.Array:
        """The row to write state `index` to where states at a stride of `2^shift` are kept."""
        return jnp.where(is_multiple(index, shift), self.fold(index), self.count)

    def allocate(self, state: Sequence[jax.Array]) -> list[jax.Array]:
        """Buffers for states like this one."""
        return allocate(state, self.count + 1)


def allocate(state: Sequence[jax.Array], rows: int) -> list[jax.Array]:
    """Buffers of `rows` states like this one.

    Rows hold copies, not zeros: some types of elements (random keys) have no zero.
    """
    return [jnp.broadcast_to(value[None], (rows, *value.shape)) for value in state]


def read(buffers: Sequence[jax.Array], row: jax.Array) -> list[jax.Array]:
    """The state in a row."""
    return [lax.dynamic_index_in_dim(buffer, row, 0, keepdims=False) for buffer in buffers]


def write(
    buffers: Sequence[jax.Array], row: jax.Array | int, state: Sequence[jax.Array]
) -> list[jax.Array]:
    """The buffers with a state in a row."""
    return [
        lax.dynamic_update_index_in_dim(buffer, value, row, 0)
        for buffer, value in zip(buffers, state, strict=True)
    ]

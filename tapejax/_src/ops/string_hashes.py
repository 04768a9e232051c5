"""The hash functions of TensorFlow's string ops: FarmHash, SipHash and a Murmur hash, in 64 bits.

References:
    G. Pike, "FarmHash" (2014), the portable 64 bit variant. J.-P. Aumasson and D. J. Bernstein,
    "SipHash: a fast short-input PRF" (2012). A. Appleby, "MurmurHash2" (2008).
"""

from __future__ import annotations

import struct

MASK = (1 << 64) - 1
_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F

_Pair = tuple[int, int]


def _rotate(value: int, bits: int) -> int:
    """To the right."""
    value &= MASK
    return (value >> bits | value << (64 - bits)) & MASK


def _mix(value: int) -> int:
    value &= MASK
    return value ^ value >> 47


def _word(text: bytes, at: int) -> int:
    return int.from_bytes(text[at : at + 8], "little")


def _half(text: bytes, at: int) -> int:
    return int.from_bytes(text[at : at + 4], "little")


def _two(u: int, v: int, factor: int) -> int:
    """Two words into one."""
    a = _mix((u ^ v) * factor)
    b = _mix(((v & MASK) ^ a) * factor)
    return b * factor & MASK


def _up_to_16(text: bytes) -> int:
    length = len(text)
    factor = _K2 + length * 2
    if length >= 8:
        a, b = _word(text, 0) + _K2, _word(text, length - 8)
        c = _rotate(b, 37) * factor + a
        d = (_rotate(a, 25) + b) * factor
        return _two(c & MASK, d & MASK, factor)
    if length >= 4:
        a = _half(text, 0)
        return _two(length + (a << 3), _half(text, length - 4), factor)
    if not length:
        return _K2
    y = text[0] + (text[length >> 1] << 8)
    z = length + (text[-1] << 2)
    return _mix(y * _K2 ^ z * _K0) * _K2 & MASK


def _up_to_32(text: bytes) -> int:
    length = len(text)
    factor = _K2 + length * 2
    a, b = _word(text, 0) * _K1, _word(text, 8)
    c, d = _word(text, length - 8) * factor, _word(text, length - 16) * _K2
    first = _rotate(a + b, 43) + _rotate(c, 30) + d
    return _two(first & MASK, (a + _rotate(b + _K2, 18) + c) & MASK, factor)


def _up_to_64(text: bytes) -> int:
    length = len(text)
    factor = _K2 + length * 2
    a, b = _word(text, 0) * _K2, _word(text, 8)
    c, d = _word(text, length - 8) * factor, _word(text, length - 16) * _K2
    y = (_rotate(a + b, 43) + _rotate(c, 30) + d) & MASK
    z = _two(y, (a + _rotate(b + _K2, 18) + c) & MASK, factor)
    e, f = _word(text, 16) * factor, _word(text, 24)
    g = (y + _word(text, length - 32)) * factor
    h = (z + _word(text, length - 24)) * factor
    first = _rotate(e + f, 43) + _rotate(g, 30) + h
    return _two(first & MASK, (e + _rotate(f + a, 18) + g) & MASK, factor)


def _weak(text: bytes, at: int, a: int, b: int) -> _Pair:
    """32 bytes and two seeds into two words."""
    w, x, y, z = struct.unpack_from("<4Q", text, at)
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    b += _rotate(a, 44)
    return (a + z) & MASK, (b + c) & MASK


_State = tuple[int, int, int, _Pair, _Pair]


def _block(text: bytes, at: int, state: _State, last: int = 0) -> _State:
    """Mix 64 bytes into the state; `last` is the factor of the last block, 0 before it."""
    x, y, z, v, w = state
    factor, nine = (last, 9) if last else (_K1, 1)
    x = _rotate(x + y + v[0] + _word(text, at + 8), 37) * factor
    y = _rotate(y + v[1] + _word(text, at + 48), 42) * factor
    x ^= w[1] * nine
    y += v[0] * nine + _word(text, at + 40)
    z = _rotate(z + w[0], 33) * factor & MASK
    x, y = x & MASK, y & MASK
    v = _weak(text, at, v[1] * factor, x + w[0])
    w = _weak(text, at + 32, z + w[1], y + _word(text, at + 16))
    return z, y, x, v, w


def fingerprint64(text: bytes) -> int:
    """FarmHash's fingerprint.

    Args:
        text: Any bytes.

    Returns:
        An unsigned 64 bit integer, equal on every machine.
    """
    length = len(text)
    if length <= 64:
        small = _up_to_16 if length <= 16 else _up_to_32 if length <= 32 else _up_to_64
        return small(text)
    y = 81 * _K1 + 113
    z = _mix(y * _K2 + 113) * _K2
    state = ((81 * _K2 + _word(text, 0)) & MASK, y & MASK, z & MASK, (0, 0), (0, 0))
    rest = (length - 1) & 63
    for at in range(0, (length - 1) // 64 * 64, 64):
        state = _block(text, at, state)
    x, y, z, v, w = state
    factor = _K1 + ((z & 0xFF) << 1)
    w = (w[0] + rest, w[1])
    v = ((v[0] + w[0]) & MASK, v[1])
    w = ((w[0] + v[0]) & MASK, w[1])
    x, y, z, v, w = _block(text, length - 64, (x, y, z, v, w), factor)
    first = _two(v[0], w[0], factor) + _mix(y) * _K0 + z
    return _two(first & MASK, (_two(v[1], w[1], factor) + x) & MASK, factor)


def murmur64(text: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """The hash of `tf.strings.to_hash_bucket`.

    Args:
        text: Any bytes.
        seed: An unsigned 64 bit integer.

    Returns:
        An unsigned 64 bit integer.
    """
    factor, length = 0xC6A4A7935BD1E995, len(text)
    found = seed ^ length * factor & MASK
    whole = length // 8 * 8
    for at in range(0, whole, 8):
        found = (found ^ _mix(_word(text, at) * factor) * factor) * factor & MASK
    if whole < length:
        found = (found ^ int.from_bytes(text[whole:], "little")) * factor & MASK
    return _mix(_mix(found) * factor)


def siphash(text: bytes, key: _Pair) -> int:
    """SipHash-2-4.

    Args:
        text: Any bytes.
        key: Two unsigned 64 bit integers.

    Returns:
        An unsigned 64 bit integer.
    """
    v = [
        key[0] ^ 0x736F6D6570736575,
        key[1] ^ 0x646F72616E646F6D,
        key[0] ^ 0x6C7967656E657261,
        key[1] ^ 0x7465646279746573,
    ]
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) & 0xFF])
    for at in range(0, len(padded), 8):
        word = _word(padded, at)
        v[3] ^= word
        _rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _rounds(v: list[int], count: int) -> None:
    for _ in range(count):
        for one, two, turn in ((0, 1, 13), (2, 3, 16)):
            v[one] = (v[one] + v[two]) & MASK
            v[two] = _rotate(v[two], 64 - turn) ^ v[one]
        v[0] = _rotate(v[0], 32)
        for one, two, turn in ((2, 1, 17), (0, 3, 21)):
            v[one] = (v[one] + v[two]) & MASK
            v[two] = _rotate(v[two], 64 - turn) ^ v[one]
        v[2] = _rotate(v[2], 32)

"""`tf.fingerprint`: eight bytes for each row of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.selecting import host_value
from tapejax._src.ops.string_hashes import fingerprint64


@public("fingerprint")
def fingerprint(data: Any, method: str = "farmhash64", name: str | None = None) -> Any:
    """Eight bytes for each row, equal for equal rows and hardly ever otherwise.

    Args:
        data: `[n, ...]` of any dtype (its value is read).
        method: "farmhash64".
        name: Ignored.

    Returns:
        `[n, 8]` uint8: TensorFlow's own numbers.

    Raises:
        InvalidArgumentError: If `data` is a scalar, or the method is another.

    Example:
        >>> import tapejax as tf
        >>> tf.fingerprint(["a", "b"]).numpy()[0].tolist()
        [227, 117, 223, 182, 101, 66, 69, 179]
    """
    del name
    array = host_value(as_tensor(data))
    if method != "farmhash64":
        raise InvalidArgumentError(f"Unsupported fingerprint method: {method} [Op:Fingerprint]")
    if not array.ndim:
        raise InvalidArgumentError("`data` should have at least one dimension: [] [Op:Fingerprint]")
    rows = array.reshape(len(array), -1)
    if array.dtype.kind == "O":
        texts = [row.tolist() for row in rows]
        # Several strings are hashed by their own fingerprints.
        found = [
            fingerprint64(row[0])
            if array.ndim == 1
            else fingerprint64(b"".join(_little(fingerprint64(text)) for text in row))
            for row in texts
        ]
    else:
        found = [fingerprint64(np.ascontiguousarray(row).tobytes()) for row in rows]
    numbers = np.frombuffer(b"".join(map(_little, found)), np.uint8)
    return constant_tensor(numbers.reshape(-1, 8).copy())


def _little(number: int) -> bytes:
    return number.to_bytes(8, "little")

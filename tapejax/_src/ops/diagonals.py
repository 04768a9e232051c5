"""Ops on the diagonals of matrices.

A band is given by `k`: one diagonal (0 main, positive above, negative below) or `(lower, upper)`.
A band of several diagonals is stored as `[..., upper - lower + 1, longest]`, upper first; shorter
diagonals are padded at the end that `align` leaves free.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, TensorLike, op
from tapejax._src.ops.shape_checks import brackets, zero_of

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def diagonal(x: Array, offset: int = 0) -> Array:
    """A diagonal of the matrices `[..., m, n]`, taken by index.

    The pullback of `jnp.diagonal` reads `x` in a branch for one kind of device, which would connect
    a linear op to its argument at second order.
    """
    rows, columns = x.shape[-2:]
    first = max(-offset, 0)
    length = max(min(rows - first, columns - max(offset, 0)), 0)
    place = np.arange(first, first + length)
    found = x[..., place, place + offset]
    return found if found.size else jnp.broadcast_to(zero_of(x), found.shape)


class _Band(NamedTuple):
    """The diagonals `lower` to `upper` of a `rows` x `columns` matrix, and how they are stored."""

    lower: int
    upper: int
    rows: int
    columns: int
    align: str

    @property
    def longest(self) -> int:
        """The length of a stored diagonal."""
        return min(self.rows + min(self.upper, 0), self.columns - max(self.lower, 0))

    def length(self, k: int) -> int:
        """The number of elements of diagonal `k`."""
        return min(self.rows + min(k, 0), self.columns - max(k, 0))

    def offset(self, k: int) -> int:
        """How many elements of padding come before diagonal `k`."""
        above, below = self.align.split("_")
        left = (k >= 0 and above == "LEFT") or (k <= 0 and below == "LEFT")
        return 0 if left else self.longest - self.length(k)


def _limits(k: Any, align: str) -> tuple[int, int]:
    """`(lower, upper)` of the argument `k`."""
    if align not in _ALIGNMENTS:
        allowed = ", ".join(f'"{name}"' for name in _ALIGNMENTS)
        raise InvalidArgumentError(
            f"Value for attr 'align' of \"{align}\" is not in the list of allowed values: {allowed}"
        )
    bounds = (k,) if isinstance(k, int) else tuple(k)
    if len(bounds) not in (1, 2):
        raise InvalidArgumentError(
            f"diag_index must be a scalar or a vector of one or two elements, got {k!r}"
        )
    lower, upper = bounds[0], bounds[-1]
    if lower > upper:
        raise InvalidArgumentError(
            f"lower_diag_index must not be larger than upper_diag_index: {lower} > {upper}"
        )
    return lower, upper


def _matrix_band(input: Array, k: Any, align: str) -> _Band:
    """The band of a given matrix."""
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"input must be at least 2-dim, received shape: {brackets(input.shape)}"
        )
    lower, upper = _limits(k, align)
    rows, columns = input.shape[-2:]
    for name, index in (("lower", lower), ("upper", upper)):
        if index != 0 and not -rows < index < columns:
            raise InvalidArgumentError(
                f"{name}_diag_index is out of bound: {index}. "
                f"It must be between {-rows} and {columns}"
            )
    return _Band(lower, upper, rows, columns, align)


def _diagonals(stored: Array, band: _Band) -> list[tuple[int, Array]]:
    """Each `(k, its elements)` of a stored band."""
    if band.lower == band.upper:
        stored = stored[..., None, :]
    found: list[tuple[int, Array]] = []
    for row, k in enumerate(np.arange(band.upper, band.lower - 1, -1).tolist()):
        start = band.offset(k)
        found.append((k, stored[..., row, start : start + band.length(k)]))
    return found


def _spread(values: Array, k: int, band: _Band) -> Array:
    """Elements of diagonal `k` such that they broadcast to their places in the matrix."""
    size = band.rows if k >= 0 else band.columns
    pairs = [(0, 0)] * (values.ndim - 1) + [(0, size - values.shape[-1])]
    padded = jnp.pad(values, pairs)
    return padded[..., :, None] if k >= 0 else padded[..., None, :]


def _put(matrix: Array, stored: Array, band: _Band) -> Array:
    """The matrix with the stored band in its diagonals."""
    distance = jnp.arange(band.columns)[None, :] - jnp.arange(band.rows)[:, None]
    for k, values in _diagonals(stored, band):
        matrix = jnp.where(distance == k, _spread(values, k, band), matrix)
    return matrix


def _new_band(diagonal: Array, k: Any, num_rows: int, num_cols: int, align: str) -> _Band:
    """The band of the smallest matrix that holds the diagonals, or of the one asked for."""
    if not diagonal.ndim:
        raise InvalidArgumentError("diagonal must be at least 1-dim, received shape: []")
    lower, upper = _limits(k, align)
    count = upper - lower + 1
    if count > 1 and (diagonal.ndim < 2 or diagonal.shape[-2] != count):
        raise InvalidArgumentError(
            "The number of diagonals provided in the input does not match the lower_diag_index "
            f"and upper_diag_index range: shape {brackets(diagonal.shape)} for {count} diagonals."
        )
    longest = diagonal.shape[-1]
    least_rows, least_columns = longest - min(upper, 0), longest + max(lower, 0)
    rows = max(least_rows, least_columns) if num_rows == num_cols == -1 else num_rows
    columns = rows if num_rows == num_cols == -1 else num_cols
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    for name, size, least in (("rows", rows, least_rows), ("columns", columns, least_columns)):
        if size < least:
            raise InvalidArgumentError(
                f"The number of {name} is too small: {size}, but the diagonals need {least}."
            )
    if rows != least_rows and columns != least_columns:
        raise InvalidArgumentError(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, "
            "and diagonal."
        )
    return _Band(lower, upper, rows, columns, align)


@op(
    "linalg.diag",
    node="MatrixDiagV3",
    no_gradient=("padding_value",),
    cases=(
        "f32[3]",
        "i32[2,2], k=1",
        "f64[2,3], k=(-1, 0)",
        "f32[3,3], k=(-1, 1), align='LEFT_RIGHT'",
        "f32[2], k=-1, num_rows=3, num_cols=4, padding_value=9",
        "c64[2]",
    ),
)
def diag(
    diagonal: Same,
    name: str = "diag",
    k: StaticInts = 0,
    num_rows: StaticInts = -1,
    num_cols: StaticInts = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Array:
    """Matrices with the given diagonals.

    Args:
        diagonal: `[..., n]` for one diagonal, `[..., upper - lower + 1, n]` for a band.
        name: Ignored.
        k: The diagonal, or `(lower, upper)`.
        num_rows: The number of rows. Default: as few as possible (square, if both are left out).
        num_cols: The number of columns.
        padding_value: A scalar for all other elements; no gradient reaches it.
        align: At which end shorter diagonals above and below the main one are stored.

    Returns:
        A tensor of shape `[..., num_rows, num_cols]`.

    Raises:
        InvalidArgumentError: If the sizes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.linalg.diag([1, 2]).numpy().tolist()
        [[1, 0], [0, 2]]
    """
    band = _new_band(diagonal, k, num_rows, num_cols, align)
    batch = diagonal.shape[: -1 if band.lower == band.upper else -2]
    fill = jnp.asarray(padding_value).astype(diagonal.dtype)
    fill = jnp.broadcast_to(fill, (*batch, band.rows, band.columns))
    return _put(fill, diagonal, band)


@op(
    "linalg.diag_part",
    node="MatrixDiagPartV3",
    no_gradient=("padding_value",),
    cases=(
        "f32[3,4]",
        "i32[2,3,3], k=1",
        "f64[3,4], k=(-1, 1)",
        "f32[3,2], k=(-2, 1), align='LEFT_RIGHT', padding_value=7",
        "c64[2,2], k=-1",
        "f32[2,0]",
    ),
)
def diag_part(
    input: Same,
    name: str = "diag_part",
    k: StaticInts = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Array:
    """The diagonals of matrices.

    Args:
        input: `[..., rows, columns]`.
        name: Ignored.
        k: The diagonal, or `(lower, upper)`.
        padding_value: A scalar that fills up shorter diagonals; no gradient reaches it.
        align: At which end shorter diagonals above and below the main one are stored.

    Returns:
        `[..., n]` for one diagonal, `[..., upper - lower + 1, n]` for a band.

    Raises:
        InvalidArgumentError: If the matrix has no such diagonal.

    Example:
        >>> import tapejax as tf
        >>> tf.linalg.diag_part([[1, 2], [3, 4]]).numpy().tolist()
        [1, 4]
    """
    band = _matrix_band(input, k, align)
    if band.lower == band.upper:
        return diagonal(input, band.lower)
    rows: list[Array] = []
    for index in np.arange(band.upper, band.lower - 1, -1).tolist():
        values = diagonal(input, index)
        before = band.offset(index)
        after = band.longest - before - values.shape[-1]
        pairs = [(0, 0)] * (values.ndim - 1) + [(before, after)]
        stored = jnp.pad(values, pairs)
        place = jnp.arange(band.longest)
        real = (place >= before) & (place < band.longest - after)
        rows.append(jnp.where(real, stored, jnp.asarray(padding_value).astype(input.dtype)))
    return jnp.stack(rows, -2)


@op(
    "linalg.set_diag",
    node="MatrixSetDiagV3",
    cases=(
        "f32[3,4], f32[3]",
        "i32[2,3,3], i32[2,2], k=1",
        "f64[3,4], f64[2,3], k=(0, 1)",
        "f32[3,3], f32[2,3], k=(-1, 0), align='LEFT_RIGHT'",
        "c64[2,2], c64[2]",
    ),
)
def set_diag(
    input: Same,
    diagonal: Same,
    name: str = "set_diag",
    k: StaticInts = 0,
    align: str = "RIGHT_LEFT",
) -> Array:
    """Matrices with some diagonals replaced.

    Args:
        input: `[..., rows, columns]`.
        diagonal: `[..., n]` for one diagonal, `[..., upper - lower + 1, n]` for a band.
        name: Ignored.
        k: The diagonal, or `(lower, upper)`.
        align: At which end shorter diagonals above and below the main one are stored.

    Returns:
        A tensor of the shape of `input`.

    Raises:
        InvalidArgumentError: If the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.linalg.set_diag([[1, 2], [3, 4]], [9, 8]).numpy().tolist()
        [[9, 2], [3, 8]]
    """
    band = _matrix_band(input, k, align)
    count = band.upper - band.lower + 1
    tail = (band.longest,) if count == 1 else (count, band.longest)
    if diagonal.shape != (*input.shape[:-2], *tail):
        raise InvalidArgumentError(
            f"The shape of `diagonal` does not fit.\nInput shape: {brackets(input.shape)}\n"
            f"Diagonal shape: {brackets(diagonal.shape)}\n"
            f"Expected diagonal shape: {brackets((*input.shape[:-2], *tail))}"
        )
    return _put(input, diagonal, band)


@op(
    "linalg.band_part",
    node="MatrixBandPart",
    cases=("f32[3,4], 1, 0", "i32[2,3,3], -1, 0", "f64[3,2], 0, -1", "c64[2,2], 0, 0"),
)
def band_part(
    input: TensorLike, num_lower: StaticInts, num_upper: StaticInts, name: str | None = None
) -> Array:
    """Matrices with zeros outside a band around the main diagonal.

    Args:
        input: `[..., rows, columns]`.
        num_lower: How many diagonals below the main one are kept; negative: all.
        num_upper: How many diagonals above it are kept; negative: all.
        name: Ignored.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: If there are not that many diagonals.

    Example:
        >>> import tapejax as tf
        >>> tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy().tolist()
        [[1, 0], [3, 4]]
    """
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"input must be at least 2-dim, received shape: {brackets(input.shape)}"
        )
    rows, columns = input.shape[-2:]
    for name_, count, most, what in (
        ("num_lower", num_lower, rows, "rows"),
        ("num_upper", num_upper, columns, "columns"),
    ):
        if not isinstance(count, int):
            raise InvalidArgumentError(f"{name_} must be scalar, got shape [{len(count)}]")
        if count > most:
            raise InvalidArgumentError(
                f"{name_} must be negative or less or equal to number of {what} ({most}) "
                f"got: {count}"
            )
    distance = jnp.arange(columns)[None, :] - jnp.arange(rows)[:, None]
    low = -rows if num_lower < 0 else -num_lower
    high = columns if num_upper < 0 else num_upper
    kept = (distance >= low) & (distance <= high)
    return jnp.where(kept, input, jnp.zeros((), input.dtype))

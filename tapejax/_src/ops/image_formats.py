"""Image files in memory: bytes to NumPy arrays and back.

PNG is written here, and PNG with 16 bits and BMP without compression are read here. All else is
Pillow's work, which is imported when it is first needed.
"""

from __future__ import annotations

import importlib
import io
import struct
import zlib
from typing import Any

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError

Pixels = np.ndarray[Any, Any]

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
_XMP = b"http://ns.adobe.com/xap/1.0/\x00"
# Shares of red, green and blue in grey, in units of 2**-15.
_GREY = (9797, 19234, 3737)


def pillow() -> Any:
    """The module `PIL.Image`.

    Raises:
        ImportError: If Pillow is not installed.
    """
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise ImportError(
            "Reading and writing image files needs Pillow, which is not installed: "
            "pip install tapejax[image]"
        ) from error


def format_of(data: bytes) -> str | None:
    """The format by the first bytes: "jpeg", "png", "gif", "bmp", "webp", "jxl" or None."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    starts = (
        (b"\xff\xd8\xff", "jpeg"),
        (b"\x89PN", "png"),
        (b"GIF8", "gif"),
        (b"BM", "bmp"),
        (b"\xff\x0a", "jxl"),
        (b"\x00\x00\x00\x0cJXL ", "jxl"),
    )
    return next((name for start, name in starts if data.startswith(start)), None)


def _opened(data: bytes, what: str) -> Any:
    image = pillow()
    try:
        return image.open(io.BytesIO(data))
    except (OSError, SyntaxError, ValueError) as error:
        raise InvalidArgumentError(f"Invalid {what} data, size {len(data)}: {error}") from None


def _converted(picture: Any, mode: str, what: str) -> Pixels:
    try:
        array = np.array(picture.convert(mode))
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise InvalidArgumentError(f"Invalid {what} data: {error}") from None
    return array if array.ndim == 3 else array[..., None]


# ---------------------------------------------------------------------- JPEG
def read_jpeg(data: bytes, channels: int = 0, ratio: int = 1, recover: bool = False) -> Pixels:
    """A JPEG as uint8 `[height, width, 1 or 3]`.

    Args:
        data: The file.
        channels: 1 for the brightness alone, 3 for RGB, 0 for what is there.
        ratio: 1, 2, 4 or 8: by how much to make the image smaller while it is read.
        recover: Whether what a truncated file lacks is left grey.

    Raises:
        InvalidArgumentError: If it cannot be read.
    """
    picture = _opened(data + b"\xff\xd9" if recover else data, "JPEG")
    mode = "L" if channels == 1 or (channels == 0 and picture.mode == "L") else "RGB"
    wanted = [-(-size // ratio) for size in picture.size]
    if mode == "L" or ratio > 1:
        picture.draft(mode, [max(1, size // ratio) for size in picture.size])
    array = _converted(picture, mode, "JPEG")
    if list(array.shape[1::-1]) == wanted:
        return array
    small = pillow().fromarray(array[..., 0] if mode == "L" else array)
    return _converted(small.resize(wanted, pillow().Resampling.BOX), mode, "JPEG")


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Height, width and channels of a JPEG, from its header.

    Raises:
        InvalidArgumentError: If it is not a JPEG.
    """
    if format_of(data) != "jpeg":
        raise InvalidArgumentError(f"Invalid JPEG data, size {len(data)}")
    picture = _opened(data, "JPEG")
    return picture.size[1], picture.size[0], len(picture.getbands())


def write_jpeg(
    pixels: Pixels,
    quality: int,
    *,
    progressive: bool = False,
    optimize: bool = False,
    downsample: bool = True,
    density: tuple[int, int, int] = (1, 300, 300),
    xmp: bytes = b"",
) -> bytes:
    """uint8 `[height, width, 1 or 3]` as a JPEG.

    Args:
        pixels: The image.
        quality: 0 to 100.
        progressive: Whether a coarse image comes first.
        optimize: Whether to look for a better entropy code.
        downsample: Whether colour has half the resolution of brightness.
        density: The unit (1: inch, 2: centimetre), and how many pixels one has, for the header.
        xmp: Metadata.
    """
    array = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
    file = io.BytesIO()
    pillow().fromarray(np.ascontiguousarray(array)).save(
        file,
        "JPEG",
        quality=quality,
        progressive=progressive,
        optimize=optimize,
        subsampling=2 if downsample and array.ndim == 3 else 0,
    )
    data = file.getvalue()
    # The header of the file begins with 13 fixed bytes; Pillow writes inches only.
    head = data[:13] + struct.pack(">BHH", *density) + data[18:20]
    segment = b"\xff\xe1" + struct.pack(">H", len(xmp) + len(_XMP) + 2) + _XMP + xmp if xmp else b""
    return head + segment + data[20:]


# ---------------------------------------------------------------------- PNG
def write_png(pixels: Pixels, compression: int) -> bytes:
    """uint8 or uint16 `[height, width, 1 to 4]` as a PNG, without loss."""
    height, width, channels = pixels.shape
    wide = pixels.dtype == np.uint16
    step = channels * (2 if wide else 1)
    raw = np.ascontiguousarray(pixels.astype(">u2") if wide else pixels)
    rows = raw.view(np.uint8).reshape(height, width * step)
    filtered = np.empty((height, width * step + 1), np.uint8)
    filtered[:, 0] = 1  # each byte less that of the pixel on its left
    filtered[:, 1 : step + 1] = rows[:, :step]
    filtered[:, step + 1 :] = rows[:, step:] - rows[:, :-step]
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", width, height, 16 if wide else 8, kind, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(filtered.tobytes(), compression))]
    return _PNG + b"".join(_chunk(*part) for part in [*parts, (b"IEND", b"")])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def read_png(data: bytes, channels: int = 0, wide: bool = False) -> Pixels:
    """A PNG as uint8, or as uint16 if `wide`: `[height, width, 1 to 4]`.

    Args:
        data: The file.
        channels: 1, 3 or 4, or 0 for those that are there.
        wide: Whether to give 16 bits.

    Raises:
        InvalidArgumentError: If it cannot be read.
    """
    deep = data[24:25] == b"\x10" and data[12:16] == b"IHDR"
    array = _read_deep_png(data) if deep else _read_shallow_png(data, channels)
    array = with_channels(array, channels)
    if wide and not deep:
        return array.astype(np.uint16) * np.uint16(257)
    return (array >> 8).astype(np.uint8) if deep and not wide else array


def _read_shallow_png(data: bytes, channels: int) -> Pixels:
    picture = _opened(data, "PNG")
    clear = "transparency" in picture.info
    mode: str = {"1": "L", "P": "RGB"}.get(picture.mode, str(picture.mode))
    if clear and (picture.mode == "P" or channels == 4):
        mode = "RGBA"
    return _converted(picture, mode, "PNG")


def _read_deep_png(data: bytes) -> Pixels:
    width, height, _, kind, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    if interlaced:
        raise InvalidArgumentError(
            "Interlaced PNG with 16 bits for each channel is not supported: save it without "
            "interlacing."
        )
    channels, at, parts = _PNG_CHANNELS[kind], 8, list[bytes]()
    while at + 8 <= len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        if name == b"IDAT":
            parts.append(data[at + 8 : at + 8 + length])
        at += length + 12
    step = 2 * channels
    try:
        raw = np.frombuffer(zlib.decompress(b"".join(parts)), np.uint8)
        rows = raw.reshape(height, width * step + 1)
    except (zlib.error, ValueError) as error:
        raise InvalidArgumentError(f"Invalid PNG data, size {len(data)}: {error}") from None
    bytes_of = np.zeros((height + 1, width + 1, step), np.uint8)
    for number, row in enumerate(rows):
        line = row[1:].reshape(width, step)
        _unfilter(int(row[0]), line, bytes_of[number], bytes_of[number + 1])
    pixels = np.ascontiguousarray(bytes_of[1:, 1:]).reshape(height, width, step)
    return pixels.view(">u2").astype(np.uint16)


def _unfilter(kind: int, line: Pixels, above: Pixels, out: Pixels) -> None:
    """Undo the filter of one row; `above` and `out` begin with a pixel of zeros."""
    if kind == 0:
        out[1:] = line
    elif kind == 1:
        out[1:] = np.cumsum(line, axis=0, dtype=np.uint8)
    elif kind == 2:
        out[1:] = line + above[1:]
    else:
        for n in range(len(line)):
            left, up, corner = (x.astype(np.int16) for x in (out[n], above[n + 1], above[n]))
            guess = (left + up) // 2 if kind == 3 else _paeth(left, up, corner)
            out[n + 1] = (line[n] + guess).astype(np.uint8)


def _paeth(left: Pixels, up: Pixels, corner: Pixels) -> Pixels:
    """The one of three neighbours that is nearest to `left + up - corner`."""
    by_left, by_up = np.abs(up - corner), np.abs(left - corner)
    by_corner = np.abs(left + up - 2 * corner)
    nearest = np.where(by_up <= by_corner, up, corner)
    return np.where((by_left <= by_up) & (by_left <= by_corner), left, nearest)


# ---------------------------------------------------------------------- channels
def with_channels(pixels: Pixels, channels: int) -> Pixels:
    """The image with so many channels (0: as it is): colour to grey and back, opaque by default."""
    have = pixels.shape[-1]
    if channels in (0, have):
        return pixels
    colour = pixels[..., : 1 if have < 3 else 3]
    if channels == 1:
        return colour if have < 3 else _grey(colour)
    colour = np.repeat(colour, 3, axis=-1) if have < 3 else colour
    if channels == 3:
        return colour
    opaque = np.full_like(pixels[..., :1], np.iinfo(pixels.dtype).max)
    return np.concatenate([colour, pixels[..., 1:2] if have == 2 else opaque], axis=-1)


def _grey(colour: Pixels) -> Pixels:
    total = np.sum(colour.astype(np.int64) * np.asarray(_GREY), axis=-1, keepdims=True)
    rounding = 1 << 14 if colour.dtype == np.uint16 else 0
    mixed = ((total + rounding) >> 15).astype(colour.dtype)
    equal = np.all(colour == colour[..., :1], axis=-1, keepdims=True)
    return np.where(equal, colour[..., :1], mixed)


# ---------------------------------------------------------------------- BMP, GIF, WebP
def read_bmp(data: bytes, channels: int = 0) -> Pixels:
    """A BMP as uint8 `[height, width, 1, 3 or 4]`.

    Raises:
        InvalidArgumentError: If it cannot be read.
    """
    if len(data) < 34:
        raise InvalidArgumentError(
            f"Incomplete bmp content, requires at least 34 bytes, got {len(data)}"
        )
    start = struct.unpack("<I", data[10:14])[0]
    width, height, _, bits, packing = struct.unpack("<iiHHI", data[18:34])
    if bits in (24, 32) and (packing == 0 or (packing == 3 and bits == 32)):
        row = (width * bits // 8 + 3) // 4 * 4
        body = data[start : start + row * abs(height)]
        if len(body) < row * abs(height):
            raise InvalidArgumentError(f"Incomplete bmp content, size {len(data)}")
        lines = np.frombuffer(body, np.uint8).reshape(abs(height), row)
        pixels = lines[:, : width * bits // 8].reshape(abs(height), width, bits // 8)
        pixels = pixels[..., [2, 1, 0, 3][: bits // 8]]
        pixels = pixels[::-1] if height > 0 else pixels
    else:
        picture = _opened(data, "BMP")
        pixels = _converted(picture, "L" if picture.mode in ("1", "L") else "RGB", "BMP")
    return with_channels(np.ascontiguousarray(pixels), channels)


def read_frames(data: bytes, what: str) -> Pixels:
    """All frames of an animation: uint8 `[frames, height, width, 3]`, 4 for WebP with alpha.

    Raises:
        InvalidArgumentError: If it cannot be read.
    """
    picture = _opened(data, what)
    mode = "RGBA" if what == "WebP" and picture.mode == "RGBA" else "RGB"
    frames: list[Pixels] = []
    for number in range(int(getattr(picture, "n_frames", 1))):
        picture.seek(number)
        frames.append(_converted(picture, mode, what))
    return np.stack(frames)

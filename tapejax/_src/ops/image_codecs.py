"""Image files in memory, decoded: `tf.io.decode_image` and its relatives.

They run on the host: bytes are no values of compiled programs.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from tapejax._src.core.dtypes import DType, as_dtype, float32, string, uint8, uint16
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.ops import image_formats as formats
from tapejax._src.ops.image_colors import convert_image_dtype

_UNKNOWN = (
    "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required "
    "(JPEG XL cannot be read here)."
)


def fail(problem: str, node: str) -> NoReturn:
    """Raise an InvalidArgumentError of an op.

    Raises:
        InvalidArgumentError: Always.
    """
    raise InvalidArgumentError(f"{problem} [Op:{node}]")


def bytes_of(contents: Any, node: str) -> bytes:
    """The one string of a scalar string tensor, which must not be empty.

    Raises:
        InvalidArgumentError: If there is not one, or it is empty.
    """
    tensor = as_tensor(contents, string)
    if tensor.aval.shape:
        fail(f"`contents` must be scalar but got shape {list(tensor.aval.shape)}", node)
    data = np.asarray(tensor.view()).item()
    if not data:
        fail("Input is empty.", node)
    return data


def _check_channels(channels: Any, allowed: tuple[int, ...], node: str, of: str = "") -> int:
    if channels not in allowed:
        names = [str(n) for n in allowed]
        text = f"{', '.join(names[:-1])} or {names[-1]}"
        fail(f"`channels` must be {text}{of} but got {channels}", node)
    return int(channels)


def _check_ratio(ratio: Any, node: str) -> int:
    if ratio not in (1, 2, 4, 8):
        fail(f"ratio must be 1, 2, 4, or 8, got {ratio}", node)
    return int(ratio)


def _read_jpeg(data: bytes, channels: int, node: str, ratio: int = 1, recover: bool = False) -> Any:
    if channels == 4:
        fail("JPEG does not support 4 channels", node)
    try:
        return formats.read_jpeg(data, channels, ratio, recover)
    except InvalidArgumentError as error:
        fail(f"jpeg::Uncompress failed. Invalid JPEG data or crop window. {error}", node)


def _frames(data: bytes, channels: int, node: str, animated: bool) -> Any:
    if channels not in (0, 3):
        fail(f"channels must be 0 or 3 for GIF, got {channels}", node)
    made = formats.read_frames(data, "GIF")
    return made if animated else made[0]


def _webp_frames(data: bytes, channels: int, node: str, animated: bool) -> Any:
    if channels not in (0, 3, 4):
        fail(f"WebP only supports 3 or 4 channels, got {channels}", node)
    made = formats.read_frames(data, "WebP")
    if channels not in (0, made.shape[-1]):
        fail(
            f"Number of channels requested does not match input: {channels}, it has "
            f"{made.shape[-1]}",
            node,
        )
    return made if animated else made[0]


def _read(data: bytes, channels: int, dtype: DType, node: str, animated: bool = True) -> Tensor:
    """An image of any format in a dtype that TensorFlow decodes to: uint8, uint16 or float32."""
    kind = formats.format_of(data)
    if kind is None or kind == "jxl":
        fail(_UNKNOWN, node)
    if kind == "webp" and dtype != uint8:
        fail(f"WebP only supports uint8 for dtype, got {dtype.name}", node)
    if kind == "jpeg":
        array = _read_jpeg(data, channels, node)
    elif kind == "png":
        array = formats.read_png(data, channels, wide=dtype != uint8)
    elif kind == "bmp":
        array = formats.read_bmp(data, _check_channels(channels, (0, 3, 4), node, " for BMP,"))
    elif kind == "gif":
        array = _frames(data, channels, node, animated)
    else:
        array = _webp_frames(data, channels, node, animated)
    image = constant_tensor(np.ascontiguousarray(array))
    return image if image.dtype == dtype else convert_image_dtype(image, dtype)


def _still(contents: Any, channels: Any, dtype: DType, node: str) -> Tensor:
    """The one image of a file, for the ops that are named after a format but read several."""
    data = bytes_of(contents, node)
    channels = _check_channels(channels, (0, 1, 3, 4), node)
    kind = formats.format_of(data)
    if kind == "bmp":
        fail(
            "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` "
            f"instead. Op used: {node}",
            node,
        )
    if kind == "gif":
        frames = _frames(data, channels, node, animated=True)
        if len(frames) != 1:
            fail(
                f"Got {len(frames)} frames, but animated gifs can only be decoded by "
                "tf.io.decode_gif or tf.io.decode_image",
                node,
            )
        image = constant_tensor(frames[0])
        return image if dtype == uint8 else convert_image_dtype(image, dtype)
    return _read(data, channels, dtype, node)


# ---------------------------------------------------------------------- decoding
@public("io.decode_image", "image.decode_image")
def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: DTypeLike = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """Decode a JPEG, PNG, GIF, BMP or WebP file.

    Args:
        contents: A scalar string: the file's bytes.
        channels: 1, 3 or 4, as far as the format has them; 0 or None for those of the file.
        dtype: The wanted dtype; other than uint8, values are converted to its range as by
            `tf.image.convert_image_dtype`.
        name: Ignored.
        expand_animations: Whether GIF and WebP files give all their frames, even if there is one.

    Returns:
        `[height, width, channels]`, or `[frames, height, width, channels]`.

    Raises:
        tf.errors.InvalidArgumentError: If the bytes are not an image or the channels do not fit.
        ImportError: If Pillow is needed and not installed (`pip install tapejax[image]`).

    Example:
        >>> import tapejax as tf
        >>> png = tf.io.encode_png(tf.constant([[[1], [2]]], tf.uint8))
        >>> tf.io.decode_image(png).numpy().tolist()
        [[[1], [2]]]

    *Differs from TensorFlow*: JPEG is decoded as with `dct_method="INTEGER_ACCURATE"` (see
    `tf.io.decode_jpeg`), BMP with a palette gives its colours, not the places in the palette, and
    JPEG XL cannot be read.
    """
    wanted = as_dtype(dtype)
    decoded = wanted if wanted in (float32, uint8, uint16) else uint16
    node = "DecodeImage"
    data = bytes_of(contents, node)
    count = 0 if channels is None else channels
    _check_channels(count, (0, 1, 3, 4), node)
    image = _read(data, count, decoded, node, bool(expand_animations))
    return image if decoded == wanted else convert_image_dtype(image, wanted)


@public("io.decode_png", "image.decode_png")
def decode_png(
    contents: Any, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None
) -> Any:
    """Decode a PNG file (or a JPEG, or a GIF of one frame).

    Args:
        contents: A scalar string: the file's bytes.
        channels: 1 (grey), 3 (RGB), 4 (RGBA), or 0 for those of the file.
        dtype: `tf.uint8` or `tf.uint16`.
        name: Ignored.

    Returns:
        `[height, width, channels]`.

    Raises:
        tf.errors.InvalidArgumentError: If the bytes are not such an image or an argument does not
            fit.
        ImportError: If Pillow is needed and not installed (`pip install tapejax[image]`).

    Example:
        >>> import tapejax as tf
        >>> png = tf.io.encode_png(tf.constant([[[1, 2, 3]]], tf.uint8))
        >>> tf.io.decode_png(png, channels=4).numpy().tolist()
        [[[1, 2, 3, 255]]]

    *Differs from TensorFlow*: the alpha that `channels=4` adds to files of fewer than 8 bits is 255
    as for all others.
    """
    wanted = as_dtype(dtype)
    if wanted not in (uint8, uint16):
        fail(
            f"Value for attr 'dtype' of {wanted.name} is not in the list of allowed values: uint8, "
            "uint16",
            "DecodePng",
        )
    return _still(contents, channels, wanted, "DecodePng")


@public("io.decode_jpeg", "image.decode_jpeg")
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """Decode a JPEG file (or a PNG, or a GIF of one frame).

    Args:
        contents: A scalar string: the file's bytes.
        channels: 1 (grey), 3 (RGB), or 0 for those of the file.
        ratio: 1, 2, 4 or 8: by how much to make the image smaller while it is read.
        fancy_upscaling: Must be True: how colours of half resolution are enlarged.
        try_recover_truncated: Whether what a truncated file lacks is left grey.
        acceptable_fraction: Below 1 counts as `try_recover_truncated`.
        dct_method: Ignored; the method is always `"INTEGER_ACCURATE"`.
        name: Ignored.

    Returns:
        uint8 `[height, width, channels]`.

    Raises:
        tf.errors.InvalidArgumentError: If the bytes are not such an image or an argument does not
            fit.
        NotImplementedError: With `fancy_upscaling=False`.
        ImportError: If Pillow is not installed (`pip install tapejax[image]`).

    Example:
        >>> import tapejax as tf
        >>> jpeg = tf.io.encode_jpeg(tf.zeros([4, 6, 3], tf.uint8))
        >>> tf.io.decode_jpeg(jpeg).shape
        TensorShape([4, 6, 3])

    *Differs from TensorFlow*: values are those of TensorFlow's
    `dct_method="INTEGER_ACCURATE"`. TensorFlow's own default is the faster, less exact
    `"INTEGER_FAST"`, from which they differ by a few units. What a truncated file lacks is grey,
    not black.
    """
    node = "DecodeJpeg"
    _check_options(fancy_upscaling, dct_method, node)
    ratio = _check_ratio(ratio, node)
    data = bytes_of(contents, node)
    if formats.format_of(data) != "jpeg":
        return _still(contents, channels, uint8, node)
    recover = try_recover_truncated or acceptable_fraction < 1
    channels = _check_channels(channels, (0, 1, 3, 4), node)
    return constant_tensor(_read_jpeg(data, channels, node, ratio, recover))


def _check_options(fancy_upscaling: Any, dct_method: str, node: str) -> None:
    if not fancy_upscaling:
        raise NotImplementedError(
            "fancy_upscaling=False is not supported: Pillow, which decodes JPEG files here, always "
            "enlarges colours smoothly. Leave it at True."
        )
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        fail(
            "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}, got "
            f"{dct_method!r}",
            node,
        )


@public("io.decode_and_crop_jpeg", "image.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """Decode a part of a JPEG file.

    Args:
        contents: A scalar string: the file's bytes.
        crop_window: `[4]` integers: first row, first column, height, width.
        channels: As of `tf.io.decode_jpeg`.
        ratio: As of `tf.io.decode_jpeg`.
        fancy_upscaling: As of `tf.io.decode_jpeg`.
        try_recover_truncated: As of `tf.io.decode_jpeg`.
        acceptable_fraction: As of `tf.io.decode_jpeg`.
        dct_method: As of `tf.io.decode_jpeg`.
        name: Ignored.

    Returns:
        uint8 `[crop height, crop width, channels]`.

    Raises:
        tf.errors.InvalidArgumentError: If the bytes are not a JPEG or the window is not inside.
        ImportError: If Pillow is not installed (`pip install tapejax[image]`).

    Example:
        >>> import tapejax as tf
        >>> jpeg = tf.io.encode_jpeg(tf.zeros([4, 6, 3], tf.uint8))
        >>> tf.io.decode_and_crop_jpeg(jpeg, [1, 2, 3, 4]).shape
        TensorShape([3, 4, 3])

    *Differs from TensorFlow*: as `tf.io.decode_jpeg` does.
    """
    node = "DecodeAndCropJpeg"
    _check_options(fancy_upscaling, dct_method, node)
    window = static_ints(crop_window)
    if not isinstance(window, tuple) or len(window) != 4:
        fail(f"crop_window must have four elements, got {crop_window!r}", node)
    data = bytes_of(contents, node)
    recover = try_recover_truncated or acceptable_fraction < 1
    channels = _check_channels(channels, (0, 1, 3, 4), node)
    image = _read_jpeg(data, channels, node, _check_ratio(ratio, node), recover)
    top, left, height, width = window
    if min(top, left) < 0 or min(height, width) <= 0:
        fail(f"jpeg::Uncompress failed. Invalid crop window {window}.", node)
    if top + height > image.shape[0] or left + width > image.shape[1]:
        fail(
            f"jpeg::Uncompress failed. Crop window {window} is not inside an image of shape "
            f"{image.shape}.",
            node,
        )
    return constant_tensor(image[top : top + height, left : left + width].copy())


@public("io.decode_bmp", "image.decode_bmp")
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Any:
    """Decode a BMP file.

    Args:
        contents: A scalar string: the file's bytes.
        channels: 3 (RGB), 4 (RGBA), or 0 for those of the file.
        name: Ignored.

    Returns:
        uint8 `[height, width, channels]`.

    Raises:
        tf.errors.InvalidArgumentError: If the bytes are not a BMP or the channels do not fit.
        ImportError: If Pillow is needed and not installed (`pip install tapejax[image]`).

    Example:
        >>> import struct
        >>> import tapejax as tf
        >>> head = struct.pack(
        ...     "<2sIIIIiiHHIIiiII", b"BM", 58, 0, 54, 40, 1, 1, 1, 24, 0, 4, *[0] * 4
        ... )
        >>> tf.io.decode_bmp(head + bytes([1, 2, 3, 0])).numpy().tolist()
        [[[3, 2, 1]]]

    *Differs from TensorFlow*: files with a palette give its colours, not the places in the palette.
    """
    node = "DecodeBmp"
    data = bytes_of(contents, node)
    kind = formats.format_of(data)
    if kind != "bmp":
        if kind is None:
            fail(_UNKNOWN, node)
        fail(
            f"Trying to decode {kind.upper()} format using DecodeBmp op. Use `decode_{kind}` or "
            "`decode_image` instead.",
            node,
        )
    return _read(data, channels, uint8, node)


@public("io.decode_gif", "image.decode_gif")
def decode_gif(contents: Any, name: str | None = None) -> Any:
    """Decode all frames of a GIF file (or a JPEG or PNG as one frame).

    Args:
        contents: A scalar string: the file's bytes.
        name: Ignored.

    Returns:
        uint8 `[frames, height, width, 3]`.

    Raises:
        tf.errors.InvalidArgumentError: If the bytes are not such an image.
        ImportError: If Pillow is not installed (`pip install tapejax[image]`).

    Example:
        >>> import tapejax as tf
        >>> png = tf.io.encode_png(tf.zeros([4, 6, 3], tf.uint8))
        >>> tf.io.decode_gif(png).shape
        TensorShape([1, 4, 6, 3])
    """
    node = "DecodeGif"
    data = bytes_of(contents, node)
    if formats.format_of(data) == "gif":
        return _read(data, 0, uint8, node)
    return _still(contents, 3, uint8, node)[None]


@public("io.decode_webp", "image.decode_webp")
def decode_webp(
    contents: Any, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None
) -> Any:
    """Decode all frames of a WebP file.

    Args:
        contents: A scalar string: the file's bytes.
        channels: 3 or 4, which the file must have; 0 for those of the file.
        dtype: `tf.uint8`.
        name: Ignored.

    Returns:
        uint8 `[frames, height, width, channels]`.

    Raises:
        tf.errors.InvalidArgumentError: If the bytes are not a WebP or an argument does not fit.
        ImportError: If Pillow is not installed (`pip install tapejax[image]`).

    Example:
        >>> import tapejax as tf
        >>> tf.io.decode_webp(b"no such file")
        Traceback (most recent call last):
        tapejax._src.core.errors.InvalidArgumentError: Unknown image file format. ...
    """
    node = "DecodeWebP"
    if as_dtype(dtype) != uint8:
        fail(f"Value for attr 'dtype' of {as_dtype(dtype).name} must be uint8", node)
    data = bytes_of(contents, node)
    if formats.format_of(data) != "webp":
        fail(_UNKNOWN, node)
    return constant_tensor(_webp_frames(data, channels, node, animated=True))


@public("io.decode_jxl", "image.decode_jxl")
def decode_jxl(
    contents: Any, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None
) -> NoReturn:
    """Not supported: JPEG XL files cannot be read here.

    Args:
        contents: Ignored.
        channels: Ignored.
        dtype: Ignored.
        name: Ignored.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError(
        "tf.io.decode_jxl is not supported: Pillow cannot read JPEG XL. Convert the files to PNG "
        "or WebP and use tf.io.decode_image."
    )

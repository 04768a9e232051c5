"""Image files in memory, made and looked at: `tf.io.encode_png` and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.dtypes import DType, as_dtype, int32, string, uint8, uint16
from tapejax._src.core.errors import InternalError
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.effects import is_host
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.ops import image_formats as formats
from tapejax._src.ops.image_codecs import bytes_of, fail

_UNITS = {"in": 1, "cm": 2}


def _pixels(image: Any, dtypes: tuple[DType, ...], node: str) -> np.ndarray[Any, Any]:
    tensor = as_tensor(image)
    given = isinstance(image, (Tensor, Variable))
    if dtypes == (uint8,) and tensor.dtype.is_integer and not given:
        tensor = as_tensor(image, uint8)
    if tensor.dtype not in dtypes:
        fail(
            f"Value for attr 'T' of {tensor.dtype.name} is not in the list of allowed values: "
            f"{', '.join(d.name for d in dtypes)}. Use tf.image.convert_image_dtype",
            node,
        )
    if not is_host([tensor]):
        raise NotCompilableError(
            f"{node} inside a compiled function: bytes are no values of compiled programs. Encode "
            "outside, or with tf.py_function."
        )
    return np.asarray(tensor.view())


@public("io.encode_png", "image.encode_png")
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Any:
    r"""Encode images as PNG files, without loss.

    Args:
        image: uint8 or uint16 `[..., height, width, channels]` with 1 to 4 channels (grey, grey
            and alpha, RGB, RGBA).
        compression: 0 (none) to 9 (best); -1 for a default.
        name: Ignored.

    Returns:
        A string for each image, `[...]`. TensorFlow's bytes are others that decode to the same.

    Raises:
        tf.errors.InvalidArgumentError: If dtype, rank, channels or compression do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.io.encode_png(tf.zeros([4, 6, 3], tf.uint8)).numpy()[:4]
        b'\x89PNG'
    """
    node = "EncodePng"
    pixels = _pixels(image, (uint8, uint16), node)
    if not -1 <= compression <= 9:
        fail(f"compression should be in [-1,9], got {compression}", node)
    if pixels.ndim < 3:
        fail(f"images must be at least rank 3, got shape {list(pixels.shape)}", node)
    if pixels.shape[-1] not in (1, 2, 3, 4):
        fail(f"image must have 1, 2, 3, or 4 channels, got {pixels.shape[-1]}", node)
    batch = pixels.shape[:-3]
    files = np.empty(batch, object)
    if files.size and 0 in pixels.shape[-3:]:
        raise InternalError(f"PNG encoding failed: no pixels in shape {list(pixels.shape)}")
    for place in np.ndindex(*batch):
        files[place] = formats.write_png(pixels[place], int(compression))
    return constant_tensor(files)


@public("io.encode_jpeg", "image.encode_jpeg")
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: Any = "",
    name: str | None = None,
) -> Any:
    """Encode an image as a JPEG file.

    Args:
        image: uint8 `[height, width, 1 or 3]`.
        format: `"grayscale"`, `"rgb"`, or `""` for what the channels say.
        quality: 0 (small) to 100 (good).
        progressive: Whether a coarse image comes first.
        optimize_size: Whether to spend time on a smaller file.
        chroma_downsampling: Whether colour has half the resolution of brightness.
        density_unit: `"in"` or `"cm"`, for the header.
        x_density: Pixels in a unit, horizontally.
        y_density: Pixels in a unit, vertically.
        xmp_metadata: Metadata for the header.
        name: Ignored.

    Returns:
        A scalar string.

    Raises:
        tf.errors.InvalidArgumentError: If an argument does not fit.
        ImportError: If Pillow is not installed (`pip install tapejax[image]`).

    Example:
        >>> import tapejax as tf
        >>> bool(tf.io.is_jpeg(tf.io.encode_jpeg(tf.zeros([4, 6, 3], tf.uint8))))
        True
    """
    node = "EncodeJpeg"
    pixels = _jpeg_pixels(image, format, density_unit, node)
    check_jpeg_pixels(pixels.shape, quality, node)
    xmp = xmp_metadata.encode() if isinstance(xmp_metadata, str) else bytes(xmp_metadata)
    made = formats.write_jpeg(
        pixels,
        int(quality),
        progressive=bool(progressive),
        optimize=bool(optimize_size),
        downsample=bool(chroma_downsampling),
        density=(_UNITS[density_unit], x_density, y_density),
        xmp=xmp,
    )
    return constant_tensor(np.array(made, object))


def _jpeg_pixels(image: Any, form: str, unit: str, node: str) -> np.ndarray[Any, Any]:
    """The image, if it has the channels of the format."""
    for what, value, allowed in (
        ("format", form, ("", "grayscale", "rgb")),
        ("density_unit", unit, tuple(_UNITS)),
    ):
        if value not in allowed:
            fail(
                f"Value for attr '{what}' of {value!r} is not in the list of allowed values: "
                f"{', '.join(map(repr, allowed))}",
                node,
            )
    pixels = _pixels(image, (uint8,), node)
    channels = {"grayscale": 1, "rgb": 3}.get(form)
    if channels is not None and pixels.shape[-1:] != (channels,):
        fail(f"format {form} expects {channels} channels, got {list(pixels.shape)}", node)
    return pixels


def check_jpeg_pixels(shape: tuple[int, ...], quality: Any, node: str) -> None:
    """Whether an image and a quality are fit for JPEG.

    Raises:
        InvalidArgumentError: If not.
        InternalError: If there are no pixels.
    """
    if len(shape) != 3:
        fail(f"image must be 3-dimensional, got shape {list(shape)}", node)
    if shape[2] not in (1, 3):
        fail(f"image must have 1 or 3 channels, got {list(shape)}", node)
    if not 0 <= quality <= 100:
        fail(f"quality must be in [0,100], got {quality}", node)
    if 0 in shape:
        raise InternalError(f"JPEG encoding failed: no pixels in shape {list(shape)} [Op:{node}]")


# ---------------------------------------------------------------------- looking at files
@public("io.is_jpeg", "image.is_jpeg")
def is_jpeg(contents: Any, name: str | None = None) -> Any:
    r"""Whether strings begin as JPEG files do.

    Args:
        contents: Strings `[...]`.
        name: Ignored.

    Returns:
        Booleans `[...]`.

    Example:
        >>> import tapejax as tf
        >>> tf.io.is_jpeg([b"no", b"\xff\xd8\xff"]).numpy().tolist()
        [False, True]
    """
    strings = np.asarray(as_tensor(contents, string).view())
    found = [text.startswith(b"\xff\xd8\xff") for text in strings.reshape(-1)]
    return constant_tensor(np.array(found, bool).reshape(strings.shape))


@public("io.extract_jpeg_shape", "image.extract_jpeg_shape")
def extract_jpeg_shape(
    contents: Any, output_type: DTypeLike = int32, name: str | None = None
) -> Any:
    """The shape of a JPEG image, from the file's header.

    Args:
        contents: A scalar string: the file's bytes.
        output_type: `tf.int32` or `tf.int64`.
        name: Ignored.

    Returns:
        `[3]`: height, width, channels.

    Raises:
        tf.errors.InvalidArgumentError: If the bytes are not a JPEG.
        ImportError: If Pillow is not installed (`pip install tapejax[image]`).

    Example:
        >>> import tapejax as tf
        >>> tf.io.extract_jpeg_shape(tf.io.encode_jpeg(tf.zeros([4, 6, 3], tf.uint8))).numpy()
        array([4, 6, 3], dtype=int32)
    """
    node = "ExtractJpegShape"
    wanted = as_dtype(output_type)
    if wanted.name not in ("int32", "int64"):
        fail(f"Value for attr 'output_type' of {wanted.name} must be int32 or int64", node)
    shape = formats.jpeg_shape(bytes_of(contents, node))
    return constant_tensor(np.array(shape, wanted.as_numpy_dtype))

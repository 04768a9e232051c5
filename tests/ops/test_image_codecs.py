"""Image files: the pixels and errors of TensorFlow, files that Pillow wrote."""

from __future__ import annotations

import io

import numpy as np
import pytest
import tensorflow
from PIL import Image

import tapejax
from tapejax._src.ops import image_formats

ROWS, COLUMNS = np.mgrid[:20, :29]
SMOOTH = np.stack([ROWS * 6, COLUMNS * 4, (ROWS + COLUMNS) * 2], -1).astype(np.uint8)
NOISE = np.random.default_rng(0).integers(0, 256, (16, 25, 3)).astype(np.uint8)
ALPHA = np.concatenate([NOISE, NOISE[..., :1]], axis=-1)
DEEP = np.random.default_rng(1).integers(0, 65536, (9, 11, 4)).astype(np.uint16)
EXACT = "INTEGER_ACCURATE"


def written(image, kind, mode=None, **options):
    """A file that Pillow writes."""
    picture = Image.fromarray(image)
    file = io.BytesIO()
    (picture.convert(mode) if mode else picture).save(file, kind, **options)
    return file.getvalue()


def frames(*images):
    file = io.BytesIO()
    first, *others = map(Image.fromarray, images)
    first.save(file, "GIF", save_all=True, append_images=others)
    return file.getvalue()


JPEGS = {
    "colour": written(SMOOTH, "JPEG"),
    "full colour": written(NOISE, "JPEG", quality=95, subsampling=0),
    "progressive": written(NOISE, "JPEG", progressive=True),
    "grey": written(SMOOTH[..., 0], "JPEG"),
}
PNGS = {
    "rgb": written(NOISE, "PNG"),
    "rgba": written(ALPHA, "PNG"),
    "grey": written(NOISE[..., 0], "PNG"),
    "grey and alpha": written(ALPHA, "PNG", "LA"),
    "palette": written(NOISE, "PNG", "P"),
    "clear palette": written(NOISE, "PNG", "P", transparency=3),
    "clear colour": written(SMOOTH, "PNG", transparency=(0, 4, 2)),
    "deep grey": written(DEEP[..., 0], "PNG"),
    "deep rgb": tensorflow.io.encode_png(DEEP[..., :3]).numpy(),
    "deep rgba": tensorflow.io.encode_png(np.cumsum(DEEP // 99, 1).astype(np.uint16)).numpy(),
    "deep ramp": tensorflow.io.encode_png(SMOOTH[..., :2].astype(np.uint16) * 257).numpy(),
}


def assert_same(run, tolerance=0):
    mine, theirs = run(tapejax).numpy(), run(tensorflow).numpy()
    assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
    np.testing.assert_allclose(
        mine.astype(np.float64), theirs.astype(np.float64), rtol=1e-6, atol=tolerance
    )


@pytest.mark.parametrize("name", JPEGS)
def test_jpeg_files_give_the_pixels_of_the_exact_method(name):
    data = JPEGS[name]
    for channels in (0, 1, 3):
        assert_same(lambda lib, n=channels: lib.io.decode_jpeg(data, n, dct_method=EXACT))
        assert_same(lambda lib, n=channels: lib.io.decode_image(data, n), tolerance=8)
    for ratio in (2, 4, 8):
        assert_same(lambda lib, n=ratio: lib.io.decode_jpeg(data, ratio=n, dct_method=EXACT))
    window = [3, 5, 10, 12]
    assert_same(lambda lib: lib.io.decode_and_crop_jpeg(data, window, dct_method=EXACT))
    assert_same(lambda lib: lib.io.extract_jpeg_shape(data, lib.int64))


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("name", PNGS)
def test_png_files_give_the_pixels_of_tensorflow(name, dtype):
    for channels in (0, 1, 3, 4):
        assert_same(lambda lib, n=channels: lib.io.decode_png(PNGS[name], n, dtype))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64", "int32"])
def test_any_file_gives_the_dtype_asked_for(dtype):
    for data in (PNGS["rgb"], PNGS["deep rgb"], written(NOISE, "BMP"), frames(NOISE, 255 - NOISE)):
        assert_same(lambda lib, data=data: lib.io.decode_image(data, dtype=dtype))


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
def test_bmp_files_give_the_pixels_of_tensorflow(mode):
    data = written(NOISE, "BMP", mode)
    for channels in (0, 3, 4):
        assert_same(lambda lib, n=channels: lib.io.decode_bmp(data, n))


def test_a_bmp_with_a_palette_gives_its_colours():
    picture = Image.fromarray(NOISE).convert("P")
    file = io.BytesIO()
    picture.save(file, "BMP")
    made = tapejax.io.decode_bmp(file.getvalue()).numpy()
    np.testing.assert_array_equal(made, np.asarray(picture.convert("RGB")))


def test_animations_give_their_frames(tf):
    data = frames(NOISE, 255 - NOISE, NOISE // 2)
    made = tf.io.decode_gif(data).numpy()
    assert made.shape == (3, 16, 25, 3)
    np.testing.assert_array_equal(tf.io.decode_image(data).numpy(), made)
    np.testing.assert_array_equal(
        tf.io.decode_image(data, expand_animations=False).numpy(), made[0]
    )
    np.testing.assert_array_equal(made, tensorflow.io.decode_gif(data).numpy())
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_png(data)


def test_webp_files_give_their_pixels(tf):
    for image in (NOISE, ALPHA):
        data = written(image, "WEBP", lossless=True, exact=True)
        np.testing.assert_array_equal(tf.io.decode_webp(data).numpy(), image[None])
        np.testing.assert_array_equal(
            tf.image.decode_image(data, expand_animations=False).numpy(), image
        )
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_webp(data, channels=3)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_png_files_keep_every_pixel(channels, dtype):
    image = DEEP[..., :channels].astype(dtype)
    for compression in (-1, 0, 9):
        data = tapejax.io.encode_png(image, compression).numpy()
        kind = np.dtype(dtype).name
        for lib in (tapejax, tensorflow):
            np.testing.assert_array_equal(lib.io.decode_png(data, dtype=kind).numpy(), image)


def test_a_batch_gives_a_file_for_each_image(tf):
    files = tf.io.encode_png(np.stack([NOISE, 255 - NOISE]))
    assert files.shape == (2,)
    np.testing.assert_array_equal(tf.io.decode_png(files.numpy()[1]).numpy(), 255 - NOISE)


@pytest.mark.parametrize("quality", [0, 1, 75, 100])
def test_jpeg_files_are_those_of_tensorflow_byte_by_byte(quality):
    for image in (SMOOTH, NOISE, NOISE[..., :1]):
        made, expected = (
            [
                lib.io.encode_jpeg(image, quality=quality).numpy(),
                lib.io.encode_jpeg(
                    image,
                    quality=quality,
                    progressive=True,
                    optimize_size=True,
                    chroma_downsampling=False,
                    density_unit="cm",
                    x_density=20,
                    y_density=30,
                    xmp_metadata="abc",
                ).numpy(),
            ]
            for lib in (tapejax, tensorflow)
        )
        assert made == expected


def test_jpeg_artefacts_are_those_of_tensorflow():
    for image in (SMOOTH, NOISE[..., :1], (NOISE / 255).astype(np.float32)):
        for quality in (5, 90):
            assert_same(
                lambda lib, x=image, q=quality: lib.image.adjust_jpeg_quality(x, q, EXACT),
                tolerance=1e-6,
            )
    for draw in (
        lambda lib: lib.image.random_jpeg_quality(SMOOTH, 5, 95, seed=2),
        lambda lib: lib.image.stateless_random_jpeg_quality(SMOOTH, 5, 95, (1, 2)),
    ):
        tapejax.random.set_seed(3)
        tensorflow.random.set_seed(3)
        assert_same(draw, tolerance=8)


def test_jpeg_artefacts_in_a_function_are_those_outside(tf):
    traced = tf.function(tf.image.adjust_jpeg_quality)
    x, quality = tf.constant(SMOOTH), tf.constant(40)
    expected = tf.image.adjust_jpeg_quality(x, quality).numpy()
    np.testing.assert_array_equal(traced(x, quality).numpy(), expected)


def test_ranges_of_quality_are_checked(tf):
    for low, high, message in [(-1, 5, "between 0 and 100"), (9, 9, "must be less than")]:
        with pytest.raises(ValueError, match=message):
            tf.image.random_jpeg_quality(SMOOTH, low, high)
    with pytest.raises(tf.errors.InvalidArgumentError, match="quality must be in"):
        tf.image.adjust_jpeg_quality(SMOOTH, 101)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have 1 or 3 channels"):
        tf.image.adjust_jpeg_quality(ALPHA, 50)


@pytest.mark.parametrize(
    "name", ["decode_image", "decode_png", "decode_jpeg", "decode_bmp", "decode_gif", "decode_webp"]
)
def test_bytes_that_are_no_image_are_refused(tf, name):
    decode = getattr(tf.io, name)
    for data in (b"no image", b"", b"\xff\xd8\xff", b"\x89PNG", b"BM", b"GIF89a", [b"a", b"b"]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            decode(data)
    with pytest.raises(TypeError):
        decode(3)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((ALPHA,), {}),
        ((SMOOTH[..., 0],), {}),
        ((SMOOTH,), {"format": "grayscale"}),
        ((SMOOTH,), {"format": "none"}),
        ((SMOOTH,), {"density_unit": "yd"}),
        ((SMOOTH,), {"quality": 101}),
    ],
)
def test_images_that_are_not_fit_for_jpeg_are_refused(tf, arguments, options):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.encode_jpeg(*arguments, **options)


def test_images_that_are_not_fit_for_png_are_refused(tf):
    for image in (SMOOTH[..., 0], SMOOTH.astype(np.float32), np.zeros((2, 2, 5), np.uint8)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.encode_png(image)
    with pytest.raises(tf.errors.InvalidArgumentError, match="compression"):
        tf.io.encode_png(SMOOTH, compression=11)


def test_options_of_jpeg_are_checked(tf):
    data = JPEGS["colour"]
    for options in ({"channels": 4}, {"channels": 2}, {"ratio": 3}):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_jpeg(data, **options)
    for window in ([30, 5, 20, 12], [-1, 0, 2, 2], [0, 0, 0, 2], [1, 2, 3]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_and_crop_jpeg(data, window)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.extract_jpeg_shape(PNGS["rgb"])
    assert tf.io.is_jpeg([data, PNGS["rgb"], b""]).numpy().tolist() == [True, False, False]


def test_what_pillow_cannot_do_is_said():
    with pytest.raises(NotImplementedError, match="Leave it at True"):
        tapejax.io.decode_jpeg(JPEGS["colour"], fancy_upscaling=False)
    with pytest.raises(NotImplementedError, match="decode_image"):
        tapejax.io.decode_jxl(b"")


def test_a_truncated_jpeg_gives_what_is_there_if_asked_to():
    data = JPEGS["full colour"]
    with pytest.raises(tapejax.errors.InvalidArgumentError):
        tapejax.io.decode_jpeg(data[:900])
    whole = tapejax.io.decode_jpeg(data).numpy()
    part = tapejax.io.decode_jpeg(data[:900], try_recover_truncated=True).numpy()
    assert part.shape == whole.shape
    np.testing.assert_array_equal(part[0, 0], whole[0, 0])


def test_without_pillow_one_is_told_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(image_formats.importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r"pip install tapejax\[image\]"):
        tapejax.io.decode_jpeg(JPEGS["colour"])
    np.testing.assert_array_equal(
        tapejax.io.decode_png(tapejax.io.encode_png(DEEP), dtype="uint16").numpy(), DEEP
    )

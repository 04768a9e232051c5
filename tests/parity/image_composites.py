"""Cases of the functions of `tf.image` and `tf.io` that are not ops, and who tests the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# TensorFlow computes these in float32 whatever it is given, so that differences of its values drown
# in rounding: the parts they consist of are compared with differences instead.
_SINGLE = {"dtypes": "half float"}
_NO_RULE = "TensorFlow has no derivative of this op"

ENTRIES: tuple[tuple[tuple[str, ...], tuple[str, ...], Mapping[str, Any]], ...] = (
    (
        ("image.resize",),
        (
            "f32[1,4,6,2], [3, 9]",
            "f32[5,4,1], (2, 7), method='nearest'",
            "u8[1,4,4,1], i32[2] in (2, 5), method='nearest'",
            "f32[1,4,6,1], [7, 3], method='bicubic'",
            "u8[2,4,3,1] in (0, 255), [5, 5], method='bicubic'",
            "f32[1,8,6,1], [3, 4], antialias=True",
            "f32[1,8,6,1], [3, 9], method='bicubic', antialias=True",
            "f32[1,8,6,1], [3, 4], method='lanczos3', antialias=True",
            "f32[1,4,6,1], [7, 3], method='lanczos5'",
            "f32[1,4,6,1], [7, 3], method='gaussian'",
            "f32[1,4,6,1], [7, 3], method='mitchellcubic'",
            "f32[1,7,6,1], [3, 4], method='area'",
            "f16[1,4,6,1], [3, 9]",
            "f32[4,6,1], [9, 9], preserve_aspect_ratio=True",
            "f32[0,4,6,1], [3, 9]",
        ),
        {**_SINGLE, "differs": {"f32[1,7,6,1], [3, 4], method='area'": _NO_RULE}},
    ),
    (("image.resize_with_pad",), ("f32[3,6,1], 5, 4", "u8[2,3,2,1], 7, 8"), _SINGLE),
    (
        ("image.crop_to_bounding_box",),
        (
            "f32[4,5,1], 1, 2, 3, 2",
            "u8[2,3,3,1], 0, 1, 2, 2",
            "f64[4,5,1], i32[] in (0, 2), 2, 3, 2",
        ),
        {},
    ),
    (
        ("image.pad_to_bounding_box",),
        (
            "f32[2,2,1], 1, 2, 3, 5",
            "u8[2,3,3,1], 0, 1, 4, 4",
            "f64[2,2,1], 1, i32[] in (0, 4), 3, 5",
        ),
        {},
    ),
    (
        ("image.resize_with_crop_or_pad",),
        ("f32[4,5,1], 3, 8", "f64[2,3,3,1], 6, 1", "u8[4,4,2], 4, 4"),
        {},
    ),
    (("image.central_crop",), ("f32[6,5,1], 0.5", "f64[2,4,6,1], 0.3", "u8[3,3,1], 1.0"), {}),
    (
        ("image.rot90",),
        ("f32[3,4,2]", "f64[2,3,4,1], 3", "u8[2,3,1], k=-2", "f32[2,2,1], i32[] in (0, 4)"),
        {},
    ),
    (
        ("image.rgb_to_grayscale",),
        ("f32[2,3,3]", "f16[4,3]", "u8[2,2,3] in (0, 255)", "f32[0,3]"),
        _SINGLE,
    ),
    (
        ("image.adjust_brightness",),
        ("f32[2,3], 0.3", "f32[2,3], f32[]", "u8[6] in (0, 255), -0.2", "f16[3], 0.1"),
        _SINGLE,
    ),
    (
        ("image.adjust_gamma",),
        ("f32[2,3] in (0.1, 1), 2.2", "u8[6] in (0, 255), 0.5, 0.9", "f32[2,3] in (0.1, 1)"),
        _SINGLE,
    ),
    (
        ("image.adjust_contrast",),
        ("f32[3,2,2], 1.7", "u8[2,3,2,1] in (0, 255), 0.4", "f32[2,2,3,1], f32[]"),
        {"gradient": "lookup", **_SINGLE},
    ),
    (
        ("image.adjust_hue",),
        ("f32[2,2,3] in (0.1, 1), 0.3", "u8[2,2,2,3] in (0, 255), -0.4"),
        {"gradient": "lookup", **_SINGLE},
    ),
    (
        ("image.adjust_saturation",),
        ("f32[2,2,3] in (0.1, 1), 0.5", "u8[2,2,2,3] in (0, 255), 1.4"),
        {"gradient": "lookup", **_SINGLE},
    ),
    (
        ("image.per_image_standardization",),
        ("f32[3,2,2]", "u8[2,3,2,1] in (0, 255)", "f32[2,1,1] in (-0.01, 0.01)"),
        _SINGLE,
    ),
    (
        ("image.psnr",),
        (
            "f32[2,3,3,1] in (0, 1), f32[2,3,3,1] in (0, 1), 1.0",
            "f32[2,3,3,1] in (0, 1), f32[3,3,1] in (0, 1), 2.0",
            "u8[3,3,2] in (0, 255), u8[3,3,2] in (0, 255), 255",
        ),
        _SINGLE,
    ),
    (
        ("image.ssim",),
        (
            "f32[2,5,4,2] in (0, 1), f32[2,5,4,2] in (0, 1), 1.0, filter_size=3",
            "f32[5,4,1] in (0, 1), f32[5,4,1] in (0, 1), 1.0, 4, 2.0, return_index_map=True",
            "u8[5,5,2] in (0, 255), u8[5,5,2] in (0, 255), 255, 3",
        ),
        {**_SINGLE, "tol": {"f32": 1e-4}},  # differences of means of squares
    ),
    (
        ("image.ssim_multiscale",),
        (
            "f32[9,8,1] in (0, 0.1), f32[9,8,1] in (0, 0.1), 1.0, [0.4, 0.6], filter_size=3",
            "u8[8,8,2] in (0, 20), u8[8,8,2] in (0, 20), 255, [0.4, 0.6], 3",
        ),
        {**_SINGLE, "tol": {"f32": 1e-4}},
    ),
    (
        ("image.crop_and_resize",),
        (
            "f32[2,4,5,2], f32[3,4] in (0.1, 0.9), i32[3] in (0, 2), [2, 3]",
            "u8[2,4,5,1] in (0, 255), f32[3,4] in (-0.4, 1.4), i32[3] in (0, 2), [1, 3]",
            "f32[1,3,4,1], f32[2,4] in (0.1, 0.9), i32[2] in (0, 1), (2, 2), 'nearest', 7.5",
        ),
        {
            **_SINGLE,
            "tol": {"f32": 3e-5},
            "differs": {
                "f32[1,3,4,1], f32[2,4] in (0.1, 0.9), i32[2] in (0, 1), (2, 2), 'nearest', 7.5": (
                    "TensorFlow's derivative by the boxes is that of bilinear"
                )
            },
        },
    ),
    (
        ("image.extract_glimpse",),
        (
            "f32[2,4,5,1], [2, 3], f32[2,2] in (-0.9, 0.9), noise='zero'",
            "f32[1,4,5,2], [3, 2], f32[1,2] in (-3, 3), False, False, noise='zero'",
        ),
        {"gradient": "lookup", **_SINGLE},
    ),
    (
        ("image.draw_bounding_boxes",),
        ("f32[2,6,7,3], f32[2,3,4] in (0, 1), f32[2,4] in (0, 1)",),
        {"gradient": "lookup", **_SINGLE},
    ),
    (
        ("image.non_max_suppression_padded",),
        ("f32[2,6,4] in (0.1, 1), f32[2,6] in (0.1, 1), 4, 0.3, pad_to_max_output_size=True",),
        {"gradient": "none", **_SINGLE},
    ),
    (
        ("image.combined_non_max_suppression",),
        (
            "f32[2,6,1,4] in (0, 1), f32[2,6,3] in (0, 1), 2, 5, 0.4, 0.1",
            "f32[1,5,2,4] in (0, 1), f32[1,5,2] in (0, 1), 2, 9, 0.4, 0.1, True, False",
        ),
        {"gradient": "lookup", **_SINGLE},
    ),
    (
        ("image.stateless_random_flip_left_right",),
        ("f32[3,2,2], i32[2]", "u8[4,2,3,1], i64[2]"),
        {},
    ),
    (("image.stateless_random_flip_up_down",), ("f64[3,2,2], i32[2]", "f32[4,2,3,1], [1, 2]"), {}),
    (
        ("image.stateless_random_crop",),
        ("f64[5,4,3], [2, 3, 3], i32[2]", "u8[7], [3], seed=[5, 6]"),
        {},
    ),
    (
        ("image.stateless_random_brightness",),
        ("f32[2,3], 0.3, i32[2]", "u8[6] in (0, 255), 0.3, [3, 4]"),
        _SINGLE,
    ),
    (("image.stateless_random_contrast",), ("u8[3,2,2] in (0, 255), 0.5, 1.5, i32[2]",), {}),
    (("image.stateless_random_hue",), ("u8[2,2,3] in (0, 255), 0.3, i32[2]",), {}),
    (
        ("image.stateless_random_saturation",),
        ("u8[2,2,3] in (0, 255), 0.5, 1.5, i32[2]",),
        {},
    ),
)

_CODECS = (
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_jxl",
    "decode_png",
    "decode_webp",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "is_jpeg",
)
_STATEFUL = (
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_jpeg_quality",
    "random_saturation",
)
_BOXES = (
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_with_scores",
    "sample_distorted_bounding_box",
    "stateless_sample_distorted_bounding_box",
)

TESTED_ELSEWHERE: Mapping[str, str] = {
    **{
        f"{space}.{name}": "files as bytes: ops/test_image_codecs.py"
        for space in ("image", "io")
        for name in _CODECS
    },
    **{f"image.{name}": "draws anew at each call: ops/test_image_random.py" for name in _STATEFUL},
    **{f"image.{name}": "numbers of boxes: ops/test_image_boxes.py" for name in _BOXES},
    "image.adjust_jpeg_quality": "equal up to a few units: ops/test_image_codecs.py",
    "image.stateless_random_jpeg_quality": "equal up to a few units: ops/test_image_codecs.py",
    "image.generate_bounding_box_proposals": "always raises: ops/test_image_boxes.py",
}

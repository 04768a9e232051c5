"""`tf.image`: images."""

from typing import TYPE_CHECKING

from tapejax._src.ops.image_adjusting import adjust_brightness as adjust_brightness
from tapejax._src.ops.image_adjusting import adjust_contrast as adjust_contrast
from tapejax._src.ops.image_adjusting import adjust_gamma as adjust_gamma
from tapejax._src.ops.image_adjusting import adjust_hue as adjust_hue
from tapejax._src.ops.image_adjusting import adjust_saturation as adjust_saturation
from tapejax._src.ops.image_adjusting import per_image_standardization as per_image_standardization
from tapejax._src.ops.image_boxes import draw_bounding_boxes as draw_bounding_boxes
from tapejax._src.ops.image_boxes import (
    sample_distorted_bounding_box as sample_distorted_bounding_box,
)
from tapejax._src.ops.image_boxes import (
    stateless_sample_distorted_bounding_box as stateless_sample_distorted_bounding_box,
)
from tapejax._src.ops.image_codecs import decode_and_crop_jpeg as decode_and_crop_jpeg
from tapejax._src.ops.image_codecs import decode_bmp as decode_bmp
from tapejax._src.ops.image_codecs import decode_gif as decode_gif
from tapejax._src.ops.image_codecs import decode_image as decode_image
from tapejax._src.ops.image_codecs import decode_jpeg as decode_jpeg
from tapejax._src.ops.image_codecs import decode_jxl as decode_jxl
from tapejax._src.ops.image_codecs import decode_png as decode_png
from tapejax._src.ops.image_codecs import decode_webp as decode_webp
from tapejax._src.ops.image_colors import convert_image_dtype as convert_image_dtype
from tapejax._src.ops.image_colors import grayscale_to_rgb as grayscale_to_rgb
from tapejax._src.ops.image_colors import hsv_to_rgb as hsv_to_rgb
from tapejax._src.ops.image_colors import rgb_to_grayscale as rgb_to_grayscale
from tapejax._src.ops.image_colors import rgb_to_hsv as rgb_to_hsv
from tapejax._src.ops.image_colors import rgb_to_yiq as rgb_to_yiq
from tapejax._src.ops.image_colors import rgb_to_yuv as rgb_to_yuv
from tapejax._src.ops.image_colors import yiq_to_rgb as yiq_to_rgb
from tapejax._src.ops.image_colors import yuv_to_rgb as yuv_to_rgb
from tapejax._src.ops.image_cropping import central_crop as central_crop
from tapejax._src.ops.image_cropping import crop_to_bounding_box as crop_to_bounding_box
from tapejax._src.ops.image_cropping import pad_to_bounding_box as pad_to_bounding_box
from tapejax._src.ops.image_cropping import random_crop as random_crop
from tapejax._src.ops.image_cropping import resize_with_crop_or_pad as resize_with_crop_or_pad
from tapejax._src.ops.image_cropping import stateless_random_crop as stateless_random_crop
from tapejax._src.ops.image_detection import (
    combined_non_max_suppression as combined_non_max_suppression,
)
from tapejax._src.ops.image_detection import (
    generate_bounding_box_proposals as generate_bounding_box_proposals,
)
from tapejax._src.ops.image_detection import (
    non_max_suppression_padded as non_max_suppression_padded,
)
from tapejax._src.ops.image_encoding import encode_jpeg as encode_jpeg
from tapejax._src.ops.image_encoding import encode_png as encode_png
from tapejax._src.ops.image_encoding import extract_jpeg_shape as extract_jpeg_shape
from tapejax._src.ops.image_encoding import is_jpeg as is_jpeg
from tapejax._src.ops.image_flipping import flip_left_right as flip_left_right
from tapejax._src.ops.image_flipping import flip_up_down as flip_up_down
from tapejax._src.ops.image_flipping import random_flip_left_right as random_flip_left_right
from tapejax._src.ops.image_flipping import random_flip_up_down as random_flip_up_down
from tapejax._src.ops.image_flipping import rot90 as rot90
from tapejax._src.ops.image_flipping import (
    stateless_random_flip_left_right as stateless_random_flip_left_right,
)
from tapejax._src.ops.image_flipping import (
    stateless_random_flip_up_down as stateless_random_flip_up_down,
)
from tapejax._src.ops.image_flipping import transpose as transpose
from tapejax._src.ops.image_jpeg_quality import adjust_jpeg_quality as adjust_jpeg_quality
from tapejax._src.ops.image_jpeg_quality import random_jpeg_quality as random_jpeg_quality
from tapejax._src.ops.image_jpeg_quality import (
    stateless_random_jpeg_quality as stateless_random_jpeg_quality,
)
from tapejax._src.ops.image_patches import crop_and_resize as crop_and_resize
from tapejax._src.ops.image_patches import extract_glimpse as extract_glimpse
from tapejax._src.ops.image_patches import extract_patches as extract_patches
from tapejax._src.ops.image_quality import image_gradients as image_gradients
from tapejax._src.ops.image_quality import psnr as psnr
from tapejax._src.ops.image_quality import sobel_edges as sobel_edges
from tapejax._src.ops.image_quality import ssim as ssim
from tapejax._src.ops.image_quality import ssim_multiscale as ssim_multiscale
from tapejax._src.ops.image_quality import total_variation as total_variation
from tapejax._src.ops.image_random import random_brightness as random_brightness
from tapejax._src.ops.image_random import random_contrast as random_contrast
from tapejax._src.ops.image_random import random_hue as random_hue
from tapejax._src.ops.image_random import random_saturation as random_saturation
from tapejax._src.ops.image_random import stateless_random_brightness as stateless_random_brightness
from tapejax._src.ops.image_random import stateless_random_contrast as stateless_random_contrast
from tapejax._src.ops.image_random import stateless_random_hue as stateless_random_hue
from tapejax._src.ops.image_random import stateless_random_saturation as stateless_random_saturation
from tapejax._src.ops.image_resizing import ResizeMethod as ResizeMethod
from tapejax._src.ops.image_resizing import resize as resize
from tapejax._src.ops.image_resizing import resize_with_pad as resize_with_pad
from tapejax._src.ops.image_suppression import non_max_suppression as non_max_suppression
from tapejax._src.ops.image_suppression import (
    non_max_suppression_overlaps as non_max_suppression_overlaps,
)
from tapejax._src.ops.image_suppression import (
    non_max_suppression_with_scores as non_max_suppression_with_scores,
)
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

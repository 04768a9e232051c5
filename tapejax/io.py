"""`tf.io`: files and their formats."""

from typing import TYPE_CHECKING

from tapejax._src.ops.image_codecs import decode_and_crop_jpeg as decode_and_crop_jpeg
from tapejax._src.ops.image_codecs import decode_bmp as decode_bmp
from tapejax._src.ops.image_codecs import decode_gif as decode_gif
from tapejax._src.ops.image_codecs import decode_image as decode_image
from tapejax._src.ops.image_codecs import decode_jpeg as decode_jpeg
from tapejax._src.ops.image_codecs import decode_jxl as decode_jxl
from tapejax._src.ops.image_codecs import decode_png as decode_png
from tapejax._src.ops.image_codecs import decode_webp as decode_webp
from tapejax._src.ops.image_encoding import encode_jpeg as encode_jpeg
from tapejax._src.ops.image_encoding import encode_png as encode_png
from tapejax._src.ops.image_encoding import extract_jpeg_shape as extract_jpeg_shape
from tapejax._src.ops.image_encoding import is_jpeg as is_jpeg
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

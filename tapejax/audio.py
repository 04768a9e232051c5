"""`tf.audio`: WAV files."""

from typing import TYPE_CHECKING

from tapejax._src.ops.wav import decode_wav as decode_wav
from tapejax._src.ops.wav import encode_wav as encode_wav
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

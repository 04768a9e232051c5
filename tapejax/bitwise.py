"""`tf.bitwise`: logic on the bits of integers."""

from typing import TYPE_CHECKING

from tapejax._src.ops.bitwise import bitwise_and as bitwise_and
from tapejax._src.ops.bitwise import bitwise_or as bitwise_or
from tapejax._src.ops.bitwise import bitwise_xor as bitwise_xor
from tapejax._src.ops.bitwise import invert as invert
from tapejax._src.ops.bitwise import left_shift as left_shift
from tapejax._src.ops.bitwise import right_shift as right_shift
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

"""`tf.debugging.experimental`: dumps."""

from typing import TYPE_CHECKING

from tapejax._src.ops.debugging_options import disable_dump_debug_info as disable_dump_debug_info
from tapejax._src.ops.debugging_options import enable_dump_debug_info as enable_dump_debug_info
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

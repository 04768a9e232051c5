"""`tf.autograph.experimental`: what converted code can say about itself."""

from typing import TYPE_CHECKING

from tapejax._src.function.autograph.api import Feature as Feature
from tapejax._src.function.autograph.api import do_not_convert as do_not_convert
from tapejax._src.function.staging.loop_options import set_loop_options as set_loop_options
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

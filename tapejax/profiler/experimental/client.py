"""`tf.profiler.experimental.client`: not supported."""

from typing import TYPE_CHECKING

from tapejax._src.ops.profiler import monitor as monitor
from tapejax._src.ops.profiler import trace as trace
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

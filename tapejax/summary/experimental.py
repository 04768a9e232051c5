"""`tf.summary.experimental`: the default step, and summaries of one's own."""

from typing import TYPE_CHECKING

from tapejax._src.ops.summary_writer import get_step as get_step
from tapejax._src.ops.summary_writer import set_step as set_step
from tapejax._src.ops.summary_writer import summary_scope as summary_scope
from tapejax._src.ops.summary_writer import write_raw_pb as write_raw_pb
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

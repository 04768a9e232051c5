"""`tf.summary`: values of a training run for TensorBoard."""

from typing import TYPE_CHECKING

from tapejax._src.ops.summary_kinds import audio as audio
from tapejax._src.ops.summary_kinds import histogram as histogram
from tapejax._src.ops.summary_kinds import image as image
from tapejax._src.ops.summary_kinds import scalar as scalar
from tapejax._src.ops.summary_kinds import text as text
from tapejax._src.ops.summary_traces import graph as graph
from tapejax._src.ops.summary_traces import trace_export as trace_export
from tapejax._src.ops.summary_traces import trace_off as trace_off
from tapejax._src.ops.summary_traces import trace_on as trace_on
from tapejax._src.ops.summary_writer import SummaryWriter as SummaryWriter
from tapejax._src.ops.summary_writer import create_file_writer as create_file_writer
from tapejax._src.ops.summary_writer import create_noop_writer as create_noop_writer
from tapejax._src.ops.summary_writer import flush as flush
from tapejax._src.ops.summary_writer import record_if as record_if
from tapejax._src.ops.summary_writer import should_record_summaries as should_record_summaries
from tapejax._src.ops.summary_writer import write as write
from tapejax._src.report.missing import missing_attribute
from tapejax.summary import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

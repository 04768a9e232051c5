"""`tf.profiler.experimental`: profiles by JAX's profiler."""

from typing import TYPE_CHECKING

from tapejax._src.ops.profiler import Profile as Profile
from tapejax._src.ops.profiler import ProfilerOptions as ProfilerOptions
from tapejax._src.ops.profiler import Trace as Trace
from tapejax._src.ops.profiler import start as start
from tapejax._src.ops.profiler import stop as stop
from tapejax._src.report.missing import missing_attribute
from tapejax.profiler.experimental import client as client
from tapejax.profiler.experimental import server as server

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

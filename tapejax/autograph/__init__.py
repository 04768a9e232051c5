"""`tf.autograph`: Python control flow that depends on tensors."""

from typing import TYPE_CHECKING

from tapejax._src.function.autograph.api import set_verbosity as set_verbosity
from tapejax._src.function.autograph.api import to_code as to_code
from tapejax._src.function.autograph.api import to_graph as to_graph
from tapejax._src.function.autograph.api import trace as trace
from tapejax._src.report.missing import missing_attribute
from tapejax.autograph import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

"""`tf.config.optimizer`: compilation."""

from typing import TYPE_CHECKING

from tapejax._src.ops.runtime_options import get_experimental_options as get_experimental_options
from tapejax._src.ops.runtime_options import get_jit as get_jit
from tapejax._src.ops.runtime_options import set_experimental_options as set_experimental_options
from tapejax._src.ops.runtime_options import set_jit as set_jit
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

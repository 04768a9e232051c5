"""`tf.config.threading`: threads."""

from typing import TYPE_CHECKING

from tapejax._src.ops.runtime_options import (
    get_inter_op_parallelism_threads as get_inter_op_parallelism_threads,
)
from tapejax._src.ops.runtime_options import (
    get_intra_op_parallelism_threads as get_intra_op_parallelism_threads,
)
from tapejax._src.ops.runtime_options import (
    set_inter_op_parallelism_threads as set_inter_op_parallelism_threads,
)
from tapejax._src.ops.runtime_options import (
    set_intra_op_parallelism_threads as set_intra_op_parallelism_threads,
)
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

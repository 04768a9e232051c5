"""`tf.test`: tests of programs."""

from typing import TYPE_CHECKING

from tapejax._src.function.testing import TestCase as TestCase
from tapejax._src.function.testing_tools import Benchmark as Benchmark
from tapejax._src.function.testing_tools import assert_equal_graph_def as assert_equal_graph_def
from tapejax._src.function.testing_tools import benchmark_config as benchmark_config
from tapejax._src.function.testing_tools import compute_gradient as compute_gradient
from tapejax._src.function.testing_tools import create_local_cluster as create_local_cluster
from tapejax._src.function.testing_tools import disable_with_predicate as disable_with_predicate
from tapejax._src.function.testing_tools import gpu_device_name as gpu_device_name
from tapejax._src.function.testing_tools import is_built_with_cuda as is_built_with_cuda
from tapejax._src.function.testing_tools import (
    is_built_with_gpu_support as is_built_with_gpu_support,
)
from tapejax._src.function.testing_tools import is_built_with_rocm as is_built_with_rocm
from tapejax._src.function.testing_tools import is_built_with_xla as is_built_with_xla
from tapejax._src.function.testing_tools import is_cpu_target_available as is_cpu_target_available
from tapejax._src.function.testing_tools import is_gpu_available as is_gpu_available
from tapejax._src.function.testing_tools import main as main
from tapejax._src.function.testing_tools import (
    with_eager_op_as_function as with_eager_op_as_function,
)
from tapejax._src.report.missing import missing_attribute
from tapejax.test import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

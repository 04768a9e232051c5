"""`tf.config.experimental`: settings that TensorFlow keeps there."""

from typing import TYPE_CHECKING

from tapejax._src.ops.device_memory import ClusterDeviceFilters as ClusterDeviceFilters
from tapejax._src.ops.device_memory import LogicalDeviceConfiguration as VirtualDeviceConfiguration  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.device_memory import get_device_details as get_device_details
from tapejax._src.ops.device_memory import (
    get_logical_device_configuration as get_virtual_device_configuration,  # pyright: ignore[reportUnusedImport]  renamed
)
from tapejax._src.ops.device_memory import get_memory_info as get_memory_info
from tapejax._src.ops.device_memory import get_memory_usage as get_memory_usage
from tapejax._src.ops.device_memory import reset_memory_stats as reset_memory_stats
from tapejax._src.ops.device_memory import (
    set_logical_device_configuration as set_virtual_device_configuration,  # pyright: ignore[reportUnusedImport]  renamed
)
from tapejax._src.ops.devices import get_memory_growth as get_memory_growth
from tapejax._src.ops.devices import get_visible_devices as get_visible_devices
from tapejax._src.ops.devices import list_logical_devices as list_logical_devices
from tapejax._src.ops.devices import list_physical_devices as list_physical_devices
from tapejax._src.ops.devices import set_memory_growth as set_memory_growth
from tapejax._src.ops.devices import set_visible_devices as set_visible_devices
from tapejax._src.ops.runtime_options import disable_mlir_bridge as disable_mlir_bridge
from tapejax._src.ops.runtime_options import enable_mlir_bridge as enable_mlir_bridge
from tapejax._src.ops.runtime_options import enable_op_determinism as enable_op_determinism
from tapejax._src.ops.runtime_options import (
    enable_tensor_float_32_execution as enable_tensor_float_32_execution,
)
from tapejax._src.ops.runtime_options import get_device_policy as get_device_policy
from tapejax._src.ops.runtime_options import get_synchronous_execution as get_synchronous_execution
from tapejax._src.ops.runtime_options import set_device_policy as set_device_policy
from tapejax._src.ops.runtime_options import set_synchronous_execution as set_synchronous_execution
from tapejax._src.ops.runtime_options import (
    tensor_float_32_execution_enabled as tensor_float_32_execution_enabled,
)
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

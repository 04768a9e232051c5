"""`tf.config`: settings."""

from typing import TYPE_CHECKING

from tapejax._src.core.config import immediate as immediate
from tapejax._src.core.config import log_compiles as log_compiles
from tapejax._src.core.config import set_immediate as set_immediate
from tapejax._src.function.function import (
    functions_run_eagerly as experimental_functions_run_eagerly,  # pyright: ignore[reportUnusedImport]  renamed
)
from tapejax._src.function.function import functions_run_eagerly as functions_run_eagerly
from tapejax._src.function.function import (
    run_functions_eagerly as experimental_run_functions_eagerly,  # pyright: ignore[reportUnusedImport]  renamed
)
from tapejax._src.function.function import run_functions_eagerly as run_functions_eagerly
from tapejax._src.ops.device_memory import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from tapejax._src.ops.device_memory import (
    experimental_connect_to_cluster as experimental_connect_to_cluster,
)
from tapejax._src.ops.device_memory import (
    experimental_connect_to_host as experimental_connect_to_host,
)
from tapejax._src.ops.device_memory import (
    get_logical_device_configuration as get_logical_device_configuration,
)
from tapejax._src.ops.device_memory import (
    set_logical_device_configuration as set_logical_device_configuration,
)
from tapejax._src.ops.devices import LogicalDevice as LogicalDevice
from tapejax._src.ops.devices import PhysicalDevice as PhysicalDevice
from tapejax._src.ops.devices import get_visible_devices as get_visible_devices
from tapejax._src.ops.devices import list_logical_devices as list_logical_devices
from tapejax._src.ops.devices import list_physical_devices as list_physical_devices
from tapejax._src.ops.devices import set_visible_devices as set_visible_devices
from tapejax._src.ops.runtime_options import get_soft_device_placement as get_soft_device_placement
from tapejax._src.ops.runtime_options import set_soft_device_placement as set_soft_device_placement
from tapejax._src.report.missing import missing_attribute
from tapejax.config import experimental as experimental
from tapejax.config import optimizer as optimizer
from tapejax.config import threading as threading

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

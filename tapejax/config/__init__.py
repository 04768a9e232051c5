"""`tf.config`: settings."""

from typing import TYPE_CHECKING

from tapejax._src.core.config import immediate as immediate
from tapejax._src.core.config import log_compiles as log_compiles
from tapejax._src.core.config import set_immediate as set_immediate
from tapejax._src.function.function import functions_run_eagerly as functions_run_eagerly
from tapejax._src.function.function import run_functions_eagerly as run_functions_eagerly
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

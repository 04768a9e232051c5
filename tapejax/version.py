"""`tf.version`: versions."""

from typing import TYPE_CHECKING

from tapejax._src.core.version import GIT_VERSION as GIT_VERSION
from tapejax._src.core.version import VERSION as VERSION
from tapejax._src.ops.build_info import COMPILER_VERSION as COMPILER_VERSION
from tapejax._src.ops.build_info import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from tapejax._src.ops.build_info import (
    GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER,
)
from tapejax._src.ops.build_info import (
    GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER,
)
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

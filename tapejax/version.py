"""`tf.version`: versions."""

from typing import TYPE_CHECKING

from tapejax._src.core.version import GIT_VERSION as GIT_VERSION
from tapejax._src.core.version import VERSION as VERSION
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

"""`tf.tpu`: TPUs are devices of JAX."""

from typing import TYPE_CHECKING

from tapejax._src.report.missing import missing_attribute
from tapejax.tpu import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

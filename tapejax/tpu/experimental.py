"""`tf.tpu.experimental`: nothing has to be done for a TPU."""

from typing import TYPE_CHECKING

from tapejax._src.distribute.resolvers import initialize_tpu_system as initialize_tpu_system
from tapejax._src.distribute.resolvers import shutdown_tpu_system as shutdown_tpu_system
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

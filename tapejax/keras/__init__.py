"""`tf.keras`: optimizers (layers and models are not there yet)."""

from typing import TYPE_CHECKING

from tapejax._src.report.missing import missing_attribute
from tapejax.keras import mixed_precision as mixed_precision
from tapejax.keras import optimizers as optimizers

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

"""`tf.keras.experimental`: schedules that are now in `tf.keras.optimizers.schedules`."""

from typing import TYPE_CHECKING

from tapejax._src.keras.schedules import CosineDecay as CosineDecay
from tapejax._src.keras.schedules import CosineDecayRestarts as CosineDecayRestarts
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

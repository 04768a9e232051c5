"""`tf.keras.mixed_precision`: training in float16."""

from typing import TYPE_CHECKING

from tapejax._src.keras.loss_scale import LossScaleOptimizer as LossScaleOptimizer
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

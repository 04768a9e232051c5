"""`tf.train`: checkpoints and examples."""

from typing import TYPE_CHECKING

from tapejax._src.ops.moving_average import ExponentialMovingAverage as ExponentialMovingAverage
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

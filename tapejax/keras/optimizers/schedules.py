"""`tf.keras.optimizers.schedules`: learning rates as functions of the step."""

from typing import TYPE_CHECKING

from tapejax._src.keras.schedules import CosineDecay as CosineDecay
from tapejax._src.keras.schedules import CosineDecayRestarts as CosineDecayRestarts
from tapejax._src.keras.schedules import ExponentialDecay as ExponentialDecay
from tapejax._src.keras.schedules import InverseTimeDecay as InverseTimeDecay
from tapejax._src.keras.schedules import LearningRateSchedule as LearningRateSchedule
from tapejax._src.keras.schedules import PiecewiseConstantDecay as PiecewiseConstantDecay
from tapejax._src.keras.schedules import PolynomialDecay as PolynomialDecay
from tapejax._src.keras.schedules import deserialize as deserialize
from tapejax._src.keras.schedules import serialize as serialize
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

"""`tf.experimental`: what TensorFlow keeps there."""

from typing import TYPE_CHECKING

from tapejax._src.data.iterator import Optional as Optional
from tapejax._src.keras.functional import functional_call as functional_call
from tapejax._src.ops.ragged_shape import DynamicRaggedShape as DynamicRaggedShape
from tapejax._src.report.missing import missing_attribute
from tapejax.experimental import numpy as numpy

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

"""`tf.random`: random numbers, TensorFlow's own streams."""

from typing import TYPE_CHECKING

from tapejax._src.ops.random_seed import set_seed as set_seed
from tapejax._src.ops.random_stateful import categorical as categorical
from tapejax._src.ops.random_stateful import normal as normal
from tapejax._src.ops.random_stateful import shuffle as shuffle
from tapejax._src.ops.random_stateful import truncated_normal as truncated_normal
from tapejax._src.ops.random_stateful import uniform as uniform
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

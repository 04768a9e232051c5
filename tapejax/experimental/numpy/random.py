"""`tf.experimental.numpy.random`: random numbers."""

from typing import TYPE_CHECKING

from tapejax._src.ops.numpy_random import poisson as poisson
from tapejax._src.ops.numpy_random import rand as rand
from tapejax._src.ops.numpy_random import randint as randint
from tapejax._src.ops.numpy_random import randn as randn
from tapejax._src.ops.numpy_random import random as random
from tapejax._src.ops.numpy_random import seed as seed
from tapejax._src.ops.numpy_random import standard_normal as standard_normal
from tapejax._src.ops.numpy_random import uniform as uniform
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

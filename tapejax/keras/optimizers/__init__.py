"""`tf.keras.optimizers`: gradient descent and its relatives, on optax."""

from typing import TYPE_CHECKING

from tapejax._src.keras.optimizer import Optimizer as Optimizer
from tapejax._src.keras.optimizers import SGD as SGD
from tapejax._src.keras.optimizers import Adam as Adam
from tapejax._src.keras.optimizers import RMSprop as RMSprop
from tapejax._src.report.missing import missing_attribute
from tapejax.keras.optimizers import schedules as schedules

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

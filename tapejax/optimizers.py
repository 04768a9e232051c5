"""`tf.optimizers`: the same as `tf.keras.optimizers`."""

from typing import TYPE_CHECKING

from tapejax._src.keras.adaptive_optimizers import Adadelta as Adadelta
from tapejax._src.keras.adaptive_optimizers import Adagrad as Adagrad
from tapejax._src.keras.adaptive_optimizers import Adamax as Adamax
from tapejax._src.keras.adaptive_optimizers import Ftrl as Ftrl
from tapejax._src.keras.adaptive_optimizers import Lion as Lion
from tapejax._src.keras.adaptive_optimizers import Nadam as Nadam
from tapejax._src.keras.adaptive_optimizers import ScheduleFreeAdamW as ScheduleFreeAdamW
from tapejax._src.keras.layerwise_optimizers import Adafactor as Adafactor
from tapejax._src.keras.layerwise_optimizers import Lamb as Lamb
from tapejax._src.keras.layerwise_optimizers import Muon as Muon
from tapejax._src.keras.loss_scale import LossScaleOptimizer as LossScaleOptimizer
from tapejax._src.keras.multi_optimizer import MultiOptimizer as MultiOptimizer
from tapejax._src.keras.multi_optimizer import OptimizerMap as OptimizerMap
from tapejax._src.keras.optax_optimizer import Optax as Optax
from tapejax._src.keras.optimizer import Optimizer as Optimizer
from tapejax._src.keras.optimizers import SGD as SGD
from tapejax._src.keras.optimizers import Adam as Adam
from tapejax._src.keras.optimizers import AdamW as AdamW
from tapejax._src.keras.optimizers import RMSprop as RMSprop
from tapejax._src.keras.serialization import deserialize as deserialize
from tapejax._src.keras.serialization import get as get
from tapejax._src.keras.serialization import serialize as serialize
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

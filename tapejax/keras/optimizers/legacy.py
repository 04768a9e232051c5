"""`tf.keras.optimizers.legacy`: the optimizers as they were up to TensorFlow 2.15."""

from typing import TYPE_CHECKING

from tapejax._src.keras.legacy import SGD as SGD
from tapejax._src.keras.legacy import Adadelta as Adadelta
from tapejax._src.keras.legacy import Adagrad as Adagrad
from tapejax._src.keras.legacy import Adam as Adam
from tapejax._src.keras.legacy import Adamax as Adamax
from tapejax._src.keras.legacy import AdamW as AdamW
from tapejax._src.keras.legacy import Ftrl as Ftrl
from tapejax._src.keras.legacy import Nadam as Nadam
from tapejax._src.keras.legacy import Optimizer as Optimizer
from tapejax._src.keras.legacy import RMSprop as RMSprop
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

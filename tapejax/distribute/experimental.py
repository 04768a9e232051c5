"""`tf.distribute.experimental`: strategies and options that TensorFlow keeps there."""

from typing import TYPE_CHECKING

from tapejax._src.distribute.input_pipelines import ValueContext as ValueContext
from tapejax._src.distribute.reduce_op import CollectiveCommunication as CollectiveCommunication
from tapejax._src.distribute.reduce_op import (
    CommunicationImplementation as CommunicationImplementation,
)
from tapejax._src.distribute.reduce_op import CommunicationOptions as CommunicationOptions
from tapejax._src.distribute.sharded import ShardedStrategy as ShardedStrategy
from tapejax._src.distribute.strategies import CentralStorageStrategy as CentralStorageStrategy
from tapejax._src.distribute.strategies import (
    FormerMultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,  # pyright: ignore[reportUnusedImport]  renamed
)
from tapejax._src.distribute.strategies import FormerTPUStrategy as TPUStrategy  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.distribute.strategies import ParameterServerStrategy as ParameterServerStrategy
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

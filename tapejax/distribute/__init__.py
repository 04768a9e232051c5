"""`tf.distribute`: one training loop on one device or many."""

from typing import TYPE_CHECKING

from tapejax._src.distribute.contexts import get_replica_context as get_replica_context
from tapejax._src.distribute.contexts import get_strategy as get_strategy
from tapejax._src.distribute.contexts import has_strategy as has_strategy
from tapejax._src.distribute.contexts import in_cross_replica_context as in_cross_replica_context
from tapejax._src.distribute.divergence import ReplicaDivergenceError as ReplicaDivergenceError
from tapejax._src.distribute.input_pipelines import DistributedDataset as DistributedDataset
from tapejax._src.distribute.input_pipelines import DistributedIterator as DistributedIterator
from tapejax._src.distribute.input_pipelines import InputContext as InputContext
from tapejax._src.distribute.reduce_op import CrossDeviceOps as CrossDeviceOps
from tapejax._src.distribute.reduce_op import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from tapejax._src.distribute.reduce_op import InputOptions as InputOptions
from tapejax._src.distribute.reduce_op import InputReplicationMode as InputReplicationMode
from tapejax._src.distribute.reduce_op import NcclAllReduce as NcclAllReduce
from tapejax._src.distribute.reduce_op import ReduceOp as ReduceOp
from tapejax._src.distribute.reduce_op import ReductionToOneDevice as ReductionToOneDevice
from tapejax._src.distribute.reduce_op import RunOptions as RunOptions
from tapejax._src.distribute.replica_context import ReplicaContext as ReplicaContext
from tapejax._src.distribute.strategies import MirroredStrategy as MirroredStrategy
from tapejax._src.distribute.strategies import (
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from tapejax._src.distribute.strategies import OneDeviceStrategy as OneDeviceStrategy
from tapejax._src.distribute.strategies import ParameterServerStrategy as ParameterServerStrategy
from tapejax._src.distribute.strategies import TPUStrategy as TPUStrategy
from tapejax._src.distribute.strategy import Strategy as Strategy
from tapejax._src.distribute.values import DistributedValues as DistributedValues
from tapejax._src.report.missing import missing_attribute
from tapejax.distribute import cluster_resolver as cluster_resolver
from tapejax.distribute import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

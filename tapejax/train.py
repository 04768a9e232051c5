"""`tf.train`: checkpoints and examples."""

from typing import TYPE_CHECKING

from tapejax._src.checkpoint.checkpoint import Checkpoint as Checkpoint
from tapejax._src.checkpoint.manager import CheckpointManager as CheckpointManager
from tapejax._src.checkpoint.manager import checkpoints_iterator as checkpoints_iterator
from tapejax._src.checkpoint.options import CheckpointOptions as CheckpointOptions
from tapejax._src.checkpoint.paths import get_checkpoint_state as get_checkpoint_state
from tapejax._src.checkpoint.paths import latest_checkpoint as latest_checkpoint
from tapejax._src.checkpoint.reader import list_variables as list_variables
from tapejax._src.checkpoint.reader import load_checkpoint as load_checkpoint
from tapejax._src.checkpoint.reader import load_variable as load_variable
from tapejax._src.ops.example_messages import BytesList as BytesList
from tapejax._src.ops.example_messages import Example as Example
from tapejax._src.ops.example_messages import Feature as Feature
from tapejax._src.ops.example_messages import FeatureList as FeatureList
from tapejax._src.ops.example_messages import FeatureLists as FeatureLists
from tapejax._src.ops.example_messages import Features as Features
from tapejax._src.ops.example_messages import FloatList as FloatList
from tapejax._src.ops.example_messages import Int64List as Int64List
from tapejax._src.ops.example_messages import SequenceExample as SequenceExample
from tapejax._src.ops.moving_average import ExponentialMovingAverage as ExponentialMovingAverage
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

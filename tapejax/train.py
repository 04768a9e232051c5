"""`tf.train`: checkpoints and examples."""

from typing import TYPE_CHECKING

from tapejax._src.ops.example_messages import BytesList as BytesList
from tapejax._src.ops.example_messages import Example as Example
from tapejax._src.ops.example_messages import Feature as Feature
from tapejax._src.ops.example_messages import FeatureList as FeatureList
from tapejax._src.ops.example_messages import FeatureLists as FeatureLists
from tapejax._src.ops.example_messages import Features as Features
from tapejax._src.ops.example_messages import FloatList as FloatList
from tapejax._src.ops.example_messages import Int64List as Int64List
from tapejax._src.ops.example_messages import SequenceExample as SequenceExample
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

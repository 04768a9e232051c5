"""`tf.queue`: not supported, see `tf.data`."""

from typing import TYPE_CHECKING

from tapejax._src.ops.queues import FIFOQueue as FIFOQueue
from tapejax._src.ops.queues import PaddingFIFOQueue as PaddingFIFOQueue
from tapejax._src.ops.queues import PriorityQueue as PriorityQueue
from tapejax._src.ops.queues import QueueBase as QueueBase
from tapejax._src.ops.queues import RandomShuffleQueue as RandomShuffleQueue
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

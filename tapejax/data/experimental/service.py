"""`tf.data.experimental.service`: refused, with what to use instead."""

from typing import TYPE_CHECKING

from tapejax._src.data.refused import DispatchServer as DispatchServer
from tapejax._src.data.refused import distribute as distribute
from tapejax._src.data.refused import from_dataset_id as from_dataset_id
from tapejax._src.data.refused import register_dataset as register_dataset
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

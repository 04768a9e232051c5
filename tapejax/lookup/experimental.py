"""`tf.lookup.experimental`: tables that change."""

from typing import TYPE_CHECKING

from tapejax._src.ops.mutable_tables import DenseHashTable as DenseHashTable
from tapejax._src.ops.mutable_tables import MutableHashTable as MutableHashTable
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

"""`tf.lookup`: tables from keys to values."""

from typing import TYPE_CHECKING

from tapejax._src.ops.lookup_tables import StaticHashTable as StaticHashTable
from tapejax._src.ops.lookup_tables import StaticVocabularyTable as StaticVocabularyTable
from tapejax._src.ops.table_initializers import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
)
from tapejax._src.ops.table_initializers import TextFileIndex as TextFileIndex
from tapejax._src.ops.table_initializers import TextFileInitializer as TextFileInitializer
from tapejax._src.report.missing import missing_attribute
from tapejax.lookup import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

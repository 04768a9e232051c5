"""`tf.nest`: nested structures."""

from typing import TYPE_CHECKING

from tapejax._src.core.nest import assert_same_structure as assert_same_structure
from tapejax._src.core.nest import flatten as flatten
from tapejax._src.core.nest import is_nested as is_nested
from tapejax._src.core.nest import map_structure as map_structure
from tapejax._src.core.nest import pack_sequence_as as pack_sequence_as
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

"""`tf.sets`: sets along the last axis."""

from typing import TYPE_CHECKING

from tapejax._src.ops.sets import difference as difference
from tapejax._src.ops.sets import intersection as intersection
from tapejax._src.ops.sets import size as size
from tapejax._src.ops.sets import union as union
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

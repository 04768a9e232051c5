"""`tf.ragged`: rows of different lengths."""

from typing import TYPE_CHECKING

from tapejax._src.ops.ragged_constant import constant as constant
from tapejax._src.ops.ragged_namespace import boolean_mask as boolean_mask
from tapejax._src.ops.ragged_namespace import map_flat_values as map_flat_values
from tapejax._src.ops.ragged_namespace import range as range
from tapejax._src.ops.ragged_namespace import row_splits_to_segment_ids as row_splits_to_segment_ids
from tapejax._src.ops.ragged_namespace import segment_ids_to_row_splits as segment_ids_to_row_splits
from tapejax._src.ops.ragged_namespace import stack as stack
from tapejax._src.ops.ragged_namespace import stack_dynamic_partitions as stack_dynamic_partitions
from tapejax._src.ops.sparse_counting import ragged_cross as cross  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.sparse_counting import ragged_cross_hashed as cross_hashed  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

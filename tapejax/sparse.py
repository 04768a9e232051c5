"""`tf.sparse`: tensors that hold their non-zero elements."""

from typing import TYPE_CHECKING

from tapejax._src.ops.sparse_counting import bincount as bincount
from tapejax._src.ops.sparse_counting import cross as cross
from tapejax._src.ops.sparse_counting import cross_hashed as cross_hashed
from tapejax._src.ops.sparse_dense import from_dense as from_dense
from tapejax._src.ops.sparse_dense import sampled_addmm as sampled_addmm
from tapejax._src.ops.sparse_dense import sparse_dense_matmul as sparse_dense_matmul
from tapejax._src.ops.sparse_dense import to_dense as to_dense
from tapejax._src.ops.sparse_dense import to_indicator as to_indicator
from tapejax._src.ops.sparse_parts import fill_empty_rows as fill_empty_rows
from tapejax._src.ops.sparse_parts import mask as mask
from tapejax._src.ops.sparse_parts import reset_shape as reset_shape
from tapejax._src.ops.sparse_parts import retain as retain
from tapejax._src.ops.sparse_parts import slice as slice
from tapejax._src.ops.sparse_parts import split as split
from tapejax._src.ops.sparse_rearranging import concat as concat
from tapejax._src.ops.sparse_rearranging import expand_dims as expand_dims
from tapejax._src.ops.sparse_rearranging import eye as eye
from tapejax._src.ops.sparse_rearranging import map_values as map_values
from tapejax._src.ops.sparse_rearranging import reorder as reorder
from tapejax._src.ops.sparse_rearranging import reshape as reshape
from tapejax._src.ops.sparse_rearranging import transpose as transpose
from tapejax._src.ops.sparse_reduction import add as add
from tapejax._src.ops.sparse_reduction import maximum as maximum
from tapejax._src.ops.sparse_reduction import minimum as minimum
from tapejax._src.ops.sparse_reduction import reduce_max as reduce_max
from tapejax._src.ops.sparse_reduction import reduce_sum as reduce_sum
from tapejax._src.ops.sparse_reduction import softmax as softmax
from tapejax._src.ops.sparse_segments import segment_mean as segment_mean
from tapejax._src.ops.sparse_segments import segment_sqrt_n as segment_sqrt_n
from tapejax._src.ops.sparse_segments import segment_sum as segment_sum
from tapejax._src.ops.sparse_tensor import SparseTensor as SparseTensor
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

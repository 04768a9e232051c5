"""`tf.data.experimental`: what TensorFlow keeps there."""

from typing import TYPE_CHECKING

from tapejax._src.data.csv_files import CsvDataset as CsvDataset
from tapejax._src.data.csv_files import make_csv_dataset as make_csv_dataset
from tapejax._src.data.experimental import AUTOTUNE as AUTOTUNE
from tapejax._src.data.experimental import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from tapejax._src.data.experimental import SHARD_HINT as SHARD_HINT
from tapejax._src.data.experimental import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from tapejax._src.data.experimental import RandomDataset as RandomDataset
from tapejax._src.data.experimental import TFRecordWriter as TFRecordWriter
from tapejax._src.data.experimental import assert_cardinality as assert_cardinality
from tapejax._src.data.experimental import at as at
from tapejax._src.data.experimental import cardinality as cardinality
from tapejax._src.data.experimental import choose_from_datasets as choose_from_datasets
from tapejax._src.data.experimental import counter as Counter  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.data.experimental import enable_debug_mode as enable_debug_mode
from tapejax._src.data.experimental import from_list as from_list
from tapejax._src.data.experimental import get_next_as_optional as get_next_as_optional
from tapejax._src.data.experimental import get_single_element as get_single_element
from tapejax._src.data.experimental import get_structure as get_structure
from tapejax._src.data.experimental import load as load
from tapejax._src.data.experimental import sample_from_datasets as sample_from_datasets
from tapejax._src.data.experimental import save as save
from tapejax._src.data.iterator import Optional as Optional
from tapejax._src.data.options import AutoShardPolicy as AutoShardPolicy
from tapejax._src.data.options import AutotuneAlgorithm as AutotuneAlgorithm
from tapejax._src.data.options import AutotuneOptions as AutotuneOptions
from tapejax._src.data.options import DistributeOptions as DistributeOptions
from tapejax._src.data.options import ExternalStatePolicy as ExternalStatePolicy
from tapejax._src.data.options import OptimizationOptions as OptimizationOptions
from tapejax._src.data.options import ServiceOptions as ServiceOptions
from tapejax._src.data.options import ThreadingOptions as ThreadingOptions
from tapejax._src.data.refused import SqlDataset as SqlDataset
from tapejax._src.data.refused import dense_to_sparse_batch as dense_to_sparse_batch
from tapejax._src.data.refused import from_variant as from_variant
from tapejax._src.data.refused import make_saveable_from_iterator as make_saveable_from_iterator
from tapejax._src.data.refused import to_variant as to_variant
from tapejax._src.data.transformations import bucket_by_sequence_length as bucket_by_sequence_length
from tapejax._src.data.transformations import copy_to_device as copy_to_device
from tapejax._src.data.transformations import dense_to_ragged_batch as dense_to_ragged_batch
from tapejax._src.data.transformations import enumerate_dataset as enumerate_dataset
from tapejax._src.data.transformations import group_by_window as group_by_window
from tapejax._src.data.transformations import ignore_errors as ignore_errors
from tapejax._src.data.transformations import map_and_batch as map_and_batch
from tapejax._src.data.transformations import parallel_interleave as parallel_interleave
from tapejax._src.data.transformations import prefetch_to_device as prefetch_to_device
from tapejax._src.data.transformations import rejection_resample as rejection_resample
from tapejax._src.data.transformations import scan as scan
from tapejax._src.data.transformations import shuffle_and_repeat as shuffle_and_repeat
from tapejax._src.data.transformations import snapshot as snapshot
from tapejax._src.data.transformations import take_while as take_while
from tapejax._src.data.transformations import unbatch as unbatch
from tapejax._src.data.transformations import unique as unique
from tapejax._src.report.missing import missing_attribute
from tapejax.data.experimental import service as service

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

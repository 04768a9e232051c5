"""`tf.data`: input pipelines."""

from typing import TYPE_CHECKING

from tapejax._src.data.dataset import Dataset as Dataset
from tapejax._src.data.experimental import AUTOTUNE as AUTOTUNE
from tapejax._src.data.experimental import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from tapejax._src.data.experimental import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from tapejax._src.data.iterator import DatasetSpec as DatasetSpec
from tapejax._src.data.iterator import Iterator as Iterator
from tapejax._src.data.iterator import IteratorSpec as IteratorSpec
from tapejax._src.data.iterator import NumpyIterator as NumpyIterator
from tapejax._src.data.options import Options as Options
from tapejax._src.data.options import ThreadingOptions as ThreadingOptions
from tapejax._src.data.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
from tapejax._src.data.readers import TextLineDataset as TextLineDataset
from tapejax._src.data.readers import TFRecordDataset as TFRecordDataset
from tapejax._src.report.missing import missing_attribute
from tapejax.data import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

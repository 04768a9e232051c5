"""`tf.io`: files and their formats."""

from typing import TYPE_CHECKING

from tapejax._src.ops.csv_decoding import decode_csv as decode_csv
from tapejax._src.ops.decoding import decode_base64 as decode_base64
from tapejax._src.ops.decoding import decode_compressed as decode_compressed
from tapejax._src.ops.decoding import decode_raw as decode_raw
from tapejax._src.ops.decoding import encode_base64 as encode_base64
from tapejax._src.ops.example_features import FixedLenFeature as FixedLenFeature
from tapejax._src.ops.example_features import FixedLenSequenceFeature as FixedLenSequenceFeature
from tapejax._src.ops.example_features import RaggedFeature as RaggedFeature
from tapejax._src.ops.example_features import SparseFeature as SparseFeature
from tapejax._src.ops.example_features import VarLenFeature as VarLenFeature
from tapejax._src.ops.example_parsing import parse_example as parse_example
from tapejax._src.ops.example_parsing import parse_single_example as parse_single_example
from tapejax._src.ops.file_contents import match_filenames_once as match_filenames_once
from tapejax._src.ops.file_contents import matching_files as matching_files
from tapejax._src.ops.file_contents import read_file as read_file
from tapejax._src.ops.file_contents import write_file as write_file
from tapejax._src.ops.file_contents import write_graph as write_graph
from tapejax._src.ops.json_examples import decode_json_example as decode_json_example
from tapejax._src.ops.record_files import TFRecordOptions as TFRecordOptions
from tapejax._src.ops.record_files import TFRecordWriter as TFRecordWriter
from tapejax._src.ops.sequence_parsing import parse_sequence_example as parse_sequence_example
from tapejax._src.ops.sequence_parsing import (
    parse_single_sequence_example as parse_single_sequence_example,
)
from tapejax._src.ops.sparse_messages import deserialize_many_sparse as deserialize_many_sparse
from tapejax._src.ops.sparse_messages import serialize_many_sparse as serialize_many_sparse
from tapejax._src.ops.sparse_messages import serialize_sparse as serialize_sparse
from tapejax._src.ops.tensor_messages import parse_tensor as parse_tensor
from tapejax._src.ops.tensor_messages import serialize_tensor as serialize_tensor
from tapejax._src.report.missing import missing_attribute
from tapejax.io import gfile as gfile

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

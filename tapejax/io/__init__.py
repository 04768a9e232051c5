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
from tapejax._src.ops.image_codecs import decode_and_crop_jpeg as decode_and_crop_jpeg
from tapejax._src.ops.image_codecs import decode_bmp as decode_bmp
from tapejax._src.ops.image_codecs import decode_gif as decode_gif
from tapejax._src.ops.image_codecs import decode_image as decode_image
from tapejax._src.ops.image_codecs import decode_jpeg as decode_jpeg
from tapejax._src.ops.image_codecs import decode_jxl as decode_jxl
from tapejax._src.ops.image_codecs import decode_png as decode_png
from tapejax._src.ops.image_codecs import decode_webp as decode_webp
from tapejax._src.ops.image_encoding import encode_jpeg as encode_jpeg
from tapejax._src.ops.image_encoding import encode_png as encode_png
from tapejax._src.ops.image_encoding import extract_jpeg_shape as extract_jpeg_shape
from tapejax._src.ops.image_encoding import is_jpeg as is_jpeg
from tapejax._src.ops.json_examples import decode_json_example as decode_json_example
from tapejax._src.ops.record_writer import TFRecordOptions as TFRecordOptions
from tapejax._src.ops.record_writer import TFRecordWriter as TFRecordWriter
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

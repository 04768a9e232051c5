"""`tf.strings`: text."""

from typing import TYPE_CHECKING

from tapejax._src.ops.number_texts import as_string as as_string
from tapejax._src.ops.number_texts import format as format
from tapejax._src.ops.string_functions import length as length
from tapejax._src.ops.string_functions import lower as lower
from tapejax._src.ops.string_functions import strip as strip
from tapejax._src.ops.string_functions import substr as substr
from tapejax._src.ops.string_functions import to_hash_bucket as to_hash_bucket
from tapejax._src.ops.string_functions import to_hash_bucket_fast as to_hash_bucket_fast
from tapejax._src.ops.string_functions import to_hash_bucket_strong as to_hash_bucket_strong
from tapejax._src.ops.string_functions import to_number as to_number
from tapejax._src.ops.string_functions import upper as upper
from tapejax._src.ops.string_joining import join as join
from tapejax._src.ops.string_joining import reduce_join as reduce_join
from tapejax._src.ops.string_joining import unsorted_segment_join as unsorted_segment_join
from tapejax._src.ops.string_patterns import regex_full_match as regex_full_match
from tapejax._src.ops.string_patterns import regex_replace as regex_replace
from tapejax._src.ops.string_splitting import bytes_split as bytes_split
from tapejax._src.ops.string_splitting import ngrams as ngrams
from tapejax._src.ops.string_splitting import split as split
from tapejax._src.ops.string_unicode import unicode_decode as unicode_decode
from tapejax._src.ops.string_unicode import (
    unicode_decode_with_offsets as unicode_decode_with_offsets,
)
from tapejax._src.ops.string_unicode import unicode_encode as unicode_encode
from tapejax._src.ops.string_unicode import unicode_script as unicode_script
from tapejax._src.ops.string_unicode import unicode_split as unicode_split
from tapejax._src.ops.string_unicode import unicode_split_with_offsets as unicode_split_with_offsets
from tapejax._src.ops.string_unicode import unicode_transcode as unicode_transcode
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

"""`tf.strings`: text."""

from typing import TYPE_CHECKING

from tapejax._src.ops.string_functions import length as length
from tapejax._src.ops.string_functions import lower as lower
from tapejax._src.ops.string_functions import strip as strip
from tapejax._src.ops.string_functions import substr as substr
from tapejax._src.ops.string_functions import to_hash_bucket as to_hash_bucket
from tapejax._src.ops.string_functions import to_hash_bucket_fast as to_hash_bucket_fast
from tapejax._src.ops.string_functions import to_hash_bucket_strong as to_hash_bucket_strong
from tapejax._src.ops.string_functions import to_number as to_number
from tapejax._src.ops.string_functions import upper as upper
from tapejax._src.ops.string_patterns import regex_full_match as regex_full_match
from tapejax._src.ops.string_patterns import regex_replace as regex_replace
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

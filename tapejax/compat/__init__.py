"""`tf.compat`: texts and bytes, and programs written for older releases."""

from typing import TYPE_CHECKING

from tapejax._src.keras.old_spellings.enabling import enable_legacy_keras as enable_legacy_keras
from tapejax._src.ops.text_compatibility import as_bytes as as_bytes
from tapejax._src.ops.text_compatibility import as_str_any as as_str_any
from tapejax._src.ops.text_compatibility import as_text as as_str  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.ops.text_compatibility import as_text as as_text
from tapejax._src.ops.text_compatibility import bytes_or_text_types as bytes_or_text_types
from tapejax._src.ops.text_compatibility import complex_types as complex_types
from tapejax._src.ops.text_compatibility import dimension_at_index as dimension_at_index
from tapejax._src.ops.text_compatibility import dimension_value as dimension_value
from tapejax._src.ops.text_compatibility import (
    forward_compatibility_horizon as forward_compatibility_horizon,
)
from tapejax._src.ops.text_compatibility import forward_compatible as forward_compatible
from tapejax._src.ops.text_compatibility import integral_types as integral_types
from tapejax._src.ops.text_compatibility import path_to_str as path_to_str
from tapejax._src.ops.text_compatibility import real_types as real_types
from tapejax._src.report.missing import missing_attribute
from tapejax.compat import v1 as v1

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

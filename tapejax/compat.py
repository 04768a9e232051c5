"""`tapejax.compat`: programs written for older releases."""

from typing import TYPE_CHECKING

from tapejax._src.keras.old_spellings.enabling import enable_legacy_keras as enable_legacy_keras
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

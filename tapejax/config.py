"""`tf.config`: settings."""


from typing import TYPE_CHECKING

from tapejax._src.function.function import functions_run_eagerly as functions_run_eagerly
from tapejax._src.function.function import run_functions_eagerly as run_functions_eagerly
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

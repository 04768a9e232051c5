"""`tf.linalg.experimental`: iterative solvers."""

from typing import TYPE_CHECKING

from tapejax._src.function.linear_operators.conjugate_gradient import (
    conjugate_gradient as conjugate_gradient,
)
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

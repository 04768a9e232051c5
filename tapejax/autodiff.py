"""`tf.autodiff`: tapes and forward accumulators."""

from typing import TYPE_CHECKING

from tapejax._src.report.missing import missing_attribute
from tapejax._src.tape.forward_accumulator import ForwardAccumulator as ForwardAccumulator
from tapejax._src.tape.gradient_tape import GradientTape as GradientTape

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

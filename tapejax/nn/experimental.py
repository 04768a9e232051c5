"""`tf.nn.experimental`: dropout with a generator of its own."""

from typing import TYPE_CHECKING

from tapejax._src.ops.dropout import general_dropout as general_dropout
from tapejax._src.ops.dropout import stateless_dropout as stateless_dropout
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

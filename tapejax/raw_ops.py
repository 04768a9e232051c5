"""`tf.raw_ops`: TensorFlow's operations by their own names, with arguments by name only."""

import typing  # `Any` is an operation here

from tapejax._src.report.raw_ops import raw_attribute

if typing.TYPE_CHECKING:

    def __getattr__(name: str) -> typing.Any: ...

else:
    __getattr__ = raw_attribute(__name__)

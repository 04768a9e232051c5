"""`tf.compat.v1`: what eager programs use of TensorFlow 1."""

from typing import TYPE_CHECKING, Any

from tapejax._src.report.missing import version_1_attribute

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:
    __getattr__ = version_1_attribute(__name__)

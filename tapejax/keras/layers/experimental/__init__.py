"""`tf.keras.layers.experimental`: the same layers as `tf.keras.layers`."""

from typing import TYPE_CHECKING, Any

from tapejax._src.report.missing import guest_attribute
from tapejax.keras.layers.experimental import preprocessing as preprocessing

if TYPE_CHECKING:  # Keras is a guest: what it has is known when it is loaded

    def __getattr__(name: str) -> Any: ...

else:
    __getattr__ = guest_attribute(__name__)

"""`tf.keras`: Keras 3 on its JAX backend, with tapejax's own optimizers."""

from typing import TYPE_CHECKING, Any

from tapejax._src.keras.bridge.guest import GuestPath
from tapejax._src.report.missing import guest_attribute
from tapejax.keras import experimental as experimental
from tapejax.keras import mixed_precision as mixed_precision
from tapejax.keras import optimizers as optimizers

if TYPE_CHECKING:  # Keras is a guest: what it has is known when it is loaded

    def __getattr__(name: str) -> Any: ...

else:
    __getattr__ = guest_attribute(__name__)
    __path__ = GuestPath(__path__[0])

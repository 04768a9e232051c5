"""`tf.keras.utils`: files, data sets and pictures of models, as Keras 3 has them."""

from typing import TYPE_CHECKING, Any

from tapejax._src.report.missing import guest_attribute

if TYPE_CHECKING:  # Keras is a guest: what it has is known when it is loaded

    def __getattr__(name: str) -> Any: ...

else:
    __getattr__ = guest_attribute(__name__)

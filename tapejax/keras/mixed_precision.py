"""`tf.keras.mixed_precision`: training in float16."""

from typing import TYPE_CHECKING, Any

from tapejax._src.keras.loss_scale import LossScaleOptimizer as LossScaleOptimizer
from tapejax._src.report.missing import guest_attribute

if TYPE_CHECKING:  # policies are Keras' own: what it has is known when it is loaded

    def __getattr__(name: str) -> Any: ...

else:
    __getattr__ = guest_attribute(__name__)

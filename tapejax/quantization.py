"""`tf.quantization`: rounding that has a gradient."""

from typing import TYPE_CHECKING

from tapejax._src.ops.fake_quantization import (
    fake_quant_with_min_max_args as fake_quant_with_min_max_args,
)
from tapejax._src.ops.fake_quantization import (
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
)
from tapejax._src.ops.fake_quantization import (
    fake_quant_with_min_max_vars as fake_quant_with_min_max_vars,
)
from tapejax._src.ops.fake_quantization import (
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
)
from tapejax._src.ops.fake_quantization import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from tapejax._src.ops.fake_quantization import (
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from tapejax._src.ops.quantization import dequantize as dequantize
from tapejax._src.ops.quantization import quantize as quantize
from tapejax._src.ops.rounded_ranges import quantize_and_dequantize as quantize_and_dequantize
from tapejax._src.ops.rounded_ranges import quantize_and_dequantize_v2 as quantize_and_dequantize_v2
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

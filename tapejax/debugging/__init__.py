"""`tf.debugging`: checks."""

from typing import TYPE_CHECKING

from tapejax._src.ops.assertions import Assert as Assert
from tapejax._src.ops.assertions import assert_equal as assert_equal
from tapejax._src.ops.assertions import assert_greater as assert_greater
from tapejax._src.ops.assertions import assert_greater_equal as assert_greater_equal
from tapejax._src.ops.assertions import assert_less as assert_less
from tapejax._src.ops.assertions import assert_less_equal as assert_less_equal
from tapejax._src.ops.assertions import assert_near as assert_near
from tapejax._src.ops.assertions import assert_negative as assert_negative
from tapejax._src.ops.assertions import assert_non_negative as assert_non_negative
from tapejax._src.ops.assertions import assert_non_positive as assert_non_positive
from tapejax._src.ops.assertions import assert_none_equal as assert_none_equal
from tapejax._src.ops.assertions import assert_positive as assert_positive
from tapejax._src.ops.debugging_options import disable_check_numerics as disable_check_numerics
from tapejax._src.ops.debugging_options import (
    disable_traceback_filtering as disable_traceback_filtering,
)
from tapejax._src.ops.debugging_options import enable_check_numerics as enable_check_numerics
from tapejax._src.ops.debugging_options import (
    enable_traceback_filtering as enable_traceback_filtering,
)
from tapejax._src.ops.debugging_options import get_log_device_placement as get_log_device_placement
from tapejax._src.ops.debugging_options import (
    is_traceback_filtering_enabled as is_traceback_filtering_enabled,
)
from tapejax._src.ops.debugging_options import set_log_device_placement as set_log_device_placement
from tapejax._src.ops.numeric_checks import assert_all_finite as assert_all_finite
from tapejax._src.ops.numeric_checks import check_numerics as check_numerics
from tapejax._src.ops.static_assertions import assert_integer as assert_integer
from tapejax._src.ops.static_assertions import assert_proper_iterable as assert_proper_iterable
from tapejax._src.ops.static_assertions import assert_rank as assert_rank
from tapejax._src.ops.static_assertions import assert_rank_at_least as assert_rank_at_least
from tapejax._src.ops.static_assertions import assert_rank_in as assert_rank_in
from tapejax._src.ops.static_assertions import assert_same_float_dtype as assert_same_float_dtype
from tapejax._src.ops.static_assertions import assert_scalar as assert_scalar
from tapejax._src.ops.static_assertions import assert_shapes as assert_shapes
from tapejax._src.ops.static_assertions import assert_type as assert_type
from tapejax._src.ops.static_assertions import is_numeric_tensor as is_numeric_tensor
from tapejax._src.report.missing import missing_attribute
from tapejax.debugging import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

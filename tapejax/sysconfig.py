"""`tf.sysconfig`: how the library was built."""

from typing import TYPE_CHECKING

from tapejax._src.ops.build_info import CXX11_ABI_FLAG as CXX11_ABI_FLAG
from tapejax._src.ops.build_info import CXX_VERSION as CXX_VERSION
from tapejax._src.ops.build_info import MONOLITHIC_BUILD as MONOLITHIC_BUILD
from tapejax._src.ops.build_info import get_build_info as get_build_info
from tapejax._src.ops.build_info import get_compile_flags as get_compile_flags
from tapejax._src.ops.build_info import get_include as get_include
from tapejax._src.ops.build_info import get_lib as get_lib
from tapejax._src.ops.build_info import get_link_flags as get_link_flags
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

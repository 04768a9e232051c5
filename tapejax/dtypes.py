"""`tf.dtypes`: element types."""

from typing import TYPE_CHECKING

from tapejax._src.core.dtypes import DType as DType
from tapejax._src.core.dtypes import as_dtype as as_dtype
from tapejax._src.core.dtypes import bfloat16 as bfloat16
from tapejax._src.core.dtypes import bool_ as bool  # pyright: ignore[reportUnusedImport]  renamed
from tapejax._src.core.dtypes import complex64 as complex64
from tapejax._src.core.dtypes import complex128 as complex128
from tapejax._src.core.dtypes import double as double
from tapejax._src.core.dtypes import float16 as float16
from tapejax._src.core.dtypes import float32 as float32
from tapejax._src.core.dtypes import float64 as float64
from tapejax._src.core.dtypes import half as half
from tapejax._src.core.dtypes import int8 as int8
from tapejax._src.core.dtypes import int16 as int16
from tapejax._src.core.dtypes import int32 as int32
from tapejax._src.core.dtypes import int64 as int64
from tapejax._src.core.dtypes import qint8 as qint8
from tapejax._src.core.dtypes import qint16 as qint16
from tapejax._src.core.dtypes import qint32 as qint32
from tapejax._src.core.dtypes import quint8 as quint8
from tapejax._src.core.dtypes import quint16 as quint16
from tapejax._src.core.dtypes import resource as resource
from tapejax._src.core.dtypes import string as string
from tapejax._src.core.dtypes import uint8 as uint8
from tapejax._src.core.dtypes import uint16 as uint16
from tapejax._src.core.dtypes import uint32 as uint32
from tapejax._src.core.dtypes import uint64 as uint64
from tapejax._src.core.dtypes import variant as variant
from tapejax._src.ops.casting import cast as cast
from tapejax._src.ops.casting import saturate_cast as saturate_cast
from tapejax._src.ops.complex_parts import complex as complex
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

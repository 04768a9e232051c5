"""`tf.math.special`: special functions."""

from typing import TYPE_CHECKING

from tapejax._src.ops.bessel import bessel_j0 as bessel_j0
from tapejax._src.ops.bessel import bessel_j1 as bessel_j1
from tapejax._src.ops.bessel import bessel_k0 as bessel_k0
from tapejax._src.ops.bessel import bessel_k0e as bessel_k0e
from tapejax._src.ops.bessel import bessel_k1 as bessel_k1
from tapejax._src.ops.bessel import bessel_k1e as bessel_k1e
from tapejax._src.ops.bessel import bessel_y0 as bessel_y0
from tapejax._src.ops.bessel import bessel_y1 as bessel_y1
from tapejax._src.ops.special import bessel_i0 as bessel_i0
from tapejax._src.ops.special import bessel_i0e as bessel_i0e
from tapejax._src.ops.special import bessel_i1 as bessel_i1
from tapejax._src.ops.special import bessel_i1e as bessel_i1e
from tapejax._src.ops.special_integrals import dawsn as dawsn
from tapejax._src.ops.special_integrals import expint as expint
from tapejax._src.ops.special_integrals import fresnel_cos as fresnel_cos
from tapejax._src.ops.special_integrals import fresnel_sin as fresnel_sin
from tapejax._src.ops.special_integrals import spence as spence
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

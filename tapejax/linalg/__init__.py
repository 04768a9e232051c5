"""`tf.linalg`: matrices."""

from typing import TYPE_CHECKING

from tapejax._src.function.linear_operators.base import LinearOperator as LinearOperator
from tapejax._src.function.linear_operators.blocks import (
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
)
from tapejax._src.function.linear_operators.blocks import (
    LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
)
from tapejax._src.function.linear_operators.circulant import (
    LinearOperatorCirculant as LinearOperatorCirculant,
)
from tapejax._src.function.linear_operators.circulant import (
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
)
from tapejax._src.function.linear_operators.circulant import (
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
)
from tapejax._src.function.linear_operators.circulant import (
    LinearOperatorToeplitz as LinearOperatorToeplitz,
)
from tapejax._src.function.linear_operators.dense import (
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
)
from tapejax._src.function.linear_operators.dense import (
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from tapejax._src.function.linear_operators.diagonal import LinearOperatorDiag as LinearOperatorDiag
from tapejax._src.function.linear_operators.diagonal import (
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from tapejax._src.function.linear_operators.identity import (
    LinearOperatorIdentity as LinearOperatorIdentity,
)
from tapejax._src.function.linear_operators.identity import (
    LinearOperatorZeros as LinearOperatorZeros,
)
from tapejax._src.function.linear_operators.kronecker import (
    LinearOperatorKronecker as LinearOperatorKronecker,
)
from tapejax._src.function.linear_operators.low_rank import (
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
)
from tapejax._src.function.linear_operators.orthogonal import (
    LinearOperatorHouseholder as LinearOperatorHouseholder,
)
from tapejax._src.function.linear_operators.orthogonal import (
    LinearOperatorPermutation as LinearOperatorPermutation,
)
from tapejax._src.function.linear_operators.tridiag import (
    LinearOperatorTridiag as LinearOperatorTridiag,
)
from tapejax._src.function.linear_operators.wrapped import (
    LinearOperatorAdjoint as LinearOperatorAdjoint,
)
from tapejax._src.function.linear_operators.wrapped import (
    LinearOperatorComposition as LinearOperatorComposition,
)
from tapejax._src.function.linear_operators.wrapped import (
    LinearOperatorInversion as LinearOperatorInversion,
)
from tapejax._src.ops.clipping import global_norm as global_norm
from tapejax._src.ops.creation import eye as eye
from tapejax._src.ops.diagonals import band_part as band_part
from tapejax._src.ops.diagonals import diag as diag
from tapejax._src.ops.diagonals import diag_part as diag_part
from tapejax._src.ops.diagonals import set_diag as set_diag
from tapejax._src.ops.einsum import einsum as einsum
from tapejax._src.ops.factorization import cholesky as cholesky
from tapejax._src.ops.factorization import lu as lu
from tapejax._src.ops.factorization import qr as qr
from tapejax._src.ops.linalg import cholesky_solve as cholesky_solve
from tapejax._src.ops.linalg import det as det
from tapejax._src.ops.linalg import inv as inv
from tapejax._src.ops.linalg import logdet as logdet
from tapejax._src.ops.linalg import lstsq as lstsq
from tapejax._src.ops.linalg import pinv as pinv
from tapejax._src.ops.linalg import slogdet as slogdet
from tapejax._src.ops.linalg import solve as solve
from tapejax._src.ops.linalg import triangular_solve as triangular_solve
from tapejax._src.ops.lu_functions import lu_matrix_inverse as lu_matrix_inverse
from tapejax._src.ops.lu_functions import lu_reconstruct as lu_reconstruct
from tapejax._src.ops.lu_functions import lu_solve as lu_solve
from tapejax._src.ops.lu_functions import matrix_rank as matrix_rank
from tapejax._src.ops.matmul import cross as cross
from tapejax._src.ops.matmul import matmul as matmul
from tapejax._src.ops.matmul import matvec as matvec
from tapejax._src.ops.matmul import tensordot as tensordot
from tapejax._src.ops.matmul import trace as trace
from tapejax._src.ops.matrix_functions import adjoint as adjoint
from tapejax._src.ops.matrix_functions import expm as expm
from tapejax._src.ops.matrix_functions import matrix_transpose as matrix_transpose
from tapejax._src.ops.matrix_functions import sqrtm as sqrtm
from tapejax._src.ops.matrix_functions import tensor_diag as tensor_diag
from tapejax._src.ops.matrix_functions import tensor_diag_part as tensor_diag_part
from tapejax._src.ops.matrix_logarithm import logm as logm
from tapejax._src.ops.norm import l2_normalize as l2_normalize
from tapejax._src.ops.norm import norm as norm
from tapejax._src.ops.norm import normalize as normalize
from tapejax._src.ops.spectral import eig as eig
from tapejax._src.ops.spectral import eigh as eigh
from tapejax._src.ops.spectral import eigvals as eigvals
from tapejax._src.ops.spectral import eigvalsh as eigvalsh
from tapejax._src.ops.spectral import svd as svd
from tapejax._src.ops.tridiagonal import banded_triangular_solve as banded_triangular_solve
from tapejax._src.ops.tridiagonal import tridiagonal_matmul as tridiagonal_matmul
from tapejax._src.ops.tridiagonal import tridiagonal_solve as tridiagonal_solve
from tapejax._src.ops.tridiagonal_eigenvalues import eigh_tridiagonal as eigh_tridiagonal
from tapejax._src.report.missing import missing_attribute
from tapejax.linalg import experimental as experimental

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)

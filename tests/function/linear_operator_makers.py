"""Operators of every class, made from arrays alike in both libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(11)


def _draw(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def _complex(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


def _definite(*shape: int) -> np.ndarray:
    x = RNG.normal(size=shape)
    return x @ np.swapaxes(x, -1, -2) / shape[-1] + np.eye(shape[-1])


def _hermitian_spectrum(*shape: int) -> np.ndarray:
    """The spectrum of a real kernel whose operator is well conditioned."""
    kernel = RNG.uniform(-0.5, 0.5, size=shape) / np.prod(shape)
    kernel[(..., *[0] * len(shape))] += 2
    return np.fft.fftn(kernel)


SPD = {"is_self_adjoint": True, "is_positive_definite": True}

# name -> (make(L, *arrays), arrays); L is the namespace tf.linalg
MAKERS: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "full": (lambda L, a: L.LinearOperatorFullMatrix(a), [_definite(3, 3) + _draw(3, 3) / 4]),
    "full complex": (lambda L, a: L.LinearOperatorFullMatrix(a), [_complex(3, 3)]),
    "full definite": (lambda L, a: L.LinearOperatorFullMatrix(a, **SPD), [_definite(3, 3)]),
    "full wide": (lambda L, a: L.LinearOperatorFullMatrix(a), [_draw(2, 3)]),
    "diag": (lambda L, a: L.LinearOperatorDiag(a), [_draw(3)]),
    "diag batch": (lambda L, a: L.LinearOperatorDiag(a), [_draw(2, 3)]),
    "diag complex": (lambda L, a: L.LinearOperatorDiag(a), [_complex(3)]),
    "diag definite": (
        lambda L, a: L.LinearOperatorDiag(a, is_positive_definite=True),
        [RNG.uniform(1, 2, size=3)],
    ),
    "scaled identity": (lambda L, a: L.LinearOperatorScaledIdentity(3, a), [_draw(2)]),
    "lower": (lambda L, a: L.LinearOperatorLowerTriangular(a), [_draw(3, 3) + 2 * np.eye(3)]),
    "lower complex": (
        lambda L, a: L.LinearOperatorLowerTriangular(a),
        [_complex(2, 2) + 2 * np.eye(2)],
    ),
    "householder": (lambda L, a: L.LinearOperatorHouseholder(a), [_draw(4)]),
    "circulant": (
        lambda L, a: L.LinearOperatorCirculant(a, a.dtype),
        [_complex(4) + 3],
    ),
    "circulant real": (
        lambda L, a: L.LinearOperatorCirculant(a, np.float64),
        [_hermitian_spectrum(4)],
    ),
    "circulant batch": (
        lambda L, a: L.LinearOperatorCirculant(a, np.complex128),
        [RNG.uniform(1, 2, size=(2, 3))],
    ),
    "circulant 2d": (
        lambda L, a: L.LinearOperatorCirculant2D(a, np.float64),
        [_hermitian_spectrum(2, 3)],
    ),
    "circulant 3d": (
        lambda L, a: L.LinearOperatorCirculant3D(a, np.complex128),
        [_complex(2, 2, 2) + 3],
    ),
    "toeplitz": (
        lambda L, a, b: L.LinearOperatorToeplitz(a, b),
        [_draw(3) + np.array([4, 0, 0]), _draw(3) + np.array([4, 0, 0])],
    ),
    "tridiag compact": (
        lambda L, a: L.LinearOperatorTridiag(a),
        [_draw(2, 3, 4) + np.array([[0], [4], [0]])],
    ),
    "tridiag sequence": (
        lambda L, a, b, c: L.LinearOperatorTridiag([a, b, c], "sequence"),
        [_draw(3), _draw(3) + 4, _draw(3)],
    ),
    "adjoint": (
        lambda L, a: L.LinearOperatorAdjoint(L.LinearOperatorFullMatrix(a)),
        [_complex(3, 3)],
    ),
    "inversion": (
        lambda L, a: L.LinearOperatorInversion(L.LinearOperatorFullMatrix(a)),
        [_definite(3, 3) + _draw(3, 3) / 4],
    ),
    "composition": (
        lambda L, a, b: L.LinearOperatorComposition(
            [L.LinearOperatorFullMatrix(a), L.LinearOperatorDiag(b)]
        ),
        [_definite(3, 3), _draw(2, 3)],
    ),
    "composition thin": (
        lambda L, a, b: L.LinearOperatorComposition(
            [L.LinearOperatorFullMatrix(a), L.LinearOperatorFullMatrix(b)]
        ),
        [_draw(2, 4), _draw(4, 3)],
    ),
    "kronecker": (
        lambda L, a, b: L.LinearOperatorKronecker(
            [L.LinearOperatorFullMatrix(a), L.LinearOperatorFullMatrix(b)]
        ),
        [_definite(2, 2), _definite(2, 3, 3)],
    ),
    "kronecker of three": (
        lambda L, a, b, c: L.LinearOperatorKronecker(
            [
                L.LinearOperatorFullMatrix(a),
                L.LinearOperatorDiag(b),
                L.LinearOperatorLowerTriangular(c),
            ]
        ),
        [_complex(2, 2), _complex(3), _complex(2, 2)],
    ),
    "low rank": (
        lambda L, a, b, c: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(a), b, c),
        [RNG.uniform(1, 2, size=4), _draw(4, 2), _draw(2)],
    ),
    "low rank definite": (
        lambda L, a, b: L.LinearOperatorLowRankUpdate(
            L.LinearOperatorDiag(a, is_positive_definite=True), b
        ),
        [RNG.uniform(1, 2, size=4), _draw(2, 4, 1)],
    ),
    "low rank two sides": (
        lambda L, a, b, c, d: L.LinearOperatorLowRankUpdate(L.LinearOperatorFullMatrix(a), b, c, d),
        [_complex(3, 3), _complex(3, 1), _complex(1), _complex(3, 1)],
    ),
    "block diag": (
        lambda L, a, b: L.LinearOperatorBlockDiag(
            [L.LinearOperatorFullMatrix(a), L.LinearOperatorDiag(b)]
        ),
        [_definite(2, 2), _draw(2, 3)],
    ),
    "block lower": (
        lambda L, a, b, c: L.LinearOperatorBlockLowerTriangular(
            [
                [L.LinearOperatorFullMatrix(a)],
                [L.LinearOperatorFullMatrix(b), L.LinearOperatorDiag(c)],
            ]
        ),
        [_definite(2, 2), _draw(3, 2), _draw(3)],
    ),
}
# without a tensor that could have a gradient
CONSTANT: dict[str, Callable[..., Any]] = {
    "identity": lambda L: L.LinearOperatorIdentity(3, dtype=np.float64),
    "identity batch": lambda L: L.LinearOperatorIdentity(2, [3], np.float64),
    "zeros": lambda L: L.LinearOperatorZeros(3, dtype=np.float64),
    "zeros wide": lambda L: L.LinearOperatorZeros(
        2, 3, [2], np.float64, is_square=False, is_self_adjoint=False
    ),
    "permutation": lambda L: L.LinearOperatorPermutation([2, 0, 1], np.float64),
    "permutation batch": lambda L: L.LinearOperatorPermutation([[1, 0], [0, 1]], np.float64),
}

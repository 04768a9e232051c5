"""Few diagonals, LU factors, logarithms: selections, errors, and what TensorFlow gets wrong."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import tapejax

BANDS = np.array([[1.0, 2.0, 9.0], [4.0, 5.0, 6.0], [9.0, 1.0, 2.0]])
DENSE = np.array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]])
ALPHA, BETA = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25])


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, [0, 1, 2]),
        ({"select": "i", "select_range": (1, 2)}, [1, 2]),
        ({"select": "v", "select_range": (1.0, 4.0)}, [1, 2]),
        ({"select": "v", "select_range": (10.0, 14.0)}, []),
    ],
)
def test_selected_eigenpairs_are_scipys(tf: ModuleType, options: Any, kept: list[int]) -> None:
    values, vectors = scipy.linalg.eigh_tridiagonal(ALPHA, BETA)
    found = tf.linalg.eigh_tridiagonal(tf.constant(ALPHA), tf.constant(BETA), **options)
    np.testing.assert_allclose(found, values[kept], rtol=1e-12)
    if kept:  # TensorFlow cannot do without any
        arguments = tf.constant(ALPHA), tf.constant(BETA)
        _, columns = tf.linalg.eigh_tridiagonal(*arguments, eigvals_only=False, **options)
        np.testing.assert_allclose(np.abs(columns), np.abs(vectors[:, kept]), atol=1e-9)


def test_the_gradient_of_eigenvalues_is_exact() -> None:
    # The sum of the squares is alpha @ alpha + 2 * beta @ beta; TensorFlow differs.
    alpha, beta = tapejax.Variable(ALPHA), tapejax.Variable(BETA)
    with tapejax.GradientTape() as tape:
        total = tapejax.reduce_sum(tapejax.linalg.eigh_tridiagonal(alpha, beta) ** 2)
    for gradient, expected in zip(
        tape.gradient(total, [alpha, beta]), (ALPHA, 2 * BETA), strict=True
    ):
        np.testing.assert_allclose(gradient, 2 * expected, rtol=1e-12)


def test_a_complex_band_gives_real_eigenvalues(tf: ModuleType) -> None:
    alpha, beta = tf.constant(ALPHA + 0j), tf.constant(BETA * 1j)
    values = tf.linalg.eigh_tridiagonal(alpha, beta)
    assert values.dtype == tf.float64
    np.testing.assert_allclose(
        values, np.linalg.eigvalsh(np.diag(ALPHA) + np.diag(BETA, 1) + np.diag(BETA, -1))
    )


def test_rows_are_exchanged_where_a_pivot_is_zero(tf: ModuleType) -> None:
    bands = tf.constant([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    found = tf.linalg.tridiagonal_solve(bands, tf.ones([2, 1]))
    np.testing.assert_allclose(found, [[0.0], [1.0]])


def test_a_singular_system_has_a_finite_solution_on_request(tf: ModuleType) -> None:
    bands = tf.constant([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert not np.any(np.isfinite(tf.linalg.tridiagonal_solve(bands, tf.ones([2, 1]))))
    found = tf.linalg.tridiagonal_solve(bands, tf.ones([2, 1]), perturb_singular=True)
    assert np.all(np.isfinite(found))


def test_complex_gradients_are_those_of_the_dense_system() -> None:
    bands, rhs = tapejax.Variable(BANDS + 1j * BANDS[::-1]), tapejax.constant([1 + 0j, 2j, 3])
    weights = np.array([1 + 1j, 2.0, -1j])
    gradients = []
    for dense in (False, True):
        with tapejax.GradientTape() as tape:
            if dense:
                matrix = tapejax.linalg.LinearOperatorTridiag(bands).to_dense()
                x = tapejax.linalg.solve(matrix, rhs[:, None])[:, 0]
            else:
                x = tapejax.linalg.tridiagonal_solve(bands, rhs, conjugate_rhs=False)
            loss = tapejax.reduce_sum(tapejax.math.real(x * weights))
        gradients.append(tape.gradient(loss, bands).numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-10, atol=1e-12)


def test_one_diagonal_divides(tf: ModuleType) -> None:
    found = tf.linalg.banded_triangular_solve([[2.0, 4.0]], [[2.0], [2.0]])
    np.testing.assert_allclose(found, [[1.0], [0.5]])


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_logarithms_are_scipys_and_their_exponentials_the_matrices(size: int) -> None:
    rng = np.random.default_rng(size)
    matrix = rng.normal(size=(size, size)) + 1j * rng.normal(size=(size, size))
    found = tapejax.linalg.logm(matrix)
    np.testing.assert_allclose(found, scipy.linalg.logm(matrix), rtol=0, atol=1e-12)
    np.testing.assert_allclose(tapejax.linalg.expm(found), matrix, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    "matrix", [[[1, 5], [0, 1]], [[-1, 0], [0, 2]], [[1e-20, 0], [0, 1e20]], [[0, 1], [-1, 0]]]
)
def test_logarithms_of_special_matrices(tf: ModuleType, matrix: Any) -> None:
    matrix = np.array(matrix, np.complex128)
    found = tf.linalg.logm(tf.constant(matrix)).numpy()
    np.testing.assert_allclose(found, scipy.linalg.logm(matrix), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("program", "error", "text"),
    [
        (
            lambda L, c: L.tridiagonal_solve(BANDS, BANDS, "x"),
            ValueError,
            "Unrecognized diag",
        ),
        (
            lambda L, c: L.tridiagonal_matmul(BANDS, BANDS, "x"),
            ValueError,
            "Unrecognized diag",
        ),
        (
            lambda L, c: L.tridiagonal_solve(
                BANDS, BANDS, perturb_singular=True, partial_pivoting=False
            ),
            ValueError,
            "partial_pivoting must be True",
        ),
        (
            lambda L, c: L.tridiagonal_solve(c(BANDS[:2]), c(BANDS)),
            ValueError,
            "Expected 3 diagonals got 2",
        ),
        (
            lambda L, c: L.tridiagonal_solve(c(BANDS), c(BANDS[:2])),
            ValueError,
            "got 3 and 2",
        ),
        (
            lambda L, c: L.tridiagonal_solve([BANDS], BANDS, "sequence"),
            ValueError,
            "of length 3",
        ),
        (
            lambda L, c: L.tridiagonal_solve(BANDS[:2], BANDS, "matrix"),
            ValueError,
            "got 3 and 2",
        ),
        (
            lambda L, c: L.tridiagonal_matmul(BANDS, BANDS[0]),
            "InvalidArgumentError",
            "same rank",
        ),
        (
            lambda L, c: L.tridiagonal_matmul(BANDS, BANDS[:2]),
            "InvalidArgumentError",
            "superdiag",
        ),
        (
            lambda L, c: L.banded_triangular_solve(0 * BANDS, BANDS),
            "InvalidArgumentError",
            "not invertible",
        ),
        (
            lambda L, c: L.banded_triangular_solve(BANDS[0], BANDS),
            "InvalidArgumentError",
            "ndims",
        ),
        (
            lambda L, c: L.banded_triangular_solve(BANDS, BANDS[:2]),
            "InvalidArgumentError",
            "mismatch",
        ),
        (lambda L, c: L.logm(DENSE[:2] + 0j), "InvalidArgumentError", "must be square"),
        (
            lambda L, c: L.lu_solve(DENSE[0], [0, 1, 2], DENSE),
            ValueError,
            "at least 2 dimensions",
        ),
        (
            lambda L, c: L.lu_solve(DENSE, [0, 1, 2], DENSE[0]),
            ValueError,
            "at least 2 dimensions",
        ),
        (
            lambda L, c: L.lu_reconstruct(DENSE, [0, 0, 1]),
            "InvalidArgumentError",
            "perm|duplicated",
        ),
        (lambda L, c: L.matrix_rank([1.0]), ValueError, "at least 2 dimensions"),
        (lambda L, c: L.matrix_rank([[1j]]), TypeError, "`float`-like"),
    ],
)
def test_bad_arguments_raise_tensorflows_errors(
    tf: ModuleType, program: Any, error: Any, text: str
) -> None:
    kind = getattr(tf.errors, error) if isinstance(error, str) else error
    with pytest.raises(kind, match=text):
        program(tf.linalg, tf.constant)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"select": "x"}, ValueError, "select must have"),
        ({"select": "v", "select_range": (2.0, 1.0)}, "InvalidArgumentError", "empty interval"),
        ({"beta": np.float32([1, 2])}, ValueError, "same type"),
        ({"beta": ALPHA}, "InvalidArgumentError", "Incompatible shapes"),
    ],
)
def test_bad_selections_raise_tensorflows_errors(
    tf: ModuleType, options: Any, error: Any, text: str
) -> None:
    kind = getattr(tf.errors, error) if isinstance(error, str) else error
    with pytest.raises(kind, match=text):
        tf.linalg.eigh_tridiagonal(**{"alpha": ALPHA, "beta": BETA, **options})


def test_indices_of_eigenvalues_that_do_not_exist_raise() -> None:
    # TensorFlow gives numbers that are no eigenvalues.
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="does not lie in the 3"):
        tapejax.linalg.eigh_tridiagonal(ALPHA, BETA, select="i", select_range=(0, 5))


def test_rows_that_repeat_are_no_permutation() -> None:
    # TensorFlow solves another system.
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="is not a permutation"):
        tapejax.linalg.lu_solve(DENSE, [0, 0, 1], DENSE)

"""Matrix products and factorizations: derivative conventions, broadcasting, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.ops import factorization, linalg, matmul, matrix_functions, spectral

EYE = [[1.0, 0.0], [0.0, 1.0]]


def body(function: Any) -> Any:
    """The pure function of an op."""
    return function.op.fn


def definition_of(function: Any) -> Any:
    return function.op


def tf_gradient(function: Callable[[Any], Any], x: Any) -> np.ndarray:
    x = tensorflow.constant(x, tensorflow.float64)
    with tensorflow.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).numpy()


def gradient(function: Callable[[Any], Any], x: Any) -> np.ndarray:
    with jax.enable_x64(True):
        x = jnp.asarray(x, jnp.float64)
        return np.asarray(jax.grad(lambda at: jnp.sum(function(at)))(x))


@pytest.mark.parametrize("matrix", [[[4.0, 2.0], [2.0, 3.0]], [[4.0, 99.0], [2.0, 3.0]]])
def test_the_gradient_of_cholesky_is_symmetric_and_reads_the_lower_triangle(matrix: Any) -> None:
    weights = np.array([[1.0, 5.0], [0.5, 2.0]])
    ours = gradient(lambda a: body(factorization.cholesky)(a) * weights, matrix)
    theirs = tf_gradient(lambda a: tensorflow.linalg.cholesky(a) * weights, matrix)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_cholesky_of_an_indefinite_matrix_is_nan_below_and_zero_above() -> None:
    # TensorFlow leaves the upper triangle unset in this case, so it is no oracle for the zero.
    factor = body(factorization.cholesky)(jnp.array([[1.0, 2.0], [2.0, 1.0]]))
    np.testing.assert_array_equal(factor, [[np.nan, 0.0], [np.nan, np.nan]])


def test_the_gradient_of_eigenvalues_is_lower_triangular() -> None:
    weights = np.array([1.0, 10.0])
    matrix = [[2.0, 99.0], [1.0, 2.0]]
    ours = gradient(lambda a: body(spectral.eigvalsh)(a) * weights, matrix)
    theirs = tf_gradient(lambda a: tensorflow.linalg.eigvalsh(a) * weights, matrix)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("matrix", [EYE, [[0.0, 0.0], [0.0, 0.0]]])
def test_repeated_values_give_vectors_a_zero_derivative(matrix: Any) -> None:
    assert not np.any(gradient(lambda a: body(spectral.eigh)(a)[1] ** 2, matrix))
    assert not np.any(gradient(lambda a: body(spectral.svd)(a)[1] ** 2, matrix))


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_the_singular_vectors_multiply_to_the_matrix(shape: tuple[int, int], full: bool) -> None:
    matrix = np.random.default_rng(0).normal(size=shape)
    with jax.enable_x64(True):
        s, u, v = body(spectral.svd)(jnp.asarray(matrix), full_matrices=full)
    s, u, v = (np.asarray(part) for part in (s, u, v))
    rank = min(shape)
    product = u[:, :rank] * s @ v[:, :rank].T
    np.testing.assert_allclose(product, matrix, rtol=0, atol=1e-14)
    np.testing.assert_allclose(s, tensorflow.linalg.svd(matrix)[0], rtol=1e-13)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3)])
def test_the_second_derivative_of_a_singular_value_norm_is_exact(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(1).normal(size=shape)

    def squares(a: Any) -> Any:
        return jnp.sum(body(spectral.svd)(a, compute_uv=False) ** 2)  # the sum of a**2

    with jax.enable_x64(True):
        hessian = jax.hessian(squares)(jnp.asarray(matrix))
    expected = 2 * np.eye(matrix.size).reshape(shape * 2)
    np.testing.assert_allclose(hessian, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_gradient_of_a_zero_determinant_is_the_cofactors(size: int) -> None:
    matrix = np.diag([0.0, *range(2, size + 1)])
    expected = np.zeros((size, size))
    expected[0, 0] = np.prod(range(2, size + 1))
    ours = gradient(body(linalg.det), matrix)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-13)


def test_second_derivatives_of_a_determinant_of_low_rank_are_minors() -> None:
    matrix = np.diag([0.0, 0.0, 3.0, 5.0])
    with jax.enable_x64(True):
        hessian = jax.hessian(body(linalg.det))(jnp.asarray(matrix))
    expected = np.zeros((4, 4, 4, 4))
    expected[0, 0, 1, 1] = expected[1, 1, 0, 0] = 15.0
    expected[0, 1, 1, 0] = expected[1, 0, 0, 1] = -15.0
    np.testing.assert_allclose(hessian, expected, rtol=0, atol=1e-13)


def test_the_gradient_of_a_square_root_is_tensorflows() -> None:
    matrix = [[4.0, 1.0], [0.0, 9.0]]
    ours = gradient(body(matrix_functions.sqrtm), matrix)
    np.testing.assert_allclose(ours, tf_gradient(tensorflow.linalg.sqrtm, matrix), rtol=1e-12)


def test_a_negative_matrix_has_no_real_square_root() -> None:
    root = body(matrix_functions.sqrtm)(jnp.array([[-4.0, 1.0], [0.0, 9.0]]))
    assert np.all(np.isnan(root))


def test_a_singular_matrix_fails_its_value_check() -> None:
    for definition in (
        definition_of(linalg.inv),
        definition_of(linalg.solve),
        definition_of(factorization.lu),
    ):
        check = definition.fields["check"]
        arguments = (jnp.ones((2, 1)),) if definition is definition_of(linalg.solve) else ()
        assert bool(check.fails(jnp.ones((2, 2)), *arguments)[0])
        assert not bool(check.fails(jnp.eye(2), *arguments)[0])
        assert "not invertible" in check.message()


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        (((2, 3), (2, 3)), r"Matrix size-incompatible: In\[0\]: \[2,3\], In\[1\]: \[2,3\]"),
        (((3,), (3, 2)), r"In\[0\] ndims must be >= 2"),
        (((2, 3), (3,)), r"In\[1\] ndims must be >= 2"),
        (((2, 2, 3), (3, 3, 3)), r"must have compatible batch dimensions: \[2,2,3\] vs. \[3,3,3\]"),
    ],
)
def test_shapes_that_do_not_multiply_raise_tensorflows_error(shapes: Any, text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        body(matmul.matmul)(*(jnp.ones(shape) for shape in shapes))
    with pytest.raises(tensorflow.errors.InvalidArgumentError, match=text):
        tensorflow.matmul(tensorflow.ones(shapes[0]), tensorflow.ones(shapes[1]))


def test_bytes_multiply_only_into_a_wider_type() -> None:
    a = jnp.ones((2, 2), jnp.int8)
    with pytest.raises(InvalidArgumentError, match="of int8 is not in the list"):
        body(matmul.matmul)(a, a)
    assert body(matmul.matmul)(a, a, output_type=np.dtype("int32")).dtype == np.int32


def test_both_flags_of_one_operand_raise() -> None:
    with pytest.raises(ValueError, match="Only one of `transpose_a` and `adjoint_a` can be True"):
        body(matmul.matmul)(jnp.eye(2), jnp.eye(2), transpose_a=True, adjoint_a=True)

"""Every operator against TensorFlow's: values, gradients, hints, operators made of it, errors."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow
from function.linear_operator_makers import CONSTANT, MAKERS, SPD
from parity.together import compiled_fast

import tapejax

Question = Callable[[Any, Any], Any]


def numbers(tf: Any, shape: Any, dtype: Any, seed: int = 0) -> Any:
    """A tensor of fixed random numbers."""
    rng = np.random.default_rng([seed, *shape])
    values = rng.normal(size=tuple(shape))
    if dtype.is_complex:
        values = values + 1j * rng.normal(size=tuple(shape))
    return tf.cast(tf.constant(values), dtype)


def columns(tf: Any, operator: Any, axis: int, width: int = 2) -> Any:
    return numbers(tf, (int(operator.shape[axis]), width), operator.dtype)


def rows(tf: Any, operator: Any, axis: int) -> Any:
    return numbers(tf, (2, int(operator.shape[axis])), operator.dtype, 1)


def vector(tf: Any, operator: Any, axis: int) -> Any:
    return numbers(tf, (int(operator.shape[axis]),), operator.dtype, 2)


QUESTIONS: dict[str, Question] = {
    "matmul": lambda tf, o: o.matmul(columns(tf, o, -1)),
    "matmul of the adjoint": lambda tf, o: o.matmul(columns(tf, o, -2), adjoint=True),
    "matmul with an adjoint": lambda tf, o: o.matmul(rows(tf, o, -1), adjoint_arg=True),
    "matmul of a batch": lambda tf, o: o.matmul(columns(tf, o, -1)[None, None]),
    "matvec": lambda tf, o: o.matvec(vector(tf, o, -1)),
    "solve": lambda tf, o: o.solve(columns(tf, o, -2)),
    "solve with the adjoint": lambda tf, o: o.solve(columns(tf, o, -1), adjoint=True),
    "solvevec": lambda tf, o: o.solvevec(vector(tf, o, -2)),
    "solvevec with the adjoint": lambda tf, o: o.solvevec(vector(tf, o, -1), adjoint=True),
    "determinant": lambda tf, o: o.determinant(),
    "log_abs_determinant": lambda tf, o: o.log_abs_determinant(),
    "trace": lambda tf, o: o.trace(),
    "diag_part": lambda tf, o: o.diag_part(),
    "to_dense": lambda tf, o: o.to_dense(),
    "add_to_tensor": lambda tf, o: o.add_to_tensor(numbers(tf, o.shape, o.dtype)),
    "adjoint": lambda tf, o: o.adjoint().to_dense(),
    "inverse": lambda tf, o: o.inverse().to_dense(),
    "eigvals": lambda tf, o: o.eigvals(),
    "cholesky": lambda tf, o: o.cholesky().to_dense(),
    "cond": lambda tf, o: o.cond(),
    "product of operators": lambda tf, o: o.matmul(o.adjoint()).to_dense(),
    "solution of operators": lambda tf, o: o.solve(o, adjoint=True).to_dense(),
}
DIFFERENTIATED = (
    "matmul",
    "matmul of the adjoint",
    "solve",
    "solve with the adjoint",
    "determinant",
    "log_abs_determinant",
    "diag_part",
    "add_to_tensor",
    "cholesky",
)
# questions whose answers are not compared with TensorFlow's, and why
CIRCULANT = ("adjoint", "product of operators", "solution of operators")
COMPLEX = ("determinant", "log_abs_determinant")
TRIDIAGONAL = tuple(name for name in QUESTIONS if "mat" in name)
NOT_COMPARED: dict[str, dict[str, tuple[str, ...]]] = {
    "its adjoints and products are complex64 whatever the operator is": {
        "circulant": CIRCULANT,
        "circulant real": CIRCULANT,
        "circulant batch": CIRCULANT,
        "circulant 2d": CIRCULANT,
        "circulant 3d": CIRCULANT,
    },
    "its gradient of complex determinants leaves out conjugates": {
        "full complex": COMPLEX,
        "adjoint": COMPLEX,
        "kronecker of three": COMPLEX,
        "low rank two sides": COMPLEX,
    },
    "it does not broadcast": {
        "tridiag compact": TRIDIAGONAL,
        "tridiag sequence": ("matmul of a batch",),
    },
    "it multiplies instead of solving": {"inversion": ("solution of operators",)},
}


def compared(name: str) -> list[str]:
    left_out = {q for reason in NOT_COMPARED.values() for q in reason.get(name, ())}
    return [question for question in QUESTIONS if question not in left_out]


def answer(question: Question, tf: Any, operator: Any) -> Any:
    """What an operator answers, or the name of the error's class."""
    try:
        return question(tf, operator)
    except Exception as error:  # noqa: BLE001  (compared by its class)
        return type(error).__name__


def answers(
    tf: Any, name: str, make: Callable[..., Any], arrays: list[np.ndarray]
) -> tuple[dict[str, Any], list[Any]]:
    """All answers, and the gradients of a random functional of them."""
    sources = [tf.constant(array) for array in arrays]
    total: Any = 0.0
    with tf.GradientTape() as tape:
        for source in sources:
            tape.watch(source)
        operator = make(tf.linalg, *sources)
        found = {question: answer(QUESTIONS[question], tf, operator) for question in compared(name)}
        for question in DIFFERENTIATED:
            value = found.get(question, "")
            if not isinstance(value, str):
                weights = numbers(tf, value.shape, value.dtype, 3)
                total += tf.reduce_sum(tf.math.real(value * weights))
    gradients = tape.gradient(total, sources) if sources else []
    values = {q: v if isinstance(v, str) else v.numpy() for q, v in found.items()}
    return values, [gradient.numpy() for gradient in gradients]


EVERY = {**MAKERS, **{name: (make, []) for name, make in CONSTANT.items()}}


@pytest.mark.parametrize("name", EVERY)
def test_an_operator_answers_as_in_tensorflow(name: str) -> None:
    make, arrays = EVERY[name]
    theirs, their_gradients = answers(tensorflow, name, make, arrays)
    with compiled_fast():
        ours, gradients = answers(tapejax, name, make, arrays)
    for question, expected in theirs.items():
        actual = ours[question]
        if isinstance(expected, str):
            assert isinstance(actual, str), f"{question}: a value, TensorFlow raises {expected}"
            assert actual == expected, question
            continue
        assert not isinstance(actual, str), f"{question}: {actual}"
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), question
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9, err_msg=question)
    for actual, expected in zip(gradients, their_gradients, strict=True):
        size = np.max(np.abs(expected))
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9 * size)


def full(L: Any, **hints: Any) -> Any:
    return L.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 3.0]], **hints)


def square_form(operator: Any) -> Any:
    return operator @ operator.H


HINTED: dict[str, Callable[[Any], Any]] = {
    "real diagonal": lambda L: L.LinearOperatorDiag([1.0, 2.0]),
    "complex diagonal": lambda L: L.LinearOperatorDiag([1j, 2.0]),
    "full": full,
    "full, definite": lambda L: full(L, is_positive_definite=True),
    "wide": lambda L: L.LinearOperatorFullMatrix([[1.0, 2.0]]),
    "triangle": lambda L: L.LinearOperatorLowerTriangular([[1.0]]),
    "identity": lambda L: L.LinearOperatorIdentity(2),
    "scaled": lambda L: L.LinearOperatorScaledIdentity(2, 3.0),
    "zeros": lambda L: L.LinearOperatorZeros(2),
    "reflection": lambda L: L.LinearOperatorHouseholder([1.0, 2.0]),
    "permutation": lambda L: L.LinearOperatorPermutation([1, 0]),
    "circulant": lambda L: L.LinearOperatorCirculant([1.0, 2.0]),
    "toeplitz": lambda L: L.LinearOperatorToeplitz([1.0], [1.0]),
    "adjoint": lambda L: L.LinearOperatorAdjoint(full(L, is_non_singular=True)),
    "inversion": lambda L: L.LinearOperatorInversion(full(L, is_self_adjoint=True)),
    "composition": lambda L: L.LinearOperatorComposition([full(L), full(L, is_non_singular=True)]),
    "a and its adjoint": lambda L: square_form(full(L, is_non_singular=True)),
    "kronecker": lambda L: L.LinearOperatorKronecker([full(L, **SPD), full(L, **SPD)]),
    "update": lambda L: L.LinearOperatorLowRankUpdate(
        L.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True), [[1.0], [2.0]]
    ),
    "blocks": lambda L: L.LinearOperatorBlockDiag([full(L, **SPD), L.LinearOperatorIdentity(1)]),
    "block triangle": lambda L: L.LinearOperatorBlockLowerTriangular(
        [[full(L, is_non_singular=True)], [full(L), full(L, is_non_singular=True)]]
    ),
    "product of diagonals": lambda L: L.LinearOperatorDiag([1.0, 2.0]).matmul(
        L.LinearOperatorScaledIdentity(2, 3.0, is_positive_definite=True)
    ),
    "inverse diagonal": lambda L: L.LinearOperatorDiag([1.0], is_non_singular=True).inverse(),
    "root": lambda L: full(L, **SPD).cholesky(),
    "product with the identity": lambda L: full(L) @ L.LinearOperatorIdentity(2),
    "product with zeros": lambda L: full(L) @ L.LinearOperatorZeros(2),
    "solution of a triangle": lambda L: L.LinearOperatorDiag([2.0]).solve(
        L.LinearOperatorDiag([3.0])
    ),
}


@pytest.mark.parametrize("make", HINTED.values(), ids=HINTED)
def test_class_name_shape_and_hints_are_tensorflows(make: Callable[[Any], Any]) -> None:
    ours, theirs = make(tapejax.linalg), make(tensorflow.linalg)
    assert type(ours).__name__ == type(theirs).__name__
    assert (ours.name, ours.dtype.name) == (theirs.name, theirs.dtype.name)
    for hint in ("is_square", "is_non_singular", "is_self_adjoint", "is_positive_definite"):
        assert getattr(ours, hint) == getattr(theirs, hint), hint
    assert ours.shape.as_list() == theirs.shape.as_list()
    assert ours.batch_shape.as_list() == theirs.batch_shape.as_list()
    assert ours.tensor_rank == theirs.tensor_rank
    for size in ("domain_dimension", "range_dimension"):
        assert getattr(ours, size).value == getattr(theirs, size).value
    for method in ("shape_tensor", "batch_shape_tensor", "tensor_rank_tensor"):
        mine, other = getattr(ours, method)().numpy(), getattr(theirs, method)().numpy()
        np.testing.assert_array_equal(mine, other)
        assert mine.dtype == other.dtype
    np.testing.assert_array_equal(ours.domain_dimension_tensor(), theirs.domain_dimension_tensor())
    assert set(ours.parameters) == set(theirs.parameters)


BAD: list[tuple[Callable[[Any], Any], Any, str]] = [
    (lambda tf: full(tf.linalg).matmul([[1.0]]), ValueError, "not compatible"),
    (lambda tf: full(tf.linalg).matvec([1.0]), ValueError, "not compatible"),
    (lambda tf: full(tf.linalg).matmul(tf.eye(2, dtype=tf.float64)), TypeError, "to have dtype"),
    (lambda tf: full(tf.linalg, is_non_singular=False).solve(tf.eye(2)), NotImplementedError, "s"),
    (lambda tf: tf.linalg.LinearOperatorZeros(2).inverse(), ValueError, "a singular matrix"),
    (lambda tf: HINTED["wide"](tf.linalg).solve(tf.eye(1)), NotImplementedError, "not be square"),
    (lambda tf: HINTED["wide"](tf.linalg).determinant(), NotImplementedError, "not be square"),
    (lambda tf: HINTED["wide"](tf.linalg).inverse(), ValueError, "a non square matrix"),
    (lambda tf: full(tf.linalg).eigvals(), NotImplementedError, "Only self-adjoint"),
    (lambda tf: full(tf.linalg).cholesky(), ValueError, "Not a positive definite self adjoint"),
    (lambda tf: full(tf.linalg, is_square=False).is_square, ValueError, "operator was square"),
    (lambda tf: full(tf.linalg, is_square=False, is_non_singular=True), ValueError, "square"),
    (
        lambda tf: full(tf.linalg, is_non_singular=False, is_positive_definite=True),
        ValueError,
        "always non-singular",
    ),
    (lambda tf: tf.linalg.LinearOperatorDiag(1.0), ValueError, "at least 1 dimension"),
    (lambda tf: tf.linalg.LinearOperatorDiag([1.0], None, False), ValueError, "self adjoint"),
    (lambda tf: tf.linalg.LinearOperatorIdentity(-1), ValueError, "non-negative"),
    (lambda tf: tf.linalg.LinearOperatorIdentity([2]), ValueError, "0-D"),
    (lambda tf: tf.linalg.LinearOperatorIdentity(2.5), TypeError, "integer"),
    (lambda tf: tf.linalg.LinearOperatorIdentity(2, -1), ValueError, "1-D"),
    (lambda tf: tf.linalg.LinearOperatorZeros(2, 3), ValueError, "is_square=True, but got"),
    (lambda tf: tf.linalg.LinearOperatorPermutation([0, 0]), ValueError, "unique integers"),
    (lambda tf: tf.linalg.LinearOperatorPermutation([0.0]), TypeError, "integer dtype"),
    (lambda tf: tf.linalg.LinearOperatorHouseholder([1.0], None, False), ValueError, "always self"),
    (lambda tf: tf.linalg.LinearOperatorCirculant2D([1.0]), ValueError, "at least 2"),
    (lambda tf: tf.linalg.LinearOperatorToeplitz([1.0], [1.0, 2.0]), ValueError, "mismatched"),
    (lambda tf: tf.linalg.LinearOperatorTridiag([[1.0]], "x"), ValueError, "diagonals_format"),
    (lambda tf: tf.linalg.LinearOperatorComposition([]), ValueError, "non-empty"),
    (lambda tf: tf.linalg.LinearOperatorKronecker([]), ValueError, "operators"),
    (
        lambda tf: tf.linalg.LinearOperatorComposition(
            [full(tf.linalg), HINTED["complex diagonal"](tf.linalg)]
        ),
        TypeError,
        "same dtype",
    ),
    (
        lambda tf: tf.linalg.LinearOperatorAdjoint(full(tf.linalg, **SPD), is_self_adjoint=False),
        ValueError,
        "if and only if its adjoint is",
    ),
    (
        lambda tf: tf.linalg.LinearOperatorInversion(tf.linalg.LinearOperatorZeros(2)),
        ValueError,
        "is_non_singular",
    ),
    (
        lambda tf: tf.linalg.LinearOperatorLowRankUpdate(full(tf.linalg), [[1.0]]),
        ValueError,
        "not compatible",
    ),
    (
        lambda tf: tf.linalg.LinearOperatorBlockLowerTriangular([[full(tf.linalg)] * 2]),
        ValueError,
        "operators",
    ),
    (lambda tf: full(tf.linalg) @ tf.linalg.LinearOperatorIdentity(3), ValueError, "incompatible"),
]


@pytest.mark.parametrize(("program", "error", "text"), BAD)
def test_bad_arguments_raise_tensorflows_errors(
    tf: ModuleType, program: Any, error: Any, text: str
) -> None:
    with pytest.raises(error, match=text):
        program(tf)


CHECKS: list[tuple[str, Callable[[Any], Any], str]] = [
    ("assert_non_singular", lambda L: L.LinearOperatorDiag([1.0, 0.0]), "contained zero values"),
    ("assert_non_singular", lambda L: L.LinearOperatorFullMatrix([[1.0, 1.0]] * 2), "Singular"),
    ("assert_non_singular", lambda L: L.LinearOperatorZeros(2), "non-invertible"),
    ("assert_non_singular", lambda L: L.LinearOperatorScaledIdentity(2, 0.0), "singular"),
    ("assert_non_singular", lambda L: L.LinearOperatorCirculant([0.0, 1.0]), "zero values"),
    ("assert_positive_definite", lambda L: L.LinearOperatorDiag([1.0, -1.0]), "not positive"),
    ("assert_positive_definite", lambda L: L.LinearOperatorHouseholder([1.0]), "non-positive"),
    ("assert_positive_definite", lambda L: L.LinearOperatorCirculant([-1.0]), "Not positive"),
    ("assert_self_adjoint", lambda L: L.LinearOperatorDiag([1j]), "not self-adjoint"),
    ("assert_self_adjoint", lambda L: L.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]), "not the"),
    ("assert_self_adjoint", lambda L: L.LinearOperatorTridiag([[1.0, 0], [2, 3], [0, 4]]), "non-c"),
    ("assert_self_adjoint", lambda L: L.LinearOperatorFullMatrix([[1.0, 2.0], [3, 4]]), "adjoint"),
]


@pytest.mark.parametrize(("method", "make", "text"), CHECKS)
def test_what_does_not_hold_fails_its_assertion(
    tf: ModuleType, method: str, make: Callable[[Any], Any], text: str
) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        getattr(make(tf.linalg), method)()


def test_a_spectrum_that_is_not_hermitian_fails_its_assertion() -> None:
    # TensorFlow compares a float with an int here.
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="not Hermitian"):
        tapejax.linalg.LinearOperatorCirculant([1j, 1.0]).assert_hermitian_spectrum()
    tapejax.linalg.LinearOperatorCirculant([2.0, 1.0]).assert_hermitian_spectrum()


@pytest.mark.parametrize("method", ["assert_non_singular", "assert_self_adjoint"])
def test_what_holds_passes_its_assertion(tf: ModuleType, method: str) -> None:
    getattr(full(tf.linalg, **SPD), method)()
    full(tf.linalg, **SPD).assert_positive_definite()
    getattr(HINTED["kronecker"](tf.linalg), method)()
    getattr(HINTED["blocks"](tf.linalg), method)()


def test_blocks_multiply_and_solve_lists_of_blocks(tf: ModuleType) -> None:
    one, two = full(tf.linalg), tf.linalg.LinearOperatorDiag([2.0, 4.0, 5.0])
    below = tf.linalg.LinearOperatorFullMatrix(tf.ones([3, 2]))
    operator = tf.linalg.LinearOperatorBlockLowerTriangular([[one], [below, two]])
    x = [tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [4.0], [5.0]])]
    for adjoint in (False, True):
        product = operator.matmul(list(x), adjoint=adjoint)
        whole = operator.matmul(tf.concat(x, 0), adjoint=adjoint)
        np.testing.assert_allclose(tf.concat(product, 0), whole, rtol=1e-6)
        back = operator.solve(product, adjoint=adjoint)
        for found, expected in zip(back, x, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5)
    vectors = operator.matvec([x[0][:, 0], x[1][:, 0]])
    assert [tuple(v.shape) for v in vectors] == [(2,), (3,)]


def test_the_inverse_of_a_block_triangle_is_the_dense_inverse(tf: ModuleType) -> None:
    one, two = full(tf.linalg), tf.linalg.LinearOperatorDiag([2.0, 4.0])
    rows = [[one], [full(tf.linalg), two], [full(tf.linalg), full(tf.linalg), one]]
    operator = tf.linalg.LinearOperatorBlockLowerTriangular(rows)
    expected = np.linalg.inv(operator.to_dense().numpy())
    np.testing.assert_allclose(operator.inverse().to_dense(), expected, atol=1e-5)


def test_an_inversion_solves_operators() -> None:
    # TensorFlow multiplies instead if the adjoint is asked for.
    matrix = np.array([[2.0, 1.0], [0.0, 3.0]])
    operator = tapejax.linalg.LinearOperatorInversion(
        tapejax.linalg.LinearOperatorFullMatrix(matrix)
    )
    found = operator.solve(operator, adjoint=True).to_dense().numpy()
    np.testing.assert_allclose(found, matrix.T @ np.linalg.inv(matrix), rtol=1e-12)


@pytest.mark.parametrize("name", ["full complex", "lower complex", "low rank two sides"])
def test_gradients_of_complex_determinants_are_those_of_differences(name: str) -> None:
    make, arrays = MAKERS[name]
    point, step = arrays[0], 1e-6
    directions = [np.ones_like(point), 1j * np.eye(*point.shape)]

    def value(first: Any) -> Any:
        operator = make(tapejax.linalg, first, *map(tapejax.constant, arrays[1:]))
        return tapejax.math.real(operator.determinant())

    source = tapejax.constant(point)
    with tapejax.GradientTape() as tape:
        tape.watch(source)
        target = value(source)
    gradient = tape.gradient(target, source).numpy()
    for direction in directions:
        ends = [value(tapejax.constant(point + s * step * direction)).numpy() for s in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * step)
        along = np.sum((gradient.conj() * direction).real)
        np.testing.assert_allclose(along, slope, rtol=1e-6, atol=1e-6)


def test_an_operator_of_a_variable_follows_it(tf: ModuleType) -> None:
    diagonal = tf.Variable([1.0, 2.0])
    operator = tf.linalg.LinearOperatorDiag(diagonal)
    assert operator.diag is diagonal
    assert len(operator.trainable_variables) == 1
    assert isinstance(operator, tf.Module)
    diagonal.assign([3.0, 4.0])
    with tf.GradientTape() as tape:
        loss = operator.log_abs_determinant()
    np.testing.assert_allclose(loss, np.log(12), rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(loss, diagonal), [1 / 3, 1 / 4], rtol=1e-6)


def test_an_operator_works_inside_a_function(tf: ModuleType) -> None:
    @tf.function
    def solve(matrix: Any, rhs: Any) -> Any:
        operator = tf.linalg.LinearOperatorFullMatrix(matrix, **SPD)
        return operator.solvevec(rhs), operator.log_abs_determinant()

    x, size = solve(tf.constant([[2.0, 1.0], [1.0, 3.0]]), tf.constant([4.0, 7.0]))
    np.testing.assert_allclose(x, [1, 2], rtol=1e-5)
    np.testing.assert_allclose(size, np.log(5), rtol=1e-5)


def test_functions_of_matrices_take_operators(tf: ModuleType) -> None:
    operator = full(tf.linalg, **SPD)
    np.testing.assert_allclose(tf.linalg.det(operator), 5, rtol=1e-6)
    np.testing.assert_allclose(tf.linalg.trace(operator), 5, rtol=1e-6)
    np.testing.assert_allclose(tf.linalg.logdet(operator), np.log(5), rtol=1e-6)
    product = [[1.0, 2.0], [3.0, 4.0]] @ operator.to_dense().numpy()
    np.testing.assert_allclose(tf.matmul(tf.constant([[1.0, 2.0], [3, 4]]), operator), product)
    np.testing.assert_allclose(tf.linalg.solve(operator, [[4.0], [7.0]]), [[1], [2]], rtol=1e-5)


def definite(tf: ModuleType, matrix: Any) -> Any:
    return tf.linalg.LinearOperatorFullMatrix(matrix, **SPD)


@pytest.mark.parametrize(
    "options",
    [{}, {"max_iter": 1}, {"tol": 0.5}, {"x": [1.0, 1.0]}, {"preconditioner": [0.2, 0.3]}],
)
def test_conjugate_gradients_stop_where_tensorflow_does(options: dict[str, Any]) -> None:
    found = []
    for tf in (tapejax, tensorflow):
        matrix = tf.Variable([[4.0, 1.0], [1.0, 3.0]], dtype=tf.float64)
        given = {
            k: tf.constant(v, tf.float64) if isinstance(v, list) else v for k, v in options.items()
        }
        if "preconditioner" in given:
            diagonal = given["preconditioner"]
            given["preconditioner"] = tf.linalg.LinearOperatorDiag(
                diagonal, is_positive_definite=True
            )
        rhs = tf.constant([1.0, 2.0], tf.float64)
        with tf.GradientTape() as tape:
            solve = tf.linalg.experimental.conjugate_gradient
            state = solve(definite(tf, matrix), rhs, **given)
            loss = tf.reduce_sum(state.x**2)
        found.append([*(part.numpy() for part in state), tape.gradient(loss, matrix).numpy()])
        assert type(state).__name__ == "CGState"
        assert state._fields == ("i", "x", "r", "p", "gamma")
    for mine, theirs in zip(*found, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_conjugate_gradients_solve_batches_inside_a_function(tf: ModuleType) -> None:
    rhs = np.random.default_rng(0).normal(size=(3, 2))
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])

    @tf.function
    def solve(a: Any, b: Any) -> Any:
        return tf.linalg.experimental.conjugate_gradient(definite(tf, a), b, tol=1e-12).x

    np.testing.assert_allclose(
        solve(tf.constant(matrix), tf.constant(rhs)), np.linalg.solve(matrix, rhs.T).T, rtol=1e-10
    )


def test_conjugate_gradients_need_a_definite_operator(tf: ModuleType) -> None:
    with pytest.raises(ValueError, match="self-adjoint, positive definite operator"):
        tf.linalg.experimental.conjugate_gradient(full(tf.linalg), tf.ones(2))

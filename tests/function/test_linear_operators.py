"""Every operator against TensorFlow's: values, gradients, hints, operators made of it, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow
from function.linear_operator_makers import CONSTANT, MAKERS

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
    "matmul of adjoints": lambda tf, o: o.matmul(rows(tf, o, -2), True, True),
    "matmul of a batch": lambda tf, o: o.matmul(columns(tf, o, -1)[None, None]),
    "@": lambda tf, o: o @ columns(tf, o, -1),
    "matvec": lambda tf, o: o.matvec(vector(tf, o, -1)),
    "matvec of the adjoint": lambda tf, o: o.matvec(vector(tf, o, -2), adjoint=True),
    "solve": lambda tf, o: o.solve(columns(tf, o, -2)),
    "solve with the adjoint": lambda tf, o: o.solve(columns(tf, o, -1), adjoint=True),
    "solve for an adjoint": lambda tf, o: o.solve(rows(tf, o, -2), adjoint_arg=True),
    "solvevec": lambda tf, o: o.solvevec(vector(tf, o, -2)),
    "solvevec with the adjoint": lambda tf, o: o.solvevec(vector(tf, o, -1), adjoint=True),
    "determinant": lambda tf, o: o.determinant(),
    "log_abs_determinant": lambda tf, o: o.log_abs_determinant(),
    "trace": lambda tf, o: o.trace(),
    "diag_part": lambda tf, o: o.diag_part(),
    "to_dense": lambda tf, o: o.to_dense(),
    "add_to_tensor": lambda tf, o: o.add_to_tensor(numbers(tf, o.shape, o.dtype)),
    "adjoint": lambda tf, o: o.adjoint().to_dense(),
    "H": lambda tf, o: o.H.matvec(vector(tf, o, -2)),
    "inverse": lambda tf, o: o.inverse().to_dense(),
    "eigvals": lambda tf, o: o.eigvals(),
    "cholesky": lambda tf, o: o.cholesky().to_dense(),
    "cond": lambda tf, o: o.cond(),
    "product of operators": lambda tf, o: o.matmul(o.adjoint()).to_dense(),
    "solution of operators": lambda tf, o: o.solve(o, adjoint=True).to_dense(),
}
# questions whose answers are not compared with TensorFlow's, and why
CIRCULANT = ("adjoint", "H", "product of operators", "solution of operators")
COMPLEX = ("determinant", "log_abs_determinant")
TRIDIAGONAL = (*(name for name in QUESTIONS if "mat" in name), "@", "H")
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
        for value in found.values():
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

"""Texts of values, character by character as TensorFlow prints them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow

from tapejax._src.core import printing
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.shapes import TensorShape

VALUES: dict[str, Any] = {
    "float": 1.5,
    "vector": [1.0, 2.0],
    "matrix": [[1.0, 2.0], [3.0, 4.0]],
    "cube": [[[1]]],
    "cubes": np.arange(8).reshape(2, 2, 2),
    "int": 3,
    "bool": True,
    "bools": [True, False],
    "text": "a",
    "texts": ["a", "bc"],
    "text of two lines": ["a\nb"],
    "text beyond ascii": "é",
    "texts beyond ascii": ["é", b"\xff"],
    "complex": 1 + 2j,
    "complexes": [1j],
    "empty": [],
    "empty of rank 2": np.zeros((2, 0)),
    "empty rows": np.zeros((0, 2), np.int32),
    "long": np.arange(2000),
    "long floats": np.arange(2000.0),
    "large": np.zeros((40, 40), np.float32),
    "tall": np.arange(2000.0).reshape(1000, 2),
    "wide": np.linspace(0, 1, 30, dtype=np.float32),
    "half": np.ones((2, 2), np.float16),
    "float64": np.float64(0.1),
    "mixed magnitudes": [0.1, 1e10],
    "nan": float("nan"),
    "special": [float("nan"), float("inf"), -0.0],
    "tiny": 1e-10,
    "round": 123456789.0,
    "int8": np.int8(-3),
    "uint8": np.array([1, 2], np.uint8),
    "int64": np.array([1, 2]),
    "bfloat16": tensorflow.constant([0.5, 1.5], tensorflow.bfloat16),
    "bfloat16 scalar": tensorflow.constant(0.3, tensorflow.bfloat16),
    "float8": tensorflow.cast([0.5, 1.5], tensorflow.dtypes.experimental.float8_e5m2),
    "float16 scalar": np.float16(0.1),
    "complex64": np.complex64(1 - 2j),
}

SPECS = ("", ".2f", ">12", "03d", ".1e", "x", "g")


def arguments(tensor: Any) -> tuple[Any, Any, Any]:
    """Return the value, dtype and shape of TensorFlow's tensor as our functions take them."""
    value = tensor.numpy()
    array = np.empty((), object) if isinstance(value, bytes) else np.asarray(value)
    if isinstance(value, bytes):
        array[()] = value
    return array, as_dtype(tensor.dtype.name), TensorShape(tensor.shape.as_list())


@pytest.mark.parametrize("name", VALUES)
def test_the_texts_of_a_tensor_are_tensorflows(name: str) -> None:
    tensor = tensorflow.constant(VALUES[name])
    assert printing.tensor_str(*arguments(tensor)) == str(tensor)
    assert printing.tensor_repr(*arguments(tensor)) == repr(tensor)


@pytest.mark.parametrize("name", VALUES)
def test_the_text_of_a_variable_is_tensorflows(name: str) -> None:
    variable = tensorflow.Variable(VALUES[name], name="k")
    assert printing.variable_repr(*arguments(variable), variable.name) == repr(variable)


@pytest.mark.parametrize("shape", [[None], None], ids=repr)
def test_a_variable_shows_its_own_shape(shape: Any) -> None:
    value: Any = [1.0]
    variable = tensorflow.Variable(value, shape=tensorflow.TensorShape(shape))
    text = printing.variable_repr(
        np.array([1], np.float32), as_dtype("float32"), TensorShape(shape), "Variable:0"
    )
    assert text == repr(variable)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", VALUES)
def test_formatting_is_tensorflows(name: str, spec: str, outcome: Any) -> None:
    tensor = tensorflow.constant(VALUES[name])
    kind, text = outcome(lambda: printing.format_value(arguments(tensor)[0], spec))
    expected_kind, expected = outcome(lambda: format(tensor, spec))
    assert kind == expected_kind
    assert text.startswith(expected)


def test_formatting_an_array_says_what_to_do_instead() -> None:
    with pytest.raises(TypeError, match=r"'.2f' needs a scalar, the tensor has shape \(2,\)"):
        printing.format_value(np.zeros(2), ".2f")


def test_numpys_print_options_are_respected() -> None:
    with np.printoptions(precision=2):
        text = printing.tensor_str(
            np.array([1.23456], np.float32), as_dtype("float32"), TensorShape([1])
        )
    assert text == "tf.Tensor([1.23], shape=(1,), dtype=float32)"


@pytest.mark.parametrize("shape", [[2, None], [], None], ids=repr)
def test_the_texts_of_a_tensor_without_a_value_are_tensorflows(shape: Any) -> None:
    seen: list[Any] = []

    def look(x: Any) -> Any:
        seen.extend((str(x), repr(x), x.name))
        return x

    signature = [tensorflow.TensorSpec(shape, tensorflow.float32)]
    function: Any = tensorflow.function(look, input_signature=signature)
    function.get_concrete_function()
    text, representation, name = seen
    assert printing.symbolic_str(TensorShape(shape), as_dtype("float32"), name) == text
    assert printing.symbolic_repr(TensorShape(shape), as_dtype("float32"), name) == representation

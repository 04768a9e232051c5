"""What tensors without a value say when Python asks for one, while a function is traced."""

from __future__ import annotations

from tapejax._src.core.errors import InaccessibleTensorError, OperatorNotAllowedInGraphError

_CURE = (
    " The function is being traced, so its tensors have shapes and dtypes but no values: use tf "
    "ops, return the tensor and read it outside, or call the function eagerly "
    "(tf.config.run_functions_eagerly(True))."
)
_GRAPH = (
    " is not allowed. You can attempt the following resolutions to the problem: If you are running "
    "in Graph mode, use Eager execution mode or decorate this function with @tf.function. If you "
    "are using AutoGraph, you can try decorating this function with @tf.function. If that does not "
    "work, then you may be using an unsupported feature or your source code may not be visible to "
    "AutoGraph."
)
_TYPE_ERRORS = {
    "float": "float() argument must be a string or a real number, not 'SymbolicTensor'.",
    "int": "int() argument must be a string, a bytes-like object or a real number, not "
    "'SymbolicTensor'.",
    "complex": "complex() first argument must be a string or a number, not 'SymbolicTensor'.",
    "index": "A 'SymbolicTensor' cannot be interpreted as an integer.",
    "format": "unsupported format string passed to SymbolicTensor.__format__.",
}


class NotCompilableError(NotImplementedError):
    """A compiled program cannot hold it, as a shape that depends on values.

    A `tf.function` that meets it while it is traced runs as Python instead.
    """


class OutOfScopeError(InaccessibleTensorError, TypeError):
    """A tensor of a function that was traced is used after that, or by another function."""


def no_value(how: str, name: str, why: str) -> Exception:
    """The exception for reading a tensor that has no value.

    Args:
        how: What was asked for: 'numpy', 'bool', 'float', 'array', ..., 'view' where an op needs
            it, or anything else.
        name: The tensor's name.
        why: The text for everything else.
    """
    if how == "numpy":
        return AttributeError(f"'SymbolicTensor' object has no attribute 'numpy'.{_CURE}")
    if how == "bool":
        text = f"Using a symbolic `tf.Tensor` as a Python `bool`{_GRAPH}{_CURE}"
        return OperatorNotAllowedInGraphError(text)
    if how == "array":
        return NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({name}) to a numpy array. This error may "
            f"indicate that you're trying to pass a Tensor to a NumPy call, which is not supported."
            f"{_CURE}"
        )
    if how == "view":
        return NotCompilableError(
            f"A shape, a size or text depends on the value of {name!r}, which is computed inside "
            "the function or transformation being traced, and compiled code has static shapes. "
            "Pass Python ints, take sizes from x.shape, or mask instead of selecting."
        )
    if how in _TYPE_ERRORS:
        return TypeError(_TYPE_ERRORS[how] + _CURE)
    return OperatorNotAllowedInGraphError(why)


def out_of_scope(text: str) -> OutOfScopeError:
    """The exception for using a tensor outside the function that was traced.

    Args:
        text: Its `repr`.
    """
    return OutOfScopeError(
        f"{text} is out of scope and cannot be used here. Use return values, explicit Python "
        "locals or TensorFlow collections to access it.\nPlease see https://www.tensorflow.org/"
        "guide/function#all_outputs_of_a_tffunction_must_be_return_values for more information.\n"
        "It was made while a function was traced; return it from that function."
    )

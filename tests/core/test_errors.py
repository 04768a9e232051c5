"""`tf.errors` against TensorFlow's."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest
import tensorflow

from tapejax._src.core import errors

CLASSES = sorted(
    name
    for name, item in vars(tensorflow.errors).items()
    if inspect.isclass(item) and issubclass(item, tensorflow.errors.OpError)
)
CODES = sorted(name for name in vars(tensorflow.errors) if name.isupper())
CODED = [name for name in CLASSES if name != "OpError"]


@pytest.mark.parametrize("name", CODES)
def test_every_status_code_has_tensorflows_number(name: str) -> None:
    assert getattr(errors, name) == getattr(tensorflow.errors, name)


@pytest.mark.parametrize("name", CODED)
def test_tensorflows_three_arguments_are_kept(name: str) -> None:
    theirs = getattr(tensorflow.errors, name)(None, None, "what happened")
    ours = getattr(errors, name)("node", "op", "what happened")
    assert str(ours) == str(theirs) == "what happened"
    assert (ours.message, ours.error_code) == (theirs.message, theirs.error_code)
    assert (ours.node_def, ours.op) == ("node", "op")
    assert ours.experimental_payloads == theirs.experimental_payloads == {}


@pytest.mark.parametrize("name", CLASSES)
def test_the_message_alone_is_enough(name: str) -> None:
    error = getattr(errors, name)("what happened")
    assert (str(error), error.message, error.op, error.node_def) == (
        "what happened",
        "what happened",
        None,
        None,
    )


@pytest.mark.parametrize("name", CODED)
def test_the_arguments_may_be_named(name: str) -> None:
    theirs = getattr(tensorflow.errors, name)(node_def=None, op=None, message="what happened")
    ours = getattr(errors, name)(node_def=None, op=None, message="what happened")
    assert (str(ours), ours.message) == (str(theirs), theirs.message)
    assert str(getattr(errors, name)(message="what happened")) == "what happened"


@pytest.mark.parametrize("name", CLASSES)
def test_the_bases_are_tensorflows(name: str) -> None:
    theirs = [base.__name__ for base in getattr(tensorflow.errors, name).__mro__]
    assert [base.__name__ for base in getattr(errors, name).__mro__] == theirs


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_explains_itself(name: str) -> None:
    assert len((getattr(errors, name).__doc__ or "").split()) > 8


def test_tracing_errors_are_the_python_errors_tensorflow_chose() -> None:
    assert issubclass(errors.OperatorNotAllowedInGraphError, TypeError)
    assert issubclass(errors.InaccessibleTensorError, ValueError)


def test_op_error_takes_a_status_code_and_payloads() -> None:
    error = errors.OpError(None, None, "message", 3, {"key": b"value"})
    assert (error.error_code, error.experimental_payloads) == (3, {"key": b"value"})


def test_errors_survive_pickling_and_copying() -> None:
    error = errors.InvalidArgumentError("node", None, "message")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is errors.InvalidArgumentError
        assert (twin.message, twin.node_def, twin.error_code) == ("message", "node", 3)


@pytest.mark.parametrize("name", CODED)
def test_code_and_class_find_each_other(name: str) -> None:
    cls = getattr(errors, name)
    code = errors.error_code_from_exception_type(cls)
    assert errors.exception_type_from_error_code(code) is cls


def test_a_subclass_with_its_own_constructor_can_be_raised_and_pickled() -> None:
    with pytest.raises(errors.OpError, match="no such row") as caught:
        raise errors.NotFoundError("no such row")
    assert caught.value.args == ("no such row",)

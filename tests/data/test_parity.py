"""Programs with `tf.data`, run on TensorFlow and on tapejax: equal values, specs and errors."""

from __future__ import annotations

import inspect
import logging
import sys

import numpy as np
import pytest
import tensorflow
from parity import experimental_pipelines, pipeline_errors, pipeline_functions, pipelines

import tapejax

CONVERTED = {"infn", "enumerate_fn", "nextfn"}
"""Programs that need AutoGraph in TensorFlow, too."""


def programs_in(module):
    found = inspect.getmembers(module, inspect.isfunction)
    return [f for name, f in found if name != "rows" and f.__module__ == module.__name__]


def assert_same(ours, theirs):
    """Equal values, dtypes, shapes and structures."""
    assert type(ours) is type(theirs) or {type(ours), type(theirs)} <= {list, tuple}
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            assert_same(ours[key], theirs[key])
    elif isinstance(theirs, (np.ndarray, np.generic)):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if theirs.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        else:
            np.testing.assert_array_equal(ours, theirs)
    else:
        assert ours == theirs


@pytest.fixture(autouse=True)
def _quiet():
    """Lambdas of one line make AutoGraph of TensorFlow talk."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


MODULES = (pipelines, pipeline_functions, experimental_pipelines)
PROGRAMS = [program for module in MODULES for program in programs_in(module)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore")  # TensorFlow deprecates what it uses itself
def test_a_program_gives_what_it_gives_in_tensorflow(program):
    if program.__name__ in CONVERTED and sys.version_info >= (3, 13):
        pytest.skip("TensorFlow's AutoGraph does not convert these on Python 3.13")
    assert_same(program(tapejax), program(tensorflow))


def failure_of(program, tf):
    with pytest.raises(Exception) as caught:  # noqa: PT011  the classes are compared
        program(tf)
    return [base.__name__ for base in type(caught.value).__mro__]


@pytest.mark.parametrize("program", programs_in(pipeline_errors), ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore")  # TensorFlow deprecates what it uses itself
def test_a_program_fails_as_it_fails_in_tensorflow(program):
    theirs = failure_of(program, tensorflow)
    assert theirs[0] in failure_of(program, tapejax)

"""`raise` where a tensor decides whether it happens: an error of the program, not of the trace."""

from __future__ import annotations

import numpy as np

from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.definitions import ValueCheck
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record1


class RaisedInBranch(BaseException):
    """Carries an exception that a `raise` in a branch being recorded would raise.

    It is no `Exception`, so that a `try` of the user around the branch does not take it for an
    error that has happened.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def record_raise(raised: RaisedInBranch) -> None:
    """Record an op that always fails, with the exception's class and message."""
    error = raised.error
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    check = ValueCheck(lambda flag: (flag,), lambda: text)
    kernel = Kernel("raise", lambda flag: flag, node="Raise", gradient="none", check=check)
    record1(kernel, constant_tensor(np.array(True)))

"""`tf.autograph`: the conversion of Python control flow, for those who call it themselves."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

from tapejax._src.engine.registry import public
from tapejax._src.function.autograph import conversion, operators
from tapejax._src.function.autograph.callees import callee


@public("autograph.experimental.Feature")
class Feature(enum.Enum):
    """Optional parts of the conversion in TensorFlow; here all of them are always on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


@public("autograph.experimental.do_not_convert")
def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Decorator: leave a function as it is when a `tf.function` calls it.

    Args:
        func: The function.

    Returns:
        A function that does the same.

    Example:
        >>> import tapejax as tf
        >>> @tf.autograph.experimental.do_not_convert
        ... def twice(x):
        ...     return x * 2.0
        >>> float(tf.function(lambda x: twice(x))(tf.constant(1.0)))
        2.0
    """
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def as_it_is(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    setattr(as_it_is, conversion.DO_NOT_CONVERT, True)
    return as_it_is


@public("autograph.to_graph")
def to_graph(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: Any = None,
) -> Callable[..., Any]:
    """The converted twin of a function: its `if`, `while` and `for` may depend on tensors.

    Args:
        entity: A Python function or method.
        recursive: Accepted for compatibility: functions it calls are converted too.
        experimental_optional_features: Accepted for compatibility.

    Returns:
        A Python function, to be called where a function is being traced.

    Example:
        >>> import tapejax as tf
        >>> def positive(x):
        ...     if x > 0:
        ...         return x
        ...     return -x
        >>> callable(tf.autograph.to_graph(positive))
        True
    """
    del recursive, experimental_optional_features
    return callee(entity)


@public("autograph.to_code")
def to_code(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: Any = None,
) -> str:
    """The source of the converted twin of a function.

    Args:
        entity: A Python function.
        recursive: Accepted for compatibility.
        experimental_optional_features: Accepted for compatibility.

    Returns:
        Python source, for reading.

    Raises:
        CannotConvert: If the function has no source.

    Example:
        >>> import tapejax as tf
        >>> def positive(x):
        ...     if x > 0:
        ...         return x
        ...     return -x
        >>> "if_stmt" in tf.autograph.to_code(positive)
        True
    """
    del recursive, experimental_optional_features
    return conversion.to_code(getattr(entity, "__func__", entity), operators)


@public("autograph.set_verbosity")
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accepted for compatibility: the conversion logs nothing; read `tf.autograph.to_code`.

    Args:
        level: Ignored.
        alsologtostdout: Ignored.

    Example:
        >>> import tapejax as tf
        >>> tf.autograph.set_verbosity(0)
    """
    del level, alsologtostdout


@public("autograph.trace")
def trace(*args: Any) -> None:
    """Print values while a function is traced, as `print` does.

    Args:
        *args: What to print.

    Example:
        >>> import tapejax as tf
        >>> tf.autograph.trace("tracing")
        tracing
    """
    print(*args)  # noqa: T201  it is what the function is for
